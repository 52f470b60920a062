//! Locks of files that one program writes at a time.

use crate::read::open_with;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// Opens a file with these options and locks it. The path still names the locked file.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if it is locked; as [`crate::open`].
pub fn open_locked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    loop {
        let file = open_with(options, path)?;
        lock(&file)?;
        // Another program may have replaced the file before it was locked.
        if is_at_path(&file, path)? {
            return Ok(file);
        }
    }
}

/// Locks a file.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })
}

/// Whether the path still names the open file.
///
/// # Errors
/// Any I/O error.
#[cfg(unix)]
pub fn is_at_path(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match path.metadata() {
        Ok(found) => Ok(identity(found) == identity(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// An open file cannot be replaced here.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn is_at_path(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
