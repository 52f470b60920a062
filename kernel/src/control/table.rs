//! The transition table: every edge of the control FSM, as data.
//!
//! Rows are in order of precedence. `decide` takes the first row that the policy enables, that matches phase and trigger,
//! and whose guard holds; without such a row it refuses the input. It first emits the events of the input (result, items,
//! veto, plan), then those of the row's columns: exit actions, conclusion, the transition itself, entry actions. Exit and
//! entry actions are two columns because the work that completes a phase (a score, a decision, a report) is recorded before
//! the phase changes, and the call of the next phase after it; several rows have both.
//!
//! The letter of an id names the origin of the row: T rows are 004's drawing and table, H rows close a finding, D rows call
//! additional debaters, P rows run tasks in parallel, A rows call an approver, E rows handle a failed call, X rows cancel,
//! K rows compact, S rows open and close a session. A resume changes no phase, so it has no row. Diagrams, the reference page,
//! and the exported models are generated from this table.

pub use super::transition::{Switch, Transition, TransitionId, TransitionSource};

use super::guard::Guard;
use super::phase::{Phase, Region};
use super::transition::{CauseKind, ConclusionRule, DecisionKind, EntryAction, ExitAction};
use super::trigger::Trigger;
use crate::module::{ConclusionKind, Operation, Role, Store};
use crate::policy::{Policy, Rule};

use DecisionKind::{Outdate, Proceed, Reject, Veto};
use EntryAction::{
    Call, CallAdditionalDebater, CountRepair, RecordAudit, RecordMemory, StartTask, StoreMemory, UndoNext,
};
use ExitAction::{AbandonAudit, Decide, FinalAnswer, ReportExecution, ScoreConsensus, UpdateRatings};
use Guard::*;
use Operation::{
    Approve, Argue, Classify, DeliverAudit, Diagnose, DraftPlan, LoadContext, ReviewRevision, Summarize,
    VerifyIdentity,
};
use Phase::*;
use Role::{Analyst, Critic, Optimizer, Security, Solution};
use Rule::{
    Approver, AuditedAbort, ClearedRevisions, Compaction, CurrentFacts, ErrorRows, NextRequest, RollbackEnds,
    VetoEndsDebate,
};
use Store::{Cloud, Local};
use Switch::{AdditionalDebaters, BoundedRepairs, RuleOff, RuleOn};
use TransitionSource::{Phase as At, Region as Within};
use Trigger::{CallFailed, Cancel, Reply, SessionEnd, SessionStart, Step, UserMessage};

const ANY: Switch = Switch::Always;

