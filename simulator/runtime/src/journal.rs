//! Journals: durable storage of a conversation's trace while it runs.

use crate::error::OpenError;
use orchestrion_files::limits::SNAPSHOT_BYTES_MAX;
use orchestrion_files::{Target, TargetSync, WriteError, sync_folder};
use orchestrion_trace::{SNAPSHOT_FILE, TRACE_FILE};
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Durable storage of a trace. It has one writer at a time.
///
/// After an error the conversation stops; it continues after [`read`](Self::read) when the journal is opened again.
pub trait Journal: Send {
    /// The name for messages.
    fn name(&self) -> String;

    /// Reads the journal from the start.
    ///
    /// # Errors
    /// Any I/O error.
    fn read(&mut self) -> io::Result<impl BufRead>;

    /// Reads the journal from this byte.
    ///
    /// # Errors
    /// Any I/O error.
    fn read_from(&mut self, bytes: u64) -> io::Result<impl BufRead> {
        let mut input = self.read()?;
        io::copy(&mut input.by_ref().take(bytes), &mut io::sink())?;
        Ok(input)
    }

    /// Reads the latest snapshot. Default: none is kept.
    ///
    /// # Errors
    /// Any I/O error.
    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Replaces the snapshot, or keeps the earlier one. Default: none is kept. A snapshot need not be durable.
    ///
    /// # Errors
    /// Any I/O error.
    fn write_snapshot(&mut self, _snapshot: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Truncates the journal to its first `bytes` bytes and makes the rest durable.
    ///
    /// # Errors
    /// Any I/O error.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;

    /// Appends complete lines. They become durable with [`sync`](Self::sync).
    ///
    /// # Errors
    /// Any I/O error; a part may have been written.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Makes all appended lines durable: they survive a crash of the machine.
    ///
    /// # Errors
    /// Any I/O error.
    fn sync(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// A journal in memory for simulations and tests.
impl Journal for Vec<u8> {
    fn name(&self) -> String {
        "journal in memory".to_owned()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        Ok(self.as_slice())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.truncate(usize::try_from(bytes).unwrap_or(usize::MAX));
        Ok(())
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.extend_from_slice(lines);
        Ok(())
    }

    async fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A journal in a locked file.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    is_durable: bool,
}

impl JournalFile {
    /// Opens or creates the file and locks it.
    ///
    /// # Errors
    /// [`OpenError::Locked`] if a conversation of this or another program has it open; [`OpenError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_path_buf();
        let journal = path.display().to_string();
        let opened =
            orchestrion_files::open_locked(OpenOptions::new().create(true).read(true).append(true), &path);
        let opened = opened.and_then(|file| {
            if file.metadata()?.len() == 0 {
                sync_folder(&path)?;
            }
            Ok(file)
        });
        match opened {
            Ok(file) => Ok(Self { path, file, is_durable: true }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(OpenError::Locked { journal }),
            Err(error) => Err(OpenError::Io { journal, error }),
        }
    }

    /// The file of the snapshot, beside the journal.
    fn snapshot_path(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".snapshot");
        path.into()
    }

    /// Removes the snapshot, if one exists. It must not survive a journal whose lines are replaced.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn remove_snapshot(&self) -> io::Result<()> {
        match std::fs::remove_file(self.snapshot_path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns an error unless the journal is empty or holds a closed conversation, so that another one may replace it.
    ///
    /// # Errors
    /// [`WriteError`]
    pub fn check_replaceable(&self) -> Result<(), WriteError> {
        TRACE_FILE.check(&self.file, &self.path)
    }

    /// Replaces the journal at once, and keeps it locked until then.
    pub(crate) fn replace(self, lines: &[u8]) -> Result<(), WriteError> {
        let io = |error| WriteError::Io { path: self.path.clone(), error };
        let file = self.file.try_clone().map_err(io)?;
        Target::from_locked(&self.path, &TRACE_FILE, file)?
            .replace(TargetSync::Durable, |file| file.write_all(lines))
    }

    /// Omits `fsync`. Lines then survive a crash of the program, but not a crash of the machine.
    #[must_use]
    pub fn without_fsync(mut self) -> Self {
        self.is_durable = false;
        self
    }
}

/// Releases the lock. Closing the file is not enough: a child process has a copy of it until it executes its program, and the copy
/// keeps the lock.
impl Drop for JournalFile {
    fn drop(&mut self) {
        // Only a file that was never locked refuses this.
        let _ = self.file.unlock();
    }
}

impl Journal for JournalFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(64 * 1024, &self.file))
    }

    fn read_from(&mut self, bytes: u64) -> io::Result<impl BufRead> {
        self.file.seek(SeekFrom::Start(bytes))?;
        Ok(BufReader::with_capacity(64 * 1024, &self.file))
    }

    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        match orchestrion_files::read(&self.snapshot_path(), SNAPSHOT_BYTES_MAX as u64) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        if snapshot.len() > SNAPSHOT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Target::open(&self.snapshot_path(), &SNAPSHOT_FILE)?
            .replace(TargetSync::None, |file| file.write_all(snapshot))?;
        Ok(())
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.sync_all()
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)
    }

    /// Blocks the thread until the disk has written the data.
    async fn sync(&mut self) -> io::Result<()> {
        if self.is_durable { self.file.sync_data() } else { Ok(()) }
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
        let copy = journal.file.try_clone().unwrap();
        assert!(matches!(JournalFile::open(&path), Err(OpenError::Locked { .. })));
        drop(journal);
        assert!(JournalFile::open(&path).is_ok());
        drop(copy);
    }
}
