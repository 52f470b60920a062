//! The state of the running request, and how each event changes it.

use super::call::{Call, find_call};
use super::ledger::{EffectsLedger, StartedTask};
use super::run::TaskOutcomes;
use super::workflow::Workflow;
use crate::control::phase::Phase;
use crate::event::{
    Conclusion, Decision, EffectOutcome, Event, ForgetCause, StoreStatus, StoreStatuses, TaskOutcome,
};
use crate::ids::{RequestId, Revision, TaskId, Text};
use crate::item::{Item, Scope, Validity};
use crate::module::{Argument, Failure, Operation, PerRole, Ratings, Report, Role, Store};
use crate::network::NetworkEvent;
use crate::plan::{Plan, Task};
use crate::score::Score;
use crate::situation::ActionRecord;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The state of the running request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// The request number.
    pub id: RequestId,
    /// The scope in which the request runs: that of its message, then that of the first plan that has one (decision 0037).
    pub scope: Scope,
    /// Both identity locks matched.
    pub verified: bool,
    /// The semantic state changed while the summarizer's call was pending: its reply is outdated.
    pub outdated: bool,
    /// The roles' ratings; constant after LoadingContext.
    pub ratings: Ratings,
    /// The ratings after the duels, which the stores receive.
    pub ratings_after: Option<Ratings>,
    /// The current plan.
    pub plan: Option<PlanRevision>,
    /// The state of the debate.
    pub debate: Debate,
    /// The user's message. It becomes an item after the identity check, and is not read later.
    pub text: Text,
    /// The distinct decisions so far, each with the latest revision that it was made on.
    pub decisions: Vec<Decision>,
    /// The outcomes of the tasks that ended in this run, in the order of task numbers.
    pub outcomes: TaskOutcomes,
    /// The members whose results the aggregate replaces in the final answer.
    pub aggregated: Vec<TaskId>,
    /// The workflow of this run.
    pub workflow: Workflow,
    /// Started repairs; counted only if the policy bounds them.
    pub repairs: u32,
    /// The effects ledger: started tasks, latest start last.
    pub ledger: EffectsLedger,
    /// The conclusion, once decided.
    pub conclusion: Option<Conclusion>,
    /// The record status of each store.
    pub store_statuses: StoreStatuses,
    /// Delivery attempts to the audit sink.
    pub audit_attempts: u32,
    /// The latest actions, as many as a context needs (002).
    pub actions: Vec<ActionRecord>,
}

/// A plan with its revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanRevision {
    /// The revision.
    pub revision: Revision,
    /// The plan.
    pub plan: Plan,
}

/// The state of the debate: each debater's latest argument, and flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Debate {
    /// The current or last pass, from 1; 0 before the first.
    pub pass: u32,
    /// Each role's latest argument.
    pub latest: PerRole<Option<Argument>>,
    /// The arguments of the additional debaters in the current pass, in the policy's order (decision 0039).
    pub additional: Vec<Argument>,
    /// The reviewers of the previous pass: the Critic, and Security if it objected. Their arguments are pinned in Solution's
    /// next context.
    pub reviews: Vec<Role>,
    /// The revision of Security's latest argument.
    pub security_reviewed: Option<Revision>,
    /// A fact of a scope that the request reads was superseded since the plan was drafted, and since Security's latest call
    /// (decision 0038).
    pub outdated: bool,
    /// Security vetoed in some pass.
    pub vetoed: bool,
    /// The latest consensus, with its revision.
    pub scored: Option<ScoredRevision>,
}

/// The consensus on a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoredRevision {
    /// The revision.
    pub revision: Revision,
    /// The consensus.
    pub score: Score,
}

impl Request {
    pub(crate) fn new(id: RequestId, text: Text, scope: Scope) -> Self {
        Self {
            id,
            scope,
            text,
            verified: false,
            outdated: false,
            ratings: Ratings::default(),
            ratings_after: None,
            plan: None,
            debate: Debate::default(),
            decisions: Vec::new(),
            outcomes: TaskOutcomes::default(),
            aggregated: Vec::new(),
            workflow: Workflow::default(),
            repairs: 0,
            ledger: EffectsLedger::default(),
            conclusion: None,
            store_statuses: StoreStatuses::default(),
            audit_attempts: 0,
            actions: Vec::new(),
        }
    }

