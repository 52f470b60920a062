//! Distributions in an experiment file.

use orchestrion_kernel::Score;
use orchestrion_kernel::Weight;
use orchestrion_scenario::DurationText;
use orchestrion_yaml::{Decimal, Spanned, StrictText};
use schemars::JsonSchema;
use serde::Deserialize;

/// A distribution of confidences.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ConfidenceFile {
    /// One value.
    Constant(Decimal<Score>),
    /// Each millionth of a range is equally likely.
    Uniform(Spanned<RangeFile>),
    /// A beta distribution, as 4,096 equally likely quantiles.
    Beta(Spanned<BetaFile>),
    /// Values with their probabilities, which sum to 1.
    Values(Spanned<Vec<WeightedValueFile>>),
    /// The confidences of the role in recorded traces, each equally likely.
    Samples(Spanned<SamplesFile>),
}

/// A range of confidences.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeFile {
    /// The minimum.
    pub min: Decimal<Score>,
    /// The maximum.
    pub max: Decimal<Score>,
}

/// The parameters of a beta distribution, above 0. Its mean is alpha / (alpha + beta).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BetaFile {
    /// The first parameter.
    pub alpha: Decimal<Weight>,
    /// The second parameter.
    pub beta: Decimal<Weight>,
}

/// A value with its probability.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedValueFile {
    /// The confidence.
    pub value: Decimal<Score>,
    /// Its probability.
    pub probability: Decimal<Score>,
}

/// Recorded traces from which confidences are taken.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamplesFile {
    /// The paths of traces, relative to this file.
    #[schemars(length(min = 1))]
    pub traces: Vec<Spanned<StrictText>>,
}

/// A distribution of durations.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DurationFile {
    /// One duration.
    Constant(DurationText),
    /// Each whole millisecond of a range is equally likely.
    Uniform(Spanned<DurationRangeFile>),
    /// An exponential distribution with this mean, as 4,096 equally likely quantiles.
    Exponential(DurationText),
}

/// A range of durations.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurationRangeFile {
    /// The minimum.
    pub min: DurationText,
    /// The maximum.
    pub max: DurationText,
}
