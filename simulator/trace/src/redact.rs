//! Redaction: removes the texts of a trace and keeps its decisions.
//!
//! Each text of a user, a module or the runtime is replaced by its length, rounded up to a power of two, and a salted digest. The salt is
//! not stored. Equal texts stay equal and empty texts stay empty; with [`Salt::by_step`], equal free texts of different steps differ. Times
//! become relative to the first step. The mapped inputs are decided again, so that items, refusals and contexts contain the new
//! texts. Other numbers do not change, because decisions depend on them. If the first step creates a network, texts keep their
//! lengths and stay equal, because the tokens that nodes exchange are counted by lengths and results are compared. Deliberately
//! absent: a reverse mapping, and a salt chosen by the caller, which would make two redactions comparable.

mod clock;
mod knowledge;
mod situation;
mod texts;

use crate::error::{TraceError, TraceErrorKind};
use crate::format::{Header, StepMetadata};
use crate::layers::without_texts;
use crate::read::Reader;
use crate::recent_inputs::Idempotency;
use crate::recorder::Recorder;
use crate::replay::Replayer;
use miette::Diagnostic;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{ConversationId, Event, Events, Input, Policy, Refusal};
use serde_json::Value;
use std::io::{self, BufRead};
pub(crate) use texts::Redactor;
use thiserror::Error;

/// The salt of one redaction.
#[derive(Clone)]
pub struct Salt {
    bytes: [u8; 32],
    differs_by_step: bool,
}

impl Salt {
    /// Creates a salt from the system's source of randomness.
    ///
    /// # Errors
    /// The source of randomness fails.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self { bytes, differs_by_step: false })
    }

    /// The salt of digests that are only counted, and never written.
    pub(crate) const fn unwritten() -> Self {
        Self { bytes: [0; 32], differs_by_step: false }
    }

    /// Gives the free texts of each step a salt of their own, so that equal ones of different steps differ: messages, arguments, outputs.
    /// Where a decision compares two of them, as when a module repeats its argument, the redaction is refused.
    #[must_use]
    pub const fn by_step(self) -> Self {
        Self { differs_by_step: true, ..self }
    }
}

/// The result of a redaction.
#[derive(Debug)]
pub struct Redacted {
    /// The number of steps, including refused ones.
    pub steps: u64,
    /// The error if the trace has no end. The redacted trace stops at the same step.
    pub incomplete: Option<TraceError>,
}

/// The reason why a trace cannot be redacted.
#[derive(Debug, Error, Diagnostic)]
pub enum RedactError {
    /// The trace cannot be read.
    #[error(transparent)]
    #[diagnostic(help("redaction requires a trace without a defect before its end"))]
    Trace(#[from] TraceError),
    /// The trace does not replay with this kernel.
    #[error("divergence at step {step}: expected {subject} as recorded, found another")]
    #[diagnostic(help(
        "show the difference with: orchestrion replay TRACE; redact the trace with the version that recorded it"
    ))]
    ReplayDiffers {
        /// The step.
        step: u64,
        /// The differing part, as a noun phrase.
        subject: String,
    },
    /// A decision depends on the content or the length of a text.
    #[error("decision changed at step {step}: expected the recorded decision, found another after redaction")]
    #[diagnostic(help(
        "two texts are equal only after the kernel combined them, a budget depends on the length of a text, or a network was created \
         after the first step, or equal texts are hidden although a module repeated one; redact the trace up to the step before, or without \
         --redact-equality"
    ))]
    DecisionDiffers {
        /// The step.
        step: u64,
    },
    /// The redacted trace cannot be written.
    #[error("unwritable output: {0}")]
    Io(#[from] io::Error),
}

/// Writes the trace to `out` without its texts.
///
/// The header contains no scenario, because its digest identifies the text. Only built-in policies and built-in titles of the rank table keep their
/// names.
///
/// # Errors
/// [`RedactError`]; the output is then incomplete and must be discarded.
pub fn redact<R: BufRead>(
    mut reader: Reader<R>,
    salt: &Salt,
    contexts: &'static dyn ContextBuilder,
    out: impl io::Write,
) -> Result<Redacted, RedactError> {
    let original = reader.header().clone();
    let mut redactor = Redactor::new(salt, &original.policy.ranks);
    let mut replayer = Replayer::new(&reader, None, contexts)?;
    let mut recorder = Recorder::open(out, &redact_header(&original, &redactor), contexts)?;
    let mut steps = 0;
    loop {
        let step = match replayer.next(&mut reader) {
            Ok(Some(step)) => step,
            Ok(None) => break,
            Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd | TraceErrorKind::Torn) => {
                recorder.output().flush()?;
                return Ok(Redacted { steps, incomplete: Some(error) });
            }
            Err(error) => return Err(error.into()),
        };
        steps += 1;
        if let Some((_, difference)) = step.difference {
            return Err(RedactError::ReplayDiffers { step: steps, subject: difference.subject });
        }
        if steps == 1
            && matches!(&step.input, Input::Network(input) if matches!(**input, NetworkInput::Create { .. }))
        {
            redactor.keep_lengths();
        }
        redactor.enter_step(steps, step.metadata.time());
        let metadata = StepMetadata {
            at_ms: redactor.time(step.metadata.time()).millis(),
            note: step.metadata.note.map(|note| redactor.free_text(&note.into()).to_string()),
            idempotency: step.metadata.idempotency.map(|Idempotency { key, digest }| Idempotency {
                key: redactor.name(&key),
                digest: redactor.name(&digest),
            }),
            possible_loss: step.metadata.possible_loss,
        };
        let decided = recorder.submit(&redactor.input(&step.input), &metadata)?;
        if !is_same_decision(&redactor, &step.outcome.result, &decided) {
            return Err(RedactError::DecisionDiffers { step: steps });
        }
    }
    recorder.close()?;
    Ok(Redacted { steps, incomplete: None })
}

fn redact_header(original: &Header, redactor: &Redactor) -> Header {
    let mut policy = original.policy.clone();
    if Policy::built_in(&policy.name).is_none() {
        policy.name = redactor.name(&policy.name);
    }
    policy.ranks = redactor.ranks();
    for debater in &mut policy.additional_debaters {
        debater.name = redactor.text(&debater.name);
    }
    Header::new(ConversationId::new(redactor.name(original.conversation.as_str())), policy, None)
}

/// Whether the redacted input has the same decision as the original one, apart from texts and times.
fn is_same_decision(
    redactor: &Redactor,
    original: &Result<Events, String>,
    redacted: &Result<Events, Refusal>,
) -> bool {
    match (original, redacted) {
        (Ok(original), Ok(redacted)) => {
            let bare = |event: &Event| {
                let mut event = serde_json::to_value(without_texts(event)).ok()?;
                clock::remove_times(&mut event);
                Some(event)
            };
            let renamed = original.iter().map(|event| bare(&redactor.event(event.clone())));
            let is_known =
                |events: (Option<Value>, Option<Value>)| events.0.is_some() && events.0 == events.1;
            original.len() == redacted.len() && renamed.zip(redacted.iter().map(bare)).all(is_known)
        }
        (Err(_), Err(_)) => true,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}
