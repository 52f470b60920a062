//! Traces: everything that happened in a conversation, one line each, so that it can be played again.
//!
//! A trace is NDJSON. The first line is the [`Header`]; every other line is one [`Step`]: an input and the
//! batch of events that `decide` gave for it, or the sentence with which it was refused; the last one says that
//! there is no more. Each line ends in a `chain`: a BLAKE3 digest over the line and the chain before it, so that a torn or edited file is noticed
//! at the line where it happened.

mod chain;
mod contexts;
mod layers;
mod read;
pub mod recorder;
pub mod redact;
pub mod replay;
mod write;

pub use contexts::ContextRecorder;
pub use layers::{DifferenceKind, without_texts};
pub use read::{Reader, TraceError, TraceErrorKind};
pub use write::Writer;

use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::{CallId, ConversationId, Event, Events, Input, ItemId, Policy, State};
use serde::{Deserialize, Serialize};

/// How every trace of whatever version begins.
pub const TRACE_PREFIX: &str = "{\"format\":\"orchestrion-trace/";

/// How an event that lets a call leave begins, in the text of a line.
pub const CALL: &str = "{\"tool_call\":{";

/// The format that this version writes, and the only one it reads.
pub const FORMAT: &str = "orchestrion-trace/1";

/// What a trace rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The version of the kernel that decided.
    pub kernel: String,
    /// The digest of its transition table.
    pub table: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// The policy, whole, so that a trace needs no other file.
    pub policy: Policy,
    /// The scenario that was played, if one was.
    pub scenario: Option<ScenarioRef>,
}

/// Which scenario was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioRef {
    /// Its name.
    pub name: String,
    /// The digest of its text.
    pub digest: String,
}

impl Header {
    /// The header of a conversation that this kernel decides.
    #[must_use]
    pub fn new(conversation: ConversationId, policy: Policy, scenario: Option<ScenarioRef>) -> Self {
        Self {
            format: FORMAT.to_string(),
            kernel: orchestrion_kernel::VERSION.to_string(),
            table: table_digest(),
            conversation,
            policy,
            scenario,
        }
    }
}

/// An input and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number, from 1.
    pub n: u64,
    /// See [`Stamp`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_ms: u64,
    /// See [`Stamp`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The input.
    pub input: Input,
    /// The batch that was applied; empty if the input was refused.
    #[serde(default, skip_serializing_if = "Events::is_empty")]
    pub events: Events,
    /// The refusal, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What the module that is now waited for was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextRecord>,
}

/// What the runtime adds to an input. It decides nothing, and a replay does not look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMetadata {
    /// When the input came, in milliseconds: since 1970 by the clock of the host, since the start in model time; 0
    /// where nobody looked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_ms: u64,
    /// What there is to say of it, as a sentence: that the host panicked, that half a line came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What came of an input, and stands after it in a [`Step`]; borrowed from where it was decided.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepRecord<'a> {
    /// The batch; empty if the input was refused.
    #[serde(skip_serializing_if = "<[Event]>::is_empty")]
    pub events: &'a [Event],
    /// The refusal, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'a str>,
    /// What the module that is now waited for was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'a ContextRecord>,
}

impl<'a> StepRecord<'a> {
    /// Of an input that was accepted.
    #[must_use]
    pub const fn accepted(events: &'a [Event], context: Option<&'a ContextRecord>) -> Self {
        Self { events, refused: None, context }
    }

    /// Of one that was refused, with this sentence.
    #[must_use]
    pub const fn refused(sentence: &'a str) -> Self {
        Self { events: &[], refused: Some(sentence), context: None }
    }
}

/// The last line of a trace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: End,
}

/// What the last line of a trace says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    steps: u64,
}

/// A place in a trace: the chain up to there, and the number of the next step.
#[derive(Debug)]
pub struct ResumePoint {
    chain: String,
    next: u64,
}

/// What a module was shown: the selection and a digest of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextRecord {
    /// The call.
    pub call: CallId,
    /// The items, in the order shown.
    pub items: Vec<ItemId>,
    /// The estimated tokens of the text.
    pub cost_tokens: u64,
    /// The digest of the text.
    pub digest: String,
}

impl ContextRecord {
    /// What the call that the state waits for is shown, if `step` started one.
    #[must_use]
    pub fn after(
        policy: &Policy,
        state: &State,
        events: &Events,
        contexts: &'static dyn ContextBuilder,
    ) -> Option<Self> {
        ContextRecorder::new(contexts).after(policy, state, events)
    }
}

/// A digest as it stands in files: the first 128 bits of BLAKE3, in hexadecimal.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    hex(blake3::hash(bytes))
}

fn hex(hash: blake3::Hash) -> String {
    hash.to_hex()[..chain::HEX_LEN].to_string()
}

/// The digest of the transition table that this kernel follows.
#[must_use]
pub fn table_digest() -> String {
    digest(format!("{TRANSITIONS:?}").as_bytes())
}
