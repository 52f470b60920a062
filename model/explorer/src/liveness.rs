//! Liveness: whether what opens is always kept, on the graph of what was explored.
//!
//! A run that breaks a promise is either finite, and ends where no step leads on, or it is a lasso: a stem, and a loop
//! that is gone round for ever. Both are looked for where the promise is open, so a state that keeps it is never entered.
//! What lies behind steps that were not explored is nobody's to judge: a break that does not depend on it is a break all
//! the same; otherwise nothing is said.

mod components;
mod fairness;
mod lasso;
mod property;
mod region;

pub use lasso::{Lasso, Step};
pub use property::{CLASSES, ClassMask, Fairness, LivenessKind, LivenessProperty};

use crate::graph::Graph;
use components::Components;
use fairness::{SccView, UnfairNodes};
use region::PendingRegion;

/// What was explored, as far as promises are about it. Nodes are numbered from 0 in breadth-first order.
pub trait StateGraph {
    /// How many nodes there are, those without kept edges included.
    fn nodes(&self) -> u32;
    /// The edges out of them. A node whose edges are not kept is taken for one that was not explored further.
    fn graph(&self) -> &Graph;
    /// From which node, and by which of its steps, a node was first reached; `None` for the initial ones.
    fn parent(&self, node: u32) -> Option<(u32, u16)>;
    /// Which promises open in a node: bit i is promise i. Read for [`PromiseKind::LeadsTo`] only.
    fn opens(&self, node: u32) -> u8;
    /// Which promises are kept in a node.
    fn keeps(&self, node: u32) -> u8;
}

/// What became of a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LivenessResult {
    /// Every run that counts keeps it.
    Holds,
    /// This run does not.
    Violated(Lasso),
    /// No explored run breaks it, but from this node, where it is open, not everything was explored.
    Inconclusive {
        /// The nearest such node.
        at: u32,
    },
}

/// Judges the promise of a number. No run that breaks it has a shorter stem than the one that is returned, and it is
/// the same in every call.
pub fn check_property(
    explored: &impl StateGraph,
    number: usize,
    promise: &LivenessProperty,
) -> LivenessResult {
    let graph = explored.graph();
    let bit = 1_u8.checked_shl(number as u32).expect("there are at most eight promises");
    let opens = |node: u32| match promise.kind {
        LivenessKind::LeadsTo => explored.opens(node) & bit != 0,
        LivenessKind::Eventually => explored.parent(node).is_none(),
        LivenessKind::AlwaysEventually => true,
    };
    let region = PendingRegion::reached(explored, opens, |node| explored.keeps(node) & bit != 0);
    let mut components = Components::new(graph, &region, promise.fair.finitely_often);
    let mut nearest =
        ShortestViolation { place: region.dead_end.unwrap_or(u32::MAX), piece: None, parts: Vec::new() };
    for (place, &node) in (0..).zip(&region.nodes) {
        if place >= nearest.place {
            break; // what is reached from here on and not before has no shorter stem
        }
        components.of(&[node], |piece| nearest.consider(&region, &promise.fair, piece));
    }
    while let Some(part) = nearest.parts.pop() {
        components.reopen(&part);
        components.of(&part, |piece| nearest.consider(&region, &promise.fair, piece));
    }
    let Some(&entry) = region.nodes.get(nearest.place as usize) else {
        return region.unknown.map_or(LivenessResult::Holds, |at| LivenessResult::Inconclusive { at });
    };
    let cycle =
        nearest.piece.map_or_else(Vec::new, |piece| lasso::cycle(graph, &promise.fair, &piece, entry));
    LivenessResult::Violated(Lasso { stem: region.stem(explored, nearest.place), entry, cycle })
}

/// The break with the shortest stem so far.
struct ShortestViolation {
    /// Where in the region it ends, or its loop begins.
    place: u32,
    /// The nodes among which its loop goes; none if it ends.
    piece: Option<Vec<u32>>,
    /// What is left of components that are not fair as a whole.
    parts: Vec<Vec<u32>>,
}

impl ShortestViolation {
    fn consider(&mut self, region: &PendingRegion, fair: &Fairness, piece: &SccView<'_>) {
        let entry = piece.nodes.iter().map(|&node| region.place(node)).min().unwrap_or(u32::MAX);
        if entry >= self.place {
            return;
        }
        match piece.unfair(fair) {
            UnfairNodes::None => (self.place, self.piece) = (entry, Some(piece.nodes.to_vec())),
            UnfairNodes::At(left) => self.parts.push(left),
            UnfairNodes::All => {}
        }
    }
}
