//! The fields that a matcher can name: those of an event, and those of the running request.

pub(crate) mod names;

use crate::event_kind::EventKind;
use crate::request::Request;
use crate::value::Value;
use names::{
    CALL_FAILURES, CAUSES, CONCLUSIONS, EFFECTS, FORGET_CAUSES, ITEM_KINDS, LABELS, LAYERS, MODULES,
    OPERATIONS, PHASES, STANCES, TRANSITIONS,
};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::{Score, TaskId, Text};

/// An event, and what the events up to it say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'e> {
    /// The event.
    pub event: &'e Event,
    /// The operation that is called or answered.
    pub operation: Option<Operation>,
    /// The running request after the event.
    pub request: &'e Request,
}

/// What a field contains.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Number,
    /// A number from 0 to 1, in millionths.
    Score,
    /// One of these names.
    Name(fn() -> Vec<&'static str>),
    /// Any text.
    Text,
}

impl FieldKind {
    /// The kind in words.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Score => "a number from 0 to 1".to_owned(),
            Self::Name(names) => format!("one of {}", names().join(", ")),
            Self::Text => "a text".to_owned(),
        }
    }
}

/// A field of an event or of the running request.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The name in claim files.
    pub name: &'static str,
    /// What it contains.
    pub kind: FieldKind,
    /// The events that have it; none for a field of the running request, which every event has.
    pub events: &'static [EventKind],
    /// The meaning, as a sentence without its end.
    pub meaning: &'static str,
    pub(crate) read: for<'e> fn(&Moment<'e>) -> Option<Value<'e>>,
}

impl Field {
    /// The field with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// Whether an event of this kind has the field.
    #[must_use]
    pub fn is_of(&self, kind: EventKind) -> bool {
        self.events.is_empty() || self.events.contains(&kind)
    }
}

/// The events of a call.
const CALLS: &[EventKind] =
    &[EventKind::ToolCall, EventKind::ToolResult, EventKind::CallFailed, EventKind::OverBudget];
const REPLIES: &[EventKind] = &[EventKind::ToolResult];
const ITEMS: &[EventKind] = &[EventKind::AddItem, EventKind::UpdateItem];

macro_rules! fields {
    ($($name:literal $kind:expr, $events:expr, $meaning:literal, $read:expr;)*) => {
        /// Every field.
        pub const FIELDS: &[Field] =
            &[$(Field { name: $name, kind: $kind, events: $events, meaning: $meaning, read: $read }),*];
    };
}

use FieldKind::{Flag, Name, Number, Score as ScoreKind, Text as TextKind};

