//! The content of a checkpoint: little-endian numbers and lists with their lengths, in the order in which
//! [`decode`](super::decode) reads them.

use crate::model::FairModel;
use crate::path::Witness;
use crate::search::Search;
use std::io::{self, Write};

/// The flags of a node in the graph.
pub(super) const KEPT: u8 = 1;
pub(super) const TRUNCATED: u8 = 2;

/// Writes what a search knows between two batches.
pub(super) fn write<M: FairModel>(search: &Search<'_, M>, out: &mut dyn Write) -> io::Result<()> {
    let found = &search.found;
    let nodes = found.visited.len() as u32;
    for number in [nodes, found.expanded, search.level_end] {
        out.write_all(&number.to_le_bytes())?;
    }
    for number in [found.generated, found.cut_at_boundary, found.collisions, found.bytes as u64] {
        out.write_all(&number.to_le_bytes())?;
    }
    for (node, fingerprint) in found.visited.fingerprints().into_iter().enumerate() {
        let (parent, position) = found.visited.from(node as u32);
        out.write_all(&fingerprint.to_le_bytes())?;
        out.write_all(&parent.to_le_bytes())?;
        out.write_all(&position.to_le_bytes())?;
    }
    write_len(out, found.levels.len())?;
    found.levels.iter().try_for_each(|level| out.write_all(&level.to_le_bytes()))?;
    write_len(out, found.witnesses.len())?;
    for witness in &found.witnesses {
        // A node is never the largest number, and an action is a position of 16 bits.
        let Witness { node, action } = witness.unwrap_or(Witness { node: u32::MAX, action: None });
        out.write_all(&node.to_le_bytes())?;
        out.write_all(&action.unwrap_or(u32::MAX).to_le_bytes())?;
    }
    for bits in [&found.triggered, &found.satisfied] {
        write_len(out, bits.len())?;
        bits.iter().try_for_each(|byte| out.write_all(&[byte]))?;
    }
    write_len(out, found.graph.len())?;
    for node in 0..found.graph.len() as u32 {
        let (kept, truncated) = (found.graph.has_edges(node), found.graph.is_truncated(node));
        out.write_all(&[(u8::from(kept) * KEPT) | (u8::from(truncated) * TRUNCATED)])?;
        write_len(out, found.graph.places(node).len())?;
        for edge in found.graph.edges(node) {
            out.write_all(&edge.to.to_le_bytes())?;
            out.write_all(&[edge.class])?;
        }
    }
    for node in found.expanded..nodes {
        write_bytes(out, search.states.block(node).packed(node))?;
    }
    let mut counts = Vec::new();
    search.model.save_counts(&mut counts);
    write_bytes(out, &counts)
}

fn write_bytes(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    write_len(out, bytes.len())?;
    out.write_all(bytes)
}

fn write_len(out: &mut dyn Write, len: usize) -> io::Result<()> {
    out.write_all(&(len as u64).to_le_bytes())
}
