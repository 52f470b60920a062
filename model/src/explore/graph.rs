//! The steps between explored states, five bytes each: what liveness is judged on.
//!
//! Nodes are numbered in breadth-first order, and their steps are appended in that order. No step is taken away again,
//! and nothing is copied while the graph grows. Which states are behind the numbers, and by which actions the steps go,
//! is not told here.

use crate::liveness::CLASSES;
use std::collections::BTreeMap;

/// One step out of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Whose obligation the step was, below [`CLASSES`].
    pub class: u8,
    /// The node it leads to.
    pub to: u32,
}

/// Nodes and the edges out of them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    targets: Pieces<u32>,
    classes: Pieces<u8>,
    /// For each [`BLOCK`] of nodes, which edge is their first.
    starts: Vec<u64>,
    /// For each node how many edges it has, as [`NOT_KEPT`], one more than so many, or [`MANY`]; and whether it is [`CUT`].
    degrees: Pieces<u8>,
    /// The degrees that do not fit into a byte.
    many: BTreeMap<u32, u32>,
}

/// So many nodes share one start; the degrees of those before a node in its block are added up.
const BLOCK: usize = 16;
/// The node's edges were not kept.
const NOT_KEPT: u8 = 0;
/// The node's degree stands elsewhere.
const MANY: u8 = CUT - 1;
/// There were more steps than were kept.
const CUT: u8 = 0x80;
/// A position among the edges of one node fits into 16 bits.
const DEGREE_MAX: usize = 1 << 16;

impl Graph {
    /// Appends a node with all its edges, in the order of their positions; `cut` says that there are further steps whose
    /// ends were not explored. The nodes that were skipped before it are not kept.
    ///
    /// # Panics
    /// If the node, or one behind it, was appended before, if it has more than 65,536 edges, or if a class is not below
    /// [`CLASSES`].
    pub fn push(&mut self, node: u32, edges: &[Edge], cut: bool) {
        assert!(node as usize >= self.len(), "nodes are appended in their order, each once");
        assert!(edges.len() <= DEGREE_MAX, "node {node} has {} edges, more than {DEGREE_MAX}", edges.len());
        while self.len() < node as usize {
            self.push_degree(NOT_KEPT);
        }
        let degree = match u8::try_from(edges.len() + 1) {
            Ok(more) if more < MANY => more,
            _ => {
                self.many.insert(node, edges.len() as u32);
                MANY
            }
        };
        self.push_degree(degree | if cut { CUT } else { 0 });
        for edge in edges {
            assert!(edge.class < CLASSES, "there is no class {}, only {CLASSES} from 0 on", edge.class);
            self.targets.push(edge.to);
            self.classes.push(edge.class);
        }
    }

    /// The edges out of a node, in the order of their positions; none where they were not kept.
    pub fn edges(&self, node: u32) -> impl Iterator<Item = Edge> + '_ {
        let first = self.first(node);
        (first..first + self.degree(node)).map(|place| self.edge(place))
    }

    /// Whether the node's edges were kept. A kept node without edges that is not cut is a dead end.
    #[must_use]
    pub fn kept(&self, node: u32) -> bool {
        self.degrees.get(node as usize).is_some_and(|&degree| degree != NOT_KEPT)
    }

    /// Whether the node has further steps, whose ends were not explored.
    #[must_use]
    pub fn cut(&self, node: u32) -> bool {
        self.degrees.get(node as usize).is_some_and(|degree| degree & CUT != 0)
    }

    /// One more than the last node that was appended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.degrees.len
    }

    /// Whether no node was appended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many edges were kept.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.targets.len
    }

    /// The memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let many = self.many.len() * size_of::<(u32, u32)>();
        let starts = self.starts.capacity() * size_of::<u64>();
        self.targets.bytes() + self.classes.bytes() + self.degrees.bytes() + starts + many
    }

    /// How many edges a node has.
    pub(crate) fn degree(&self, node: u32) -> usize {
        self.degrees.get(node as usize).map_or(0, |&degree| self.read(node, degree))
    }

    /// The place of a node's first edge; the others stand behind it.
    pub(crate) fn first(&self, node: u32) -> usize {
        let from = node as usize / BLOCK * BLOCK;
        let Some(&start) = self.starts.get(node as usize / BLOCK) else { return self.edge_count() };
        let before = (from..node as usize).map(|before| self.degree(before as u32));
        start as usize + before.sum::<usize>()
    }

    /// The edge at a place, which comes from [`Graph::first`].
    pub(crate) fn edge(&self, place: usize) -> Edge {
        Edge { class: *self.classes.at(place), to: *self.targets.at(place) }
    }

    fn push_degree(&mut self, degree: u8) {
        if self.len().is_multiple_of(BLOCK) {
            self.starts.push(self.edge_count() as u64);
        }
        self.degrees.push(degree);
    }

    fn read(&self, node: u32, degree: u8) -> usize {
        match degree & !CUT {
            NOT_KEPT => 0,
            MANY => self.many.get(&node).map_or(0, |&degree| degree as usize),
            more => usize::from(more) - 1,
        }
    }
}