/// The table.
#[rustfmt::skip]
pub const TRANSITIONS: &[Transition] = &[
    //  id     clause           switch                     from                                on            when                exit actions                        conclusion                                to                    entry actions                        label
    row("S01", "000-1.3",       ANY,                       At(Idle),                           SessionStart, Always,             &[],                                None,                                     Idle,                 &[],                                 "the session opens"),
    row("S02", "000-2.11",      ANY,                       At(Idle),                           SessionEnd,   Always,             &[],                                None,                                     Idle,                 &[],                                 "the session closes; its working set is forgotten"),

    row("T01", "004-2.1",       ANY,                       At(Idle),                           UserMessage,  Always,             &[],                                None,                                     VerifyingIdentity,    &[Call(VerifyIdentity)],             "Request Submitted"),
    row("T02", "004-1.4",       ANY,                       At(VerifyingIdentity),              Reply,        LocksMatch,         &[],                                None,                                     IdentityVerified,     &[],                                 "Success (GCP & MongoDB locks match)"),
    row("H01", "F1",            RuleOn(AuditedAbort),      At(VerifyingIdentity),              Reply,        Always,             &[],                                aborted(CauseKind::IdentityMismatch),     Auditing,             &[RecordAudit, Call(DeliverAudit)],  "Identity Mismatch, audited"),
    row("T03", "004-2.2",       RuleOff(AuditedAbort),     At(VerifyingIdentity),              Reply,        Always,             &[],                                aborted(CauseKind::IdentityMismatch),     Aborted,              &[],                                 "Identity Mismatch (Halt), sys.exit(1)"),
    row("K01", "000-6.9",       RuleOn(Compaction),        At(IdentityVerified),               Step,         CompactionDue,      &[],                                None,                                     Compacting,           &[Call(Summarize)],                  "a cluster of items is summarized"),
    row("K02", "000-6.12",      RuleOn(Compaction),        At(Compacting),                     Reply,        Always,             &[],                                None,                                     LoadingContext,       &[Call(LoadContext)],                "the summary replaces the items that it forgets"),
    row("K03", "decision 0021", RuleOn(Compaction),        At(Compacting),                     CallFailed,   Always,             &[],                                None,                                     LoadingContext,       &[Call(LoadContext)],                "no summary: nothing is forgotten"),
    row("T04", "004-1.6",       ANY,                       At(IdentityVerified),               Step,         Always,             &[],                                None,                                     LoadingContext,       &[Call(LoadContext)],                "Reload past ELO and traces"),
    row("T05", "004-1.7",       ANY,                       At(LoadingContext),                 Reply,        Always,             &[],                                None,                                     Classifying,          &[Call(Classify)],                   "Tagging & Cosine similarity lookups"),
    row("T06", "004-1.8",       ANY,                       At(Classifying),                    Reply,        Always,             &[],                                None,                                     Planning,             &[Call(DraftPlan)],                  "build_initial_plan()"),

    row("T07", "004-2.3",       ANY,                       At(Planning),                       Reply,        Always,             &[],                                None,                                     Round(Analyst),       &[Call(Argue(Analyst))],             "Trigger run_debate(): baseline plan drafted"),
    row("T08", "004-1.11",      ANY,                       At(Round(Analyst)),                 Reply,        Always,             &[],                                None,                                     Round(Solution),      &[Call(Argue(Solution))],            "the Analyst has argued"),
    row("T09", "004-1.12",      ANY,                       At(Round(Solution)),                Reply,        Always,             &[],                                None,                                     Round(Critic),        &[Call(Argue(Critic))],              "Solution has argued and may have revised the plan"),
    row("T10", "004-1.13",      ANY,                       At(Round(Critic)),                  Reply,        Always,             &[],                                None,                                     Round(Security),      &[Call(Argue(Security))],            "the Critic has argued"),
    row("T11", "004-1.14",      ANY,                       At(Round(Security)),                Reply,        Always,             &[],                                None,                                     Round(Optimizer),     &[Call(Argue(Optimizer))],           "Security has argued"),
    row("H02", "F9",            RuleOn(ClearedRevisions),  At(Round(Optimizer)),               Reply,        PlanRevised,        &[],                                None,                                     PlanReview,           &[Call(ReviewRevision)],             "Security reviews the Optimizer's revision"),
    row("D01", "decision 0039", AdditionalDebaters,        At(Round(Optimizer)),               Reply,        Always,             &[],                                None,                                     AdditionalRounds,     &[CallAdditionalDebater],            "the Optimizer has argued: additional debaters"),
    row("T12", "004-1.15",      ANY,                       At(Round(Optimizer)),               Reply,        Always,             &[],                                None,                                     MultiPassCheck,       &[],                                 "Evaluate consensus confidence"),
    row("D02", "decision 0039", AdditionalDebaters,        At(PlanReview),                     Reply,        Always,             &[],                                None,                                     AdditionalRounds,     &[CallAdditionalDebater],            "Security has reviewed the revision: additional debaters"),
    row("H03", "F9",            RuleOn(ClearedRevisions),  At(PlanReview),                     Reply,        Always,             &[],                                None,                                     MultiPassCheck,       &[],                                 "Evaluate consensus confidence on the new revision"),
    row("D03", "decision 0039", AdditionalDebaters,        At(AdditionalRounds),               Reply,        MoreDebaters,       &[],                                None,                                     AdditionalRounds,     &[CallAdditionalDebater],            "the next additional debater"),
    row("D04", "decision 0039", AdditionalDebaters,        At(AdditionalRounds),               Reply,        Always,             &[],                                None,                                     MultiPassCheck,       &[],                                 "Evaluate consensus confidence with the additional arguments"),
    row("H04", "F11",           RuleOn(VetoEndsDebate),    At(MultiPassCheck),                 Step,         Vetoed,             &[ScoreConsensus],                  None,                                     Aggregating,          &[],                                 "a veto ends the debate"),
    row("T13", "004-2.4",       ANY,                       At(MultiPassCheck),                 Step,         AnotherPass,        &[ScoreConsensus],                  None,                                     Round(Solution),      &[Call(Argue(Solution))],            "Re-debate (Rule-of-3 if confidence < 0.8)"),
    row("T14", "004-1.17",      ANY,                       At(MultiPassCheck),                 Step,         Always,             &[ScoreConsensus],                  None,                                     Aggregating,          &[],                                 "Confidence threshold met / turn limit hit"),

    row("T15", "004-1.19",      ANY,                       At(Aggregating),                    Step,         Always,             &[],                                None,                                     CalculatingConsensus, &[],                                 "arguments collected"),
    row("T16", "004-1.20",      ANY,                       At(CalculatingConsensus),           Step,         Always,             &[ScoreConsensus],                  None,                                     EloDuels,             &[],                                 "Resolve Weights & duels"),
    row("T17", "004-1.21",      ANY,                       At(EloDuels),                       Step,         Always,             &[UpdateRatings],                   None,                                     ResolvingDecision,    &[],                                 "ratings updated"),
    row("T18", "004-3.1",       ANY,                       At(ResolvingDecision),              Step,         Vetoed,             &[Decide(Veto)],                    blocked(CauseKind::Vetoed),               Blocked,              &[],                                 "VETO (Security anomaly found)"),
    row("T19", "004-3.2",       ANY,                       At(ResolvingDecision),              Step,         BelowProceed,       &[Decide(Reject)],                  blocked(CauseKind::Rejected),             Blocked,              &[],                                 "REJECT (consensus too low)"),
    row("H12", "F18",           RuleOn(CurrentFacts),      At(ResolvingDecision),              Step,         OutdatedPassesLeft, &[Decide(Outdate)],                 None,                                     Round(Solution),      &[Call(Argue(Solution))],            "facts changed since Security's review: re-debate"),
    row("H13", "F18",           RuleOn(CurrentFacts),      At(ResolvingDecision),              Step,         Outdated,           &[Decide(Outdate)],                 blocked(CauseKind::PlanOutdated),         Blocked,              &[],                                 "facts changed since Security's review, no pass left"),
    row("A01", "decision 0013", RuleOn(Approver),          At(ResolvingDecision),              Step,         Always,             &[Decide(Proceed)],                 None,                                     PlanApproval,         &[Call(Approve)],                    "PROCEED, if the approver approves"),
    row("T20", "004-3.3",       ANY,                       At(ResolvingDecision),              Step,         Always,             &[Decide(Proceed)],                 None,                                     RunningTasks,         &[StartTask],                        "PROCEED (Consensus reached): execute_plan()"),
    row("H14", "F18",           RuleOn(CurrentFacts),      At(PlanApproval),                   Reply,        OutdatedApproved,   &[],                                None,                                     ResolvingDecision,    &[],                                 "facts changed before the approval: decided again"),
    row("A02", "decision 0013", RuleOn(Approver),          At(PlanApproval),                   Reply,        Approved,           &[],                                None,                                     RunningTasks,         &[StartTask],                        "approved: execute_plan()"),
    row("A03", "decision 0013", RuleOn(Approver),          At(PlanApproval),                   Reply,        Always,             &[],                                blocked(CauseKind::NotApproved),          Blocked,              &[],                                 "the approver declines the plan"),

    row("P01", "decision 0040", ANY,                       At(RunningTasks),                   Reply,        TasksRunning,       &[],                                None,                                     RunningTasks,         &[],                                 "a task ended, others run"),
    row("P02", "decision 0040", RuleOn(ErrorRows),         At(RunningTasks),                   Reply,        OutcomeUnknown,     &[],                                rolled_back(CauseKind::CallFailed),       RollbackActive,       &[UndoNext],                         "the outcome of an earlier task is unknown: the effects are undone"),
    row("H15", "F18",           RuleOn(CurrentFacts),      At(RunningTasks),                   Reply,        OutdatedMoreTasks,  &[Decide(Outdate)],                 None,                                     RepairReview,         &[Call(ReviewRevision)],             "facts changed before the next task: Security reviews the plan"),
    row("P05", "decision 0040", ANY,                       At(RunningTasks),                   Step,         TaskCanStart,       &[],                                None,                                     RunningTasks,         &[StartTask],                        "a task starts beside the running ones"),
    row("T21", "004-1.24",      ANY,                       At(RunningTasks),                   Reply,        MoreTasks,          &[],                                None,                                     RunningTasks,         &[StartTask],                        "the next task"),
    row("T22", "004-1.25",      ANY,                       At(RunningTasks),                   Reply,        Always,             &[ReportExecution],                 None,                                     AssertingOutcomes,    &[],                                 "Build execution report"),
    row("T23", "004-1.27",      ANY,                       At(AssertingOutcomes),              Step,         AllSucceeded,       &[],                                outcome(CauseKind::Completed),            Success,              &[],                                 "All tasks returned success"),
    row("T24", "004-2.6",       ANY,                       At(AssertingOutcomes),              Step,         Always,             &[],                                None,                                     Failure,              &[],                                 "Task returned error"),
    row("H05", "F3",            BoundedRepairs,            At(Failure),                        Step,         RepairsExhausted,   &[],                                rolled_back(CauseKind::RepairsExhausted), RollbackActive,       &[UndoNext],                         "no further repair is allowed"),
    row("T25", "004-1.29",      ANY,                       At(Failure),                        Step,         Always,             &[],                                None,                                     SelfHealingActive,    &[CountRepair, Call(Diagnose)],      "Trigger Self-Healing"),
    row("H06", "F10",           RuleOn(ClearedRevisions),  At(SelfHealingActive),              Reply,        PlanRevised,        &[],                                None,                                     RepairReview,         &[Call(ReviewRevision)],             "Security reviews the repaired plan"),
    row("T26", "004-1.30",      RuleOff(ClearedRevisions), At(SelfHealingActive),              Reply,        PlanRevised,        &[],                                None,                                     RunningTasks,         &[StartTask],                        "Repaired plan loaded"),
    row("T27", "004-2.7",       ANY,                       At(SelfHealingActive),              Reply,        Always,             &[],                                rolled_back(CauseKind::NoRepair),         RollbackActive,       &[UndoNext],                         "Repair aborted / failed"),
    row("H07", "F10",           RuleOn(ClearedRevisions),  At(RepairReview),                   Reply,        Always,             &[],                                None,                                     RepairScoring,        &[],                                 "Security has reviewed the plan"),
    row("H16", "F18",           RuleOn(CurrentFacts),      At(RepairScoring),                  Step,         Outdated,           &[ScoreConsensus, Decide(Outdate)], rolled_back(CauseKind::PlanOutdated),     RollbackActive,       &[UndoNext],                         "facts changed again since Security's review"),
    row("A04", "decision 0013", RuleOn(Approver),          At(RepairScoring),                  Step,         RepairCleared,      &[ScoreConsensus, Decide(Proceed)], None,                                     RepairApproval,       &[Call(Approve)],                    "reviewed plan cleared, if the approver approves"),
    row("H08", "F10",           RuleOn(ClearedRevisions),  At(RepairScoring),                  Step,         RepairCleared,      &[ScoreConsensus, Decide(Proceed)], None,                                     RunningTasks,         &[StartTask],                        "reviewed plan cleared and loaded"),
    row("H09", "F10",           RuleOn(ClearedRevisions),  At(RepairScoring),                  Step,         Always,             &[ScoreConsensus],                  rolled_back(CauseKind::PlanNotCleared),   RollbackActive,       &[UndoNext],                         "reviewed plan not cleared"),
    row("H17", "F18",           RuleOn(CurrentFacts),      At(RepairApproval),                 Reply,        OutdatedApproved,   &[],                                None,                                     RepairScoring,        &[],                                 "facts changed before the approval: decided again"),
    row("A05", "decision 0013", RuleOn(Approver),          At(RepairApproval),                 Reply,        Approved,           &[],                                None,                                     RunningTasks,         &[StartTask],                        "reviewed plan approved and loaded"),
    row("A06", "decision 0013", RuleOn(Approver),          At(RepairApproval),                 Reply,        Always,             &[],                                rolled_back(CauseKind::NotApproved),      RollbackActive,       &[UndoNext],                         "the approver declines the reviewed plan"),
    row("T28", "004-2.15",      ANY,                       At(RollbackActive),                 Reply,        Always,             &[],                                None,                                     RollbackActive,       &[UndoNext],                         "the next reverse-rollback operation"),
    row("H10", "F2",            RuleOn(RollbackEnds),      At(RollbackActive),                 Step,         Always,             &[],                                None,                                     StoringMemory,        &[RecordMemory, StoreMemory(Local)], "Rollback complete, stored as rolled back"),
    row("T29", "004-1.32",      RuleOff(RollbackEnds),     At(RollbackActive),                 Step,         Always,             &[],                                None,                                     RollbackComplete,     &[],                                 "Rollback complete"),

    row("T30", "004-2.8",       ANY,                       At(Success),                        Step,         Always,             &[],                                None,                                     StoringMemory,        &[RecordMemory, StoreMemory(Local)], "store_all_in_memory()"),
    row("T31", "004-1.34",      ANY,                       At(Blocked),                        Step,         Always,             &[],                                None,                                     StoringMemory,        &[RecordMemory, StoreMemory(Local)], "store_all_in_memory() of a blocked plan"),
    row("T32", "004-2.16",      ANY,                       At(StoringMemory),                  Reply,        MoreStores,         &[],                                None,                                     StoringMemory,        &[StoreMemory(Cloud)],               "local SQLite called, cloud Atlas next"),
    row("T33", "004-1.35",      ANY,                       At(StoringMemory),                  Reply,        Always,             &[],                                None,                                     Auditing,             &[RecordAudit, Call(DeliverAudit)],  "audit_log()"),
    row("H11", "F16",           RuleOn(NextRequest),       At(Auditing),                       Reply,        Always,             &[FinalAnswer],                     None,                                     Idle,                 &[],                                 "Output results & trace_id, ready for the next request"),
    row("T34", "004-1.36",      RuleOff(NextRequest),      At(Auditing),                       Reply,        Always,             &[FinalAnswer],                     None,                                     Done,                 &[],                                 "Output results & trace_id"),

    row("E01", "F14",           RuleOn(ErrorRows),         At(VerifyingIdentity),              CallFailed,   Always,             &[],                                aborted(CauseKind::CallFailed),           Auditing,             &[RecordAudit, Call(DeliverAudit)],  "the identity could not be verified"),
    row("E02", "F14",           RuleOn(ErrorRows),         Within(Region::Preparation),        CallFailed,   Always,             &[],                                aborted(CauseKind::CallFailed),           StoringMemory,        &[RecordMemory, StoreMemory(Local)], "no context, or no tags"),
    row("E03", "F14",           RuleOn(ErrorRows),         At(Planning),                       CallFailed,   Always,             &[],                                aborted(CauseKind::CallFailed),           StoringMemory,        &[RecordMemory, StoreMemory(Local)], "no plan"),
    row("E04", "F14",           RuleOn(ErrorRows),         Within(Region::ArenaDebate),        CallFailed,   Always,             &[],                                blocked(CauseKind::CallFailed),           Blocked,              &[],                                 "an argument is missing: the debate reaches no decision"),
    row("P03", "decision 0040", RuleOn(ErrorRows),         At(RunningTasks),                   CallFailed,   TasksRunning,       &[],                                None,                                     RunningTasks,         &[],                                 "no task result, other tasks run"),
    row("E15", "decision 0015", RuleOn(ErrorRows),         At(RunningTasks),                   CallFailed,   OutcomeUnknown,     &[],                                rolled_back(CauseKind::CallFailed),       RollbackActive,       &[UndoNext],                         "the outcome of the task is unknown: its effects are undone"),
    row("H18", "F18",           RuleOn(ErrorRows),         At(RunningTasks),                   CallFailed,   OutdatedMoreTasks,  &[Decide(Outdate)],                 None,                                     RepairReview,         &[Call(ReviewRevision)],             "no task result, facts changed before the next task: Security reviews the plan"),
    row("P04", "decision 0040", RuleOn(ErrorRows),         At(RunningTasks),                   CallFailed,   MoreTasks,          &[],                                None,                                     RunningTasks,         &[StartTask],                        "no task result: a task that does not depend on it starts"),
    row("E05", "F14",           RuleOn(ErrorRows),         At(RunningTasks),                   CallFailed,   Always,             &[ReportExecution],                 None,                                     AssertingOutcomes,    &[],                                 "no task result: the task failed"),
    row("E06", "F14",           RuleOn(ErrorRows),         At(SelfHealingActive),              CallFailed,   Always,             &[],                                rolled_back(CauseKind::CallFailed),       RollbackActive,       &[UndoNext],                         "Critic fails to diagnose failure"),
    row("E07", "F14",           RuleOn(ErrorRows),         At(RepairReview),                   CallFailed,   Always,             &[],                                rolled_back(CauseKind::CallFailed),       RollbackActive,       &[UndoNext],                         "the plan was not reviewed"),
    row("E13", "F14",           RuleOn(ErrorRows),         At(PlanApproval),                   CallFailed,   Always,             &[],                                blocked(CauseKind::CallFailed),           Blocked,              &[],                                 "the plan was not approved"),
    row("E14", "F14",           RuleOn(ErrorRows),         At(RepairApproval),                 CallFailed,   Always,             &[],                                rolled_back(CauseKind::CallFailed),       RollbackActive,       &[UndoNext],                         "the reviewed plan was not approved"),
    row("E08", "F14",           RuleOn(ErrorRows),         At(RollbackActive),                 CallFailed,   Always,             &[],                                None,                                     RollbackActive,       &[UndoNext],                         "an effect could not be undone; the next one"),
    row("E09", "F14",           RuleOn(ErrorRows),         At(StoringMemory),                  CallFailed,   MoreStores,         &[],                                None,                                     StoringMemory,        &[StoreMemory(Cloud)],               "the local store failed; cloud Atlas next"),
    row("E10", "F14",           RuleOn(ErrorRows),         At(StoringMemory),                  CallFailed,   Always,             &[],                                None,                                     Auditing,             &[RecordAudit, Call(DeliverAudit)],  "the cloud store failed; audit_log()"),
    row("E11", "F14",           RuleOn(ErrorRows),         At(Auditing),                       CallFailed,   AttemptsLeft,       &[],                                None,                                     Auditing,             &[Call(DeliverAudit)],               "the audit record is sent again"),
    row("E12", "F14",           RuleOn(ErrorRows),         At(Auditing),                       CallFailed,   Always,             &[AbandonAudit, FinalAnswer],       None,                                     Idle,                 &[],                                 "audit undelivered; Output results & trace_id"),

    row("X01", "000-4.4",       RuleOn(Rule::Cancel),      At(VerifyingIdentity),              Cancel,       Always,             &[],                                aborted(CauseKind::Cancelled),            Auditing,             &[RecordAudit, Call(DeliverAudit)],  "cancelled before the identity was verified"),
    row("X02", "000-4.4",       RuleOn(Rule::Cancel),      At(IdentityVerified),               Cancel,       Always,             &[],                                aborted(CauseKind::Cancelled),            StoringMemory,        &[RecordMemory, StoreMemory(Local)], "cancelled before the debate"),
    row("X03", "000-4.4",       RuleOn(Rule::Cancel),      Within(Region::Preparation),        Cancel,       Always,             &[],                                aborted(CauseKind::Cancelled),            StoringMemory,        &[RecordMemory, StoreMemory(Local)], "cancelled before the debate"),
    row("X04", "000-4.4",       RuleOn(Rule::Cancel),      Within(Region::ArenaDebate),        Cancel,       Always,             &[],                                aborted(CauseKind::Cancelled),            StoringMemory,        &[RecordMemory, StoreMemory(Local)], "cancelled while planning or debating"),
    row("X05", "000-4.4",       RuleOn(Rule::Cancel),      Within(Region::AggregationEngine),  Cancel,       Always,             &[],                                aborted(CauseKind::Cancelled),            StoringMemory,        &[RecordMemory, StoreMemory(Local)], "cancelled before anything ran"),
    row("X06", "000-4.4",       RuleOn(Rule::Cancel),      At(Blocked),                        Cancel,       Always,             &[],                                None,                                     StoringMemory,        &[RecordMemory, StoreMemory(Local)], "cancelled after the decision: it stays blocked"),
    row("X07", "000-4.4",       RuleOn(Rule::Cancel),      At(RollbackActive),                 Cancel,       Always,             &[],                                None,                                     RollbackActive,       &[],                                 "cancelled during the rollback: no effect"),
    row("X08", "000-4.4",       RuleOn(Rule::Cancel),      Within(Region::SandboxedExecution), Cancel,       Always,             &[],                                rolled_back(CauseKind::Cancelled),        RollbackActive,       &[UndoNext],                         "cancelled during the run: its effects are undone"),
    row("X09", "000-4.4",       RuleOn(Rule::Cancel),      At(StoringMemory),                  Cancel,       Always,             &[],                                None,                                     StoringMemory,        &[],                                 "cancelled too late: no effect"),
    row("X10", "000-4.4",       RuleOn(Rule::Cancel),      At(Auditing),                       Cancel,       Always,             &[],                                None,                                     Auditing,             &[],                                 "cancelled too late: no effect"),
];

