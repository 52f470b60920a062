//! What happened so far in the running request, folded from events alone.
//!
//! It says again some of what [`orchestrion_kernel::State`] says, on purpose: the claims that read it do not trust the
//! kernel's own memory. It is written from the meaning of the events, holds no id that only counts up, and
//! forgets what no later event can depend on, so that it multiplies no states.

use alloc::vec::Vec;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::event::{
    Conclusion, Decision, DecisionLabel, EffectOutcome, Event, StoreStatus, StoreStatuses, TaskOutcome,
    TaskRecord, TaskResult,
};
use orchestrion_kernel::ids::{Revision, TaskId};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Failure, Operation, PerRole, Ratings, Report, Role, Stance, Store,
};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::policy::{Bound, Policy};
use orchestrion_kernel::score::Score;

/// The past of the running request; its default before one runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct History {
    /// A request runs.
    pub running: bool,
    /// Where control stands, once it moved.
    pub phase: Option<Phase>,
    /// What is being asked.
    pub pending_operation: Option<Operation>,
    /// Both identity locks matched.
    pub verified: bool,
    /// The round that was entered last.
    pub round: Option<Role>,
    /// The pass it belongs to; stops counting one above the policy's passes.
    pub pass: u32,
    /// Security vetoed some revision.
    pub vetoed: bool,
    /// Security's argument on the plan as it stands now.
    pub security: Option<Argument>,
    /// Whether the consensus on the plan as it stands now was enough to proceed.
    pub revision_cleared: Option<bool>,
    /// The approver said yes to the plan as it stands now.
    pub approved: bool,
    /// Whether the latest consensus, on whichever revision, was enough to proceed.
    pub meets_proceed_threshold: bool,
    /// Whether the latest consensus lay below the line for another pass.
    pub below_redebate_threshold: bool,
    /// The ratings that memory gave back.
    pub ratings: Ratings,
    /// Each role's latest argument.
    pub latest: PerRole<Option<Argument>>,
    /// The ratings after the duels.
    pub ratings_after: Option<Ratings>,
    /// The different decisions, the latest last; as revisions only count up, all are written as the first.
    pub decisions: Vec<Decision>,
    /// The plan was not let run.
    pub blocked: bool,
    /// The tasks of the plan as it stands now, with the effects that they declare.
    pub planned: Vec<(TaskId, EffectKind)>,
    /// How the tasks of the latest run ended, as they were answered.
    pub outcomes: Vec<TaskResult>,
    /// Security's objections to revisions that ran all the same, lowest first.
    pub overridden_objections: Vec<Score>,
    /// The tasks that were started, in order, with what became of their effects.
    pub tasks: Vec<TaskRecord>,
    /// Those of them that can be undone and stand, in order.
    pub undoable: Vec<TaskId>,
    /// In the latest run every task of the plan was answered with success.
    pub succeeded: bool,
    /// A task was lost in a crash: nobody knows whether it ran.
    pub task_lost: bool,
    /// Repairs that were started; stops counting one above the policy's bound.
    pub repairs: u32,
    /// A rollback was entered.
    pub rolled_back: bool,
    /// The user cancelled in time.
    pub cancelled: bool,
    /// What the stores hold by their own answers.
    pub holdings: StoreStatuses,
    /// Which stores were asked.
    pub stores_asked: (bool, bool),
    /// Memory records; stops counting at 2.
    pub memory_records: u8,
    /// Audit records; stops counting at 2.
    pub audit_records: u8,
    /// How often the audit sink was tried; stops counting one above the policy's attempts.
    pub audit_attempts: u32,
    /// The latest try failed.
    pub audit_failed: bool,
    /// It was said that the audit record is not delivered.
    pub undelivered: bool,
    /// Final answers; stops counting at 2.
    pub final_answers: u8,
    /// As what and why the request was concluded.
    pub ending: Option<Conclusion>,
    /// What the latest input brought.
    pub since_transition: SinceTransition,
}

/// What one input brought; forgotten once control has moved on it, so that it multiplies no states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SinceTransition {
    /// The question that was answered.
    pub answered: Option<Operation>,
    /// The question that was not, and how not.
    pub unanswered: Option<(Operation, Failure)>,
    /// A plan was adopted.
    pub planned: bool,
    /// A run was reported.
    pub reported: bool,
    /// The consensus was computed.
    pub scored: bool,
    /// The ratings moved.
    pub rated: bool,
    /// The decision that was taken.
    pub decided: Option<DecisionLabel>,
    /// The user cancelled.
    pub cancelled: bool,
}

