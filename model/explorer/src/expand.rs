//! Expanding one state: everything that can be done without numbering what is new.

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

/// What is known while states are expanded. It does not change meanwhile, so several threads can read it.
pub(super) struct SearchSnapshot<'a, M: FairModel> {
    pub(super) model: &'a M,
    pub(super) visited: &'a Visited,
    pub(super) states: &'a StateQueue<M::State>,
    /// What threads found since states were numbered.
    pub(super) fresh: &'a NewStates<M::State>,
    /// Whether equal fingerprints are doubted.
    pub(super) exact: bool,
    /// The marks that were shown already.
    pub(super) seen: &'a ObservationSet,
    /// All promises.
    pub(super) promised: u8,
    /// Whether the states that wait are packed.
    pub(super) packs: bool,
}

/// Some states, one after the other, and what they lead to.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) nodes: Vec<ExpandedState>,
    pub(super) steps: Vec<Step>,
    /// Actions by their positions, and marks that they show and that were not seen before.
    pub(super) shown: Vec<(u32, usize)>,
    /// What went wrong with the state after the last of `nodes`.
    pub(super) fault: Option<ExpandError>,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.steps.clear();
        self.shown.clear();
        self.fault = None;
    }

    /// Leaves so many states, with what is theirs.
    fn truncate(&mut self, nodes: usize) {
        self.nodes.truncate(nodes);
        self.steps.truncate(self.nodes.iter().map(|taken| taken.steps).sum());
        self.shown.truncate(self.nodes.iter().map(|taken| taken.shown).sum());
    }
}

/// A state whose steps were taken, and how much of the lists of a [`Batch`] is its.
pub(super) struct ExpandedState {
    pub(super) node: u32,
    pub(super) steps: usize,
    pub(super) shown: usize,
    pub(super) opens: u8,
    pub(super) keeps: u8,
}

/// A step, and where it leads as far as that was looked for.
pub(super) struct Step {
    pub(super) fingerprint: u64,
    pub(super) action: u16,
    pub(super) class: u8,
    pub(super) met: Successor,
}

/// What is known of the state behind a step.
#[derive(Clone, Copy)]
pub(super) enum Successor {
    /// Nothing yet.
    Not,
    /// It was visited. Its node is told where steps are kept.
    Known(u32),
    /// It is outside of the boundary.
    OutOfBounds,
    /// It was not visited when it was looked for, and is inside: it is in this place of [`Fresh`].
    Fresh(u32),
}

/// Takes the steps of states, some at a time, and looks for what they lead to. So what has to be fetched for that comes
/// at once, and not each after the other.
pub(super) struct Expander<M: FairModel> {
    actions: Vec<M::Action>,
    /// Where the steps that were taken last lead, and how many states and steps of the batch were before them.
    pub(super) nexts: Vec<Option<M::State>>,
    before: (usize, usize),
    pub(super) marks: ObservationSet,
    /// What the model is being asked, about which state and which action.
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

    /// Appends the steps of states, up to the first with which something goes wrong.
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

    /// Looks for what the steps that were taken last lead to among the visited states, and at what is not there.
    pub(super) fn classify_successors(&mut self, known: &SearchSnapshot<'_, M>, batch: &mut Batch) {
        let (mut met, mut nexts) = (self.before.0, std::mem::take(&mut self.nexts));
        if let Err(fault) = self.catch_panic(|this| this.meet_all(known, &mut nexts, batch, &mut met)) {
            batch.truncate(met);
            batch.fault = Some(fault);
        }
        self.nexts = nexts;
    }

    /// Does what asks the model, which may panic.
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
                    return Err(ExpandErrorKind::TooMany {
                        what: "classes of actions",
                        limit: CLASSES.into(),
                    });
                }
            }
            *asked = "take";
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

    /// Whether a state that an action leads to is inside of the boundary.
    pub(super) fn inside(&mut self, model: &M, next: &M::State, action: u16) -> bool {
        self.action = Some(action.into());
        self.asked = "within_boundary";
        model.within_boundary(next)
    }

    /// Leaves the marks that a state shows first.
    pub(super) fn look(&mut self, model: &M, seen: &ObservationSet, state: &M::State) {
        self.asked = "look";
        self.marks.clear();
        model.observe(state, seen, &mut self.marks);
        self.marks.remove_all(seen);
    }

    /// The place of a state among those that were found, where it is put unless it is there.
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

    /// A state as it waits to be expanded: packed, or itself.
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

    /// Asks a model everything about a state twice.
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
        self.asked = "look";
        let mut twice = self.marks.clone();
        self.marks.clear();
        twice.clear();
        model.observe(state, known.seen, &mut self.marks);
        model.observe(state, known.seen, &mut twice);
        same("look", &self.marks, &twice)?;
        for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
            self.action = Some(i);
            self.asked = "class";
            same("class", &model.fairness_class(state, &first), &model.fairness_class(state, &second))?;
            self.asked = "take";
            self.marks.clear();
            twice.clear();
            let first = model.step(state, first, &mut self.marks);
            let second = model.step(state, second, &mut twice);
            same("take", &first, &second)?;
            same("take", &self.marks, &twice)?;
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

/// Whether a model packs a state, which then must come out of it as it was.
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

/// The states about which a model is asked everything twice: the first 1,000, and one in 64 of the others.
fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}
