//! The machine of a step: one call that a node executes (001 §5.2 `StepStatus`).

use super::machine::{NetworkTransition, first_transition};

use StepGuard::{Always, DependenciesMissing, RetriesLeft};
use StepStatus::{Completed, Failed, Pending, Ready, Running, Skipped, Waiting};

/// The status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum StepStatus {
    /// The run has not started.
    Pending,
    /// A task that it depends on has not ended.
    Waiting,
    /// It can start, or waits for its handoff.
    Ready,
    /// A node executes it.
    Running,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It does not run, because an optional task that it depends on failed.
    Skipped,
}

impl StepStatus {
    /// Every status.
    pub const ALL: [Self; 7] = [Pending, Waiting, Ready, Running, Completed, Failed, Skipped];
}

/// What happens to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepTrigger {
    /// The run starts.
    Start,
    /// The last task that it depends on succeeded.
    DependenciesMet,
    /// A required task that it depends on failed, or was skipped for that reason.
    DependencyFailed,
    /// An optional task that it depends on failed or was skipped.
    OptionalDependencyFailed,
    /// Its node accepted the handoff, or executes it itself.
    Accepted,
    /// Its node replied with success.
    Succeeded,
    /// Its handoff was refused or lost, or its node reported an error.
    Error,
    /// Its node did not reply in time.
    Timeout,
    /// The run is cancelled.
    Cancelled,
}

/// A condition on the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepGuard {
    /// Always true.
    Always,
    /// A task that it depends on has not succeeded.
    DependenciesMissing,
    /// The policy allows another attempt, the attempt had no effect, and a next-best node exists.
    RetriesLeft,
}

/// A row of [`STEP_TRANSITIONS`].
pub type StepTransition = NetworkTransition<StepStatus, StepTrigger, StepGuard, ()>;

/// The machine of a step. Rows S03 to S09 are calls that nodes execute; the others follow from the order of the plan.
#[rustfmt::skip]
pub const STEP_TRANSITIONS: &[StepTransition] = &[
    row("S01", &[Pending],                 StepTrigger::Start,                    DependenciesMissing, Waiting,   "the run starts, dependencies are missing"),
    row("S02", &[Pending],                 StepTrigger::Start,                    Always,              Ready,     "the run starts"),
    row("S03", &[Waiting],                 StepTrigger::DependenciesMet,          Always,              Ready,     "the last dependency succeeded"),
    row("S04", &[Waiting],                 StepTrigger::DependencyFailed,         Always,              Failed,    "a required dependency failed"),
    row("S05", &[Waiting],                 StepTrigger::OptionalDependencyFailed, Always,              Skipped,   "an optional dependency failed"),
    row("S06", &[Ready],                   StepTrigger::Accepted,                 Always,              Running,   "a node accepted the handoff"),
    row("S07", &[Running],                 StepTrigger::Succeeded,                Always,              Completed, "the node succeeded"),
    row("S08", &[Ready, Running],          StepTrigger::Error,                    RetriesLeft,         Ready,     "an attempt failed, the next-best node is tried"),
    row("S09", &[Ready, Running],          StepTrigger::Error,                    Always,              Failed,    "an attempt failed, none is left"),
    row("S10", &[Running],                 StepTrigger::Timeout,                  Always,              Failed,    "the node did not reply in time"),
    row("S11", &[Waiting, Ready, Running], StepTrigger::Cancelled,                Always,              Failed,    "the run is cancelled"),
];

const fn row(
    id: &'static str,
    from: &'static [StepStatus],
    on: StepTrigger,
    when: StepGuard,
    to: StepStatus,
    label: &'static str,
) -> StepTransition {
    NetworkTransition { id, clause: "001-5.2", from, on, when, action: (), to, label }
}

/// Returns the row that a step takes.
#[must_use]
pub fn step_transition(
    from: StepStatus,
    on: StepTrigger,
    holds: impl FnMut(StepGuard) -> bool,
) -> Option<&'static StepTransition> {
    first_transition(STEP_TRANSITIONS, &from, &on, holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::machine::check_rows;

    #[test]
    fn step_rows_are_distinct_and_end() {
        check_rows(STEP_TRANSITIONS);
        let is_final = |status: &StepStatus| matches!(status, Completed | Failed | Skipped);
        for status in StepStatus::ALL {
            let leaves = STEP_TRANSITIONS.iter().any(|row| row.from.contains(&status));
            assert_eq!(leaves, !is_final(&status), "{status:?}");
        }
    }
}
