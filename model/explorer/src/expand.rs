//! Expands states: everything that needs no new state numbers.

use super::ACTIONS_MAX;
use super::batch::{Batch, ExpandedState, NewState, Step, Successor};
use super::batch_size::at_once;
use super::determinism::{is_sample, same};
use super::error::{ExpandError, ExpandErrorKind, short};
use super::fingerprint::fingerprint;
use super::model::FairModel;
use super::new_states::{Found, Lookup, NewStates};
use super::observations::ObservationSet;
use super::path::action_at;
use super::property_bits::append_row;
use super::state_queue::{Block, StateQueue};
use super::visited::{NONE, SlotRef, Visited};
use crate::liveness::{CLASSES, LivenessKind};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The read-only view of a search while states are expanded. Several threads share it.
pub(super) struct SearchSnapshot<'a, M: FairModel> {
    pub(super) model: &'a M,
    pub(super) visited: &'a Visited,
    pub(super) states: &'a StateQueue<M::State>,
    /// The states that threads found since the last numbering, if there are several threads.
    pub(super) new_states: Option<&'a NewStates>,
    /// Whether states with equal fingerprints are compared.
    pub(super) exact: bool,
    /// The observations that already occurred.
    pub(super) seen: &'a ObservationSet,
    /// The kinds of the liveness properties.
    pub(super) properties: &'a [LivenessKind],
    /// Whether states of the frontier are packed.
    pub(super) packs: bool,
}

/// Expands states and looks up their successors.
///
/// States that own memory are looked up one at a time, and dropped at once if they were visited: their memory then is in the
/// cache and serves the next one. States that own none are looked up several at a time, so that
/// memory accesses overlap.
pub(super) struct Expander<M: FairModel> {
    actions: Vec<M::Action>,
    /// With several threads, the successors of the latest steps that were not looked up.
    pending: VecDeque<M::State>,
    /// With one thread, the successors of the batch with [`Successor::Unknown`], in the order of their steps.
    pub(super) nexts: Vec<Option<M::State>>,
    /// With several threads, the new states that this thread found, and its number.
    pub(super) found: Vec<Found<M::State>>,
    thread: u16,
    pub(super) observations: ObservationSet,
    /// The function of the model that runs, with its state and action.
    pub(super) function: &'static str,
    pub(super) node: u32,
    pub(super) action: Option<usize>,
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(observations: usize, thread: u16) -> Self {
        Self {
            actions: Vec::new(),
            pending: VecDeque::new(),
            nexts: Vec::new(),
            found: Vec::new(),
            thread,
            observations: ObservationSet::empty(observations),
            function: "",
            node: 0,
            action: None,
        }
    }

    /// Appends the steps of the states of a block, up to the first error.
    pub(super) fn expand(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        block: &Block<M::State>,
        nodes: Range<u32>,
        batch: &mut Batch,
    ) {
        self.nexts.clear();
        self.pending.clear();
        let (expanded, first_step) = (batch.nodes.len(), batch.steps.len());
        let outcome = self.catch_panic(|this| {
            nodes.into_iter().try_for_each(|node| this.expand_state(known, block, node, batch))
        });
        if let Err(fault) = outcome {
            batch.truncate(batch.nodes.len());
            batch.fault = Some(fault);
        }
        if at_once::<M::State>() {
            return;
        }
        batch.steps[first_step..].iter().for_each(|step| known.visited.fetch(step.fingerprint));
        if known.new_states.is_some() {
            let (mut classified, mut steps) = (expanded, first_step);
            let outcome = self.catch_panic(|this| {
                for taken in &batch.nodes[expanded..] {
                    this.node = taken.node;
                    for step in &mut batch.steps[steps..steps + taken.steps] {
                        let Some(next) = this.pending.pop_front() else { continue };
                        step.successor = this.successor(known, step, next, taken.satisfies_all)?;
                    }
                    steps += taken.steps;
                    classified += 1;
                }
                Ok(())
            });
            if let Err(fault) = outcome {
                batch.truncate(classified);
                batch.fault = Some(fault);
            }
        }
    }

    /// Calls the model, which may panic.
    pub(super) fn catch_panic<T>(
        &mut self,
        ask: impl FnOnce(&mut Self) -> Result<T, ExpandErrorKind>,
    ) -> Result<T, ExpandError> {
        let outcome = catch_unwind(AssertUnwindSafe(|| ask(self)));
        let outcome =
            outcome.unwrap_or_else(|payload| Err(ExpandErrorKind::panicked(self.function, &*payload)));
        let (node, action) = (Some(self.node), self.action);
        outcome.map_err(|what| ExpandError { node, action, what, described: None })
    }

