//! The agreed plan: a sequence of tasks, each with the effect that it declares (004 §1, SandboxedExecution).
//!
//! A plan that could not run is not representable: [`Plan::new`] refuses it. Deliberately absent: what a
//! task does; that is the executor's.

use crate::ids::{TaskId, Text};
use alloc::vec::Vec;
use core::fmt;

/// What a task leaves behind, and what would take it back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Effect {
    /// Nothing outside the sandbox.
    Pure,
    /// Something that the declared compensation takes back.
    Undoable {
        /// The compensation, in the executor's words.
        compensation: Text,
    },
    /// Something that stays.
    Irreversible,
}

impl Effect {
    /// The kind of effect, without the words of its compensation.
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Task {
    /// Its number, which later revisions keep.
    pub id: TaskId,
    /// What is to be done, in words.
    pub text: Text,
    /// What it leaves behind.
    pub effect: Effect,
}

/// A sequence of 1 to [`Plan::TASKS_MAX`] tasks with distinct numbers, run in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Task>", into = "Vec<Task>"))]
pub struct Plan(alloc::sync::Arc<[Task]>);

/// Why a list of tasks is no plan; reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// No task at all.
    Empty,
    /// More tasks than a plan may have.
    TooLong {
        /// How many there were.
        tasks: usize,
    },
    /// Two tasks with one number.
    Repeated {
        /// The number.
        task: TaskId,
    },
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a plan needs at least one task"),
            Self::TooLong { tasks } => {
                write!(f, "a plan may have {} tasks, this one has {tasks}", Plan::TASKS_MAX)
            }
            Self::Repeated { task } => write!(f, "two tasks of the plan have the number {task}"),
        }
    }
}

impl core::error::Error for PlanError {}

impl Plan {
    /// The most tasks that a plan may have.
    pub const TASKS_MAX: usize = 1000;

    /// A plan of these tasks, in this order.
    ///
    /// # Errors
    /// [`PlanError`] if there is no task, too many, or two with the same number.
    pub fn new(tasks: Vec<Task>) -> Result<Self, PlanError> {
        if tasks.is_empty() {
            return Err(PlanError::Empty);
        }
        if tasks.len() > Self::TASKS_MAX {
            return Err(PlanError::TooLong { tasks: tasks.len() });
        }
        let mut seen = alloc::collections::BTreeSet::new();
        for task in &tasks {
            if !seen.insert(task.id) {
                return Err(PlanError::Repeated { task: task.id });
            }
        }
        Ok(Self(tasks.into()))
    }

    /// The tasks, in order; never empty.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.0
    }
}

impl TryFrom<Vec<Task>> for Plan {
    type Error = PlanError;
    fn try_from(tasks: Vec<Task>) -> Result<Self, PlanError> {
        Self::new(tasks)
    }
}

impl From<Plan> for Vec<Task> {
    fn from(plan: Plan) -> Self {
        plan.0.to_vec()
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
