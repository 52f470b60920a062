//! The plan: tasks with their declared effects and dependencies (004 §1, SandboxedExecution; 001 §5).
//!
//! A task depends on earlier tasks of the plan, so a plan has no cycle. Without declared dependencies the tasks are a sequence.
//! [`Plan::new`] rejects an empty plan, duplicate task numbers, and a dependency on no earlier task. Deliberately absent: the meaning
//! of a task's text.

mod index;
mod step;
mod workflow;

pub use step::StepOptions;
pub use workflow::{Aggregation, WorkflowType};

use crate::ids::{TaskId, Text};
use crate::item::Scope;
use crate::shared_map::SharedSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use index::TaskIndex;

/// The effect of a task outside the sandbox, with its compensation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Effect {
    /// No effect outside the sandbox.
    Pure,
    /// An effect that the declared compensation undoes.
    Undoable {
        /// The compensation, as text for the executor.
        compensation: Text,
    },
    /// An effect that cannot be undone.
    Irreversible,
}

impl Effect {
    /// Returns the kind of effect, without the compensation.
    #[must_use]
    pub const fn kind(&self) -> EffectKind {
        match self {
            Self::Pure => EffectKind::Pure,
            Self::Undoable { .. } => EffectKind::Undoable,
            Self::Irreversible => EffectKind::Irreversible,
        }
    }
}

/// The kind of a task's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EffectKind {
    /// See [`Effect::Pure`].
    Pure,
    /// See [`Effect::Undoable`].
    Undoable,
    /// See [`Effect::Irreversible`].
    Irreversible,
}

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Task {
    /// The task number, which later revisions keep.
    pub id: TaskId,
    /// The instruction for the executor.
    pub text: Text,
    /// The declared effect.
    pub effect: Effect,
    /// The earlier tasks that must succeed before it starts; `None` for the task before it (decision 0040).
    #[cfg_attr(feature = "serde", serde(default))]
    pub depends_on: Option<Vec<TaskId>>,
    /// The scope in which the task runs; `None` for that of the request (decision 0037).
    #[cfg_attr(feature = "serde", serde(default))]
    pub scope: Option<Scope>,
    /// How the task is executed as a step of a workflow (001 §3, decision 0042).
    #[cfg_attr(feature = "serde", serde(default))]
    pub step: StepOptions,
}

/// 1 to [`Plan::TASKS_MAX`] tasks with distinct numbers, each after the tasks that it depends on; and how the results of its
/// members are aggregated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    tasks: Arc<[Task]>,
    aggregation: Option<Aggregation>,
    index: TaskIndex,
}

/// The digest of the tasks is computed once for all clones.
impl Hash for Plan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.index.digest(&self.tasks));
        self.aggregation.hash(state);
    }
}

/// Why a list of tasks is not a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanError {
    /// No task at all.
    Empty,
    /// More than [`Plan::TASKS_MAX`] tasks.
    TooLong {
        /// The number of tasks.
        tasks: usize,
    },
    /// Two tasks have the same number.
    DuplicateTask {
        /// The number.
        task: TaskId,
    },
    /// A task depends on itself, on a later task, or on no task of the plan.
    NotEarlier {
        /// The task.
        task: TaskId,
        /// The dependency.
        dependency: TaskId,
    },
    /// A task validates no task that it depends on.
    NotValidated {
        /// The task.
        task: TaskId,
        /// The task that it validates.
        validates: TaskId,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("empty plan: expected at least one task"),
            Self::TooLong { tasks } => {
                write!(f, "plan too long: expected at most {} tasks, found {tasks}", Plan::TASKS_MAX)
            }
            Self::DuplicateTask { task } => {
                write!(f, "duplicate task: expected distinct task numbers, found {task} twice")
            }
            Self::NotEarlier { task, dependency } => {
                write!(
                    f,
                    "dependency of task {task}: expected an earlier task of the plan, found {dependency}"
                )
            }
            Self::NotValidated { task, validates } => {
                write!(f, "validation by task {task}: expected a task that it depends on, found {validates}")
            }
        }
    }
}

impl core::error::Error for PlanError {}

impl Plan {
    /// The maximum number of tasks.
    pub const TASKS_MAX: usize = 10_000;

    /// Creates a plan of these tasks, in this order.
    ///
    /// # Errors
    /// [`PlanError`] if there is no task, too many tasks, a duplicate number, or a dependency on no earlier task.
    pub fn new(tasks: Vec<Task>) -> Result<Self, PlanError> {
        if tasks.is_empty() {
            return Err(PlanError::Empty);
        }
        if tasks.len() > Self::TASKS_MAX {
            return Err(PlanError::TooLong { tasks: tasks.len() });
        }
        let mut seen = alloc::collections::BTreeSet::new();
        for task in &tasks {
            let declared = task.depends_on.iter().flatten();
            if let Some(dependency) = declared.copied().find(|dependency| !seen.contains(dependency)) {
                return Err(PlanError::NotEarlier { task: task.id, dependency });
            }
            if !seen.insert(task.id) {
                return Err(PlanError::DuplicateTask { task: task.id });
            }
        }
        let index = TaskIndex::new(&tasks);
        let plan = Self { tasks: tasks.into(), aggregation: None, index };
        let not_validated = plan.dependencies().find_map(|(task, dependencies)| {
            let validates = task.step.validates.filter(|validated| !dependencies.contains(validated))?;
            Some(PlanError::NotValidated { task: task.id, validates })
        });
        not_validated.map_or(Ok(plan), Err)
    }

