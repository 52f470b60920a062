//! Expanding one state: everything that can be done without numbering what is new.

use super::POSITIONS;
use super::error::{Fault, What};
use super::fair::FairModel;
use super::fingerprint::fingerprint;
use super::marks::Marks;
use super::states::States;
use super::visited::{Seat, Visited};
use crate::liveness::CLASSES;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What is known while states are expanded. It does not change meanwhile, so several threads can read it.
pub(super) struct Known<'a, M: FairModel> {
    pub(super) model: &'a M,
    pub(super) visited: &'a Visited,
    pub(super) states: &'a States<M::State>,
    /// Whether equal fingerprints are doubted.
    pub(super) exact: bool,
    /// The marks that were shown already.
    pub(super) seen: &'a Marks,
    /// All promises.
    pub(super) promised: u8,
    /// Whether the states that wait are packed.
    pub(super) packs: bool,
}

/// What came of expanding some states, one after the other.
pub(super) struct Found<S> {
    pub(super) nodes: Vec<Expanded>,
    pub(super) fresh: Vec<Fresh<S>>,
    /// The fresh ones that were packed, one after the other.
    pub(super) packed: Vec<u8>,
    pub(super) edges: Vec<Way>,
    pub(super) shown: Vec<Shown>,
    /// What went wrong with the state after the last of `nodes`.
    pub(super) fault: Option<Fault>,
}

impl<S> Default for Found<S> {
    fn default() -> Self {
        let (nodes, fresh, packed, edges, shown) = Default::default();
        Self { nodes, fresh, packed, edges, shown, fault: None }
    }
}

/// One expanded state, and how much of each list of [`Found`] is its.
pub(super) struct Expanded {
    pub(super) steps: u32,
    /// Steps across the boundary.
    pub(super) cut: u32,
    pub(super) fresh: usize,
    pub(super) edges: usize,
    pub(super) shown: usize,
    pub(super) opens: u8,
    pub(super) keeps: u8,
}

/// A successor that was not visited when its parent was expanded.
pub(super) struct Fresh<S> {
    pub(super) state: Held<S>,
    pub(super) fingerprint: u64,
    pub(super) position: u16,
}

/// A state on its way to those that wait.
pub(super) enum Held<S> {
    Whole(S),
    /// So many bytes of [`Found::packed`], behind those of the fresh ones before it.
    Packed(usize),
}

/// A step that is kept.
pub(super) struct Way {
    pub(super) class: u8,
    pub(super) to: To,
}

/// Where a step leads.
#[derive(Clone, Copy)]
pub(super) enum To {
    Known(u32),
    /// To the fresh one of this position.
    Fresh(u32),
}

/// A mark that was not seen before, and what shows it.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) mark: usize,
    pub(super) by: By,
}

#[derive(Clone, Copy)]
pub(super) enum By {
    /// The state's action of this position, whether taken or refused.
    Action(u32),
    /// The fresh successor of this position.
    Fresh(u32),
}

/// A state whose steps were taken, and how many of all these are its.
struct Taken {
    node: u32,
    steps: usize,
    shown: usize,
    opens: u8,
    keeps: u8,
}

/// A step that was taken and not yet looked for.
struct Step<S> {
    next: S,
    fingerprint: u64,
    action: u16,
    class: u8,
}

/// Expands states, some at a time: first all their steps are taken, then all are looked for. So what has to be fetched
/// for that comes at once, and not each after the other.
pub(super) struct Expander<M: FairModel> {
    actions: Vec<M::Action>,
    taken: Vec<Taken>,
    steps: Vec<Step<M::State>>,
    shown: Vec<Shown>,
    /// What went wrong with the state after those whose steps were taken.
    fault: Option<Fault>,
    marks: Marks,
    /// What the model is being asked, about which state and which action.
    asked: &'static str,
    node: u32,
    action: Option<usize>,
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(marks: usize) -> Self {
        let (actions, taken, steps, shown) = Default::default();
        let (marks, fault, asked, node, action) = (Marks::none_of(marks), None, "", 0, None);
        Self { actions, taken, steps, shown, fault, marks, asked, node, action }
    }

