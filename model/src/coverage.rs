//! What an exploration observes of the kernel: transitions, guards that do not hold, phases, inputs, refusals, violated
//! claims and reached premises.
//!
//! The explorer keeps the first witness of each observation. Coverage lists the expected ones that no model reached.

mod kinds;
mod lookup;

pub use kinds::{InputKind, RefusalKind};
pub use lookup::{observation_by_name, observation_names};

use orchestrion_claims::CLAIMS;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::{Input, Policy, Refusal};
use std::fmt;

/// What a state or a step exhibits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observation {
    /// The claim at this position of [`CLAIMS`] is violated.
    Violation(usize),
    /// The premise of the claim at this position of [`CLAIMS`] holds.
    Premise(usize),
    /// The phase was entered.
    Phase(Phase),
    /// The row at this position of [`TRANSITIONS`] was taken.
    Row(usize),
    /// The guard of the row at this position of [`TRANSITIONS`] was evaluated and did not hold.
    Guard(usize),
    /// An input of this kind was accepted.
    Input(InputKind),
    /// An input was refused with a refusal of this kind.
    Refusal(RefusalKind),
}

/// Where the numbers of each kind of observation start; violations start at 0.
const PREMISES: usize = CLAIMS.len();
const PHASES: usize = PREMISES + CLAIMS.len();
const ROWS: usize = PHASES + Phase::ALL.len();
const GUARDS: usize = ROWS + TRANSITIONS.len();
const INPUTS: usize = GUARDS + TRANSITIONS.len();
const REFUSALS: usize = INPUTS + InputKind::ALL.len();

/// The number of observations.
pub const OBSERVATION_COUNT: usize = REFUSALS + RefusalKind::ALL.len();

impl Observation {
    /// The number of the observation, below [`OBSERVATION_COUNT`].
    ///
    /// # Panics
    /// If [`Phase::ALL`] lacks the phase.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Self::Violation(claim) => claim,
            Self::Premise(claim) => PREMISES + claim,
            Self::Phase(phase) => PHASES + position(phase),
            Self::Row(row) => ROWS + row,
            Self::Guard(row) => GUARDS + row,
            Self::Input(kind) => INPUTS + kind.index(),
            Self::Refusal(kind) => REFUSALS + kind.index(),
        }
    }

    /// The observation of an accepted input.
    #[must_use]
    pub fn of_input(input: &Input) -> Self {
        Self::Input(InputKind::from(input))
    }

    /// The observation of a refusal.
    #[must_use]
    pub fn of_refusal(refusal: &Refusal) -> Self {
        Self::Refusal(RefusalKind::from(refusal))
    }

    /// The observations that full coverage under a policy requires: without disabled rows and what only they reach, and
    /// without premises, which are part of the verdict of their claim.
    #[must_use]
    pub fn expected_observations(policy: &Policy) -> Vec<Self> {
        let rows = || reachable_rows(policy);
        let taken = rows().map(|(position, _)| Self::Row(position));
        let guarded = rows().filter(|(_, row)| row.when != Guard::Always);
        let guards = guarded.map(|(position, _)| Self::Guard(position));
        let entered = |phase: &Phase| rows().any(|(_, row)| row.to == *phase);
        let phases = Phase::ALL.into_iter().filter(entered).map(Self::Phase);
        // Only the runtime answers a call as forbidden, where a claim of a project is enforced (decision 0061): the models of these claims do.
        let is_of_models = |kind: &&InputKind| kind.is_accepted(policy) && **kind != InputKind::Forbidden;
        let inputs = InputKind::ALL.iter().filter(is_of_models).copied().map(Self::Input);
        let refusals = RefusalKind::ALL.iter().copied().map(Self::Refusal);
        phases.chain(taken).chain(guards).chain(inputs).chain(refusals).collect()
    }

    /// The kind of the observation, in a word or two.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Violation(_) => "violation",
            Self::Premise(_) => "premise",
            Self::Phase(_) => "phase",
            Self::Row(_) => "transition",
            Self::Guard(_) => "guard fails",
            Self::Input(_) => "input",
            Self::Refusal(_) => "refusal",
        }
    }
}

/// The position of a phase in [`Phase::ALL`], which is in their order. Not inlined, so that [`Observation::index`] only adds for every other
/// observation.
///
/// # Panics
/// If [`Phase::ALL`] lacks the phase.
#[inline(never)]
fn position(phase: Phase) -> usize {
    Phase::ALL.binary_search(&phase).expect("Phase::ALL contains every phase")
}

/// The rows that a policy enables and that start in a reachable phase, with their positions.
pub fn reachable_rows(policy: &Policy) -> impl Iterator<Item = (usize, &'static Transition)> + use<'_> {
    let reachable = reachable_phases(policy);
    let starts = move |row: &Transition| reachable.iter().any(|phase| row.from.contains(*phase));
    TRANSITIONS.iter().enumerate().filter(move |(_, row)| row.switch.is_on(policy) && starts(row))
}

/// The phases that are reachable from Idle by enabled rows, guards aside.
fn reachable_phases(policy: &Policy) -> Vec<Phase> {
    let mut reachable = vec![Phase::Idle];
    let mut expanded = 0;
    while let Some(&phase) = reachable.get(expanded) {
        expanded += 1;
        for row in TRANSITIONS.iter().filter(|row| row.switch.is_on(policy) && row.from.contains(phase)) {
            if !reachable.contains(&row.to) {
                reachable.push(row.to);
            }
        }
    }
    reachable
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Violation(claim) | Self::Premise(claim) => f.pad(CLAIMS[claim].id),
            Self::Phase(phase) => f.pad(phase.name()),
            Self::Row(row) => f.pad(TRANSITIONS[row].id),
            Self::Guard(row) => write!(f, "{}: not {}", TRANSITIONS[row].id, TRANSITIONS[row].when),
            Self::Input(kind) => f.pad(kind.name()),
            Self::Refusal(kind) => f.pad(kind.name()),
        }
    }
}
