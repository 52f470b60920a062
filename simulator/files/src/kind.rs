//! Kinds of files: how to recognize what a command writes, before it replaces one.

use crate::error::WriteError;
use crate::limits::{LAST_LINE_BYTES_MAX, START_BYTES};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// A kind of file that a command writes.
#[derive(Debug)]
pub struct FileKind {
    /// The kind with its article, for messages: `a trace`.
    pub name: &'static str,
    /// Whether the first bytes of a file, at most 128, are those of this kind.
    pub is_start: fn(&[u8]) -> bool,
    /// The first bytes of the last line of a finished file; `None` if a file of this kind is always finished.
    pub last_line: Option<&'static str>,
}

/// What a file is, seen from a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recognition {
    /// An empty file, or a finished one of this kind.
    Replaceable,
    /// Another file.
    Other,
    /// A file of this kind to which lines can be added, such as the journal of an open conversation.
    Unfinished,
}

impl FileKind {
    /// Returns an error unless the file is empty or a finished one of this kind.
    ///
    /// # Errors
    /// [`WriteError::Unrecognized`], [`WriteError::Unfinished`] or [`WriteError::Unreadable`].
    pub fn check(&self, file: &File, path: &Path) -> Result<(), WriteError> {
        let path = path.to_owned();
        match self.recognize(file) {
            Ok(Recognition::Replaceable) => Ok(()),
            Ok(Recognition::Other) => Err(WriteError::Unrecognized { path, kind: self.name }),
            Ok(Recognition::Unfinished) => Err(WriteError::Unfinished { path, kind: self.name }),
            Err(error) => Err(WriteError::Unreadable { path, error }),
        }
    }

    /// Reads the start and the last line of a file.
    fn recognize(&self, mut file: &File) -> io::Result<Recognition> {
        file.seek(SeekFrom::Start(0))?;
        let mut start = Vec::new();
        file.take(START_BYTES).read_to_end(&mut start)?;
        if start.is_empty() {
            return Ok(Recognition::Replaceable);
        }
        if !(self.is_start)(&start) {
            return Ok(Recognition::Other);
        }
        let Some(expected) = self.last_line else { return Ok(Recognition::Replaceable) };
        let is_finished = last_line(file)?.is_some_and(|line| line.starts_with(expected.as_bytes()));
        Ok(if is_finished { Recognition::Replaceable } else { Recognition::Unfinished })
    }
}

/// Returns the last line without its newline; `None` if it has no newline, or is longer than the last line of a finished file.
fn last_line(mut file: &File) -> io::Result<Option<Vec<u8>>> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(LAST_LINE_BYTES_MAX)))?;
    let mut end = Vec::new();
    file.take(LAST_LINE_BYTES_MAX).read_to_end(&mut end)?;
    if end.pop() != Some(b'\n') {
        return Ok(None);
    }
    Ok(match end.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => Some(end.split_off(newline + 1)),
        None if len > LAST_LINE_BYTES_MAX => None,
        None => Some(end),
    })
}
