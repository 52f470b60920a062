//! The types of the lines of a trace.

use crate::context_record::ContextRecord;
use crate::digest::digest;
use crate::events_digest::EventsDigest;
use crate::fork::Lineage;
use crate::recent_inputs::Idempotency;
use orchestrion_files::FileKind;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::{ConversationId, Event, Events, Input, Policy, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::sync::LazyLock;

/// The largest step number and position that is read. Beyond it, a number of JSON is not exact for every reader.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// Reads a number of steps or bytes so small that a conversation can continue after it.
pub(crate) fn bounded_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = u64::deserialize(deserializer)?;
    if number <= NUMBER_MAX {
        return Ok(number);
    }
    Err(D::Error::custom(format!("expected a number up to {NUMBER_MAX}, found {number}")))
}

/// Reads the number of a next step, which is at least 1.
pub(crate) fn next_step<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match bounded_number(deserializer)? {
        0 => Err(D::Error::custom("expected the number of a step, found 0")),
        number => Ok(number),
    }
}

/// The first bytes of a trace of any version.
pub const TRACE_PREFIX: &str = "{\"format\":\"orchestrion-trace/";

/// A trace or a journal. The journal of an open conversation has no last line yet.
pub const TRACE_FILE: FileKind = FileKind {
    name: "a trace",
    is_start: |start| start.starts_with(TRACE_PREFIX.as_bytes()),
    last_line: Some(END_PREFIX),
};

/// A trace with all events. A command that writes a trace does not replace a journal: its segments are the only record of a conversation.
pub const EVENT_TRACE_FILE: FileKind = FileKind {
    name: "a trace with all events",
    is_start: |start| {
        let version = start.strip_prefix(TRACE_PREFIX.as_bytes());
        let name = version.and_then(|rest| rest.split(|byte| *byte == b'"').next());
        name.is_some_and(|name| !name.ends_with(b"-journal"))
    },
    last_line: Some(END_PREFIX),
};

/// The first bytes of the last line of a finished trace or journal.
pub(crate) const END_PREFIX: &str = "{\"end\":";

/// The key of the call that a step emits, in a line of either format.
pub const TOOL_CALL_KEY: &str = "\"tool_call\":";

/// The format of a trace that this version writes and reads.
pub const FORMAT: &str = "orchestrion-trace/5";

/// The format of a journal that this version writes and reads.
pub const JOURNAL_FORMAT: &str = "orchestrion-trace/5-journal";

/// What the lines of a file contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The events in full, with references to earlier texts.
    Trace,
    /// A digest of the events, and texts that can be erased.
    Journal,
}

/// The first line of a trace: everything that its decisions depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`] or [`JOURNAL_FORMAT`].
    pub format: String,
    /// The version of the kernel.
    pub kernel: String,
    /// The digest of the kernel's transition table.
    pub table: String,
    /// The conversation.
    pub conversation: ConversationId,
    /// The complete policy, so that a trace needs no other file.
    pub policy: Policy,
    /// The scenario, if the trace was recorded from one.
    pub scenario: Option<ScenarioRef>,
    /// The end of the segment that this segment of a journal continues, if it is not the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<SegmentEnd>,
    /// The kernel and the policy of the segment before, if an upgrade changed them (decision 0069).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upgraded_from: Option<UpgradedFrom>,
    /// Where the trace comes from, if it is a fork of another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
}

/// The end of a segment of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SegmentEnd {
    /// The number of steps of the conversation so far.
    #[serde(deserialize_with = "bounded_number")]
    pub steps: u64,
    /// The chain of the last line.
    pub chain: String,
}

impl std::fmt::Display for SegmentEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { steps, chain } = self;
        write!(f, "step {steps} with the chain {chain}")
    }
}

/// The kernel and the policy under which a segment of a journal was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradedFrom {
    /// The version of the kernel.
    pub kernel: String,
    /// The digest of the kernel's transition table.
    pub table: String,
    /// The policy, which the header of that segment has in full.
    pub policy: PolicyRef,
}

/// A reference to a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRef {
    /// The name.
    pub name: String,
    /// The digest of its JSON.
    pub digest: String,
}

impl std::fmt::Display for PolicyRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, digest } = self;
        write!(f, "{name} (digest {digest})")
    }
}

/// A reference to the scenario that a trace was recorded from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioRef {
    /// The name.
    pub name: String,
    /// The digest of the scenario's text.
    pub digest: String,
    /// The seed of the run, if it is another one than that of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
}

impl Step {
    /// What the runtime recorded about the input.
    #[must_use]
    pub fn metadata(&self) -> StepMetadata {
        StepMetadata {
            at_ms: self.at_ms,
            note: self.note.clone(),
            idempotency: self.idempotency.clone(),
            possible_loss: self.possible_loss,
        }
    }
}

impl StepMetadata {
    /// Creates the metadata of an input at this time, without a note.
    #[must_use]
    pub const fn at(time: Timestamp) -> Self {
        Self { at_ms: time.millis(), note: None, idempotency: None, possible_loss: None }
    }

    /// The time of the input.
    #[must_use]
    pub const fn time(&self) -> Timestamp {
        Timestamp::from_millis(self.at_ms)
    }
}

impl Header {
    /// Returns the header of a journal of the same conversation.
    #[must_use]
    pub fn into_journal(self) -> Self {
        Self { format: JOURNAL_FORMAT.to_owned(), ..self }
    }

    /// The policy, as a reference.
    #[must_use]
    pub fn policy_ref(&self) -> PolicyRef {
        let json = serde_json::to_string(&self.policy).unwrap_or_default();
        PolicyRef { name: self.policy.name.clone(), digest: digest(json.as_bytes()) }
    }

