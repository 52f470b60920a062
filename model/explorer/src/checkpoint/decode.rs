//! Restores a search from the content of a checkpoint, and compares the states of its frontier with their fingerprints.

use super::encode::{KEPT, TRUNCATED};
use super::{Checkpoint, CheckpointError};
use crate::fingerprint::fingerprint;
use crate::graph::{Edge, Graph};
use crate::liveness::CLASSES;
use crate::model::FairModel;
use crate::observations::ObservationSet;
use crate::path::Witness;
use crate::property_bits::{PropertyBits, row_len};
use crate::search::Search;
use crate::state_queue::StateQueue;
use crate::visited::{NONE, Visited};
use std::hash::Hash;

/// Restores a search that visited its initial states.
pub(super) fn restore<M: FairModel>(
    search: &mut Search<'_, M>,
    content: &[u8],
    checkpoint: &Checkpoint,
) -> Result<(), CheckpointError>
where
    M::State: Hash,
{
    let mut content = Content { rest: content };
    content.restore(search).map_err(|problem| CheckpointError::OtherModel {
        file: checkpoint.file.clone(),
        problem: problem.to_owned(),
    })
}

/// What does not fit the model.
type Problem = &'static str;

struct Content<'a> {
    rest: &'a [u8],
}

impl<'a> Content<'a> {
    fn restore<M: FairModel>(&mut self, search: &mut Search<'_, M>) -> Result<(), Problem>
    where
        M::State: Hash,
    {
        let (nodes, expanded, level_end) = (self.u32()?, self.u32()?, self.u32()?);
        ensure(expanded <= nodes && level_end <= nodes, "more states were expanded than visited")?;
        let [generated, cut_at_boundary, collisions, bytes] =
            [self.u64()?, self.u64()?, self.u64()?, self.u64()?];
        let (visited, fingerprints) = self.visited(nodes)?;
        for node in 0..search.states.len() as u32 {
            let same =
                search.found.visited.fingerprints().get(node as usize) == fingerprints.get(node as usize);
            ensure(same && visited.from(node).0 == NONE, "other initial states")?;
        }
        let levels = self.list(|content| content.u32())?;
        let witnesses = self.list(Self::witness)?;
        ensure(witnesses.len() == search.found.witnesses.len(), "another number of observations")?;
        ensure(
            witnesses.iter().flatten().all(|witness| witness.node < nodes),
            "an observation of an unknown state",
        )?;
        let properties = search.properties.len();
        let triggered = self.bits(properties, expanded)?;
        let satisfied = self.bits(properties, expanded)?;
        let graph = self.graph(nodes)?;
        let mut states = StateQueue::starting_at(expanded);
        for node in expanded..nodes {
            let packed = self.bytes()?;
            let state = search.model.unpack(packed).map(|state| fingerprint(&state));
            let same = state.as_ref() == fingerprints.get(node as usize);
            ensure(same, "a packed state unpacks to another state")?;
            states.push_packed(packed);
        }
        let counts = self.bytes()?;
        ensure(self.rest.is_empty(), "more content than expected")?;
        ensure(search.model.restore_counts(counts), "other counts of the model")?;
        let mut seen = ObservationSet::empty(witnesses.len());
        let shown = witnesses.iter().enumerate().filter(|(_, witness)| witness.is_some());
        shown.for_each(|(observation, _)| seen.insert(observation));
        let found = &mut search.found;
        (found.visited, found.levels, found.witnesses, found.graph) = (visited, levels, witnesses, graph);
        (found.triggered, found.satisfied, found.expanded) = (triggered, satisfied, expanded);
        (found.generated, found.cut_at_boundary, found.collisions) = (generated, cut_at_boundary, collisions);
        found.bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        (search.states, search.seen, search.level_end) = (states, seen, level_end);
        Ok(())
    }

    fn visited(&mut self, nodes: u32) -> Result<(Visited, Vec<u64>), Problem> {
        let (mut visited, mut fingerprints) = (Visited::new(), Vec::new());
        for node in 0..nodes {
            let (fingerprint, parent, position) = (self.u64()?, self.u32()?, self.u16()?);
            ensure(parent < node || parent == NONE, "a state before its parent")?;
            let Err(free) = visited.find(fingerprint, |_| true) else { return Err("a state occurs twice") };
            let inserted = visited.insert(fingerprint, free, (parent, position));
            ensure(inserted.is_ok(), "too many states")?;
            fingerprints.push(fingerprint);
        }
        Ok((visited, fingerprints))
    }

    fn witness(&mut self) -> Result<Option<Witness>, Problem> {
        let (node, action) = (self.u32()?, self.u32()?);
        Ok((node != u32::MAX).then_some(Witness { node, action: (action != u32::MAX).then_some(action) }))
    }

    fn bits(&mut self, properties: usize, expanded: u32) -> Result<PropertyBits, Problem> {
        let bytes = self.bytes()?;
        let expected = row_len(properties) * expanded as usize;
        ensure(bytes.len() == expected, "another number of liveness properties")?;
        let mut bits = PropertyBits::new(properties);
        bits.push(bytes);
        Ok(bits)
    }

    fn graph(&mut self, nodes: u32) -> Result<Graph, Problem> {
        let (mut graph, mut edges) = (Graph::default(), Vec::new());
        let len = self.len()?;
        ensure(len <= nodes as usize, "edges of unknown states")?;
        for node in 0..len as u32 {
            let [flags] = self.array()?;
            edges.clear();
            for _ in 0..self.len()? {
                let (to, [class]) = (self.u32()?, self.array()?);
                ensure(to < nodes && class < CLASSES, "an edge to an unknown state")?;
                edges.push(Edge { class, to });
            }
            if flags & KEPT != 0 {
                graph.push(node, &edges, flags & TRUNCATED != 0);
            }
        }
        Ok(graph)
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
        let len = self.len()?;
        (0..len).map(|_| item(self)).collect()
    }

    fn bytes(&mut self) -> Result<&'a [u8], Problem> {
        let len = self.len()?;
        self.take(len)
    }

    fn len(&mut self) -> Result<usize, Problem> {
        usize::try_from(self.u64()?).map_err(|_| MISSING)
    }

    fn u64(&mut self) -> Result<u64, Problem> {
        self.array().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Problem> {
        self.array().map(u32::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, Problem> {
        self.array().map(u16::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        self.take(N)?.first_chunk().copied().ok_or(MISSING)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], Problem> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(MISSING)?;
        self.rest = rest;
        Ok(taken)
    }
}

const MISSING: Problem = "less content than expected";

fn ensure(holds: bool, problem: Problem) -> Result<(), Problem> {
    if holds { Ok(()) } else { Err(problem) }
}
