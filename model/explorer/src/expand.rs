//! Expands states: everything that needs no new state numbers.

use super::ACTIONS_MAX;
use super::error::{ExpandError, ExpandErrorKind};
use super::fingerprint::fingerprint;
use super::model::FairModel;
use super::new_states::{Found, NewStates};
use super::observations::ObservationSet;
use super::state_queue::StateQueue;
use super::visited::{NONE, SlotRef, Visited};
use crate::liveness::CLASSES;
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
    /// All liveness properties.
    pub(super) promised: u8,
    /// Whether states of the frontier are packed.
    pub(super) packs: bool,
}

/// A batch of expanded states with their steps.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) nodes: Vec<ExpandedState>,
    pub(super) steps: Vec<Step>,
    /// New observations of actions, by the position of the action.
    pub(super) shown: Vec<(u32, usize)>,
    /// The error in the state after the last of `nodes`.
    pub(super) fault: Option<ExpandError>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.steps.clear();
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
    pub(super) opens: u8,
    pub(super) keeps: u8,
}

/// A step, and its successor as far as it is known.
pub(super) struct Step {
    pub(super) fingerprint: u64,
    pub(super) action: u16,
    pub(super) class: u8,
    pub(super) met: Successor,
}

/// What is known of a successor.
#[derive(Clone, Copy)]
pub(super) enum Successor {
    /// Nothing yet.
    Not,
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
    pub(super) marks: ObservationSet,
    /// The function of the model that runs, with its state and action.
    asked: &'static str,
    pub(super) node: u32,
    pub(super) action: Option<usize>,
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(marks: usize) -> Self {
        let (actions, nexts, before, marks) = (Vec::new(), Vec::new(), (0, 0), ObservationSet::empty(marks));
        Self { actions, nexts, before, marks, asked: "", node: 0, action: None }
    }

    /// Appends the steps of states, up to the first error.
    pub(super) fn expand(&mut self, known: &SearchSnapshot<'_, M>, nodes: Range<u32>, batch: &mut Batch) {
        self.nexts.clear();
        self.before = (batch.nodes.len(), batch.steps.len());
        let outcome =
            self.catch_panic(|this| nodes.into_iter().try_for_each(|node| this.take_of(known, node, batch)));
        if let Err(fault) = outcome {
            batch.truncate(batch.nodes.len());
            batch.fault = Some(fault);
        }
        batch.steps[self.before.1..].iter().for_each(|step| known.visited.fetch(step.fingerprint));
    }

