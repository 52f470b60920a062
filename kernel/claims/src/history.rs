//! The history of the running request, folded from events alone.
//!
//! It repeats a part of [`orchestrion_kernel::State`] on purpose: claims that read it do not depend on the kernel's state. It holds
//! no id that only increases, and drops what no later event depends on, so that it multiplies no states.

mod run;

pub use run::{PendingAssignment, PlannedTask, TaskOutput, WorkflowHistory};

use crate::reference::debate::objects;
use crate::reference::items::reads;
use crate::reference::plans;
use alloc::vec::Vec;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::event::{
    Conclusion, Decision, DecisionLabel, EffectOutcome, Event, StoreStatus, StoreStatuses, TaskOutcome,
    TaskRecord, TaskResult,
};
use orchestrion_kernel::ids::{CallId, Revision, TaskId, Text};
use orchestrion_kernel::item::{Scope, Validity};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Failure, Operation, PerRole, Ratings, Report, Role, Stance, Store,
};
use orchestrion_kernel::network::WorkflowStatus;
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::policy::{Bound, Policy};
use orchestrion_kernel::score::Score;

/// The history of the running request. The default is the history before any request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct History {
    /// A request runs.
    pub running: bool,
    /// The phase after the latest transition.
    pub phase: Option<Phase>,
    /// The pending calls, in id order.
    pub pending: Vec<(CallId, Operation)>,
    /// Both identity locks matched.
    pub verified: bool,
    /// The round that control entered last.
    pub round: Option<Role>,
    /// The pass of that round; saturates one above the policy's bound.
    pub pass: u32,
    /// Security vetoed some revision.
    pub vetoed: bool,
    /// Security's argument about the current revision.
    pub security: Option<Argument>,
    /// The scope of the request.
    pub scope: Scope,
    /// How far Security's latest review of the plan still counts.
    pub review: ReviewStatus,
    /// Whether the current revision has a consensus at or above the proceed threshold.
    pub revision_cleared: Option<bool>,
    /// The approver agreed to the current revision.
    pub approved: bool,
    /// The latest decision on the current revision is to proceed.
    pub revision_proceeds: bool,
    /// Whether the latest consensus, for any revision, is at or above the proceed threshold.
    pub meets_proceed_threshold: bool,
    /// Whether the latest consensus is below the re-debate threshold.
    pub below_redebate_threshold: bool,
    /// The ratings that memory returned.
    pub ratings: Ratings,
    /// Each role's latest argument.
    pub latest: PerRole<Option<Argument>>,
    /// The arguments of the additional debaters in the current pass, in order.
    pub additional: Vec<Argument>,
    /// The ratings after the duels.
    pub ratings_after: Option<Ratings>,
    /// The distinct decisions, the latest last. All have the first revision, because revisions only increase.
    pub decisions: Vec<Decision>,
    /// The decision did not let the plan run.
    pub blocked: bool,
    /// The tasks of the current revision.
    pub tasks_planned: Vec<PlannedTask>,
    /// The nodes of the pending calls, in the order of calls.
    pub assignments: Vec<PendingAssignment>,
    /// The workflow of the current revision.
    pub workflow: WorkflowHistory,
    /// The outcomes of the tasks of the latest run, in the order of task numbers.
    pub outcomes: Vec<TaskResult>,
    /// Security's objections to revisions that ran nevertheless, lowest first.
    pub overridden_objections: Vec<Score>,
    /// The started tasks in order, with the outcomes of their effects.
    pub task_records: Vec<TaskRecord>,
    /// The started tasks whose effect can still be undone, in order.
    pub undoable: Vec<TaskId>,
    /// The outputs of the tasks that are done, in the order of task numbers.
    pub outputs: Vec<TaskOutput>,
    /// The text that the stores receive.
    pub answer: Option<Text>,
    /// Every task of the latest run succeeded.
    pub succeeded: bool,
    /// A crash lost a task: its outcome is unknown.
    pub task_lost: bool,
    /// The number of started repairs; saturates one above the policy's bound.
    pub repairs: u32,
    /// A rollback was entered.
    pub rolled_back: bool,
    /// The user cancelled in time.
    pub cancelled: bool,
    /// The store statuses by the replies of the stores.
    pub store_statuses: StoreStatuses,
    /// Whether the local and the cloud store were called.
    pub stores_called: (bool, bool),
    /// The number of memory records; saturates at 2.
    pub memory_records: u8,
    /// The number of audit records; saturates at 2.
    pub audit_records: u8,
    /// The number of audit deliveries; saturates one above the policy's bound.
    pub audit_attempts: u32,
    /// The latest delivery failed.
    pub audit_failed: bool,
    /// `AuditUndelivered` was recorded.
    pub undelivered: bool,
    /// The number of final answers; saturates at 2.
    pub final_answers: u8,
    /// The conclusion of the request.
    pub conclusion: Option<Conclusion>,
    /// The events since the latest transition.
    pub since_transition: SinceTransition,
}

