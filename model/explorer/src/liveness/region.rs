//! The pending region of a property: what its triggers reach without a state that satisfies it.

use super::lasso::Step;
use super::state_graph::StateGraph;

/// The nodes in which the property is pending.
pub(super) struct PendingRegion {
    /// In the order of the shortest paths that end with the property pending.
    pub(super) nodes: Vec<u32>,
    /// The position of each node's predecessor; or [`OPENED`].
    before: Vec<u32>,
    /// The position of each explored node among `nodes`; or [`OUTSIDE`].
    places: Vec<u32>,
    /// The position of the nearest dead end.
    pub(super) dead_end: Option<u32>,
    /// The nearest node whose steps are not all known.
    pub(super) unknown: Option<u32>,
}

/// The node itself triggers the property.
const OPENED: u32 = u32::MAX;
/// The property is not pending there.
const OUTSIDE: u32 = u32::MAX;

impl PendingRegion {
    /// Searches breadth-first: nodes at each distance, and triggers at the same distance.
    pub(super) fn reached(
        explored: &impl StateGraph,
        triggers: impl Fn(u32) -> bool,
        satisfies: impl Fn(u32) -> bool,
    ) -> Self {
        let (graph, nodes) = (explored.graph(), explored.nodes());
        let mut region = Self {
            nodes: Vec::new(),
            before: Vec::new(),
            places: vec![OUTSIDE; nodes as usize],
            dead_end: None,
            unknown: None,
        };
        let (mut ring, mut level) = (0, 0..first_behind(explored, 0));
        while ring < region.nodes.len() || !level.is_empty() {
            for node in level.clone().filter(|&node| triggers(node) && !satisfies(node)) {
                region.add(node, OPENED);
            }
            let end = region.nodes.len();
            for place in ring..end {
                let node = region.nodes[place];
                let mut edges = graph.edges(node).peekable();
                if !graph.is_complete(node) {
                    region.unknown.get_or_insert(node);
                } else if edges.peek().is_none() {
                    region.dead_end.get_or_insert(place as u32);
                }
                for edge in edges.filter(|edge| !satisfies(edge.to)) {
                    region.add(edge.to, place as u32);
                }
            }
            ring = end;
            level = level.end..first_behind(explored, level.end);
        }
        region
    }

    /// The position of a node of the region.
    pub(super) fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// For each explored node, whether it is in the region.
    pub(super) fn everywhere(&self) -> impl Iterator<Item = bool> + '_ {
        self.places.iter().map(|&place| place != OUTSIDE)
    }

    /// A shortest path from an initial node on which the property is pending at the end.
    pub(super) fn stem(&self, explored: &impl StateGraph, mut place: u32) -> Vec<Step> {
        let mut stem = Vec::new();
        while self.before[place as usize] != OPENED {
            let (before, to) = (self.before[place as usize], self.nodes[place as usize]);
            let node = self.nodes[before as usize];
            let position = explored.graph().edges(node).position(|edge| edge.to == to);
            stem.push(Step { node, position: position.expect("the place was reached by an edge") as u16 });
            place = before;
        }
        let mut opened = self.nodes[place as usize];
        while let Some((node, position)) = explored.parent(opened) {
            stem.push(Step { node, position });
            opened = node;
        }
        stem.reverse();
        stem
    }

    fn add(&mut self, node: u32, before: u32) {
        let place = &mut self.places[node as usize];
        if *place == OUTSIDE {
            *place = self.nodes.len() as u32;
            self.nodes.push(node);
            self.before.push(before);
        }
    }
}

/// The first node of the depth after the one that begins at `level`.
fn first_behind(explored: &impl StateGraph, level: u32) -> u32 {
    let behind = |&node: &u32| explored.parent(node).is_some_and(|(parent, _)| parent >= level);
    (level..explored.nodes()).find(behind).unwrap_or(explored.nodes())
}
