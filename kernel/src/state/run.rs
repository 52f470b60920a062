//! The run of a plan: which tasks have ended, and which can start (001 §5.5, §5.6; decision 0040).

use super::call::Call;
use super::request::Request;
use crate::event::{TaskOutcome, TaskResult};
use crate::ids::TaskId;
use crate::module::Failure;
use crate::plan::Task;

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
        let is_pending = |task| pending.iter().any(|call| call.running_task() == Some(task));
        let succeeded = move |task: &TaskId| outcome(*task) == Some(TaskOutcome::Succeeded);
        let plan = self.plan.iter().flat_map(|revised| revised.plan.dependencies());
        let ready = plan.filter(move |(task, dependencies)| {
            !is_pending(task.id) && outcome(task.id).is_none() && dependencies.iter().all(succeeded)
        });
        ready.map(|(task, _)| task)
    }

    /// Returns whether every task of the plan succeeded.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        let mut tasks = self.plan.iter().flat_map(|revised| revised.plan.tasks());
        tasks.all(|task| self.outcome(task.id) == Some(TaskOutcome::Succeeded))
    }

    /// Returns whether the outcome of a task is unknown.
    #[must_use]
    pub fn has_unknown_outcome(&self) -> bool {
        let unknown = TaskOutcome::NoResult(Failure::OutcomeUnknown);
        self.outcomes.iter().any(|ended| ended.outcome == unknown)
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