    /// Takes the steps of states, up to the first with which something goes wrong.
    pub(super) fn take(&mut self, known: &Known<'_, M>, nodes: Range<u32>) {
        self.taken.clear();
        self.steps.clear();
        self.shown.clear();
        self.fault = self.guarded(|this| nodes.into_iter().try_for_each(|node| this.take_of(known, node)));
        self.steps.truncate(self.taken.iter().map(|taken| taken.steps).sum());
        self.shown.truncate(self.taken.iter().map(|taken| taken.shown).sum());
        self.steps.iter().for_each(|step| known.visited.fetch(step.fingerprint));
        self.taken.reverse();
        self.steps.reverse();
        self.shown.reverse();
    }

    /// Appends what comes of the next state whose steps were taken. False: there is none, or something went wrong.
    pub(super) fn sift(&mut self, known: &Known<'_, M>, found: &mut Found<M::State>) -> bool {
        let Some(taken) = self.taken.pop() else {
            found.fault = self.fault.take();
            return false;
        };
        found.fault = self.guarded(|this| this.sift_of(known, taken, found));
        found.fault.is_none()
    }

    fn guarded(&mut self, ask: impl FnOnce(&mut Self) -> Result<(), What>) -> Option<Fault> {
        let what = match catch_unwind(AssertUnwindSafe(|| ask(self))) {
            Ok(Ok(())) => return None,
            Ok(Err(what)) => what,
            Err(payload) => What::panicked(self.asked, &*payload),
        };
        Some(Fault { node: Some(self.node), action: self.action, what })
    }

    /// Takes the steps of a state.
    fn take_of(&mut self, known: &Known<'_, M>, node: u32) -> Result<(), What> {
        let Known { model, states, promised, .. } = *known;
        self.node = node;
        self.action = None;
        let mut unpacked = None;
        self.asked = "unpack";
        let state = states.read(model, node, &mut unpacked)?;
        if is_sample(node) {
            self.ask_twice(known, state)?;
        }
        let (steps, shown) = (self.steps.len(), self.shown.len());
        let Self { actions, steps: all, shown: all_shown, marks, asked, action: at, .. } = self;
        *at = None;
        actions.clear();
        *asked = "actions";
        model.actions(state, actions);
        if actions.len() > POSITIONS {
            return Err(What::TooMany { what: "actions in one state", limit: POSITIONS as u64 });
        }
        let (mut opens, mut keeps) = (0, 0);
        if promised != 0 {
            *asked = "opens";
            opens = model.opens(state);
            *asked = "keeps";
            keeps = model.keeps(state) & promised;
        }
        for (i, action) in actions.drain(..).enumerate() {
            *at = Some(i);
            let mut class = 0;
            if keeps != promised {
                *asked = "class";
                class = model.class(state, &action);
                if class >= CLASSES {
                    return Err(What::TooMany { what: "classes of actions", limit: CLASSES.into() });
                }
            }
            *asked = "take";
            marks.clear();
            let next = model.take(state, action, marks);
            marks.forget(known.seen);
            if !marks.is_empty() {
                all_shown.extend(marks.iter().map(|mark| Shown { mark, by: By::Action(i as u32) }));
            }
            if let Some(next) = next {
                let fingerprint = fingerprint(&next);
                all.push(Step { next, fingerprint, action: i as u16, class });
            }
        }
        let (steps, shown) = (self.steps.len() - steps, self.shown.len() - shown);
        self.taken.push(Taken { node, steps, shown, opens, keeps });
        Ok(())
    }

