//! Where the trace of a conversation is kept while it runs, so that nothing of it is lost.

use super::error::OpenError;
use std::fs::{File, OpenOptions, TryLockError};
use std::future::Future;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Where the trace of a conversation is kept. It has one writer at a time.
///
/// After any error the conversation that writes it stops for good; what [`read`](Self::read) gives when it is opened
/// again is what was kept.
pub trait Journal: Send {
    /// What messages call it.
    fn name(&self) -> String;

    /// Everything that is kept, from the start.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    fn read(&mut self) -> io::Result<impl BufRead>;

    /// Forgets everything behind the first `bytes` bytes.
    ///
    /// # Errors
    /// Whatever keeps it from being changed.
    fn truncate(&mut self, bytes: u64) -> io::Result<()>;

    /// Appends whole lines. They need not be durable before [`sync`](Self::sync).
    ///
    /// # Errors
    /// Whatever keeps it from being written, even if a part was.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;

    /// Is ready once everything that was appended would survive a crash of the machine.
    ///
    /// # Errors
    /// Whatever keeps it from being durable.
    fn sync(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// A journal in memory, for simulations and tests.
impl Journal for Vec<u8> {
    fn name(&self) -> String {
        "the trace so far".to_owned()
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

/// A journal in a file that only one conversation at a time can have open.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    file: File,
    durable: bool,
}

impl JournalFile {
    /// Opens the file, or makes it, and locks it.
    ///
    /// # Errors
    /// [`OpenError::Locked`] if another conversation has it open, here or in another program; [`OpenError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_path_buf();
        let journal = path.display().to_string();
        match opened(&path) {
            Ok(file) => Ok(Self { path, file, durable: true }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(OpenError::Locked { journal }),
            Err(error) => Err(OpenError::Io { journal, error }),
        }
    }

    /// Leaves it to the operating system when lines reach the disk. They survive a crash of the program then, but not one
    /// of the machine.
    #[must_use]
    pub fn without_fsync(mut self) -> Self {
        self.durable = false;
        self
    }
}

fn opened(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
        TryLockError::Error(error) => error,
    })?;
    if file.metadata()?.len() == 0 {
        sync_folder(path)?;
    }
    Ok(file)
}

/// A new file is found after a crash once its folder is on the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

impl Journal for JournalFile {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn read(&mut self) -> io::Result<impl BufRead> {
        self.file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(64 * 1024, &self.file))
    }

    fn truncate(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.file.sync_all()
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)
    }

    /// Blocks the thread for as long as the disk takes.
    async fn sync(&mut self) -> io::Result<()> {
        if self.durable { self.file.sync_data() } else { Ok(()) }
    }
}
