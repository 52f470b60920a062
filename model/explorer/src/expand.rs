//! Expands states: everything that needs no new state numbers.

use super::ACTIONS_MAX;
use super::error::{ExpandError, ExpandErrorKind};
use super::fingerprint::fingerprint;
use super::model::FairModel;
use super::new_states::{Found, NewStates};
use super::observations::ObservationSet;
use super::property_bits::append_row;
use super::state_queue::StateQueue;
use super::visited::{NONE, SlotRef, Visited};
use crate::liveness::{CLASSES, LivenessKind};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The read-only view of a search while states are expanded. Several threads share it.
pub(super) struct SearchSnapshot<'a, M: FairModel> {
    pub(super) model: &'a M,
    pub(super) visited: &'a Visited,
    pub(super) states: &'a StateQueue<M::State>,
    /// The states that threads found since the last numbering.
    pub(super) fresh: &'a NewStates<M::State>,
    /// Whether states with equal fingerprints are compared.
    pub(super) exact: bool,
    /// The observations that already occurred.
    pub(super) seen: &'a ObservationSet,
    /// The kinds of the liveness properties.
    pub(super) properties: &'a [LivenessKind],
    /// Whether states of the frontier are packed.
    pub(super) packs: bool,
}

/// A batch of expanded states with their steps.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) nodes: Vec<ExpandedState>,
    pub(super) steps: Vec<Step>,
    /// The properties that each state triggers, one row for each.
    pub(super) triggered: Vec<u8>,
    /// The properties that each state satisfies, one row for each.
    pub(super) satisfied: Vec<u8>,
    /// New observations of actions, by the position of the action.
    pub(super) shown: Vec<(u32, usize)>,
    /// The error in the state after the last of `nodes`.
    pub(super) fault: Option<ExpandError>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.steps.clear();
        self.triggered.clear();
        self.satisfied.clear();
        self.shown.clear();
        self.fault = None;
    }

    /// Keeps this number of states and what belongs to them.
    fn truncate(&mut self, nodes: usize) {
        self.nodes.truncate(nodes);
        self.steps.truncate(self.nodes.iter().map(|taken| taken.steps).sum());
        self.shown.truncate(self.nodes.iter().map(|taken| taken.shown).sum());
    }
}

/// An expanded state, and its share of the lists of a [`Batch`].
pub(super) struct ExpandedState {
    pub(super) node: u32,
    pub(super) steps: usize,
    pub(super) shown: usize,
    pub(super) satisfies_all: bool,
}

/// A step, and its successor as far as it is known.
pub(super) struct Step {
    pub(super) fingerprint: u64,
    pub(super) action: u16,
    pub(super) class: u8,
    pub(super) successor: Successor,
}

/// What is known of a successor.
#[derive(Clone, Copy)]
pub(super) enum Successor {
    /// Nothing yet.
    Unknown,
    /// It was visited. The node is known if edges are kept.
    Known(u32),
    /// It is outside of the boundary.
    OutOfBounds,
    /// It is inside of the boundary and was not visited at the time of the lookup. It has this position in
    /// [`NewStates`].
    Fresh(u32),
}

/// Expands several states at a time and then looks up all their successors, so that memory accesses overlap.
pub(super) struct Expander<M: FairModel> {
    actions: Vec<M::Action>,
    /// The successors of the latest steps, and the number of states and steps of the batch before them.
    pub(super) nexts: Vec<Option<M::State>>,
    before: (usize, usize),
    pub(super) observations: ObservationSet,
    /// The function of the model that runs, with its state and action.
    function: &'static str,
    pub(super) node: u32,
    pub(super) action: Option<usize>,
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(observations: usize) -> Self {
        let (actions, nexts, before, observations) =
            (Vec::new(), Vec::new(), (0, 0), ObservationSet::empty(observations));
        Self { actions, nexts, before, observations, function: "", node: 0, action: None }
    }

    /// Appends the steps of states, up to the first error.
    pub(super) fn expand(&mut self, known: &SearchSnapshot<'_, M>, nodes: Range<u32>, batch: &mut Batch) {
        self.nexts.clear();
        self.before = (batch.nodes.len(), batch.steps.len());
        let outcome = self
            .catch_panic(|this| nodes.into_iter().try_for_each(|node| this.expand_state(known, node, batch)));
        if let Err(fault) = outcome {
            batch.truncate(batch.nodes.len());
            batch.fault = Some(fault);
        }
        batch.steps[self.before.1..].iter().for_each(|step| known.visited.fetch(step.fingerprint));
    }

