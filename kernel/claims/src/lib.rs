//! Claims: what is to hold, written once, and checked wherever the kernel runs.
//!
//! The catalogue is the single list; the history is what claims about the past read. State and step claims
//! speak of states; trace claims read events only, so that they do not trust what the kernel remembers.

#![no_std]

extern crate alloc;

pub mod catalogue;
pub mod history;

pub use catalogue::CLAIMS;
pub use history::History;

use orchestrion_kernel::event::{Event, Events};
use orchestrion_kernel::input::Input;
use orchestrion_kernel::module::{Module, Operation};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::refusal::Refusal;
use orchestrion_kernel::state::State;

/// A sentence about every run, and how it is checked.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// Its short name.
    pub id: &'static str,
    /// The source clause, or the decision.
    pub clause: &'static str,
    /// What holds, as a sentence.
    pub statement: &'static str,
    /// The same as a formula.
    pub formula: &'static str,
    /// The finding of the design that it states, such as `F6`.
    pub finding: Option<&'static str>,
    /// How it is checked.
    pub check: ClaimCheck,
    /// A state in which the claim has something to say. If no such state is reached, the claim is vacuous.
    pub premise: fn(&Policy, &State) -> bool,
    /// Why it says nothing under this policy, if it does not.
    pub not_applicable: fn(&Policy) -> Option<&'static str>,
}

/// How a claim is checked.
#[derive(Clone, Copy, Debug)]
pub enum ClaimCheck {
    /// In every state.
    StateInvariant(fn(&Policy, &State) -> bool),
    /// In every state, of how `decide` meets some input there. Whoever checks passes the `decide` that is judged.
    ResponseInvariant(fn(&Decide<'_>, &State) -> bool),
    /// In every step, given the states on both sides.
    StepInvariant(fn(&Policy, &State, &[Event], &State) -> bool),
    /// At every event, given what happened before it in the same request.
    TraceInvariant(fn(&Policy, &History, &Event) -> bool),
    /// After every step, between what happened and what the kernel remembers of it.
    HistoryConsistency(fn(&History, &State) -> bool),
    /// Of `decide` and `apply` themselves; checked by whoever calls them.
    Contract(Contract),
    /// Whatever opens is met sooner or later, in every run that is fair. Only an explorer that knows fairness
    /// checks it: what is not yet, may still come.
    LeadsTo {
        /// Where the obligation opens.
        from: StatePredicate,
        /// Where it is met.
        to: StatePredicate,
        /// What is asked of the run.
        under: &'static [Fairness],
    },
}

/// `decide` under one policy.
pub type Decide<'a> = dyn Fn(&State, &Input) -> Result<Events, Refusal> + 'a;

/// A condition on what happened and what is.
pub type StatePredicate = fn(&Policy, &History, &State) -> bool;

/// Whose turn a step is; what fairness speaks of. It names the obligation, never a single call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The kernel goes on by itself.
    Kernel,
    /// A module answers, or its time runs out.
    Module(Module),
    /// The user speaks or cancels; nothing obliges them to.
    User,
    /// The runtime comes back after a crash.
    Crash,
}

/// What is asked of a run before a liveness claim is held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fairness {
    /// A party that could act without end acts, or at some point cannot.
    Weak(Actor),
    /// A party that again and again could act acts again and again.
    Strong(Actor),
    /// The party acts finitely often only.
    FinitelyOften(Actor),
}

impl Actor {
    /// The party whose turn an input is, given the question that is waited for.
    #[must_use]
    pub const fn for_input(input: &Input, waiting: Option<Operation>) -> Self {
        match (input, waiting) {
            (Input::Step, _) => Self::Kernel,
            (Input::Reply { .. } | Input::CallFailed { .. }, Some(ask)) => Self::Module(ask.module()),
            (Input::Resume, _) => Self::Crash,
            _ => Self::User,
        }
    }
}

/// A promise of `decide` and `apply` themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// An input that is refused leaves the state as it was, and is refused with a sentence.
    RefusalPreservesState,
    /// An answer to another call, an answer of another kind and a stranger are refused as what they are.
    RefusesMismatchedReply,
    /// An answer that fits the call that is waited for is taken.
    AcceptsExpectedReply,
    /// Every state takes or refuses every trigger; what it takes is one row, or a resume.
    Total,
    /// The same state and input give the same events.
    Deterministic,
    /// Folding the decoded encoding of the events gives the state that applying the events gives.
    ReplaysFromLog,
}

impl ClaimCheck {
    /// What kind of claim it is, in a word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::StateInvariant(_) | Self::ResponseInvariant(_) => "state",
            Self::StepInvariant(_) => "step",
            Self::TraceInvariant(_) => "trace",
            Self::HistoryConsistency(_) => "memory",
            Self::Contract(_) => "contract",
            Self::LeadsTo { .. } => "liveness",
        }
    }
}

/// The claims that a step breaks, as positions in [`CLAIMS`]; the history moves on past its events.
pub fn step_violations<'a>(
    policy: &'a Policy,
    before: &'a State,
    events: &'a [Event],
    after: &'a State,
    history: &mut History,
) -> impl Iterator<Item = usize> + use<'a> {
    let mut broken: alloc::collections::BTreeSet<usize> = alloc::collections::BTreeSet::new();
    for event in events {
        for (i, claim) in CLAIMS.iter().enumerate() {
            if let ClaimCheck::TraceInvariant(may) = claim.check
                && !may(policy, history, event)
            {
                broken.insert(i);
            }
        }
        history.observe(policy, event);
    }
    for (i, claim) in CLAIMS.iter().enumerate() {
        let holds = match claim.check {
            ClaimCheck::StepInvariant(holds) => holds(policy, before, events, after),
            ClaimCheck::HistoryConsistency(holds) => holds(history, after),
            _ => true,
        };
        if !holds {
            broken.insert(i);
        }
    }
    broken.into_iter()
}

/// The claims that a state breaks, as positions in [`CLAIMS`].
pub fn state_violations<'a>(policy: &'a Policy, state: &'a State) -> impl Iterator<Item = usize> + use<'a> {
    let decide = |state: &State, input: &Input| orchestrion_kernel::decide(policy, state, input);
    CLAIMS.iter().enumerate().filter_map(move |(i, claim)| {
        let holds = match claim.check {
            ClaimCheck::StateInvariant(holds) => holds(policy, state),
            ClaimCheck::ResponseInvariant(holds) => holds(&decide, state),
            _ => true,
        };
        (!holds).then_some(i)
    })
}