#[allow(clippy::too_many_arguments, reason = "a row has as many columns")]
const fn row(
    id: &'static str,
    clause: &'static str,
    switch: Switch,
    from: TransitionSource,
    on: Trigger,
    when: Guard,
    exit: &'static [ExitAction],
    conclusion: Option<ConclusionRule>,
    to: Phase,
    entry: &'static [EntryAction],
    label: &'static str,
) -> Transition {
    Transition { id, clause, switch, from, on, when, exit, conclusion, to, entry, label }
}

const fn outcome(cause: CauseKind) -> Option<ConclusionRule> {
    Some(ConclusionRule { kind: ConclusionKind::Outcome, cause })
}

const fn blocked(cause: CauseKind) -> Option<ConclusionRule> {
    Some(ConclusionRule { kind: ConclusionKind::Blocked, cause })
}

const fn rolled_back(cause: CauseKind) -> Option<ConclusionRule> {
    Some(ConclusionRule { kind: ConclusionKind::RolledBack, cause })
}

const fn aborted(cause: CauseKind) -> Option<ConclusionRule> {
    Some(ConclusionRule { kind: ConclusionKind::Aborted, cause })
}

/// The rows that the policy enables for this phase and trigger, in order of precedence.
pub fn enabled_transitions(
    policy: &Policy,
    phase: Phase,
    trigger: Trigger,
) -> impl Iterator<Item = &'static Transition> + use<'_> {
    TRANSITIONS.iter().filter(move |row| row.is_enabled(policy, phase, trigger))
}

impl TransitionId {
    /// The row with this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        TRANSITIONS.iter().find(|row| row.id == id).map(Self::from_transition)
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
            Self::from_id(&id).ok_or_else(|| {
                de::Error::custom(format!("unknown transition: expected an id of the table, found {id}"))
            })
        }
    }
}
