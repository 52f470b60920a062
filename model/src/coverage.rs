//! What an exploration sees of the kernel: rows, outcomes of guards, refusals, kinds of input, control states, and
//! where claims have something to say.
//!
//! Each is a *mark*, of which the explorer keeps the first witness. What no model reached is listed.

mod lookup;

pub use lookup::{observation_by_name, observation_names};

use orchestrion_claims::CLAIMS;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::policy::Rule;
use orchestrion_kernel::{Input, Policy, Refusal};
use std::fmt;

/// Something that a state or a step shows. The numbers are places in the lists that the kinds are named after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Observation {
    /// The claim does not hold: a place in [`CLAIMS`].
    Violation(usize),
    /// The claim has something to say: a place in [`CLAIMS`].
    Premise(usize),
    /// Control stood here: a place in [`Phase::ALL`].
    Phase(usize),
    /// The row was taken: a place in [`TRANSITIONS`].
    Row(usize),
    /// The guard of the row was asked, and did not hold: a place in [`TRANSITIONS`].
    Guard(usize),
    /// Such an input was taken: a place in [`INPUTS`].
    Input(usize),
    /// An input was refused so: a place in [`REFUSALS`].
    Refusal(usize),
}

/// The kinds of input: those that answer no call, the answers, and the ways in which a call gives none.
pub const INPUT_KINDS: [&str; 29] = [
    "session start",
    "session end",
    "user message",
    "step",
    "cancel",
    "resume",
    "who speaks",
    "a fact",
    "a working item",
    "a signal",
    "the time",
    "identity locks",
    "ratings and traces",
    "tags",
    "a plan",
    "an argument",
    "an argument with a new plan",
    "an approval",
    "a repaired plan",
    "a diagnosis without repair",
    "a task result",
    "a store's answer",
    "a receipt",
    "no answer: error",
    "no answer: timeout",
    "no answer: malformed",
    "no answer: no candidates",
    "no answer: over budget",
    "no answer: unknown",
];

/// Why an input may be refused.
pub const REFUSAL_KINDS: [&str; 10] = [
    "not expected",
    "wrong call",
    "wrong report",
    "not asked",
    "effect changed",
    "nothing to resume",
    "no session",
    "session open",
    "wrong user",
    "misuse",
];

/// How many marks of each kind there are, in the order of the kinds.
const COUNTS: [usize; 7] = [
    CLAIMS.len(),
    CLAIMS.len(),
    Phase::ALL.len(),
    TRANSITIONS.len(),
    TRANSITIONS.len(),
    INPUT_KINDS.len(),
    REFUSAL_KINDS.len(),
];

/// How many marks there are.
pub const OBSERVATION_COUNT: usize = {
    let (mut all, mut kind) = (0, 0);
    while kind < COUNTS.len() {
        all += COUNTS[kind];
        kind += 1;
    }
    all
};

impl Observation {
    /// The mark's number, below [`MARKS`].
    #[must_use]
    pub fn index(self) -> usize {
        let (kind, place) = match self {
            Self::Violation(place) => (0, place),
            Self::Premise(place) => (1, place),
            Self::Phase(place) => (2, place),
            Self::Row(place) => (3, place),
            Self::Guard(place) => (4, place),
            Self::Input(place) => (5, place),
            Self::Refusal(place) => (6, place),
        };
        COUNTS.iter().take(kind).sum::<usize>() + place
    }

    /// The kind of an input.
    #[must_use]
    pub fn of_input(input: &Input) -> Self {
        let name = match input {
            Input::SessionStart { .. } => "session start",
            Input::SessionEnd => "session end",
            Input::UserMessage { .. } => "user message",
            Input::Step => "step",
            Input::Cancel => "cancel",
            Input::Resume => "resume",
            Input::Write(write) => match **write {
                Write::Identity { .. } => "who speaks",
                Write::Fact(_) => "a fact",
                Write::Working { .. } => "a working item",
                Write::Environment { .. } => "a signal",
                Write::Clock { .. } => "the time",
            },
            Input::Reply { report, .. } => report.noun(),
            Input::CallFailed { failure, .. } => match failure {
                Failure::Error => "no answer: error",
                Failure::Timeout => "no answer: timeout",
                Failure::Malformed => "no answer: malformed",
                Failure::NoCandidates => "no answer: no candidates",
                Failure::OverBudget => "no answer: over budget",
                Failure::OutcomeUnknown => "no answer: unknown",
            },
        };
        Self::Input(index_of(&INPUT_KINDS, name))
    }

