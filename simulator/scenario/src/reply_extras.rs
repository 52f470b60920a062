//! What may stand beside an answer: what the module says of the situation, and what it thought and did (002).
//!
//! The keys are the document's own. `summary_update` is no `summary`, which is what a summarizer answers.

use super::tagged;
use super::writes::words;
use crate::script::ScriptedReply;
use orchestrion_kernel::Text;
use orchestrion_kernel::situation::{
    ActionRecord, Mode, StoredResult, SummaryField, SummaryUpdate, ToolCall, ToolOutcome,
};
use orchestrion_yaml::{LabeledError, Spanned, StrictText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// An answer, and what is said beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyFile<T> {
    /// The answer.
    pub answer: T,
    /// What is said beside it.
    pub beside: ReplyExtrasFile,
}

/// What is said beside an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyExtrasFile {
    /// Where things stand.
    pub summary_update: Option<Spanned<SummaryUpdateFile>>,
    /// What was thought and done.
    pub action: Option<Box<Spanned<ActionFile>>>,
}

/// Where things stand: texts by key. Other keys than the summary's change nothing, and blank texts neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SummaryUpdateFile(pub BTreeMap<String, StrictText>);

/// What a module thought and did in one iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionFile {
    /// Which iteration of the request it was.
    pub iteration: u32,
    /// When, in ISO format.
    pub timestamp: StrictText,
    /// How it was reasoned.
    pub mode: ModeFile,
    /// The reasoning.
    pub thinking: StrictText,
    /// What was planned; of deep mode.
    pub planning: StrictText,
    /// What was made of the results; of deep mode.
    pub reflection: StrictText,
    /// The strategy at the time.
    pub approach: StrictText,
    /// The tools that were called, in order.
    pub tool_calls: Vec<ToolCallFile>,
}

/// A call of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallFile {
    /// The tool.
    pub name: StrictText,
    /// Its arguments by name.
    pub args: BTreeMap<String, ArgFile>,
    /// What it gave; 1000 characters of it are kept.
    pub result: StrictText,
    /// How it ended.
    pub outcome: OutcomeFile,
}

/// An argument of a tool. What is no text is kept as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgFile(pub Text);

words! {
    /// How a module reasons.
    ModeFile for Mode {
        /// By the summary.
        Fast,
        /// By the latest results as well.
        Deep,
    }
    /// How a call of a tool ended.
    OutcomeFile for ToolOutcome {
        /// The tool did what it was asked.
        Success,
        /// It ran and did not manage.
        Failure,
        /// Nothing usable came back.
        Error,
        /// Nothing came back in time.
        Timeout,
    }
}

impl<T> From<T> for ReplyFile<T> {
    fn from(answer: T) -> Self {
        Self { answer, beside: ReplyExtrasFile::default() }
    }
}

impl<T> ReplyFile<T> {
    /// What it means, given what the answer means. Whoever does not answer says nothing.
    pub(super) fn means(
        &self,
        meaning: impl Fn(&T) -> Result<ScriptedReply, LabeledError>,
    ) -> Result<ScriptedReply, LabeledError> {
        let ReplyExtrasFile { summary_update, action } = &self.beside;
        let mut answer = meaning(&self.answer)?;
        match &mut answer {
            ScriptedReply::Reply(reply) => {
                reply.summary_update = summary_update.as_ref().map(|update| update.value.means());
                reply.action = action.as_ref().map(|action| Box::new(action.value.means()));
            }
            ScriptedReply::Fail(_) => {
                let update = summary_update.as_ref().map(|update| ("summary_update", update.span()));
                if let Some((key, span)) =
                    update.or_else(|| action.as_ref().map(|action| ("action", action.span())))
                {
                    return Err(LabeledError::new(
                        format!("a call that fails brings no answer, and so no `{key}`"),
                        format!("remove `{key}`, or answer"),
                    )
                    .at(span, "never said"));
                }
            }
        }
        Ok(answer)
    }
}

impl ReplyExtrasFile {
    /// The file that means this.
    #[must_use]
    pub fn of(update: Option<&SummaryUpdate>, action: Option<&ActionRecord>) -> Self {
        Self {
            summary_update: update.map(|update| SummaryUpdateFile::of(update).into()),
            action: action.map(|action| Box::new(ActionFile::of(action).into())),
        }
    }

    /// Whether nothing is said.
    pub(super) const fn is_empty(&self) -> bool {
        self.summary_update.is_none() && self.action.is_none()
    }