    /// Looks up the successors of the latest steps among the visited states, and then among the new ones.
    pub(super) fn classify_successors(&mut self, known: &SearchSnapshot<'_, M>, batch: &mut Batch) {
        let (mut met, mut nexts) = (self.before.0, std::mem::take(&mut self.nexts));
        if let Err(fault) = self.catch_panic(|this| this.classify_all(known, &mut nexts, batch, &mut met)) {
            batch.truncate(met);
            batch.fault = Some(fault);
        }
        self.nexts = nexts;
    }

    /// Calls the model, which may panic.
    pub(super) fn catch_panic<T>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Result<T, ExpandErrorKind>,
    ) -> Result<T, ExpandError> {
        let outcome = catch_unwind(AssertUnwindSafe(|| ask(self)));
        let outcome =
            outcome.unwrap_or_else(|payload| Err(ExpandErrorKind::panicked(self.function, &*payload)));
        outcome.map_err(|what| ExpandError { node: Some(self.node), action: self.action, what })
    }

    fn expand_state(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        node: u32,
        batch: &mut Batch,
    ) -> Result<(), ExpandErrorKind> {
        let SearchSnapshot { model, states, properties, .. } = *known;
        self.node = node;
        self.action = None;
        self.function = "unpack";
        let mut unpacked = None;
        let state = states.read(model, node, &mut unpacked)?;
        if is_sample(node) {
            self.check_determinism(known, state)?;
        }
        let Self { actions, nexts, observations, function, action: at, .. } = self;
        *at = None;
        actions.clear();
        *function = "actions";
        model.actions(state, actions);
        if actions.len() > ACTIONS_MAX {
            return Err(ExpandErrorKind::TooMany { what: "actions in one state", limit: ACTIONS_MAX as u64 });
        }
        *function = "is_triggered";
        append_row(&mut batch.triggered, triggered(model, properties, state));
        *function = "is_satisfied";
        let satisfies_all = append_row(&mut batch.satisfied, satisfied(model, properties, state));
        let (steps, shown) = (batch.steps.len(), batch.shown.len());
        for (i, action) in actions.drain(..).enumerate() {
            *at = Some(i);
            let mut class = 0;
            if !satisfies_all {
                *function = "fairness_class";
                class = model.fairness_class(state, &action);
                if class >= CLASSES {
                    return Err(ExpandErrorKind::TooMany { what: "fairness classes", limit: CLASSES.into() });
                }
            }
            *function = "next_state";
            observations.clear();
            let next = model.step(state, action, observations);
            observations.remove_all(known.seen);
            if !observations.is_empty() {
                batch.shown.extend(observations.iter().map(|observation| (i as u32, observation)));
            }
            if let Some(next) = next {
                let (fingerprint, action) = (fingerprint(&next), i as u16);
                batch.steps.push(Step { fingerprint, action, class, successor: Successor::Unknown });
                nexts.push(Some(next));
            }
        }
        let (steps, shown) = (batch.steps.len() - steps, batch.shown.len() - shown);
        batch.nodes.push(ExpandedState { node, steps, shown, satisfies_all });
        Ok(())
    }

    fn classify_all(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        nexts: &mut [Option<M::State>],
        batch: &mut Batch,
        met: &mut usize,
    ) -> Result<(), ExpandErrorKind> {
        let SearchSnapshot { visited, states, .. } = *known;
        let (nodes, steps) = self.before;
        let mut steps = batch.steps[steps..].iter_mut().zip(nexts);
        for taken in &batch.nodes[nodes..] {
            self.node = taken.node;
            for (step, next) in steps.by_ref().take(taken.steps) {
                let Some(next) = next.take() else { continue };
                let same = |slot: SlotRef<'_>| !known.exact || *states.at(slot.node()) == next;
                if let Ok(slot) = visited.find(step.fingerprint, same) {
                    step.successor = Successor::Known(if taken.satisfies_all { NONE } else { slot.node() });
                    continue;
                }
                step.successor = if self.inside(known.model, &next, step.action) {
                    Successor::Fresh(self.found(known, step.fingerprint, next)?)
                } else {
                    Successor::OutOfBounds
                };
            }
            *met += 1;
        }
        Ok(())
    }

    /// Whether a successor is inside of the boundary.
    pub(super) fn inside(&mut self, model: &M, next: &M::State, action: u16) -> bool {
        self.action = Some(action.into());
        self.function = "within_boundary";
        model.within_boundary(next)
    }

    /// Records the new observations of a state.
    pub(super) fn observe_new(&mut self, model: &M, seen: &ObservationSet, state: &M::State) {
        self.function = "observe";
        self.observations.clear();
        model.observe(state, seen, &mut self.observations);
        self.observations.remove_all(seen);
    }

    /// Returns the position of a state among the new states. Inserts it if it is absent.
    fn found(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        fingerprint: u64,
        state: M::State,
    ) -> Result<u32, ExpandErrorKind> {
        let SearchSnapshot { model, fresh, seen, packs, .. } = *known;
        if let Some(place) = fresh.place(fingerprint, &state) {
            return Ok(place);
        }
        self.observe_new(model, seen, &state);
        let observed = self.observations.iter().collect();
        let mut packed = Vec::new();
        let state = self.store(packs, model, state, &mut packed)?;
        Ok(fresh.put(fingerprint, Found { state, packed, observed, node: None }))
    }

    /// Stores a state for the frontier: packed or whole.
    pub(super) fn store(
        &mut self,
        packs: bool,
        model: &M,
        state: M::State,
        packed: &mut Vec<u8>,
    ) -> Result<Option<M::State>, ExpandErrorKind> {
        if !packs {
            return Ok(Some(state));
        }
        self.function = "pack";
        if model.pack(&state, packed) {
            Ok(None)
        } else {
            Err(ExpandErrorKind::differs("pack", &true, &false))
        }
    }

    /// Calls every function of the model twice and compares the results.
    fn check_determinism(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        state: &M::State,
    ) -> Result<(), ExpandErrorKind> {
        let model = known.model;
        fn same<T: Debug + PartialEq>(
            function: &'static str,
            first: &T,
            second: &T,
        ) -> Result<(), ExpandErrorKind> {
            if first == second { Ok(()) } else { Err(ExpandErrorKind::differs(function, first, second)) }
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.function = "actions";
        model.actions(state, &mut first);
        model.actions(state, &mut second);
        same("actions", &first, &second)?;
        let properties = known.properties;
        self.function = "is_triggered";
        let triggers = || triggered(model, properties, state).collect::<Vec<_>>();
        same("is_triggered", &triggers(), &triggers())?;
        self.function = "is_satisfied";
        let satisfies = || satisfied(model, properties, state).collect::<Vec<_>>();
        same("is_satisfied", &satisfies(), &satisfies())?;
        self.function = "observe";
        let mut twice = self.observations.clone();
        self.observations.clear();
        twice.clear();
        model.observe(state, known.seen, &mut self.observations);
        model.observe(state, known.seen, &mut twice);
        same("observe", &self.observations, &twice)?;
        for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
            self.action = Some(i);
            self.function = "fairness_class";
            same(
                "fairness_class",
                &model.fairness_class(state, &first),
                &model.fairness_class(state, &second),
            )?;
            self.function = "next_state";
            self.observations.clear();
            twice.clear();
            let first = model.step(state, first, &mut self.observations);
            let second = model.step(state, second, &mut twice);
            same("next_state", &first, &second)?;
            same("next_state", &self.observations, &twice)?;
            self.function = "hash";
            same("hash", &first.as_ref().map(fingerprint), &second.as_ref().map(fingerprint))?;
            if let (true, Some(next)) = (known.packs, &first) {
                self.function = "pack";
                packs(model, next)?;
            }
        }
        Ok(())
    }
}

