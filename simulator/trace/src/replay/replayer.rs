//! Replay of one step: decides the recorded input and compares the result with the line.
//!
//! Fast path: if the line after its input has exactly the bytes that this version would write, only the input is parsed. Any
//! other line is parsed and compared by value, so that key order is no difference and a real difference can be named.

use super::difference::Difference;
use crate::changed_decision::ChangedDecision;
use crate::context_record::ContextRecord;
use crate::contexts::ContextRecorder;
use crate::error::{TraceError, TraceErrorKind};
use crate::events_digest::EventsDigest;
use crate::format::{Form, JournalStep, Step, StepMetadata, StepRecord};
use crate::layers::{DifferenceKind, without_texts};
use crate::read::Reader;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{Event, Events, Input, Policy, State, Timestamp, decide};
use std::io::{BufRead, Write};

/// A conversation that is decided again, step by step.
pub(crate) struct Replayer {
    policy: Policy,
    state: State,
    contexts: ContextRecorder,
    /// The bytes to compare with a line; one buffer for all lines.
    expected: Vec<u8>,
}

/// A replayed step.
pub(crate) struct ReplayedStep {
    pub(crate) metadata: StepMetadata,
    pub(crate) input: Input,
    pub(crate) outcome: StepOutcome,
    /// The difference from the trace, if any.
    pub(crate) difference: Option<(DifferenceKind, Difference)>,
    /// The decision on the path of control, where it differs from that of the trace.
    pub(crate) changed: Option<ChangedDecision>,
    /// Whether a difference may follow from erased texts.
    pub(crate) is_unverified: bool,
}

/// The result of deciding an input again.
pub(crate) struct StepOutcome {
    /// The applied batch, or the refusal as a sentence.
    pub(crate) result: Result<Events, String>,
    /// The context of the emitted call.
    pub(crate) context: Option<ContextRecord>,
}

