//! The run of a plan: which tasks have ended, and which can start (001 §5.5, §5.6; decision 0040).

use super::call::Call;
use super::request::Request;
use super::workflow::{MemberAnswer, Workflow};
use crate::event::{TaskOutcome, TaskResult};
use crate::ids::{TaskId, Text};
use crate::module::Failure;
use crate::network::{Millionths, Priority};
use crate::plan::{Aggregation, Plan, Task};
use crate::shared_map::{SharedMap, SharedSet};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// The outcomes of the tasks that ended in a run, in the order of task numbers. A clone shares its structure with the original and
/// takes constant time.
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(from = "alloc::vec::Vec<TaskResult>", into = "alloc::vec::Vec<TaskResult>")
)]
pub struct TaskOutcomes {
    ended: SharedMap<TaskId, TaskResult>,
    /// Index: the tasks whose outcome is unknown.
    unknown: SharedSet<TaskId>,
    /// Index: the progress of the plan of the latest outcome.
    progress: Progress,
}

/// The progress of a plan, as its outcomes determine it.
#[derive(Clone)]
struct Progress {
    plan: Option<Plan>,
    /// The positions of the tasks without an outcome whose dependencies all succeeded.
    ready: SharedSet<usize>,
    /// By position, if there are any: how many of the task's dependencies succeeded.
    succeeded: SharedMap<usize, usize>,
}

/// Ignores the indexes, which follow from the outcomes and the plan.
impl PartialEq for TaskOutcomes {
    fn eq(&self, other: &Self) -> bool {
        self.ended == other.ended
    }
}

impl Eq for TaskOutcomes {}

impl Hash for TaskOutcomes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ended.hash(state);
    }
}

impl fmt::Debug for TaskOutcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Default for TaskOutcomes {
    fn default() -> Self {
        Self { ended: SharedMap::default(), unknown: SharedSet::default(), progress: Progress::new(None) }
    }
}

impl TaskOutcomes {
    /// Returns the outcomes, in the order of task numbers.
    pub fn iter(&self) -> impl Iterator<Item = &TaskResult> {
        self.ended.values()
    }

    /// Returns whether no task ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }

    /// Returns the outcome of a task that ended.
    #[must_use]
    pub fn get(&self, task: TaskId) -> Option<TaskOutcome> {
        self.ended.get(&task).map(|ended| ended.outcome)
    }

    /// Forgets every outcome.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn set(&mut self, plan: Option<&Plan>, TaskResult { task, outcome }: TaskResult) {
        self.follow(plan);
        let before = self.get(task);
        self.ended.insert(task, TaskResult { task, outcome });
        if is_unknown(outcome) {
            self.unknown.insert(task, ());
        } else if before.is_some_and(is_unknown) {
            self.unknown.remove(&task);
        }
        self.progress.change_outcome(&self.ended, task, before, outcome);
    }

    /// Replaces the progress by that of this plan.
    fn follow(&mut self, plan: Option<&Plan>) {
        if self.progress.is_of(plan) {
            return;
        }
        self.progress = Progress::new(plan);
        for TaskResult { task, outcome } in self.ended.values() {
            self.progress.change_outcome(&self.ended, *task, None, *outcome);
        }
    }
}

impl Progress {
    /// Returns the progress before any task ended.
    fn new(plan: Option<&Plan>) -> Self {
        let ready = plan.map_or_else(SharedSet::default, |plan| plan.initial().clone());
        Self { plan: plan.cloned(), ready, succeeded: SharedMap::default() }
    }

