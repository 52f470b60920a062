//! Segments of a journal: joined into one conversation again, or cleared of texts.
//!
//! Entry points: [`join`] and [`erase_texts`].

use crate::chain;
use crate::erased;
use crate::error::{TraceError, TraceErrorKind};
use crate::format::{FORMAT, Form, Header, SegmentEnd, StepRecord, UpgradedFrom};
use crate::read::Reader;
use crate::redact::{Redactor, Salt};
use crate::replay::{Difference, Replayer};
use crate::texts::JsonStrings;
use crate::write::Writer;
use orchestrion_files::limits::TRACE_HEADER_BYTES_MAX;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{Input, UserId};
use std::collections::BTreeSet;
use std::io::{self, BufRead, Read, Write};
use thiserror::Error;

/// The result of joining segments.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The number of steps.
    pub steps: u64,
    /// The number of erased texts.
    pub erased_texts: u64,
    /// The steps whose events or context could not be compared because of erased texts.
    pub unverified_steps: u64,
    /// The number of segments that begin with an upgrade.
    pub upgrades: u64,
    /// Whether the conversation of the last segment is still open.
    pub is_open: bool,
}

/// The reason why segments cannot be joined.
#[derive(Debug, Error)]
pub enum JoinError {
    /// A segment cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A segment does not continue the one before it.
    #[error(
        "{file}: wrong segment: expected {expected}, found {found}; list the segments of one journal in their order"
    )]
    WrongSegment {
        /// The segment.
        file: String,
        /// The end of the segment before.
        expected: String,
        /// What the segment continues.
        found: String,
    },
    /// A segment does not replay with this kernel.
    #[error(
        "{file}: divergence at step {step}: expected {subject} as recorded, found another; recorded {recorded}; replayed {replayed}"
    )]
    Differs {
        /// The segment.
        file: String,
        /// The step.
        step: u64,
        /// The differing part, as a noun phrase.
        subject: String,
        /// The value in the segment.
        recorded: String,
        /// The value from this kernel.
        replayed: String,
    },
    /// The segment begins with an upgrade, and a trace has one kernel and one policy.
    #[error(
        "{file}: upgraded conversation: expected one kernel and one policy, found an upgrade after step {steps}; check the segments \
         without a trace, or write the segments before the upgrade"
    )]
    Upgraded {
        /// The segment.
        file: String,
        /// The steps before it.
        steps: u64,
    },
    /// A text of the segment was erased, so that the events of the trace would not be those of the conversation.
    #[error(
        "{file}: erased texts: expected every text, found an erased one in step {step}; check the segments without a trace, or show \
         them one by one"
    )]
    Erased {
        /// The segment.
        file: String,
        /// The first step with an erased text.
        step: u64,
    },
    /// The output cannot be written.
    #[error("unwritable output: {0}")]
    Io(#[from] io::Error),
}