    fn expand_state(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        block: &Block<M::State>,
        node: u32,
        batch: &mut Batch,
    ) -> Result<(), ExpandErrorKind> {
        let SearchSnapshot { model, properties, .. } = *known;
        self.node = node;
        self.action = None;
        self.function = "unpack";
        let mut unpacked = None;
        let state = block.read(model, node, &mut unpacked)?;
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        self.function = "actions";
        model.actions(state, &mut actions);
        if actions.len() > ACTIONS_MAX {
            return Err(ExpandErrorKind::TooMany { what: "actions in one state", limit: ACTIONS_MAX as u64 });
        }
        let again = if is_sample(node) { self.check_state(known, state, &actions)? } else { Vec::new() };
        let mut again = again.into_iter();
        self.function = "is_triggered";
        append_row(&mut batch.triggered, triggered(model, properties, state));
        self.function = "is_satisfied";
        let satisfies_all = append_row(&mut batch.satisfied, satisfied(model, properties, state));
        let (steps, shown) = (batch.steps.len(), batch.shown.len());
        for (i, action) in actions.drain(..).enumerate() {
            self.action = Some(i);
            let again = again.next();
            let mut class = 0;
            if !satisfies_all {
                self.function = "fairness_class";
                class = model.fairness_class(state, &action);
                if class >= CLASSES {
                    return Err(ExpandErrorKind::TooMany { what: "fairness classes", limit: CLASSES.into() });
                }
                if let Some(again) = &again {
                    same("fairness_class", &class, &model.fairness_class(state, again))?;
                }
            }
            self.function = "next_state";
            self.observations.clear();
            let next = model.step(state, action, &mut self.observations);
            if let Some(again) = again {
                self.check_step(known, state, again, next.as_ref())?;
            }
            self.observations.remove_all(known.seen);
            if !self.observations.is_empty() {
                batch.shown.extend(self.observations.iter().map(|observation| (i as u32, observation)));
            }
            let Some(next) = next else { continue };
            let fingerprint = fingerprint(&next);
            let mut step = Step { fingerprint, action: i as u16, class, successor: Successor::Unknown };
            if at_once::<M::State>() {
                step.successor = self.successor(known, &step, next, satisfies_all)?;
            } else if known.new_states.is_some() {
                self.pending.push_back(next);
            } else {
                self.nexts.push(Some(next));
            }
            batch.steps.push(step);
        }
        self.actions = actions;
        let (steps, shown) = (batch.steps.len() - steps, batch.shown.len() - shown);
        batch.nodes.push(ExpandedState { node, steps, shown, satisfies_all });
        Ok(())
    }

    /// Looks up a successor among the visited states, and then among the new ones.
    #[inline]
    fn successor(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        step: &Step,
        next: M::State,
        satisfies_all: bool,
    ) -> Result<Successor, ExpandErrorKind> {
        let same = |slot: SlotRef<'_>| !known.exact || *known.states.at(slot.node()) == next;
        if let Ok(slot) = known.visited.find(step.fingerprint, same) {
            return Ok(Successor::Known(if satisfies_all { NONE } else { slot.node() }));
        }
        let Some(new_states) = known.new_states else {
            self.nexts.push(Some(next));
            return Ok(Successor::Unknown);
        };
        if !self.inside(known.model, &next, step.action) {
            return Ok(Successor::OutOfBounds);
        }
        self.find_new(known, new_states, step, next).map(Successor::New)
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

    /// Returns the place of a state among the new states. Inserts it if it is absent. States that are compared are found
    /// when they are numbered.
    fn find_new(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        new_states: &NewStates,
        step: &Step,
        state: M::State,
    ) -> Result<NewState, ExpandErrorKind> {
        let order = (self.node, step.action);
        let lookup = if known.exact { Lookup::Absent } else { new_states.look_up(step.fingerprint, order) };
        let observed = match lookup {
            Lookup::Found(place) => return Ok(place),
            Lookup::FoundLater(observed) => observed,
            Lookup::Absent => {
                self.observe_new(known.model, known.seen, &state);
                self.observations.iter().collect()
            }
        };
        let mut packed = Vec::new();
        let state = self.store(known.packs, known.model, state, &mut packed)?;
        let place = NewState { thread: self.thread, position: self.found.len() as u32 };
        if !known.exact
            && let Err(place) = new_states.insert(step.fingerprint, order, place, &observed)
        {
            return Ok(place);
        }
        self.found.push(Found { state, packed, observed, node: None });
        Ok(place)
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
}

/// Describes the state and the action of an error, before the state is dropped.
pub(super) fn describe<M: FairModel>(model: &M, block: &Block<M::State>, fault: &mut ExpandError)
where
    M::State: Debug,
    M::Action: Debug,
{
    let Some(node) = fault.node else { return };
    let describe = |ask: &dyn Fn(&M::State) -> Option<String>| {
        let described = catch_unwind(AssertUnwindSafe(|| {
            let mut unpacked = None;
            ask(block.read(model, node, &mut unpacked).ok()?)
        }));
        described.unwrap_or_default()
    };
    let state = describe(&|state| Some(short(state)));
    let action = fault.action.and_then(|position| {
        describe(&|state| action_at(model, state, position).map(|action| short(&action)))
    });
    fault.described = Some(Box::new((state.unwrap_or_else(|| "that cannot be unpacked".to_owned()), action)));
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
pub(super) fn triggered<M: FairModel>(
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
pub(super) fn satisfied<M: FairModel>(
    model: &M,
    properties: &[LivenessKind],
    state: &M::State,
) -> impl Iterator<Item = bool> {
    (0..properties.len()).map(move |property| model.is_satisfied(property, state))
}
