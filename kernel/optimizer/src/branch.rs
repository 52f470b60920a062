//! Branch and bound on what the relaxation leaves undecided.
//!
//! The search branches on a node of the fractional macro-item: the relaxation is undecided there and nowhere else.

use super::flow::Amount;
use super::relaxation::Relaxation;
use super::search::{NodeStatus, Search};
use alloc::vec::Vec;

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// No open branch can improve on the incumbent.
    Exhausted,
    /// A solution was found, and the search stops at the first one.
    Found,
    /// The node limit was reached.
    NodeLimit,
}

/// The interval, in visited nodes, after which the search continues at the branch with the best bound. Unit tests use a
/// short one, so that small problems reach it.
const BEST_BOUND_INTERVAL: u64 = if cfg!(test) { 3 } else { 64 };

/// The work of a visit beside the scans of its nodes.
const WORK_PER_NODE: u64 = 64;

/// A branching decision below its parent, with its bound.
struct Branch {
    parent: Option<u32>,
    node: usize,
    fate: NodeStatus,
    bound: Amount,
}

/// The branching decisions that the search has explored or will explore.
#[derive(Default)]
struct Tree {
    branches: Vec<Branch>,
    /// The open branches, the next one last.
    open: Vec<u32>,
    /// The branches of the current path, each with the length of the trail before it.
    path: Vec<(u32, usize)>,
}

impl Search<'_> {
    /// Bounds and reduces the open nodes until that fixes little more. Returns the node to branch on and the bound
    /// there, or `None` if no open set can improve on the incumbent. `look` runs the heuristics first.
    pub(super) fn visit(&mut self, look: bool) -> Option<(usize, Amount)> {
        while self.remaining_budget() >= 0 {
            self.count_node();
            let Relaxation::Bound { bound, within, macro_item } = self.relax() else { return None };
            if bound < self.required_bound()? || look && self.is_done() {
                return None;
            }
            if look {
                self.greedy_fill(&within);
            }
            let need = self.required_bound()?;
            if bound < need || look && self.is_done() {
                return None;
            }
            let open = self.graph.len() - self.trail.len();
            let pegged = self.fix_by_reduced_cost(bound, need, &within);
            if pegged * 8 < open
                && let Some(node) = self.select_branching_node(&macro_item)
            {
                return Some((node, bound));
            }
        }
        None
    }

    /// Counts one visited node. A large one counts several times.
    pub(super) fn count_node(&mut self) {
        let open = self.graph.len() - self.trail.len();
        self.nodes_left = self.nodes_left.saturating_sub(1 + open as u64 / 256);
        // Scans of all nodes: open nodes, closures, moves and fixings.
        self.flow.work += WORK_PER_NODE + (self.graph.len() + 4 * open) as u64;
    }

    /// Selects the branching node: the one on which most of the macro-item depends, because both branches then fix
    /// much. Ties go to the highest cost.
    pub(super) fn select_branching_node(&mut self, macro_item: &[usize]) -> Option<usize> {
        let (graph, mark) = (self.graph, self.next_visit_mark());
        macro_item.iter().for_each(|&node| self.seen[node] = mark);
        let is_asked = |node: usize| self.is_open(node) && self.seen[node] == mark;
        let users = |node: usize| graph.users(node).iter().filter(|&&arc| is_asked(graph.tail[arc])).count();
        let open = macro_item.iter().copied().filter(|&node| self.is_open(node));
        open.max_by_key(|&node| (users(node), graph.cost[node]))
    }

    /// Searches the open nodes with a part of the node limit.
    pub(super) fn search_within(&mut self, effort: u64) -> (SearchEnd, Amount) {
        let spared = self.nodes_left.saturating_sub(effort);
        self.nodes_left -= spared;
        let end = self.search();
        self.nodes_left += spared;
        end
    }

    /// Searches depth-first, where the next node is close. From time to time it continues at the best bound, so that a
    /// promising branch near the root does not wait for the whole subtree before it.
    pub(super) fn search(&mut self) -> (SearchEnd, Amount) {
        if self.stop_at_first {
            self.incumbent_set = None;
        }
        let start = self.trail.len();
        let (mut tree, mut visits) = (Tree::default(), 0_u64);
        let (end, bound) = loop {
            if let Some((node, bound)) = self.visit(true) {
                tree.add_children(node, bound);
            }
            if self.is_done() {
                break (SearchEnd::Found, 0);
            }
            visits += 1;
            if !self.stop_at_first && visits.is_multiple_of(BEST_BOUND_INTERVAL) {
                tree.select_best_bound(self.required_bound());
            }
            if self.is_exhausted()
                && let Some(bound) = tree.bound()
            {
                break (SearchEnd::NodeLimit, bound);
            }
            let Some(branch) = tree.open.pop() else { break (SearchEnd::Exhausted, 0) };
            self.jump_to(&mut tree, branch);
        };
        self.backtrack_to(start);
        (end, bound)
    }

    /// Backtracks to the common ancestor with the branch, and applies its missing decisions.
    fn jump_to(&mut self, tree: &mut Tree, branch: u32) {
        let above = |branch: &u32| tree.branches[*branch as usize].parent;
        let mut path: Vec<u32> = core::iter::successors(Some(branch), above).collect();
        path.reverse();
        let shared = path.iter().zip(&tree.path).take_while(|(one, (other, _))| *one == other).count();
        if let Some(&(_, trail)) = tree.path.get(shared) {
            self.backtrack_to(trail);
        }
        tree.path.truncate(shared);
        for &branch in &path[shared..] {
            tree.path.push((branch, self.trail.len()));
            let Branch { node, fate, .. } = tree.branches[branch as usize];
            self.fix_with_closure(node, fate);
        }
    }
}

impl Tree {
    /// Adds both branches of a node below the current path.
    fn add_children(&mut self, node: usize, bound: Amount) {
        let above = self.path.last().map(|(branch, _)| *branch);
        for fate in [NodeStatus::In, NodeStatus::Out] {
            self.open.push(self.branches.len() as u32);
            self.branches.push(Branch { parent: above, node, fate, bound });
        }
    }

    /// Makes the first branch with the best bound the next one, and drops branches that cannot improve on the
    /// incumbent.
    fn select_best_bound(&mut self, need: Option<Amount>) {
        let bound = |branch: &u32| self.branches[*branch as usize].bound;
        self.open.retain(|branch| need.is_some_and(|need| bound(branch) >= need));
        let next = self.open.iter().enumerate().rev().max_by_key(|(_, branch)| bound(branch));
        if let Some((place, &branch)) = next {
            self.open.remove(place);
            self.open.push(branch);
        }
    }

    /// Returns the best bound of the open branches.
    fn bound(&self) -> Option<Amount> {
        self.open.iter().map(|&branch| self.branches[branch as usize].bound).max()
    }
}
