//! Exploring whatever may happen: every state that a model can reach, breadth first.
//!
//! States are numbered in the order in which one thread would find them, whatever the number of threads: several expand the
//! next few thousand states against what is known so far, and one numbers what they found. So the way to a state is a
//! shortest one, the first by its smallest parent and action, and everything found is the same in every run.

mod error;
mod expand;
mod fingerprint;
pub mod graph;
pub mod liveness;
mod model;
mod new_states;
mod numbering;
mod observations;
mod options;
mod parallel;
mod path;
mod search;
mod state_queue;
mod visited;

#[cfg(test)]
mod tests;

pub use error::{ErrorLocation, ModelError};
pub use fingerprint::fingerprint;
pub use model::{FairModel, StaterightModel};
pub use observations::ObservationSet;
pub use options::{Options, Progress, Resource, ResourceLimits, StateStorage, Termination};
pub use path::{Path, Witness, step_at};
pub use search::explore;

use graph::{ChunkedVec, Graph};
use visited::{NONE, Visited};

/// How many promises a model may make.
pub const LIVENESS_PROPERTIES_MAX: usize = 8;
/// How many actions a state may have, and how many states may be initial: positions fit into 16 bits.
pub const ACTIONS_MAX: usize = 65_535;

/// What was found in exploring a model.
///
/// Nodes are the visited states' numbers, from 0 on. Those below [`expanded`](Self::expanded) were expanded.
#[derive(Clone, Debug)]
pub struct Exploration {
    visited: Visited,
    graph: Graph,
    opens: ChunkedVec<u8>,
    keeps: ChunkedVec<u8>,
    witnesses: Vec<Option<Witness>>,
    /// The first node of each depth.
    levels: Vec<u32>,
    expanded: u32,
    generated: u64,
    cut_at_boundary: u64,
    collisions: u64,
    store: StateStorage,
    /// What was held at most.
    bytes: usize,
    ended: Termination,
}

impl Exploration {
    /// How it ended.
    #[must_use]
    pub fn ended(&self) -> Termination {
        self.ended
    }

    /// How many states were visited. Each was looked at for marks.
    #[must_use]
    pub fn states(&self) -> usize {
        self.visited.len()
    }

    /// How many of them were expanded, the first ones.
    #[must_use]
    pub fn expanded(&self) -> u32 {
        self.expanded
    }

    /// Initial states and steps within the boundary, whether they led to new states or not.
    #[must_use]
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// Steps that led out of the boundary. What they led to was not looked at. The states that they left are
    /// [`cut`](Graph::cut) in the graph.
    #[must_use]
    pub fn cut_at_boundary(&self) -> u64 {
        self.cut_at_boundary
    }

    /// The depth of the deepest state: how many steps it is from the nearest initial state.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The depth of a node.
    #[must_use]
    pub fn depth_of(&self, node: u32) -> usize {
        self.levels.partition_point(|first| *first <= node).saturating_sub(1)
    }

    /// The node from which a node was first reached; none for an initial state.
    #[must_use]
    pub fn parent(&self, node: u32) -> Option<u32> {
        let (parent, _) = self.visited.from(node);
        (parent != NONE).then_some(parent)
    }

    /// How many steps a witness is from an initial state, that of its action included.
    #[must_use]
    pub fn steps_to(&self, witness: Witness) -> usize {
        self.depth_of(witness.node) + usize::from(witness.action.is_some())
    }

    /// The first that showed a mark.
    #[must_use]
    pub fn witness(&self, mark: usize) -> Option<Witness> {
        self.witnesses.get(mark).copied().flatten()
    }

    /// The steps between expanded states, if anything is promised; those from states that keep every promise are left
    /// out. An edge's position is that of its step in [`step_at`].
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Which promises open in an expanded state, by the kind of each: bit `i` is promise `i`.
    #[must_use]
    pub fn opens(&self, node: u32) -> u8 {
        self.opens.get(node as usize).copied().unwrap_or(0)
    }

    /// Which promises are kept in an expanded state.
    #[must_use]
    pub fn keeps(&self, node: u32) -> u8 {
        self.keeps.get(node as usize).copied().unwrap_or(0)
    }

    /// At most this likely, two different states were taken for one and something was missed: the states' pairs over 2⁶⁴,
    /// if fingerprints are as good as drawn by lot. 0 where whole states were compared.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        let states = self.states() as f64;
        match self.store {
            StateStorage::Fingerprint => (states * (states - 1.0) / 2.0 / 2_f64.powi(64)).clamp(0.0, 1.0),
            StateStorage::Exact => 0.0,
        }
    }

    /// How many states had the fingerprint of an earlier one, and were told apart from it. Only [`Store::Exact`] knows.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Bytes that it took at most, as a budget of memory counts them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the visited states' fingerprints and ways in, without the graph.
    #[must_use]
    pub fn visited_bytes(&self) -> usize {
        self.visited.bytes()
    }
}

impl crate::liveness::StateGraph for Exploration {
    fn nodes(&self) -> u32 {
        u32::try_from(self.states()).unwrap_or(u32::MAX)
    }

    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn parent(&self, node: u32) -> Option<(u32, u16)> {
        let (parent, position) = self.visited.from(node);
        (parent != visited::NONE).then_some((parent, position))
    }

    fn opens(&self, node: u32) -> u8 {
        self.opens(node)
    }

    fn keeps(&self, node: u32) -> u8 {
        self.keeps(node)
    }
}
