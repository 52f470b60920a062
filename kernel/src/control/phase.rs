//! The phases: 000's control states `C`, as the states of 004's FSM, and the regions in which 004 draws them.

use crate::module::Role;
use core::fmt;

/// A state of the control FSM. Those marked *beyond 004* are entered only under a rule that departs from 004's drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Phase {
    /// No request is running.
    Idle,
    /// The identity guard checks both identity locks.
    VerifyingIdentity,
    /// Both locks match.
    IdentityVerified,
    /// Beyond 004: the summarizer replaces a cluster of items by a summary.
    Compacting,
    /// Memory loads the ratings and past traces.
    LoadingContext,
    /// The classifier tags the request.
    Classifying,
    /// The planner drafts the baseline plan.
    Planning,
    /// A role argues.
    Round(Role),
    /// Beyond 004: Security reviews the Optimizer's revision.
    PlanReview,
    /// Beyond 004: the additional debaters of the policy argue, one after the other.
    AdditionalRounds,
    /// Another pass of the debate, or aggregation.
    MultiPassCheck,
    /// The arguments are collected.
    Aggregating,
    /// The consensus is computed.
    CalculatingConsensus,
    /// The roles' ratings are updated.
    EloDuels,
    /// Proceed, reject or veto.
    ResolvingDecision,
    /// Beyond 004: the approver approves or declines the plan.
    PlanApproval,
    /// The plan may not run.
    Blocked,
    /// The executor runs the plan, task by task.
    RunningTasks,
    /// The execution report is evaluated.
    AssertingOutcomes,
    /// Every task succeeded.
    Success,
    /// A task failed.
    Failure,
    /// The Critic diagnoses the failure.
    SelfHealingActive,
    /// Beyond 004: Security reviews the repaired or outdated plan.
    RepairReview,
    /// Beyond 004: the consensus on the reviewed plan is computed.
    RepairScoring,
    /// Beyond 004: the approver approves or declines the reviewed plan.
    RepairApproval,
    /// Started effects are undone, the latest first.
    RollbackActive,
    /// As drawn, the end of a rollback: a dead end (finding F2).
    RollbackComplete,
    /// The memory record is sent to the stores.
    StoringMemory,
    /// The audit record is sent to the audit sink.
    Auditing,
    /// As drawn, the end of a request (finding F16).
    Done,
    /// As drawn, the halt after an identity mismatch (finding F1).
    Aborted,
}

/// A group of phases. 004 draws most of them as composite states.
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
    /// After the conclusion of the request.
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
    /// Every phase, in the order in which a request may pass them.
    pub const ALL: [Self; 35] = [
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
        Self::AdditionalRounds,
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

    /// The region that contains the phase; none where no request is running.
    #[must_use]
    pub const fn region(self) -> Option<Region> {
        Some(match self {
            Self::Idle | Self::Done | Self::Aborted => return None,
            Self::VerifyingIdentity | Self::IdentityVerified => Region::Identity,
            Self::Compacting | Self::LoadingContext | Self::Classifying => Region::Preparation,
            Self::Planning
            | Self::Round(_)
            | Self::PlanReview
            | Self::AdditionalRounds
            | Self::MultiPassCheck => Region::ArenaDebate,
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

    /// Whether no request is running in this phase.
    #[must_use]
    pub const fn is_quiescent(self) -> bool {
        self.region().is_none()
    }

    /// The name, in one word: 004's where 004 draws the phase.
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
            Self::PlanReview => "PlanReview",
            Self::AdditionalRounds => "AdditionalRounds",
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
            Self::RepairReview => "RepairReview",
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

    /// The phase with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

impl Region {
    /// The name, in one word.
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
