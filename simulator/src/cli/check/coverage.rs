//! Coverage: how much of the expected behavior an exploration reached.

use orchestrion_explorer::{Resource, Termination};
use orchestrion_kernel::Policy;
use orchestrion_model::check::ModelRun;
use orchestrion_model::coverage::Observation;
use orchestrion_model::induction::ENUMERATIONS;
use orchestrion_model::scopes::{COMPOSED, MODELS};
use orchestrion_model::simulate::SimulationResult;

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
    /// What may reach the others; `None` if every model was explored exhaustively.
    pub(super) incomplete: Option<String>,
}

impl Coverage {
    pub(super) fn new(policy: &Policy, runs: &[ModelRun]) -> Self {
        let partial_models = partial_models(&runs.iter().map(|run| run.model).collect::<Vec<_>>());
        let incomplete = match partial_models {
            _ if runs.iter().any(|run| !run.is_exhaustive()) => {
                Some("a model hit a resource limit and may reach more".to_owned())
            }
            Some(models) => Some(format!("models other than {} may reach them", models.join(" and "))),
            None => None,
        };
        let collision = runs.iter().map(|run| run.collision).sum();
        let is_reached =
            |observation: Observation| runs.iter().any(|run| run.first_depth(observation).is_some());
        Self { collision, incomplete, ..Self::from_reached(policy, is_reached) }
    }

    /// Returns the coverage of random runs.
    pub(super) fn of_simulation(policy: &Policy, results: &[SimulationResult]) -> Self {
        let is_reached =
            |observation: Observation| results.iter().any(|result| result.is_reached(observation));
        let incomplete = Some("more runs may reach them".to_owned());
        Self { incomplete, ..Self::from_reached(policy, is_reached) }
    }

    fn from_reached(policy: &Policy, is_reached: impl Fn(Observation) -> bool) -> Self {
        let expected = Observation::expected_observations(policy);
        let unreached = expected.iter().copied().filter(|observation| !is_reached(*observation)).collect();
        Self { unreached, expected, collision: 0.0, incomplete: None }
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
pub(in crate::cli) fn partial_models(explored: &[&'static str]) -> Option<Vec<&'static str>> {
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
