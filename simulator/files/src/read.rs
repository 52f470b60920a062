//! Bounded reads of files.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// What a link is called whose file does not exist.
pub(crate) const LINK_TO_NO_FILE: &str = "a link to no file";

/// Opens a file for reading.
///
/// # Errors
/// The file cannot be opened, or it is a folder, a pipe, a socket or a device. None of these is opened for long: a pipe without a
/// writer would block, and a device may never end.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a file with these options.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // To open a device can act on it, so the path is checked before; the open file is checked because the path can change.
    let links = match path.metadata() {
        Ok(metadata) => {
            check_type(metadata.file_type())?;
            Links::Followed
        }
        // A file is never created where a link of another program says.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Err(not_a_file(LINK_TO_NO_FILE));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Links::Refused,
        Err(error) => return Err(error),
    };
    let file = without_blocking(options, links).open(path)?;
    check_type(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`]; the file is larger than `bytes_max`, or contains a secret key.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let len = file.metadata()?.len();
    // A file that is too large is refused before its bytes need memory.
    if len > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0).saturating_add(1));
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes_max));
    }
    if is_key_file(&bytes) {
        return Err(not_a_file("a key file, whose secret an error would print"));
    }
    Ok(bytes)
}

/// Whether a file contains the secret of a node: 64 hexadecimal digits, and no other file does. Its own reader does not use [`read`].
fn is_key_file(bytes: &[u8]) -> bool {
    let digits = bytes.trim_ascii();
    digits.len() == 64 && digits.iter().all(u8::is_ascii_hexdigit)
}

fn too_large(bytes_max: u64) -> io::Error {
    io::Error::new(
        io::ErrorKind::FileTooLarge,
        format!("file too large: expected at most {bytes_max} bytes, found more"),
    )
}

fn check_type(file_type: FileType) -> io::Result<()> {
    match type_name(file_type) {
        None => Ok(()),
        Some(found) => Err(not_a_file(found)),
    }
}

fn not_a_file(found: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("not a file: expected a file, found {found}; name a file"),
    )
}

/// The type with its article; `None` for a file.
#[cfg(unix)]
pub(crate) fn type_name(file_type: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    let types = [
        (file_type.is_dir(), "a folder"),
        (file_type.is_fifo(), "a pipe"),
        (file_type.is_socket(), "a socket"),
        (file_type.is_char_device() || file_type.is_block_device(), "a device"),
        (!file_type.is_file(), "no file"),
    ];
    types.into_iter().find(|(is_type, _)| *is_type).map(|(_, name)| name)
}

/// The type with its article; `None` for a file.
#[cfg(not(unix))]
pub(crate) fn type_name(file_type: FileType) -> Option<&'static str> {
    let types = [(file_type.is_dir(), "a folder"), (!file_type.is_file(), "no file")];
    types.into_iter().find(|(is_type, _)| *is_type).map(|(_, name)| name)
}

/// Whether a path may be a link.
#[derive(Clone, Copy)]
enum Links {
    Followed,
    /// No link had the name: one that is there now was made meanwhile.
    Refused,
}

/// A pipe opens at once, with or without a writer.
#[cfg(unix)]
fn without_blocking(options: &mut OpenOptions, links: Links) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK,
        Links::Refused => OFlags::NONBLOCK.union(OFlags::NOFOLLOW),
    };
    options.custom_flags(flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_blocking(options: &mut OpenOptions, _: Links) -> &mut OpenOptions {
    options
}
