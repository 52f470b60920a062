//! The journal in a locked file.

use crate::error::OpenError;
use crate::journal::Journal;
use crate::storage::{LockedFile, Storage, snapshot_path};
use crate::sync_threads::SyncThreads;
use orchestrion_files::limits::STATE_BYTES_MAX;
use orchestrion_files::{Target, TargetSync, WriteError};
use orchestrion_trace::TRACE_FILE;
use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, Read as _, SeekFrom, Write};
use std::path::Path;

/// A journal in a locked file of the file system, or of another storage.
#[derive(Debug)]
pub struct JournalFile<S = LockedFile> {
    storage: S,
    is_durable: bool,
    /// The bytes that are durable, and those of the file.
    durable_bytes: u64,
    bytes: u64,
}

impl JournalFile {
    /// Opens or creates the file and locks it.
    ///
    /// # Errors
    /// [`OpenError::Locked`] if a conversation of this or another program has it open; [`OpenError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        Self::from_storage(LockedFile::open(path), &path.display().to_string())
    }

    /// Opens the file as [`open`](Self::open) does, for a host that stored this step, if it did. A missing file cannot contain it, so none is
    /// created then.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`OpenError::Shorter`] if the file is missing.
    pub fn open_acknowledged(
        path: impl AsRef<Path>,
        acknowledged_step: Option<u64>,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        match acknowledged_step {
            Some(acknowledged) if acknowledged > 0 && !path.exists() => {
                Err(OpenError::Shorter { journal: path.display().to_string(), acknowledged, steps: 0 })
            }
            Some(_) | None => Self::open(path),
        }
    }

    /// Syncs by these threads. The default is the thread of the conversation, which then runs no other one until the disk has written.
    #[must_use]
    pub fn with_sync_threads(mut self, threads: SyncThreads) -> Self {
        self.storage.sync_threads = Some(threads);
        self
    }

    /// Removes the snapshot, if one exists. It must not survive a journal whose lines are replaced.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove_snapshot(&self) -> io::Result<()> {
        remove_snapshot(&self.storage.path)
    }

    /// Returns an error unless the journal is empty or holds a closed conversation, so that another one may replace it.
    ///
    /// # Errors
    /// [`WriteError`]
    pub fn check_replaceable(&self) -> Result<(), WriteError> {
        TRACE_FILE.check(&self.storage.file, &self.storage.path)
    }

    /// Returns the permissions of the file.
    pub(crate) fn permissions(&self) -> io::Result<Permissions> {
        self.storage.file.metadata().map(|metadata| metadata.permissions())
    }

    /// Replaces the journal at once, and keeps it locked until then.
    pub(crate) fn replace(self, lines: &[u8]) -> Result<(), WriteError> {
        let LockedFile { path, file, sync_threads: _ } = &self.storage;
        let io = |error| WriteError::Io { path: path.clone(), error };
        let file = file.try_clone().map_err(io)?;
        Target::from_locked(path, &TRACE_FILE, file)?
            .replace(TargetSync::Durable, |file| file.write_all(lines))
    }
}

/// Removes the snapshot beside a journal, if one exists. It contains texts of the journal.
///
/// # Errors
/// Any I/O error.
pub fn remove_snapshot(journal: &Path) -> io::Result<()> {
    match std::fs::remove_file(snapshot_path(journal)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

impl<S: Storage> JournalFile<S> {
    /// Uses an opened and locked storage. The name of a new file becomes durable.
    ///
    /// # Errors
    /// [`OpenError::Locked`] if the storage reports [`io::ErrorKind::WouldBlock`]; [`OpenError::Io`].
    pub fn from_storage(opened: io::Result<S>, name: &str) -> Result<Self, OpenError> {
        let journal = name.to_owned();
        let opened = opened.and_then(|mut storage| {
            let bytes = storage.seek(SeekFrom::End(0))?;
            if bytes == 0 {
                storage.sync_folder()?;
            }
            Ok(Self { storage, is_durable: true, durable_bytes: bytes, bytes })
        });
        match opened {
            Ok(journal) => Ok(journal),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(OpenError::Locked { journal }),
            Err(error) => Err(OpenError::Io { journal, error }),
        }
    }

    /// Omits `fsync`. Lines then survive a crash of the program, but not a crash of the machine.
    #[must_use]
    pub fn without_fsync(mut self) -> Self {
        self.is_durable = false;
        self
    }
}

impl<S: Storage> Journal for JournalFile<S> {
    fn name(&self) -> String {
        self.storage.name()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        self.read_from(0)
    }

    fn read_from(&mut self, bytes: u64) -> io::Result<impl BufRead> {
        self.storage.seek(SeekFrom::Start(bytes))?;
        Ok(BufReader::with_capacity(64 * 1024, &mut self.storage))
    }

    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.storage.read_snapshot()
    }

    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        if snapshot.len() > STATE_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.storage.write_snapshot(snapshot)
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.storage.set_len(bytes)?;
        (self.durable_bytes, self.bytes) = (bytes, bytes);
        self.storage.sync_all()
    }

    /// Zero bytes replace the tail first. A mixture of old and new lines could look like a line that was edited later, which is refused;
    /// zero bytes are read as torn.
    fn replace_tail(&mut self, bytes: u64, lines: &[u8]) -> io::Result<()> {
        self.storage.seek(SeekFrom::Start(bytes))?;
        io::copy(&mut io::repeat(0).take(self.bytes.saturating_sub(bytes)), &mut self.storage)?;
        self.storage.sync_all()?;
        self.storage.seek(SeekFrom::Start(bytes))?;
        self.storage.write_all(lines)?;
        self.truncate(bytes + lines.len() as u64)
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.storage.seek(SeekFrom::Start(self.bytes))?;
        self.storage.write_all(lines)?;
        self.bytes += lines.len() as u64;
        Ok(())
    }

    /// Blocks the thread until the disk has written the data, unless the journal has sync threads. After an error the lines since the latest sync are removed: a system may
    /// not write them at a later sync either, but the next process would read them from memory and take them for durable. Nothing depends
    /// on them yet.
    async fn sync(&mut self) -> io::Result<()> {
        if !self.is_durable {
            return Ok(());
        }
        if let Err(error) = self.storage.sync_data().await {
            // The conversation ends with the first error.
            let _ = self.truncate(self.durable_bytes);
            return Err(error);
        }
        self.durable_bytes = self.bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_journal_is_unlocked_while_a_copy_of_its_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("office.ndjson");
        let journal = JournalFile::open(&path).unwrap();
        let copy = journal.storage.file.try_clone().unwrap();
        assert!(matches!(JournalFile::open(&path), Err(OpenError::Locked { .. })));
        drop(journal);
        assert!(JournalFile::open(&path).is_ok());
        drop(copy);
    }
}
