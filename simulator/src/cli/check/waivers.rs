//! Waivers: claims that may fail or be vacuous until a day.

use super::coverage::partial_models;
use super::result::{CheckedClaim, PolicyResult, WaiverStatus};
use jiff::civil::Date;
use orchestrion_model::check::Verdict;
use orchestrion_project::Waiver;

/// Whether a waiver can excuse the verdict.
const fn is_waivable(claim: &CheckedClaim) -> bool {
    matches!(claim.verdict, Verdict::Fails { .. } | Verdict::NotInductive { .. } | Verdict::Vacuous)
        && !claim.is_not_in_model
}

/// Marks the failing and vacuous claims that a waiver excuses on this day.
pub(super) fn apply(results: &mut [PolicyResult], waivers: &[Waiver], today: Date) {
    for result in results {
        for claim in &mut result.claims {
            let applies = |waiver: &&Waiver| {
                today <= waiver.until && waiver.covers(claim.claim.id, &result.policy.name)
            };
            if is_waivable(claim) {
                claim.waiver = waivers.iter().find(applies).cloned();
            }
        }
    }
}

/// Returns each waiver with its status.
pub(super) fn waiver_statuses<'a>(
    results: &[PolicyResult],
    waivers: &'a [Waiver],
    today: Date,
) -> Vec<(&'a Waiver, WaiverStatus)> {
    let status = |waiver: &Waiver| {
        let covered = || {
            results.iter().flat_map(|result| {
                let is_partial = partial_models(&result.models()).is_some();
                let claims =
                    result.claims.iter().filter(|claim| waiver.covers(claim.claim.id, &result.policy.name));
                claims.map(move |claim| (claim, is_partial))
            })
        };
        // If only some models were explored, the others may reach the premise, or violate the claim.
        let is_undetermined = |(claim, is_partial): (&CheckedClaim, bool)| match claim.verdict {
            Verdict::Inconclusive | Verdict::NotChecked(_) => true,
            Verdict::Holds | Verdict::Vacuous => is_partial,
            Verdict::Fails { .. } | Verdict::NotInductive { .. } => false,
        };
        if waiver.until < today {
            WaiverStatus::Expired
        } else if covered().any(|(claim, _)| is_waivable(claim)) {
            WaiverStatus::Needed
        } else if covered().any(is_undetermined) {
            WaiverStatus::Undetermined
        } else {
            WaiverStatus::NotNeeded
        }
    };
    waivers.iter().map(|waiver| (waiver, status(waiver))).collect()
}
