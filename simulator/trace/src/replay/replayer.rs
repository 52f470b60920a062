//! One recorded input decided again, and what came of it held against its line.
//!
//! A line that this version wrote and would write again is compared byte for byte: of such a line nothing but
//! the input is parsed. Any other line is parsed whole and compared by its meaning, so that the order of keys
//! is no difference, and what does differ can be named.

use super::Difference;
use crate::{
    ContextRecord, ContextRecorder, DifferenceKind, Reader, Step, StepMetadata, StepRecord, TraceError,
    TraceErrorKind, without_texts,
};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{Event, Events, Input, Policy, State, decide};
use std::io::{BufRead, Write};

/// A conversation that is decided again, input by input.
pub struct Replayer {
    policy: Policy,
    state: State,
    contexts: ContextRecorder,
    /// What is to be compared with a line; one buffer for all lines.
    written: Vec<u8>,
}

/// A step that was decided again.
pub struct ReplayedStep {
    /// What the runtime said of the input.
    pub stamp: StepMetadata,
    /// What came.
    pub input: Input,
    /// What it came to.
    pub decided: StepOutcome,
    /// How that departs from the record, if it does.
    pub difference: Option<(DifferenceKind, Difference)>,
}

/// What an input came to this time.
pub struct StepOutcome {
    /// The batch that was applied, or the refusal as a sentence.
    pub outcome: Result<Events, String>,
    /// What the module that is now waited for is shown.
    pub shown: Option<ContextRecord>,
}

impl Replayer {
    /// Starts at the header of a trace.
    ///
    /// # Errors
    /// [`TraceError`] if the contexts of the policy cannot be built.
    pub fn new<R: BufRead>(
        reader: &Reader<R>,
        policy: Option<&Policy>,
        contexts: &'static dyn ContextBuilder,
    ) -> Result<Self, TraceError> {
        let header = reader.header();
        let policy = policy.unwrap_or(&header.policy).clone();
        contexts.check_policy(&policy).map_err(|error| reader.error(TraceErrorKind::Tokenizer(error)))?;
        let state = State::new(header.conversation.clone());
        Ok(Self { policy, state, contexts: ContextRecorder::new(contexts), written: Vec::new() })
    }

    /// The next step of a trace, or `None` after the last.
    pub fn next<R: BufRead>(&mut self, reader: &mut Reader<R>) -> Result<Option<ReplayedStep>, TraceError> {
        if !reader.advance()? {
            return Ok(None);
        }
        let mut early = None;
        if let Some((stamp, input, rest)) = self.input(reader.text(), reader.number()) {
            let decided = self.decide(&input);
            if self.is_written(&decided, rest) {
                return Ok(Some(ReplayedStep { stamp, input, decided, difference: None }));
            }
            early = Some(decided);
        }
        let step = reader.step()?;
        let decided = early.unwrap_or_else(|| self.decide(&step.input));
        let difference = difference(&step, &decided);
        let stamp = StepMetadata { at_ms: step.at_ms, note: step.note };
        Ok(Some(ReplayedStep { stamp, input: step.input, decided, difference }))
    }

    /// Decides an input and applies what was decided.
    fn decide(&mut self, input: &Input) -> StepOutcome {
        match decide(&self.policy, &self.state, input) {
            Ok(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                StepOutcome {
                    shown: self.contexts.after(&self.policy, &self.state, &events),
                    outcome: Ok(events),
                }
            }
            Err(refusal) => StepOutcome { shown: None, outcome: Err(refusal.to_string()) },
        }
    }

    /// The input of a step with this number and what follows it, if the line begins as this version writes it.
    fn input<'a>(&mut self, text: &'a str, number: u64) -> Option<(StepMetadata, Input, &'a str)> {
        const INPUT: &str = "\"input\":";
        self.written.clear();
        write!(self.written, "{{\"n\":{number},").ok()?;
        if !text.as_bytes().starts_with(&self.written) {
            return None;
        }
        let rest = text.get(self.written.len()..)?;
        // In a text the quotes would be escaped, so this is the key.
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

    /// Whether this is what stands in the line after its input.
    fn is_written(&mut self, decided: &StepOutcome, rest: &str) -> bool {
        let made = match &decided.outcome {
            Ok(events) => StepRecord::accepted(events, decided.shown.as_ref()),
            Err(sentence) => StepRecord::refused(sentence),
        };
        self.written.clear();
        // An object of its own begins with a brace where the rest of an object begins with a comma.
        serde_json::to_writer(&mut self.written, &made).is_ok()
            && rest.strip_prefix(',').is_some_and(|rest| self.written.get(1..) == Some(rest.as_bytes()))
    }
}

/// How what was decided departs from the record, if it does.
fn difference(step: &Step, decided: &StepOutcome) -> Option<(DifferenceKind, Difference)> {
    let differ = |layer, what: String, recorded: String, replayed: String| {
        Some((layer, Difference { step: step.n, what, recorded, replayed }))
    };
    let events = match (&decided.outcome, &step.refused) {
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
    if let Some(difference) = compare(step, events) {
        return Some(difference);
    }
    if decided.shown != step.context {
        let (recorded, here) = (text(&step.context), text(&decided.shown));
        return differ(DifferenceKind::Decisions, "the context shown".into(), recorded, here);
    }
    None
}

fn compare(step: &Step, events: &Events) -> Option<(DifferenceKind, Difference)> {
    let pairs = step.events.len().max(events.len());
    let at = |layer| {
        let same = |a: &Event, b: &Event| match layer {
            DifferenceKind::Decisions => without_texts(a) == without_texts(b),
            DifferenceKind::Texts => a == b,
        };
        (0..pairs)
            .find(|i| !matches!((step.events.get(*i), events.get(*i)), (Some(a), Some(b)) if same(a, b)))
    };
    // The common case costs one comparison.
    if step.events == *events {
        return None;
    }
    let (layer, i) = at(DifferenceKind::Decisions)
        .map(|i| (DifferenceKind::Decisions, i))
        .or(at(DifferenceKind::Texts).map(|i| (DifferenceKind::Texts, i)))?;
    let event = |events: &Events| events.get(i).map_or("nothing".to_string(), text);
    let what = format!("event {} of {pairs}", i + 1);
    Some((layer, Difference { step: step.n, what, recorded: event(&step.events), replayed: event(events) }))
}

fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
