//! Faults in the events of a batch, between `decide` and `apply`.

use super::Mutant;
use super::items::ITEMS;
use crate::subject::Subject;
use orchestrion_kernel::event::{Cause, Ending, Holding, Holdings, Label};
use orchestrion_kernel::module::{Ask, Kind, Ratings};
use orchestrion_kernel::{Event, Events, Policy, Score, State};

type Spoil = fn(&State, &mut Events);

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

/// Every event lost.
macro_rules! lost {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "is lost", |_, events| {
            events.retain(|event| !matches!(event, Event::$variant { .. }));
        })),*]
    };
}

const LOST: &[(&str, &str, Spoil)] = lost!(
    UserMsg,
    ToolCall,
    ToolResult,
    AddItem,
    UpdateItem,
    ForgetItems,
    FinalAnswer,
    SessionStarted,
    SessionEnded,
    CallFailed,
    OverBudget,
    Cancelled,
    Resumed,
    Moved,
    PlanAdopted,
    VetoRaised,
    ConsensusScored,
    RatingsUpdated,
    Decided,
    ExecutionReported,
    RepairStarted,
    Concluded,
    Memorized,
    Audited,
    AuditUndelivered
);

/// What must come once comes twice.
macro_rules! repeated {
    ($($variant:ident),*) => {
        &[$((stringify!($variant), "comes twice", |_, events| {
            if let Some(place) = events.iter().position(|event| matches!(event, Event::$variant { .. })) {
                events.insert(place, events[place].clone());
            }
        })),*]
    };
}

const REPEATED: &[(&str, &str, Spoil)] =
    repeated!(FinalAnswer, Memorized, Audited, Decided, RepairStarted, Cancelled, VetoRaised);

/// One statement of a record falsified.
const FALSIFIED: &[(&str, &str, Spoil)] = &[
    ("Audited", "says that both stores hold the record", |_, events| {
        each!(events, Event::Audited { record } => record.stores = Holdings { local: Holding::Held, cloud: Holding::Held });
    }),
    ("Audited", "says that no store holds the record", |_, events| {
        each!(events, Event::Audited { record } => record.stores = Holdings::default());
    }),
    (
        "Audited",
        "lists no task",
        |_, events| each!(events, Event::Audited { record } => record.tasks.clear()),
    ),
    ("Audited", "says nothing of effects", |_, events| {
        each!(events, Event::Audited { record } => record.tasks.iter_mut().for_each(|task| task.effect = None));
    }),
    (
        "Audited",
        "leaves out the decisions",
        |_, events| each!(events, Event::Audited { record } => record.decisions.clear()),
    ),
    ("Audited", "says that all went well", |_, events| {
        each!(events, Event::Audited { record } => record.ending = Ending { kind: Kind::Outcome, cause: Cause::Completed });
    }),
    (
        "Memorized",
        "is kept as an outcome",
        |_, events| each!(events, Event::Memorized { record } => record.kind = Kind::Outcome),
    ),
    (
        "Memorized",
        "leaves out the ratings",
        |_, events| each!(events, Event::Memorized { record } => record.ratings = None),
    ),
    ("Decided", "does not name the objection", |_, events| {
        each!(events, Event::Decided { decision } => decision.objection = None);
    }),
    ("Decided", "says that consensus was reached", |_, events| {
        each!(events, Event::Decided { decision } => decision.label = Label::ConsensusReached);
    }),
    ("Decided", "says that the plan was rejected", |_, events| {
        each!(events, Event::Decided { decision } => decision.label = Label::Rejected);
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
        |_, events| each!(events, Event::Concluded { ending } => *ending = Ending { kind: Kind::Outcome, cause: Cause::Completed }),
    ),
    (
        "ToolCall",
        "asks the stores to keep an outcome",
        |_, events| each!(events, Event::ToolCall { ask: Ask::Remember { kind, .. }, .. } => *kind = Kind::Outcome),
    ),
    ("ToolCall", "undoes the first task instead of the last", |state, events| {
        let first =
            state.control.request().and_then(|request| request.ledger.first()).map(|started| started.task);
        for event in events {
            if let (Event::ToolCall { ask: Ask::UndoTask { task }, .. }, Some(first)) = (event, first) {
                *task = first;
            }
        }
    }),
    ("ToolCall", "runs the first task again and again", |state, events| {
        let plan = state.control.request().and_then(|request| request.plan.as_ref());
        let first = plan.and_then(|plan| plan.plan.tasks().first());
        for event in events {
            if let (Event::ToolCall { ask: Ask::RunTask { task, effect }, .. }, Some(first)) = (event, first)
            {
                (*task, *effect) = (first.id, first.effect.kind());
            }
        }
    }),
];

/// Each event lost, repeated or falsified.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let all = LOST.iter().chain(REPEATED).chain(FALSIFIED).chain(ITEMS);
    all.map(|(place, fault, spoil)| Mutant {
        place: (*place).to_string(),
        fault: (*fault).to_string(),
        subject: Subject { spoil_events: Some(*spoil), ..Subject::real(policy.clone()) },
        row: None,
    })
    .collect()
}
