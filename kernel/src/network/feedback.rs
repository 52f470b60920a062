//! Quality from feedback on a result.

use super::millionths::{Millionths, div_round};
use super::policy::FeedbackPolicy;
use crate::score::Score;

/// Feedback on a result. Each rating is from 1 to 5; a rating outside counts as the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
pub struct Feedback {
    /// How much the result helps.
    pub help: u8,
    /// How accurate it is.
    pub accuracy: u8,
    /// How relevant it is.
    pub relevance: u8,
    /// How timely it is.
    pub timeliness: u8,
    /// Whether it would be used again.
    pub reuse: bool,
}

impl Default for Feedback {
    /// The middle ratings of a report without feedback, not used again.
    fn default() -> Self {
        Self { help: 3, accuracy: 3, relevance: 3, timeliness: 3, reuse: false }
    }
}

/// The smallest rating, in millionths.
const MIN_RATING: i64 = 1_000_000;
/// The largest rating, in millionths.
const MAX_RATING: i64 = 5_000_000;

impl Feedback {
    /// Returns the quality: the weighted rating times the factor of reuse, mapped from its range to 0..=1.
    #[must_use]
    pub fn quality(&self, policy: &FeedbackPolicy) -> Score {
        let rated = |weight: Score, rating: u8| {
            i64::from(weight.millionths()).saturating_mul(i64::from(rating.clamp(1, 5)))
        };
        let rating = rated(policy.help, self.help)
            .saturating_add(rated(policy.accuracy, self.accuracy))
            .saturating_add(rated(policy.relevance, self.relevance))
            .saturating_add(rated(policy.timeliness, self.timeliness));
        let factor = if self.reuse { policy.reuse } else { policy.no_reuse };
        let scaled = |rating: i64, factor: i64| i128::from(rating).saturating_mul(i128::from(factor));
        let (low, high) = (policy.no_reuse.min(policy.reuse), policy.no_reuse.max(policy.reuse));
        let min = scaled(MIN_RATING, i64::from(low.millionths()));
        let range = scaled(MAX_RATING, i64::from(high.millionths())).saturating_sub(min);
        let above_min = scaled(rating, i64::from(factor.millionths())).saturating_sub(min);
        Millionths::new(div_round(above_min.saturating_mul(1_000_000), range)).to_score()
    }
}
