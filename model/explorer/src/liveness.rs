//! Liveness: whether every trigger is followed by a response, on the graph of explored states.
//!
//! A violating run is either finite and ends in a dead end, or it is a lasso: a stem and a cycle that repeats forever.
//! Both are searched in the region where the property is pending, so the run never enters a state that satisfies it.
//! Unexplored steps make a result inconclusive, unless a violation does not depend on them.

mod components;
mod fairness;
mod lasso;
mod property;
mod region;
mod state_graph;

pub use lasso::{Lasso, Step};
pub use property::{CLASSES, ClassMask, Fairness, LivenessKind, LivenessProperty};
pub use state_graph::StateGraph;

use components::Components;
use fairness::{SccView, UnfairNodes};
use region::PendingRegion;

/// The result of a liveness check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LivenessResult {
    /// Every fair run satisfies the property.
    Holds,
    /// This run violates it.
    Violated(Lasso),
    /// No explored run violates it, but the property is pending in a node that was not fully explored.
    Inconclusive {
        /// The nearest such node.
        at: u32,
    },
}

/// Checks one liveness property. No violating run has a shorter stem than the returned one, and the result is the same
/// in every call.
pub fn check_property(
    explored: &impl StateGraph,
    number: usize,
    property: &LivenessProperty,
) -> LivenessResult {
    let graph = explored.graph();
    let triggers = |node: u32| match property.kind {
        LivenessKind::LeadsTo => explored.is_triggered(number, node),
        LivenessKind::Eventually => explored.parent(node).is_none(),
        LivenessKind::AlwaysEventually => true,
    };
    let region = PendingRegion::reached(explored, triggers, |node| explored.is_satisfied(number, node));
    let mut components = Components::new(graph, &region, property.fairness.finitely_often);
    let mut nearest =
        ShortestViolation { place: region.dead_end.unwrap_or(u32::MAX), piece: None, parts: Vec::new() };
    for (place, &node) in (0..).zip(&region.nodes) {
        if place >= nearest.place {
            break; // what is reached from here on and not before has no shorter stem
        }
        components.of(&[node], |piece| nearest.consider(&region, &property.fairness, piece));
    }
    while let Some(part) = nearest.parts.pop() {
        components.reopen(&part);
        components.of(&part, |piece| nearest.consider(&region, &property.fairness, piece));
    }
    let Some(&entry) = region.nodes.get(nearest.place as usize) else {
        return region.unknown.map_or(LivenessResult::Holds, |at| LivenessResult::Inconclusive { at });
    };
    let cycle =
        nearest.piece.map_or_else(Vec::new, |piece| lasso::cycle(graph, &property.fairness, &piece, entry));
    LivenessResult::Violated(Lasso { stem: region.stem(explored, nearest.place), entry, cycle })
}

/// The violation with the shortest stem so far.
struct ShortestViolation {
    /// The position in the region where the run ends, or where its cycle begins.
    place: u32,
    /// The nodes of its cycle; `None` if the run is finite.
    piece: Option<Vec<u32>>,
    /// The parts of components that are not fair as a whole.
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
