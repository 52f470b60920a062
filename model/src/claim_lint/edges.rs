//! Edges of a graph, and the classes of nodes from which the claims see the same runs.

use super::graph::count;
use rustc_hash::FxHashMap;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// The word of its letters.
    pub(super) word: u32,
    /// Of a node: the position among the inputs of its state. Of a class: the position among its edges.
    pub(super) position: u16,
    /// A request ends.
    pub(super) ends: bool,
}

/// The edges of each node, in the order of the nodes.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// The end of the edges of each node.
    ends: Vec<u32>,
    edges: Vec<Edge>,
}

impl Edges {
    /// Adds an edge of the next node.
    pub(super) fn push(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// Ends the edges of a node.
    pub(super) fn end_node(&mut self) {
        self.ends.push(count(self.edges.len()));
    }

    /// The number of nodes.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The edges of a node.
    pub(super) fn of(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        let start =
            node.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        let end = self.ends.get(node).map_or(start, |end| *end as usize);
        self.edges.get(start..end).unwrap_or(&[])
    }

    /// The nodes with an edge to each node, once for each edge.
    fn sources(&self) -> Vec<Vec<u32>> {
        let mut sources = vec![Vec::new(); self.len()];
        for node in 0..count(self.len()) {
            for edge in self.of(node) {
                sources[edge.to as usize].push(node);
            }
        }
        sources
    }

    /// The nodes from which a path leads to such an edge, or over it.
    pub(super) fn nodes_before(&self, is_goal: impl Fn(&Edge) -> bool) -> Vec<bool> {
        let mut before: Vec<bool> =
            (0..count(self.len())).map(|node| self.of(node).iter().any(&is_goal)).collect();
        let mut open: Vec<u32> =
            (0..).zip(&before).filter(|(_, before)| **before).map(|(node, _)| node).collect();
        let mut sources = self.sources();
        while let Some(node) = open.pop() {
            for source in std::mem::take(&mut sources[node as usize]) {
                if !std::mem::replace(&mut before[source as usize], true) {
                    open.push(source);
                }
            }
        }
        before
    }
}

/// Classes of nodes: from two nodes of a class, the same words lead to the same classes. So the products of the classes with monitors have the
/// runs of the products of the nodes, and are much smaller. Nodes from which a cycle can be reached have a class each.
#[derive(Debug)]
pub(super) struct Classes {
    /// The class of each node. Node 0 is of class 0.
    of_node: Vec<u32>,
    /// The different edges of each class, in the order of its first node.
    pub(super) edges: Edges,
}

/// What a step says of the class of its node: the word, whether a request ends, and the class after it.
type Look = (u32, bool, u32);

impl Classes {
    pub(super) fn of(nodes: &Edges) -> Self {
        let found = merged(nodes);
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        let (mut of_node, mut first_nodes) = (Vec::with_capacity(nodes.len()), Vec::new());
        for (node, class) in (0..).zip(&found) {
            let next = count(first_nodes.len());
            let number = *numbers.entry(*class).or_insert(next);
            if number == next {
                first_nodes.push(node);
            }
            of_node.push(number);
        }
        let mut edges = Edges::default();
        for node in first_nodes {
            let mut looks: Vec<Look> = Vec::new();
            for edge in nodes.of(node) {
                let to = of_node[edge.to as usize];
                let look = (edge.word, edge.ends, to);
                if looks.contains(&look) {
                    continue;
                }
                let position = u16::try_from(looks.len()).unwrap_or(u16::MAX);
                edges.push(Edge { to, position, ..*edge });
                looks.push(look);
            }
            edges.end_node();
        }
        Self { of_node, edges }
    }

    /// The first edge of a node that looks like this edge of its class.
    pub(super) fn edge_of<'n>(&self, nodes: &'n Edges, node: u32, like: Edge) -> Option<&'n Edge> {
        nodes.of(node).iter().find(|edge| {
            (edge.word, edge.ends) == (like.word, like.ends)
                && self.of_node.get(edge.to as usize) == Some(&like.to)
        })
    }
}

/// A class of each node, from the last nodes of runs to the first. An edge from a node to itself leads to its own class.
fn merged(nodes: &Edges) -> Vec<u32> {
    const ITSELF: u32 = u32::MAX;
    let is_further = |node: u32, edge: &&Edge| edge.to != node;
    // The edges to nodes that have no class yet.
    let mut left: Vec<usize> = (0..count(nodes.len()))
        .map(|node| nodes.of(node).iter().filter(|edge| is_further(node, edge)).count())
        .collect();
    let mut sources = nodes.sources();
    let mut open: Vec<u32> = (0..).zip(&left).filter(|(_, left)| **left == 0).map(|(node, _)| node).collect();
    let mut classes: FxHashMap<Vec<Look>, u32> = FxHashMap::default();
    let mut found: Vec<Option<u32>> = vec![None; nodes.len()];
    while let Some(node) = open.pop() {
        let class_of = |to: u32| if to == node { ITSELF } else { found[to as usize].unwrap_or(ITSELF) };
        let mut looks: Vec<Look> =
            nodes.of(node).iter().map(|edge| (edge.word, edge.ends, class_of(edge.to))).collect();
        looks.sort_unstable();
        looks.dedup();
        let next = count(classes.len());
        found[node as usize] = Some(*classes.entry(looks).or_insert(next));
        for source in std::mem::take(&mut sources[node as usize]).into_iter().filter(|source| *source != node)
        {
            left[source as usize] -= 1;
            if left[source as usize] == 0 {
                open.push(source);
            }
        }
    }
    let unmerged = count(classes.len())..;
    let mut unmerged = unmerged.into_iter();
    found.into_iter().map(|class| class.or_else(|| unmerged.next()).unwrap_or(ITSELF)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(nodes: &[&[(u32, u32)]]) -> Edges {
        let mut edges = Edges::default();
        for node in nodes {
            for (position, (to, word)) in (0..).zip(*node) {
                edges.push(Edge { to: *to, word: *word, position, ends: false });
            }
            edges.end_node();
        }
        edges
    }

    #[test]
    fn nodes_with_the_same_runs_have_one_class() {
        // 1 and 2 lead to the last nodes 3 and 4 by the same word; 5 stays at itself, and 6 and 7 form a cycle.
        let nodes = edges(&[
            &[(1, 1), (2, 1), (5, 2)],
            &[(3, 7)],
            &[(4, 7), (3, 7)],
            &[],
            &[],
            &[(5, 9)],
            &[(7, 1)],
            &[(6, 1)],
        ]);
        let classes = Classes::of(&nodes);
        assert_eq!(classes.of_node, [0, 1, 1, 2, 2, 3, 4, 5]);
        let of = |class| classes.edges.of(class).iter().map(|edge| (edge.to, edge.word)).collect::<Vec<_>>();
        assert_eq!((of(0), of(1), of(3)), (vec![(1, 1), (3, 2)], vec![(2, 7)], vec![(3, 9)]));
        let like = classes.edges.of(1)[0];
        assert_eq!(
            classes.edge_of(&nodes, 2, like),
            Some(&Edge { to: 4, word: 7, position: 0, ends: false })
        );
        assert_eq!(classes.edge_of(&nodes, 5, like), None);
        let other = edges(&[&[(1, 1), (2, 1)], &[(3, 7)], &[(3, 8)], &[]]);
        assert_eq!(Classes::of(&other).of_node, [0, 1, 2, 3]);
    }
}
