//! The index of a plan: positions of its tasks, and who depends on whom. It follows from the tasks.

use super::{Task, dependencies};
use crate::digest::CachedDigest;
use crate::ids::TaskId;
use crate::shared_map::SharedSet;
use crate::state::task_bytes_max;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// The index of a plan. A clone shares it. Equality and hash ignore it, because the tasks determine it.
#[derive(Clone, Debug)]
pub(super) struct TaskIndex(Arc<Links>);

#[derive(Debug)]
struct Links {
    /// The position of each task, in the order of task numbers.
    positions: Vec<(TaskId, usize)>,
    /// By position: the number of distinct tasks that the task depends on.
    required: Vec<usize>,
    /// By position: the positions of the direct dependents, in order.
    dependents: Vec<Vec<usize>>,
    /// The positions of the tasks without dependencies.
    initial: SharedSet<usize>,
    /// Whether each task depends exactly on the task before it, and the first on none.
    is_chain: bool,
    /// An upper bound on the bytes of the tasks in a payload.
    task_bytes_max: usize,
    /// The digest of the tasks.
    digest: CachedDigest,
}

impl TaskIndex {
    pub(super) fn new(tasks: &[Task]) -> Self {
        let mut positions: Vec<(TaskId, usize)> =
            tasks.iter().enumerate().map(|(at, task)| (task.id, at)).collect();
        positions.sort_unstable();
        let mut required = Vec::with_capacity(tasks.len());
        let mut dependents: Vec<Vec<usize>> = Vec::new();
        dependents.resize_with(tasks.len(), Vec::new);
        let mut initial = SharedSet::default();
        let mut is_chain = true;
        for (at, (_, dependencies)) in dependencies(tasks).enumerate() {
            let mut distinct: usize = 0;
            for dependency in dependencies {
                let before = find(&positions, *dependency).and_then(|before| dependents.get_mut(before));
                // A task that is declared twice is already the last dependent.
                if let Some(before) = before.filter(|before| before.last() != Some(&at)) {
                    before.push(at);
                    distinct = distinct.saturating_add(1);
                }
            }
            if distinct == 0 {
                initial.insert(at, ());
            }
            required.push(distinct);
            let before = at.checked_sub(1).and_then(|before| tasks.get(before));
            is_chain &= dependencies.iter().all(|id| Some(*id) == before.map(|before| before.id))
                && distinct == usize::from(before.is_some());
        }
        let task_bytes_max = tasks.iter().map(task_bytes_max).fold(0, usize::saturating_add);
        let digest = CachedDigest::default();
        let links = Links { positions, required, dependents, initial, is_chain, task_bytes_max, digest };
        Self(Arc::new(links))
    }

    pub(super) fn position(&self, task: TaskId) -> Option<usize> {
        find(&self.0.positions, task)
    }

    pub(super) fn required(&self, at: usize) -> usize {
        self.0.required.get(at).copied().unwrap_or_default()
    }

    pub(super) fn dependents(&self, at: usize) -> &[usize] {
        self.0.dependents.get(at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn task_bytes_max(&self) -> usize {
        self.0.task_bytes_max
    }

    pub(super) fn is_chain(&self) -> bool {
        self.0.is_chain
    }

    pub(super) fn initial(&self) -> &SharedSet<usize> {
        &self.0.initial
    }

    /// Returns the digest of the tasks of this index.
    pub(super) fn digest(&self, tasks: &[Task]) -> u128 {
        self.0.digest.of(&tasks)
    }
}

fn find(positions: &[(TaskId, usize)], task: TaskId) -> Option<usize> {
    let at = positions.binary_search_by_key(&task, |(id, _)| *id).ok()?;
    positions.get(at).map(|(_, position)| *position)
}

impl PartialEq for TaskIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for TaskIndex {}

impl Hash for TaskIndex {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
