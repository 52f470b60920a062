//! A machine as a YAML table: the states with their kinds, and a row for each edge.

use super::common::{PARTS_MAX, ParsedMachine, location_at, location_of_span};
use crate::{Edge, Machine, State, StateKind};
use orchestrion_yaml::{
    LabeledError, ReadError, Source, Spanned, StrictText, required_value, suggest_nearest,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

/// A state machine as a table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineFile {
    /// The name.
    #[serde(default, deserialize_with = "required_value")]
    pub name: Option<StrictText>,
    /// The initial state.
    pub start: Spanned<StrictText>,
    /// The states, each with its kind.
    pub states: States,
    /// The triggers that report a failed call, such as failed and timed_out. Every waiting state needs a row for each.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub errors: Option<Spanned<Vec<Spanned<StrictText>>>>,
    /// The edges. Among rows with the same state and trigger, each but the last needs a guard.
    pub rows: Vec<RowFile>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowFile {
    /// The source state or states.
    pub from: Sources,
    /// The trigger. Without a trigger the state continues on its own.
    #[serde(default, deserialize_with = "required_value")]
    pub on: Option<StrictText>,
    /// The guard. Without a guard the row applies if no other row with this trigger does. Guards of one trigger exclude each other.
    #[serde(default, deserialize_with = "required_value")]
    pub when: Option<StrictText>,
    /// The target state.
    pub to: Spanned<StrictText>,
    /// How often the row may be taken in one run. It limits the loops that contain the row.
    #[serde(default, deserialize_with = "required_value")]
    pub at_most: Option<NonZeroU32>,
}

/// The kind of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateKindFile {
    /// It continues on its own.
    Automatic,
    /// It waits for an external reply, which may not come.
    Waiting,
    /// Nothing runs: a run may stay here, and another may begin. A state with a row without a trigger is not idle.
    Idle,
    /// The run is over.
    Final,
}

/// States by name, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct States(pub Vec<(Spanned<String>, StateKindFile)>);

/// One state, or a list of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources(pub Vec<Spanned<String>>);

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StatesVisitor)
    }
}

struct StatesVisitor;

impl<'de> Visitor<'de> for StatesVisitor {
    type Value = States;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of states, such as `Idle: idle`")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<States, A::Error> {
        let mut states = Vec::new();
        while let Some(entry) = map.next_entry()? {
            states.push(entry);
        }
        Ok(States(states))
    }
}

impl JsonSchema for States {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "States".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kind = generator.subschema_for::<StateKindFile>();
        json_schema!({"type": "object", "minProperties": 1, "additionalProperties": kind})
    }
}

impl<'de> Deserialize<'de> for Sources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Spanned::<OneOrMany>::deserialize(deserializer)?;
        let span = read.span();
        match read.value {
            OneOrMany::One(name) => Ok(Self(vec![Spanned::new(name, span)])),
            OneOrMany::Many(names) if names.is_empty() => {
                let fault = LabeledError::new(
                    "no states: expected at least one state, found an empty list",
                    "list the states",
                );
                Err(fault.with_label(span, "none").into_serde_error())
            }
            OneOrMany::Many(names) => Ok(Self(names)),
        }
    }
}

enum OneOrMany {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor)
    }
}

struct OneOrManyVisitor;

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a state, or a list of states")
    }
    fn visit_str<E>(self, name: &str) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(name.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = seq.next_element()? {
            names.push(name);
        }
        Ok(OneOrMany::Many(names))
    }
}

impl JsonSchema for Sources {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Sources".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [
            {"type": "string"},
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
        ]})
    }
}

/// Reads a table.
pub(super) fn read(source: &Source) -> Result<ParsedMachine, ReadError> {
    let file: MachineFile = source.parse()?;
    let machine = file.machine(source.text()).map_err(|error| ReadError::in_source(source, error))?;
    let name = file.name.map(|name| name.as_str().to_owned());
    let lines = (1, source.text().lines().count());
    Ok(ParsedMachine { format: "table", name, lines, machine, assumptions: None })
}

