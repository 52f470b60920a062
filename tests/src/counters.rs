//! Counters that count: a model that costs next to nothing, so that an exploration of it measures the engine.

use stateright::{Model, Property};

/// Five counters, each of which may be increased up to the same bound.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// The bound.
    pub most: u8,
}

impl Model for Counters {
    type State = [u8; 5];
    type Action = usize;

    fn init_states(&self) -> Vec<Self::State> {
        vec![[0; 5]]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<usize>) {
        actions.extend((0..state.len()).filter(|i| state[*i] < self.most));
    }

    fn next_state(&self, state: &Self::State, action: usize) -> Option<Self::State> {
        let mut next = *state;
        next[action] += 1;
        Some(next)
    }

    /// stateright goes on as long as a property is not settled.
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::sometimes("explored to the end", |_, _| false)]
    }
}
