//! A step without the numbers that an inserted step shifts: ids of calls, items and requests, and times.
//!
//! Two steps with equal plain forms are the same step if their ids correspond, which [`Renumbering`] checks.

use super::alignment::Key;
use crate::Step;
use crate::layers::without_texts;
use orchestrion_kernel::Event;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a number in a step identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IdKind {
    Call,
    Item,
    Request,
}

/// An id in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    kind: IdKind,
    number: u64,
    /// Whether the step creates what it identifies.
    is_new: bool,
}

/// A step as keys, ids and times.
pub(super) struct PlainStep {
    /// Of the input and the decision, without ids and times.
    pub(super) key: Key,
    /// Of the input.
    pub(super) input: Key,
    /// Of the kind of the input, with the module that it comes from.
    pub(super) kind: Key,
    ids: Vec<Id>,
    pub(super) times: Vec<u64>,
}

/// Numbers of ids, by the key of the value and the key around it. `None`: under any key.
const ID_KEYS: [(Option<&str>, &str, IdKind); 18] = [
    (None, "call", IdKind::Call),
    (Some("item"), "id", IdKind::Item),
    (None, "deps", IdKind::Item),
    (None, "ids", IdKind::Item),
    (None, "into", IdKind::Item),
    (None, "supersedes", IdKind::Item),
    (None, "superseded_by", IdKind::Item),
    (None, "forgets", IdKind::Item),
    (None, "request", IdKind::Request),
    (Some("key"), "final_answer", IdKind::Request),
    (Some("key"), "tags", IdKind::Request),
    (Some("key"), "diagnosis", IdKind::Request),
    (Some("key"), "approval", IdKind::Request),
    (Some("key"), "aggregate", IdKind::Request),
    (Some("key"), "task", IdKind::Request),
    (Some("key"), "output", IdKind::Request),
    (Some("key"), "argument", IdKind::Request),
    (Some("key"), "additional_argument", IdKind::Request),
];

/// Keys of times.
const TIME_KEYS: [&str; 5] = ["now", "created_at", "established_at", "at", "last_active"];

/// Events that create what one of their keys identifies.
const NEW_IDS: [(&str, &str); 3] = [("tool_call", "call"), ("add_item", "id"), ("user_msg", "request")];

impl PlainStep {
    /// Creates the plain form of a step.
    pub(super) fn new(step: &Step) -> serde_json::Result<Self> {
        let module = step.events.iter().find_map(|event| match event {
            Event::ToolResult { module, .. } | Event::CallFailed { module, .. } => Some(module),
            _ => None,
        });
        let kind = digest(&(step.input.trigger().to_string(), module))?;
        let mut scan = Scan::default();
        let input = scan.input(step)?;
        let decision = scan.decision(&step.events)?;
        let key = digest(&(&input, decision, &step.refused))?;
        Ok(Self { key, input: digest(&input)?, kind, ids: scan.ids, times: scan.times })
    }

    /// Returns the key of a step whose texts are blanked.
    pub(super) fn key_without_texts(step: &Step) -> serde_json::Result<Key> {
        let mut scan = Scan::default();
        let events: Vec<Event> = step.events.iter().map(without_texts).collect();
        // The sentence of a refusal is a text.
        digest(&(scan.decision(&events)?, step.refused.is_some()))
    }
}

/// Returns whether two batches of one step, as recorded and as run again, differ in nothing but their times. An event that time passed is
/// no difference.
#[must_use]
pub fn is_equal_except_times(a: &[Event], b: &[Event]) -> bool {
    let scanned = |events: &[Event]| {
        let mut scan = Scan::default();
        scan.decision(events).map(|values| (values, scan.ids))
    };
    a == b || matches!((scanned(a), scanned(b)), (Ok(a), Ok(b)) if a == b)
}