/// How far Security's latest review of the plan still counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ReviewStatus {
    /// There is no review in this pass.
    #[default]
    Missing,
    /// Security was called.
    Called,
    /// The consensus was scored after that.
    Scored,
    /// A fact in the scope of the request was superseded since the plan was drafted, and since the call.
    Outdated,
}

/// The events since the latest transition. The next transition resets them, so that they multiply no states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SinceTransition {
    /// The operation whose reply was recorded.
    pub replied: Option<Operation>,
    /// The operation whose call failed, and the failure.
    pub failed_call: Option<(Operation, Failure)>,
    /// A plan was adopted.
    pub plan_adopted: bool,
    /// An execution report was recorded.
    pub execution_reported: bool,
    /// The consensus was computed.
    pub consensus_scored: bool,
    /// The ratings were updated.
    pub ratings_updated: bool,
    /// The label of the decision.
    pub decision_label: Option<DecisionLabel>,
    /// The user cancelled.
    pub cancelled: bool,
    /// The operation of a failed attempt after which no other one started yet.
    pub failed_attempt: Option<Operation>,
    /// The status with which the run of the plan ended.
    pub workflow_ended: Option<WorkflowStatus>,
}

impl History {
    /// Returns Security's objection to the current revision.
    #[must_use]
    pub fn objection(&self) -> Option<Score> {
        self.security.filter(|argument| argument.stance == Stance::Con).map(|argument| argument.confidence)
    }

