//! The transition table as data: which phases have a successor.

use orchestrion_kernel::Trigger;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::control::transition::{Switch, TransitionSource};
use orchestrion_kernel::policy::{Bound, Policy};

/// Whether a phase has a transition that is no cancel.
pub(crate) fn has_successor(policy: &Policy, phase: Phase) -> bool {
    let is_enabled = |switch: Switch| match switch {
        Switch::Always => true,
        Switch::RuleOn(rule) => policy.rules.has(rule),
        Switch::RuleOff(rule) => !policy.rules.has(rule),
        Switch::BoundedRepairs => policy.bounds.repairs != Bound::Unbounded,
        Switch::AdditionalDebaters => !policy.additional_debaters.is_empty(),
    };
    let starts = |from: TransitionSource| match from {
        TransitionSource::Phase(from) => from == phase,
        TransitionSource::Region(region) => phase.region() == Some(region),
    };
    TRANSITIONS.iter().any(|row| row.on != Trigger::Cancel && starts(row.from) && is_enabled(row.switch))
}
