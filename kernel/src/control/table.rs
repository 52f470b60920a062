//! The transition table: every way in which control may move, as data.
//!
//! Read it from the top: of the rows that the policy switches on and that fit state and trigger, the first
//! whose guard holds is taken. If there is none, the input is refused. The rows T are 004's drawing and its
//! table; H rows close a finding, A rows ask an approver, E rows say what happens when a call gives no answer,
//! X rows cancel, K rows compact what is known, S rows open and close a session. Diagrams, the reference page and the model's actions are made
//! from here. A resume moves nothing, so it has no row.

use super::guard::Guard;
use super::phase::{Phase, Region};
use crate::input::Trigger;
use crate::module::Role;
use crate::policy::{Policy, Rule};
use core::fmt;
use core::hash::{Hash, Hasher};

/// One edge of the control FSM.
#[derive(Debug)]
pub struct Transition {
    /// Its short name, by which events and reports refer to it.
    pub id: &'static str,
    /// The source clause, the finding that it closes, or the decision that it follows.
    pub clause: &'static str,
    /// The policy setting that switches it on.
    pub switch: Switch,
    /// Where it starts.
    pub from: TransitionSource,
    /// Which kind of input takes it.
    pub on: Trigger,
    /// What must hold.
    pub when: Guard,
    /// Where it ends.
    pub to: Phase,
    /// What it means: 004's label or function name where it is drawn there.
    pub label: &'static str,
}

/// When a row belongs to the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Under every policy.
    Always,
    /// While this rule is in force.
    RuleOn(Rule),
    /// While this rule is not in force.
    RuleOff(Rule),
    /// While the policy bounds repairs (`bounds.repairs`).
    BoundedRepairs,
}

/// Where a row starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionSource {
    /// In one state.
    Phase(Phase),
    /// In every state of a region.
    Region(Region),
}