/// Replays the segments of a journal in their order, and writes their steps to `out` as one trace with all events. Each must continue the
/// one before it, and start in the state at its end. After an upgrade, steps are decided under the policy of their segment.
///
/// # Errors
/// [`JoinError`]; the output is then incomplete and must be discarded.
pub fn join<R: BufRead>(
    first: Reader<R>,
    others: impl IntoIterator<Item = Reader<R>>,
    contexts: &'static dyn ContextBuilder,
    out: Option<impl Write>,
) -> Result<Joined, JoinError> {
    let mut header = trace_header(first.header());
    let mut replayer = Replayer::new(&first, None, contexts)?;
    let mut fold = first.start()?.clone();
    let mut writer = out.map(|out| Writer::new(out, &header)).transpose()?;
    let (mut joined, mut end) = (Joined::default(), None);
    for mut reader in std::iter::once(first).chain(others) {
        if joined.is_open {
            return Err(reader.error(TraceErrorKind::AfterEnd).into());
        }
        check_follows(&reader, &header, end.as_ref())?;
        let file = reader.file().to_owned();
        if reader.header().upgraded_from.is_some() {
            if writer.is_some() {
                return Err(JoinError::Upgraded { file, steps: joined.steps });
            }
            replayer.upgrade(&reader, contexts)?;
            joined.upgrades += 1;
            header = trace_header(reader.header());
        }
        let differs = |Difference { step, subject, recorded, replayed }| JoinError::Differs {
            file: file.clone(),
            step,
            subject,
            recorded,
            replayed,
        };
        let is_same_state = reader.start().is_ok_and(|start| *start == fold);
        if joined.erased_texts == 0 && !reader.is_erased() && !is_same_state {
            return Err(differs(Difference {
                step: joined.steps,
                subject: "the state at the start".to_owned(),
                recorded: "one state".to_owned(),
                replayed: "another".to_owned(),
            }));
        }
        let erased_before = joined.erased_texts;
        loop {
            let step = match replayer.next(&mut reader) {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd) => {
                    joined.is_open = true;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            joined.steps += 1;
            if writer.is_some() && reader.is_erased() {
                return Err(JoinError::Erased { file, step: joined.steps });
            }
            fold.record_metadata(joined.steps, &step.metadata, step.outcome.result.as_deref().ok());
            if let Ok(events) = &step.outcome.result {
                fold.apply(joined.steps, events);
            }
            joined.erased_texts = erased_before + reader.erased_texts();
            // A text that was erased in an earlier segment may be in a later state.
            let is_unverified = step.is_unverified || (step.difference.is_some() && erased_before > 0);
            joined.unverified_steps += u64::from(is_unverified);
            if let Some((_, difference)) = step.difference.filter(|_| !is_unverified) {
                return Err(differs(difference));
            }
            let record = match &step.outcome.result {
                Ok(events) => StepRecord::accepted(events, step.outcome.context.as_ref()),
                Err(sentence) => StepRecord::refused(sentence),
            };
            if let Some(writer) = &mut writer {
                writer.write_step(&step.metadata, &step.input, record)?;
            }
        }
        joined.erased_texts = erased_before + reader.erased_texts();
        end = Some(reader.segment_end());
    }
    if let Some(writer) = writer {
        writer.end()?.flush()?;
    }
    Ok(joined)
}

/// Returns the header of a trace with the steps of a segment.
fn trace_header(segment: &Header) -> Header {
    Header { format: FORMAT.to_owned(), continues: None, upgraded_from: None, ..segment.clone() }
}

/// Checks that a segment belongs to the conversation of this header, and continues this end.
fn check_follows<R: BufRead>(
    reader: &Reader<R>,
    before: &Header,
    end: Option<&SegmentEnd>,
) -> Result<(), JoinError> {
    let wrong = |expected: String, found: String| {
        Err(JoinError::WrongSegment { file: reader.file().to_owned(), expected, found })
    };
    let header = reader.header();
    let place = |end: Option<&SegmentEnd>| match end {
        Some(end) => format!("a segment that continues {end}"),
        None => "the first segment of a conversation".to_owned(),
    };
    if header.continues.as_ref() != end {
        return wrong(place(end), place(header.continues.as_ref()));
    }
    let own = trace_header(header);
    let Some(from) = &header.upgraded_from else {
        return if own == *before {
            Ok(())
        } else {
            wrong(
                "the kernel, the policy and the conversation of the segment before".to_owned(),
                "others, and no upgrade".to_owned(),
            )
        };
    };
    let Header { kernel, table, policy, .. } = own.clone();
    if own != (Header { kernel, table, policy, ..before.clone() }) {
        return wrong("the conversation of the segment before".to_owned(), "another".to_owned());
    }
    let (expected, found) = (before.as_upgraded_from(), from);
    if expected == *found {
        Ok(())
    } else {
        let text = |UpgradedFrom { kernel, table, policy }: &UpgradedFrom| {
            format!("an upgrade from the kernel {kernel} with the table {table} and the policy {policy}")
        };
        wrong(text(&expected), text(found))
    }
}

/// The texts to erase: those that satisfy both conditions.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextSelection<'a> {
    /// In the steps before this one.
    pub before: Option<u64>,
    /// Containing this text.
    pub containing: Option<&'a str>,
}

/// The result of erasing texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// The number of texts that were erased now.
    pub texts: u64,
    /// The number of steps that contained them.
    pub steps: u64,
    /// Whether texts of the state at the start of the segment were erased, so that it needs the segments before it.
    pub has_erased_state: bool,
    /// The number of lines that still contain the text of the selection: in a key, in a name, or in a text of the journal itself.
    pub kept_lines: u64,
}

/// The reason why texts cannot be erased.
#[derive(Debug, Error)]
pub enum EraseError {
    /// The segment cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The file is a trace with all events.
    #[error(
        "{file}: no segment of a journal: expected digests of events, found all events; remove its texts with `orchestrion show TRACE \
         --redact NEW`"
    )]
    NotAJournal {
        /// The file.
        file: String,
    },
    /// The conversation is open, so it still needs its texts.
    #[error(
        "{file}: open journal: expected a segment that rotation moved aside, found no end; run `orchestrion journal rotate` first"
    )]
    Open {
        /// The file.
        file: String,
    },
    /// The output cannot be written.
    #[error("unwritable output: {0}")]
    Io(#[from] io::Error),
}

