//! How much was searched: what makes a green result believable, or says how far it goes.

use orchestrion_explorer::{Resource, Termination};
use orchestrion_kernel::Policy;
use orchestrion_model::check::ModelRun;
use orchestrion_model::coverage::Observation;
use orchestrion_model::scopes::{COMPOSED, MODELS};

/// The kinds of marks that are to be reached, and how several of a kind are called.
pub(super) const KINDS: [(&str, &str); 5] = [
    ("state", "states"),
    ("row", "rows"),
    ("guard fails", "failing guards"),
    ("input", "inputs"),
    ("refusal", "refusals"),
];

/// What all runs under one policy reached of what is to be expected.
pub(super) struct Coverage {
    /// What the policy lets one expect.
    pub(super) expected: Vec<Observation>,
    /// What of it no run came to.
    pub(super) unreached: Vec<Observation>,
    /// How likely it is at most that a collision hid something; 0 where whole states were compared.
    pub(super) collision: f64,
    /// The models that were explored, if others are needed to see everything.
    pub(super) only: Option<Vec<&'static str>>,
    /// Some run was cut short.
    pub(super) is_cut: bool,
}

impl Coverage {
    pub(super) fn of(policy: &Policy, runs: &[ModelRun]) -> Self {
        let expected = Observation::expected_observations(policy);
        let unreached = |mark: &Observation| runs.iter().all(|run| run.first_depth(*mark).is_none());
        Self {
            unreached: expected.iter().copied().filter(unreached).collect(),
            expected,
            collision: runs.iter().map(|run| run.collision).sum(),
            only: only(&runs.iter().map(|run| run.model).collect::<Vec<_>>()),
            is_cut: runs.iter().any(|run| !run.is_exhaustive()),
        }
    }

    /// How many marks of a kind were reached, of how many.
    pub(super) fn count(&self, kind: &str) -> (usize, usize) {
        let of = |marks: &[Observation]| marks.iter().filter(|mark| mark.kind() == kind).count();
        let expected = of(&self.expected);
        (expected - of(&self.unreached), expected)
    }
}

/// The explored models, if they are not all that it takes.
pub(super) fn only(explored: &[&'static str]) -> Option<Vec<&'static str>> {
    let has = |name: &str| explored.contains(&name);
    let whole = has(COMPOSED.name) || MODELS.iter().all(|model| has(model.name));
    (!whole).then(|| explored.to_vec())
}

/// What ran out, and the flag that bounds it.
pub(super) const fn cause(why: Resource) -> (&'static str, &'static str) {
    match why {
        Resource::Memory => ("memory", "--memory"),
        Resource::Time => ("time", "--time"),
        Resource::States => ("states", "--states"),
    }
}

/// What ran out and how far the search came, if it was cut short. Everything up to one step before the deepest
/// product was looked at.
pub(super) fn cut(ended: Termination, depth: usize) -> Option<(Resource, usize, usize)> {
    match ended {
        Termination::LimitReached { why, frontier: waiting } => Some((why, waiting, depth.saturating_sub(1))),
        Termination::Exhausted | Termination::ObservationFound { .. } => None,
    }
}

/// A small number, rounded up, in one digit: 6e-9.
pub(super) fn at_most(chance: f64) -> String {
    let exponent = chance.log10().floor();
    let digit = (chance / 10_f64.powf(exponent)).ceil();
    let (digit, exponent) = if digit > 9.0 { (1.0, exponent + 1.0) } else { (digit, exponent) };
    format!("{digit}e{exponent}")
}
