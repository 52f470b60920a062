//! The columns of the transition table.

use super::guard::Guard;
use super::phase::{Phase, Region};
use super::trigger::Trigger;
use crate::module::{ConclusionKind, Operation, Store};
use crate::policy::{Bound, Policy, Rule};
use core::fmt;
use core::hash::{Hash, Hasher};

/// One edge of the control FSM.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Its id, by which events and reports refer to it.
    pub id: &'static str,
    /// The source clause, the finding that it closes, or the decision that it follows.
    pub clause: &'static str,
    /// The policy setting that enables it.
    pub switch: Switch,
    /// The phase or region that it leaves.
    pub from: TransitionSource,
    /// The kind of input that triggers it.
    pub on: Trigger,
    /// The condition under which it is taken.
    pub when: Guard,
    /// The exit actions, in order: the work that completes the phase it leaves.
    pub exit: &'static [ExitAction],
    /// The conclusion, if it concludes the request.
    pub conclusion: Option<ConclusionRule>,
    /// The next phase.
    pub to: Phase,
    /// The entry actions, in order: the computations and the call of the next phase.
    pub entry: &'static [EntryAction],
    /// 004's label or function name where 004 draws the edge; otherwise what the edge does.
    pub label: &'static str,
}

/// The policy setting that enables a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Enabled under every policy.
    Always,
    /// Enabled while this rule is in force.
    RuleOn(Rule),
    /// Enabled while this rule is not in force.
    RuleOff(Rule),
    /// Enabled while the policy bounds repairs (`bounds.repairs`).
    BoundedRepairs,
    /// Enabled while the policy has additional debaters (`additional_debaters`).
    AdditionalDebaters,
}

/// Where a row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionSource {
    /// In one phase.
    Phase(Phase),
    /// In every phase of a region.
    Region(Region),
}

/// An action on leaving a phase. Each emits its events before [`Event::Transitioned`](crate::Event::Transitioned).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitAction {
    /// Computes the consensus of the latest arguments.
    ScoreConsensus,
    /// Computes the ratings after the duels.
    UpdateRatings,
    /// Records the decision on the plan.
    Decide(DecisionKind),
    /// Reports how each task of the run ended.
    ReportExecution,
    /// Records that the audit record was not delivered.
    AbandonAudit,
    /// Emits the final answer.
    FinalAnswer,
}

/// The three decisions of 004 §3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// The plan may run. The label depends on the consensus where the policy distinguishes it (finding F8).
    Proceed,
    /// The consensus is too low.
    Reject,
    /// Security vetoes the plan.
    Veto,
    /// Facts of the plan changed: no earlier decision on it counts (finding F18).
    Outdate,
}

/// An action on entering a phase. Each emits its events after [`Event::Transitioned`](crate::Event::Transitioned).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryAction {
    /// Calls a module with an operation that contains no data of the request.
    Call(Operation),
    /// Calls the next additional debater.
    CallAdditionalDebater,
    /// Calls the executor to run the next task of the plan.
    StartTask,
    /// Records that a repair starts, where the policy bounds repairs.
    CountRepair,
    /// Calls the executor to undo the latest effect that is neither undone nor failed to be; nothing if none is left.
    UndoNext,
    /// Writes the memory record.
    RecordMemory,
    /// Calls a store to keep the memory record.
    StoreMemory(Store),
    /// Writes the audit record.
    RecordAudit,
}

/// The conclusion that a row emits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConclusionRule {
    /// The kind of the conclusion.
    pub kind: ConclusionKind,
    /// The kind of its cause.
    pub cause: CauseKind,
}

/// The kinds of [`Cause`](crate::event::Cause).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// Every task succeeded.
    Completed,
    /// An identity lock does not match.
    IdentityMismatch,
    /// The call that triggers the row failed. Its module and its failure come from the input.
    CallFailed,
    /// Security vetoed the plan.
    Vetoed,
    /// The consensus was too low.
    Rejected,
    /// The Critic found no repair.
    NoRepair,
    /// The policy allows no further repair.
    RepairsExhausted,
    /// The repaired or outdated plan was not cleared.
    PlanNotCleared,
    /// The approver declined the plan.
    NotApproved,
    /// Facts of the plan changed.
    PlanOutdated,
    /// The user cancelled the request.
    Cancelled,
}

