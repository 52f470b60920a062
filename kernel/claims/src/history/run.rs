//! The history of a run: the tasks of the plan, how each ended, what it left, and the nodes that execute.

use super::History;
use crate::reference::{answers, plans};
use alloc::vec::Vec;
use orchestrion_kernel::event::{TaskOutcome, TaskResult};
use orchestrion_kernel::ids::{CallId, CapabilityId, NodeId, TaskId, Text};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::network::{AssignedStep, NetworkEvent, Priority};
use orchestrion_kernel::plan::{EffectKind, Plan};

/// A task of the current revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PlannedTask {
    /// The task.
    pub task: TaskId,
    /// The kind of its declared effect.
    pub effect: EffectKind,
    /// The tasks that must succeed before it starts.
    pub depends_on: Vec<TaskId>,
    /// The run succeeds without it.
    pub optional: bool,
    /// The task that it validates.
    pub validates: Option<TaskId>,
    /// Its result is aggregated.
    pub is_member: bool,
    /// Its priority among ready tasks.
    pub priority: Priority,
    /// The scope that it declares.
    pub scope: Option<Scope>,
}

/// The output of a task that is done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct TaskOutput {
    /// The task.
    pub task: TaskId,
    /// The output.
    pub text: Text,
    /// The scope in which the task ran.
    pub scope: Scope,
}

/// The node of a pending call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PendingAssignment {
    /// The call.
    pub call: CallId,
    /// The node that routed it.
    pub from: NodeId,
    /// The node that gets it.
    pub to: NodeId,
    /// The capability that is loaded.
    pub capability: CapabilityId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The nodes of the earlier attempts.
    pub tried: Vec<NodeId>,
    /// The node executes the call: it routed the call to itself, or accepted the handoff.
    pub is_running: bool,
}

/// The workflow of the current revision: what the tasks are besides a sequence, and how far its run is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct WorkflowHistory {
    /// Whether members may fail while one succeeds; `None` without members.
    pub allows_failures: Option<bool>,
    /// The members that were routed when the run started.
    pub assigned: Vec<AssignedStep>,
    /// The member that could not be routed.
    pub unroutable: Option<TaskId>,
    /// Whether the results of the members became one; `None` while some member has not ended.
    pub is_aggregated: Option<bool>,
    /// The answer that the results of the members became.
    pub aggregate: Option<Text>,
    /// The number of failed validations that repeated tasks, by validation.
    pub validations: Vec<(TaskId, u32)>,
    /// The nodes that executed tasks successfully, in order.
    pub lineage: Vec<NodeId>,
}

/// The tasks of a plan with their dependencies: those that a task declares, else the task before it (decision 0040).
pub(super) fn planned_tasks(plan: &Plan) -> Vec<PlannedTask> {
    let planned = plans::dependencies(plan).into_iter().map(|(task, depends_on)| {
        let requirements = task.step.requirements.as_deref();
        PlannedTask {
            task: task.id,
            effect: task.effect.kind(),
            optional: task.step.optional,
            validates: task.step.validates,
            is_member: plan.aggregation().is_some() && depends_on.is_empty(),
            priority: requirements.map_or_else(Priority::default, |required| required.constraints.priority),
            scope: task.scope.clone(),
            depends_on,
        }
    });
    planned.collect()
}

impl History {
    pub(super) fn on_network(&mut self, event: &NetworkEvent) {
        match event {
            NetworkEvent::CallRouted { call, from, to, capability, attempt, tried } => {
                self.assignments.push(PendingAssignment {
                    call: *call,
                    from: from.clone(),
                    to: to.clone(),
                    capability: capability.clone(),
                    attempt: *attempt,
                    tried: tried.clone(),
                    is_running: from == to,
                });
            }
            NetworkEvent::HandoffAccepted { call } => {
                let accepted = self.assignments.iter_mut().filter(|assignment| assignment.call == *call);
                accepted.for_each(|assignment| assignment.is_running = true);
            }
            NetworkEvent::NoCandidates { call, .. } => {
                self.assignments.retain(|assignment| assignment.call != *call);
            }
            NetworkEvent::AttemptFailed { call, .. } => {
                self.since_transition.failed_attempt = self.take_pending(*call);
                if self.since_transition.failed_attempt == Some(Operation::DeliverAudit) {
                    self.audit_attempts = self.audit_attempts.saturating_sub(1);
                }
            }
            NetworkEvent::StepsAssigned { assigned, left_out } => {
                self.workflow.assigned.clone_from(assigned);
                for task in left_out {
                    self.outcomes.retain(|ended| ended.task != *task);
                    self.ended(*task, TaskOutcome::NotRun);
                }
            }
            NetworkEvent::StepsUnroutable { task } => self.workflow.unroutable = Some(*task),
            NetworkEvent::ValidationFailed { task, repeated } => {
                self.outcomes.retain(|ended| !repeated.contains(&ended.task));
                match self.workflow.validations.iter_mut().find(|(validation, _)| validation == task) {
                    Some((_, count)) => *count = count.saturating_add(1),
                    None => self.workflow.validations.push((*task, 1)),
                }
                let is_member = |task: &PlannedTask| task.is_member && repeated.contains(&task.task);
                if self.tasks_planned.iter().any(is_member) {
                    self.workflow.is_aggregated = None;
                    self.workflow.aggregate = None;
                }
                self.succeeded = self.is_completed();
            }
            NetworkEvent::ResultsAggregated { aggregate } => {
                self.workflow.is_aggregated = Some(true);
                self.workflow.aggregate = Some(answers::aggregate_text(aggregate));
                self.succeeded = self.is_completed();
            }
            NetworkEvent::AggregationFailed { .. } => self.workflow.is_aggregated = Some(false),
            NetworkEvent::WorkflowEnded { status, .. } => {
                self.since_transition.workflow_ended = Some(*status);
                self.workflow.lineage.clear();
            }
            NetworkEvent::Changed(_)
            | NetworkEvent::SignalReceived { .. }
            | NetworkEvent::HandoffRefused { .. }
            | NetworkEvent::Exchanged(_)
            | NetworkEvent::Affirmed { .. } => {}
        }
    }

