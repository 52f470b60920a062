//! Faults in the events of a batch, between `decide` and `apply`.

use super::items::ITEMS;
use super::mutant::{Mutant, Part};
use crate::kernel_under_test::{EventMutation, KernelUnderTest};
use orchestrion_kernel::event::{Cause, Conclusion, DecisionLabel, StoreStatus, StoreStatuses};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{ConclusionKind, Operation, Ratings};
use orchestrion_kernel::{Event, Policy, Score};

/// Changes every event of one kind.
macro_rules! each {
    ($events:ident, $kind:pat => $change:expr) => {
        for event in $events {
            if let $kind = event {
                $change;
            }
        }
    };
}

/// Drops every event of one kind.
macro_rules! lost {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "is lost", |_, events| {
            events.retain(|event| !matches!(event, Event::$variant { .. }));
        })),*]
    };
}

const DROPPED_EVENTS: &[(&str, &str, EventMutation)] = lost!(
    UserMsg,
    ToolCall,
    ToolResult,
    AddItem,
    UpdateItem,
    ForgetItems,
    FinalAnswer,
    TimeAdvanced,
    SessionStarted,
    SessionEnded,
    CallFailed,
    OverBudget,
    Cancelled,
    Resumed,
    Transitioned,
    PlanAdopted,
    VetoRaised,
    ConsensusScored,
    RatingsUpdated,
    Decided,
    ExecutionReported,
    RepairStarted,
    Concluded,
    MemoryRecorded,
    AuditRecorded,
    AuditUndelivered
);

/// Duplicates events that must occur once.
macro_rules! repeated {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "comes twice", |_, events| {
            if let Some(place) = events.iter().position(|event| matches!(event, Event::$variant { .. })) {
                events.insert(place, events[place].clone());
            }
        })),*]
    };
}

const DUPLICATED_EVENTS: &[(&str, &str, EventMutation)] =
    repeated!(FinalAnswer, MemoryRecorded, AuditRecorded, Decided, RepairStarted, Cancelled, VetoRaised);

/// Alters one statement of a record.
const ALTERED_EVENTS: &[(&str, &str, EventMutation)] = &[
    ("UserMsg", "runs in the global scope", |_, events| {
        each!(events, Event::UserMsg { scope, .. } => *scope = Scope::Global);
    }),
    ("MemoryRecorded", "is global", |_, events| {
        each!(events, Event::MemoryRecorded { record } => record.scope = Scope::Global);
    }),
    ("Audited", "says that both stores hold the record", |_, events| {
        each!(events, Event::AuditRecorded { record } => record.stores = StoreStatuses { local: StoreStatus::Held, cloud: StoreStatus::Held });
    }),
    ("Audited", "says that no store holds the record", |_, events| {
        each!(events, Event::AuditRecorded { record } => record.stores = StoreStatuses::default());
    }),
    (
        "Audited",
        "lists no task",
        |_, events| each!(events, Event::AuditRecorded { record } => record.tasks.clear()),
    ),
    ("Audited", "says nothing of effects", |_, events| {
        each!(events, Event::AuditRecorded { record } => record.tasks.iter_mut().for_each(|task| task.effect = None));
    }),
    (
        "Audited",
        "leaves out the decisions",
        |_, events| each!(events, Event::AuditRecorded { record } => record.decisions.clear()),
    ),
    ("Audited", "says that all went well", |_, events| {
        each!(events, Event::AuditRecorded { record } => record.conclusion = Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed });
    }),
    (
        "Memorized",
        "is kept as an outcome",
        |_, events| each!(events, Event::MemoryRecorded { record } => record.kind = ConclusionKind::Outcome),
    ),
    (
        "Memorized",
        "leaves out the ratings",
        |_, events| each!(events, Event::MemoryRecorded { record } => record.ratings = None),
    ),
    ("Decided", "does not name the objection", |_, events| {
        each!(events, Event::Decided { decision } => decision.objection = None);
    }),
    ("Decided", "says that consensus was reached", |_, events| {
        each!(events, Event::Decided { decision } => decision.label = DecisionLabel::ConsensusReached);
    }),
    ("Decided", "says that the plan was rejected", |_, events| {
        each!(events, Event::Decided { decision } => decision.label = DecisionLabel::Rejected);
    }),
    (
        "Decided",
        "gives full score",
        |_, events| each!(events, Event::Decided { decision } => decision.score = Score::ONE),
    ),
    (
        "ConsensusScored",
        "gives full score",
        |_, events| each!(events, Event::ConsensusScored { score, .. } => *score = Score::ONE),
    ),
    (
        "RatingsUpdated",
        "gives everybody a new start",
        |_, events| each!(events, Event::RatingsUpdated { ratings } => *ratings = Ratings::default()),
    ),
    (
        "Concluded",
        "always says that all went well",
        |_, events| each!(events, Event::Concluded { conclusion } => *conclusion = Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed }),
    ),
    (
        "ToolCall",
        "asks the stores to keep an outcome",
        |_, events| each!(events, Event::ToolCall { operation: Operation::StoreMemory { kind, .. }, .. } => *kind = ConclusionKind::Outcome),
    ),
    ("ToolCall", "undoes the first task instead of the last", |state, events| {
        let first = state
            .control()
            .request()
            .and_then(|request| request.ledger.iter().next())
            .map(|started| started.task);
        for event in events {
            if let (Event::ToolCall { operation: Operation::UndoTask { task }, .. }, Some(first)) =
                (event, first)
            {
                *task = first;
            }
        }
    }),
    ("ToolCall", "runs the first task again and again", |state, events| {
        let plan = state.control().request().and_then(|request| request.plan.as_ref());
        let first = plan.and_then(|plan| plan.plan.tasks().first());
        for event in events {
            if let (Event::ToolCall { operation: Operation::RunTask { task, effect }, .. }, Some(first)) =
                (event, first)
            {
                (*task, *effect) = (first.id, first.effect.kind());
            }
        }
    }),
];

/// Each event dropped, duplicated or altered.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let all = DROPPED_EVENTS.iter().chain(DUPLICATED_EVENTS).chain(ALTERED_EVENTS).chain(ITEMS);
    all.map(|(place, fault, spoil)| Mutant {
        location: (*place).to_string(),
        fault: (*fault).to_string(),
        subject: KernelUnderTest {
            mutate_events: Some(*spoil),
            ..KernelUnderTest::unmodified(policy.clone())
        },
        row: None,
        part: Part::Core,
    })
    .collect()
}
