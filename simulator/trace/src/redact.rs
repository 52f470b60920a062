//! Redaction: a trace without its texts, which is decided as it was.
//!
//! Every text that a user, a module or a runtime gave becomes its length and a digest of it under a salt that is
//! kept nowhere; equal texts stay equal, and an empty one stays empty. The mapped inputs are then decided anew, so that
//! whatever the kernel makes of texts, such as items, refusals and contexts, is made of the new ones. Numbers stay: they are
//! what was decided by. Deliberately absent: a way back, and an own salt, by which two redactions could be laid
//! side by side.

mod knowledge;
mod situation;
mod texts;

use crate::replay::Replayer;
use crate::{
    ContextRecorder, Header, Reader, StepMetadata, StepRecord, TraceError, TraceErrorKind, Writer,
    without_texts,
};
use miette::Diagnostic;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::{ConversationId, Event, Events, Input, Policy, State, decide};
use std::io::{self, BufRead};
use texts::Redactor;
use thiserror::Error;

/// What the digests of one redaction are made with.
#[derive(Clone)]
pub struct Salt([u8; 32]);

impl Salt {
    /// A new one, from the system's source of randomness.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }
}

/// What was redacted.
#[derive(Debug)]
pub struct Redacted {
    /// Steps, the refused ones included.
    pub steps: u64,
    /// Why the trace stops without its last line, if it does. The redacted one stops there too.
    pub incomplete: Option<TraceError>,
}

/// Why a trace was not redacted.
#[derive(Debug, Error, Diagnostic)]
pub enum RedactError {
    /// It cannot be read.
    #[error(transparent)]
    #[diagnostic(help("only what is whole up to where it stops can be redacted"))]
    Trace(#[from] TraceError),
    /// It is not what this kernel decides, so nobody could say that the redacted one is.
    #[error("step {n} is decided otherwise than recorded: {what}")]
    #[diagnostic(help(
        "see where with: orchestrion replay TRACE; redact it with the version that recorded it"
    ))]
    Replay {
        /// The step.
        n: u64,
        /// What is different, as a noun phrase.
        what: String,
    },
    /// Two texts were equal only once they were put together.
    #[error(
        "step {n} is decided otherwise once the texts are replaced, for two of them make up the same text"
    )]
    #[diagnostic(help("this trace cannot be redacted; show it, or cut it off before this step"))]
    Decision {
        /// The step.
        n: u64,
    },
    /// The redacted trace cannot be written.
    #[error("the redacted trace cannot be written")]
    Io(#[from] io::Error),
}

/// Writes the trace anew without its texts.
///
/// The header names no scenario, whose digest would give it away, and a policy keeps its name only if it is built in.
/// Times are kept from the first one on.
///
/// # Errors
/// [`RedactError`]; what was written by then is no trace to be kept.
pub fn redact<R: BufRead>(
    mut reader: Reader<R>,
    salt: &Salt,
    contexts: &'static dyn ContextBuilder,
    out: impl io::Write,
) -> Result<Redacted, RedactError> {
    let names = Redactor::new(salt.0);
    let original = reader.header().clone();
    let mut again = Replayer::new(&reader, None, contexts)?;
    let mut anew = RedactingRecorder::new(header(&original, &names), contexts, out)?;
    let (mut steps, mut first_ms) = (0, None);
    loop {
        let turn = match again.next(&mut reader) {
            Ok(Some(turn)) => turn,
            Ok(None) => break,
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd | TraceErrorKind::Torn) => {
                anew.trace.out().flush()?;
                return Ok(Redacted { steps, incomplete: Some(error) });
            }
            Err(error) => return Err(error.into()),
        };
        steps += 1;
        if let Some((_, difference)) = turn.difference {
            return Err(RedactError::Replay { n: steps, what: difference.what });
        }
        let since = *first_ms.get_or_insert(turn.stamp.at_ms);
        let stamp = StepMetadata {
            at_ms: turn.stamp.at_ms.saturating_sub(since),
            note: turn.stamp.note.map(|note| names.name(&note)),
        };
        let decided = anew.step(&stamp, &names.input(&turn.input))?;
        if !same(&names, &turn.decided.outcome, &decided) {
            return Err(RedactError::Decision { n: steps });
        }
    }
    anew.trace.end()?;
    Ok(Redacted { steps, incomplete: None })
}

fn header(original: &Header, names: &Redactor) -> Header {
    let mut policy = original.policy.clone();
    if Policy::built_in(&policy.name).is_none() {
        policy.name = names.name(&policy.name);
    }
    Header::new(ConversationId::new(names.name(original.conversation.as_str())), policy, None)
}

/// Whether the same was decided, texts aside.
fn same(names: &Redactor, before: &Result<Events, String>, now: &Option<Events>) -> bool {
    match (before, now) {
        (Ok(before), Some(now)) => {
            let bare = |event: Event| without_texts(&names.event(event));
            before.iter().cloned().map(bare).eq(now.iter().map(without_texts))
        }
        (Err(_), None) => true,
        _ => false,
    }
}

/// The conversation without its texts, as it is decided.
struct RedactingRecorder<W> {
    policy: Policy,
    state: State,
    contexts: ContextRecorder,
    trace: Writer<W>,
}

impl<W: io::Write> RedactingRecorder<W> {
    fn new(header: Header, contexts: &'static dyn ContextBuilder, out: W) -> io::Result<Self> {
        let trace = Writer::new(out, &header)?;
        let state = State::new(header.conversation);
        Ok(Self { policy: header.policy, state, contexts: ContextRecorder::new(contexts), trace })
    }

    /// Decides an input and writes it down; gives the batch unless it was refused.
    fn step(&mut self, stamp: &StepMetadata, input: &Input) -> io::Result<Option<Events>> {
        match decide(&self.policy, &self.state, input) {
            Ok(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                let shown = self.contexts.after(&self.policy, &self.state, &events);
                self.trace.step(stamp, input, StepRecord::accepted(&events, shown.as_ref()))?;
                Ok(Some(events))
            }
            Err(refusal) => {
                self.trace.step(stamp, input, StepRecord::refused(&refusal.to_string()))?;
                Ok(None)
            }
        }
    }
}