fields! {
    "module" Name(|| MODULES.to_vec()), CALLS, "The module that is called or that answers",
        |moment| Some(Value::Name(module(moment)?.name()));
    "operation" Name(|| OPERATIONS.to_vec()), CALLS, "What the module is called for",
        |moment| Some(Value::Name(names::operation(moment.operation?)));
    "task" Number, CALLS, "The number of the task that runs or is undone",
        |moment| Some(number(moment.operation?.task()?));
    "effect" Name(|| EFFECTS.to_vec()), CALLS, "The effect of the task that runs",
        |moment| match moment.operation? {
            Operation::RunTask { effect, .. } => Some(Value::Name(names::effect(effect))),
            _ => None,
        };
    "failure" Name(|| CALL_FAILURES.to_vec()), &[EventKind::CallFailed], "Why the call fails",
        |moment| Some(Value::Name(names::failure(failure(moment.event)?)));
    "stance" Name(|| STANCES.to_vec()), REPLIES, "The stance of an argument",
        |moment| match report(moment.event)? {
            Report::Argument { argument, .. } => Some(Value::Name(names::stance(argument.stance))),
            _ => None,
        };
    "confidence" ScoreKind, REPLIES, "The confidence of an argument",
        |moment| match report(moment.event)? {
            Report::Argument { argument, .. } => Some(score(argument.confidence)),
            _ => None,
        };
    "exit_code" Number, REPLIES, "The exit code of a task or a compensation",
        |moment| match report(moment.event)? {
            Report::Exit { code, .. } => Some(Value::Number(i64::from(*code))),
            _ => None,
        };
    "approved" Flag, REPLIES, "Whether the approver agrees",
        |moment| match report(moment.event)? {
            Report::Approval { approved, .. } => Some(Value::Flag(*approved)),
            _ => None,
        };
    "verified" Flag, REPLIES, "Whether both identity locks match",
        |moment| match report(moment.event)? {
            Report::Identity { gcp, mongodb } => Some(Value::Flag(*gcp && *mongodb)),
            _ => None,
        };
    "text" TextKind,
        &[
            EventKind::UserMsg, EventKind::ToolResult, EventKind::AddItem, EventKind::UpdateItem,
            EventKind::FinalAnswer, EventKind::MemoryRecorded,
        ],
        "The text of the message, the reply, the item, the answer or the record",
        |moment| text(moment.event).map(|text| Value::Text(text.as_str()));
    "user" TextKind, &[EventKind::UserMsg, EventKind::SessionStarted], "The user",
        |moment| match moment.event {
            Event::UserMsg { user, .. } | Event::SessionStarted { user } => Some(Value::Text(user.as_str())),
            _ => None,
        };
    "scope" Name(|| names::SCOPES.to_vec()),
        &[EventKind::UserMsg, EventKind::AddItem, EventKind::UpdateItem, EventKind::MemoryRecorded],
        "The kind of the scope",
        |moment| Some(Value::Name(names::scope(scope(moment.event)?)));
    "item" Name(|| ITEM_KINDS.to_vec()), ITEMS, "The kind of the item",
        |moment| match moment.event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                Some(Value::Name(names::item_kind(item.kind)))
            }
            _ => None,
        };
    "layer" Name(|| LAYERS.to_vec()), ITEMS, "The layer of the item",
        |moment| match moment.event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                Some(Value::Name(names::layer(&item.layer)))
            }
            _ => None,
        };
    "key" TextKind, ITEMS, "The key of a fact, a working item or a signal",
        |moment| match moment.event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                names::written_key(&item.key).map(|key| Value::Text(key.as_str()))
            }
            _ => None,
        };
    "superseded" Flag, ITEMS, "Whether the item is superseded by another one",
        |moment| match moment.event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => Some(Value::Flag(!item.is_valid())),
            _ => None,
        };
    "forgotten" Number, &[EventKind::ForgetItems], "How many items leave",
        |moment| match moment.event {
            Event::ForgetItems { ids, .. } => Some(count(ids.len())),
            _ => None,
        };
    "forget_cause" Name(|| FORGET_CAUSES.to_vec()), &[EventKind::ForgetItems], "Why items leave",
        |moment| match moment.event {
            Event::ForgetItems { cause, .. } => Some(Value::Name(names::forget_cause(*cause))),
            _ => None,
        };
    "tasks" Number, &[EventKind::PlanAdopted], "How many tasks the plan has",
        |moment| match moment.event {
            Event::PlanAdopted { plan, .. } => Some(count(plan.tasks().len())),
            _ => None,
        };
    "score" ScoreKind, &[EventKind::ConsensusScored, EventKind::Decided], "The consensus",
        |moment| match moment.event {
            Event::ConsensusScored { score: value, .. } => Some(score(*value)),
            Event::Decided { decision } => Some(score(decision.score)),
            _ => None,
        };
    "label" Name(|| LABELS.to_vec()), &[EventKind::Decided], "The decision",
        |moment| match moment.event {
            Event::Decided { decision } => Some(Value::Name(names::label(decision.label))),
            _ => None,
        };
    "conclusion" Name(|| CONCLUSIONS.to_vec()), &[EventKind::Concluded, EventKind::MemoryRecorded],
        "How the request ends",
        |moment| match moment.event {
            Event::Concluded { conclusion } => Some(Value::Name(names::conclusion(conclusion.kind))),
            Event::MemoryRecorded { record } => Some(Value::Name(names::conclusion(record.kind))),
            _ => None,
        };
    "cause" Name(|| CAUSES.to_vec()), &[EventKind::Concluded], "Why the request ends",
        |moment| match moment.event {
            Event::Concluded { conclusion } => Some(Value::Name(names::cause(conclusion.cause))),
            _ => None,
        };
    "transition" Name(|| TRANSITIONS.iter().map(|row| row.id).collect()), &[EventKind::Transitioned],
        "The transition of the table",
        |moment| match moment.event {
            Event::Transitioned { row } => Some(Value::Name(row.transition().id)),
            _ => None,
        };
    "to" Name(|| PHASES.iter().map(|phase| phase.name()).collect()), &[EventKind::Transitioned],
        "The phase that control enters",
        |moment| match moment.event {
            Event::Transitioned { row } => Some(Value::Name(row.transition().to.name())),
            _ => None,
        };
    "request.phase" Name(|| PHASES.iter().map(|phase| phase.name()).collect()), &[],
        "The phase after the latest transition",
        |moment| Some(Value::Name(moment.request.phase.name()));
    "request.verified" Flag, &[], "Whether both identity locks matched",
        |moment| Some(Value::Flag(moment.request.verified));
    "request.pass" Number, &[], "The pass of the debate, at most one above the bound; 0 before the debate",
        |moment| Some(Value::Number(i64::from(moment.request.pass)));
    "request.vetoed" Flag, &[], "Whether Security vetoed a revision",
        |moment| Some(Value::Flag(moment.request.vetoed));
    "request.objection" ScoreKind, &[], "The confidence of Security's objection to the current revision, if it objects",
        |moment| Some(score(moment.request.objection?));
    "request.approved" Flag, &[], "Whether the approver agreed to the current revision",
        |moment| Some(Value::Flag(moment.request.approved));
    "request.tasks" Number, &[], "How many tasks the current plan has",
        |moment| Some(Value::Number(i64::from(moment.request.tasks)));
    "request.running_tasks" Number, &[], "How many tasks run",
        |moment| Some(count(moment.request.running_tasks()));
    "request.repairs" Number, &[], "How many repairs started, at most one above the bound; 0 if the policy does not bound repairs",
        |moment| Some(Value::Number(i64::from(moment.request.repairs)));
    "request.rolled_back" Flag, &[], "Whether a rollback was entered",
        |moment| Some(Value::Flag(moment.request.rolled_back));
    "request.cancelled" Flag, &[], "Whether the user cancelled",
        |moment| Some(Value::Flag(moment.request.cancelled));
}

