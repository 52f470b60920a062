//! Rotation: moves the lines of a journal to a segment of their own, and continues the journal with the state at its end.
//!
//! The segment is complete and durable before the journal changes, and the journal changes by one rename. So a crash leaves the
//! journal as before, perhaps with a copy of its lines; the next rotation replaces this copy.

use crate::error::OpenError;
use crate::journal::{Journal as _, JournalFile, sync_directory};
use crate::journaled::JournaledConversation;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_trace::{Header, JOURNAL_FORMAT, Reader};
use std::fs::File;
use std::io::{self, Read, Write};
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
    /// A file cannot be written.
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
/// lines; default: the number of steps before the extension of the journal.
///
/// # Errors
/// [`RotateError`]
pub fn rotate(
    journal: &Path,
    segment: Option<&Path>,
    contexts: &'static dyn ContextBuilder,
) -> Result<RotatedSegment, RotateError> {
    let name = journal.display().to_string();
    if !journal.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return Err(RotateError::Missing { journal: name });
    }
    let mut file = JournalFile::open(journal)?;
    let unwritable = |path: &Path| {
        let file = path.display().to_string();
        move |error| RotateError::Io { file, error }
    };
    let recorded = {
        let input = file.read().map_err(unwritable(journal))?;
        Reader::new_segment(input, &name).map_err(OpenError::from)?.header().clone()
    };
    if recorded.format != JOURNAL_FORMAT {
        return Err(RotateError::Format { journal: name, found: recorded.format });
    }
    // The snapshot does not fit the new segment, and without it every line is verified.
    file.remove_snapshot().map_err(unwritable(journal))?;
    let Header { conversation, policy, scenario, .. } = recorded.clone();
    let header = Header::new(conversation, policy, scenario).into_journal();
    let JournaledConversation { recorder, journal: mut file, .. } =
        JournaledConversation::open(file, &header, contexts)?;
    let steps = recorder.steps();
    let (end, next) = recorder.end_segment(&recorded).map_err(unwritable(journal))?;
    let path = segment.map_or_else(|| segment_path(journal, steps), Path::to_path_buf);

    let mut lines = Vec::new();
    file.read().and_then(|mut input| input.read_to_end(&mut lines)).map_err(unwritable(journal))?;
    lines.extend(end);
    if is_other_file(&path, &lines).map_err(unwritable(&path))? {
        return Err(RotateError::SegmentExists { segment: path.display().to_string() });
    }
    replace(&path, &lines).map_err(unwritable(&path))?;
    // From here on the segment is durable. `file` stays locked until the journal is replaced.
    replace(journal, &next).map_err(unwritable(journal))?;
    drop(file);
    Ok(RotatedSegment { path, steps })
}

/// Returns the default path of a segment: `office.1520.ndjson` for `office.ndjson`.
fn segment_path(journal: &Path, steps: u64) -> PathBuf {
    let extension =
        journal.extension().map_or_else(String::new, |extension| extension.to_string_lossy().into_owned());
    journal.with_extension(match extension.as_str() {
        "" => steps.to_string(),
        extension => format!("{steps}.{extension}"),
    })
}

/// Whether a file exists that is no copy of these lines. A rotation that a crash interrupted may leave a copy.
fn is_other_file(path: &Path, lines: &[u8]) -> io::Result<bool> {
    match std::fs::read(path) {
        Ok(found) => Ok(found != lines),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Replaces a file by one rename, and makes both durable.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut draft = path.to_path_buf().into_os_string();
    draft.push(".draft");
    let draft = PathBuf::from(draft);
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    sync_directory(path)
}
