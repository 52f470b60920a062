//! The run of a plan as a workflow: where its members run, what they answered, and who executed (001 §5; decision 0042).

use crate::ids::{NodeId, TaskId, Text};
use crate::network::{AssignedStep, Millionths};
use alloc::vec::Vec;
use rpds::VectorSync as Vector;

/// The state of a run that belongs to the workflow, not to a single task. Cleared when the run ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Workflow {
    /// The members that were routed when the run started.
    pub assigned: Vec<AssignedStep>,
    /// A member could not be routed, so that no task starts.
    pub is_unroutable: bool,
    /// The answers of the members that succeeded, in the order of their end.
    pub answers: Vec<MemberAnswer>,
    /// Whether the results of the members have an aggregate; `None` before all members ended.
    pub is_aggregated: Option<bool>,
    /// The failed validations that repeated tasks, with their number.
    pub validations: Vec<FailedValidations>,
    /// The nodes that executed tasks successfully, in order. A copy shares them.
    pub lineage: Vector<NodeId>,
}

/// The answer of a member that succeeded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MemberAnswer {
    /// The member.
    pub task: TaskId,
    /// The answer.
    pub text: Text,
    /// The answer as a number, if it is one.
    pub number: Option<Millionths>,
}

/// A validation with the number of times that it failed and repeated its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FailedValidations {
    /// The validation.
    pub task: TaskId,
    /// The number.
    pub count: u32,
}

impl Default for Workflow {
    fn default() -> Self {
        Self {
            assigned: Vec::new(),
            is_unroutable: false,
            answers: Vec::new(),
            is_aggregated: None,
            validations: Vec::new(),
            lineage: Vector::new_sync(),
        }
    }
}

impl Workflow {
    /// Returns the node that a member was assigned when the run started.
    #[must_use]
    pub fn assigned_node(&self, task: TaskId) -> Option<&NodeId> {
        self.assigned.iter().find(|assigned| assigned.task == task).map(|assigned| &assigned.node)
    }

    /// Returns how often a validation failed and repeated its task in this run.
    #[must_use]
    pub fn failed_validations(&self, task: TaskId) -> u32 {
        self.validations.iter().find(|failed| failed.task == task).map_or(0, |failed| failed.count)
    }

    pub(super) fn count_validation(&mut self, task: TaskId) {
        match self.validations.iter_mut().find(|failed| failed.task == task) {
            Some(failed) => failed.count = failed.count.saturating_add(1),
            None => self.validations.push(FailedValidations { task, count: 1 }),
        }
    }
}