fn number(task: TaskId) -> Value<'static> {
    Value::Number(i64::from(task.number()))
}

fn count(len: usize) -> Value<'static> {
    Value::Number(i64::try_from(len).unwrap_or(i64::MAX))
}

fn score(score: Score) -> Value<'static> {
    Value::Number(i64::from(score.millionths()))
}

fn module(moment: &Moment<'_>) -> Option<Module> {
    match moment.event {
        Event::ToolResult { module, .. } | Event::CallFailed { module, .. } => Some(*module),
        _ => moment.operation.map(Operation::module),
    }
}

fn report(event: &Event) -> Option<&Report> {
    match event {
        Event::ToolResult { report, .. } => Some(report),
        _ => None,
    }
}

fn failure(event: &Event) -> Option<Failure> {
    match event {
        Event::CallFailed { failure, .. } => Some(*failure),
        _ => None,
    }
}

fn text(event: &Event) -> Option<&Text> {
    match event {
        Event::UserMsg { text, .. } | Event::FinalAnswer { text, .. } => Some(text),
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => Some(&item.text),
        Event::MemoryRecorded { record } => Some(&record.text),
        Event::ToolResult { report, .. } => match report {
            Report::Summary { text, .. }
            | Report::Argument { text, .. }
            | Report::Approval { text, .. }
            | Report::Repaired { text, .. }
            | Report::NoRepair { text }
            | Report::Exit { text, .. } => Some(text),
            Report::Identity { .. }
            | Report::Context { .. }
            | Report::Classification { .. }
            | Report::Plan(_)
            | Report::Stored { .. }
            | Report::Delivered => None,
        },
        _ => None,
    }
}

fn scope(event: &Event) -> Option<&Scope> {
    match event {
        Event::UserMsg { scope, .. } => Some(scope),
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => Some(item.scope()),
        Event::MemoryRecorded { record } => Some(&record.scope),
        _ => None,
    }
}
