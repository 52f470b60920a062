//! States and steps counted by control state, for a picture of what was explored.

use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionId};
use orchestrion_kernel::{Event, State};
use std::collections::{BTreeMap, HashSet};

/// A step of control: where it starts, the row that it takes, as a place in [`TRANSITIONS`], and where it ends. A resume is
/// none.
pub type TransitionEdge = (Phase, usize, Phase);

/// How many states are in each control state, and how many steps go each way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransitionCounts {
    /// Different kernel states.
    pub states: BTreeMap<Phase, u64>,
    /// Different steps of products of state and history.
    pub steps: BTreeMap<TransitionEdge, u64>,
}

impl TransitionCounts {
    /// Adds what another model came to. States that both reached count twice.
    pub fn add(&mut self, other: &Self) {
        for (phase, count) in &other.states {
            *self.states.entry(*phase).or_default() += count;
        }
        for (way, count) in &other.steps {
            *self.steps.entry(*way).or_default() += count;
        }
    }
}

/// The way that a batch of events goes from a state, if control moves.
#[must_use]
pub fn edge_of_step(before: &State, events: &[Event]) -> Option<TransitionEdge> {
    let row = events.iter().find_map(|event| match event {
        Event::Transitioned { row } => Some(*row),
        _ => None,
    })?;
    let place = TRANSITIONS.iter().position(|known| TransitionId::from_transition(known) == row)?;
    Some((before.control.phase(), place, row.transition().to))
}

/// A tally in the making.
#[derive(Debug, Default)]
pub(crate) struct TransitionCounter {
    pub(crate) counts: TransitionCounts,
    /// Digests of the steps that were counted: the explorer asks some things twice.
    steps: HashSet<u64>,
}

impl TransitionCounter {
    pub(crate) fn state(&mut self, state: &State) {
        *self.counts.states.entry(state.control.phase()).or_default() += 1;
    }

    pub(crate) fn step(&mut self, digest: u64, before: &State, events: &[Event]) {
        if let Some(way) = edge_of_step(before, events)
            && self.steps.insert(digest)
        {
            *self.counts.steps.entry(way).or_default() += 1;
        }
    }
}
