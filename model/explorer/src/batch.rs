//! What an expansion hands to the numbering.

use super::error::ExpandError;

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
    pub(super) fn truncate(&mut self, nodes: usize) {
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
    /// Nothing, or that it was not visited before the batch: it is the next one of
    /// [`Expander::nexts`](super::expand::Expander::nexts).
    Unknown,
    /// It was visited. The node is known if edges are kept.
    Known(u32),
    /// It is outside of the boundary.
    OutOfBounds,
    /// It is inside of the boundary and was not visited before the batch.
    New(NewState),
}

/// The place of a new state: the thread that found it, and its position among those of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewState {
    pub(super) thread: u16,
    pub(super) position: u32,
}
