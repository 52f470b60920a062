//! One run of a plan: which tasks may start, and whether the run succeeds (decisions 0040 and 0042).

use super::routing::Need;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::plan::{Aggregation, Effect, Plan, Task};
use orchestrion_kernel::{CapabilityId, NodeId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It did not start.
    NotStarted,
    /// It runs.
    Running,
    /// It exited with code 0.
    Succeeded,
    /// It exited with another code.
    Exited,
    /// Its call failed.
    NoResult(Failure),
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) tasks: Vec<Task>,
    pub(super) dependencies: BTreeMap<TaskId, Vec<TaskId>>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) progress: BTreeMap<TaskId, Progress>,
    pub(super) assigned: BTreeMap<TaskId, NodeId>,
    pub(super) left_out: BTreeSet<TaskId>,
    pub(super) unroutable: Option<TaskId>,
    pub(super) answers: BTreeMap<TaskId, (String, Option<i64>)>,
    pub(super) is_aggregated: Option<bool>,
    pub(super) validations: BTreeMap<TaskId, u32>,
    pub(super) lineage: Vec<NodeId>,
}

/// The need of a task.
pub(super) fn task_need(task: &Task) -> Need {
    match &task.step.requirements {
        Some(requirements) => Need((**requirements).clone()),
        None => Need::capability(CapabilityId::new("executor")),
    }
}

impl Run {
    pub(super) fn new(plan: &Plan) -> Self {
        let tasks = plan.tasks().to_vec();
        let mut dependencies = BTreeMap::new();
        let mut before: Option<TaskId> = None;
        for task in &tasks {
            let declared = task.depends_on.clone();
            dependencies.insert(task.id, declared.unwrap_or_else(|| before.into_iter().collect()));
            before = Some(task.id);
        }
        Self {
            progress: tasks.iter().map(|task| (task.id, Progress::NotStarted)).collect(),
            tasks,
            dependencies,
            aggregation: plan.aggregation().copied(),
            assigned: BTreeMap::new(),
            left_out: BTreeSet::new(),
            unroutable: None,
            answers: BTreeMap::new(),
            is_aggregated: None,
            validations: BTreeMap::new(),
            lineage: Vec::new(),
        }
    }

    pub(super) fn progress(&self, task: TaskId) -> Progress {
        self.progress.get(&task).copied().unwrap_or(Progress::NotStarted)
    }

    pub(super) fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    pub(super) fn is_member(&self, id: TaskId) -> bool {
        self.aggregation.is_some() && self.dependencies.get(&id).is_some_and(Vec::is_empty)
    }

    pub(super) fn members(&self) -> Vec<Task> {
        self.tasks.iter().filter(|task| self.is_member(task.id)).cloned().collect()
    }

    /// At least two tasks, each depends exactly on the task before it.
    pub(super) fn is_sequential(&self) -> bool {
        let mut expected: Vec<TaskId> = Vec::new();
        for task in &self.tasks {
            let mut declared = self.dependencies[&task.id].clone();
            declared.dedup();
            if declared != expected {
                return false;
            }
            expected = vec![task.id];
        }
        self.tasks.len() >= 2 && self.aggregation.is_none()
    }

    /// The task before this one.
    pub(super) fn before(&self, id: TaskId) -> Option<TaskId> {
        let at = self.tasks.iter().position(|task| task.id == id)?;
        Some(self.tasks.get(at.checked_sub(1)?)?.id)
    }

    pub(super) fn is_running(&self) -> bool {
        self.progress.values().any(|progress| *progress == Progress::Running)
    }

    pub(super) fn is_unknown(&self) -> bool {
        self.progress.values().any(|progress| *progress == Progress::NoResult(Failure::OutcomeUnknown))
    }

    fn is_satisfied(&self, dependency: TaskId) -> bool {
        self.progress(dependency) == Progress::Succeeded
            || self.is_member(dependency) && self.is_aggregated == Some(true)
    }

