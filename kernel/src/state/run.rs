//! The run of a plan: which tasks have ended, and which can start (001 §5.5, §5.6; decision 0040).

use super::call::Call;
use super::request::Request;
use super::workflow::{MemberAnswer, Workflow};
use crate::event::{TaskOutcome, TaskResult};
use crate::ids::{TaskId, Text};
use crate::module::Failure;
use crate::network::{Millionths, Priority};
use crate::plan::{Aggregation, Task};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Request {
    /// Returns the outcome of a task that ended in this run.
    #[must_use]
    pub fn outcome(&self, task: TaskId) -> Option<TaskOutcome> {
        let at = self.outcomes.binary_search_by_key(&task, |ended| ended.task).ok()?;
        self.outcomes.get(at).map(|ended| ended.outcome)
    }

    /// Returns the tasks that can start, in plan order: they did not start in this run, and every task that they depend on
    /// succeeded. `ended` is an outcome that is not recorded yet.
    pub fn ready_tasks<'a>(
        &'a self,
        pending: &'a [Call],
        ended: Option<TaskResult>,
    ) -> impl Iterator<Item = &'a Task> {
        let outcome = move |task| match ended {
            Some(ended) if ended.task == task => Some(ended.outcome),
            Some(_) | None => self.outcome(task),
        };
        let is_satisfied = move |task: &TaskId| {
            outcome(*task) == Some(TaskOutcome::Succeeded)
                || self.workflow.is_aggregated == Some(true) && self.aggregated.contains(task)
        };
        let is_pending = |task| pending.iter().any(|call| call.running_task() == Some(task));
        let plan = self.plan.iter().filter(|_| !self.workflow.is_unroutable);
        let plan = plan.flat_map(|revised| revised.plan.dependencies());
        let ready = plan.filter(move |(task, dependencies)| {
            !is_pending(task.id) && outcome(task.id).is_none() && dependencies.iter().all(is_satisfied)
        });
        ready.map(|(task, _)| task)
    }

    /// Returns the task to start: the first of those with the highest priority (001 §3.2).
    #[must_use]
    pub fn next_task<'a>(&'a self, pending: &'a [Call]) -> Option<&'a Task> {
        let priority = |task: &Task| {
            let requirements = task.step.requirements.as_deref();
            requirements.map_or_else(Priority::default, |requirements| requirements.constraints.priority)
        };
        // `max_by_key` returns the last of several.
        let ready: Vec<&Task> = self.ready_tasks(pending, None).collect();
        ready.into_iter().rev().max_by_key(|task| priority(task))
    }

    /// Returns whether the run succeeded: every required task did, and the results of the members have an aggregate. A task is not
    /// required if it is optional, if it depends on an optional task that did not succeed, or if it is a member that may fail.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        let Some(plan) = self.plan.as_ref().map(|revised| &revised.plan) else { return true };
        let (aggregation, is_aggregated) = (plan.aggregation(), self.workflow.is_aggregated == Some(true));
        if aggregation.is_some() && !is_aggregated {
            return false;
        }
        let allows_failures = aggregation.is_some_and(Aggregation::allows_failures);
        let mut not_required = BTreeSet::new();
        for (task, dependencies) in plan.dependencies() {
            if self.outcome(task.id) == Some(TaskOutcome::Succeeded)
                || allows_failures && self.aggregated.contains(&task.id)
            {
                continue;
            }
            if !task.step.optional && !dependencies.iter().any(|task| not_required.contains(task)) {
                return false;
            }
            not_required.insert(task.id);
        }
        true
    }

    /// Returns whether the outcome of a task is unknown.
    #[must_use]
    pub fn has_unknown_outcome(&self) -> bool {
        let unknown = TaskOutcome::NoResult(Failure::OutcomeUnknown);
        self.outcomes.iter().any(|ended| ended.outcome == unknown)
    }

    pub(super) fn clear_run(&mut self) {
        self.outcomes.clear();
        self.workflow = Workflow::default();
    }

    /// Records who executed a task, and the answer of a member.
    pub(super) fn record_success(&mut self, task: TaskId, text: &Text, number: Option<Millionths>) {
        let node = self.started(task).and_then(|started| started.node.clone());
        self.workflow.lineage.extend(node);
        let mut members = self.plan.iter().flat_map(|revised| revised.plan.members());
        if members.any(|member| member.id == task) {
            self.workflow.answers.push(MemberAnswer { task, text: text.clone(), number });
        }
    }

    /// Forgets the outcomes of tasks that run again.
    pub(super) fn forget_outcomes(&mut self, tasks: &[TaskId]) {
        self.outcomes.retain(|ended| !tasks.contains(&ended.task));
        self.workflow.answers.retain(|answer| !tasks.contains(&answer.task));
        if self.aggregated.iter().any(|task| tasks.contains(task)) {
            self.workflow.is_aggregated = None;
            self.aggregated.clear();
        }
    }

    pub(super) fn set_task_outcome(&mut self, task: TaskId, outcome: TaskOutcome) {
        match self.outcomes.binary_search_by_key(&task, |ended| ended.task) {
            Ok(at) => {
                if let Some(ended) = self.outcomes.get_mut(at) {
                    ended.outcome = outcome;
                }
            }
            Err(at) => self.outcomes.insert(at, TaskResult { task, outcome }),
        }
    }
}
