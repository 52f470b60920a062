//! The machine of a workflow: one run of a plan (001 §5.2 `status`).

use super::machine::{NetworkTransition, first_transition};

use WorkflowGuard::{Always, Succeeded};
use WorkflowStatus::{Cancelled, Completed, Failed, Pending, Running};

/// The status of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum WorkflowStatus {
    /// The plan has not started.
    Pending,
    /// Its steps run.
    Running,
    /// Every required step succeeded.
    Completed,
    /// A required step failed.
    Failed,
    /// The user cancelled it.
    Cancelled,
}

impl WorkflowStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Pending, Running, Completed, Failed, Cancelled];
}

/// What happens to a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkflowTrigger {
    /// The plan proceeds.
    Start,
    /// The last step ended.
    StepsEnded,
    /// The user cancels.
    Cancel,
}

/// A condition on the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkflowGuard {
    /// Always true.
    Always,
    /// Every required step succeeded, and the results of the members have an aggregate.
    Succeeded,
}

/// A row of [`WORKFLOW_TRANSITIONS`].
pub type WorkflowTransition = NetworkTransition<WorkflowStatus, WorkflowTrigger, WorkflowGuard, ()>;

/// The machine of a workflow.
#[rustfmt::skip]
pub const WORKFLOW_TRANSITIONS: &[WorkflowTransition] = &[
    row("W01", &[Pending],          WorkflowTrigger::Start,      Always,    Running,   "the plan proceeds"),
    row("W02", &[Running],          WorkflowTrigger::StepsEnded, Succeeded, Completed, "every required step succeeded"),
    row("W03", &[Running],          WorkflowTrigger::StepsEnded, Always,    Failed,    "a required step failed"),
    row("W04", &[Pending, Running], WorkflowTrigger::Cancel,     Always,    Cancelled, "the user cancelled"),
];

const fn row(
    id: &'static str,
    from: &'static [WorkflowStatus],
    on: WorkflowTrigger,
    when: WorkflowGuard,
    to: WorkflowStatus,
    label: &'static str,
) -> WorkflowTransition {
    NetworkTransition { id, clause: "001-5.2", from, on, when, action: (), to, label }
}

/// Returns the row that a workflow takes.
#[must_use]
pub fn workflow_transition(
    from: WorkflowStatus,
    on: WorkflowTrigger,
    holds: impl FnMut(WorkflowGuard) -> bool,
) -> Option<&'static WorkflowTransition> {
    first_transition(WORKFLOW_TRANSITIONS, &from, &on, holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::check_rows;

    #[test]
    fn workflow_rows_are_distinct_and_end() {
        check_rows(WORKFLOW_TRANSITIONS);
        for status in WorkflowStatus::ALL {
            let leaves = WORKFLOW_TRANSITIONS.iter().any(|row| row.from.contains(&status));
            assert_eq!(leaves, matches!(status, Pending | Running), "{status:?}");
        }
    }
}