    /// Looks for what the steps of a state lead to among the visited states.
    fn sift_of(
        &mut self,
        known: &Known<'_, M>,
        taken: Taken,
        found: &mut Found<M::State>,
    ) -> Result<(), What> {
        let Known { model, states, visited, promised, .. } = *known;
        let Self { steps, shown, marks, asked, action: at, .. } = self;
        self.node = taken.node;
        let (fresh, edges, shown_before) = (found.fresh.len(), found.edges.len(), found.shown.len());
        found.shown.extend((0..taken.shown).filter_map(|_| shown.pop()));
        let keep_edges = taken.keeps != promised;
        let (mut inside, mut cut) = (0_u32, 0);
        for Step { next, fingerprint, action, class } in (0..taken.steps).filter_map(|_| steps.pop()) {
            let same = |seat: Seat<'_>| !known.exact || *states.at(seat.node()) == next;
            let to = match visited.find(fingerprint, same) {
                Some(_) if !keep_edges => None,
                Some(seat) => Some(To::Known(seat.node())),
                None => {
                    *at = Some(action.into());
                    *asked = "within_boundary";
                    if !model.within_boundary(&next) {
                        cut += 1;
                        continue;
                    }
                    let number = (found.fresh.len() - fresh) as u32;
                    *asked = "look";
                    marks.clear();
                    model.look(&next, marks);
                    marks.forget(known.seen);
                    if !marks.is_empty() {
                        found.shown.extend(marks.iter().map(|mark| Shown { mark, by: By::Fresh(number) }));
                    }
                    *asked = "pack";
                    let state =
                        if known.packs { pack(model, &next, &mut found.packed)? } else { Held::Whole(next) };
                    found.fresh.push(Fresh { state, fingerprint, position: inside as u16 });
                    Some(To::Fresh(number))
                }
            };
            if keep_edges && let Some(to) = to {
                found.edges.push(Way { class, to });
            }
            inside += 1;
        }
        found.nodes.push(Expanded {
            steps: inside,
            cut,
            fresh: found.fresh.len() - fresh,
            edges: found.edges.len() - edges,
            shown: found.shown.len() - shown_before,
            opens: taken.opens,
            keeps: taken.keeps,
        });
        Ok(())
    }

    /// Asks a model everything about a state twice.
    fn ask_twice(&mut self, known: &Known<'_, M>, state: &M::State) -> Result<(), What> {
        let model = known.model;
        fn same<T: Debug + PartialEq>(asked: &'static str, first: &T, second: &T) -> Result<(), What> {
            if first == second { Ok(()) } else { Err(What::differs(asked, first, second)) }
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        self.asked = "actions";
        model.actions(state, &mut first);
        model.actions(state, &mut second);
        same("actions", &first, &second)?;
        self.asked = "opens";
        same("opens", &model.opens(state), &model.opens(state))?;
        self.asked = "keeps";
        same("keeps", &model.keeps(state), &model.keeps(state))?;
        self.asked = "look";
        let mut twice = self.marks.clone();
        self.marks.clear();
        twice.clear();
        model.look(state, &mut self.marks);
        model.look(state, &mut twice);
        same("look", &self.marks, &twice)?;
        for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
            self.action = Some(i);
            self.asked = "class";
            same("class", &model.class(state, &first), &model.class(state, &second))?;
            self.asked = "take";
            self.marks.clear();
            twice.clear();
            let first = model.take(state, first, &mut self.marks);
            let second = model.take(state, second, &mut twice);
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

/// Appends a state's bytes.
fn pack<M: FairModel>(model: &M, state: &M::State, into: &mut Vec<u8>) -> Result<Held<M::State>, What> {
    let before = into.len();
    if model.pack(state, into) {
        Ok(Held::Packed(into.len() - before))
    } else {
        Err(What::differs("pack", &true, &false))
    }
}

/// Whether a model packs a state, which then must come out of it as it was.
pub(super) fn packs<M: FairModel>(model: &M, state: &M::State) -> Result<bool, What>
where
    M::State: Debug + PartialEq,
{
    let mut bytes = Vec::new();
    if !model.pack(state, &mut bytes) {
        return Ok(false);
    }
    match model.unpack(&bytes) {
        Some(again) if again == *state => Ok(true),
        again => Err(What::differs("unpack", &Some(state), &again)),
    }
}

/// The states about which a model is asked everything twice: the first 1,000, and one in 64 of the others.
fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}