fn digest(value: &impl serde::Serialize) -> serde_json::Result<Key> {
    let hash = blake3::hash(&serde_json::to_vec(value)?);
    let mut key = Key::default();
    key.copy_from_slice(&hash.as_bytes()[..16]);
    Ok(key)
}

/// Removes ids and times from a value, and keeps them in order.
#[derive(Default)]
struct Scan {
    ids: Vec<Id>,
    times: Vec<u64>,
    /// The event of [`NEW_IDS`] that is scanned, or "".
    event: &'static str,
}

impl Scan {
    fn input(&mut self, step: &Step) -> serde_json::Result<Value> {
        let mut input = serde_json::to_value(&step.input)?;
        self.event = "";
        self.value(&mut input, "", "");
        Ok(input)
    }

    /// Scans events. Of the event that time passed, nothing is left.
    fn decision(&mut self, events: &[Event]) -> serde_json::Result<Vec<Value>> {
        let mut values = Vec::with_capacity(events.len());
        for event in events {
            let mut value = serde_json::to_value(event)?;
            let name = value.as_object().and_then(|fields| fields.keys().next()).map_or("", String::as_str);
            self.event = NEW_IDS.into_iter().find(|(event, _)| *event == name).map_or("", |(event, _)| event);
            self.value(&mut value, "", "");
            if !matches!(event, Event::TimeAdvanced { .. }) {
                values.push(value);
            }
        }
        Ok(values)
    }

    /// Scans the value of a key, which is below another key.
    fn value(&mut self, value: &mut Value, key: &str, above: &str) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.value(field, name, key);
                }
            }
            Value::Array(values) => {
                // Of a key such as `{"task":[1,2]}`, the first number is the request.
                let is_pair = above == "key" && values.len() == 2;
                let numbers = if is_pair { &mut values[..1] } else { &mut values[..] };
                numbers.iter_mut().for_each(|value| self.value(value, key, above));
            }
            Value::Number(number) => {
                let Some(number) = number.as_u64() else { return };
                if let Some(kind) = id_kind(key, above) {
                    let is_new = NEW_IDS.contains(&(self.event, key));
                    self.ids.push(Id { kind, number, is_new });
                    *value = Value::Null;
                } else if TIME_KEYS.contains(&key) {
                    self.times.push(number);
                    *value = Value::Null;
                }
            }
            // The headers name the conversation.
            Value::String(_) if key == "conversation" => *value = Value::Null,
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
}

fn id_kind(key: &str, above: &str) -> Option<IdKind> {
    let is_found = |(parent, name, _): &&(Option<&str>, &str, IdKind)| {
        *name == key && parent.is_none_or(|parent| parent == above)
    };
    ID_KEYS.iter().find(is_found).map(|(_, _, kind)| *kind)
}

/// Which id of one trace is which id of the other.
#[derive(Debug, Default)]
pub(super) struct Renumbering(BTreeMap<(IdKind, u64), u64>);

impl Renumbering {
    /// Whether the ids of two steps with equal keys correspond. What both create corresponds from then on; an id from before the first
    /// difference is the same in both.
    pub(super) fn corresponds(&mut self, a: &PlainStep, b: &PlainStep) -> bool {
        self.add_new(a, b);
        let same = |(a, b): (&Id, &Id)| {
            a.kind == b.kind && self.0.get(&(a.kind, a.number)).copied().unwrap_or(a.number) == b.number
        };
        a.ids.len() == b.ids.len() && a.ids.iter().zip(&b.ids).all(same)
    }

    /// Pairs what two steps create, kind by kind.
    pub(super) fn add_new(&mut self, a: &PlainStep, b: &PlainStep) {
        for kind in [IdKind::Call, IdKind::Item, IdKind::Request] {
            let new = |step: &PlainStep| -> Vec<u64> {
                let of_kind = step.ids.iter().filter(|id| id.is_new && id.kind == kind);
                of_kind.map(|id| id.number).collect()
            };
            self.0.extend(new(a).into_iter().map(|number| (kind, number)).zip(new(b)));
        }
    }
}