    /// Looks up the successors of the latest steps among the visited states, and then among the new ones.
    pub(super) fn classify_successors(&mut self, known: &SearchSnapshot<'_, M>, batch: &mut Batch) {
        let (mut met, mut nexts) = (self.before.0, std::mem::take(&mut self.nexts));
        if let Err(fault) = self.catch_panic(|this| this.meet_all(known, &mut nexts, batch, &mut met)) {
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
        let outcome = outcome.unwrap_or_else(|payload| Err(ExpandErrorKind::panicked(self.asked, &*payload)));
        outcome.map_err(|what| ExpandError { node: Some(self.node), action: self.action, what })
    }

    fn take_of(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        node: u32,
        batch: &mut Batch,
    ) -> Result<(), ExpandErrorKind> {
        let SearchSnapshot { model, states, promised, .. } = *known;
        self.node = node;
        self.action = None;
        self.asked = "unpack";
        let mut unpacked = None;
        let state = states.read(model, node, &mut unpacked)?;
        if is_sample(node) {
            self.check_determinism(known, state)?;
        }
        let Self { actions, nexts, marks, asked, action: at, .. } = self;
        *at = None;
        actions.clear();
        *asked = "actions";
        model.actions(state, actions);
        if actions.len() > ACTIONS_MAX {
            return Err(ExpandErrorKind::TooMany { what: "actions in one state", limit: ACTIONS_MAX as u64 });
        }
        let (mut opens, mut keeps) = (0, 0);
        if promised != 0 {
            *asked = "opens";
            opens = model.triggered(state);
            *asked = "keeps";
            keeps = model.satisfied(state) & promised;
        }
        let (steps, shown) = (batch.steps.len(), batch.shown.len());
        for (i, action) in actions.drain(..).enumerate() {
            *at = Some(i);
            let mut class = 0;
            if keeps != promised {
                *asked = "class";
                class = model.fairness_class(state, &action);
                if class >= CLASSES {
                    return Err(ExpandErrorKind::TooMany { what: "fairness classes", limit: CLASSES.into() });
                }
            }
            *asked = "next_state";
            marks.clear();
            let next = model.step(state, action, marks);
            marks.remove_all(known.seen);
            if !marks.is_empty() {
                batch.shown.extend(marks.iter().map(|mark| (i as u32, mark)));
            }
            if let Some(next) = next {
                let (fingerprint, action) = (fingerprint(&next), i as u16);
                batch.steps.push(Step { fingerprint, action, class, met: Successor::Not });
                nexts.push(Some(next));
            }
        }
        let (steps, shown) = (batch.steps.len() - steps, batch.shown.len() - shown);
        batch.nodes.push(ExpandedState { node, steps, shown, opens, keeps });
        Ok(())
    }

    fn meet_all(
        &mut self,
        known: &SearchSnapshot<'_, M>,
        nexts: &mut [Option<M::State>],
        batch: &mut Batch,
        met: &mut usize,
    ) -> Result<(), ExpandErrorKind> {
        let SearchSnapshot { visited, states, promised, .. } = *known;
        let (nodes, steps) = self.before;
        let mut steps = batch.steps[steps..].iter_mut().zip(nexts);
        for taken in &batch.nodes[nodes..] {
            self.node = taken.node;
            for (step, next) in steps.by_ref().take(taken.steps) {
                let Some(next) = next.take() else { continue };
                let same = |seat: SlotRef<'_>| !known.exact || *states.at(seat.node()) == next;
                if let Ok(seat) = visited.find(step.fingerprint, same) {
                    step.met = Successor::Known(if taken.keeps == promised { NONE } else { seat.node() });
                    continue;
                }
                step.met = if self.inside(known.model, &next, step.action) {
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
        self.asked = "within_boundary";
        model.within_boundary(next)
    }

    /// Records the new observations of a state.
    pub(super) fn look(&mut self, model: &M, seen: &ObservationSet, state: &M::State) {
        self.asked = "observe";
        self.marks.clear();
        model.observe(state, seen, &mut self.marks);
        self.marks.remove_all(seen);
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
        self.look(model, seen, &state);
        let looked = self.marks.iter().collect();
        let mut packed = Vec::new();
        let state = self.hold(packs, model, state, &mut packed)?;
        Ok(fresh.put(fingerprint, Found { state, packed, looked, node: None }))
    }

    /// Stores a state for the frontier: packed or whole.
    pub(super) fn hold(
        &mut self,
        packs: bool,
        model: &M,
        state: M::State,
        packed: &mut Vec<u8>,
    ) -> Result<Option<M::State>, ExpandErrorKind> {
        if !packs {
            return Ok(Some(state));
        }
        self.asked = "pack";
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
            asked: &'static str,
            first: &T,
            second: &T,
        ) -> Result<(), ExpandErrorKind> {
            if first == second { Ok(()) } else { Err(ExpandErrorKind::differs(asked, first, second)) }
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.asked = "actions";
        model.actions(state, &mut first);
        model.actions(state, &mut second);
        same("actions", &first, &second)?;
        self.asked = "opens";
        same("opens", &model.triggered(state), &model.triggered(state))?;
        self.asked = "keeps";
        same("keeps", &model.satisfied(state), &model.satisfied(state))?;
        self.asked = "observe";
        let mut twice = self.marks.clone();
        self.marks.clear();
        twice.clear();
        model.observe(state, known.seen, &mut self.marks);
        model.observe(state, known.seen, &mut twice);
        same("observe", &self.marks, &twice)?;
        for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
            self.action = Some(i);
            self.asked = "class";
            same("class", &model.fairness_class(state, &first), &model.fairness_class(state, &second))?;
            self.asked = "next_state";
            self.marks.clear();
            twice.clear();
            let first = model.step(state, first, &mut self.marks);
            let second = model.step(state, second, &mut twice);
            same("next_state", &first, &second)?;
            same("next_state", &self.marks, &twice)?;
            self.asked = "hash";
            same("hash", &first.as_ref().map(fingerprint), &second.as_ref().map(fingerprint))?;
            if let (true, Some(next)) = (known.packs, &first) {
                self.asked = "pack";
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

/// Whether the determinism of the model is checked at this state: the first 1,000 states, and one in 64 of the others.
fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}
