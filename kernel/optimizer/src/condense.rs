//! Contracts candidates that depend on each other into one node. The result is acyclic.
//!
//! One depth-first search finds the strongly connected components, dependencies first (Tarjan, 1972). A closed set
//! contains a component as a whole or not at all, so nothing is lost.

use alloc::vec;
use alloc::vec::Vec;
use orchestrion_kernel::selection::Problem;

/// An acyclic digraph whose nodes have utility and cost. A node depends only on nodes with smaller numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// The utility of each node.
    pub(super) utility: Vec<i64>,
    /// The cost of each node.
    pub(super) cost: Vec<i64>,
    /// The smallest position among the candidates of each node: the order of the tie-break.
    pub(super) key: Vec<usize>,
    /// The dependent node of each arc, ascending.
    pub(super) tail: Vec<usize>,
    /// The dependency of each arc.
    pub(super) head: Vec<usize>,
    /// The offset of each node's arcs to its dependencies.
    needs: Vec<usize>,
    /// The offset of each node in `user_arcs`.
    users: Vec<usize>,
    user_arcs: Vec<usize>,
}

impl Graph {
    /// Builds a graph of these nodes. Arcs lead from a dependent to its dependency.
    fn new(utility: Vec<i64>, cost: Vec<i64>, key: Vec<usize>, mut arcs: Vec<(usize, usize)>) -> Self {
        let nodes = utility.len();
        arcs.sort_unstable();
        arcs.dedup();
        let (tail, head): (Vec<usize>, Vec<usize>) = arcs.into_iter().unzip();
        let (needs, _) = rows(nodes, &tail);
        let (users, user_arcs) = rows(nodes, &head);
        Self { utility, cost, key, tail, head, needs, users, user_arcs }
    }

    /// What a node adds to the count of a set: nothing if it has no utility and is there only for others.
    pub(super) fn bulk(&self, node: usize) -> i64 {
        i64::from(self.utility[node] > 0)
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.utility.len()
    }

    /// The arcs from a node to its dependencies.
    pub(super) fn needs(&self, node: usize) -> core::ops::Range<usize> {
        self.needs[node]..self.needs[node + 1]
    }

    /// The arcs from the dependents of a node.
    pub(super) fn users(&self, node: usize) -> &[usize] {
        &self.user_arcs[self.users[node]..self.users[node + 1]]
    }

    /// Builds the graph of some of the nodes, in an order with dependencies first. In each pair, the first node depends
    /// on the second one instead of its own dependencies.
    pub(super) fn restrict(&self, nodes: &[usize], instead: &[(usize, usize)]) -> Self {
        let mut place = vec![usize::MAX; self.len()];
        for (new, &old) in nodes.iter().enumerate() {
            place[old] = new;
        }
        let mut has_other = vec![false; self.len()];
        instead.iter().for_each(|&(node, _)| has_other[node] = true);
        let own = nodes.iter().filter(|&&node| !has_other[node]).flat_map(|&node| self.needs(node));
        let own = own.map(|arc| (self.tail[arc], self.head[arc]));
        let arcs = own.chain(instead.iter().copied()).map(|(tail, head)| (place[tail], place[head]));
        let arcs = arcs.filter(|(_, head)| *head != usize::MAX).collect();
        let pick = |numbers: &[i64]| nodes.iter().map(|&node| numbers[node]).collect();
        let key = nodes.iter().map(|&node| self.key[node]).collect();
        Self::new(pick(&self.utility), pick(&self.cost), key, arcs)
    }

    /// Whether every node has at most one dependency.
    pub(super) fn is_forest(&self) -> bool {
        (0..self.len()).all(|node| self.needs(node).len() <= 1)
    }
}

/// Builds the rows of a node list in compressed form: the offset of each node, and the positions.
fn rows(nodes: usize, list: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut start = vec![0; nodes + 1];
    for &node in list {
        start[node + 1] += 1;
    }
    for node in 0..nodes {
        start[node + 1] += start[node];
    }
    let (mut next, mut row) = (start.clone(), vec![0; list.len()]);
    for (place, &node) in list.iter().enumerate() {
        row[next[node]] = place;
        next[node] += 1;
    }
    (start, row)
}

/// Builds the graph of a problem, and returns the node of each candidate.
pub(super) fn condense(problem: &Problem) -> (Graph, Vec<usize>) {
    let all = problem.candidates();
    let (node_of, nodes) = components(problem);
    let (mut utility, mut cost) = (vec![0; nodes], vec![0; nodes]);
    let mut key = vec![usize::MAX; nodes];
    let mut arcs = Vec::new();
    for (item, candidate) in all.iter().enumerate() {
        let node = node_of[item];
        utility[node] += candidate.utility.cast_signed();
        cost[node] += candidate.cost.cast_signed();
        key[node] = key[node].min(item);
        arcs.extend(candidate.deps.iter().map(|&dep| (node, node_of[dep])).filter(|(a, b)| a != b));
    }
    (Graph::new(utility, cost, key, arcs), node_of)
}

/// Returns the component of each candidate, and the number of components.
fn components(problem: &Problem) -> (Vec<usize>, usize) {
    const UNSEEN: usize = usize::MAX;
    let all = problem.candidates();
    let (mut node_of, mut nodes) = (vec![UNSEEN; all.len()], 0);
    // The discovery index of each candidate, and the earliest open candidate that it reaches.
    let (mut seen, mut low) = (vec![UNSEEN; all.len()], vec![0; all.len()]);
    let (mut clock, mut open) = (0, Vec::new());
    let mut walk: Vec<(usize, usize)> = Vec::new();
    for root in 0..all.len() {
        if seen[root] == UNSEEN {
            walk.push((root, 0));
        }
        while let Some((item, next)) = walk.pop() {
            if next == 0 {
                (seen[item], low[item]) = (clock, clock);
                clock += 1;
                open.push(item);
            }
            if let Some(&dep) = all[item].deps.get(next) {
                walk.push((item, next + 1));
                if seen[dep] == UNSEEN {
                    walk.push((dep, 0));
                } else if node_of[dep] == UNSEEN {
                    low[item] = low[item].min(seen[dep]);
                }
                continue;
            }
            if low[item] == seen[item] {
                while let Some(member) = open.pop() {
                    node_of[member] = nodes;
                    if member == item {
                        break;
                    }
                }
                nodes += 1;
            }
            if let Some(&(above, _)) = walk.last() {
                low[above] = low[above].min(low[item]);
            }
        }
    }
    (node_of, nodes)
}