    /// The kernel and the policy, as the next segment records them after an upgrade.
    #[must_use]
    pub fn as_upgraded_from(&self) -> UpgradedFrom {
        UpgradedFrom { kernel: self.kernel.clone(), table: self.table.clone(), policy: self.policy_ref() }
    }

    /// Returns the header of the next segment under this kernel and another policy.
    #[must_use]
    pub fn upgraded(&self, policy: Policy) -> Self {
        let Self { conversation, scenario, .. } = self.clone();
        let next = Self::new(conversation, policy, scenario).into_journal();
        Self { upgraded_from: Some(self.as_upgraded_from()), ..next }
    }

    /// Whether the lines after this header are those of a journal.
    #[must_use]
    pub fn is_journal(&self) -> bool {
        self.form() == Form::Journal
    }

    /// What the lines after this header contain.
    pub(crate) fn form(&self) -> Form {
        if self.format == JOURNAL_FORMAT { Form::Journal } else { Form::Trace }
    }

    /// Creates the header of a trace with this kernel.
    #[must_use]
    pub fn new(conversation: ConversationId, policy: Policy, scenario: Option<ScenarioRef>) -> Self {
        Self {
            format: FORMAT.to_string(),
            kernel: orchestrion_kernel::VERSION.to_string(),
            table: table_digest().to_owned(),
            conversation,
            policy,
            scenario,
            continues: None,
            upgraded_from: None,
            lineage: None,
        }
    }
}

/// One input with its batch of events or its refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The number of the step, from 1.
    pub n: u64,
    /// See [`StepMetadata::at_ms`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_ms: u64,
    /// See [`StepMetadata::note`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// See [`StepMetadata::idempotency`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<Idempotency>,
    /// See [`StepMetadata::possible_loss`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub possible_loss: Option<PossibleLoss>,
    /// The input.
    pub input: Input,
    /// The applied batch; empty if the input was refused.
    #[serde(default, skip_serializing_if = "Events::is_empty")]
    pub events: Events,
    /// The refusal as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The context of the call that the step emitted. A journal contains its digest only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextRecord>,
    /// The [digest](ContextRecord::record_digest) of the context, if the step comes from a journal.
    #[serde(skip)]
    pub context_digest: Option<String>,
}

/// A [`Step`] as a journal stores it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JournalStep {
    pub(crate) n: u64,
    #[serde(default)]
    pub(crate) at_ms: u64,
    #[serde(default)]
    pub(crate) note: Option<String>,
    #[serde(default)]
    pub(crate) idempotency: Option<Idempotency>,
    #[serde(default)]
    pub(crate) possible_loss: Option<PossibleLoss>,
    pub(crate) input: Input,
    /// Absent if the batch is empty.
    #[serde(default)]
    pub(crate) events: Option<EventsDigest>,
    #[serde(default)]
    pub(crate) refused: Option<String>,
    /// The digest of the context.
    #[serde(default)]
    pub(crate) context: Option<String>,
}

/// What the runtime records about an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepMetadata {
    /// The time that the kernel received with the input, in milliseconds since 1970. Decisions and replay depend on it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at_ms: u64,
    /// A diagnostic sentence, for example that the host panicked. Decisions and replay do not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The idempotency key under which the host sent the input. Decisions do not depend on it; the chain covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<Idempotency>,
    /// What may be lost before this step. Decisions do not depend on it; the runtime recovers effectful calls before it sends them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub possible_loss: Option<PossibleLoss>,
}

/// What a journal may lack before a step, and with it calls that the host executed (decision 0070).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PossibleLoss {
    /// At most one call: the step replaces a torn tail.
    Call,
    /// Any number of steps: the journal was opened without an acknowledged step.
    Steps,
}

pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The part of a [`Step`] after its input, borrowed.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct StepRecord<'a> {
    /// The batch; empty if the input was refused.
    #[serde(skip_serializing_if = "<[Event]>::is_empty")]
    pub events: &'a [Event],
    /// The refusal as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'a str>,
    /// The context of the call that the step emitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<&'a ContextRecord>,
}

impl<'a> StepRecord<'a> {
    /// Creates the record of an accepted input.
    #[must_use]
    pub const fn accepted(events: &'a [Event], context: Option<&'a ContextRecord>) -> Self {
        Self { events, refused: None, context }
    }

    /// Creates the record of a refused input.
    #[must_use]
    pub const fn refused(sentence: &'a str) -> Self {
        Self { events: &[], refused: Some(sentence), context: None }
    }
}

/// The second line of a segment that continues another: the conversation at its start.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateLine<S> {
    pub(crate) state: S,
}

/// The last line of a trace.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndLine {
    pub(crate) end: End,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct End {
    pub(crate) steps: u64,
}

/// Returns the digest of this kernel's transition table.
#[must_use]
pub fn table_digest() -> &'static str {
    static DIGEST: LazyLock<String> = LazyLock::new(|| digest(format!("{TRANSITIONS:?}").as_bytes()));
    &DIGEST
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::SegmentEnd;

    /// A conversation can continue after every step that is read.
    #[test]
    fn last_step_of_a_segment_is_bounded() {
        let read = |steps: &str| {
            serde_json::from_str::<SegmentEnd>(&format!("{{\"steps\":{steps},\"chain\":\"\"}}"))
        };
        assert_eq!(read("9007199254740991").unwrap().steps, 9_007_199_254_740_991);
        for steps in ["9007199254740992", "18446744073709551615", "-1"] {
            assert!(read(steps).is_err(), "{steps}");
        }
    }
}
