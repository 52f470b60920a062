//! Recovery: reads a journal, rebuilds its conversation and locates a torn tail.

use crate::error::OpenError;
use crate::journal::Journal;
use orchestrion_files::limits::TRACE_HEADER_BYTES_MAX;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{
    ConversationFold, Header, Reader, Snapshot, SnapshotError, TOOL_CALL_KEY, TRACE_PREFIX, TraceError,
    TraceErrorKind,
};
use std::fmt;
use std::io::{self, BufRead, Read};

const HEADER_BYTES_MAX: u64 = TRACE_HEADER_BYTES_MAX as u64;

/// The torn tail of a journal, which was truncated. If the disk lost a durable line, a call depended on it: the host then recovers each
/// effectful call before it is sent. If lines precede it, a step of the journal records it
/// ([`StepMetadata::possible_loss`](orchestrion_trace::StepMetadata::possible_loss)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruncatedTail {
    /// Its first line, from 1.
    pub line: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

impl fmt::Display for TruncatedTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, bytes } = self;
        write!(
            f,
            "torn tail truncated: {bytes} bytes from line {line} on were never completely written, or were lost"
        )
    }
}

/// The contents of a journal.
#[derive(Debug)]
pub(crate) struct RecoveredJournal {
    /// The header of the journal; of an older one it may have another form than that of a new one.
    pub(crate) header: Header,
    pub(crate) recorder: Recorder<Vec<u8>>,
    /// The bytes before the torn tail.
    pub(crate) valid_bytes: u64,
    pub(crate) truncated_tail: Option<TruncatedTail>,
    /// The bytes that the snapshot covers; 0 if none was used.
    pub(crate) covered_bytes: u64,
    /// Why the snapshot of the journal was not used, if so.
    pub(crate) snapshot_error: Option<SnapshotError>,
}

/// Rebuilds the conversation of a journal: from its snapshot and the lines after it, else from the whole journal.
pub(crate) fn recover(
    journal: &mut impl Journal,
    header: &Header,
    contexts: &'static dyn ContextBuilder,
) -> Result<RecoveredJournal, OpenError> {
    let name = journal.name();
    let unreadable = |error| OpenError::Io { journal: name.clone(), error };
    let mut snapshot_error = None;
    match read_snapshot(journal, header)? {
        Ok(None) => {}
        Ok(Some(snapshot)) => {
            let input = journal.read_from(snapshot.journal_bytes).map_err(unreadable)?;
            match read_journal_after(snapshot, input, &name, contexts) {
                // The lines do not continue it, or they are damaged: the whole journal shows which.
                Err(OpenError::Trace(_)) => snapshot_error = Some(SnapshotError::JournalMismatch),
                recovered => return recovered,
            }
        }
        Err(error) => snapshot_error = Some(error),
    }
    let recovered = read_journal(journal.read().map_err(unreadable)?, &name, header, contexts)?;
    Ok(RecoveredJournal { snapshot_error, ..recovered })
}

/// Reads a journal to its end, or starts it with this header if it is empty.
fn read_journal(
    mut input: impl BufRead,
    name: &str,
    header: &Header,
    contexts: &'static dyn ContextBuilder,
) -> Result<RecoveredJournal, OpenError> {
    let io = |error| OpenError::Io { journal: name.to_owned(), error };
    let mut first_line = Vec::new();
    input.by_ref().take(HEADER_BYTES_MAX).read_until(b'\n', &mut first_line).map_err(io)?;
    let zero = first_line.iter().position(|byte| *byte == 0).unwrap_or(first_line.len());
    let mut truncated_tail = None;
    if !first_line.ends_with(b"\n") || zero < first_line.len() {
        input.by_ref().take(HEADER_BYTES_MAX).read_to_end(&mut first_line).map_err(io)?;
        let (written, rest) = first_line.split_at(zero);
        if is_torn_header(written, rest) || is_part_of_header(&first_line, header, contexts).map_err(io)? {
            truncated_tail =
                Some(TruncatedTail { line: 1, bytes: first_line.len() as u64 }).filter(|tail| tail.bytes > 0);
            first_line.clear();
        }
    }
    if first_line.is_empty() {
        return Ok(RecoveredJournal {
            header: header.clone(),
            recorder: Recorder::open(Vec::new(), header, contexts).map_err(io)?,
            valid_bytes: 0,
            truncated_tail,
            covered_bytes: 0,
            snapshot_error: None,
        });
    }
    let input = first_line.as_slice().chain(input);
    let reader = Reader::new_segment(input, name)?;
    check_header(name, reader.header(), header)?;
    let fold = reader.start()?.clone();
    read_steps(reader, fold, name, contexts)
}

