//! The effects ledger: the started tasks of a request, with the outcomes of their effects.

use crate::event::{EffectOutcome, TaskRecord};
use crate::ids::{NodeId, TaskId};
use crate::plan::{EffectKind, Task};
use crate::shared_map::{SharedMap, SharedSet};
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};

/// An entry of the effects ledger. A task that runs again replaces its entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StartedTask {
    /// The task.
    pub task: TaskId,
    /// The kind of its declared effect.
    pub effect: EffectKind,
    /// The started version of the task. A later plan may change or omit it.
    pub version: Option<Task>,
    /// The outcome of the effect so far.
    pub outcome: EffectOutcome,
    /// The node that executes it; `None` without a network.
    pub node: Option<NodeId>,
}

impl StartedTask {
    /// Returns the audit's entry for the task.
    #[must_use]
    pub fn record(&self) -> TaskRecord {
        TaskRecord { task: self.task, effect: (self.effect != EffectKind::Pure).then_some(self.outcome) }
    }

    /// Returns whether the effect is kept and undoable.
    fn is_undoable(&self) -> bool {
        self.effect == EffectKind::Undoable && self.outcome == EffectOutcome::Kept
    }
}

/// The started tasks of a request, one entry per task, latest start last. A clone shares its structure with the original and takes
/// constant time.
#[derive(Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(from = "alloc::vec::Vec<StartedTask>", into = "alloc::vec::Vec<StartedTask>")
)]
pub struct EffectsLedger {
    /// By the number of the start.
    entries: SharedMap<u64, Arc<StartedTask>>,
    /// Index: the latest start of a task.
    starts: SharedMap<TaskId, u64>,
    /// Index: the starts whose effects are kept and undoable.
    undoable: SharedSet<u64>,
}

/// Ignores the numbers of the starts, but not their order.
impl PartialEq for EffectsLedger {
    fn eq(&self, other: &Self) -> bool {
        self.entries.size() == other.entries.size() && self.iter().eq(other.iter())
    }
}

impl Eq for EffectsLedger {}

impl Hash for EffectsLedger {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entries.size().hash(state);
        self.iter().for_each(|started| started.hash(state));
    }
}

impl fmt::Debug for EffectsLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl EffectsLedger {
    /// Returns the started tasks, latest start last.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &StartedTask> {
        self.entries.values().map(Arc::as_ref)
    }

    /// Returns whether no task started.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entry of a task.
    #[must_use]
    pub fn get(&self, task: TaskId) -> Option<&StartedTask> {
        self.entries.get(self.starts.get(&task)?).map(Arc::as_ref)
    }

    /// Forgets every entry.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the entries whose effects are kept and undoable, latest start last.
    pub(crate) fn undoable(&self) -> impl DoubleEndedIterator<Item = &StartedTask> {
        self.undoable.keys().filter_map(|start| self.entries.get(start)).map(Arc::as_ref)
    }

    /// Appends an entry, and removes the earlier entry of its task.
    pub(super) fn push(&mut self, started: StartedTask) {
        let start = self.entries.keys().next_back().map_or(0, |last| last.saturating_add(1));
        if let Some(earlier) = self.starts.get(&started.task) {
            self.entries.remove(earlier);
            self.undoable.remove(earlier);
        }
        self.starts.insert(started.task, start);
        if started.is_undoable() {
            self.undoable.insert(start, ());
        }
        self.entries.insert(start, Arc::new(started));
    }

    pub(super) fn set_node(&mut self, task: TaskId, node: &NodeId) {
        let started = self.starts.get(&task).and_then(|start| self.entries.get_mut(start));
        started.into_iter().for_each(|started| Arc::make_mut(started).node = Some(node.clone()));
    }

    pub(super) fn set_outcome(&mut self, task: TaskId, outcome: EffectOutcome) {
        let Some(start) = self.starts.get(&task) else { return };
        let Some(started) = self.entries.get_mut(start).map(Arc::make_mut) else { return };
        started.outcome = outcome;
        if started.is_undoable() {
            self.undoable.insert(*start, ());
        } else {
            self.undoable.remove(start);
        }
    }
}

impl FromIterator<StartedTask> for EffectsLedger {
    fn from_iter<I: IntoIterator<Item = StartedTask>>(started: I) -> Self {
        let mut ledger = Self::default();
        started.into_iter().for_each(|started| ledger.push(started));
        ledger
    }
}

#[cfg(feature = "serde")]
impl From<alloc::vec::Vec<StartedTask>> for EffectsLedger {
    fn from(started: alloc::vec::Vec<StartedTask>) -> Self {
        started.into_iter().collect()
    }
}

#[cfg(feature = "serde")]
impl From<EffectsLedger> for alloc::vec::Vec<StartedTask> {
    fn from(ledger: EffectsLedger) -> Self {
        ledger.iter().cloned().collect()
    }
}
