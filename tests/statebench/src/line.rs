//! Parsing of one line. An invalid part is reported with its column in the line, and omitted.

use crate::diagnostic::DiagnosticKind;
use crate::ground_truth::{ExpectedAnswer, GroundTruth};
use crate::timeline::{AnyText, Event, IdentityRecord, InitialState, Time, Timeline, or_default};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(expecting = "an object with id, track, initial_state and events")]
struct RawCase<'a> {
    id: String,
    track: String,
    #[serde(borrow)]
    initial_state: RawInitialState<'a>,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with identity_role, persistent_facts, working_set and environment")]
struct RawInitialState<'a> {
    identity_role: IdentityRecord,
    #[serde(borrow, default, deserialize_with = "or_default")]
    persistent_facts: Vec<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    working_set: Vec<&'a RawValue>,
    #[serde(default, deserialize_with = "or_default")]
    environment: BTreeMap<String, AnyText>,
    #[serde(flatten)]
    others: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum EventType {
    ConversationTurn,
    StateWrite,
    Supersession,
    Query,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with type and ts")]
struct RawEvent {
    #[serde(rename = "type")]
    event_type: EventType,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with ts and writes")]
struct RawWrites<'a> {
    ts: Time,
    #[serde(borrow, deserialize_with = "or_default")]
    writes: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with ts, prompt and ground_truth")]
struct RawQuery {
    ts: Time,
    prompt: String,
    ground_truth: RawAnswer,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with must_mention and must_not_mention")]
struct RawAnswer {
    #[serde(deserialize_with = "or_default")]
    must_mention: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    must_not_mention: Vec<String>,
}

/// Parses a line into a timeline, its ground truth, and the problems of invalid parts.
///
/// # Errors
/// The line is no timeline.
pub(crate) fn parse(text: &str) -> Result<(Timeline, GroundTruth, Vec<DiagnosticKind>), DiagnosticKind> {
    let mut line = Line { text, invalid: Vec::new() };
    let raw: RawCase<'_> = line.part(text).map_err(DiagnosticKind::InvalidTimeline)?;
    let mut timeline = Timeline { initial: line.initial_state(raw.initial_state), events: Vec::new() };
    let mut ground_truth = GroundTruth { id: raw.id, track: raw.track, queries: Vec::new() };
    for (i, raw) in raw.events.iter().enumerate() {
        match line.event(i + 1, raw.get()) {
            Ok((event, answer)) => {
                timeline.events.push(event);
                ground_truth.queries.extend(answer);
            }
            Err(problem) => line.report(format!("event {}", i + 1), problem),
        }
    }
    Ok((timeline, ground_truth, line.invalid))
}

struct Line<'a> {
    text: &'a str,
    invalid: Vec<DiagnosticKind>,
}

impl<'a> Line<'a> {
    /// Parses a part of the line. The error names the field and the column in the line.
    fn part<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, String> {
        serde_json::from_str(part).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            let start = part.as_ptr() as usize - self.text.as_ptr() as usize;
            let field =
                field_before(part, error.column()).map_or(String::new(), |name| format!(", in `{name}`"));
            format!("{message}{field}, at column {}", start + error.column())
        })
    }

    /// Parses the valid parts, and reports the others.
    fn parts<T: Deserialize<'a>>(
        &mut self,
        parts: &[&'a RawValue],
        name: impl Fn(usize) -> String,
    ) -> Vec<T> {
        let mut valid = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            match self.part(part.get()) {
                Ok(part) => valid.push(part),
                Err(problem) => self.report(name(i + 1), problem),
            }
        }
        valid
    }

    fn report(&mut self, part: String, problem: String) {
        self.invalid.push(DiagnosticKind::InvalidPart { part, problem });
    }

    fn initial_state(&mut self, raw: RawInitialState<'a>) -> InitialState {
        InitialState {
            identity_role: raw.identity_role,
            persistent_facts: self.parts(&raw.persistent_facts, |n| format!("persistent fact {n}")),
            working_set: self.parts(&raw.working_set, |n| format!("note {n} of the working set")),
            environment: raw.environment,
            unknown_layers: raw.others.into_keys().collect(),
        }
    }

    /// Parses an event, and apart from it the expected answer of a query.
    fn event(&mut self, n: usize, text: &'a str) -> Result<(Event, Option<ExpectedAnswer>), String> {
        let RawEvent { event_type } = self.part(text)?;
        Ok(match event_type {
            EventType::ConversationTurn => (Event::Turn(self.part(text)?), None),
            EventType::StateWrite | EventType::Supersession => {
                let RawWrites { ts, writes } = self.part(text)?;
                let writes = self.parts(&writes, |write| format!("write {write} of event {n}"));
                (Event::Writes { at: ts, writes }, None)
            }
            EventType::Query => {
                let RawQuery { ts, prompt, ground_truth } = self.part(text)?;
                let answer = ExpectedAnswer::new(ground_truth.must_mention, ground_truth.must_not_mention)?;
                (Event::Query { at: ts, prompt }, Some(answer))
            }
        })
    }
}

/// Returns the path of the field whose value ends, or is invalid, at this column of an object.
fn field_before(part: &str, column: usize) -> Option<String> {
    let (mut path, mut last, mut string): (Vec<Option<&str>>, _, Option<usize>) = (Vec::new(), None, None);
    let mut is_escaped = false;
    for (i, byte) in part.bytes().enumerate().take(column) {
        match (string, byte) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(start), b'"') => (last, string) = (part.get(start..i), None),
            (Some(_), _) => {}
            (None, b'"') => string = Some(i + 1),
            (None, b':') => path.iter_mut().last().into_iter().for_each(|name| *name = last),
            (None, b'{' | b'[') => path.push(None),
            (None, b'}' | b']') => drop(path.pop()),
            _ => {}
        }
    }
    let names: Vec<&str> = path.into_iter().flatten().collect();
    (!names.is_empty()).then(|| names.join("."))
}