    fn is_of(&self, plan: Option<&Plan>) -> bool {
        match (&self.plan, plan) {
            (None, None) => true,
            (Some(own), Some(plan)) => own.is_clone_of(plan),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    /// Changes the outcome of one task. `ended` has an outcome for every task that must not become ready.
    fn change_outcome(
        &mut self,
        ended: &SharedMap<TaskId, TaskResult>,
        task: TaskId,
        before: Option<TaskOutcome>,
        after: TaskOutcome,
    ) {
        let Self { plan: Some(plan), ready, succeeded } = self else { return };
        let Some(at) = plan.position(task) else { return };
        ready.remove(&at);
        let (did_succeed, succeeds) =
            (before == Some(TaskOutcome::Succeeded), after == TaskOutcome::Succeeded);
        if did_succeed == succeeds {
            return;
        }
        for dependent in plan.dependents(at) {
            let count = succeeded.get(dependent).copied().unwrap_or_default();
            let count = if succeeds { count.saturating_add(1) } else { count.saturating_sub(1) };
            succeeded.insert(*dependent, count);
            let has_ended =
                plan.tasks().get(*dependent).is_none_or(|dependent| ended.contains_key(&dependent.id));
            if count == plan.required(*dependent) && !has_ended {
                ready.insert(*dependent, ());
            } else {
                ready.remove(dependent);
            }
        }
    }
}

impl Request {
    /// Returns the outcome of a task that ended in this run.
    #[must_use]
    pub fn outcome(&self, task: TaskId) -> Option<TaskOutcome> {
        self.outcomes.get(task)
    }

    /// Returns the tasks that can start, in plan order: they did not start in this run, and every task that they depend on
    /// succeeded. `ended` is an outcome that is not recorded yet.
    pub fn ready_tasks<'a>(
        &'a self,
        pending: &'a [Call],
        ended: Option<TaskResult>,
    ) -> impl Iterator<Item = &'a Task> {
        let plan = self.plan.as_ref().map(|revised| &revised.plan);
        let plan = plan.filter(|_| !self.workflow.is_unroutable);
        let mut outcomes = self.outcomes.clone();
        match ended {
            Some(ended) => outcomes.set(plan, ended),
            None => outcomes.follow(plan),
        }
        let mut ready = outcomes.progress.ready.clone();
        if self.workflow.is_aggregated == Some(true) {
            self.add_ready_after_aggregate(&outcomes, &mut ready);
        }
        let mut next = ready.keys().next().copied();
        let positions = core::iter::from_fn(move || {
            let at = next?;
            next = at.checked_add(1).and_then(|after| ready.range(after..).next().map(|(at, ())| *at));
            Some(at)
        });
        let is_pending = |task| pending.iter().any(|call| call.running_task() == Some(task));
        let tasks = positions.filter_map(move |at| plan?.tasks().get(at));
        tasks.filter(move |task| !is_pending(task.id))
    }

