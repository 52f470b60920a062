//! What waivers come to: a claim that may fail, or have nothing to say, until a day, and what is told of it.

use super::coverage::only;
use super::{CheckedClaim, PolicyResult};
use crate::project::Waiver;
use jiff::civil::Date;
use orchestrion_model::check::Verdict;

/// How a waiver stands to what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaiverStatus {
    /// The claim fails or is vacuous, and may.
    Needed,
    /// The claim holds.
    NotNeeded,
    /// Its last day is over; the claim counts as it is.
    Expired,
    /// Nobody looked, or not long enough or not everywhere, to see whether the claim fails.
    Undetermined,
}

impl WaiverStatus {
    /// In one word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::NotNeeded => "not_needed",
            Self::Expired => "expired",
            Self::Undetermined => "open",
        }
    }
}

/// Whether a waiver can speak of what was found.
const fn is_waivable(found: &CheckedClaim) -> bool {
    matches!(found.verdict, Verdict::Fails { .. } | Verdict::Vacuous) && !found.outside
}

/// Marks the failing and the vacuous claims that may be so on this day.
pub(super) fn apply(checked: &mut [PolicyResult], waivers: &[Waiver], today: Date) {
    for checked in checked {
        for found in &mut checked.found {
            let holds = |waiver: &&Waiver| {
                today <= waiver.until && waiver.covers(found.claim.id, &checked.policy.name)
            };
            if is_waivable(found) {
                found.waived = waivers.iter().find(holds).cloned();
            }
        }
    }
}

/// Every waiver with how it stands.
pub(super) fn standings<'a>(
    checked: &[PolicyResult],
    waivers: &'a [Waiver],
    today: Date,
) -> Vec<(&'a Waiver, WaiverStatus)> {
    let standing = |waiver: &Waiver| {
        let found = || {
            checked.iter().flat_map(|checked| {
                let is_partial = only(&checked.models()).is_some();
                let covered =
                    checked.found.iter().filter(|found| waiver.covers(found.claim.id, &checked.policy.name));
                covered.map(move |found| (found, is_partial))
            })
        };
        // That some models do not reach what a claim speaks of, or do not break it, says nothing of the others.
        let is_open = |(found, is_partial): (&CheckedClaim, bool)| match found.verdict {
            Verdict::Inconclusive | Verdict::NotChecked(_) => true,
            Verdict::Holds | Verdict::Vacuous => is_partial,
            Verdict::Fails { .. } => false,
        };
        if waiver.until < today {
            WaiverStatus::Expired
        } else if found().any(|(found, _)| is_waivable(found)) {
            WaiverStatus::Needed
        } else if found().any(is_open) {
            WaiverStatus::Undetermined
        } else {
            WaiverStatus::NotNeeded
        }
    };
    waivers.iter().map(|waiver| (waiver, standing(waiver))).collect()
}
