//! Models that the explorer accepts: stateright models with observations and liveness properties.

use super::observations::ObservationSet;
use crate::liveness::{Fairness, LivenessKind, LivenessProperty};
use stateright::{Expectation, Model, Property};

/// What an exploration needs beyond stateright's [`Model`].
///
/// A model is a function: the same state gives the same actions in the same order, and the same action gives the same
/// step.
pub trait FairModel: Model {
    /// The number of observations. An observation is what a state or a step may exhibit: a violation, a reached
    /// premise, a taken transition.
    fn observation_count(&self) -> usize {
        0
    }

    /// Takes the step of an action and records its observations. `None`: the action is refused. A refused action is no
    /// step, but may have observations.
    fn step(
        &self,
        state: &Self::State,
        action: Self::Action,
        observations: &mut ObservationSet,
    ) -> Option<Self::State> {
        let _ = observations;
        self.next_state(state, action)
    }

    /// Records the observations of a state. Observations in `seen` may be skipped.
    fn observe(&self, state: &Self::State, seen: &ObservationSet, observations: &mut ObservationSet) {
        let _ = (state, seen, observations);
    }

    /// The fairness class of an action, below [`CLASSES`](crate::liveness::CLASSES): its actor.
    fn fairness_class(&self, state: &Self::State, action: &Self::Action) -> u8 {
        let _ = (state, action);
        0
    }

    /// The liveness properties. A property is referred to by its position in this list.
    fn liveness_properties(&self) -> &[LivenessProperty] {
        &[]
    }

    /// Whether a state triggers a property of the kind [`LeadsTo`](LivenessKind::LeadsTo).
    fn is_triggered(&self, property: usize, state: &Self::State) -> bool {
        let _ = (property, state);
        false
    }

    /// Whether a state satisfies a property.
    fn is_satisfied(&self, property: usize, state: &Self::State) -> bool {
        let _ = (property, state);
        false
    }

    /// Appends bytes from which [`unpack`](Self::unpack) builds an equal state, so that the frontier takes less memory.
    /// Returns `false` if the model does not pack; then it packs no state.
    fn pack(&self, state: &Self::State, into: &mut Vec<u8>) -> bool {
        let _ = (state, into);
        false
    }

    /// Builds the state from its bytes; `None` if they are invalid.
    fn unpack(&self, bytes: &[u8]) -> Option<Self::State> {
        let _ = bytes;
        None
    }

    /// The heap memory of a state in bytes, for the memory limit.
    fn heap_bytes(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }

    /// Appends what the model counts while it is explored, for a [`Checkpoint`](crate::Checkpoint).
    fn save_counts(&self, into: &mut Vec<u8>) {
        let _ = into;
    }

    /// Restores what [`save_counts`](Self::save_counts) appended. Returns `false` if the bytes are not of this model.
    fn restore_counts(&self, bytes: &[u8]) -> bool {
        bytes.is_empty()
    }

    /// The memory of the model itself in bytes, for example for counters. It counts for the memory limit too.
    fn model_bytes(&self) -> usize {
        0
    }
}

/// A plain stateright model. Each of its properties has the observation of its position: `always` records a violation,
/// `sometimes` records a witness. `eventually` records nothing; it is a liveness property without fairness.
pub struct StaterightModel<M: Model> {
    model: M,
    properties: Vec<Property<M>>,
    liveness_properties: Vec<LivenessProperty>,
}

impl<M: Model> StaterightModel<M> {
    /// Wraps a model.
    #[must_use]
    pub fn new(model: M) -> Self {
        let properties = model.properties();
        let liveness_property = |property: &Property<M>| LivenessProperty {
            name: property.name,
            kind: LivenessKind::Eventually,
            fairness: Fairness::default(),
        };
        let liveness_properties = eventually(&properties).map(liveness_property).collect();
        Self { model, properties, liveness_properties }
    }
}

fn eventually<M: Model>(properties: &[Property<M>]) -> impl Iterator<Item = &Property<M>> {
    properties.iter().filter(|property| matches!(property.expectation, Expectation::Eventually))
}

impl<M: Model> Model for StaterightModel<M> {
    type State = M::State;
    type Action = M::Action;

    fn init_states(&self) -> Vec<Self::State> {
        self.model.init_states()
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        self.model.actions(state, actions);
    }

    fn next_state(&self, state: &Self::State, action: Self::Action) -> Option<Self::State> {
        self.model.next_state(state, action)
    }

    fn within_boundary(&self, state: &Self::State) -> bool {
        self.model.within_boundary(state)
    }
}

impl<M: Model> FairModel for StaterightModel<M> {
    fn observation_count(&self) -> usize {
        self.properties.len()
    }

    fn observe(&self, state: &Self::State, seen: &ObservationSet, observations: &mut ObservationSet) {
        for (observation, property) in
            self.properties.iter().enumerate().filter(|(observation, _)| !seen.contains(*observation))
        {
            let holds = || (property.condition)(&self.model, state);
            let shows = match property.expectation {
                Expectation::Always => !holds(),
                Expectation::Sometimes => holds(),
                Expectation::Eventually => false,
            };
            if shows {
                observations.insert(observation);
            }
        }
    }

    fn liveness_properties(&self) -> &[LivenessProperty] {
        &self.liveness_properties
    }

    fn is_satisfied(&self, property: usize, state: &Self::State) -> bool {
        let property = eventually(&self.properties).nth(property);
        property.is_some_and(|property| (property.condition)(&self.model, state))
    }
}
