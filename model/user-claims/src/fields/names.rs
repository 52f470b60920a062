//! The names of values, as traces write them.

use orchestrion_kernel::Text;
use orchestrion_kernel::control::phase::Phase;
pub(super) use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::event::{Cause, DecisionLabel, ForgetCause};
use orchestrion_kernel::item::{ItemKey, ItemKind, Layer, Scope};
use orchestrion_kernel::module::{ConclusionKind, Failure, Module, Operation, Stance};
use orchestrion_kernel::plan::EffectKind;

macro_rules! names {
    ($(#[$doc:meta])* $list:ident $name:ident($value:ident: $type:ty) { $($pattern:pat => $text:literal),* $(,)? }) => {
        $(#[$doc])*
        pub(crate) const $list: &[&str] = &[$($text),*];

        /// The name of a value of the list.
        pub(super) const fn $name($value: $type) -> &'static str {
            match $value { $($pattern => $text),* }
        }
    };
}

/// The names of modules.
pub(super) const MODULES: [&str; Module::ALL.len()] = {
    let mut names = [""; Module::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Module::ALL[at].name();
        at += 1;
    }
    names
};

/// The phases.
pub(super) const PHASES: &[Phase] = &Phase::ALL;

names! {
    /// The names of operations.
    OPERATIONS operation(operation: Operation) {
        Operation::VerifyIdentity => "verify_identity",
        Operation::LoadContext => "load_context",
        Operation::Summarize => "summarize",
        Operation::Classify => "classify",
        Operation::DraftPlan => "draft_plan",
        Operation::Argue(_) => "argue",
        Operation::ArgueAdditional { .. } => "argue_additional",
        Operation::ReviewRevision => "review_revision",
        Operation::Approve => "approve",
        Operation::RunTask { .. } => "run_task",
        Operation::Diagnose => "diagnose",
        Operation::UndoTask { .. } => "undo_task",
        Operation::StoreMemory { .. } => "store_memory",
        Operation::DeliverAudit => "deliver_audit",
    }
}

names! {
    /// The names of effects.
    EFFECTS effect(effect: EffectKind) {
        EffectKind::Pure => "pure",
        EffectKind::Undoable => "undoable",
        EffectKind::Irreversible => "irreversible",
    }
}

names! {
    /// The names of failures.
    CALL_FAILURES failure(failure: Failure) {
        Failure::Error => "error",
        Failure::Timeout => "timeout",
        Failure::Malformed => "malformed",
        Failure::NoCandidates => "no_candidates",
        Failure::OverBudget => "over_budget",
        Failure::OutcomeUnknown => "outcome_unknown",
        Failure::Forbidden => "forbidden",
    }
}

names! {
    /// The names of stances.
    STANCES stance(stance: Stance) {
        Stance::Pro => "pro",
        Stance::Con => "con",
    }
}

names! {
    /// The kinds of scopes.
    SCOPES scope(scope: &Scope) {
        Scope::Global => "global",
        Scope::Session => "session",
        Scope::Task(_) => "task",
        Scope::Hypothetical(_) => "hypothetical",
        Scope::Draft(_) => "draft",
    }
}

names! {
    /// The kinds of items.
    ITEM_KINDS item_kind(kind: ItemKind) {
        ItemKind::Fact => "fact",
        ItemKind::Constraint(_) => "constraint",
        ItemKind::Subtask(_) => "subtask",
    }
}

names! {
    /// The layers of items.
    LAYERS layer(layer: &Layer) {
        Layer::Request { .. } => "request",
        Layer::Identity(_) => "identity",
        Layer::Fact(_) => "fact",
        Layer::Working { .. } => "working",
        Layer::Environment => "environment",
    }
}

names! {
    /// Why items leave.
    FORGET_CAUSES forget_cause(cause: ForgetCause) {
        ForgetCause::SessionEnd => "session_end",
        ForgetCause::Expiry => "expiry",
        ForgetCause::RequestEnd => "request_end",
        ForgetCause::Compaction { .. } => "compaction",
        ForgetCause::Capacity => "capacity",
    }
}

names! {
    /// The labels of decisions.
    LABELS label(label: DecisionLabel) {
        DecisionLabel::ConsensusReached => "consensus_reached",
        DecisionLabel::ProceedBelowThreshold => "proceed_below_threshold",
        DecisionLabel::Rejected => "rejected",
        DecisionLabel::Vetoed => "vetoed",
        DecisionLabel::Outdated => "outdated",
    }
}

names! {
    /// The kinds of conclusions.
    CONCLUSIONS conclusion(kind: ConclusionKind) {
        ConclusionKind::Outcome => "outcome",
        ConclusionKind::Blocked => "blocked",
        ConclusionKind::RolledBack => "rolled_back",
        ConclusionKind::Aborted => "aborted",
    }
}

names! {
    /// Why a request ends.
    CAUSES cause(cause: Cause) {
        Cause::Completed => "completed",
        Cause::IdentityMismatch => "identity_mismatch",
        Cause::CallFailed(..) => "call_failed",
        Cause::Vetoed => "vetoed",
        Cause::Rejected => "rejected",
        Cause::NoRepair => "no_repair",
        Cause::RepairsExhausted => "repairs_exhausted",
        Cause::PlanNotCleared => "plan_not_cleared",
        Cause::NotApproved => "not_approved",
        Cause::PlanOutdated => "plan_outdated",
        Cause::Cancelled => "cancelled",
    }
}

/// The key of an item that a user, a module or an application wrote.
pub(super) const fn written_key(key: &ItemKey) -> Option<&Text> {
    match key {
        ItemKey::Fact(key) | ItemKey::Working(key) | ItemKey::Environment(key) => Some(key),
        ItemKey::Request(_)
        | ItemKey::FinalAnswer(_)
        | ItemKey::Trace(_)
        | ItemKey::Tags(_)
        | ItemKey::Task(..)
        | ItemKey::Output(..)
        | ItemKey::Argument(..)
        | ItemKey::AdditionalArgument(..)
        | ItemKey::Diagnosis(_)
        | ItemKey::Approval(_)
        | ItemKey::Aggregate(_)
        | ItemKey::Identity
        | ItemKey::Summary
        | ItemKey::Situation(_) => None,
    }
}
