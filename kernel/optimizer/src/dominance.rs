//! Dominance between nodes.
//!
//! Of two nodes with the same dependencies and no dependents, the one with at least the utility and at most the cost
//! can replace the other in every set (dominated items: Kellerer, Pferschy and Pisinger, 2004). If both are equal, the
//! one with the smaller position comes first. The first optimal set contains the dominated node only together with the
//! dominating one. So the dominated node may depend on the dominating one, which leaves few decisions among many alike
//! nodes.

use super::condense::Graph;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Builds the graph of some nodes, given in ascending order, in which a dominated node depends on a dominating one
/// instead of their common dependencies. Returns it with its nodes in their new order.
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
        // Of the nodes with at most this cost, the last of each utility.
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

/// Moves an optimal set of such a graph forward: among equal nodes, it takes the first ones.
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
