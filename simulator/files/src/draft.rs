//! Drafts: new files that get their name when they are complete.

use crate::error::WriteError;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Who can read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As the umask says.
    Default,
    /// Its owner only, on Unix.
    Owner,
}

/// Creates a file, and its folders. It is complete and durable when it gets its name.
///
/// # Errors
/// [`WriteError::Exists`] if a file, folder or link has this name, even if another program created it meanwhile;
/// [`WriteError::Io`].
pub fn create(
    path: &Path,
    access: Access,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WriteError> {
    if path.symlink_metadata().is_ok() {
        return Err(WriteError::Exists { path: path.to_owned() });
    }
    let mut draft = new_draft(path, access)?;
    write(draft.as_file_mut())
        .and_then(|()| draft.as_file().sync_all())
        .and_then(|()| draft.persist_noclobber(path).map_err(|refused| refused.error))
        .and_then(|_| sync_folder(path))
        .map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => WriteError::Exists { path: path.to_owned() },
            _ => WriteError::Io { path: path.to_owned(), error },
        })
}

/// Creates an empty file with a random name in the folder of `path`. It is opened exclusively, so it is no file or link that
/// another program prepared. It is removed if it does not get a name.
pub(crate) fn new_draft(path: &Path, access: Access) -> Result<NamedTempFile, WriteError> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(WriteError::io(path))?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".orchestrion-").suffix(".draft").rand_bytes(16);
    set_mode(&mut builder, access);
    builder.tempfile_in(folder).map_err(WriteError::io(path))
}

#[cfg(unix)]
fn set_mode(builder: &mut tempfile::Builder<'_, '_>, access: Access) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = match access {
        // The umask removes permissions from it.
        Access::Default => 0o666,
        Access::Owner => 0o600,
    };
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn set_mode(_: &mut tempfile::Builder<'_, '_>, _: Access) {}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the name of a new file durable. Only Unix can open a folder for this.
///
/// # Errors
/// Any I/O error.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder_of(path))?.sync_all() } else { Ok(()) }
}
