//! Summary updates and action records (002) beside a reply. The keys are the document's own.

use crate::convert::{FileValue, convert, values};
use crate::names::{Count, mode_schema, outcome_schema};
use crate::timestamp::RecordTime;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryField, ToolCall, ToolOutcome};
use orchestrion_kernel::{Text, Timestamp};
use orchestrion_yaml::{LabeledError, StrictText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// Texts by field of the situation summary.
pub type SummaryUpdateFile = BTreeMap<String, StrictText>;

/// The action record of one iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionFile {
    /// The iteration of the request, from 1.
    pub iteration: Count,
    /// The time of the iteration. Parts of a millisecond are dropped.
    pub timestamp: RecordTime,
    /// The reasoning mode: fast or deep.
    #[schemars(schema_with = "mode_schema")]
    pub mode: Mode,
    /// The reasoning.
    pub thinking: StrictText,
    /// The planning, in deep mode.
    pub planning: StrictText,
    /// The reflection on the results, in deep mode.
    pub reflection: StrictText,
    /// The current strategy.
    pub approach: StrictText,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCallFile>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallFile {
    /// The tool.
    pub name: StrictText,
    /// The arguments by name. Values that are not texts are stored as JSON.
    #[schemars(with = "BTreeMap<String, Value>")]
    pub args: BTreeMap<String, ArgFile>,
    /// The result. It is truncated to the policy's limit.
    pub result: StrictText,
    /// The outcome: success, failure, error or timeout.
    #[schemars(schema_with = "outcome_schema")]
    pub outcome: ToolOutcome,
}

/// An argument of a tool: a text, or any other value as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgFile(pub Text);

impl Serialize for ArgFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for ArgFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text.into(),
            other => other.to_string().into(),
        }))
    }
}

/// Returns the schema of a summary update; the descriptions are the questions of a call.
pub(crate) fn summary_update_schema(_: &mut SchemaGenerator) -> Schema {
    let field = |field: SummaryField| {
        (field.name().to_owned(), json!({"type": "string", "description": field.question()}))
    };
    let fields: Map<String, Value> = SummaryField::ALL.into_iter().map(field).collect();
    json_schema!({
        "description": "Changes of the situation summary: texts by field. Unknown fields and blank texts change nothing; a text is truncated to the policy's limit.",
        "type": "object",
        "properties": fields,
        "additionalProperties": {"type": "string"},
    })
}

convert! {
    ActionFile { iteration, timestamp, mode, thinking, planning, reflection, approach, tool_calls }
        = ActionRecord { iteration, timestamp, mode, thinking, planning, reflection, approach, tool_calls };
    ToolCallFile { name, args, result, outcome } = ToolCall { name, args, result, outcome };
}

values! {
    ArgFile = Text: |arg| arg.0.clone(), |text| Some(Self(text.clone()));
    Count = NonZeroU32: |count| count.0, |count| Some(Self(*count));
    RecordTime = Timestamp: |time| time.0, |time| Some(Self(*time));
}
