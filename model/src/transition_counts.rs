//! States and steps counted by phase, for a picture of what was explored.

use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionId};
use orchestrion_kernel::{Event, State};
use std::collections::{BTreeMap, HashSet};

/// A transition of control: the phase that it leaves, the position of its row in [`TRANSITIONS`], and the phase that it
/// enters. A resume is none.
pub type TransitionEdge = (Phase, usize, Phase);

/// The number of states in each phase, and of steps over each transition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransitionCounts {
    /// Distinct kernel states.
    pub states: BTreeMap<Phase, u64>,
    /// Distinct steps of products of state and history.
    pub steps: BTreeMap<TransitionEdge, u64>,
}

impl TransitionCounts {
    /// Adds the counts of another model. States that both reached count twice.
    pub fn add(&mut self, other: &Self) {
        for (phase, count) in &other.states {
            *self.states.entry(*phase).or_default() += count;
        }
        for (way, count) in &other.steps {
            *self.steps.entry(*way).or_default() += count;
        }
    }
}

/// The transition of a batch of events, if there is one.
#[must_use]
pub fn edge_of_step(before: &State, events: &[Event]) -> Option<TransitionEdge> {
    let row = events.iter().find_map(|event| match event {
        Event::Transitioned { row } => Some(*row),
        _ => None,
    })?;
    let place = TRANSITIONS.iter().position(|known| TransitionId::from_transition(known) == row)?;
    Some((before.control().phase(), place, row.transition().to))
}

/// Counts under construction.
#[derive(Debug, Default)]
pub(crate) struct TransitionCounter {
    pub(crate) counts: TransitionCounts,
    /// The digests of counted steps: the explorer computes some steps twice.
    steps: HashSet<u64>,
}

impl TransitionCounter {
    pub(crate) fn state(&mut self, state: &State) {
        *self.counts.states.entry(state.control().phase()).or_default() += 1;
    }

    pub(crate) fn step(&mut self, digest: u64, before: &State, events: &[Event]) {
        if let Some(way) = edge_of_step(before, events)
            && self.steps.insert(digest)
        {
            *self.counts.steps.entry(way).or_default() += 1;
        }
    }
}
