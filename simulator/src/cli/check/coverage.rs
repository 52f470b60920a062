//! Coverage: how much of the expected behavior an exploration reached.

use orchestrion_explorer::{Resource, Termination};
use orchestrion_kernel::Policy;
use orchestrion_model::check::ModelRun;
use orchestrion_model::coverage::Observation;
use orchestrion_model::induction::ENUMERATIONS;
use orchestrion_model::scopes::{COMPOSED, MODELS};

/// Kinds of expected observations, with their plurals.
pub(super) const KINDS: [(&str, &str); 5] = [
    ("phase", "phases"),
    ("transition", "transitions"),
    ("guard fails", "failing guards"),
    ("input", "inputs"),
    ("refusal", "refusals"),
];

/// Coverage of all runs under one policy.
pub(super) struct Coverage {
    /// Observations that the policy allows.
    pub(super) expected: Vec<Observation>,
    /// Expected observations that no run reached.
    pub(super) unreached: Vec<Observation>,
    /// An upper bound of the probability that a hash collision hid a state; 0 where whole states were compared.
    pub(super) collision: f64,
    /// The explored models, unless they cover everything.
    pub(super) partial_models: Option<Vec<&'static str>>,
    /// Whether a run stopped at a resource limit.
    pub(super) hit_limit: bool,
}

impl Coverage {
    pub(super) fn new(policy: &Policy, runs: &[ModelRun]) -> Self {
        let expected = Observation::expected_observations(policy);
        let is_unreached =
            |observation: &Observation| runs.iter().all(|run| run.first_depth(*observation).is_none());
        Self {
            unreached: expected.iter().copied().filter(is_unreached).collect(),
            expected,
            collision: runs.iter().map(|run| run.collision).sum(),
            partial_models: partial_models(&runs.iter().map(|run| run.model).collect::<Vec<_>>()),
            hit_limit: runs.iter().any(|run| !run.is_exhaustive()),
        }
    }

    /// Returns how many observations of a kind were reached, and how many are expected.
    pub(super) fn count(&self, kind: &str) -> (usize, usize) {
        let count = |observations: &[Observation]| {
            observations.iter().filter(|observation| observation.kind() == kind).count()
        };
        let expected = count(&self.expected);
        (expected - count(&self.unreached), expected)
    }
}

/// Returns the explored models, unless they cover everything.
pub(super) fn partial_models(explored: &[&'static str]) -> Option<Vec<&'static str>> {
    let contains = |name: &str| explored.contains(&name);
    let is_complete = (contains(COMPOSED.name) || MODELS.iter().all(|model| contains(model.name)))
        && ENUMERATIONS.iter().all(|enumeration| contains(enumeration.model.name));
    (!is_complete).then(|| explored.to_vec())
}

/// Returns the name of a resource, and the flag that limits it.
pub(super) const fn resource_name(resource: Resource) -> (&'static str, &'static str) {
    match resource {
        Resource::Memory => ("memory", "--max-memory"),
        Resource::Time => ("time", "--timeout"),
        Resource::States => ("states", "--max-states"),
    }
}

/// An exploration that stopped at a resource limit.
pub(super) struct LimitReached {
    pub(super) resource: Resource,
    /// Product states that were not expanded.
    pub(super) frontier: usize,
    /// Every path of at most this many steps was explored.
    pub(super) explored_steps: usize,
}

impl LimitReached {
    /// Returns the limit that ended an exploration of this depth, if any.
    pub(super) fn from_termination(termination: Termination, depth: usize) -> Option<Self> {
        match termination {
            Termination::LimitReached { resource, frontier } => {
                // Every state one step before the deepest one was expanded.
                Some(Self { resource, frontier, explored_steps: depth.saturating_sub(1) })
            }
            Termination::Exhausted | Termination::ObservationFound { .. } => None,
        }
    }
}

/// Formats a small probability with one digit, rounded up: 6e-9.
pub(super) fn format_probability(probability: f64) -> String {
    let exponent = probability.log10().floor();
    let digit = (probability / 10_f64.powf(exponent)).ceil();
    let (digit, exponent) = if digit > 9.0 { (1.0, exponent + 1.0) } else { (digit, exponent) };
    format!("{digit}e{exponent}")
}

#[cfg(test)]
mod tests {
    use super::format_probability;

    #[test]
    fn probability_is_rounded_up_to_one_digit() {
        for (probability, expected) in [(5.4e-9, "6e-9"), (9.3e-12, "1e-11"), (2e-3, "2e-3"), (1.0, "1e0")] {
            assert_eq!(format_probability(probability), expected);
        }
    }
}
