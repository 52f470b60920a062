//! What waivers come to: a claim that may fail until a day, and what is told of it.

use super::Checked;
use crate::project::Waiver;
use jiff::civil::Date;
use orchestrion_model::check::Verdict;

/// How a waiver stands to what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The claim fails, and may.
    Needed,
    /// The claim does not fail.
    NotNeeded,
    /// Its last day is over; the claim counts as it is.
    Expired,
    /// Nobody looked, or not long enough, to see whether the claim fails.
    Open,
}

impl Standing {
    /// In one word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Needed => "needed",
            Self::NotNeeded => "not_needed",
            Self::Expired => "expired",
            Self::Open => "open",
        }
    }
}

/// Marks the failing claims that may fail on this day.
pub(super) fn apply(checked: &mut [Checked], waivers: &[Waiver], today: Date) {
    for checked in checked {
        for found in &mut checked.found {
            let holds = |waiver: &&Waiver| {
                today <= waiver.until && waiver.covers(found.claim.id, &checked.policy.name)
            };
            if let Verdict::Fails { .. } = found.verdict {
                found.waived = waivers.iter().find(holds).cloned();
            }
        }
    }
}

/// Every waiver with how it stands.
pub(super) fn standings<'a>(
    checked: &[Checked],
    waivers: &'a [Waiver],
    today: Date,
) -> Vec<(&'a Waiver, Standing)> {
    let standing = |waiver: &Waiver| {
        let found = || {
            let covered = checked.iter().flat_map(|checked| {
                checked.found.iter().filter(|found| waiver.covers(found.claim.id, &checked.policy.name))
            });
            covered.map(|found| &found.verdict)
        };
        if waiver.until < today {
            Standing::Expired
        } else if found().any(|verdict| matches!(verdict, Verdict::Fails { .. })) {
            Standing::Needed
        } else if found().any(|verdict| matches!(verdict, Verdict::Inconclusive | Verdict::NotChecked(_))) {
            Standing::Open
        } else {
            Standing::NotNeeded
        }
    };
    waivers.iter().map(|waiver| (waiver, standing(waiver))).collect()
}
