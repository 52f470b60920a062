//! How contexts are packed elsewhere, to be held against the optimum: three rules, in integers.
//!
//! None of them knows of dependencies where it comes from. Here each takes an item with everything that it still needs, or not
//! at all, so that what they choose can be shown. What is pinned comes first; what is forbidden, or needs something forbidden, is
//! passed over.

use super::dependencies::{DependencyWalker, Missing, forbidden_by_closure, marked};
use super::format::LayerFile;
use super::problem::NamedProblem;
use orchestrion_kernel::selection::{Candidate, Inclusion, Problem, Selection};
use std::cmp::Reverse;

/// A rule by which a context is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The item goes first that has, together with all it needs, the most utility for a token; what does not fit is passed over.
    Greedy,
    /// 003, `build_query_context`: facts by utility until one does not fit into seven tenths of what the pinned items leave;
    /// then the working set, all of it or nothing.
    Ranked,
    /// The newest first, until one does not fit. An older item comes with the newer one that needs it, and counts like it.
    Recent,
}

impl Baseline {
    /// What the rule chooses.
    #[must_use]
    pub fn pack(self, named: &NamedProblem) -> Selection {
        let mut packer = BaselinePacker::new(&named.problem);
        match self {
            Self::Greedy => greedy(&mut packer),
            Self::Ranked => ranked(&mut packer, &named.layers),
            Self::Recent => recent(&mut packer, &named.by_age),
        }
        packer.selection()
    }
}

fn greedy(packer: &mut BaselinePacker<'_>) {
    let mut items = Vec::new();
    for item in packer.allowed(0..packer.candidates.len()) {
        // What brings nothing has no density that could be compared.
        if let Some(missing) = packer.missing(&[item], packer.rest).filter(|missing| missing.utility > 0) {
            items.push((item, u128::from(missing.utility), u128::from(missing.cost)));
        }
    }
    // A stable sort: of items that are as dense, the first goes first.
    items.sort_by(|(_, utility, cost), (_, other, other_cost)| (other * cost).cmp(&(utility * other_cost)));
    for (item, ..) in items {
        packer.take_if_fits(&[item], packer.rest);
    }
}

fn ranked(packer: &mut BaselinePacker<'_>, layers: &[LayerFile]) {
    let of_layer = |layer| (0..layers.len()).filter(move |item| layers[*item] == layer);
    let mut facts = packer.allowed(of_layer(LayerFile::Fact));
    facts.sort_by_key(|fact| Reverse(packer.candidates[*fact].utility));
    // Seven tenths, rounded down.
    let mut for_facts = packer.rest / 10 * 7 + packer.rest % 10 * 7 / 10;
    for fact in facts {
        let before = packer.rest;
        if !packer.take_if_fits(&[fact], for_facts) {
            break;
        }
        for_facts -= before - packer.rest;
    }
    packer.take_if_fits(&packer.allowed(of_layer(LayerFile::Working)), packer.rest);
}

fn recent(packer: &mut BaselinePacker<'_>, by_age: &[usize]) {
    for item in packer.allowed(by_age.iter().rev().copied()) {
        if !packer.take_if_fits(&[item], packer.rest) {
            break;
        }
    }
}

/// A context that is being packed.
struct BaselinePacker<'a> {
    candidates: &'a [Candidate],
    needs: DependencyWalker<'a>,
    /// What must not be taken.
    barred: Vec<Option<usize>>,
    taken: Vec<bool>,
    rest: u64,
}

impl<'a> BaselinePacker<'a> {
    fn new(problem: &'a Problem) -> Self {
        let candidates = problem.candidates();
        let taken = vec![false; candidates.len()];
        let (needs, barred) = (DependencyWalker::new(candidates), forbidden_by_closure(candidates));
        let mut packer = Self { candidates, needs, barred, taken, rest: problem.budget() };
        // A problem whose pinned items do not fit cannot be made.
        packer.take_if_fits(&marked(candidates, Inclusion::Pinned), packer.rest);
        packer
    }

    fn is_allowed(&self, item: usize) -> bool {
        self.barred[item].is_none()
    }

    /// Those of some items that may be taken.
    fn allowed(&self, items: impl IntoIterator<Item = usize>) -> Vec<usize> {
        items.into_iter().filter(|item| self.is_allowed(*item)).collect()
    }

    /// What has to come with these items, if it costs at most so much.
    fn missing(&mut self, items: &[usize], cost_max: u64) -> Option<Missing> {
        self.needs.of(items, |item| self.taken[item], cost_max)
    }

    /// Takes these items with all they need, or none of them. Says whether they are there now.
    fn take_if_fits(&mut self, items: &[usize], cost_max: u64) -> bool {
        let Some(missing) = self.missing(items, cost_max) else { return false };
        missing.items.iter().for_each(|item| self.taken[*item] = true);
        self.rest -= missing.cost;
        true
    }

    fn selection(&self) -> Selection {
        let selected: Vec<usize> = (0..self.candidates.len()).filter(|item| self.taken[*item]).collect();
        let sum = |of: fn(&Candidate) -> u64| selected.iter().map(|item| of(&self.candidates[*item])).sum();
        let (utility, cost) = (sum(|candidate| candidate.utility), sum(|candidate| candidate.cost));
        Selection { selected, utility, cost }
    }
}
