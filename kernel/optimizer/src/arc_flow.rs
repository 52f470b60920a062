//! Converts a flow between nodes into a flow between candidates. The candidates of a node pass their excess to one of
//! them, along dependencies within the node.

use super::condense::Graph;
use super::flow::{Amount, Flow};
use alloc::vec;
use alloc::vec::Vec;
use orchestrion_kernel::selection::DualSolution;
use orchestrion_kernel::selection::Problem;

/// The positions of nodes and arcs among the candidates.
#[derive(Debug)]
pub(super) struct ArcFlow<'a> {
    problem: &'a Problem,
    /// The two candidates of each arc.
    ends: Vec<(usize, usize)>,
    rings: Vec<Component>,
}

/// A strongly connected component of several candidates.
#[derive(Debug)]
struct Component {
    node: usize,
    root: usize,
    /// Dependencies that lead to the root, the farthest first.
    inward: Vec<(usize, usize)>,
    /// Dependencies that lead away from the root, the farthest first.
    outward: Vec<(usize, usize)>,
}

impl<'a> ArcFlow<'a> {
    pub(super) fn new(problem: &'a Problem, graph: &Graph, node_of: &[usize]) -> Self {
        let all = problem.candidates();
        let mut ends = vec![(0, 0); graph.tail.len()];
        let mut sizes = vec![0_usize; graph.len()];
        let (mut within, mut users) = (vec![Vec::new(); all.len()], vec![Vec::new(); all.len()]);
        for (item, candidate) in all.iter().enumerate() {
            let node = node_of[item];
            sizes[node] += 1;
            for &dep in &candidate.deps {
                if node_of[dep] == node {
                    within[item].push(dep);
                    users[dep].push(item);
                } else {
                    let arcs = graph.needs(node);
                    let place = graph.head[arcs.clone()].binary_search(&node_of[dep]);
                    ends[arcs.start + place.unwrap_or(0)] = (item, dep);
                }
            }
        }
        let (mut reached, mut turned) = (vec![false; all.len()], vec![false; all.len()]);
        let rings = (0..graph.len()).filter(|&node| sizes[node] > 1).map(|node| {
            let root = graph.key[node];
            let outward = shortest_path_tree(root, &within, &mut reached);
            let inward =
                shortest_path_tree(root, &users, &mut turned).into_iter().map(|(near, far)| (far, near));
            Component { node, root, inward: inward.collect(), outward }
        });
        let rings = rings.collect();
        Self { problem, ends, rings }
    }

    /// Returns the dual solution of a flow between open nodes. `counted` selects the candidates that pay the count
    /// price.
    pub(super) fn prices(
        &self,
        flow: &Flow,
        counted: &[bool],
        is_open: impl Fn(usize) -> bool,
    ) -> DualSolution {
        let wired = self.ends.iter().zip(&flow.arc_flow).filter(|(_, amount)| **amount > 0);
        let mut sent: Vec<(usize, usize, Amount)> =
            wired.map(|(&(item, dep), &amount)| (item, dep, amount)).collect();
        if !self.rings.is_empty() {
            let mut left = vec![0; counted.len()];
            for &(item, dep, amount) in &sent {
                left[item] -= amount;
                left[dep] += amount;
            }
            for ring in self.rings.iter().filter(|ring| is_open(ring.node)) {
                self.route_to_root(ring, flow, counted, &mut left, &mut sent);
            }
            sent.retain(|(_, _, amount)| *amount > 0);
        }
        DualSolution { scale: 1 << flow.scale, price: flow.price, count_price: flow.count_price, flow: sent }
    }

    /// Moves all excess of a component to its root, and then covers all deficits from the root.
    fn route_to_root(
        &self,
        ring: &Component,
        flow: &Flow,
        counted: &[bool],
        left: &mut [Amount],
        sent: &mut Vec<(usize, usize, Amount)>,
    ) {
        let members = ring.outward.iter().map(|&(_, far)| far).chain([ring.root]);
        for item in members {
            let candidate = &self.problem.candidates()[item];
            left[item] += (Amount::from(candidate.utility) << flow.scale)
                - flow.price * Amount::from(candidate.cost)
                - flow.count_price * Amount::from(counted[item]);
        }
        for &(far, near) in &ring.inward {
            let amount = left[far].max(0);
            left[far] -= amount;
            left[near] += amount;
            sent.push((far, near, amount));
        }
        for &(near, far) in &ring.outward {
            let amount = (-left[far]).max(0);
            left[near] -= amount;
            left[far] += amount;
            sent.push((near, far, amount));
        }
    }
}

/// Builds a shortest-path tree from a root. The result lists its arcs, the farthest first.
fn shortest_path_tree(root: usize, next: &[Vec<usize>], reached: &mut [bool]) -> Vec<(usize, usize)> {
    let (mut steps, mut queue, mut place) = (Vec::new(), vec![root], 0);
    reached[root] = true;
    while let Some(&near) = queue.get(place) {
        place += 1;
        for &far in &next[near] {
            if !core::mem::replace(&mut reached[far], true) {
                queue.push(far);
                steps.push((near, far));
            }
        }
    }
    steps.reverse();
    steps
}
