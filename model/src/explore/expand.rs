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
}

/// What came of expanding some states, one after the other.
pub(super) struct Found<S> {
    pub(super) nodes: Vec<Expanded>,
    pub(super) fresh: Vec<Fresh<S>>,
    pub(super) edges: Vec<Way>,
    pub(super) shown: Vec<Shown>,
    /// What went wrong with the state after the last of `nodes`.
    pub(super) fault: Option<Fault>,
}

impl<S> Default for Found<S> {
    fn default() -> Self {
        let (nodes, fresh, edges, shown) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { nodes, fresh, edges, shown, fault: None }
    }
}

/// One expanded state, and how much of each list of [`Found`] is its.
#[derive(Default)]
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
    pub(super) state: S,
    pub(super) fingerprint: u64,
    pub(super) position: u16,
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

/// A step that was taken and not yet looked for.
struct Step<S> {
    next: S,
    fingerprint: u64,
    action: usize,
    class: u8,
}

/// Expands states; its buffers are used again.
pub(super) struct Expander<M: FairModel> {
    actions: Vec<M::Action>,
    steps: Vec<Step<M::State>>,
    marks: Marks,
    /// What the model is being asked, and about which action.
    asked: &'static str,
    action: Option<usize>,
}

impl<M: FairModel> Expander<M>
where
    M::State: Debug + Hash + PartialEq,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(marks: usize) -> Self {
        Self { actions: Vec::new(), steps: Vec::new(), marks: Marks::none_of(marks), asked: "", action: None }
    }

    /// Appends what comes of expanding a state. False if it went wrong; then nothing more is to be appended.
    pub(super) fn expand(&mut self, known: &Known<'_, M>, node: u32, found: &mut Found<M::State>) -> bool {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.steps(known, node, found)));
        let what = match outcome {
            Ok(Ok(())) => return true,
            Ok(Err(what)) => what,
            Err(payload) => What::panicked(self.asked, &*payload),
        };
        found.fault = Some(Fault { node: Some(node), action: self.action, what });
        false
    }

    fn steps(&mut self, known: &Known<'_, M>, node: u32, found: &mut Found<M::State>) -> Result<(), What> {
        let model = known.model;
        let state = known.states.at(node);
        self.action = None;
        if is_sample(node) {
            self.ask_twice(model, state)?;
        }
        let Self { actions, steps, marks, asked, action: at } = self;
        *at = None;
        actions.clear();
        steps.clear();
        *asked = "actions";
        model.actions(state, actions);
        if actions.len() > POSITIONS {
            return Err(What::TooMany { what: "actions in one state", limit: POSITIONS as u64 });
        }
        let mut expanded = Expanded::default();
        let (fresh, edges, shown) = (found.fresh.len(), found.edges.len(), found.shown.len());
        if known.promised != 0 {
            *asked = "opens";
            expanded.opens = model.opens(state);
            *asked = "keeps";
            expanded.keeps = model.keeps(state) & known.promised;
        }
        let keep_edges = expanded.keeps != known.promised;
        for (i, action) in actions.drain(..).enumerate() {
            *at = Some(i);
            let mut class = 0;
            if keep_edges {
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
                found.shown.extend(marks.iter().map(|mark| Shown { mark, by: By::Action(i as u32) }));
            }
            if let Some(next) = next {
                let fingerprint = fingerprint(&next);
                steps.push(Step { next, fingerprint, action: i, class });
            }
        }
        steps.iter().for_each(|step| known.visited.fetch(step.fingerprint));
        for Step { next, fingerprint, action, class } in steps.drain(..) {
            *at = Some(action);
            let same = |seat: Seat<'_>| !known.exact || *known.states.at(seat.node()) == next;
            let to = match known.visited.find(fingerprint, same) {
                Some(_) if !keep_edges => None,
                Some(seat) => Some(To::Known(seat.node())),
                None => {
                    *asked = "within_boundary";
                    if !model.within_boundary(&next) {
                        expanded.cut += 1;
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
                    let position = expanded.steps as u16;
                    found.fresh.push(Fresh { state: next, fingerprint, position });
                    Some(To::Fresh(number))
                }
            };
            if keep_edges && let Some(to) = to {
                found.edges.push(Way { class, to });
            }
            expanded.steps += 1;
        }
        expanded.fresh = found.fresh.len() - fresh;
        expanded.edges = found.edges.len() - edges;
        expanded.shown = found.shown.len() - shown;
        found.nodes.push(expanded);
        Ok(())
    }

    /// Asks a model everything about a state twice.
    fn ask_twice(&mut self, model: &M, state: &M::State) -> Result<(), What> {
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
        }
        Ok(())
    }
}

/// The states about which a model is asked everything twice: the first 1,000, and one in 64 of the others.
fn is_sample(node: u32) -> bool {
    node < 1_000 || node.wrapping_mul(0x9e37_79b1) >> 26 == 0
}