    /// The kind of a refusal.
    #[must_use]
    pub fn of_refusal(refusal: &Refusal) -> Self {
        let name = match refusal {
            Refusal::UnexpectedInput { .. } => "not expected",
            Refusal::WrongCall { .. } => "wrong call",
            Refusal::WrongReport { .. } => "wrong report",
            Refusal::CallNotMade { .. } => "not asked",
            Refusal::EffectChanged { .. } => "effect changed",
            Refusal::NothingToResume => "nothing to resume",
            Refusal::NoSession => "no session",
            Refusal::SessionAlreadyOpen { .. } => "session open",
            Refusal::WrongUser { .. } => "wrong user",
            Refusal::InvalidWrite(_) => "misuse",
        };
        Self::Refusal(index_of(&REFUSAL_KINDS, name))
    }

    /// The control state that is entered.
    #[must_use]
    pub fn of_phase(phase: Phase) -> Self {
        Self::Phase(Phase::ALL.iter().position(|known| *known == phase).unwrap_or_default())
    }

    /// What is to be reached under a policy before one may say that everything was tried: not the rows that it switches
    /// off, nor what only they lead to. Premises are not among it, they are judged with the claims.
    #[must_use]
    pub fn expected_observations(policy: &Policy) -> Vec<Self> {
        let rows = || rows_in_force(policy);
        let taken = rows().map(|(place, _)| Self::Row(place));
        let guards = rows().filter(|(_, row)| row.when != Guard::Always).map(|(place, _)| Self::Guard(place));
        let entered = |phase: &Phase| rows().any(|(_, row)| row.to == *phase);
        let phases =
            (0..).zip(&Phase::ALL).filter(|(_, phase)| entered(phase)).map(|(at, _)| Self::Phase(at));
        let inputs = (0..INPUT_KINDS.len())
            .filter(|kind| is_reachable_input(policy, INPUT_KINDS[*kind]))
            .map(Self::Input);
        let refusals = (0..REFUSAL_KINDS.len()).map(Self::Refusal);
        phases.chain(taken).chain(guards).chain(inputs).chain(refusals).collect()
    }

    /// What kind of mark it is, in a word or two.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Violation(_) => "broken claim",
            Self::Premise(_) => "premise",
            Self::Phase(_) => "state",
            Self::Row(_) => "row",
            Self::Guard(_) => "guard fails",
            Self::Input(_) => "input",
            Self::Refusal(_) => "refusal",
        }
    }
}

/// The rows that a policy switches on and that start where a conversation may come, with their places.
pub fn rows_in_force(policy: &Policy) -> impl Iterator<Item = (usize, &'static Transition)> + use<'_> {
    let entered = entered(policy);
    let starts = move |row: &Transition| entered.iter().any(|phase| row.from.contains(*phase));
    TRANSITIONS.iter().enumerate().filter(move |(_, row)| row.switch.is_on(policy) && starts(row))
}

/// The control states to which rows lead that the policy switches on, from where a conversation starts.
fn entered(policy: &Policy) -> Vec<Phase> {
    let mut entered = vec![Phase::Idle];
    let mut looked_at = 0;
    while let Some(&phase) = entered.get(looked_at) {
        looked_at += 1;
        for row in TRANSITIONS.iter().filter(|row| row.switch.is_on(policy) && row.from.contains(phase)) {
            if !entered.contains(&row.to) {
                entered.push(row.to);
            }
        }
    }
    entered
}

/// Whether a policy takes this kind of input at all.
fn is_reachable_input(policy: &Policy, input: &str) -> bool {
    match input {
        "cancel" => policy.rules.has(Rule::Cancel),
        "an approval" => policy.rules.has(Rule::Approver),
        failed if failed.starts_with("no answer") => policy.rules.has(Rule::ErrorRows),
        _ => true,
    }
}

fn index_of(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_default()
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Violation(claim) | Self::Premise(claim) => f.pad(CLAIMS[claim].id),
            Self::Phase(phase) => f.pad(Phase::ALL[phase].name()),
            Self::Row(row) => f.pad(TRANSITIONS[row].id),
            Self::Guard(row) => write!(f, "{}: not {}", TRANSITIONS[row].id, TRANSITIONS[row].when),
            Self::Input(input) => f.pad(INPUT_KINDS[input]),
            Self::Refusal(refusal) => f.pad(REFUSAL_KINDS[refusal]),
        }
    }
}
