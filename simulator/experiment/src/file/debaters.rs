//! Debaters in an experiment file.

use super::distributions::ConfidenceFile;
use orchestrion_kernel::Score;
use orchestrion_yaml::{Decimal, required_value};
use schemars::JsonSchema;
use serde::Deserialize;

/// The debaters. A role takes what it does not set from `all`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DebatersFile {
    /// Every debater, unless its role sets something else.
    pub all: DebaterFile,
    /// The Analyst.
    pub analyst: DebaterFile,
    /// Solution.
    pub solution: DebaterFile,
    /// The Critic.
    pub critic: DebaterFile,
    /// Security.
    pub security: DebaterFile,
    /// The Optimizer.
    pub optimizer: DebaterFile,
    /// Each additional debater of a policy.
    pub additional: DebaterFile,
}

/// A debater.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebaterFile {
    /// The probability that it argues against an acceptable plan. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub false_alarm: Option<Decimal<Score>>,
    /// The probability that it argues for a harmful plan. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub miss: Option<Decimal<Score>>,
    /// The probability that it keeps its stance in the next pass, if the plan did not change. Default: 0, a new judgement in each pass.
    #[serde(default, deserialize_with = "required_value")]
    pub keeps_stance: Option<Decimal<Score>>,
    /// The probability that its argument contains a revision of the plan; only of Solution and the Optimizer. Default: 0.
    #[serde(default, deserialize_with = "required_value")]
    pub revises: Option<Decimal<Score>>,
    /// The confidence of its arguments. Default: 0.9.
    #[serde(default, deserialize_with = "required_value")]
    pub confidence: Option<ConfidenceFile>,
    /// The confidence of its wrong arguments. Default: `confidence`.
    #[serde(default, deserialize_with = "required_value")]
    pub wrong_confidence: Option<ConfidenceFile>,
    /// The arguments of an adversary. `explore run` draws one, each equally likely; `explore exact` computes the best and the worst choice.
    /// Default: none; the debater is honest.
    #[serde(default, deserialize_with = "required_value")]
    #[schemars(length(min = 1))]
    pub adversary: Option<Vec<ArgumentFile>>,
}

/// An argument: its stance with its confidence.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArgumentFile {
    /// For the plan.
    Pro(Decimal<Score>),
    /// Against the plan.
    Con(Decimal<Score>),
}

impl DebaterFile {
    /// Returns the debater with what `other` sets where this one sets nothing.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        Self {
            false_alarm: self.false_alarm.or(other.false_alarm),
            miss: self.miss.or(other.miss),
            keeps_stance: self.keeps_stance.or(other.keeps_stance),
            revises: self.revises.or(other.revises),
            confidence: self.confidence.clone().or_else(|| other.confidence.clone()),
            // The default of `wrong_confidence` is the confidence of the same entry.
            wrong_confidence: match (&self.wrong_confidence, &self.confidence) {
                (Some(wrong), _) => Some(wrong.clone()),
                (None, Some(_)) => None,
                (None, None) => other.wrong_confidence.clone(),
            },
            adversary: self.adversary.clone().or_else(|| other.adversary.clone()),
        }
    }
}
