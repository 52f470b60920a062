//! Classes of inputs that control distinguishes.

use orchestrion_kernel::module::Role;
use orchestrion_kernel::{Phase, Trigger};

/// A class of inputs of one trigger in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputClass {
    /// Every input of the trigger.
    Any,
    /// Both locks match.
    LocksMatch,
    /// A lock does not match.
    LockDiffers,
    /// Compaction is due, which depends on items that are not modelled.
    CompactionDue,
    /// Compaction is not due.
    CompactionNotDue,
    /// An argument without a new plan.
    PlanKept,
    /// An argument with a new plan.
    PlanRevised,
    /// Security argues for the plan.
    Agrees,
    /// Security argues against the plan, below the veto threshold.
    Objects,
    /// Security argues against the plan, at or above the veto threshold.
    Vetoes,
    /// The approver approves.
    Approves,
    /// The approver declines.
    Declines,
    /// A task or compensation ended with exit code 0.
    Succeeds,
    /// A task or compensation ended with another exit code.
    Exits,
    /// A diagnosis with a repaired plan.
    Repaired,
    /// A diagnosis without a repaired plan.
    NoRepair,
    /// A failure with a known outcome.
    OutcomeKnown,
    /// A failure after which the host cannot determine whether the call was executed.
    OutcomeUnknown,
}

impl InputClass {
    /// The name, which distinguishes the steps of a row.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::LocksMatch => "locks_match",
            Self::LockDiffers => "lock_differs",
            Self::CompactionDue => "compaction_due",
            Self::CompactionNotDue => "compaction_not_due",
            Self::PlanKept => "plan_kept",
            Self::PlanRevised => "plan_revised",
            Self::Agrees => "agrees",
            Self::Objects => "objects",
            Self::Vetoes => "vetoes",
            Self::Approves => "approves",
            Self::Declines => "declines",
            Self::Succeeds => "succeeds",
            Self::Exits => "exits",
            Self::Repaired => "repaired",
            Self::NoRepair => "no_repair",
            Self::OutcomeKnown => "outcome_known",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }
}

/// The classes of the inputs of a trigger in a phase.
pub(super) const fn input_classes(phase: Phase, trigger: Trigger) -> &'static [InputClass] {
    match (trigger, phase) {
        (Trigger::Step, Phase::IdentityVerified) => {
            &[InputClass::CompactionDue, InputClass::CompactionNotDue]
        }
        (Trigger::Reply, Phase::VerifyingIdentity) => &[InputClass::LocksMatch, InputClass::LockDiffers],
        (Trigger::Reply, Phase::Round(Role::Solution | Role::Optimizer)) => {
            &[InputClass::PlanKept, InputClass::PlanRevised]
        }
        (Trigger::Reply, Phase::Round(Role::Security) | Phase::PlanReview | Phase::RepairReview) => {
            &[InputClass::Agrees, InputClass::Objects, InputClass::Vetoes]
        }
        (Trigger::Reply, Phase::PlanApproval | Phase::RepairApproval) => {
            &[InputClass::Approves, InputClass::Declines]
        }
        (Trigger::Reply, Phase::RunningTasks) => &[InputClass::Succeeds, InputClass::Exits],
        (Trigger::Reply, Phase::SelfHealingActive) => &[InputClass::Repaired, InputClass::NoRepair],
        (Trigger::CallFailed, _) => &[InputClass::OutcomeKnown, InputClass::OutcomeUnknown],
        _ => &[InputClass::Any],
    }
}
