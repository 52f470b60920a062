//! The graph of explored states, five bytes for each edge, on which liveness is checked.
//!
//! Nodes are numbered in breadth-first order, and their edges are appended in this order. No edge is removed, and
//! growth copies nothing. The graph does not know the states behind the numbers, nor the actions of the edges.

use crate::liveness::CLASSES;
use std::collections::BTreeMap;
use std::ops::Range;

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The fairness class of the step, below [`CLASSES`].
    pub class: u8,
    /// The successor.
    pub to: u32,
}

/// Nodes with their outgoing edges.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The target and the class of each edge.
    edges: ChunkedVec<[u8; 5]>,
    blocks: ChunkedVec<Block>,
    len: usize,
    /// The degrees that do not fit into a byte.
    many: BTreeMap<u32, u32>,
}

/// A block of nodes with a common start. The start of a node follows from the degrees of its predecessors.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// The position of the first edge.
    start: u64,
    /// The degree of each node: [`NOT_KEPT`], the degree plus one, or [`MANY`]; with the flag [`CUT`].
    degrees: [u8; BLOCK],
}

const BLOCK: usize = 16;
/// The edges of the node were not kept.
const NOT_KEPT: u8 = 0;
/// The degree is stored in `many`.
const MANY: u8 = CUT - 1;
/// The node has further steps that were not kept.
const CUT: u8 = 0x80;
/// The position of an edge within its node fits into 16 bits.
const DEGREE_MAX: usize = 1 << 16;

impl Graph {
    /// Appends a node with all its edges, in the order of their positions. `cut` observations further steps whose successors
    /// were not explored. Skipped nodes are not kept.
    ///
    /// # Panics
    ///
    /// If this node or a later one was appended before, if it has more than 65,536 edges, or if a class is not below
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
        for &Edge { class, to } in edges {
            assert!(class < CLASSES, "there is no class {class}, only {CLASSES} from 0 on");
            let [a, b, c, d] = to.to_le_bytes();
            self.edges.push([a, b, c, d, class]);
        }
    }

    /// The outgoing edges of a node, in the order of their positions; none if they were not kept.
    pub fn edges(&self, node: u32) -> impl Iterator<Item = Edge> + '_ {
        self.places(node).map(|place| self.edge(place))
    }

    /// Whether the edges of the node were kept. A kept node without edges that is not truncated is a dead end.
    #[must_use]
    pub fn has_edges(&self, node: u32) -> bool {
        self.stored(node) != NOT_KEPT
    }

    /// Whether the node has further steps whose successors were not explored.
    #[must_use]
    pub fn is_truncated(&self, node: u32) -> bool {
        self.stored(node) & CUT != 0
    }

    /// Whether all steps of the node are known.
    #[must_use]
    pub fn is_complete(&self, node: u32) -> bool {
        self.has_edges(node) && !self.is_truncated(node)
    }

    /// One more than the number of the last appended node.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether no node was appended.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of edges.
    #[must_use]
    pub const fn edge_count(&self) -> usize {
        self.edges.len
    }

    /// The memory of the graph in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.edges.bytes() + self.blocks.bytes() + self.many.len() * size_of::<(u32, u32)>()
    }

    /// The positions of a node's edges.
    #[inline]
    pub fn places(&self, node: u32) -> Range<usize> {
        let Some(block) = self.blocks.get(node as usize / BLOCK) else { return 0..0 };
        let place = node as usize % BLOCK;
        let before = (node - place as u32..).zip(&block.degrees[..place]);
        let start =
            block.start as usize + before.map(|(node, &stored)| self.degree(node, stored)).sum::<usize>();
        start..start + self.degree(node, block.degrees[place])
    }

    /// The edge at a position.
    #[inline]
    pub fn edge(&self, place: usize) -> Edge {
        let &[a, b, c, d, class] = self.edges.at(place);
        Edge { class, to: u32::from_le_bytes([a, b, c, d]) }
    }

    fn push_degree(&mut self, stored: u8) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(Block { start: self.edge_count() as u64, degrees: [NOT_KEPT; BLOCK] });
        }
        if let Some(block) = self.blocks.last_mut() {
            block.degrees[self.len % BLOCK] = stored;
            self.len += 1;
        }
    }

    #[inline]
    fn stored(&self, node: u32) -> u8 {
        self.blocks.get(node as usize / BLOCK).map_or(NOT_KEPT, |block| block.degrees[node as usize % BLOCK])
    }

    #[inline]
    fn degree(&self, node: u32, stored: u8) -> usize {
        match stored & !CUT {
            NOT_KEPT => 0,
            MANY => self.many.get(&node).map_or(0, |&degree| degree as usize),
            more => usize::from(more) - 1,
        }
    }
}

/// A list in chunks of equal length, so that growth copies nothing.
#[derive(Clone, Debug)]
pub(super) struct ChunkedVec<T> {
    pieces: Vec<Vec<T>>,
    len: usize,
}

/// The elements of a chunk.
const CHUNK_LEN: usize = 1 << 14;

impl<T> Default for ChunkedVec<T> {
    fn default() -> Self {
        Self { pieces: Vec::new(), len: 0 }
    }
}

impl<T> ChunkedVec<T> {
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.len.is_multiple_of(CHUNK_LEN) {
            self.pieces.push(Vec::with_capacity(CHUNK_LEN));
        }
        if let Some(last) = self.pieces.last_mut() {
            last.push(value);
            self.len += 1;
        }
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.pieces.get(place / CHUNK_LEN)?.get(place % CHUNK_LEN)
    }

    #[inline]
    pub(super) fn at(&self, place: usize) -> &T {
        &self.pieces[place / CHUNK_LEN][place % CHUNK_LEN]
    }

    fn last_mut(&mut self) -> Option<&mut T> {
        self.pieces.last_mut()?.last_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.pieces.len() * CHUNK_LEN * size_of::<T>() + self.pieces.capacity() * size_of::<Vec<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(targets: &[u32]) -> Vec<Edge> {
        targets.iter().map(|&to| Edge { class: (to % u32::from(CLASSES)) as u8, to }).collect()
    }

    #[test]
    fn dead_end_is_kept_and_not_truncated() {
        let mut graph = Graph::default();
        graph.push(1, &[], false);
        graph.push(2, &to(&[7, 3]), true);
        let said = |node| (graph.has_edges(node), graph.is_truncated(node), graph.edges(node).count());
        assert_eq!(
            [0, 1, 2, 3].map(said),
            [(false, false, 0), (true, false, 0), (true, true, 2), (false, false, 0)]
        );
        assert_eq!((graph.len(), graph.edge_count()), (3, 2));
    }

    #[test]
    fn every_edge_is_retrievable() {
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
            assert_eq!(
                (graph.has_edges(node), graph.is_truncated(node)),
                (kept, kept && node % 3 == 0),
                "node {node}"
            );
        }
    }

    #[test]
    fn edge_takes_five_bytes() {
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
