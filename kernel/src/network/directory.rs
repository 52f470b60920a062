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

    /// Writes the rows of a node.
    pub(super) fn insert(&mut self, node: &Node) {
        let load = node.load();
        for (capability, state) in &node.capabilities {
            let is_open = state.available && node.status != NodeStatus::Expelled;
            let row = Row { node: node.id.clone(), trust: node.trust, quality: state.quality, load, is_open };
            let is_written = |rows: &[Row]| find(rows, &node.id).is_ok_and(|at| rows.get(at) == Some(&row));
            if is_written(self.rows(capability)) {
                continue;
            }
            let Some(rows) = self.rows.get_mut(capability) else {
                self.rows.insert_mut(capability.clone(), Arc::new(Vec::from([row])));
                continue;
            };
            let found = find(rows, &node.id);
            let rows = Arc::make_mut(rows);
            match found {
                Ok(at) => rows.get_mut(at).into_iter().for_each(|old| *old = row.clone()),
                Err(at) => rows.insert(at, row),
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
