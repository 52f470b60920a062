//! What each phase means for the debate and for the pending calls.

use core::ops::RangeInclusive;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::module::{Operation, Role};

/// Where a phase is in the debate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DebatePart {
    /// A request is prepared for the debate.
    Before,
    /// A role argues.
    Round(Role),
    /// Security reviews the revised plan of the pass.
    Review,
    /// Additional debaters argue.
    Additional,
    /// The pass is judged.
    Judged,
    /// No request, or one that has left the debate.
    Outside,
}

impl DebatePart {
    /// Whether all roles have argued in the pass.
    pub(super) const fn follows_rounds(self) -> bool {
        match self {
            Self::Review | Self::Additional | Self::Judged => true,
            Self::Before | Self::Round(_) | Self::Outside => false,
        }
    }
}

/// Returns where a phase is in the debate.
pub(super) const fn debate_part(phase: Phase) -> DebatePart {
    match phase {
        Phase::VerifyingIdentity
        | Phase::IdentityVerified
        | Phase::Compacting
        | Phase::LoadingContext
        | Phase::Classifying
        | Phase::Planning => DebatePart::Before,
        Phase::Round(role) => DebatePart::Round(role),
        Phase::PlanReview => DebatePart::Review,
        Phase::AdditionalRounds => DebatePart::Additional,
        Phase::MultiPassCheck
        | Phase::Aggregating
        | Phase::CalculatingConsensus
        | Phase::EloDuels
        | Phase::ResolvingDecision => DebatePart::Judged,
        Phase::Idle
        | Phase::PlanApproval
        | Phase::Blocked
        | Phase::RunningTasks
        | Phase::AssertingOutcomes
        | Phase::Success
        | Phase::Failure
        | Phase::SelfHealingActive
        | Phase::RepairReview
        | Phase::RepairScoring
        | Phase::RepairApproval
        | Phase::RollbackActive
        | Phase::RollbackComplete
        | Phase::StoringMemory
        | Phase::Auditing
        | Phase::Done
        | Phase::Aborted => DebatePart::Outside,
    }
}

/// Whether a phase waits for a call with this operation.
pub(super) fn awaits(phase: Phase, operation: Operation) -> bool {
    match operation {
        Operation::VerifyIdentity => phase == Phase::VerifyingIdentity,
        Operation::LoadContext => phase == Phase::LoadingContext,
        Operation::Summarize => phase == Phase::Compacting,
        Operation::Classify => phase == Phase::Classifying,
        Operation::DraftPlan => phase == Phase::Planning,
        Operation::Argue(role) => phase == Phase::Round(role),
        Operation::ArgueAdditional { .. } => phase == Phase::AdditionalRounds,
        Operation::ReviewRevision => matches!(phase, Phase::PlanReview | Phase::RepairReview),
        Operation::Approve => matches!(phase, Phase::PlanApproval | Phase::RepairApproval),
        Operation::RunTask { .. } => phase == Phase::RunningTasks,
        Operation::Diagnose => phase == Phase::SelfHealingActive,
        Operation::UndoTask { .. } => phase == Phase::RollbackActive,
        Operation::StoreMemory { .. } => phase == Phase::StoringMemory,
        Operation::DeliverAudit => phase == Phase::Auditing,
    }
}

/// How many calls can be pending in a phase.
pub(super) const fn pending_calls(phase: Phase) -> RangeInclusive<usize> {
    match phase {
        // The kernel leaves these without a reply.
        Phase::Idle
        | Phase::IdentityVerified
        | Phase::MultiPassCheck
        | Phase::Aggregating
        | Phase::CalculatingConsensus
        | Phase::EloDuels
        | Phase::ResolvingDecision
        | Phase::Blocked
        | Phase::AssertingOutcomes
        | Phase::Success
        | Phase::Failure
        | Phase::RepairScoring
        | Phase::RollbackComplete
        | Phase::Done
        | Phase::Aborted => 0..=0,
        Phase::RollbackActive => 0..=1,
        Phase::RunningTasks => 1..=usize::MAX,
        Phase::VerifyingIdentity
        | Phase::Compacting
        | Phase::LoadingContext
        | Phase::Classifying
        | Phase::Planning
        | Phase::Round(_)
        | Phase::PlanReview
        | Phase::AdditionalRounds
        | Phase::PlanApproval
        | Phase::SelfHealingActive
        | Phase::RepairReview
        | Phase::RepairApproval
        | Phase::StoringMemory
        | Phase::Auditing => 1..=1,
    }
}