/// A long list in pieces, so that growing copies nothing.
#[derive(Clone, Debug)]
pub(super) struct Pieces<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

/// Elements a piece.
const PIECE: usize = 1 << 16;

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }
}

impl<T> Pieces<T> {
    pub(super) fn push(&mut self, value: T) {
        if self.len.is_multiple_of(PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        if let Some(last) = self.pieces.last_mut() {
            last.push(value);
            self.len += 1;
        }
    }

    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.pieces.get(place / PIECE)?.get(place % PIECE)
    }

    pub(super) fn at(&self, place: usize) -> &T {
        &self.pieces[place / PIECE][place % PIECE]
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.pieces.len() * PIECE * size_of::<T>() + self.pieces.capacity() * size_of::<Vec<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(targets: &[u32]) -> Vec<Edge> {
        targets.iter().map(|&to| Edge { class: (to % u32::from(CLASSES)) as u8, to }).collect()
    }

    #[test]
    fn a_dead_end_is_neither_cut_nor_left_out() {
        let mut graph = Graph::default();
        graph.push(1, &[], false);
        graph.push(2, &to(&[7, 3]), true);
        let said = |node| (graph.kept(node), graph.cut(node), graph.edges(node).count());
        assert_eq!(
            [0, 1, 2, 3].map(said),
            [(false, false, 0), (true, false, 0), (true, true, 2), (false, false, 0)]
        );
        assert_eq!((graph.len(), graph.edge_count()), (3, 2));
    }

    #[test]
    fn every_edge_is_found_again() {
        let degree = |node: u32| match node % 1_000 {
            7 => 0,
            500 => 124,
            501 => 125,
            502 => 126,
            503 => 127,
            504 => 300,
            other => other % 4,
        };
        let edges = |node: u32| to(&(0..degree(node)).map(|i| node * 31 + i).collect::<Vec<_>>());
        let nodes = || (0..100_000).filter(|node| node % 5 != 3);
        let mut graph = Graph::default();
        nodes().for_each(|node| graph.push(node, &edges(node), node % 3 == 0));
        for node in 0..100_000 {
            let kept = node % 5 != 3;
            let expected = if kept { edges(node) } else { Vec::new() };
            assert_eq!(graph.edges(node).collect::<Vec<_>>(), expected, "node {node}");
            assert_eq!((graph.kept(node), graph.cut(node)), (kept, kept && node % 3 == 0), "node {node}");
        }
    }

    #[test]
    fn an_edge_takes_five_bytes_and_a_node_one_and_a_half() {
        let mut graph = Graph::default();
        let (nodes, edges) = (1_000_000_u32, [Edge { class: 1, to: 2 }; 3]);
        (0..nodes).for_each(|node| graph.push(node, &edges, false));
        let expected = 5 * graph.edge_count() + 3 * nodes as usize / 2;
        assert!(graph.bytes() < expected * 11 / 10, "{} bytes instead of {expected}", graph.bytes());
    }

    #[test]
    #[should_panic(expected = "nodes are appended in their order")]
    fn a_node_is_appended_once() {
        let mut graph = Graph::default();
        graph.push(0, &[], false);
        graph.push(0, &[], false);
    }
}
