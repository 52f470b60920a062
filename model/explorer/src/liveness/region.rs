//! Where a promise is open: what is reached from where it opened without passing a state that keeps it.

use super::StateGraph;
use super::lasso::Step;

/// The nodes that are reached with the promise open.
pub(super) struct PendingRegion {
    /// In the order of the shortest ways on which the promise is open at the end.
    pub(super) nodes: Vec<u32>,
    /// For each of them the place of the one that it was reached from; or [`OPENED`].
    before: Vec<u32>,
    /// For each explored node its place among `nodes`; or [`OUTSIDE`].
    places: Vec<u32>,
    /// The place of the nearest node from which no step leads on.
    pub(super) dead_end: Option<u32>,
    /// The nearest node of which not all steps are known.
    pub(super) unknown: Option<u32>,
}

/// The promise opens in the node itself.
const OPENED: u32 = u32::MAX;
/// The promise is not open there.
const OUTSIDE: u32 = u32::MAX;

impl PendingRegion {
    /// Goes out in rings: what is reached after so many steps, and what opens after as many.
    pub(super) fn reached(
        explored: &impl StateGraph,
        opens: impl Fn(u32) -> bool,
        keeps: impl Fn(u32) -> bool,
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
            for node in level.clone().filter(|&node| opens(node) && !keeps(node)) {
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
                for edge in edges.filter(|edge| !keeps(edge.to)) {
                    region.add(edge.to, place as u32);
                }
            }
            ring = end;
            level = level.end..first_behind(explored, level.end);
        }
        region
    }

    /// The place of a node that is in it.
    pub(super) fn place(&self, node: u32) -> u32 {
        self.places[node as usize]
    }

    /// For each explored node whether it is in it.
    pub(super) fn everywhere(&self) -> impl Iterator<Item = bool> + '_ {
        self.places.iter().map(|&place| place != OUTSIDE)
    }

    /// A shortest way from an initial node on which the promise is open when the place is reached.
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

/// The first node that is one step further away than those from `level` on, where a level begins.
fn first_behind(explored: &impl StateGraph, level: u32) -> u32 {
    let behind = |&node: &u32| explored.parent(node).is_some_and(|(parent, _)| parent >= level);
    (level..explored.nodes()).find(behind).unwrap_or(explored.nodes())
}