    /// Adds the positions of the tasks that wait only for members whose results were aggregated, some of which may have failed.
    fn add_ready_after_aggregate(&self, outcomes: &TaskOutcomes, ready: &mut SharedSet<usize>) {
        let is_satisfied = |task: &TaskId| {
            outcomes.get(*task) == Some(TaskOutcome::Succeeded) || self.aggregated.contains(task)
        };
        let tasks = self.plan.iter().flat_map(|revised| revised.plan.dependencies()).enumerate();
        for (at, (task, dependencies)) in tasks {
            if outcomes.get(task.id).is_none() && dependencies.iter().all(is_satisfied) {
                ready.insert(at, ());
            }
        }
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

    /// Returns whether a review interrupts a run, in a phase that reviews the plan. A repaired plan starts a run of its own.
    #[must_use]
    pub fn is_run_interrupted(&self) -> bool {
        !self.outcomes.is_empty() || !self.workflow.validations.is_empty()
    }

    /// Returns whether the outcome of a task is unknown.
    #[must_use]
    pub fn has_unknown_outcome(&self) -> bool {
        !self.outcomes.unknown.is_empty()
    }

    pub(super) fn clear_run(&mut self) {
        self.outcomes.clear();
        self.workflow = Workflow::default();
    }

    /// Records who executed a task, and the answer of a member.
    pub(super) fn record_success(&mut self, task: TaskId, text: &Text, number: Option<Millionths>) {
        let node = self.started(task).and_then(|started| started.node.clone());
        node.into_iter().for_each(|node| self.workflow.lineage.push_back_mut(node));
        if self.plan.as_ref().is_some_and(|revised| revised.plan.is_member(task)) {
            self.workflow.answers.push(MemberAnswer { task, text: text.clone(), number });
        }
    }

    /// Forgets the outcomes of tasks that run again.
    pub(super) fn forget_outcomes(&mut self, tasks: &[TaskId]) {
        let kept: Vec<TaskResult> =
            self.outcomes.iter().filter(|ended| !tasks.contains(&ended.task)).copied().collect();
        self.outcomes = kept.into_iter().collect();
        self.workflow.answers.retain(|answer| !tasks.contains(&answer.task));
        let plan = self.plan.as_ref().map(|revised| &revised.plan);
        if plan.is_some_and(|plan| tasks.iter().any(|task| plan.is_member(*task))) {
            self.workflow.is_aggregated = None;
            self.aggregated.clear();
        }
    }

    pub(super) fn set_task_outcome(&mut self, task: TaskId, outcome: TaskOutcome) {
        let plan = self.plan.as_ref().map(|revised| &revised.plan);
        self.outcomes.set(plan, TaskResult { task, outcome });
    }
}

fn is_unknown(outcome: TaskOutcome) -> bool {
    outcome == TaskOutcome::NoResult(Failure::OutcomeUnknown)
}

impl FromIterator<TaskResult> for TaskOutcomes {
    /// Of several outcomes of a task, the last one counts.
    fn from_iter<I: IntoIterator<Item = TaskResult>>(results: I) -> Self {
        let mut outcomes = Self::default();
        results.into_iter().for_each(|result| outcomes.set(None, result));
        outcomes
    }
}

#[cfg(feature = "serde")]
impl From<alloc::vec::Vec<TaskResult>> for TaskOutcomes {
    fn from(results: alloc::vec::Vec<TaskResult>) -> Self {
        results.into_iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<TaskOutcomes> for alloc::vec::Vec<TaskResult> {
    fn from(outcomes: TaskOutcomes) -> Self {
        outcomes.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EffectOutcome, Event};
    use crate::ids::{CallId, RequestId, Revision};
    use crate::item::Scope;
    use crate::module::Operation;
    use crate::plan::{Effect, EffectKind, StepOptions};
    use crate::state::{EffectsLedger, StartedTask};
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    /// A reproducible sequence of numbers.
    struct Choice(u64);

    impl Choice {
        fn below(&mut self, bound: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from((self.0 >> 33) % u64::from(bound)).unwrap()
        }

        fn one_of(&mut self, ids: &[TaskId]) -> TaskId {
            let at = self.below(u32::try_from(ids.len()).unwrap());
            ids[usize::try_from(at).unwrap()]
        }
    }

    const TASKS: u32 = 6;

    /// Returns a plan of tasks in any order of numbers, with any dependencies, also repeated ones.
    fn plan(choice: &mut Choice) -> Plan {
        let mut ids: Vec<TaskId> = (1..=TASKS).map(TaskId::new).collect();
        ids.rotate_left(usize::try_from(choice.below(TASKS)).unwrap());
        let task = |(at, id): (usize, &TaskId)| Task {
            id: *id,
            text: "a task".into(),
            effect: Effect::Pure,
            depends_on: (at > 0 && choice.below(4) > 0)
                .then(|| (0..choice.below(3)).map(|_| choice.one_of(&ids[..at])).collect()),
            scope: None,
            step: StepOptions::default(),
        };
        Plan::new(ids.iter().enumerate().map(task).collect()).unwrap()
    }

    fn outcome(choice: &mut Choice) -> TaskOutcome {
        match choice.below(4) {
            0 => TaskOutcome::from_exit_code(1),
            1 => TaskOutcome::NoResult(Failure::OutcomeUnknown),
            _ => TaskOutcome::Succeeded,
        }
    }

    /// The definition of [`Request::ready_tasks`].
    fn expected_ready(request: &Request, pending: &[Call], ended: Option<TaskResult>) -> Vec<TaskId> {
        let outcome = |task: TaskId| {
            ended
                .filter(|ended| ended.task == task)
                .map(|ended| ended.outcome)
                .or_else(|| request.outcome(task))
        };
        let plan = request.plan.iter().flat_map(|revised| revised.plan.dependencies());
        let ready = plan.filter(|(task, dependencies)| {
            outcome(task.id).is_none()
                && !pending.iter().any(|call| call.running_task() == Some(task.id))
                && dependencies.iter().all(|task| outcome(*task) == Some(TaskOutcome::Succeeded))
        });
        ready.map(|(task, _)| task.id).collect()
    }

    #[test]
    fn ready_tasks_follow_from_plan_and_outcomes() {
        let mut choice = Choice(1);
        let mut found = 0;
        for _ in 0..200 {
            let mut request = Arc::new(Request::new(RequestId::FIRST, "do it".into(), Scope::Global));
            for _ in 0..20 {
                match choice.below(8) {
                    0 => {
                        let (revision, plan) = (Revision::FIRST, plan(&mut choice));
                        Request::apply(&mut request, &Event::PlanAdopted { revision, plan }, &[]);
                    }
                    1 => Arc::make_mut(&mut request).outcomes.clear(),
                    _ => {
                        // One more number than the plan has tasks.
                        let task = TaskId::new(choice.below(TASKS + 1) + 1);
                        Arc::make_mut(&mut request).set_task_outcome(task, outcome(&mut choice));
                    }
                }
                let task = TaskId::new(choice.below(TASKS) + 1);
                let operation = Operation::RunTask { task, effect: EffectKind::Pure };
                let pending = [Call { id: CallId::FIRST, operation, not_made: None }];
                let ended = Some(TaskResult { task, outcome: outcome(&mut choice) });
                for (pending, ended) in [(&[][..], None), (&pending[..], None), (&pending[..], ended)] {
                    let ready: Vec<TaskId> =
                        request.ready_tasks(pending, ended).map(|task| task.id).collect();
                    assert_eq!(ready, expected_ready(&request, pending, ended), "{request:?}");
                    found += ready.len();
                }
                let mut results = request.outcomes.iter();
                assert_eq!(request.has_unknown_outcome(), results.any(|ended| is_unknown(ended.outcome)));
                let copy: TaskOutcomes = request.outcomes.iter().copied().collect();
                assert_eq!(copy, request.outcomes, "equality ignores the progress");
            }
        }
        assert!(found > 1000, "only {found} ready tasks");
    }

    #[test]
    fn ledger_equals_its_entries() {
        let started = |task: u32, outcome| StartedTask {
            task: TaskId::new(task),
            effect: EffectKind::Undoable,
            version: None,
            outcome,
            node: None,
        };
        let kept = |task| started(task, EffectOutcome::Kept);
        let mut ledger: EffectsLedger = [kept(1), kept(2), kept(3), kept(1)].into_iter().collect();
        assert_eq!(ledger, [kept(2), kept(3), kept(1)].into_iter().collect());
        assert_ne!(ledger, [kept(1), kept(2), kept(3)].into_iter().collect());
        let next =
            |ledger: &EffectsLedger| ledger.undoable().next_back().map(|started| started.task.number());
        assert_eq!(next(&ledger), Some(1));
        ledger.set_outcome(TaskId::new(1), EffectOutcome::Undone);
        assert_eq!(next(&ledger), Some(3));
        assert_eq!(ledger.get(TaskId::new(1)), Some(&started(1, EffectOutcome::Undone)));
    }
}