/// Reads the steps of a journal after its snapshot.
fn read_journal_after(
    snapshot: Snapshot,
    input: impl BufRead,
    name: &str,
    contexts: &'static dyn ContextBuilder,
) -> Result<RecoveredJournal, OpenError> {
    let (reader, covered_bytes) = (Reader::resume(input, name, &snapshot), snapshot.journal_bytes);
    let recovered = read_steps(reader, snapshot.into_fold(), name, contexts)?;
    Ok(RecoveredJournal { covered_bytes, ..recovered })
}

/// Returns the snapshot of a journal if it was taken of this journal and under this header, else why not.
fn read_snapshot(
    journal: &mut impl Journal,
    header: &Header,
) -> Result<Result<Option<Snapshot>, SnapshotError>, OpenError> {
    let name = journal.name();
    let io = |error| OpenError::Io { journal: name.clone(), error };
    // A snapshot is a cache, so one that cannot be read is no reason to refuse the journal.
    let bytes = match journal.read_snapshot() {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(SnapshotError::Unreadable(error.to_string()))),
    };
    // A journal whose header cannot be read is refused when its steps are read.
    let recorded =
        Reader::new_segment(journal.read().map_err(io)?, &name).ok().map(|reader| reader.header().clone());
    if let Some(recorded) = &recorded {
        check_header(&name, recorded, header)?;
    }
    let snapshot = match Snapshot::decode(&bytes, recorded.as_ref().unwrap_or(header)) {
        Ok(snapshot) => snapshot,
        Err(error) => return Ok(Err(error)),
    };
    let expected = snapshot.journal_end();
    let start = snapshot.journal_bytes.saturating_sub(expected.len() as u64);
    let mut found = Vec::new();
    let input = journal.read_from(start).map_err(io)?;
    input.take(expected.len() as u64).read_to_end(&mut found).map_err(io)?;
    if found != expected.as_bytes() {
        return Ok(Err(SnapshotError::JournalMismatch));
    }
    Ok(Ok(Some(snapshot)))
}

/// Reads the steps of a journal to its end, under the policy of its header.
pub(crate) fn read_steps(
    mut reader: Reader<impl BufRead>,
    mut fold: ConversationFold,
    name: &str,
    contexts: &'static dyn ContextBuilder,
) -> Result<RecoveredJournal, OpenError> {
    let io = |error| OpenError::Io { journal: name.to_owned(), error };
    let torn_line = loop {
        match reader.advance() {
            Ok(true) => {
                let step = reader.step(fold.state())?;
                fold.apply(step.n, &step.events);
                let events = step.refused.is_none().then_some(&*step.events);
                fold.record_metadata(step.n, &step.metadata(), events);
            }
            Ok(false) => {
                return Err(OpenError::Closed { journal: name.to_owned(), steps: reader.step_number() });
            }
            Err(TraceError { kind: TraceErrorKind::MissingEnd, .. }) => break None,
            Err(error) if reader.is_torn(&error) => {
                // A call is sent only after its step is durable, so a torn tail contains at most one call.
                if reader.count_remaining_calls().map_err(io)? > 1 {
                    return Err(error.into());
                }
                break Some(error.line);
            }
            Err(error) => return Err(error.into()),
        }
    };
    let valid_bytes = reader.valid_bytes();
    let truncated_tail =
        torn_line.map(|line| TruncatedTail { line, bytes: reader.read_bytes() - valid_bytes });
    let header = reader.header().clone();
    let recorder = Recorder::resume(Vec::new(), &header, fold, reader.resume_point(), contexts);
    let (covered_bytes, snapshot_error) = (0, None);
    Ok(RecoveredJournal { header, recorder, valid_bytes, truncated_tail, covered_bytes, snapshot_error })
}

