//! Breadth-first exploration and liveness checking under fairness for any [stateright] model.
//!
//! [`explore`] visits every state that a [`FairModel`] can reach. It returns an [`Exploration`]: the number of states,
//! the first witness of each observation, the shortest paths, and the graph for [`liveness`].
//!
//! The result does not depend on the number of threads. Several threads expand the next few thousand states, and one
//! thread numbers the new states in the order of a sequential search. So every path is a shortest one: the first by
//! parent and action.

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod batch;
mod batch_size;
mod checkpoint;
mod determinism;
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
mod property_bits;
mod search;
mod state_queue;
mod visited;

#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, CheckpointError, ResumeError, explore_with_checkpoints};
pub use error::{ErrorLocation, ModelError};
pub use fingerprint::fingerprint;
pub use model::{FairModel, StaterightModel};
pub use observations::ObservationSet;
pub use options::{Options, Progress, Resource, ResourceLimits, StateStorage, Termination};
pub use path::{Path, Witness, step_at};
pub use search::explore;

use graph::Graph;
use property_bits::PropertyBits;
use visited::{NONE, Visited};

/// The maximum number of actions of a state, and of initial states: positions fit into 16 bits.
pub const ACTIONS_MAX: usize = 65_535;

/// The result of an exploration.
///
/// Nodes are the numbers of the visited states, from 0. Nodes below [`expanded`](Self::expanded) were expanded.
#[derive(Clone, Debug)]
pub struct Exploration {
    visited: Visited,
    graph: Graph,
    triggered: PropertyBits,
    satisfied: PropertyBits,
    witnesses: Vec<Option<Witness>>,
    /// The first node of each depth.
    levels: Vec<u32>,
    expanded: u32,
    generated: u64,
    cut_at_boundary: u64,
    collisions: u64,
    storage: StateStorage,
    /// The peak memory in bytes.
    bytes: usize,
    termination: Termination,
}

impl Exploration {
    /// How the exploration ended.
    #[must_use]
    pub fn ended(&self) -> Termination {
        self.termination
    }

    /// The number of visited states. Each was observed.
    #[must_use]
    pub fn states(&self) -> usize {
        self.visited.len()
    }

    /// The number of expanded states. They are the first nodes.
    #[must_use]
    pub fn expanded(&self) -> u32 {
        self.expanded
    }

    /// The number of initial states and of steps inside of the boundary, including steps to visited states.
    #[must_use]
    pub fn generated(&self) -> u64 {
        self.generated
    }

    /// The number of steps out of the boundary. Their successors were not observed. Their sources are
    /// [truncated](Graph::is_truncated) in the graph.
    #[must_use]
    pub fn cut_at_boundary(&self) -> u64 {
        self.cut_at_boundary
    }

    /// The largest distance of a state from its nearest initial state, in steps.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// The depth of a node.
    #[must_use]
    pub fn depth_of(&self, node: u32) -> usize {
        self.levels.partition_point(|first| *first <= node).saturating_sub(1)
    }

    /// The node from which a node was first reached; `None` for an initial state.
    #[must_use]
    pub fn parent(&self, node: u32) -> Option<u32> {
        let (parent, _) = self.visited.from(node);
        (parent != NONE).then_some(parent)
    }

    /// The distance of a witness from an initial state in steps, including its own action.
    #[must_use]
    pub fn steps_to(&self, witness: Witness) -> usize {
        self.depth_of(witness.node) + usize::from(witness.action.is_some())
    }

    /// The first witness of an observation.
    #[must_use]
    pub fn witness(&self, observation: usize) -> Option<Witness> {
        self.witnesses.get(observation).copied().flatten()
    }

    /// The edges between expanded states, if the model has liveness properties. Edges from states that satisfy every
    /// property are left out. The position of an edge is the position of its step in [`step_at`].
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// An upper bound of the probability that two different states collided and a state was missed: the number of pairs
    /// of states over 2⁶⁴. It is 0 if whole states were compared.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        let states = self.states() as f64;
        match self.storage {
            StateStorage::Fingerprint => (states * (states - 1.0) / 2.0 / 2_f64.powi(64)).clamp(0.0, 1.0),
            StateStorage::Exact => 0.0,
        }
    }

    /// The number of states with the fingerprint of an earlier, different state. Only [`StateStorage::Exact`] can count
    /// them.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// The peak memory in bytes, as [`ResourceLimits::memory_bytes`] counts it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory of fingerprints and parents in bytes, without the graph.
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

    fn is_triggered(&self, property: usize, node: u32) -> bool {
        self.triggered.get(property, node)
    }

    fn is_satisfied(&self, property: usize, node: u32) -> bool {
        self.satisfied.get(property, node)
    }
}
