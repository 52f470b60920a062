//! Estimates from runs: shares, distributions and paired differences, each with a 95 % confidence interval.
//!
//! Counts and sums are integers, so merging them in any order gives the same estimate.

mod distribution;
mod paired;
mod share;

pub(super) use distribution::{Distribution, DistributionReport, number_text};
pub(super) use paired::{DifferenceReport, PairedCounts};
pub(super) use share::{Share, ShareReport, percent};

use schemars::JsonSchema;
use serde::Serialize;

/// A confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Interval {
    /// The lower bound.
    pub(super) lower: f64,
    /// The upper bound.
    pub(super) upper: f64,
}