    /// Returns the request reduced to what the context of a call with this operation depends on: the message, the scope, the
    /// payload, the reviews of the previous pass and the latest actions.
    #[cfg(feature = "checker")]
    pub(super) fn reduced_to_context(&self, operation: Operation) -> Self {
        let mut reduced = Self::new(self.id, self.text.clone(), self.scope.clone());
        reduced.actions.clone_from(&self.actions);
        reduced.debate.reviews.clone_from(&self.debate.reviews);
        // Of a call of a task its version, of another call the plan: whether the call has a payload is what claims judge.
        if let Some(task) = operation.task() {
            let started = self.ledger.get(task).cloned();
            let started =
                started.map(|started| StartedTask { outcome: EffectOutcome::Kept, node: None, ..started });
            started.into_iter().for_each(|started| reduced.ledger.push(started));
        } else if let Some(PlanRevision { plan, .. }) = &self.plan {
            reduced.plan = Some(PlanRevision { revision: Revision::FIRST, plan: plan.clone() });
        }
        reduced
    }

    /// Returns the scope in which a call with this operation reads and writes: that of its task, else that of the request.
    #[must_use]
    pub fn call_scope(&self, operation: Operation) -> &Scope {
        self.task_scope(operation.task().and_then(|task| self.started_task(task)))
    }

    /// Returns the scope in which a task of the plan runs, or that of the request without a task.
    #[must_use]
    pub fn task_scope<'a>(&'a self, task: Option<&'a Task>) -> &'a Scope {
        task.and_then(|task| task.scope.as_ref()).unwrap_or(&self.scope)
    }

    /// Returns the ledger's entry of a task.
    #[must_use]
    pub fn started(&self, task: TaskId) -> Option<&StartedTask> {
        self.ledger.get(task)
    }

    /// Returns the task to compensate next: the latest started one whose effect is kept and undoable.
    #[must_use]
    pub fn next_compensation(&self) -> Option<TaskId> {
        self.ledger.undoable().next_back().map(|started| started.task)
    }

    /// Returns the confidence of Security's latest argument, if that argument objects to the current revision.
    #[must_use]
    pub fn objection(&self) -> Option<Score> {
        let argument =
            self.debate.latest.security.filter(|argument| argument.is_objection_at_least(Score::ZERO))?;
        (self.debate.security_reviewed == self.plan.as_ref().map(|plan| plan.revision))
            .then_some(argument.confidence)
    }

    /// Returns whether an item is a superseded fact of a scope that the request reads.
    fn is_superseded_fact(&self, item: &Item) -> bool {
        matches!(item.validity, Validity::Superseded { .. })
            && item.fact().is_some_and(|fact| fact.scope.contains(&self.scope))
    }

