//! Journals: durable storage of a conversation's trace while it runs.

use std::future::Future;
use std::io::{self, BufRead, Read};

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

    /// Replaces everything after the first `bytes` bytes by these lines, and makes the whole journal durable. A crash leaves the lines, or
    /// after the first `bytes` bytes something that is read as a torn tail. Default: truncates and appends, for a journal that survives no crash.
    ///
    /// # Errors
    /// Any I/O error; a part may have been written.
    fn replace_tail(&mut self, bytes: u64, lines: &[u8]) -> io::Result<()> {
        self.truncate(bytes)?;
        self.append(lines)
    }

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