    /// The task that starts next: the highest priority first, then the order of the plan.
    pub(super) fn next_task(&self) -> Option<Task> {
        if let Some(task) = self.unroutable {
            return self.task(task).filter(|_| self.progress(task) == Progress::NotStarted).cloned();
        }
        let mut best: Option<&Task> = None;
        for task in &self.tasks {
            let is_ready = self.progress(task.id) == Progress::NotStarted
                && !self.left_out.contains(&task.id)
                && self.dependencies[&task.id].iter().all(|dependency| self.is_satisfied(*dependency));
            let is_higher = best.is_none_or(|best| task_need(task).priority() > task_need(best).priority());
            if is_ready && is_higher {
                best = Some(task);
            }
        }
        best.cloned()
    }

    fn may_fail(&self, id: TaskId) -> bool {
        let Some(aggregation) = self.aggregation else { return false };
        let is_best_effort = matches!(
            aggregation.strategy,
            orchestrion_kernel::network::aggregation::AggregationStrategy::BestEffort
        );
        self.is_member(id) && (aggregation.is_ensemble || is_best_effort)
    }

    /// Whether every required task succeeded, and the results of the members have an aggregate.
    pub(super) fn has_succeeded(&self) -> bool {
        let mut skipped = BTreeSet::new();
        let mut is_complete = true;
        for task in &self.tasks {
            if self.progress(task.id) == Progress::Succeeded {
                continue;
            }
            let is_skipped = self.dependencies[&task.id].iter().any(|dependency| {
                let is_optional = self.task(*dependency).is_some_and(|task| task.step.optional);
                !self.is_satisfied(*dependency) && (is_optional || skipped.contains(dependency))
            });
            if is_skipped {
                skipped.insert(task.id);
            }
            if !task.step.optional && !is_skipped && !self.may_fail(task.id) {
                is_complete = false;
            }
        }
        is_complete && (self.aggregation.is_none() || self.is_aggregated == Some(true))
    }

    /// The tasks that a failed validation repeats, in plan order; none if it repeats nothing.
    pub(super) fn repeated(&self, validation: TaskId, max_retries: u32) -> Vec<TaskId> {
        let Some(validated) = self.task(validation).and_then(|task| task.step.validates) else {
            return Vec::new();
        };
        if self.validations.get(&validation).copied().unwrap_or(0) >= max_retries {
            return Vec::new();
        }
        let mut repeated = BTreeSet::from([validated]);
        for task in &self.tasks {
            if self.dependencies[&task.id].iter().any(|dependency| repeated.contains(dependency)) {
                repeated.insert(task.id);
            }
        }
        let repeated: Vec<&Task> = self.tasks.iter().filter(|task| repeated.contains(&task.id)).collect();
        let are_pure = repeated.iter().all(|task| matches!(task.effect, Effect::Pure));
        // No text says what happens to a dependent that runs: it is not started twice, so nothing is repeated.
        let is_idle = repeated.iter().all(|task| self.progress(task.id) != Progress::Running);
        let is_left_out = repeated.iter().any(|task| self.left_out.contains(&task.id));
        if are_pure && is_idle && !is_left_out {
            repeated.iter().map(|task| task.id).collect()
        } else {
            Vec::new()
        }
    }

    /// Whether every member ended or is left out.
    pub(super) fn members_ended(&self) -> bool {
        let has_ended = |task: &Task| {
            let is_open = matches!(self.progress(task.id), Progress::NotStarted | Progress::Running);
            !is_open || self.left_out.contains(&task.id)
        };
        let members = self.members();
        !members.is_empty() && members.iter().all(has_ended)
    }

    /// Whether a member succeeded, and only members failed that may fail. Otherwise the run fails without an aggregate.
    pub(super) fn can_aggregate(&self) -> bool {
        let may_miss = |task: &Task| self.progress(task.id) == Progress::Succeeded || self.may_fail(task.id);
        let members = self.members();
        let has_result = members.iter().any(|task| self.progress(task.id) == Progress::Succeeded);
        has_result && members.iter().all(may_miss)
    }
}