    pub(super) fn add_output(&mut self, task: TaskId, text: &Text) {
        let declared = self.tasks_planned.iter().find(|planned| planned.task == task);
        let scope = declared.and_then(|planned| planned.scope.clone()).unwrap_or_else(|| self.scope.clone());
        self.outputs.push(TaskOutput { task, text: text.clone(), scope });
        self.outputs.sort_unstable_by_key(|output| output.task);
    }

    /// Adds the node that executed a task successfully.
    pub(super) fn extend_lineage(&mut self, call: CallId) {
        let is_task = |ask: &Operation| matches!(ask, Operation::RunTask { .. });
        let runs_task = self.pending.iter().any(|(pending, ask)| *pending == call && is_task(ask));
        let node = self.assignment(call).filter(|_| runs_task).map(|assignment| assignment.to.clone());
        self.workflow.lineage.extend(node);
    }

    pub(super) fn ended(&mut self, task: TaskId, ended: TaskOutcome) {
        self.outcomes.push(TaskResult { task, outcome: ended });
        self.outcomes.sort_unstable_by_key(|outcome| outcome.task);
        self.succeeded = self.is_completed();
    }

    /// Whether every required task succeeded, and the results of the members became one (decision 0042).
    pub(super) fn is_completed(&self) -> bool {
        let has_result = self.workflow.is_aggregated == Some(true);
        if self.workflow.allows_failures.is_some() && !has_result {
            return false;
        }
        let mut not_required: Vec<TaskId> = Vec::new();
        self.tasks_planned.iter().all(|planned| {
            let may_fail = planned.is_member && self.workflow.allows_failures == Some(true);
            if may_fail || self.has_succeeded(planned.task) {
                return true;
            }
            not_required.push(planned.task);
            planned.optional || planned.depends_on.iter().any(|task| not_required.contains(task))
        })
    }

    /// Returns whether a task that depends on this one can start as far as this one is concerned: it succeeded, or it is a member
    /// and the results of the members became one.
    #[must_use]
    pub fn is_satisfied(&self, task: TaskId) -> bool {
        let is_member = |planned: &PlannedTask| planned.is_member && planned.task == task;
        self.has_succeeded(task)
            || self.workflow.is_aggregated == Some(true) && self.tasks_planned.iter().any(is_member)
    }

    /// Returns whether the ensemble had no node for this member.
    #[must_use]
    pub fn is_left_out(&self, task: TaskId) -> bool {
        self.outcomes.contains(&TaskResult { task, outcome: TaskOutcome::NotRun })
    }

    /// Returns the node of a pending call.
    #[must_use]
    pub fn assignment(&self, call: CallId) -> Option<&PendingAssignment> {
        self.assignments.iter().find(|assignment| assignment.call == call)
    }

    /// Returns whether a task succeeded in the latest run.
    #[must_use]
    pub fn has_succeeded(&self, task: TaskId) -> bool {
        self.outcomes.contains(&TaskResult { task, outcome: TaskOutcome::Succeeded })
    }

    /// Returns whether a task runs.
    #[must_use]
    pub fn is_running(&self, task: TaskId) -> bool {
        let runs =
            |ask: Operation| matches!(ask, Operation::RunTask { task: running, .. } if running == task);
        self.pending.iter().any(|(_, ask)| runs(*ask))
    }

    /// Returns the task to start: of those that did not start in this run and whose dependencies are satisfied, the first of the
    /// highest priority. If a member could not be routed, only this one starts.
    #[must_use]
    pub fn next_task(&self) -> Option<&PlannedTask> {
        let ready = self.tasks_planned.iter().filter(|planned| {
            let started =
                self.is_running(planned.task) || self.outcomes.iter().any(|ended| ended.task == planned.task);
            !started
                && planned.depends_on.iter().all(|task| self.is_satisfied(*task))
                && self.workflow.unroutable.is_none_or(|unroutable| unroutable == planned.task)
        });
        ready.reduce(|first, next| if next.priority > first.priority { next } else { first })
    }

    pub(super) fn clear_run(&mut self) {
        self.outcomes.clear();
        self.succeeded = false;
        let allows_failures = self.workflow.allows_failures;
        self.workflow = WorkflowHistory { allows_failures, ..WorkflowHistory::default() };
    }
}
