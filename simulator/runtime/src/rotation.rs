//! Rotation: moves the lines of a journal to a segment of their own, and continues the journal with the state at its end.
//!
//! The segment is complete and durable before the journal changes, and the journal changes by one rename. So a crash leaves the
//! journal as before, perhaps with a copy of its lines; the next rotation replaces this copy.

use crate::error::OpenError;
use crate::journal::Journal as _;
use crate::journal_file::JournalFile;
use crate::journaled::JournaledConversation;
use crate::recovered::RecoveredConversation;
use orchestrion_files::{Access, WriteError, create, sync_folder};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, JOURNAL_FORMAT, Reader};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The segment of a rotated journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatedSegment {
    /// The file of the segment.
    pub path: PathBuf,
    /// The number of steps of the conversation up to its end.
    pub steps: u64,
}

/// The reason why a journal cannot be rotated. The journal is unchanged.
#[derive(Debug, Error)]
pub enum RotateError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal does not exist or contains no conversation.
    #[error("{journal}: no journal: expected a file with a conversation, found none; check the path")]
    Missing {
        /// The journal.
        journal: String,
    },
    /// The file contains all events.
    #[error(
        "{journal}: no journal: expected the format {JOURNAL_FORMAT}, found {found}; a trace with all events cannot be rotated, so continue \
         with a new journal"
    )]
    Format {
        /// The journal.
        journal: String,
        /// The format.
        found: String,
    },
    /// Another file has the name of the segment.
    #[error(
        "{segment}: file exists: expected no file or the lines of the journal, found others; choose another name for the segment"
    )]
    SegmentExists {
        /// The file.
        segment: String,
    },
    /// The segment cannot be created, or the journal not replaced.
    #[error("{0}; {help}", help = .0.help())]
    Write(#[from] WriteError),
    /// A file cannot be read or written.
    #[error("{file}: unwritable file: {error}")]
    Io {
        /// The file.
        file: String,
        /// The error of the file system.
        #[source]
        error: io::Error,
    },
}

/// Rotates the journal of a conversation that no program has open. The whole journal is decided again first. `segment` is the file for its
/// lines; default: the number of steps before the extension of the journal, with `-2` and so on if another segment has this name.
///
/// # Errors
/// [`RotateError`]
pub fn rotate(
    journal: &Path,
    segment: Option<&Path>,
    contexts: &'static dyn ContextBuilder,
) -> Result<RotatedSegment, RotateError> {
    let mut file = open_file(journal)?;
    let unreadable = unwritable(journal);
    let recorded = {
        let input = file.read().map_err(&unreadable)?;
        Reader::new_segment(input, &journal.display().to_string()).map_err(OpenError::from)?.header().clone()
    };
    check_format(journal, &recorded)?;
    // The snapshot does not fit the new segment, and without it every line is verified.
    file.remove_snapshot().map_err(&unreadable)?;
    let Header { conversation, policy, scenario, .. } = recorded.clone();
    let header = Header::new(conversation, policy, scenario).into_journal();
    // A rotation sends no call, so it does not state that steps may be lost: the next process does.
    let JournaledConversation { recorder, journal: file, .. } =
        RecoveredConversation::read(file, &header, contexts, Some(0))?.open_journaled()?;
    let next = Header { upgraded_from: None, ..recorded };
    continue_in_segment(journal, file, recorder, next, segment)
}

/// Opens and locks a journal that exists.
pub(crate) fn open_file(journal: &Path) -> Result<JournalFile, RotateError> {
    if !journal.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Err(RotateError::Missing { journal: journal.display().to_string() });
    }
    Ok(JournalFile::open(journal)?)
}

/// Refuses a trace with all events.
pub(crate) fn check_format(journal: &Path, recorded: &Header) -> Result<(), RotateError> {
    if recorded.is_journal() {
        return Ok(());
    }
    Err(RotateError::Format { journal: journal.display().to_string(), found: recorded.format.clone() })
}

/// Moves the lines of a journal to a segment, and begins the next one with this header in the state of the recorder.
pub(crate) fn continue_in_segment(
    journal: &Path,
    mut file: JournalFile,
    recorder: Recorder<Vec<u8>>,
    next: Header,
    segment: Option<&Path>,
) -> Result<RotatedSegment, RotateError> {
    let steps = recorder.steps();
    let (end, next) = recorder.end_segment(next).map_err(unwritable(journal))?;
    let path = match segment {
        Some(segment) => {
            write_segment(segment, &mut file, &end)?;
            segment.to_owned()
        }
        None => write_default_segment(journal, steps, &mut file, &end)?,
    };
    // From here on the segment is durable. `file` stays locked until the journal is replaced.
    file.replace(&next)?;
    Ok(RotatedSegment { path, steps })
}

/// Returns the conversion of an error of the file system.
pub(crate) fn unwritable(path: &Path) -> impl Fn(io::Error) -> RotateError {
    let file = path.display().to_string();
    move |error| RotateError::Io { file: file.clone(), error }
}

/// Writes the lines of a journal to a new file with its permissions. A rotation that a crash interrupted may leave a copy of them, which
/// is kept.
fn write_segment(path: &Path, journal: &mut JournalFile, end: &[u8]) -> Result<(), RotateError> {
    let io = unwritable(path);
    if path.symlink_metadata().is_err() {
        let permissions = journal.permissions().map_err(&io)?;
        let mut lines = journal.read().map_err(&io)?.chain(end);
        return Ok(create(path, Access::Default, |file| {
            file.set_permissions(permissions)?;
            io::copy(&mut lines, file).map(drop)
        })?);
    }
    let copy = orchestrion_files::open(path).map_err(&io)?;
    let lines = journal.read().map_err(&io)?.chain(end);
    if !is_equal(BufReader::new(&copy), lines).map_err(&io)? {
        return Err(RotateError::SegmentExists { segment: path.display().to_string() });
    }
    copy.sync_all().and_then(|()| sync_folder(path)).map_err(io)
}

/// Writes a segment to its default path, and returns the path. An earlier segment that ended at the same step has it already if no step
/// followed, as after a rotation that an upgrade follows; the next path is then the default.
fn write_default_segment(
    journal: &Path,
    steps: u64,
    file: &mut JournalFile,
    end: &[u8],
) -> Result<PathBuf, RotateError> {
    let mut number = 1;
    loop {
        let path = segment_path(journal, steps, number);
        match write_segment(&path, file, end) {
            Ok(()) => return Ok(path),
            Err(RotateError::SegmentExists { .. }) => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns the default path of a segment: `office.1520.ndjson` for `office.ndjson`, `office.1520-2.ndjson` for the second one.
fn segment_path(journal: &Path, steps: u64, number: u64) -> PathBuf {
    let extension =
        journal.extension().map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
    let name = if number == 1 { steps.to_string() } else { format!("{steps}-{number}") };
    journal.with_extension(match extension.as_str() {
        "" => name,
        extension => format!("{name}.{extension}"),
    })
}

/// Whether two inputs have the same bytes.
fn is_equal(mut one: impl BufRead, mut other: impl BufRead) -> io::Result<bool> {
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let len = left.len().min(right.len());
        if left[..len] != right[..len] {
            return Ok(false);
        }
        if len == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        one.consume(len);
        other.consume(len);
    }
}
