//! The file of one key: 64 hexadecimal digits and a newline.

use super::error::KeyError;
use super::node_key::{NodeKey, SECRET_BYTES};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use zeroize::Zeroizing;

/// The length of a key file, in bytes.
const FILE_BYTES: usize = 2 * SECRET_BYTES + 1;

/// Writes a key to a new file that only its owner can read.
///
/// # Errors
/// The file exists, or the file system reports an error. A file that could not be written completely is removed.
pub(crate) fn write_new(path: &Path, key: &NodeKey) -> io::Result<()> {
    // The capacity is exact: a reallocation would leave a copy of the secret in memory.
    let mut text = Zeroizing::new(String::with_capacity(FILE_BYTES));
    key.push_hex(&mut text);
    text.push('\n');
    let mut file = create_private(path)?;
    let result = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if result.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(path);
    }
    result
}

/// Reads a key.
///
/// # Errors
/// The file is missing, unreadable or malformed.
pub(crate) fn read(path: &Path) -> Result<NodeKey, KeyError> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => KeyError::Missing { path: path.to_owned() },
        _ => KeyError::Io { path: path.to_owned(), problem: "unreadable key file", error },
    };
    let file = File::open(path).map_err(unreadable)?;
    // One byte more shows that the file is too long. The last read, which finds the end, needs room too.
    let mut bytes = Zeroizing::new(Vec::with_capacity(2 * FILE_BYTES));
    let limit = u64::try_from(FILE_BYTES + 1).unwrap_or(u64::MAX);
    file.take(limit).read_to_end(&mut bytes).map_err(unreadable)?;
    let malformed = |found: String| KeyError::Malformed { path: path.to_owned(), found };
    if bytes.len() > FILE_BYTES {
        return Err(malformed(format!("more than {FILE_BYTES} bytes")));
    }
    let digits = bytes.strip_suffix(b"\n").ok_or_else(|| malformed("no newline at the end".to_owned()))?;
    NodeKey::from_hex(digits).map_err(|error| malformed(error.to_string()))
}

/// Opens a new file exclusively, with permissions 0600 on Unix from the start: at no time can others read it.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}
