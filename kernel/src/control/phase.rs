//! The control states `C` of 004, and the regions that its drawing groups them in.

use crate::module::Role;
use core::fmt;

/// A control state. Those marked *beyond 004* are entered only under a rule that departs from its drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Phase {
    /// No request runs.
    Idle,
    /// The identity guard compares both locks.
    VerifyingIdentity,
    /// Both locks match.
    IdentityVerified,
    /// Beyond 004: the summarizer says in one item what several say.
    Compacting,
    /// Memory reloads ratings and traces.
    LoadingContext,
    /// The classifier tags the request.
    Classifying,
    /// The planner drafts the baseline plan.
    Planning,
    /// A role argues.
    Round(Role),
    /// Beyond 004: Security reads the Optimizer's revision.
    PlanReview,
    /// Debate again, or aggregate?
    MultiPassCheck,
    /// The arguments are collected.
    Aggregating,
    /// The consensus is computed.
    CalculatingConsensus,
    /// The roles' ratings move.
    EloDuels,
    /// Proceed, reject or veto?
    ResolvingDecision,
    /// Beyond 004: the approver is asked whether the plan may run.
    PlanApproval,
    /// The plan may not run.
    Blocked,
    /// The executor runs the plan, task by task.
    RunningTasks,
    /// The execution report is judged.
    AssertingOutcomes,
    /// Every task succeeded.
    Success,
    /// A task failed.
    Failure,
    /// The Critic diagnoses.
    SelfHealingActive,
    /// Beyond 004: Security reads the repaired plan.
    RepairReview,
    /// Beyond 004: the consensus on the repaired plan is computed.
    RepairScoring,
    /// Beyond 004: the approver is asked whether the repaired plan may run.
    RepairApproval,
    /// Started effects are undone, the last one first.
    RollbackActive,
    /// As drawn, the end of a rollback, from which nothing leads on (finding F2).
    RollbackComplete,
    /// The stores are asked to keep the memory record.
    StoringMemory,
    /// The audit record goes out.
    Auditing,
    /// As drawn, the end of a request (finding F16).
    Done,
    /// As drawn, the halt after an identity mismatch (finding F1).
    Aborted,
}

/// A group of control states, as 004 draws them as composite states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Drawn inside `Idle`: the identity is verified.
    Identity,
    /// Between identity and debate.
    Preparation,
    /// `Arena_Debate`
    ArenaDebate,
    /// `Aggregation_Engine`
    AggregationEngine,
    /// `SandboxedExecution`
    SandboxedExecution,
    /// What follows when it is settled how a request ends.
    Closing,
}

impl Region {
    /// Every region.
    pub const ALL: [Self; 6] = [
        Self::Identity,
        Self::Preparation,
        Self::ArenaDebate,
        Self::AggregationEngine,
        Self::SandboxedExecution,
        Self::Closing,
    ];
}

impl Phase {
    /// Every control state, in the order in which a request may pass them.
    pub const ALL: [Self; 34] = [
        Self::Idle,
        Self::VerifyingIdentity,
        Self::IdentityVerified,
        Self::Compacting,
        Self::LoadingContext,
        Self::Classifying,
        Self::Planning,
        Self::Round(Role::Analyst),
        Self::Round(Role::Solution),
        Self::Round(Role::Critic),
        Self::Round(Role::Security),
        Self::Round(Role::Optimizer),
        Self::PlanReview,
        Self::MultiPassCheck,
        Self::Aggregating,
        Self::CalculatingConsensus,
        Self::EloDuels,
        Self::ResolvingDecision,
        Self::PlanApproval,
        Self::Blocked,
        Self::RunningTasks,
        Self::AssertingOutcomes,
        Self::Success,
        Self::Failure,
        Self::SelfHealingActive,
        Self::RepairReview,
        Self::RepairScoring,
        Self::RepairApproval,
        Self::RollbackActive,
        Self::RollbackComplete,
        Self::StoringMemory,
        Self::Auditing,
        Self::Done,
        Self::Aborted,
    ];

    /// The region that the state is drawn in; none for those in which no request runs.
    #[must_use]
    pub const fn region(self) -> Option<Region> {
        Some(match self {
            Self::Idle | Self::Done | Self::Aborted => return None,
            Self::VerifyingIdentity | Self::IdentityVerified => Region::Identity,
            Self::Compacting | Self::LoadingContext | Self::Classifying => Region::Preparation,
            Self::Planning | Self::Round(_) | Self::PlanReview | Self::MultiPassCheck => Region::ArenaDebate,
            Self::Aggregating
            | Self::CalculatingConsensus
            | Self::EloDuels
            | Self::ResolvingDecision
            | Self::PlanApproval => Region::AggregationEngine,
            Self::RunningTasks
            | Self::AssertingOutcomes
            | Self::Success
            | Self::Failure
            | Self::SelfHealingActive
            | Self::RepairReview
            | Self::RepairScoring
            | Self::RepairApproval
            | Self::RollbackActive
            | Self::RollbackComplete => Region::SandboxedExecution,
            Self::Blocked | Self::StoringMemory | Self::Auditing => Region::Closing,
        })
    }

    /// Whether no request runs in this state: a request that comes here has ended.
    #[must_use]
    pub const fn is_quiescent(self) -> bool {
        self.region().is_none()
    }

    /// The state's name, in one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "Idle",
            Self::VerifyingIdentity => "VerifyingIdentity",
            Self::IdentityVerified => "IdentityVerified",
            Self::Compacting => "Compacting",
            Self::LoadingContext => "LoadingContext",
            Self::Classifying => "Classifying",
            Self::Planning => "Planning",
            Self::Round(Role::Analyst) => "Round_1_Analyst",
            Self::Round(Role::Solution) => "Round_2_Solution",
            Self::Round(Role::Critic) => "Round_3_Critic",
            Self::Round(Role::Security) => "Round_4_Security",
            Self::Round(Role::Optimizer) => "Round_5_Optimizer",
            Self::PlanReview => "PlanReread",
            Self::MultiPassCheck => "Multi_Pass_Check",
            Self::Aggregating => "Aggregating",
            Self::CalculatingConsensus => "CalculatingConsensus",
            Self::EloDuels => "ELODuels",
            Self::ResolvingDecision => "ResolvingDecision",
            Self::PlanApproval => "PlanApproval",
            Self::Blocked => "Blocked",
            Self::RunningTasks => "RunningTasks",
            Self::AssertingOutcomes => "AssertingOutcomes",
            Self::Success => "Success",
            Self::Failure => "Failure",
            Self::SelfHealingActive => "SelfHealingActive",
            Self::RepairReview => "RepairReread",
            Self::RepairScoring => "RepairScoring",
            Self::RepairApproval => "RepairApproval",
            Self::RollbackActive => "RollbackActive",
            Self::RollbackComplete => "RollbackComplete",
            Self::StoringMemory => "StoringMemory",
            Self::Auditing => "Auditing",
            Self::Done => "Done",
            Self::Aborted => "Aborted",
        }
    }

    /// The state with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

impl Region {
    /// The region's name, in one word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Preparation => "Preparation",
            Self::ArenaDebate => "Arena_Debate",
            Self::AggregationEngine => "Aggregation_Engine",
            Self::SandboxedExecution => "SandboxedExecution",
            Self::Closing => "Closing",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
