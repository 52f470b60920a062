//! The storage of a journal: the operations of a file system that a journal needs.

use crate::sync_threads::SyncThreads;
use orchestrion_files::limits::STATE_BYTES_MAX;
use orchestrion_files::{Target, TargetSync, sync_folder};
use orchestrion_trace::SNAPSHOT_FILE;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// One locked file, its name in a folder, and a snapshot beside it. The file system is one; tests have another
/// one, which injects faults.
pub trait Storage: Read + Write + Seek + Send {
    /// The name for messages.
    fn name(&self) -> String;

    /// Truncates the file. Not durable.
    ///
    /// # Errors
    /// Any I/O error.
    fn set_len(&mut self, bytes: u64) -> io::Result<()>;

    /// Makes the content durable, with the length that it needs.
    ///
    /// # Errors
    /// Any I/O error. What was written since the latest sync is then durable, or not.
    fn sync_data(&mut self) -> impl Future<Output = io::Result<()>> + Send;

    /// Makes the content and the metadata durable.
    ///
    /// # Errors
    /// As [`sync_data`](Self::sync_data).
    fn sync_all(&mut self) -> io::Result<()>;

    /// Makes the name durable.
    ///
    /// # Errors
    /// Any I/O error.
    fn sync_folder(&mut self) -> io::Result<()>;

    /// Reads the snapshot, if there is one.
    ///
    /// # Errors
    /// Any I/O error.
    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Replaces the snapshot. Not durable.
    ///
    /// # Errors
    /// Any I/O error.
    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()>;
}

/// A locked file of the file system.
#[derive(Debug)]
pub struct LockedFile {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<File>,
    /// The threads that sync the file; without any, the thread of the conversation does.
    pub(crate) sync_threads: Option<SyncThreads>,
}

impl LockedFile {
    /// Opens or creates the file and locks it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file =
            orchestrion_files::open_locked(OpenOptions::new().create(true).read(true).write(true), path)?;
        Ok(Self { path: path.to_path_buf(), file: Arc::new(file), sync_threads: None })
    }
}

/// Returns the file of the snapshot, beside the journal.
pub(crate) fn snapshot_path(journal: &Path) -> PathBuf {
    let mut path = journal.to_owned().into_os_string();
    path.push(".snapshot");
    path.into()
}

/// Releases the lock. Closing the file is not enough: a child process has a copy of it until it executes its program, and the copy
/// keeps the lock.
impl Drop for LockedFile {
    fn drop(&mut self) {
        // Only a file that was never locked refuses this.
        let _ = self.file.unlock();
    }
}

impl Read for LockedFile {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        (&*self.file).read(part)
    }
}

impl Write for LockedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.file).flush()
    }
}

impl Seek for LockedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        (&*self.file).seek(position)
    }
}

impl Storage for LockedFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)
    }

    async fn sync_data(&mut self) -> io::Result<()> {
        match &self.sync_threads {
            Some(threads) => threads.sync_data(&self.file).await,
            None => self.file.sync_data(),
        }
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        sync_folder(&self.path)
    }

    fn read_snapshot(&mut self) -> io::Result<Option<Vec<u8>>> {
        match orchestrion_files::read(&snapshot_path(&self.path), STATE_BYTES_MAX as u64) {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write_snapshot(&mut self, snapshot: &[u8]) -> io::Result<()> {
        // The snapshot contains texts of the journal, so who cannot read the one cannot read the other.
        let permissions = self.file.metadata()?.permissions();
        Target::open(&snapshot_path(&self.path), &SNAPSHOT_FILE)?.replace(TargetSync::None, |file| {
            file.set_permissions(permissions)?;
            file.write_all(snapshot)
        })?;
        Ok(())
    }
}