/// Writes the segment to `out` without these texts. All chains stay.
///
/// Texts are what users, modules and hosts wrote, as in [`redact`](crate::redact), and the diagnostic sentences. The names of users and
/// those in the rank table stay, because sessions and decisions depend on them, and so do keys: those of objects, and the idempotency keys.
///
/// # Errors
/// [`EraseError`]; the output is then incomplete and must be discarded.
pub fn erase_texts<R: BufRead>(
    mut input: R,
    file: &str,
    selection: TextSelection<'_>,
    mut out: impl Write,
) -> Result<Erasure, EraseError> {
    let mut header_line = Vec::new();
    let bytes_max = TRACE_HEADER_BYTES_MAX as u64;
    input.by_ref().take(bytes_max).read_until(b'\n', &mut header_line)?;
    let mut reader = Reader::new_segment(header_line.as_slice().chain(input), file)?;
    if reader.header().form() != Form::Journal {
        return Err(EraseError::NotAJournal { file: file.to_owned() });
    }
    out.write_all(&header_line)?;
    let needle = selection.containing.map(json_content).unwrap_or_default();
    let redactor = Redactor::new(&Salt::unwritten(), &reader.header().policy.ranks);
    let mut erasure = Erasure::default();
    if let Some(end) = &reader.header().continues {
        let is_selected = selection.before.is_none_or(|before| end.steps < before);
        let is_erased = |text: &str| is_selected && text.contains(needle.as_str());
        let Written { texts, is_kept } = write_erased(&reader, &mut out, &needle, is_erased)?;
        erasure.texts += texts;
        erasure.has_erased_state = texts > 0;
        erasure.kept_lines += u64::from(is_selected && is_kept);
    }
    loop {
        match reader.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd) => {
                return Err(EraseError::Open { file: file.to_owned() });
            }
            Err(error) => return Err(error.into()),
        }
        let step = reader.journal_step()?;
        let is_selected = selection.before.is_none_or(|before| step.n < before);
        let mut texts = BTreeSet::new();
        if is_selected {
            let (input, redacted) = (json(&step.input)?, json(&redactor.input(&step.input))?);
            let pairs = contents(&input).zip(contents(&redacted));
            texts.extend(pairs.filter(|(text, other)| text != other).map(|(text, _)| text.to_owned()));
            texts.extend([&step.note, &step.refused].into_iter().flatten().map(|text| json_content(text)));
            let user = user(&step.input).map(|user| json_content(user.as_str()));
            let is_name = |text: &String| {
                user.as_ref() == Some(text) || reader.header().policy.ranks.get(text).is_some()
            };
            texts.retain(|text| text.contains(&needle) && !is_name(text));
        }
        let written = write_erased(&reader, &mut out, &needle, |text| texts.contains(text))?;
        erasure.texts += written.texts;
        erasure.steps += u64::from(written.texts > 0);
        erasure.kept_lines += u64::from(is_selected && written.is_kept);
    }
    out.write_all(end_line(&reader).as_bytes())?;
    out.flush()?;
    Ok(erasure)
}

/// Returns the user of an input that a session depends on.
const fn user(input: &Input) -> Option<&UserId> {
    match input {
        Input::SessionStart { user, .. } | Input::UserMessage { user, .. } => Some(user),
        Input::SessionEnd
        | Input::Reply { .. }
        | Input::CallFailed { .. }
        | Input::Write(_)
        | Input::Step
        | Input::Cancel
        | Input::Network(_)
        | Input::Tick
        | Input::Resume => None,
    }
}

/// A line that was written without some of its texts.
struct Written {
    /// Their number.
    texts: u64,
    /// Whether the line still contains the text of the selection.
    is_kept: bool,
}

/// Writes the latest line without these texts, and with its chain.
fn write_erased<R: BufRead>(
    reader: &Reader<R>,
    out: &mut impl Write,
    needle: &str,
    is_erased: impl Fn(&str) -> bool,
) -> io::Result<Written> {
    let (mut line, mut texts) = (String::new(), 0);
    erased::erase(reader.stored_line(), &mut line, |text| {
        let is_erased = is_erased(text);
        texts += u64::from(is_erased);
        is_erased
    });
    let is_kept = !needle.is_empty() && line.contains(needle);
    chain::seal(&mut line, &reader.segment_end().chain);
    out.write_all(line.as_bytes())?;
    Ok(Written { texts, is_kept })
}

/// Returns the last line of a segment that was read to its end.
fn end_line<R: BufRead>(reader: &Reader<R>) -> String {
    let SegmentEnd { steps, chain } = reader.segment_end();
    let mut line = format!("{{\"end\":{{\"steps\":{steps}}}}}");
    chain::seal(&mut line, &chain);
    line
}

fn json(value: &impl serde::Serialize) -> io::Result<String> {
    serde_json::to_string(value).map_err(io::Error::other)
}

/// Returns a text between its quotes, as a line stores it.
fn json_content(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// Returns the texts of a JSON value, between their quotes.
fn contents(json: &str) -> impl Iterator<Item = &str> {
    JsonStrings::new(json)
        .filter(|string| !string.is_key)
        .map(|string| &string.text[1..string.text.len() - 1])
}
