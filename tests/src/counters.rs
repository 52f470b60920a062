//! A cheap model of counters: exploring it measures the engine.

use stateright::{Model, Property};

/// Five counters, each of which increases up to the same bound.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// The upper bound.
    pub bound: u8,
}

impl Model for Counters {
    type State = [u8; 5];
    type Action = usize;

    fn init_states(&self) -> Vec<Self::State> {
        vec![[0; 5]]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<usize>) {
        actions.extend((0..state.len()).filter(|i| state[*i] < self.bound));
    }

    fn next_state(&self, state: &Self::State, action: usize) -> Option<Self::State> {
        let mut next = *state;
        next[action] += 1;
        Some(next)
    }

    /// An undecided property makes stateright explore every state.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::sometimes("every state is explored", |_, _| false)]
    }
}