impl Replayer {
    /// Starts a replay with the given policy, or with the recorded one.
    ///
    /// # Errors
    /// [`TraceError`] if the tokenizer of the policy is not available.
    pub(crate) fn new<R: BufRead>(
        reader: &Reader<R>,
        policy: Option<&Policy>,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, TraceError> {
        let header = reader.header();
        let policy = policy.unwrap_or(&header.policy).clone();
        contexts.check_policy(&policy).map_err(|error| reader.error(TraceErrorKind::Tokenizer(error)))?;
        let state = reader.start()?.state().clone();
        Ok(Self { policy, state, contexts: ContextRecorder::new(contexts), expected: Vec::new() })
    }

    /// Continues under the policy of the next segment, which an upgrade chose.
    ///
    /// # Errors
    /// [`TraceError`] if the tokenizer of the policy is not available.
    pub(crate) fn upgrade<R: BufRead>(
        &mut self,
        next: &Reader<R>,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<(), TraceError> {
        let policy = &next.header().policy;
        contexts.check_policy(policy).map_err(|error| next.error(TraceErrorKind::Tokenizer(error)))?;
        self.policy = policy.clone();
        self.contexts = ContextRecorder::new(contexts);
        Ok(())
    }

    /// Replays the next step. Returns `None` after the last one.
    pub(crate) fn next<R: BufRead>(
        &mut self,
        reader: &mut Reader<R>,
    ) -> Result<Option<ReplayedStep>, TraceError> {
        if !reader.advance()? {
            return Ok(None);
        }
        if reader.header().form() == Form::Journal {
            return self.next_of_journal(reader).map(Some);
        }
        let from = self.state.control().phase();
        let mut early = None;
        if let Some((stamp, input, rest)) = self.split_line(reader.text(), reader.step_number()) {
            let decided = self.decide(stamp.time(), &input);
            if self.matches_bytes(&decided, rest) {
                return Ok(Some(ReplayedStep {
                    metadata: stamp,
                    input,
                    outcome: decided,
                    difference: None,
                    changed: None,
                    is_unverified: false,
                }));
            }
            early = Some(decided);
        }
        let step = reader.step(&self.state)?;
        let decided = early.unwrap_or_else(|| self.decide(Timestamp::from_millis(step.at_ms), &step.input));
        let difference = compare_step(&step, &decided);
        let current = decided.result.as_ref().map(Vec::as_slice).map_err(String::as_str);
        let changed = ChangedDecision::of_step(from, &step, current);
        Ok(Some(ReplayedStep {
            metadata: step.metadata(),
            input: step.input,
            outcome: decided,
            difference,
            changed,
            is_unverified: false,
        }))
    }

    /// Replays the latest step of a journal, which has a digest of its events. After a text was erased a difference proves nothing: items
    /// and contexts contain a placeholder, and two texts may no longer be equal.
    fn next_of_journal<R: BufRead>(&mut self, reader: &Reader<R>) -> Result<ReplayedStep, TraceError> {
        let JournalStep { n, at_ms, note, idempotency, possible_loss, input, events, refused, context } =
            reader.journal_step()?;
        let outcome = self.decide(Timestamp::from_millis(at_ms), &input);
        let metadata = StepMetadata { at_ms, note, idempotency, possible_loss };
        let differ = |kind, subject: &str, recorded: String, replayed: String| {
            Some((kind, Difference { step: n, subject: subject.to_owned(), recorded, replayed }))
        };
        let decisions = DifferenceKind::Decisions;
        let difference = match (&outcome.result, refused) {
            (Err(here), Some(sentence)) if *here == sentence => None,
            (Err(here), Some(sentence)) => {
                differ(DifferenceKind::Texts, "the refusal", sentence, here.clone())
            }
            (Err(here), None) => {
                differ(decisions, "the input", "accepted".to_owned(), format!("refused: {here}"))
            }
            (Ok(_), Some(sentence)) => {
                differ(decisions, "the input", format!("refused: {sentence}"), "accepted".to_owned())
            }
            (Ok(decided), None) => {
                let digest = EventsDigest::of_step(decided, &mut self.expected)
                    .map_err(|error| reader.error(TraceErrorKind::Malformed(error.to_string())))?;
                let found = outcome.context.as_ref().map(ContextRecord::record_digest);
                if digest != events {
                    differ(decisions, "the events", text(&events), text(&digest))
                } else if found != context {
                    differ(decisions, "the context", text(&context), text(&found))
                } else {
                    None
                }
            }
        };
        let is_unverified = difference.is_some() && reader.erased_texts() > 0;
        let difference = difference.filter(|_| !is_unverified);
        // A journal has no events, so its path is not known.
        Ok(ReplayedStep { metadata, input, outcome, difference, changed: None, is_unverified })
    }

    /// Decides an input at this time and applies its events.
    fn decide(&mut self, now: Timestamp, input: &Input) -> StepOutcome {
        match decide(&self.policy, &self.state, now, input) {
            Ok(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                StepOutcome {
                    context: self.contexts.record(&self.policy, &self.state, &events),
                    result: Ok(events),
                }
            }
            Err(refusal) => StepOutcome { context: None, result: Err(refusal.to_string()) },
        }
    }

    /// Splits a line into the metadata, the input and the rest. Returns `None` if the line does not begin as this version writes
    /// it.
    fn split_line<'a>(&mut self, text: &'a str, number: u64) -> Option<(StepMetadata, Input, &'a str)> {
        const INPUT: &str = "\"input\":";
        self.expected.clear();
        write!(self.expected, "{{\"n\":{number},").ok()?;
        if !text.as_bytes().starts_with(&self.expected) {
            return None;
        }
        let rest = text.get(self.expected.len()..)?;
        // Quotes within texts are escaped, so this is the key.
        let (stamp, rest) = match rest.strip_prefix(INPUT) {
            Some(rest) => (StepMetadata::default(), rest),
            None => {
                let (stamp, rest) = rest.split_once(INPUT)?;
                (serde_json::from_str(&format!("{{{}}}", stamp.strip_suffix(',')?)).ok()?, rest)
            }
        };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter();
        let input = values.next()?.ok()?;
        Some((stamp, input, rest.get(values.byte_offset()..)?))
    }

    /// Whether `rest`, the line after its input, has the bytes that this version would write.
    fn matches_bytes(&mut self, decided: &StepOutcome, rest: &str) -> bool {
        let made = match &decided.result {
            Ok(events) => StepRecord::accepted(events, decided.context.as_ref()),
            Err(sentence) => StepRecord::refused(sentence),
        };
        self.expected.clear();
        // The serialized record begins with a brace, the rest of the line with a comma.
        serde_json::to_writer(&mut self.expected, &made).is_ok()
            && rest.strip_prefix(',').is_some_and(|rest| self.expected.get(1..) == Some(rest.as_bytes()))
    }
}

/// Returns the difference between two recorded steps with the same input.
pub(crate) fn compare_steps(recorded: &Step, current: &Step) -> Option<(DifferenceKind, Difference)> {
    let result = current.refused.clone().map_or_else(|| Ok(current.events.clone()), Err);
    compare_step(recorded, &StepOutcome { result, context: current.context.clone() })
}

/// Returns the difference between a recorded step and its replay.
fn compare_step(step: &Step, decided: &StepOutcome) -> Option<(DifferenceKind, Difference)> {
    let differ = |layer, what: String, recorded: String, replayed: String| {
        Some((layer, Difference { step: step.n, subject: what, recorded, replayed }))
    };
    let events = match (&decided.result, &step.refused) {
        (Err(here), Some(sentence)) if here == sentence => return None,
        (Err(here), Some(sentence)) => {
            return differ(DifferenceKind::Texts, "the refusal".into(), sentence.clone(), here.clone());
        }
        (Err(here), None) => {
            return differ(
                DifferenceKind::Decisions,
                "the input".into(),
                format!("accepted, {} events", step.events.len()),
                format!("refused: {here}"),
            );
        }
        (Ok(events), Some(sentence)) => {
            return differ(
                DifferenceKind::Decisions,
                "the input".into(),
                format!("refused: {sentence}"),
                format!("accepted, {} events", events.len()),
            );
        }
        (Ok(events), None) => events,
    };
    if let Some(difference) = compare_events(step, events) {
        return Some(difference);
    }
    if decided.context != step.context {
        let (recorded, here) = (text(&step.context), text(&decided.context));
        return differ(DifferenceKind::Decisions, "the context".into(), recorded, here);
    }
    None
}

fn compare_events(step: &Step, events: &Events) -> Option<(DifferenceKind, Difference)> {
    let pairs = step.events.len().max(events.len());
    let at = |layer| {
        let same = |a: &Event, b: &Event| match layer {
            DifferenceKind::Decisions => without_texts(a) == without_texts(b),
            DifferenceKind::Texts => a == b,
        };
        (0..pairs)
            .find(|i| !matches!((step.events.get(*i), events.get(*i)), (Some(a), Some(b)) if same(a, b)))
    };
    // Equal batches are the common case.
    if step.events == *events {
        return None;
    }
    let (layer, i) = at(DifferenceKind::Decisions)
        .map(|i| (DifferenceKind::Decisions, i))
        .or(at(DifferenceKind::Texts).map(|i| (DifferenceKind::Texts, i)))?;
    let event = |events: &Events| events.get(i).map_or("nothing".to_string(), text);
    let what = format!("event {} of {pairs}", i + 1);
    Some((
        layer,
        Difference { step: step.n, subject: what, recorded: event(&step.events), replayed: event(events) },
    ))
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
