//! What nodes publish, by capability: contiguous rows that a routing decision reads instead of the nodes.

use super::Map;
use super::node::{Node, NodeStatus};
use crate::ids::{CapabilityId, NodeId};
use crate::score::Score;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// What one node publishes of one capability.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Row {
    pub(super) node: NodeId,
    pub(super) trust: Score,
    pub(super) quality: Score,
    pub(super) load: Score,
    /// Whether the node is not expelled and the capability is available.
    pub(super) is_open: bool,
}

/// What one node publishes of all its capabilities, in their order.
pub(super) struct Published {
    trust: Score,
    load: Score,
    is_expelled: bool,
    /// The quality of each capability, and whether it is available.
    capabilities: Vec<(CapabilityId, Score, bool)>,
}

impl Published {
    /// Returns what a node publishes now.
    pub(super) fn new(node: &Node) -> Self {
        let capabilities = node.capabilities.iter();
        Self {
            trust: node.trust,
            load: node.load(),
            is_expelled: node.status == NodeStatus::Expelled,
            capabilities: capabilities.map(|(id, held)| (id.clone(), held.quality, held.available)).collect(),
        }
    }

    /// Whether the node publishes the same still.
    pub(super) fn is_still(&self, node: &Node) -> bool {
        let capabilities = self.capabilities.iter().map(|(id, quality, available)| (id, quality, available));
        (self.trust, self.load, self.is_expelled)
            == (node.trust, node.load(), node.status == NodeStatus::Expelled)
            && capabilities
                .eq(node.capabilities.iter().map(|(id, held)| (id, &held.quality, &held.available)))
    }

    /// Returns the capabilities.
    pub(super) fn capabilities(&self) -> impl Iterator<Item = &CapabilityId> {
        self.capabilities.iter().map(|(capability, _, _)| capability)
    }
}

/// The rows of each capability in the order of node ids. They follow from the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Directory {
    rows: Map<CapabilityId, Arc<Vec<Row>>>,
}

impl Directory {
    /// Returns the rows of a capability.
    pub(super) fn rows(&self, capability: &CapabilityId) -> &[Row] {
        self.rows.get(capability).map_or(&[], |rows| rows)
    }

    /// Writes the rows of a node. A row that stays equal is not copied.
    pub(super) fn insert(&mut self, node: &Node) {
        let load = node.load();
        for (capability, state) in &node.capabilities {
            let is_open = state.available && node.status != NodeStatus::Expelled;
            let (trust, quality) = (node.trust, state.quality);
            let known = self.rows(capability);
            let place = find(known, &node.id);
            let old = place.ok().and_then(|at| known.get(at));
            if old.is_some_and(|old| {
                (old.trust, old.quality, old.load, old.is_open) == (trust, quality, load, is_open)
            }) {
                continue;
            }
            let Some(rows) = self.rows.get_mut(capability) else {
                let row = Row { node: node.id.clone(), trust, quality, load, is_open };
                self.rows.insert_mut(capability.clone(), Arc::new(Vec::from([row])));
                continue;
            };
            let rows = Arc::make_mut(rows);
            match place {
                Ok(at) => {
                    if let Some(row) = rows.get_mut(at) {
                        (row.trust, row.quality, row.load, row.is_open) = (trust, quality, load, is_open);
                    }
                }
                Err(at) => rows.insert(at, Row { node: node.id.clone(), trust, quality, load, is_open }),
            }
        }
    }

    /// Removes the rows of a node for these capabilities.
    pub(super) fn remove<'a>(
        &mut self,
        node: &NodeId,
        capabilities: impl IntoIterator<Item = &'a CapabilityId>,
    ) {
        for capability in capabilities {
            let Some(rows) = self.rows.get_mut(capability) else { continue };
            if let Ok(at) = find(rows, node) {
                Arc::make_mut(rows).remove(at);
            }
            if rows.is_empty() {
                self.rows.remove_mut(capability);
            }
        }
    }
}

/// Finds the row of a node, or its place.
fn find(rows: &[Row], node: &NodeId) -> Result<usize, usize> {
    match rows.last() {
        // Nodes are often added in the order of ids.
        Some(last) if last.node < *node => Err(rows.len()),
        _ => rows.binary_search_by(|row| row.node.cmp(node)),
    }
}
