//! Contradictions between settings of the trust network.

use super::{MAX_PREFERENCE_BONUS, TrustPolicy};
use core::fmt;

/// A setting of the trust network that contradicts another one or its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustPolicyError {
    /// The setting, such as `connection.initial_weight`.
    pub setting: &'static str,
    /// The other setting of the contradiction.
    pub conflicts_with: Option<&'static str>,
    /// The required relation.
    pub expected: &'static str,
}

impl fmt::Display for TrustPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {}: expected {}", self.setting, self.expected)?;
        match self.conflicts_with {
            Some(other) => write!(f, "; see {other}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for TrustPolicyError {}

impl TrustPolicy {
    /// Checks the settings for contradictions.
    ///
    /// # Errors
    /// [`TrustPolicyError`] with the first contradiction.
    pub fn validate(&self) -> Result<(), TrustPolicyError> {
        let Self { connection, trust, status, routing, convergence, defense, .. } = self;
        let require = |holds: bool, setting, conflicts_with, expected| match holds {
            true => Ok(()),
            false => Err(TrustPolicyError { setting, conflicts_with, expected }),
        };
        let weights = [trust.quality, trust.reciprocity, trust.social, trust.diversity];
        let total = weights.iter().map(|weight| u64::from(weight.millionths())).sum::<u64>();
        require(
            connection.min_weight <= connection.initial_weight,
            "connection.initial_weight",
            Some("connection.min_weight"),
            "at least the minimum weight",
        )?;
        require(
            connection.initial_weight <= connection.max_weight,
            "connection.initial_weight",
            Some("connection.max_weight"),
            "at most the maximum weight",
        )?;
        require(connection.epsilon.millionths() > 0, "connection.epsilon", None, "a positive number")?;
        require(total <= 1_000_000, "trust", None, "weights with a sum of at most 1")?;
        require(trust.partner_window > 0, "trust.partner_window", None, "at least one interaction")?;
        require(
            status.probation_interactions > 0,
            "status.probation_interactions",
            None,
            "at least one interaction",
        )?;
        require(
            status.probation_interactions <= status.established_interactions,
            "status.established_interactions",
            Some("status.probation_interactions"),
            "at least the interactions of a probation",
        )?;
        require(
            routing.preference_bonus <= MAX_PREFERENCE_BONUS,
            "routing.preference_bonus",
            None,
            "at most 100",
        )?;
        require(
            defense.primed_from <= defense.act_above,
            "defense.act_above",
            Some("defense.primed_from"),
            "at least the priming of a primed node",
        )?;
        let thresholds = [
            ("convergence.converged_above", convergence.converged_above),
            ("convergence.converging_above", convergence.converging_above),
            ("convergence.exploring_above", convergence.exploring_above),
            ("convergence.stuck_above", convergence.stuck_above),
        ];
        for ((higher_name, higher), (lower_name, lower)) in thresholds.iter().zip(thresholds.iter().skip(1)) {
            require(lower <= higher, higher_name, Some(lower_name), "descending thresholds")?;
        }
        Ok(())
    }
}
