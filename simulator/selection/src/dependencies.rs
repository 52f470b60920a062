//! What must come with an item.

use orchestrion_kernel::selection::{Candidate, Inclusion};

/// Walks along dependencies, again and again, in memory that is asked for once.
#[derive(Clone, Debug)]
pub(super) struct DependencyWalker<'a> {
    candidates: &'a [Candidate],
    /// In which walk an item was met last, and which walk this is.
    met: Vec<usize>,
    walk: usize,
}

/// Some items, with what they come to.
#[derive(Clone, Debug, Default)]
pub(super) struct Missing {
    pub(super) items: Vec<usize>,
    pub(super) utility: u64,
    pub(super) cost: u64,
}

impl<'a> DependencyWalker<'a> {
    pub(super) fn new(candidates: &'a [Candidate]) -> Self {
        Self { candidates, met: vec![0; candidates.len()], walk: 0 }
    }

    /// These items and all that they need, but for what is there already; nothing if that costs more than `cost_max`.
    pub(super) fn of(
        &mut self,
        items: &[usize],
        is_there: impl Fn(usize) -> bool,
        cost_max: u64,
    ) -> Option<Missing> {
        self.walk += 1;
        let mut missing = Missing::default();
        let mut open: Vec<usize> = items.to_vec();
        while let Some(item) = open.pop() {
            if is_there(item) || std::mem::replace(&mut self.met[item], self.walk) == self.walk {
                continue;
            }
            let candidate = &self.candidates[item];
            missing.items.push(item);
            missing.utility += candidate.utility;
            missing.cost += candidate.cost;
            if missing.cost > cost_max {
                return None;
            }
            open.extend(&candidate.deps);
        }
        Some(missing)
    }
}

/// For each item that must not be shown, why: the forbidden one that it is, or needs.
pub(super) fn forbidden_by_closure(candidates: &[Candidate]) -> Vec<Option<usize>> {
    let mut needed_by = vec![Vec::new(); candidates.len()];
    for (item, candidate) in candidates.iter().enumerate() {
        candidate.deps.iter().for_each(|dep| needed_by[*dep].push(item));
    }
    let mut barred = vec![None; candidates.len()];
    for forbidden in marked(candidates, Inclusion::Forbidden) {
        let mut open = vec![forbidden];
        while let Some(item) = open.pop() {
            if barred[item].is_none() {
                barred[item] = Some(forbidden);
                open.extend(&needed_by[item]);
            }
        }
    }
    barred
}

/// The items with a mark.
pub(super) fn marked(candidates: &[Candidate], mark: Inclusion) -> Vec<usize> {
    (0..candidates.len()).filter(|item| candidates[*item].inclusion == mark).collect()
}
