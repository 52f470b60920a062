//! What every machine is asked.

use super::Machine;

/// A question to a machine, as the claim that it should be able to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its name.
    pub name: &'static str,
    /// What should hold.
    pub claim: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// When a machine that does not hold it fails.
    weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// Whenever it is found.
    Failure,
    /// Unless it was guessed what the edges are about.
    FailureIfSaid,
    /// Never: only somebody who knows the machine can tell.
    Doubt,
}

impl Question {
    /// Whether a machine of which this does not hold fails.
    #[must_use]
    pub fn is_failure(&self, machine: &Machine) -> bool {
        match self.weight {
            Weight::Failure => true,
            Weight::FailureIfSaid => !machine.is_guessed,
            Weight::Doubt => false,
        }
    }
}

const fn question(name: &'static str, weight: Weight, claim: &'static str, why: &'static str) -> Question {
    Question { name, claim, why, weight }
}

pub(super) const REACHED: Question = question(
    "reached",
    Weight::Failure,
    "Every state is reached from the start.",
    "what nothing leads to is never tried, or the edge to it was forgotten",
);
pub(super) const LEADS_ON: Question = question(
    "leads-on",
    Weight::Failure,
    "Every state that is no end leads on.",
    "a run that comes to a dead end stays there for ever, and nobody is told",
);
pub(super) const ENDS: Question = question(
    "ends",
    Weight::Failure,
    "From every state an end can be reached.",
    "a run that cannot end keeps for ever what it holds, and what should follow its end never does",
);
pub(super) const ONE_WAY: Question = question(
    "one-way",
    Weight::Failure,
    "Whatever comes, at most one edge fits.",
    "two programs that follow the same machine would go different ways",
);
pub(super) const ANSWERS: Question = question(
    "no-answer",
    Weight::FailureIfSaid,
    "Every state that waits has an edge for an answer that does not come.",
    "calls fail, time out and answer nonsense; without an edge for that, the run waits for ever",
);
pub(super) const BOUNDED: Question = question(
    "bounded",
    Weight::FailureIfSaid,
    "Every loop passes a limit.",
    "what may always be tried again may be tried for ever",
);
pub(super) const OTHERWISE: Question = question(
    "otherwise",
    Weight::Doubt,
    "Where edges have conditions, one is left for when none of them holds.",
    "unless the conditions leave nothing out, the run is stuck where none of them holds",
);
pub(super) const AGAIN: Question = question(
    "again",
    Weight::Doubt,
    "Where a run ends, the next one can begin.",
    "a machine that is over takes no second request; somebody has to make a new one",
);
pub(super) const ONCE: Question = question(
    "once",
    Weight::Doubt,
    "No edge is written twice.",
    "one of the two was meant to be another one",
);
pub(super) const NAMES: Question = question(
    "names",
    Weight::Doubt,
    "No state is named like another one.",
    "a slip in a name makes a state of its own",
);

/// The questions, in the order in which they are asked.
pub const QUESTIONS: [Question; 10] =
    [REACHED, LEADS_ON, ENDS, ONE_WAY, ANSWERS, BOUNDED, OTHERWISE, AGAIN, ONCE, NAMES];
