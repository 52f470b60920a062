//! What need not be asked about one of two nodes, because the other can stand in its place.
//!
//! Of two nodes that need the same, and that nothing needs, one that brings no less and costs no more can stand wherever
//! the other stands (Kellerer, Pferschy and Pisinger, 2004, on dominated items). If both bring and cost the same, that
//! of the smaller position comes first. So the best set that comes first has the other only beside the one: the other
//! may as well need it, and where many are alike little is left to ask.

use super::condense::Graph;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The graph of some nodes, given in ascending order, in which a node needs one that can stand in its place instead of
/// what both need; and its nodes, in their order there.
pub(super) fn dominated(graph: &Graph, nodes: &[usize]) -> (Graph, Vec<usize>) {
    let mut is_there = vec![false; graph.len()];
    nodes.iter().for_each(|&node| is_there[node] = true);
    let mut order = Vec::with_capacity(nodes.len());
    let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for &node in nodes {
        if graph.users(node).iter().any(|&arc| is_there[graph.tail[arc]]) {
            order.push(node);
        } else {
            let needs = graph.needs(node).map(|arc| graph.head[arc]).filter(|&head| is_there[head]);
            alike.entry(needs.collect()).or_default().push(node);
        }
    }
    let mut pairs = Vec::new();
    for mut nodes in alike.into_values() {
        nodes.sort_unstable_by_key(|&node| (graph.cost[node], Reverse(graph.utility[node]), graph.key[node]));
        // Of those that cost no more, the last of each utility.
        let mut last: BTreeMap<i64, usize> = BTreeMap::new();
        for node in nodes {
            let utility = graph.utility[node];
            pairs.extend(last.range(utility..).next().map(|(_, &other)| (node, other)));
            last.insert(utility, node);
            order.push(node);
        }
    }
    (graph.restrict(&order, &pairs), order)
}

/// Of a best set on such a graph: the best set that has, of nodes that bring and cost the same, the first.
pub(super) fn forward(graph: &Graph, set: &mut [bool]) {
    let same = |one: &usize, other: &usize| {
        graph.needs(*other).map(|arc| graph.head[arc]).eq([*one])
            && (graph.utility[*one], graph.cost[*one]) == (graph.utility[*other], graph.cost[*other])
    };
    let nodes: Vec<usize> = (0..graph.len()).collect();
    for row in nodes.chunk_by(same) {
        let count = row.iter().filter(|&&node| set[node]).count();
        row.iter().enumerate().for_each(|(place, &node)| set[node] = place < count);
    }
}