    /// Applies one event.
    pub fn observe(&mut self, policy: &Policy, event: &Event) {
        match event {
            Event::UserMsg { scope, .. } => {
                *self = Self { running: true, scope: scope.clone(), ..Self::default() };
            }
            Event::UpdateItem { item, .. }
                if matches!(item.validity, Validity::Superseded { .. })
                    && item.fact().is_some_and(|fact| reads(&self.scope, &fact.scope))
                    && !self.tasks_planned.is_empty() =>
            {
                self.review = ReviewStatus::Outdated;
            }
            Event::ToolCall { call, operation: ask } => {
                self.pending.push((*call, *ask));
                self.since_transition.failed_attempt = None;
                self.call(policy, *ask);
            }
            Event::ToolResult { call, report, .. } => {
                if matches!(report, Report::Exit { code: 0, .. }) {
                    self.extend_lineage(*call);
                }
                if let Some(ask) = self.take_pending(*call) {
                    self.since_transition.replied = Some(ask);
                    self.answered(policy, ask, report);
                }
            }
            Event::CallFailed { call, failure, .. } => {
                if let Some(ask) = self.take_pending(*call) {
                    self.since_transition.failed_call = Some((ask, *failure));
                    self.unanswered(ask, *failure);
                }
            }
            Event::Cancelled => {
                self.cancelled = true;
                self.since_transition.cancelled = true;
                self.pending.clear();
                self.assignments.clear();
            }
            Event::PlanAdopted { plan, .. } => {
                self.since_transition.plan_adopted = true;
                if let Some(scope) = plans::plan_scope(plan) {
                    self.scope = scope.clone();
                }
                self.tasks_planned = run::planned_tasks(plan);
                // A task that the plan names starts again, and a task that it omits stays done.
                let is_planned = |task: TaskId| plans::task(plan, task).is_some();
                self.outputs.retain(|output| !is_planned(output.task));
                let allows_failures = plan.aggregation().map(plans::allows_failures);
                self.workflow = WorkflowHistory { allows_failures, ..WorkflowHistory::default() };
                self.outcomes.clear();
                self.succeeded = false;
                self.security = None;
                self.revision_cleared = None;
                self.approved = false;
                self.revision_proceeds = false;
            }
            Event::ConsensusScored { score, .. } => {
                self.since_transition.consensus_scored = true;
                self.meets_proceed_threshold = *score >= policy.thresholds.proceed_from;
                self.below_redebate_threshold = *score < policy.thresholds.redebate_below;
                self.revision_cleared = Some(self.meets_proceed_threshold);
                if self.review == ReviewStatus::Called {
                    self.review = ReviewStatus::Scored;
                }
            }
            Event::Decided { decision } => {
                self.since_transition.decision_label = Some(decision.label);
                self.revision_proceeds = matches!(
                    decision.label,
                    DecisionLabel::ConsensusReached | DecisionLabel::ProceedBelowThreshold
                );
                let decision = Decision { revision: Revision::FIRST, ..*decision };
                self.decisions.retain(|earlier| *earlier != decision);
                self.decisions.push(decision);
            }
            Event::RatingsUpdated { ratings } => {
                self.since_transition.ratings_updated = true;
                self.ratings_after = Some(*ratings);
            }
            Event::Concluded { conclusion: ending } => self.conclusion = Some(*ending),
            Event::AuditUndelivered => self.undelivered = true,
            Event::ExecutionReported { .. } => self.since_transition.execution_reported = true,
            Event::MemoryRecorded { record } => {
                self.memory_records = self.memory_records.saturating_add(1).min(2);
                self.answer = Some(record.text.clone());
                self.forget_debate();
            }
            Event::AuditRecorded { .. } => self.audit_records = self.audit_records.saturating_add(1).min(2),
            Event::FinalAnswer { .. } => self.final_answers = self.final_answers.saturating_add(1).min(2),
            Event::Network(event) => self.on_network(event),
            Event::Transitioned { row } => {
                self.since_transition = SinceTransition::default();
                self.on_transition(policy, row.transition().to);
            }
            _ => {}
        }
    }

