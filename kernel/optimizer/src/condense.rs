//! Candidates that need each other become one node: what is left has no cycles.
//!
//! The strongly connected components of a digraph come out of one depth-first walk, what is needed before what
//! needs it (Tarjan, 1972). A closed set holds a component whole or not at all, so nothing is lost.

use alloc::vec;
use alloc::vec::Vec;
use orchestrion_kernel::selection::Problem;

/// A digraph without cycles whose nodes have utility and cost. What a node needs has a smaller number.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// What each node is worth.
    pub(super) utility: Vec<i64>,
    /// What each node costs.
    pub(super) cost: Vec<i64>,
    /// The smallest position among the candidates of each node: ties are decided in this order.
    pub(super) key: Vec<usize>,
    /// The node that needs, arc by arc, ascending.
    pub(super) tail: Vec<usize>,
    /// The node that is needed, arc by arc.
    pub(super) head: Vec<usize>,
    /// Where the arcs of each node's needs begin.
    needs: Vec<usize>,
    /// Where each node's row of `user_arcs` begins.
    users: Vec<usize>,
    user_arcs: Vec<usize>,
}

impl Graph {
    /// A graph of these nodes; arcs run from what needs to what is needed.
    fn new(utility: Vec<i64>, cost: Vec<i64>, key: Vec<usize>, mut arcs: Vec<(usize, usize)>) -> Self {
        let nodes = utility.len();
        arcs.sort_unstable();
        arcs.dedup();
        let (tail, head): (Vec<usize>, Vec<usize>) = arcs.into_iter().unzip();
        let (needs, _) = rows(nodes, &tail);
        let (users, user_arcs) = rows(nodes, &head);
        Self { utility, cost, key, tail, head, needs, users, user_arcs }
    }

    /// What a node adds to the number of nodes of a set: nothing if it brings nothing, and is only there for others.
    pub(super) fn bulk(&self, node: usize) -> i64 {
        i64::from(self.utility[node] > 0)
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.utility.len()
    }

    /// The arcs that leave a node: to what it needs.
    pub(super) fn needs(&self, node: usize) -> core::ops::Range<usize> {
        self.needs[node]..self.needs[node + 1]
    }

    /// The arcs that enter a node: from what needs it.
    pub(super) fn users(&self, node: usize) -> &[usize] {
        &self.user_arcs[self.users[node]..self.users[node + 1]]
    }

    /// The graph of some of the nodes, in an order in which what is needed comes first. Of each pair the first needs
    /// the second instead of what it needed.
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

    /// Whether no node needs more than one other.
    pub(super) fn is_forest(&self) -> bool {
        (0..self.len()).all(|node| self.needs(node).len() <= 1)
    }
}

/// For each node its places in a list of nodes: where its row begins, and the rows.
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

/// The graph of a problem, and the node of each candidate.
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

/// The component of each candidate, and how many there are.
fn components(problem: &Problem) -> (Vec<usize>, usize) {
    const UNSEEN: usize = usize::MAX;
    let all = problem.candidates();
    let (mut node_of, mut nodes) = (vec![UNSEEN; all.len()], 0);
    // When each was first seen, and the earliest still open that it reaches.
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