impl MachineFile {
    fn machine(&self, text: &str) -> Result<Machine, LabeledError> {
        let parts = self.states.0.len() + self.rows.iter().map(|row| row.from.0.len()).sum::<usize>();
        if parts > PARTS_MAX {
            return Err(LabeledError::new(
                format!("too large: expected at most {PARTS_MAX} states and edges, found {parts}"),
                "split the machine",
            ));
        }
        let mut numbers = BTreeMap::new();
        let mut states = Vec::new();
        for (name, kind) in &self.states.0 {
            numbers.insert(name.value.as_str(), states.len());
            let kind = match kind {
                StateKindFile::Automatic => StateKind::Automatic,
                StateKindFile::Waiting => StateKind::Waiting,
                StateKindFile::Idle => StateKind::Idle,
                StateKindFile::Final => StateKind::Final,
            };
            let location = location_of_span(text, name.span());
            states.push(State { name: name.value.clone(), kind, location, note: None });
        }
        let number = |name: &str, span| match numbers.get(name) {
            Some(number) => Ok(*number),
            None => Err(LabeledError::new(
                format!("unknown state: expected a name under `states:`, found `{}`", name.escape_debug()),
                format!("{}add the state under `states:`", suggest_nearest(name, numbers.keys().copied())),
            )
            .with_label(span, "unknown state")),
        };
        let start = number(self.start.value.as_str(), self.start.span())?;
        let errors: Vec<String> = self
            .errors
            .iter()
            .flat_map(|errors| &errors.value)
            .map(|error| error.value.to_string())
            .collect();
        self.check_error_triggers()?;
        let mut edges = Vec::new();
        for row in &self.rows {
            let to = number(row.to.value.as_str(), row.to.span())?;
            for from in &row.from.0 {
                let state = number(&from.value, from.span())?;
                if states[state].kind == StateKind::Final {
                    return Err(LabeledError::new(
                        format!(
                            "edge from a final state: expected no rows from `{}`, found one",
                            from.value.escape_debug()
                        ),
                        "mark the state as `idle` if a run can continue from it, or remove the row",
                    )
                    .with_label(self.states.0[state].0.span(), "final")
                    .with_label(from.span(), "edge"));
                }
                let trigger = row.on.as_ref().map(ToString::to_string);
                edges.push(Edge {
                    from: state,
                    to,
                    is_error: trigger.as_ref().is_some_and(|trigger| errors.contains(trigger)),
                    trigger,
                    guard: row.when.as_ref().map(ToString::to_string),
                    is_limited: row.at_most.is_some(),
                    location: from
                        .span()
                        .map_or_else(Default::default, |span| location_at(text, span.offset())),
                });
            }
        }
        Ok(Machine { states, edges, starts: vec![start], errors, is_guessed: false })
    }

    /// Returns an error if a listed error trigger occurs in no row: with a typo there, every waiting state would appear
    /// to have no row for it.
    fn check_error_triggers(&self) -> Result<(), LabeledError> {
        let triggers: Vec<&str> =
            self.rows.iter().filter_map(|row| Some(row.on.as_ref()?.as_str())).collect();
        let listed = self.errors.iter().flat_map(|errors| &errors.value);
        let unused = listed
            .map(|error| (error, suggest_nearest(error.value.as_str(), triggers.iter().copied())))
            .find(|(error, near)| !triggers.contains(&error.value.as_str()) && !near.is_empty());
        match unused {
            None => Ok(()),
            Some((error, near)) => Err(LabeledError::new(
                format!(
                    "unused error trigger: expected a trigger of a row, found `{}`",
                    error.value.as_str().escape_debug()
                ),
                format!("{near}use the spelling of the rows, or add a row for it"),
            )
            .with_label(error.span(), "in no row")),
        }
    }
}