/// Whether the first lines of a file were never completely written, so that nothing is lost with them. `written` ends at the
/// first newline or zero byte; `rest` follows.
fn is_torn_header(written: &[u8], rest: &[u8]) -> bool {
    const CHAIN_KEY: &[u8] = b"\"chain\":\"";
    // The first call is sent only after its step is durable, so a second call proves that data was durable.
    let calls = String::from_utf8_lossy(rest).matches(TOOL_CALL_KEY).count();
    if calls > 1 || rest.len() as u64 >= HEADER_BYTES_MAX {
        return false;
    }
    if written.is_empty() {
        let has_chain = rest.windows(CHAIN_KEY.len()).any(|window| window == CHAIN_KEY);
        return has_chain || rest.iter().all(|byte| *byte == 0);
    }
    written.starts_with(TRACE_PREFIX.as_bytes()) || TRACE_PREFIX.as_bytes().starts_with(written)
}

/// Whether a file is a part of the header of a new journal: a crash can lose its first pages, and keep later ones.
fn is_part_of_header(
    found: &[u8],
    header: &Header,
    contexts: &'static dyn ContextBuilder,
) -> io::Result<bool> {
    let mut new = Recorder::open(Vec::new(), header, contexts)?;
    let expected = new.output();
    let is_lost_or_equal = |(found, expected): (&u8, &u8)| *found == 0 || found == expected;
    Ok(found.len() <= expected.len() && found.iter().zip(expected.iter()).all(is_lost_or_equal))
}

/// Checks that a journal continues with the kernel, policy, conversation and scenario that it was recorded with.
fn check_header(journal: &str, recorded: &Header, given: &Header) -> Result<(), OpenError> {
    let scenario = |header: &Header| match &header.scenario {
        Some(scenario) => format!("{} (digest {})", scenario.name, scenario.digest),
        None => "none".to_owned(),
    };
    const UPGRADE: &str = "upgrade the journal with `orchestrion journal upgrade`";
    const NEW: &str = "a new journal";
    let pairs = [
        ("kernel version", UPGRADE, recorded.kernel.clone(), given.kernel.clone()),
        ("transition table", UPGRADE, recorded.table.clone(), given.table.clone()),
        ("policy", UPGRADE, recorded.policy_ref().to_string(), given.policy_ref().to_string()),
        ("conversation", NEW, recorded.conversation.to_string(), given.conversation.to_string()),
        ("scenario", NEW, scenario(recorded), scenario(given)),
    ];
    match pairs.into_iter().find(|(.., recorded, given)| recorded != given) {
        None => Ok(()),
        Some((subject, remedy, expected, found)) => {
            let journal = journal.to_owned();
            Err(OpenError::HeaderMismatch { journal, subject, expected, found, remedy })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Conversation;
    use orchestrion_kernel::{ConversationId, Policy};
    use orchestrion_text::StandardContexts;

    /// A crash while a journal is created keeps any pages of its header. Another file is not a journal.
    #[test]
    fn header_without_any_part_is_torn() {
        let header = Header::new(ConversationId::new("office"), Policy::hardened(), None).into_journal();
        let whole = Recorder::open(Vec::new(), &header, &StandardContexts).unwrap().output().clone();
        let open = |content: Vec<u8>| Conversation::open_with(content, &header, &StandardContexts);
        for len in [1, 700, whole.len() - 1] {
            for lost in [0..len / 2, len / 2..len, 0..len] {
                let mut torn = whole[..len].to_vec();
                torn[lost].fill(0);
                let opened = open(torn.clone()).unwrap();
                assert_eq!(opened.truncated_tail().map(|tail| tail.bytes), Some(len as u64));
                let other = torn.iter().rposition(|byte| *byte != 0);
                // The chain at its end identifies a header without its start.
                if let Some(other) = other.filter(|other| *other > 40 && len == 700) {
                    torn[..40].fill(0);
                    torn[other] ^= 1;
                    assert!(open(torn).is_err(), "{other} of {len}");
                }
            }
        }
    }
}