/// Whether the model packs a state. If so, the state must unpack to the same value.
pub(super) fn packs<M: FairModel>(model: &M, state: &M::State) -> Result<bool, ExpandErrorKind>
where
    M::State: Debug + PartialEq,
{
    let mut bytes = Vec::new();
    if !model.pack(state, &mut bytes) {
        return Ok(false);
    }
    match model.unpack(&bytes) {
        Some(again) if again == *state => Ok(true),
        again => Err(ExpandErrorKind::unpacked(state, again.as_ref())),
    }
}

/// The properties that a state triggers, as far as only the model knows them: those of the kind `LeadsTo`.
fn triggered<M: FairModel>(
    model: &M,
    properties: &[LivenessKind],
    state: &M::State,
) -> impl Iterator<Item = bool> {
    properties.iter().enumerate().map(move |(property, kind)| match kind {
        LivenessKind::LeadsTo => model.is_triggered(property, state),
        LivenessKind::Eventually | LivenessKind::AlwaysEventually => false,
    })
}

/// The properties that a state satisfies.
fn satisfied<M: FairModel>(
    model: &M,
    properties: &[LivenessKind],
    state: &M::State,
) -> impl Iterator<Item = bool> {
    (0..properties.len()).map(move |property| model.is_satisfied(property, state))
}

/// Whether the determinism of the model is checked at this state: the first 1,000 states, and one in 64 of the others.
fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}
