//! Numbers new states in the order of a sequential search.

use super::batch::{Batch, ExpandedState, NewState, Step, Successor};
use super::error::{ExpandError, ExpandErrorKind};
use super::expand::Expander;
use super::graph::Edge;
use super::model::FairModel;
use super::options::{Progress, Resource, StateStorage, Termination};
use super::path::Witness;
use super::property_bits::row_len;
use super::search::Search;
use super::visited::{IdsExhausted, InsertPosition, NONE, SlotRef};
use std::fmt::Debug;
use std::hash::Hash;

/// The number of steps between the prefetch of a new state's slot and its use.
const AHEAD: usize = 8;

impl<M> Search<'_, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    /// Numbers the new states among the successors of a batch. Looks up those that were not observed up before.
    pub(super) fn number(
        &mut self,
        expander: &mut Expander<M>,
        batch: &mut Batch,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Termination>, ExpandError> {
        if let Some(why) = self.exceeded_limit(progress) {
            return Ok(Some(self.cut(why)));
        }
        let mut nexts = std::mem::take(&mut expander.nexts);
        let ended = expander.catch_panic(|expander| self.number_all(expander, &mut nexts, batch))?;
        expander.nexts = nexts;
        match ended {
            None => batch.fault.take().map_or(Ok(None), Err),
            ended => Ok(ended),
        }
    }

    fn number_all(
        &mut self,
        expander: &mut Expander<M>,
        nexts: &mut [Option<M::State>],
        batch: &Batch,
    ) -> Result<Option<Termination>, ExpandErrorKind> {
        let most = self.options.limits.states.unwrap_or(usize::MAX);
        let exact = self.options.storage == StateStorage::Exact;
        let (mut shown, mut nexts) = (batch.shown.iter(), nexts.iter_mut());
        let mut bytes = Vec::new();
        let mut rest = &batch.steps[..];
        let mut ahead = batch.steps.iter().skip(AHEAD);
        let row_len = row_len(self.properties.len());
        for (i, taken) in batch.nodes.iter().enumerate() {
            let row = i * row_len..(i + 1) * row_len;
            if self.states.len() >= most {
                return Ok(Some(self.cut(Resource::States)));
            }
            let node = taken.node;
            expander.node = node;
            if node == self.level_end {
                self.level_end = self.states.len() as u32;
            }
            for &(action, observation) in shown.by_ref().take(taken.shown) {
                self.show(observation, Witness { node, action: Some(action) });
            }
            let keep_edges = !taken.satisfies_all;
            let (mut inside, mut cut) = (0, 0);
            let (steps, others) = rest.split_at(taken.steps);
            rest = others;
            for step in steps {
                if let Some(Step { fingerprint, successor: Successor::New(_), .. }) = ahead.next() {
                    self.found.visited.fetch(*fingerprint);
                }
                let to = match step.successor {
                    Successor::Known(node) => node,
                    Successor::OutOfBounds => {
                        cut += 1;
                        continue;
                    }
                    Successor::Unknown => {
                        let Some(next) = nexts.next() else { continue };
                        let same =
                            |slot: SlotRef<'_>| !exact || Some(self.states.at(slot.node())) == next.as_ref();
                        match self.found.visited.find(step.fingerprint, same) {
                            Ok(_) if !keep_edges => NONE,
                            Ok(slot) => slot.node(),
                            Err(place) => {
                                let Some(next) = next.take() else { continue };
                                if !expander.inside(self.model, &next, step.action) {
                                    cut += 1;
                                    continue;
                                }
                                expander.observe_new(self.model, &self.seen, &next);
                                bytes.clear();
                                let next = expander.store(self.packs, self.model, next, &mut bytes)?;
                                let to =
                                    self.visit(step.fingerprint, place, (node, inside), next, &bytes, 0)?;
                                for observation in expander.observations.iter() {
                                    self.show(observation, Witness { node: to, action: None });
                                }
                                to
                            }
                        }
                    }
                    Successor::New(place) => {
                        self.visit_new(step.fingerprint, place, (node, inside), exact)?
                    }
                };
                if keep_edges {
                    self.edges.push(Edge { class: step.class, to });
                }
                inside += 1;
            }
            self.found.generated += u64::from(inside);
            self.found.cut_at_boundary += cut;
            self.found.expanded += 1;
            self.keep(taken, &batch.triggered[row.clone()], &batch.satisfied[row], cut > 0);
            if let Some(observation) = self.stopped {
                return Ok(Some(Termination::ObservationFound { observation }));
            }
        }
        Ok(None)
    }

    /// Returns the number of a state that a thread found: the next one, unless it has one.
    fn visit_new(
        &mut self,
        fingerprint: u64,
        place: NewState,
        from: (u32, u16),
        exact: bool,
    ) -> Result<u32, ExpandErrorKind> {
        let NewState { thread, position } = place;
        let found = &mut self.new[usize::from(thread)][position as usize];
        if let Some(node) = found.node {
            return Ok(node);
        }
        let same = |slot: SlotRef<'_>| !exact || Some(self.states.at(slot.node())) == found.state.as_ref();
        let free = match self.found.visited.find(fingerprint, same) {
            Ok(slot) => {
                found.node = Some(slot.node());
                return Ok(slot.node());
            }
            Err(free) => free,
        };
        let state = found.state.take();
        let (packed, observed) = (std::mem::take(&mut found.packed), std::mem::take(&mut found.observed));
        // The next number, if there is one.
        found.node = Some(self.states.len() as u32);
        let node = self.visit(fingerprint, free, from, state, &packed, thread)?;
        for observation in observed {
            self.show(observation, Witness { node, action: None });
        }
        Ok(node)
    }

    fn cut(&self, why: Resource) -> Termination {
        Termination::LimitReached { resource: why, frontier: self.waiting() as usize }
    }

    /// Gives a state the next number. The state was observed up and belongs at the position. Without a state, its bytes
    /// are stored.
    pub(super) fn visit(
        &mut self,
        fingerprint: u64,
        place: InsertPosition,
        from: (u32, u16),
        state: Option<M::State>,
        packed: &[u8],
        thread: u16,
    ) -> Result<u32, ExpandErrorKind> {
        let inserted = self.found.visited.insert(fingerprint, place, from);
        let (node, collides) = inserted
            .map_err(|IdsExhausted| ExpandErrorKind::TooMany { what: "states", limit: NONE.into() })?;
        self.found.collisions += u64::from(collides);
        match state {
            Some(state) => self.states.push(state, thread, |state| self.model.heap_bytes(state)),
            None => self.states.push_packed(packed),
        }
        if node == self.level_end && from.0 != NONE {
            self.found.levels.push(node);
        }
        Ok(node)
    }

    /// Stores what liveness properties need.
    #[inline]
    fn keep(&mut self, taken: &ExpandedState, triggered: &[u8], satisfied: &[u8], cut: bool) {
        self.found.triggered.push(triggered);
        self.found.satisfied.push(satisfied);
        if !taken.satisfies_all {
            self.found.graph.push(taken.node, &self.edges, cut);
        }
        self.edges.clear();
    }
}