    /// Reads the value of a key that stands beside an answer; no other is touched.
    pub(super) fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        match key {
            "summary_update" => self.summary_update = Some(map.next_value()?),
            "action" => self.action = Some(map.next_value()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl SummaryUpdateFile {
    fn means(&self) -> SummaryUpdate {
        SummaryUpdate(self.0.iter().map(|(key, says)| (key.clone(), says.text())).collect())
    }

    fn of(update: &SummaryUpdate) -> Self {
        Self(update.0.iter().map(|(key, says)| (key.clone(), says.clone().into())).collect())
    }
}

impl ActionFile {
    fn means(&self) -> ActionRecord {
        let call = |call: &ToolCallFile| ToolCall {
            name: call.name.text(),
            args: call.args.iter().map(|(name, ArgFile(value))| (name.clone(), value.clone())).collect(),
            result: StoredResult::from(call.result.text()),
            outcome: call.outcome.into(),
        };
        ActionRecord {
            iteration: self.iteration,
            timestamp: self.timestamp.text(),
            mode: self.mode.into(),
            thinking: self.thinking.text(),
            planning: self.planning.text(),
            reflection: self.reflection.text(),
            approach: self.approach.text(),
            tool_calls: self.tool_calls.iter().map(call).collect(),
        }
    }

    fn of(record: &ActionRecord) -> Self {
        let words = |text: &Text| StrictText::from(text.clone());
        let call = |call: &ToolCall| ToolCallFile {
            name: words(&call.name),
            args: call.args.iter().map(|(name, value)| (name.clone(), ArgFile(value.clone()))).collect(),
            result: Text::from(call.result.clone()).into(),
            outcome: call.outcome.into(),
        };
        Self {
            iteration: record.iteration,
            timestamp: words(&record.timestamp),
            mode: record.mode.into(),
            thinking: words(&record.thinking),
            planning: words(&record.planning),
            reflection: words(&record.reflection),
            approach: words(&record.approach),
            tool_calls: record.tool_calls.iter().map(call).collect(),
        }
    }
}

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

impl JsonSchema for ArgFile {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Argument".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"description": "A text, or whatever is kept as JSON."})
    }
}

impl JsonSchema for SummaryUpdateFile {
    fn schema_name() -> Cow<'static, str> {
        "SummaryUpdateFile".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let field = |field: SummaryField| {
            (field.name().to_owned(), json!({"type": "string", "description": field.question()}))
        };
        let fields: Map<String, Value> = SummaryField::ALL.into_iter().map(field).collect();
        json_schema!({
            "description": "Where things stand: texts by key. Other keys change nothing, and blank texts neither.",
            "type": "object",
            "properties": fields,
            "additionalProperties": {"type": "string"},
        })
    }
}

/// An answer of a host, which is given when it is given.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for ReplyFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SaidVisitor(PhantomData))
    }
}

struct SaidVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SaidVisitor<T> {
    type Value = ReplyFile<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer: one word, or one key with a value")
    }
    fn visit_str<E: Error>(self, word: &str) -> Result<Self::Value, E> {
        tagged::word(word, &[]).map(|answer: T| answer.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut beside = ReplyExtrasFile::default();
        let mut first: Option<(Spanned<String>, T)> = None;
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if beside.read(&key.value, &mut map)? {
                continue;
            }
            if let Some((first, _)) = &first {
                return Err(two_in_one(&first.value, &key).into_serde_error());
            }
            let answer = tagged::keyed(Some(&key), &mut map, &[])?;
            first = Some((key, answer));
        }
        let answer = match first {
            Some((_, answer)) => answer,
            None => tagged::keyed(None, &mut map, &[])?,
        };
        Ok(ReplyFile { answer, beside })
    }
}

pub(super) fn two_in_one(first: &str, second: &Spanned<String>) -> LabeledError {
    LabeledError::new(
        format!(
            "expected one answer, found `{}` and `{}` in one",
            first.escape_debug(),
            second.value.escape_debug()
        ),
        "an answer has one key, and perhaps `after`, `summary_update` and `action`; write several as a list, one behind \
         each dash",
    )
    .at(second.span(), "one too many")
}

/// The schema of the answer, in whose mappings other keys may stand as well.
impl<T: JsonSchema> JsonSchema for ReplyFile<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let beside = beside(generator);
        with_beside::<T>(generator, &beside)
    }
}

/// The keys that may stand beside an answer, with their schemas.
pub(super) fn beside(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let update = json!(generator.subschema_for::<SummaryUpdateFile>());
    let action = json!(generator.subschema_for::<ActionFile>());
    Map::from_iter([("summary_update".to_owned(), update), ("action".to_owned(), action)])
}

/// The schema of an answer in whose mappings these keys may stand.
pub(super) fn with_beside<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    beside: &Map<String, Value>,
) -> Schema {
    let mut schema = T::json_schema(generator);
    if let Some(Value::Array(ways)) = schema.get_mut("oneOf") {
        let words: Vec<Value> = ways.iter().filter_map(|way| with_extras(way, beside)).collect();
        for way in ways.iter_mut() {
            if let Some(Value::Object(properties)) = way.get_mut("properties") {
                properties.extend(beside.clone());
            }
        }
        ways.extend(words);
    }
    schema
}

/// A word beside which something stands: `{held, after: 5s}`.
fn with_extras(way: &Value, beside: &Map<String, Value>) -> Option<Value> {
    let word = way.get("const")?.as_str()?;
    let mut properties = Map::from_iter([(word.to_owned(), json!({"type": "null"}))]);
    properties.extend(beside.clone());
    Some(json!({
        "type": "object",
        "properties": properties,
        "required": [word],
        "additionalProperties": false,
    }))
}