    /// Applies an event to a request that several states may share. An event that changes nothing copies nothing.
    pub(crate) fn apply(shared: &mut Arc<Self>, event: &Event, pending: &[Call]) {
        match event {
            Event::TimeAdvanced { .. } => {}
            Event::ToolCall { operation, .. } => Self::on_call(shared, *operation),
            Event::ToolResult { call, report, .. } => {
                if let Some(call) = find_call(pending, *call) {
                    Self::on_reply(shared, call.operation, report);
                }
            }
            Event::CallFailed { call, failure, .. } => {
                if let Some(call) = find_call(pending, *call) {
                    Arc::make_mut(shared).on_call_failed(call.operation, *failure);
                }
            }
            Event::AddItem { item, .. } => Self::on_item(shared, item, pending),
            Event::UpdateItem { item, .. } => {
                Self::on_item(shared, item, pending);
                if shared.plan.is_some() && shared.is_superseded_fact(item) {
                    Arc::make_mut(shared).debate.outdated = true;
                }
            }
            // No expiring item and no item of the situation is in a cluster.
            Event::ForgetItems { cause: ForgetCause::Expiry | ForgetCause::RequestEnd, .. } => {}
            Event::ForgetItems {
                cause: ForgetCause::SessionEnd | ForgetCause::Compaction { .. } | ForgetCause::Capacity,
                ..
            } => {
                if is_summarizing(pending) {
                    Arc::make_mut(shared).outdated = true;
                }
            }
            Event::PlanAdopted { revision, plan } => {
                let request = Arc::make_mut(shared);
                if let Some(scope) = plan.scope() {
                    request.scope = scope.clone();
                }
                request.plan = Some(PlanRevision { revision: *revision, plan: plan.clone() });
            }
            Event::VetoRaised { .. } => Arc::make_mut(shared).debate.vetoed = true,
            Event::ConsensusScored { revision, score } => {
                Arc::make_mut(shared).debate.scored =
                    Some(ScoredRevision { revision: *revision, score: *score });
            }
            Event::RatingsUpdated { ratings } => Arc::make_mut(shared).ratings_after = Some(*ratings),
            // An equal decision on a later revision replaces the earlier one, so that endless repair revisits a state.
            Event::Decided { decision } => {
                let decisions = &mut Arc::make_mut(shared).decisions;
                decisions.retain(|earlier| Decision { revision: decision.revision, ..*earlier } != *decision);
                decisions.push(*decision);
            }
            Event::RepairStarted => {
                let repairs = &mut Arc::make_mut(shared).repairs;
                *repairs = repairs.saturating_add(1);
            }
            Event::Concluded { conclusion } => Arc::make_mut(shared).conclusion = Some(*conclusion),
            Event::ActionRecorded { record, max_history } => {
                let max_history = usize::try_from(*max_history).unwrap_or(usize::MAX);
                let actions = &mut Arc::make_mut(shared).actions;
                let unread = actions.len().saturating_sub(max_history);
                actions.drain(..unread);
                actions.push(record.clone());
            }
            Event::Network(event) => Self::on_network(shared, event, pending),
            Event::UserMsg { .. }
            | Event::FinalAnswer { .. }
            | Event::SessionStarted { .. }
            | Event::SessionEnded
            | Event::OverBudget { .. }
            | Event::Cancelled
            | Event::Resumed
            | Event::Transitioned { .. }
            | Event::ExecutionReported { .. }
            | Event::MemoryRecorded { .. }
            | Event::AuditRecorded { .. }
            | Event::AuditUndelivered => {}
        }
    }

    fn on_item(shared: &mut Arc<Self>, item: &Item, pending: &[Call]) {
        if is_summarizing(pending) && !item.layer.is_signal() {
            Arc::make_mut(shared).outdated = true;
        }
    }

    fn on_network(shared: &mut Arc<Self>, event: &NetworkEvent, pending: &[Call]) {
        match event {
            NetworkEvent::CallRouted { call, to, .. } => {
                let task = find_call(pending, *call).and_then(|call| call.running_task());
                task.into_iter().for_each(|task| Arc::make_mut(shared).ledger.set_node(task, to));
            }
            NetworkEvent::StepsAssigned { assigned, left_out } => {
                let request = Arc::make_mut(shared);
                request.workflow.assigned.clone_from(assigned);
                left_out.iter().for_each(|task| request.set_task_outcome(*task, TaskOutcome::NotRun));
            }
            // Another attempt is no further delivery.
            NetworkEvent::AttemptFailed { call, .. } => {
                let is_delivery = |call: Call| call.operation == Operation::DeliverAudit;
                if find_call(pending, *call).is_some_and(is_delivery) {
                    let attempts = &mut Arc::make_mut(shared).audit_attempts;
                    *attempts = attempts.saturating_sub(1);
                }
            }
            NetworkEvent::StepsUnroutable { .. } => Arc::make_mut(shared).workflow.is_unroutable = true,
            NetworkEvent::ValidationFailed { task, repeated } => {
                let request = Arc::make_mut(shared);
                request.workflow.count_validation(*task);
                request.forget_outcomes(repeated);
            }
            NetworkEvent::ResultsAggregated { .. } => {
                let request = Arc::make_mut(shared);
                request.workflow.is_aggregated = Some(true);
                let members = request.plan.iter().flat_map(|revised| revised.plan.members());
                request.aggregated = members.map(|member| member.id).collect();
            }
            NetworkEvent::AggregationFailed { .. } => {
                Arc::make_mut(shared).workflow.is_aggregated = Some(false);
            }
            NetworkEvent::Changed(_)
            | NetworkEvent::SignalReceived { .. }
            | NetworkEvent::NoCandidates { .. }
            | NetworkEvent::HandoffAccepted { .. }
            | NetworkEvent::HandoffRefused { .. }
            | NetworkEvent::Exchanged(_)
            | NetworkEvent::Affirmed { .. }
            | NetworkEvent::WorkflowEnded { .. } => {}
        }
    }