impl History {
    /// Security's objection to the plan as it stands now.
    #[must_use]
    pub fn objection(&self) -> Option<Score> {
        self.security.filter(|argument| argument.stance == Stance::Con).map(|argument| argument.confidence)
    }

    /// Moves on past one event.
    pub fn observe(&mut self, policy: &Policy, event: &Event) {
        match event {
            Event::UserMsg { .. } => *self = Self { running: true, ..Self::default() },
            Event::ToolCall { operation: ask, .. } => self.call(policy, *ask),
            Event::ToolResult { report, .. } => {
                if let Some(ask) = self.pending_operation.take() {
                    self.since_transition.answered = Some(ask);
                    self.answered(policy, ask, report);
                }
            }
            Event::CallFailed { failure, .. } => {
                if let Some(ask) = self.pending_operation.take() {
                    self.since_transition.unanswered = Some((ask, *failure));
                    self.unanswered(ask, *failure);
                }
            }
            Event::Cancelled => {
                self.cancelled = true;
                self.since_transition.cancelled = true;
                self.pending_operation = None;
            }
            Event::PlanAdopted { plan, .. } => {
                self.since_transition.planned = true;
                self.planned = plan.tasks().iter().map(|task| (task.id, task.effect.kind())).collect();
                self.outcomes.clear();
                self.succeeded = false;
                self.security = None;
                self.revision_cleared = None;
                self.approved = false;
            }
            Event::ConsensusScored { score, .. } => {
                self.since_transition.scored = true;
                self.meets_proceed_threshold = *score >= policy.thresholds.proceed_from;
                self.below_redebate_threshold = *score < policy.thresholds.redebate_below;
                self.revision_cleared = Some(self.meets_proceed_threshold);
            }
            Event::Decided { decision } => {
                self.since_transition.decided = Some(decision.label);
                let decision = Decision { revision: Revision::FIRST, ..*decision };
                self.decisions.retain(|earlier| *earlier != decision);
                self.decisions.push(decision);
            }
            Event::RatingsUpdated { ratings } => {
                self.since_transition.rated = true;
                self.ratings_after = Some(*ratings);
            }
            Event::Concluded { conclusion: ending } => self.ending = Some(*ending),
            Event::AuditUndelivered => self.undelivered = true,
            Event::ExecutionReported { .. } => self.since_transition.reported = true,
            Event::MemoryRecorded { .. } => {
                self.memory_records = self.memory_records.saturating_add(1).min(2);
                self.forget_debate();
            }
            Event::AuditRecorded { .. } => self.audit_records = self.audit_records.saturating_add(1).min(2),
            Event::FinalAnswer { .. } => self.final_answers = self.final_answers.saturating_add(1).min(2),
            Event::Transitioned { row } => {
                self.since_transition = SinceTransition::default();
                self.on_transition(policy, row.transition().to);
            }
            _ => {}
        }
    }

    fn call(&mut self, policy: &Policy, ask: Operation) {
        self.pending_operation = Some(ask);
        match ask {
            Operation::RunTask { task, effect } => {
                self.overridden_objections.extend(self.objection());
                self.overridden_objections.sort_unstable();
                self.overridden_objections.dedup();
                self.tasks.retain(|record| record.task != task);
                self.undoable.retain(|undoable| *undoable != task);
                let effect_left = (effect != EffectKind::Pure).then_some(EffectOutcome::Kept);
                self.tasks.push(TaskRecord { task, effect: effect_left });
                if effect == EffectKind::Undoable {
                    self.undoable.push(task);
                }
            }
            Operation::DeliverAudit => {
                let most = policy.bounds.audit_attempts.saturating_add(1);
                self.audit_attempts = self.audit_attempts.saturating_add(1).min(most);
                self.audit_failed = false;
            }
            Operation::StoreMemory { store: Store::Local, .. } => self.stores_asked.0 = true,
            Operation::StoreMemory { store: Store::Cloud, .. } => self.stores_asked.1 = true,
            _ => {}
        }
    }