    fn call(&mut self, policy: &Policy, ask: Operation) {
        match ask {
            Operation::RunTask { task, effect } => {
                self.overridden_objections.extend(self.objection());
                self.overridden_objections.sort_unstable();
                self.overridden_objections.dedup();
                self.task_records.retain(|record| record.task != task);
                self.outputs.retain(|output| output.task != task);
                self.undoable.retain(|undoable| *undoable != task);
                let effect_left = (effect != EffectKind::Pure).then_some(EffectOutcome::Kept);
                self.task_records.push(TaskRecord { task, effect: effect_left });
                if effect == EffectKind::Undoable {
                    self.undoable.push(task);
                }
            }
            Operation::DeliverAudit => {
                let most = policy.bounds.audit_attempts.saturating_add(1);
                self.audit_attempts = self.audit_attempts.saturating_add(1).min(most);
                self.audit_failed = false;
            }
            Operation::Argue(Role::Security) | Operation::ReviewRevision => {
                self.review = ReviewStatus::Called;
            }
            Operation::StoreMemory { store: Store::Local, .. } => self.stores_called.0 = true,
            Operation::StoreMemory { store: Store::Cloud, .. } => self.stores_called.1 = true,
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
                self.vetoed |= objects(argument, policy.thresholds.veto_from);
            }
            (Operation::Argue(role), Report::Argument { argument, .. }) => {
                *self.latest.get_mut(role) = Some(*argument)
            }
            (Operation::ArgueAdditional { .. }, Report::Argument { argument, .. }) => {
                self.additional.push(*argument)
            }
            (Operation::Approve, Report::Approval { approved, .. }) => self.approved = *approved,
            (Operation::RunTask { task, .. }, Report::Exit { code: 0, text, .. }) => {
                self.add_output(task, text);
                self.ended(task, TaskOutcome::Succeeded);
            }
            (Operation::RunTask { task, .. }, Report::Exit { code, .. }) => {
                self.ended(task, TaskOutcome::Exited(*code));
            }
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
            Operation::StoreMemory { store, .. } => {
                *self.holding(store) = plans::status_after_failure(failure)
            }
            _ => {}
        }
    }

    /// Renumbers the pending calls 1, 2, 3 …, as the kernel's state does (design §2, rule 3).
    pub fn canonicalize(&mut self) {
        let mut next = CallId::FIRST;
        for (call, _) in &mut self.pending {
            for assignment in self.assignments.iter_mut().filter(|assignment| assignment.call == *call) {
                assignment.call = next;
            }
            *call = next;
            next = next.next();
        }
    }

    /// Removes a call from the pending ones.
    fn take_pending(&mut self, call: CallId) -> Option<Operation> {
        self.assignments.retain(|assignment| assignment.call != call);
        let at = self.pending.iter().position(|(pending, _)| *pending == call)?;
        Some(self.pending.remove(at).1)
    }

    /// Returns the latest decision.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.decisions.last()
    }

    /// Returns the kind of conclusion that the events imply.
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
        if end == EffectOutcome::Undone {
            self.outputs.retain(|output| output.task != task);
        }
        self.undoable.retain(|undoable| *undoable != task);
        for record in self.task_records.iter_mut().filter(|record| record.task == task) {
            record.effect = Some(end);
        }
    }

    const fn holding(&mut self, store: Store) -> &mut StoreStatus {
        match store {
            Store::Local => &mut self.store_statuses.local,
            Store::Cloud => &mut self.store_statuses.cloud,
        }
    }

    fn on_transition(&mut self, policy: &Policy, to: Phase) {
        let from = self.phase.replace(to);
        match to {
            Phase::Round(role) => {
                let is_later_pass = matches!(from, Some(Phase::MultiPassCheck | Phase::ResolvingDecision));
                if is_later_pass {
                    self.latest = PerRole { analyst: self.latest.analyst, ..PerRole::default() };
                    self.additional.clear();
                    self.security = None;
                    self.review = ReviewStatus::Missing;
                    self.revision_cleared = None;
                    self.ratings_after = None;
                }
                if self.round.is_none() || is_later_pass {
                    self.pass = self.pass.saturating_add(1).min(policy.bounds.passes.saturating_add(1));
                }
                self.round = Some(role);
            }
            Phase::SelfHealingActive => {
                self.clear_run();
                if let Bound::AtMost(most) = policy.bounds.repairs {
                    self.repairs = self.repairs.saturating_add(1).min(most.saturating_add(1));
                }
            }
            // A changed fact interrupted the run. It has not ended, even if only optional tasks are left.
            Phase::RepairReview => self.succeeded = false,
            Phase::Blocked => self.blocked = true,
            Phase::RollbackActive => self.rolled_back = true,
            Phase::Idle | Phase::Done | Phase::Aborted => *self = Self::default(),
            _ => {}
        }
    }

    /// Drops the debate: after the memory record, no task may run.
    fn forget_debate(&mut self) {
        self.outputs.clear();
        self.round = None;
        self.latest = PerRole::default();
        self.additional.clear();
        self.ratings = Ratings::default();
        self.tasks_planned.clear();
        self.outcomes.clear();
        self.workflow = WorkflowHistory::default();
        self.pass = 0;
        self.vetoed = false;
        self.security = None;
        self.scope = Scope::Global;
        self.review = ReviewStatus::Missing;
        self.revision_cleared = None;
        self.approved = false;
        self.revision_proceeds = false;
        self.meets_proceed_threshold = false;
        self.below_redebate_threshold = false;
    }
}
