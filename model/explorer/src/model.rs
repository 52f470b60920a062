//! What may be explored: a stateright model, and what it shows and promises.

use super::observations::ObservationSet;
use crate::liveness::{Fairness, LivenessKind, LivenessProperty};
use stateright::{Expectation, Model, Property};

/// What an exploration needs to know of a model beyond stateright's trait.
///
/// A model is a function: the same state gives the same actions in the same order, and the same action the same step.
pub trait FairModel: Model {
    /// How many marks there are. A mark is something that a state or a step may show: a broken claim, a reached premise,
    /// a row taken.
    fn observation_count(&self) -> usize {
        0
    }

    /// The step that an action makes, and what it shows on the way. None: the action is refused, which is no step, but
    /// may show something too.
    fn step(
        &self,
        state: &Self::State,
        action: Self::Action,
        marks: &mut ObservationSet,
    ) -> Option<Self::State> {
        let _ = marks;
        self.next_state(state, action)
    }

    /// What a state shows. What was seen before need not be shown again, so nobody need look whether it is.
    fn observe(&self, state: &Self::State, seen: &ObservationSet, marks: &mut ObservationSet) {
        let _ = (state, seen, marks);
    }

    /// The class of an action, below [`CLASSES`](crate::liveness::CLASSES): whose obligation it is.
    fn fairness_class(&self, state: &Self::State, action: &Self::Action) -> u8 {
        let _ = (state, action);
        0
    }

    /// What is promised. At most [`PROMISES`](super::PROMISES).
    fn liveness_properties(&self) -> &[LivenessProperty] {
        &[]
    }

    /// Which promises of the kind [`LeadsTo`](PromiseKind::LeadsTo) open in this state: bit `i` is promise `i`.
    fn triggered(&self, state: &Self::State) -> u8 {
        let _ = state;
        0
    }

    /// Which promises are kept in this state.
    fn satisfied(&self, state: &Self::State) -> u8 {
        let _ = state;
        0
    }

    /// Appends bytes from which [`unpack`](Self::unpack) makes an equal state, so that waiting states take less room; false
    /// if the model does not pack. Then it packs no state.
    fn pack(&self, state: &Self::State, into: &mut Vec<u8>) -> bool {
        let _ = (state, into);
        false
    }

    /// The state of these bytes; none if they are not those of a state.
    fn unpack(&self, bytes: &[u8]) -> Option<Self::State> {
        let _ = bytes;
        None
    }

    /// The bytes that a state holds on the heap. A budget of memory reckons with them.
    fn heap_bytes(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }

    /// The bytes that the model itself holds by now, such as for counting. A budget of memory reckons with them too.
    fn model_bytes(&self) -> usize {
        0
    }
}

/// A stateright model as it is. Each of its properties has the mark of its position: `always` shows it where it is broken,
/// `sometimes` where it is reached. `eventually` shows nothing; it is a promise, under no fairness.
pub struct StaterightModel<M: Model> {
    model: M,
    properties: Vec<Property<M>>,
    promises: Vec<LivenessProperty>,
}

impl<M: Model> StaterightModel<M> {
    /// The model with nothing added.
    #[must_use]
    pub fn new(model: M) -> Self {
        let properties = model.properties();
        let promise = |property: &Property<M>| LivenessProperty {
            name: property.name,
            kind: LivenessKind::Eventually,
            fair: Fairness::default(),
        };
        let promises = eventually(&properties).map(promise).collect();
        Self { model, properties, promises }
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

    fn observe(&self, state: &Self::State, seen: &ObservationSet, marks: &mut ObservationSet) {
        for (mark, property) in self.properties.iter().enumerate().filter(|(mark, _)| !seen.contains(*mark)) {
            let holds = || (property.condition)(&self.model, state);
            let shows = match property.expectation {
                Expectation::Always => !holds(),
                Expectation::Sometimes => holds(),
                Expectation::Eventually => false,
            };
            if shows {
                marks.insert(mark);
            }
        }
    }

    fn liveness_properties(&self) -> &[LivenessProperty] {
        &self.promises
    }

    fn satisfied(&self, state: &Self::State) -> u8 {
        let kept = eventually(&self.properties).map(|property| (property.condition)(&self.model, state));
        kept.take(super::LIVENESS_PROPERTIES_MAX)
            .enumerate()
            .fold(0, |kept, (i, keeps)| kept | u8::from(keeps) << i)
    }
}