/// A reference to a row. Two are equal if the ids of their rows are.
#[derive(Clone, Copy)]
pub struct TransitionId(&'static Transition);

impl Transition {
    /// Whether the policy enables this row, and it matches phase and trigger.
    #[inline]
    #[must_use]
    pub fn is_enabled(&self, policy: &Policy, phase: Phase, trigger: Trigger) -> bool {
        self.on == trigger && self.from.contains(phase) && self.switch.is_on(policy)
    }

    /// Whether this row accepts a cancel without effect, because the request can no longer be stopped.
    #[must_use]
    pub fn ignores_cancel(&self) -> bool {
        self.on == Trigger::Cancel && self.from == TransitionSource::Phase(self.to)
    }
}

impl Switch {
    /// Whether the policy enables such a row.
    #[must_use]
    pub const fn is_on(self, policy: &Policy) -> bool {
        match self {
            Self::Always => true,
            Self::RuleOn(rule) => policy.rules.has(rule),
            Self::RuleOff(rule) => !policy.rules.has(rule),
            Self::BoundedRepairs => matches!(policy.bounds.repairs, Bound::AtMost(_)),
            Self::AdditionalDebaters => !policy.additional_debaters.is_empty(),
        }
    }
}

impl TransitionSource {
    /// Whether a row with this source starts in this phase.
    #[must_use]
    pub fn contains(self, phase: Phase) -> bool {
        match self {
            Self::Phase(source) => source == phase,
            Self::Region(region) => phase.region() == Some(region),
        }
    }
}

impl TransitionId {
    /// The id of a row. A row outside the table belongs to a mutant and is never read back from a trace.
    #[must_use]
    pub const fn from_transition(row: &'static Transition) -> Self {
        Self(row)
    }

    /// The row.
    #[must_use]
    pub const fn transition(self) -> &'static Transition {
        self.0
    }
}

impl PartialEq for TransitionId {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for TransitionId {}

impl Hash for TransitionId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl fmt::Debug for TransitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id)
    }
}

impl fmt::Display for TransitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.id)
    }
}

impl fmt::Display for ExitAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ScoreConsensus => "score consensus",
            Self::UpdateRatings => "update ratings",
            Self::Decide(DecisionKind::Proceed) => "decide PROCEED",
            Self::Decide(DecisionKind::Reject) => "decide REJECT",
            Self::Decide(DecisionKind::Veto) => "decide VETO",
            Self::Decide(DecisionKind::Outdate) => "decide OUTDATED",
            Self::ReportExecution => "report execution",
            Self::AbandonAudit => "abandon audit",
            Self::FinalAnswer => "final answer",
        })
    }
}

impl fmt::Display for EntryAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(operation) => write!(f, "call {}", operation.module()),
            Self::CallAdditionalDebater => f.write_str("call next additional debater"),
            Self::StartTask => f.write_str("start task"),
            Self::CountRepair => f.write_str("count repair"),
            Self::UndoNext => f.write_str("undo next effect"),
            Self::RecordMemory => f.write_str("record memory"),
            Self::StoreMemory(store) => write!(f, "call {store}"),
            Self::RecordAudit => f.write_str("record audit"),
        }
    }
}

impl fmt::Display for ConclusionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.cause)
    }
}

impl fmt::Display for CauseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Completed => "completed",
            Self::IdentityMismatch => "identity mismatch",
            Self::CallFailed => "call failed",
            Self::Vetoed => "vetoed",
            Self::Rejected => "rejected",
            Self::NoRepair => "no repair",
            Self::RepairsExhausted => "repairs exhausted",
            Self::PlanNotCleared => "plan not cleared",
            Self::NotApproved => "not approved",
            Self::PlanOutdated => "plan outdated",
            Self::Cancelled => "cancelled",
        })
    }
}
