//! Closures of items under their dependencies.

use orchestrion_kernel::selection::{Candidate, Inclusion};

/// Computes closures repeatedly, with memory allocated once.
#[derive(Clone, Debug)]
pub(super) struct DependencyWalker<'a> {
    candidates: &'a [Candidate],
    /// The walk that last visited each item.
    visited: Vec<usize>,
    walk: usize,
}

/// Items with their total utility and cost.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemSet {
    pub(super) items: Vec<usize>,
    pub(super) utility: u64,
    pub(super) cost: u64,
}

impl<'a> DependencyWalker<'a> {
    pub(super) fn new(candidates: &'a [Candidate]) -> Self {
        Self { candidates, visited: vec![0; candidates.len()], walk: 0 }
    }

    /// Returns the closure of the items without the present ones; `None` if that costs more than `cost_max`.
    pub(super) fn closure(
        &mut self,
        items: &[usize],
        is_present: impl Fn(usize) -> bool,
        cost_max: u64,
    ) -> Option<ItemSet> {
        self.walk += 1;
        let mut closure = ItemSet::default();
        let mut stack: Vec<usize> = items.to_vec();
        while let Some(item) = stack.pop() {
            if is_present(item) || std::mem::replace(&mut self.visited[item], self.walk) == self.walk {
                continue;
            }
            let candidate = &self.candidates[item];
            closure.items.push(item);
            closure.utility += candidate.utility;
            closure.cost += candidate.cost;
            if closure.cost > cost_max {
                return None;
            }
            stack.extend(&candidate.deps);
        }
        Some(closure)
    }
}

/// Returns for each item the forbidden item that it is or depends on.
pub(super) fn forbidden_by_closure(candidates: &[Candidate]) -> Vec<Option<usize>> {
    let mut dependents = vec![Vec::new(); candidates.len()];
    for (item, candidate) in candidates.iter().enumerate() {
        candidate.deps.iter().for_each(|dep| dependents[*dep].push(item));
    }
    let mut forbidden_by = vec![None; candidates.len()];
    for forbidden in items_with_inclusion(candidates, Inclusion::Forbidden) {
        let mut stack = vec![forbidden];
        while let Some(item) = stack.pop() {
            if forbidden_by[item].is_none() {
                forbidden_by[item] = Some(forbidden);
                stack.extend(&dependents[item]);
            }
        }
    }
    forbidden_by
}

/// Returns the positions of the items with an inclusion.
pub(super) fn items_with_inclusion(candidates: &[Candidate], inclusion: Inclusion) -> Vec<usize> {
    (0..candidates.len()).filter(|item| candidates[*item].inclusion == inclusion).collect()
}

/// Returns the total of a quantity over the selected items.
pub(super) fn sum_of(candidates: &[Candidate], selected: &[usize], quantity: fn(&Candidate) -> u64) -> u64 {
    selected.iter().map(|item| quantity(&candidates[*item])).sum()
}