    /// Returns an upper bound on the bytes of the tasks in the payload of a call.
    pub(crate) fn task_bytes_max(&self) -> usize {
        self.index.task_bytes_max()
    }

    /// Returns the scope of the plan: the one that all tasks declare, if they declare the same.
    #[must_use]
    pub fn scope(&self) -> Option<&Scope> {
        let scope = self.tasks.first()?.scope.as_ref()?;
        self.tasks.iter().all(|task| task.scope.as_ref() == Some(scope)).then_some(scope)
    }

    /// Returns each task with the tasks that must succeed before it starts: those that it declares, else the task before it.
    pub fn dependencies(&self) -> impl Iterator<Item = (&Task, &[TaskId])> {
        dependencies(&self.tasks)
    }

    /// Returns the task with this number.
    #[must_use]
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.get(self.position(id)?)
    }

    /// Returns the position of the task with this number, from 0.
    pub(crate) fn position(&self, id: TaskId) -> Option<usize> {
        self.index.position(id)
    }

    /// Returns the number of distinct tasks that must succeed before the task at this position starts.
    pub(crate) fn required(&self, at: usize) -> usize {
        self.index.required(at)
    }

    /// Returns the positions of the tasks that depend directly on the task at this position, in order.
    pub(crate) fn dependents(&self, at: usize) -> &[usize] {
        self.index.dependents(at)
    }

    /// Returns the positions of the tasks without dependencies.
    pub(crate) fn initial(&self) -> &SharedSet<usize> {
        self.index.initial()
    }

    /// Returns whether both are clones of one plan.
    pub(crate) fn is_clone_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tasks, &other.tasks)
    }

    /// Returns the tasks, in order; never empty.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }
}

fn dependencies(tasks: &[Task]) -> impl Iterator<Item = (&Task, &[TaskId])> {
    let before = core::iter::once(None).chain(tasks.iter().map(Some));
    tasks.iter().zip(before).map(|(task, before)| {
        let sequence = before.map_or(&[][..], |before| core::slice::from_ref(&before.id));
        (task, task.depends_on.as_deref().unwrap_or(sequence))
    })
}

impl TryFrom<Vec<Task>> for Plan {
    type Error = PlanError;
    fn try_from(tasks: Vec<Task>) -> Result<Self, PlanError> {
        Self::new(tasks)
    }
}

impl From<Plan> for Vec<Task> {
    fn from(plan: Plan) -> Self {
        plan.tasks.to_vec()
    }
}

impl fmt::Display for EffectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pure => "pure",
            Self::Undoable => "undoable",
            Self::Irreversible => "irreversible",
        })
    }
}

/// The encoding of a task. A module receives it as JSON, which omits dependencies and a scope that the task does not declare; an
/// encoding without field names contains every field.
#[cfg(feature = "serde")]
mod encoding {
    use super::{Aggregation, Plan, StepOptions, Task};
    use alloc::vec::Vec;
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::{Serialize, SerializeStruct, Serializer};

    /// A plan without an aggregation is the list of its tasks.
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum ReadablePlan {
        Tasks(Vec<Task>),
        Aggregated(AggregatedPlan),
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct AggregatedPlan {
        tasks: Vec<Task>,
        aggregation: Option<Aggregation>,
    }

    impl Serialize for Plan {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if serializer.is_human_readable() && self.aggregation.is_none() {
                return self.tasks.serialize(serializer);
            }
            let mut plan = serializer.serialize_struct("AggregatedPlan", 2)?;
            plan.serialize_field("tasks", &self.tasks)?;
            plan.serialize_field("aggregation", &self.aggregation)?;
            plan.end()
        }
    }

    impl<'de> Deserialize<'de> for Plan {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let read = if deserializer.is_human_readable() {
                ReadablePlan::deserialize(deserializer)?
            } else {
                ReadablePlan::Aggregated(AggregatedPlan::deserialize(deserializer)?)
            };
            let (tasks, aggregation) = match read {
                ReadablePlan::Tasks(tasks) => (tasks, None),
                ReadablePlan::Aggregated(AggregatedPlan { tasks, aggregation }) => (tasks, aggregation),
            };
            Ok(Self { aggregation, ..Self::new(tasks).map_err(D::Error::custom)? })
        }
    }

    impl Serialize for Task {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Self { id, text, effect, depends_on, scope, step } = self;
            let is_complete = !serializer.is_human_readable();
            let has_dependencies = is_complete || depends_on.is_some();
            let has_scope = is_complete || scope.is_some();
            let has_step = is_complete || *step != StepOptions::default();
            let optional = [has_dependencies, has_scope, has_step].into_iter().filter(|has| *has).count();
            let mut task = serializer.serialize_struct("Task", optional.saturating_add(3))?;
            task.serialize_field("id", id)?;
            task.serialize_field("text", text)?;
            task.serialize_field("effect", effect)?;
            if has_dependencies {
                task.serialize_field("depends_on", depends_on)?;
            }
            if has_scope {
                task.serialize_field("scope", scope)?;
            }
            if has_step {
                task.serialize_field("step", step)?;
            }
            task.end()
        }
    }
}
