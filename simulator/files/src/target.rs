//! Targets: files that a command may replace.

use crate::draft::{Access, new_draft, sync_folder};
use crate::error::WriteError;
use crate::kind::FileKind;
use crate::limits::{LOCK_ATTEMPTS, LOCK_PAUSE};
use crate::lock::{is_at_path, lock};
use crate::read::{self, LINK_TO_NO_FILE, type_name};
use std::borrow::Cow;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

/// A file that may be replaced: none, or a recognized, finished and locked one. The lock lasts until the target is dropped, so
/// what a program read of the file cannot change before the program replaces it.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    kind: &'static FileKind,
    access: Access,
    old: Option<OldFile>,
}

/// Whether a replaced file survives a crash of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSync {
    /// The file and its name are durable.
    Durable,
    /// After a crash of the machine the file may be the old one, or damaged.
    None,
}

/// The locked file that is to be replaced.
#[derive(Debug)]
struct OldFile {
    file: File,
    permissions: Permissions,
}

/// Closing the file is not enough: a child process may have a copy of it, which keeps the lock.
impl Drop for OldFile {
    fn drop(&mut self) {
        // Only a file that was never locked refuses this.
        let _ = self.file.unlock();
    }
}

impl Target {
    /// Checks and locks the file with this name, if there is one. A link is followed, and remains.
    ///
    /// # Errors
    /// [`WriteError`]: the file is no file, unreadable, of another kind, unfinished or locked.
    pub fn open(path: &Path, kind: &'static FileKind) -> Result<Self, WriteError> {
        Self::open_resolved(resolve(path)?, kind, Access::Default)
    }

    /// As [`Target::open`], for a file of secrets: only its owner can read the new file, and a link is replaced, not followed.
    ///
    /// # Errors
    /// As [`Target::open`].
    pub fn open_private(path: &Path, kind: &'static FileKind) -> Result<Self, WriteError> {
        Self::open_resolved(Cow::Borrowed(path), kind, Access::Owner)
    }

    fn open_resolved(
        resolved: Cow<'_, Path>,
        kind: &'static FileKind,
        access: Access,
    ) -> Result<Self, WriteError> {
        let target = |old| Self { path: resolved.to_path_buf(), kind, access, old };
        for attempt in 0..LOCK_ATTEMPTS {
            if attempt > 0 {
                thread::sleep(LOCK_PAUSE);
            }
            let Some(file) = open_existing(&resolved)? else { return Ok(target(None)) };
            // Checked before the lock too: the error of a locked journal says that it is unfinished, at once.
            kind.check(&file, &resolved)?;
            match lock(&file) {
                // A file system without locks has no locked journal.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(WriteError::Unreadable { path: resolved.into_owned(), error }),
                Ok(()) => {}
            }
            let permissions = file.metadata().map_err(WriteError::io(&resolved))?.permissions();
            let old = OldFile { file, permissions };
            if is_at_path(&old.file, &resolved).map_err(WriteError::io(&resolved))? {
                kind.check(&old.file, &resolved)?;
                return Ok(target(Some(old)));
            }
        }
        Err(WriteError::Locked { path: resolved.into_owned() })
    }

    /// Returns the target of a file that the caller has locked and recognized.
    ///
    /// # Errors
    /// [`WriteError::Io`]
    pub fn from_locked(path: &Path, kind: &'static FileKind, file: File) -> Result<Self, WriteError> {
        let path = resolve(path)?.into_owned();
        let permissions = file.metadata().map_err(WriteError::io(&path))?.permissions();
        Ok(Self { path, kind, access: Access::Default, old: Some(OldFile { file, permissions }) })
    }

    /// Replaces the file at once by what `write` writes. The permissions of the old file stay. After an error the old file is
    /// unchanged.
    ///
    /// # Errors
    /// The error of `write`, or [`WriteError`] if another program created a file meanwhile that may not be replaced.
    pub fn replace(
        self,
        sync: TargetSync,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let mut draft = new_draft(&self.path, self.access)?;
        write(draft.as_file_mut()).map_err(WriteError::io(&self.path))?;
        if sync == TargetSync::Durable {
            draft.as_file().sync_all().map_err(WriteError::io(&self.path))?;
        }
        let mut target = self;
        loop {
            let Some(old) = &target.old else {
                // No program has the name locked, so one may create a file here at any time: it is not replaced unseen.
                match draft.persist_noclobber(&target.path) {
                    Ok(_) => break,
                    Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => {
                        draft = refused.file;
                        target = Self::open_resolved(Cow::Owned(target.path), target.kind, target.access)?;
                        continue;
                    }
                    Err(refused) => return Err(WriteError::Io { path: target.path, error: refused.error }),
                }
            };
            if target.access == Access::Default {
                draft
                    .as_file()
                    .set_permissions(old.permissions.clone())
                    .map_err(WriteError::io(&target.path))?;
            }
            draft
                .persist(&target.path)
                .map_err(|refused| refused.error)
                .map_err(WriteError::io(&target.path))?;
            break;
        }
        match sync {
            TargetSync::Durable => sync_folder(&target.path).map_err(WriteError::io(&target.path)),
            TargetSync::None => Ok(()),
        }
    }
}

/// Returns the file that a link names, or the path itself.
fn resolve(path: &Path) -> Result<Cow<'_, Path>, WriteError> {
    if !path.is_symlink() {
        return Ok(Cow::Borrowed(path));
    }
    match path.canonicalize() {
        Ok(resolved) => Ok(Cow::Owned(resolved)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(WriteError::NotAFile { path: path.to_owned(), found: LINK_TO_NO_FILE })
        }
        Err(error) => Err(WriteError::Unreadable { path: path.to_owned(), error }),
    }
}

/// Opens the file with this name; `None` if there is none.
fn open_existing(path: &Path) -> Result<Option<File>, WriteError> {
    match path.metadata() {
        Ok(metadata) => {
            if let Some(found) = type_name(metadata.file_type()) {
                return Err(WriteError::NotAFile { path: path.to_owned(), found });
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(WriteError::Unreadable { path: path.to_owned(), error }),
    }
    match read::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(WriteError::Unreadable { path: path.to_owned(), error }),
    }
}