/// A row, as events and reports refer to it: two are the same if their names are.
#[derive(Clone, Copy)]
pub struct TransitionId(&'static Transition);

#[allow(clippy::too_many_arguments, reason = "a row has as many columns")]
const fn row(
    id: &'static str,
    clause: &'static str,
    switch: Switch,
    from: TransitionSource,
    on: Trigger,
    when: Guard,
    to: Phase,
    label: &'static str,
) -> Transition {
    Transition { id, clause, switch, from, on, when, to, label }
}

use Guard::*;
use Phase::*;
use Role::{Analyst, Critic, Optimizer, Security, Solution};
use Rule::{
    Approver, AuditedAbort, Cancel, ClearedRevisions, Compaction, ErrorRows, NextRequest, RollbackEnds,
    VetoEndsDebate,
};
use Switch::{BoundedRepairs, RuleOff, RuleOn};
use TransitionSource::{Phase as At, Region as Within};

const ANY: Switch = Switch::Always;

/// The table.
#[rustfmt::skip]
pub const TRANSITIONS: &[Transition] = &[
    //  id     clause           switch                     from                                  on                     when             to                    label
    row("S01", "000-1.3",       ANY,                       At(Idle),                             Trigger::SessionStart, Always,          Idle,                 "a session opens"),
    row("S02", "000-2.11",      ANY,                       At(Idle),                             Trigger::SessionEnd,   Always,          Idle,                 "the session closes; its working set is forgotten"),

    row("T01", "004-2.1",       ANY,                       At(Idle),                             Trigger::UserMessage,  Always,          VerifyingIdentity,    "Request Submitted"),
    row("T02", "004-1.4",       ANY,                       At(VerifyingIdentity),                Trigger::Reply,        LocksMatch,      IdentityVerified,     "Success (GCP & MongoDB locks match)"),
    row("H01", "F1",            RuleOn(AuditedAbort),        At(VerifyingIdentity),                Trigger::Reply,        Always,          Auditing,             "Identity Mismatch, audited"),
    row("T03", "004-2.2",       RuleOff(AuditedAbort),     At(VerifyingIdentity),                Trigger::Reply,        Always,          Aborted,              "Identity Mismatch (Halt), sys.exit(1)"),
    row("K01", "000-6.9",       RuleOn(Compaction),          At(IdentityVerified),                 Trigger::Step,         CompactionDue,   Compacting,           "what is known has grown: a cluster of it is summarized"),
    row("K02", "000-6.12",      RuleOn(Compaction),          At(Compacting),                       Trigger::Reply,        Always,          LoadingContext,       "the summary takes the place of what it forgets"),
    row("K03", "decision 0021", RuleOn(Compaction),          At(Compacting),                       Trigger::CallFailed,   Always,          LoadingContext,       "no summary: nothing is forgotten"),
    row("T04", "004-1.6",       ANY,                       At(IdentityVerified),                 Trigger::Step,         Always,          LoadingContext,       "Reload past ELO and traces"),
    row("T05", "004-1.7",       ANY,                       At(LoadingContext),                   Trigger::Reply,        Always,          Classifying,          "Tagging & Cosine similarity lookups"),
    row("T06", "004-1.8",       ANY,                       At(Classifying),                      Trigger::Reply,        Always,          Planning,             "build_initial_plan()"),

    row("T07", "004-2.3",       ANY,                       At(Planning),                         Trigger::Reply,        Always,          Round(Analyst),       "Trigger run_debate(): baseline plan drafted"),
    row("T08", "004-1.11",      ANY,                       At(Round(Analyst)),                   Trigger::Reply,        Always,          Round(Solution),      "the Analyst has argued"),
    row("T09", "004-1.12",      ANY,                       At(Round(Solution)),                  Trigger::Reply,        Always,          Round(Critic),        "Solution has argued, and perhaps refined the plan"),
    row("T10", "004-1.13",      ANY,                       At(Round(Critic)),                    Trigger::Reply,        Always,          Round(Security),      "the Critic has argued"),
    row("T11", "004-1.14",      ANY,                       At(Round(Security)),                  Trigger::Reply,        Always,          Round(Optimizer),     "Security has argued"),
    row("H02", "F9",            RuleOn(ClearedRevisions),    At(Round(Optimizer)),                 Trigger::Reply,        PlanRevised,     PlanReview,           "Security reads the Optimizer's revision"),
    row("T12", "004-1.15",      ANY,                       At(Round(Optimizer)),                 Trigger::Reply,        Always,          MultiPassCheck,       "Evaluate consensus confidence"),
    row("H03", "F9",            RuleOn(ClearedRevisions),    At(PlanReview),                       Trigger::Reply,        Always,          MultiPassCheck,       "Evaluate consensus confidence on the new revision"),
    row("H04", "F11",           RuleOn(VetoEndsDebate),      At(MultiPassCheck),                   Trigger::Step,         Vetoed,          Aggregating,          "a veto ends the debate"),
    row("T13", "004-2.4",       ANY,                       At(MultiPassCheck),                   Trigger::Step,         AnotherPass,        Round(Solution),      "Re-debate (Rule-of-3 if confidence < 0.8)"),
    row("T14", "004-1.17",      ANY,                       At(MultiPassCheck),                   Trigger::Step,         Always,          Aggregating,          "Confidence threshold met / turn limit hit"),

    row("T15", "004-1.19",      ANY,                       At(Aggregating),                      Trigger::Step,         Always,          CalculatingConsensus, "arguments collected"),
    row("T16", "004-1.20",      ANY,                       At(CalculatingConsensus),             Trigger::Step,         Always,          EloDuels,             "Resolve Weights & duels"),
    row("T17", "004-1.21",      ANY,                       At(EloDuels),                         Trigger::Step,         Always,          ResolvingDecision,    "ratings updated"),
    row("T18", "004-3.1",       ANY,                       At(ResolvingDecision),                Trigger::Step,         Vetoed,          Blocked,              "VETO (Security anomaly found)"),
    row("T19", "004-3.2",       ANY,                       At(ResolvingDecision),                Trigger::Step,         BelowProceed,    Blocked,              "REJECT (consensus too low)"),
    row("A01", "decision 0013", RuleOn(Approver),            At(ResolvingDecision),                Trigger::Step,         Always,          PlanApproval,         "PROCEED, if the approver agrees"),
    row("T20", "004-3.3",       ANY,                       At(ResolvingDecision),                Trigger::Step,         Always,          RunningTasks,         "PROCEED (Consensus reached): execute_plan()"),
    row("A02", "decision 0013", RuleOn(Approver),            At(PlanApproval),                     Trigger::Reply,        Approved,        RunningTasks,         "approved: execute_plan()"),
    row("A03", "decision 0013", RuleOn(Approver),            At(PlanApproval),                     Trigger::Reply,        Always,          Blocked,              "the approver says no"),

    row("T21", "004-1.24",      ANY,                       At(RunningTasks),                     Trigger::Reply,        MoreTasks,       RunningTasks,         "the next task"),
    row("T22", "004-1.25",      ANY,                       At(RunningTasks),                     Trigger::Reply,        Always,          AssertingOutcomes,    "Build execution report"),
    row("T23", "004-1.27",      ANY,                       At(AssertingOutcomes),                Trigger::Step,         AllSucceeded,    Success,              "All tasks returned success"),
    row("T24", "004-2.6",       ANY,                       At(AssertingOutcomes),                Trigger::Step,         Always,          Failure,              "Task returned error"),
    row("H05", "F3",            BoundedRepairs,            At(Failure),                          Trigger::Step,         RepairsExhausted,    RollbackActive,       "no further repair is allowed"),
    row("T25", "004-1.29",      ANY,                       At(Failure),                          Trigger::Step,         Always,          SelfHealingActive,    "Trigger Self-Healing"),
    row("H06", "F10",           RuleOn(ClearedRevisions),    At(SelfHealingActive),                Trigger::Reply,        PlanRevised,     RepairReview,         "Security reads the repaired plan"),
    row("T26", "004-1.30",      RuleOff(ClearedRevisions), At(SelfHealingActive),                Trigger::Reply,        PlanRevised,     RunningTasks,         "Repaired plan loaded"),
    row("T27", "004-2.7",       ANY,                       At(SelfHealingActive),                Trigger::Reply,        Always,          RollbackActive,       "Repair aborted / failed"),
    row("H07", "F10",           RuleOn(ClearedRevisions),    At(RepairReview),                     Trigger::Reply,        Always,          RepairScoring,        "Security has read the repaired plan"),
    row("A04", "decision 0013", RuleOn(Approver),            At(RepairScoring),                    Trigger::Step,         RepairCleared,   RepairApproval,       "repaired plan cleared, if the approver agrees"),
    row("H08", "F10",           RuleOn(ClearedRevisions),    At(RepairScoring),                    Trigger::Step,         RepairCleared,   RunningTasks,         "Repaired plan cleared and loaded"),
    row("H09", "F10",           RuleOn(ClearedRevisions),    At(RepairScoring),                    Trigger::Step,         Always,          RollbackActive,       "repaired plan rejected"),
    row("A05", "decision 0013", RuleOn(Approver),            At(RepairApproval),                   Trigger::Reply,        Approved,        RunningTasks,         "repaired plan approved and loaded"),
    row("A06", "decision 0013", RuleOn(Approver),            At(RepairApproval),                   Trigger::Reply,        Always,          RollbackActive,       "the approver says no to the repaired plan"),
    row("T28", "004-2.15",      ANY,                       At(RollbackActive),                   Trigger::Reply,        Always,          RollbackActive,       "the next reverse-rollback operation"),
    row("H10", "F2",            RuleOn(RollbackEnds),        At(RollbackActive),                   Trigger::Step,         Always,          StoringMemory,        "Rollback complete, stored as such"),
    row("T29", "004-1.32",      RuleOff(RollbackEnds),     At(RollbackActive),                   Trigger::Step,         Always,          RollbackComplete,     "Rollback complete"),

    row("T30", "004-2.8",       ANY,                       At(Success),                          Trigger::Step,         Always,          StoringMemory,        "store_all_in_memory()"),
    row("T31", "004-1.34",      ANY,                       At(Blocked),                          Trigger::Step,         Always,          StoringMemory,        "store_all_in_memory() of a blocked plan"),
    row("T32", "004-2.16",      ANY,                       At(StoringMemory),                    Trigger::Reply,        MoreStores,      StoringMemory,        "local SQLite asked, cloud Atlas next"),
    row("T33", "004-1.35",      ANY,                       At(StoringMemory),                    Trigger::Reply,        Always,          Auditing,             "audit_log()"),
    row("H11", "F16",           RuleOn(NextRequest),         At(Auditing),                         Trigger::Reply,        Always,          Idle,                 "Output results & trace_id, ready for the next request"),
    row("T34", "004-1.36",      RuleOff(NextRequest),      At(Auditing),                         Trigger::Reply,        Always,          Done,                 "Output results & trace_id"),

    row("E01", "F14",           RuleOn(ErrorRows),           At(VerifyingIdentity),                Trigger::CallFailed,   Always,          Auditing,             "the identity could not be verified"),
    row("E02", "F14",           RuleOn(ErrorRows),           Within(Region::Preparation),          Trigger::CallFailed,   Always,          StoringMemory,        "no context, or no tags"),
    row("E03", "F14",           RuleOn(ErrorRows),           At(Planning),                         Trigger::CallFailed,   Always,          StoringMemory,        "no plan"),
    row("E04", "F14",           RuleOn(ErrorRows),           Within(Region::ArenaDebate),          Trigger::CallFailed,   Always,          Blocked,              "a voice is missing: the debate decides nothing"),
    row("E15", "decision 0015", RuleOn(ErrorRows),           At(RunningTasks),                     Trigger::CallFailed,   OutcomeUnknown,     RollbackActive,       "what may have run before the crash is undone"),
    row("E05", "F14",           RuleOn(ErrorRows),           At(RunningTasks),                     Trigger::CallFailed,   Always,          AssertingOutcomes,    "no task result: the task failed"),
    row("E06", "F14",           RuleOn(ErrorRows),           At(SelfHealingActive),                Trigger::CallFailed,   Always,          RollbackActive,       "Critic fails to diagnose failure"),
    row("E07", "F14",           RuleOn(ErrorRows),           At(RepairReview),                     Trigger::CallFailed,   Always,          RollbackActive,       "nobody cleared the repaired plan"),
    row("E13", "F14",           RuleOn(ErrorRows),           At(PlanApproval),                     Trigger::CallFailed,   Always,          Blocked,              "nobody approved the plan"),
    row("E14", "F14",           RuleOn(ErrorRows),           At(RepairApproval),                   Trigger::CallFailed,   Always,          RollbackActive,       "nobody approved the repaired plan"),
    row("E08", "F14",           RuleOn(ErrorRows),           At(RollbackActive),                   Trigger::CallFailed,   Always,          RollbackActive,       "an effect could not be undone; the next one"),
    row("E09", "F14",           RuleOn(ErrorRows),           At(StoringMemory),                    Trigger::CallFailed,   MoreStores,      StoringMemory,        "the local store failed, cloud next"),
    row("E10", "F14",           RuleOn(ErrorRows),           At(StoringMemory),                    Trigger::CallFailed,   Always,          Auditing,             "the cloud store failed; audit_log()"),
    row("E11", "F14",           RuleOn(ErrorRows),           At(Auditing),                         Trigger::CallFailed,   AttemptsLeft,    Auditing,             "the audit sink is tried again"),
    row("E12", "F14",           RuleOn(ErrorRows),           At(Auditing),                         Trigger::CallFailed,   Always,          Idle,                 "audit undelivered; Output results & trace_id"),

    row("X01", "000-4.4",       RuleOn(Cancel),              At(VerifyingIdentity),                Trigger::Cancel,       Always,          Auditing,             "cancelled before anybody was verified"),
    row("X02", "000-4.4",       RuleOn(Cancel),              At(IdentityVerified),                 Trigger::Cancel,       Always,          StoringMemory,        "cancelled before the debate"),
    row("X03", "000-4.4",       RuleOn(Cancel),              Within(Region::Preparation),          Trigger::Cancel,       Always,          StoringMemory,        "cancelled before the debate"),
    row("X04", "000-4.4",       RuleOn(Cancel),              Within(Region::ArenaDebate),          Trigger::Cancel,       Always,          StoringMemory,        "cancelled while planning or debating"),
    row("X05", "000-4.4",       RuleOn(Cancel),              Within(Region::AggregationEngine),    Trigger::Cancel,       Always,          StoringMemory,        "cancelled before anything ran"),
    row("X06", "000-4.4",       RuleOn(Cancel),              At(Blocked),                          Trigger::Cancel,       Always,          StoringMemory,        "cancelled after the decision: it stays blocked"),
    row("X07", "000-4.4",       RuleOn(Cancel),              At(RollbackActive),                   Trigger::Cancel,       Always,          RollbackActive,       "cancelled while being undone: it goes on"),
    row("X08", "000-4.4",       RuleOn(Cancel),              Within(Region::SandboxedExecution),   Trigger::Cancel,       Always,          RollbackActive,       "cancelled while running: what ran is undone"),
    row("X09", "000-4.4",       RuleOn(Cancel),              At(StoringMemory),                    Trigger::Cancel,       Always,          StoringMemory,        "cancelled too late: it goes on"),
    row("X10", "000-4.4",       RuleOn(Cancel),              At(Auditing),                         Trigger::Cancel,       Always,          Auditing,             "cancelled too late: it goes on"),
];

/// No two rows share switch, from, trigger and guard: else this does not compile. Indexing, counting and
/// casting cannot go wrong at run time here, for nothing of it is left at run time.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::as_conversions)]
const _: () = {
    const fn same_name(a: &str, b: &str) -> bool {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let mut i = 0;
        while i < a.len() && i < b.len() && a[i] == b[i] {
            i += 1;
        }
        i == a.len() && i == b.len()
    }

    const fn is_same_edge(a: &Transition, b: &Transition) -> bool {
        let from = match (a.from, b.from) {
            (At(x), At(y)) => same_name(x.name(), y.name()),
            (Within(x), Within(y)) => x as u8 == y as u8,
            _ => false,
        };
        let switch = match (a.switch, b.switch) {
            (Switch::Always, Switch::Always) | (BoundedRepairs, BoundedRepairs) => true,
            (RuleOn(x), RuleOn(y)) | (RuleOff(x), RuleOff(y)) => x as u8 == y as u8,
            _ => false,
        };
        from && switch && a.on as u8 == b.on as u8 && a.when as u8 == b.when as u8
    }

    let mut i = 0;
    while i < TRANSITIONS.len() {
        let mut j = i + 1;
        while j < TRANSITIONS.len() {
            assert!(
                !is_same_edge(&TRANSITIONS[i], &TRANSITIONS[j]),
                "two rows share switch, from, trigger and guard"
            );
            j += 1;
        }
        i += 1;
    }
};

impl Transition {
    /// Whether the policy switches this row on, and it fits state and trigger.
    #[must_use]
    pub fn is_enabled(&self, policy: &Policy, phase: Phase, trigger: Trigger) -> bool {
        self.on == trigger && self.from.contains(phase) && self.switch.is_on(policy)
    }

    /// Whether this row takes a cancel and goes on as before: the request is past being stopped.
    #[must_use]
    pub fn ignores_cancel(&self) -> bool {
        self.on == Trigger::Cancel && self.from == At(self.to)
    }
}

impl Switch {
    /// Whether the policy switches such a row on.
    #[must_use]
    pub const fn is_on(self, policy: &Policy) -> bool {
        match self {
            Self::Always => true,
            Self::RuleOn(rule) => policy.rules.has(rule),
            Self::RuleOff(rule) => !policy.rules.has(rule),
            Self::BoundedRepairs => matches!(policy.bounds.repairs, crate::policy::Bound::AtMost(_)),
        }
    }
}

impl TransitionSource {
    /// Whether a row that starts here starts in this state.
    #[must_use]
    pub fn contains(self, phase: Phase) -> bool {
        match self {
            At(at) => at == phase,
            Within(region) => phase.region() == Some(region),
        }
    }
}

impl TransitionId {
    /// The row of this name.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        TRANSITIONS.iter().find(|row| row.id == id).map(Self)
    }

    /// The name of a row. One that is not of the table is a mutant's, and is never read back from a trace.
    #[must_use]
    pub const fn from_transition(row: &'static Transition) -> Self {
        Self(row)
    }

    /// The row itself.
    #[must_use]
    pub const fn transition(self) -> &'static Transition {
        self.0
    }
}

/// The rows that the policy switches on for this state and trigger, in order of precedence.
pub fn enabled_transitions(
    policy: &Policy,
    phase: Phase,
    trigger: Trigger,
) -> impl Iterator<Item = &'static Transition> + use<'_> {
    TRANSITIONS.iter().filter(move |row| row.is_enabled(policy, phase, trigger))
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

/// Whether any row leads on from this state by itself, that is without the user cancelling.
#[must_use]
pub fn has_successor(policy: &Policy, phase: Phase) -> bool {
    Trigger::ALL
        .into_iter()
        .filter(|trigger| *trigger != Trigger::Cancel)
        .any(|trigger| enabled_transitions(policy, phase, trigger).next().is_some())
}

impl fmt::Debug for TransitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.transition().id)
    }
}

impl fmt::Display for TransitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.transition().id)
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::TransitionId;
    use alloc::format;
    use alloc::string::String;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    impl Serialize for TransitionId {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.transition().id)
        }
    }

    impl<'de> Deserialize<'de> for TransitionId {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let id = String::deserialize(deserializer)?;
            Self::from_id(&id)
                .ok_or_else(|| de::Error::custom(format!("no row of the transition table is called {id}")))
        }
    }
}
