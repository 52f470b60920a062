//! Models that cannot be explored.

use super::threads;
use crate::liveness::{Fairness, LivenessKind, LivenessProperty};
use crate::{FairModel, ModelError, ObservationSet, explore};
use stateright::Model;
use std::sync::atomic::{AtomicU32, Ordering};

/// The defect.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Actions,
    Step,
    Panic,
    Look,
    Mark,
    Class,
    ManyActions,
    Roots,
    Unpack,
    Forgets,
    Late,
}

/// A number that grows by one or two. At 20 the defect occurs.
struct Bad {
    wrong: Wrong,
    calls: AtomicU32,
    properties: Vec<LivenessProperty>,
}

impl Bad {
    fn at(&self, wrong: Wrong, state: u32) -> bool {
        self.wrong == wrong && state == 20
    }

    /// A different result in each call.
    fn other(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }
}

impl Model for Bad {
    type State = u32;
    type Action = u32;

    fn init_states(&self) -> Vec<u32> {
        if self.wrong == Wrong::Roots { vec![self.other()] } else { vec![0] }
    }

    fn actions(&self, state: &u32, actions: &mut Vec<u32>) {
        let more = if self.at(Wrong::ManyActions, *state) { 70_000 } else { 2 };
        let from = if self.at(Wrong::Actions, *state) { self.other() } else { 1 };
        actions.extend(from..from + more);
    }

    fn next_state(&self, state: &u32, action: u32) -> Option<u32> {
        assert!(!self.at(Wrong::Panic, *state), "twenty is too much");
        let other = if self.at(Wrong::Step, *state) { self.other() } else { 0 };
        Some(state + action + other).filter(|next| *next < 40)
    }
}

impl FairModel for Bad {
    fn observation_count(&self) -> usize {
        1
    }

    fn observe(&self, state: &u32, _: &ObservationSet, observations: &mut ObservationSet) {
        assert!(!self.at(Wrong::Look, *state), "a claim that panics");
        if self.at(Wrong::Mark, *state) {
            observations.insert(1);
        }
    }

    fn fairness_class(&self, _: &u32, _: &u32) -> u8 {
        if self.wrong == Wrong::Class { 32 } else { 0 }
    }

    fn liveness_properties(&self) -> &[LivenessProperty] {
        &self.properties
    }

    fn pack(&self, state: &u32, into: &mut Vec<u8>) -> bool {
        into.extend(state.to_le_bytes());
        matches!(self.wrong, Wrong::Unpack | Wrong::Forgets | Wrong::Late | Wrong::Step)
    }

    fn unpack(&self, bytes: &[u8]) -> Option<u32> {
        let state = u32::from_le_bytes(*bytes.first_chunk()?);
        let forgets = if self.at(Wrong::Forgets, state) { 1 } else { 0 };
        let late = self.at(Wrong::Late, state) && self.other() > 1;
        assert!(!late, "twenty cannot be read");
        (!self.at(Wrong::Unpack, state)).then_some(state - forgets)
    }
}

fn error(wrong: Wrong, number: usize) -> ModelError {
    let property =
        LivenessProperty { name: "it ends", kind: LivenessKind::LeadsTo, fairness: Fairness::default() };
    let bad = Bad { wrong, calls: AtomicU32::new(0), properties: vec![property] };
    match explore(&bad, &threads(number), &mut |_| {}) {
        Err(error) => error,
        Ok(found) => panic!("{:?} after {} states", found.ended(), found.states()),
    }
}

fn says(wrong: Wrong, expected: &str) {
    for number in 1..=3 {
        let said = error(wrong, number).to_string();
        assert!(said.contains(expected), "expected {expected:?} in: {said}");
    }
}

const WAY: &str = "in the state 20, reached by 2, 2, 2, 2, 2, 2, 2, 2, 2, 2";

#[test]
fn nondeterministic_model_is_reported_with_path() {
    says(Wrong::Actions, "`actions` returned [");
    says(Wrong::Actions, WAY);
    says(Wrong::Step, "`next_state` returned Some(");
    says(Wrong::Step, &format!("at the action 1 {WAY}"));
    says(Wrong::Roots, "`init_states` returned [0], then [1] for the same arguments; before the first state");
}

#[test]
fn pack_mismatch_is_reported() {
    says(
        Wrong::Forgets,
        "expected `unpack` to return 20, found 19; at the action 2 in the state 18, reached by ",
    );
    says(
        Wrong::Unpack,
        "expected `unpack` to return 20, found none; at the action 2 in the state 18, reached by ",
    );
    says(
        Wrong::Late,
        "panicked in `unpack`: twenty cannot be read; in the state that cannot be unpacked, reached by 2, 2,",
    );
}

#[test]
fn model_panic_is_an_error() {
    says(
        Wrong::Panic,
        "model panicked in `next_state`: twenty is too much; at the action 1 in the state 20, ",
    );
    says(Wrong::Panic, WAY);
    says(Wrong::Look, "model panicked in `observe`: a claim that panics; at the action 2 in the state 18, ");
    says(Wrong::Mark, "invalid observation: expected a number below 1, found 1");
}

#[test]
fn too_many_numbers_are_reported() {
    says(Wrong::Class, "too many fairness classes: expected at most 32");
    says(Wrong::ManyActions, "too many actions in one state: expected at most 65535; in the state 20, ");
}