    fn on_call(shared: &mut Arc<Self>, operation: Operation) {
        match operation {
            Operation::RunTask { task, effect } => {
                let outcome = EffectOutcome::Kept;
                let version = shared.plan.as_ref().and_then(|revised| revised.plan.task(task)).cloned();
                Arc::make_mut(shared).ledger.push(StartedTask { task, effect, version, outcome, node: None });
            }
            Operation::DeliverAudit => {
                let attempts = &mut Arc::make_mut(shared).audit_attempts;
                *attempts = attempts.saturating_add(1);
            }
            Operation::Argue(Role::Security) | Operation::ReviewRevision => {
                Arc::make_mut(shared).debate.outdated = false;
            }
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::Approve
            | Operation::Diagnose
            | Operation::UndoTask { .. }
            | Operation::StoreMemory { .. } => {}
        }
    }

    fn on_reply(shared: &mut Arc<Self>, operation: Operation, report: &Report) {
        match (operation, report) {
            (Operation::VerifyIdentity, Report::Identity { gcp, mongodb }) => {
                Arc::make_mut(shared).verified = *gcp && *mongodb;
            }
            (Operation::LoadContext, Report::Context { ratings, .. }) => {
                Arc::make_mut(shared).ratings = *ratings;
            }
            (Operation::ArgueAdditional { .. }, Report::Argument { argument, .. }) => {
                Arc::make_mut(shared).debate.additional.push(*argument);
            }
            (_, Report::Argument { argument, .. }) => {
                if let Some(role) = operation.arguing_role() {
                    let request = Arc::make_mut(shared);
                    *request.debate.latest.get_mut(role) = Some(*argument);
                    if role == Role::Security {
                        request.debate.security_reviewed = request.plan.as_ref().map(|plan| plan.revision);
                    }
                }
            }
            (Operation::RunTask { task, .. }, Report::Exit { code, text, number }) => {
                let request = Arc::make_mut(shared);
                request.set_task_outcome(task, TaskOutcome::from_exit_code(*code));
                if *code == 0 {
                    request.record_success(task, text, *number);
                }
            }
            (Operation::UndoTask { task }, Report::Exit { code, .. }) => {
                let outcome = if *code == 0 { EffectOutcome::Undone } else { EffectOutcome::UndoFailed };
                Arc::make_mut(shared).ledger.set_outcome(task, outcome);
            }
            (Operation::StoreMemory { store, .. }, Report::Stored { held }) => {
                let status = if *held { StoreStatus::Held } else { StoreStatus::Missing };
                Arc::make_mut(shared).set_store_status(store, status);
            }
            (
                Operation::VerifyIdentity
                | Operation::LoadContext
                | Operation::Summarize
                | Operation::Classify
                | Operation::DraftPlan
                | Operation::Argue(_)
                | Operation::ArgueAdditional { .. }
                | Operation::ReviewRevision
                | Operation::Approve
                | Operation::RunTask { .. }
                | Operation::Diagnose
                | Operation::UndoTask { .. }
                | Operation::StoreMemory { .. }
                | Operation::DeliverAudit,
                _,
            ) => {}
        }
    }

    fn on_call_failed(&mut self, operation: Operation, failure: Failure) {
        match operation {
            Operation::RunTask { task, .. } => self.set_task_outcome(task, TaskOutcome::NoResult(failure)),
            Operation::UndoTask { task } => self.ledger.set_outcome(task, EffectOutcome::UndoFailed),
            Operation::StoreMemory { store, .. } => {
                self.set_store_status(store, StoreStatus::from_failure(failure));
            }
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose
            | Operation::DeliverAudit => {}
        }
    }

    fn set_store_status(&mut self, store: Store, status: StoreStatus) {
        match store {
            Store::Local => self.store_statuses.local = status,
            Store::Cloud => self.store_statuses.cloud = status,
        }
    }