    fn answered(&mut self, policy: &Policy, ask: Operation, report: &Report) {
        match (ask, report) {
            (Operation::VerifyIdentity, Report::Identity { gcp, mongodb }) => {
                self.verified = *gcp && *mongodb
            }
            (Operation::LoadContext, Report::Context { ratings, .. }) => self.ratings = *ratings,
            (
                Operation::Argue(Role::Security) | Operation::ReviewRevision,
                Report::Argument { argument, .. },
            ) => {
                self.latest.security = Some(*argument);
                self.security = Some(*argument);
                self.vetoed |= argument.is_objection_at_least(policy.thresholds.veto_from);
            }
            (Operation::Argue(role), Report::Argument { argument, .. }) => {
                *self.latest.get_mut(role) = Some(*argument)
            }
            (Operation::Approve, Report::Approval { approved, .. }) => self.approved = *approved,
            (Operation::RunTask { task, .. }, Report::Exit { code, .. }) => self.ended(
                task,
                match code {
                    0 => TaskOutcome::Succeeded,
                    code => TaskOutcome::Exited(*code),
                },
            ),
            (Operation::UndoTask { task }, Report::Exit { code, .. }) => {
                self.set_effect_outcome(
                    task,
                    if *code == 0 { EffectOutcome::Undone } else { EffectOutcome::UndoFailed },
                );
            }
            (Operation::StoreMemory { store, .. }, Report::Stored { held }) => {
                *self.holding(store) = if *held { StoreStatus::Held } else { StoreStatus::Missing };
            }
            _ => {}
        }
    }

    fn unanswered(&mut self, ask: Operation, failure: Failure) {
        match ask {
            Operation::RunTask { task, .. } => {
                self.task_lost |= failure == Failure::OutcomeUnknown;
                self.ended(task, TaskOutcome::NoResult(failure));
            }
            Operation::DeliverAudit => self.audit_failed = true,
            Operation::UndoTask { task } => self.set_effect_outcome(task, EffectOutcome::UndoFailed),
            Operation::StoreMemory { store, .. } => *self.holding(store) = StoreStatus::from_failure(failure),
            _ => {}
        }
    }

    fn ended(&mut self, task: TaskId, ended: TaskOutcome) {
        self.outcomes.push(TaskResult { task, outcome: ended });
        self.succeeded =
            self.outcomes.iter().map(|outcome| outcome.task).eq(self.planned.iter().map(|(task, _)| *task))
                && self.outcomes.iter().all(|outcome| outcome.outcome == TaskOutcome::Succeeded);
    }

    /// The latest decision.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.decisions.last()
    }

    /// As what the request ends, by what happened.
    #[must_use]
    pub const fn kind(&self) -> ConclusionKind {
        if self.rolled_back {
            ConclusionKind::RolledBack
        } else if self.blocked {
            ConclusionKind::Blocked
        } else if self.succeeded {
            ConclusionKind::Outcome
        } else {
            ConclusionKind::Aborted
        }
    }

    fn set_effect_outcome(&mut self, task: TaskId, end: EffectOutcome) {
        self.undoable.retain(|undoable| *undoable != task);
        for record in self.tasks.iter_mut().filter(|record| record.task == task) {
            record.effect = Some(end);
        }
    }

    const fn holding(&mut self, store: Store) -> &mut StoreStatus {
        match store {
            Store::Local => &mut self.holdings.local,
            Store::Cloud => &mut self.holdings.cloud,
        }
    }

    fn on_transition(&mut self, policy: &Policy, to: Phase) {
        let from = self.phase.replace(to);
        match to {
            Phase::Round(role) => {
                if from == Some(Phase::MultiPassCheck) {
                    self.latest = PerRole { analyst: self.latest.analyst, ..PerRole::default() };
                    self.security = None;
                    self.revision_cleared = None;
                }
                if self.round.is_none() || from == Some(Phase::MultiPassCheck) {
                    self.pass = self.pass.saturating_add(1).min(policy.bounds.passes.saturating_add(1));
                }
                self.round = Some(role);
            }
            Phase::SelfHealingActive => {
                if let Bound::AtMost(most) = policy.bounds.repairs {
                    self.repairs = self.repairs.saturating_add(1).min(most.saturating_add(1));
                }
            }
            Phase::RunningTasks if from != Some(Phase::RunningTasks) => {
                self.outcomes.clear();
                self.succeeded = false;
            }
            Phase::Blocked => self.blocked = true,
            Phase::RollbackActive => self.rolled_back = true,
            to if to.is_quiescent() => *self = Self::default(),
            _ => {}
        }
    }

    /// Once the memory record is written, nothing may run any more; what was said of the plan is moot.
    fn forget_debate(&mut self) {
        self.round = None;
        self.latest = PerRole::default();
        self.ratings = Ratings::default();
        self.planned.clear();
        self.outcomes.clear();
        self.pass = 0;
        self.vetoed = false;
        self.security = None;
        self.revision_cleared = None;
        self.approved = false;
        self.meets_proceed_threshold = false;
        self.below_redebate_threshold = false;
    }
}
