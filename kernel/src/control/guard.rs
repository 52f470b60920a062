//! The conditions of the transition table. `decide` evaluates them.

use core::fmt;

/// A condition on the policy, the state before the input, and the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// Always true: the row is taken if no row above it is.
    Always,
    /// Both identity locks match.
    LocksMatch,
    /// Compaction is due: the thresholds of the policy are reached, and a cluster exists (000 §6).
    CompactionDue,
    /// The report contains a new plan.
    PlanRevised,
    /// An additional debater has not argued in this pass yet, beside the one that replies.
    MoreDebaters,
    /// The approver approves the plan.
    Approved,
    /// Security has vetoed: in any pass under `sticky_veto`, otherwise with its latest argument.
    Vetoed,
    /// The consensus is below the redebate threshold, and passes are left.
    AnotherPass,
    /// The scored consensus is below the proceed threshold.
    BelowProceed,
    /// A fact that the request can read was superseded since the call of Security's latest review of the plan.
    Outdated,
    /// [`Guard::Outdated`], and passes are left.
    OutdatedPassesLeft,
    /// [`Guard::Outdated`], and the approver approves the plan.
    OutdatedApproved,
    /// [`Guard::Outdated`] under `current_facts`, and [`Guard::MoreTasks`].
    OutdatedMoreTasks,
    /// A task can start: every task that it depends on has succeeded.
    MoreTasks,
    /// Other tasks still run.
    TasksRunning,
    /// A task can start beside the running ones: the policy's bound allows it, no outcome is unknown, and the plan is not outdated
    /// under `current_facts`.
    TaskCanStart,
    /// Every task of the plan succeeded.
    AllSucceeded,
    /// The policy allows no further repair.
    RepairsExhausted,
    /// No veto, Security has reviewed the plan, and the consensus reaches the proceed threshold.
    RepairCleared,
    /// After a crash, the host cannot determine whether this call, or that of an earlier task of the run, was executed.
    OutcomeUnknown,
    /// The pending call is to the local store; the cloud store is next.
    MoreStores,
    /// The policy allows another attempt to deliver the audit record.
    AttemptsLeft,
}

impl Guard {
    /// Whether the condition depends on whether the plan is outdated.
    #[must_use]
    pub const fn reads_outdated(self) -> bool {
        match self {
            Self::Outdated
            | Self::OutdatedPassesLeft
            | Self::OutdatedApproved
            | Self::OutdatedMoreTasks
            | Self::TaskCanStart => true,
            Self::Always
            | Self::LocksMatch
            | Self::CompactionDue
            | Self::PlanRevised
            | Self::MoreDebaters
            | Self::Approved
            | Self::Vetoed
            | Self::AnotherPass
            | Self::BelowProceed
            | Self::MoreTasks
            | Self::TasksRunning
            | Self::AllSucceeded
            | Self::RepairsExhausted
            | Self::RepairCleared
            | Self::OutcomeUnknown
            | Self::MoreStores
            | Self::AttemptsLeft => false,
        }
    }

    /// The condition in words. No two guards have the same description.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Always => "otherwise",
            Self::LocksMatch => "both locks match",
            Self::CompactionDue => "compaction is due",
            Self::PlanRevised => "the reply contains a new plan",
            Self::MoreDebaters => "additional debaters left",
            Self::Approved => "the approver approves",
            Self::Vetoed => "vetoed",
            Self::AnotherPass => "consensus below threshold, passes left",
            Self::BelowProceed => "consensus too low to proceed",
            Self::Outdated => "the plan is outdated",
            Self::OutdatedPassesLeft => "the plan is outdated, passes left",
            Self::OutdatedApproved => "the approver approves, the plan is outdated",
            Self::OutdatedMoreTasks => "a task is ready, the plan is outdated",
            Self::MoreTasks => "a task is ready",
            Self::TasksRunning => "other tasks run",
            Self::TaskCanStart => "a task is ready, the bound allows it",
            Self::AllSucceeded => "every task succeeded",
            Self::RepairsExhausted => "repairs exhausted",
            Self::RepairCleared => "no veto, consensus sufficient",
            Self::OutcomeUnknown => "outcome unknown",
            Self::MoreStores => "local store called, cloud store left",
            Self::AttemptsLeft => "attempts left",
        }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.description())
    }
}