    /// Removes what no later decision reads when the phase changes, and counts the passes of the debate.
    pub(crate) fn enter(shared: &mut Arc<Self>, from: Phase, to: Phase) {
        let starts_pass = matches!(to, Phase::Round(_));
        match from {
            Phase::Compacting => Arc::make_mut(shared).outdated = false,
            Phase::Planning if starts_pass => Arc::make_mut(shared).debate.pass = 1,
            Phase::Round(Role::Solution) => Arc::make_mut(shared).debate.reviews.clear(),
            Phase::MultiPassCheck | Phase::ResolvingDecision if starts_pass => {
                let request = Arc::make_mut(shared);
                request.debate.start_next_pass();
                request.ratings_after = None;
            }
            // The run is over. A repaired plan starts a new one.
            Phase::Failure => {
                let request = Arc::make_mut(shared);
                request.clear_run();
                request.aggregated.clear();
            }
            Phase::Idle
            | Phase::VerifyingIdentity
            | Phase::IdentityVerified
            | Phase::LoadingContext
            | Phase::Classifying
            | Phase::Planning
            | Phase::Round(_)
            | Phase::PlanReview
            | Phase::AdditionalRounds
            | Phase::MultiPassCheck
            | Phase::Aggregating
            | Phase::CalculatingConsensus
            | Phase::EloDuels
            | Phase::ResolvingDecision
            | Phase::PlanApproval
            | Phase::Blocked
            | Phase::RunningTasks
            | Phase::AssertingOutcomes
            | Phase::Success
            | Phase::SelfHealingActive
            | Phase::RepairReview
            | Phase::RepairScoring
            | Phase::RepairApproval
            | Phase::RollbackActive
            | Phase::RollbackComplete
            | Phase::StoringMemory
            | Phase::Auditing
            | Phase::Done
            | Phase::Aborted => {}
        }
        if to == Phase::RollbackActive {
            Arc::make_mut(shared).clear_run();
        }
        // The conclusion is in the log; no later decision reads debate, plan or outcomes.
        if to == Phase::StoringMemory && from != to {
            let request = Arc::make_mut(shared);
            request.debate = Debate::default();
            request.plan = None;
            request.clear_run();
        }
    }

    /// Returns whether the revisions are numbered 1, 2, 3 …, so that [`Self::canonicalize`] changes nothing.
    pub(super) fn is_canonical(&self) -> bool {
        self.live_revisions()
            .iter()
            .try_fold(Revision::FIRST, |next, revision| (*revision == next).then(|| next.next()))
            .is_some()
    }

    /// Returns each revision that the request refers to, in order.
    fn live_revisions(&self) -> Vec<Revision> {
        let mut live: Vec<Revision> = (self.plan.iter().map(|plan| plan.revision))
            .chain(self.debate.security_reviewed)
            .chain(self.debate.scored.map(|scored| scored.revision))
            .chain(self.decisions.iter().map(|decision| decision.revision))
            .collect();
        live.sort_unstable();
        live.dedup();
        live
    }

    pub(super) fn canonicalize(&mut self) {
        let live = self.live_revisions();
        let slots = (self.plan.iter_mut().map(|plan| &mut plan.revision))
            .chain(&mut self.debate.security_reviewed)
            .chain(self.debate.scored.iter_mut().map(|scored| &mut scored.revision))
            .chain(self.decisions.iter_mut().map(|decision| &mut decision.revision));
        for slot in slots {
            let rank = live.iter().position(|revision| revision == slot).unwrap_or(0);
            *slot = Revision::new(u32::try_from(rank).unwrap_or(u32::MAX)).next();
        }
    }
}

impl Debate {
    /// Starts a later pass. It begins with Solution's round, so only the Analyst's argument stays the latest.
    fn start_next_pass(&mut self) {
        self.pass = self.pass.saturating_add(1);
        let objects = |argument: &Argument| argument.is_objection_at_least(Score::ZERO);
        let critic = self.latest.critic.map(|_| Role::Critic);
        let security = self.latest.security.filter(objects).map(|_| Role::Security);
        self.reviews = critic.into_iter().chain(security).collect();
        self.latest = PerRole { analyst: self.latest.analyst, ..PerRole::default() };
        self.additional.clear();
        self.security_reviewed = None;
        self.outdated = false;
        self.scored = None;
    }
}

fn is_summarizing(pending: &[Call]) -> bool {
    pending.iter().any(|call| call.operation == Operation::Summarize)
}
