//! The search loop: expand the frontier, number the new states.

use super::batch::Batch;
use super::batch_size::batch_len;
use super::error::{ErrorLocation, ExpandError, ExpandErrorKind, ModelError, short};
use super::expand::{Expander, SearchSnapshot, describe, packs};
use super::fingerprint::fingerprint;
use super::graph::{Edge, Graph};
use super::model::FairModel;
use super::new_states::{Found, NewStates};
use super::observations::ObservationSet;
use super::options::{Options, Progress, Resource, StateStorage, Termination};
use super::parallel::parallel_min;
use super::path::Witness;
use super::property_bits::PropertyBits;
use super::state_queue::{BLOCK, StateQueue};
use super::visited::{NONE, SlotRef, Visited};
use super::{ACTIONS_MAX, Exploration};
use crate::liveness::LivenessKind;
use std::convert::Infallible;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Explores a model breadth-first. `progress` is called at most ten times a second.
///
/// # Errors
///
/// [`ModelError`] if the model is not deterministic, panics, or exceeds a number that the explorer can count.
pub fn explore<M>(
    model: &M,
    options: &Options,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Exploration, ModelError>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    let mut search = Search::new(model, options);
    let outcome = search.start().and_then(|stopped| match stopped {
        Some(observation) => Ok(Termination::ObservationFound { observation }),
        None => match search.run(progress, &mut |_| Ok::<(), Infallible>(())) {
            Ok(ended) => Ok(ended),
            Err(RunError::Model(fault)) => Err(fault),
            Err(RunError::Boundary(never)) => match never {},
        },
    });
    match outcome {
        Ok(ended) => Ok(search.finish(ended)),
        Err(fault) => Err(search.explain(fault)),
    }
}

/// Threads are numbered by 16 bits.
const THREADS_MAX: usize = 1 << 16;
/// The number of batches between two checks of the limits: reading the time takes as long as expanding a small state.
const UNCHECKED: u32 = 7;

/// Why a search has no result.
pub(super) enum RunError<E> {
    /// The model cannot be explored.
    Model(ExpandError),
    /// What runs between batches failed.
    Boundary(E),
}

pub(super) struct Search<'a, M: FairModel> {
    pub(super) model: &'a M,
    pub(super) options: &'a Options,
    pub(super) states: StateQueue<M::State>,
    pub(super) new_states: NewStates,
    /// The new states that each thread found.
    pub(super) new: Vec<Vec<Found<M::State>>>,
    pub(super) found: Exploration,
    pub(super) seen: ObservationSet,
    /// The kinds of the liveness properties.
    pub(super) properties: Vec<LivenessKind>,
    pub(super) packs: bool,
    /// The first node of the next depth.
    pub(super) level_end: u32,
    /// The observation that stops the exploration.
    pub(super) stopped: Option<usize>,
    pub(super) began: Instant,
    pub(super) reported_at: Duration,
    /// The number of batches until the limits are checked.
    pub(super) unchecked: u32,
    /// The edges of one state.
    pub(super) edges: Vec<Edge>,
}

impl<'a, M> Search<'a, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    pub(super) fn new(model: &'a M, options: &'a Options) -> Self {
        let found = Exploration {
            visited: Visited::new(),
            graph: Graph::default(),
            triggered: PropertyBits::default(),
            satisfied: PropertyBits::default(),
            witnesses: Vec::new(),
            levels: Vec::new(),
            expanded: 0,
            generated: 0,
            cut_at_boundary: 0,
            collisions: 0,
            storage: options.storage,
            bytes: 0,
            termination: Termination::Exhausted,
        };
        let (began, reported_at) = (Instant::now(), Duration::ZERO);
        let (states, seen, level_end, stopped) = (StateQueue::new(), ObservationSet::default(), 0, None);
        Self {
            model,
            options,
            states,
            new_states: NewStates::new(),
            new: Vec::new(),
            found,
            seen,
            properties: Vec::new(),
            packs: false,
            level_end,
            stopped,
            began,
            reported_at,
            unchecked: 0,
            edges: Vec::new(),
        }
    }

    /// Visits the initial states.
    pub(super) fn start(&mut self) -> Result<Option<usize>, ExpandError> {
        let mut function = "liveness_properties";
        let outcome = catch_unwind(AssertUnwindSafe(|| self.visit_initial(&mut function)));
        let outcome = outcome.unwrap_or_else(|payload| Err(ExpandErrorKind::panicked(function, &*payload)));
        outcome.map_err(|what| ExpandError { node: None, action: None, what, described: None })?;
        Ok(self.stopped)
    }

    fn visit_initial(&mut self, function: &mut &'static str) -> Result<(), ExpandErrorKind> {
        self.properties = self.model.liveness_properties().iter().map(|property| property.kind).collect();
        self.found.triggered = PropertyBits::new(self.properties.len());
        self.found.satisfied = PropertyBits::new(self.properties.len());
        *function = "observation_count";
        let count = self.model.observation_count();
        let mut observations = ObservationSet::empty(count);
        self.seen = ObservationSet::empty(count);
        self.found.witnesses = vec![None; count];
        *function = "init_states";
        let states = self.model.init_states();
        let again = self.model.init_states();
        if states != again {
            return Err(ExpandErrorKind::differs("init_states", &states, &again));
        }
        if states.len() > ACTIONS_MAX {
            return Err(ExpandErrorKind::TooMany { what: "initial states", limit: ACTIONS_MAX as u64 });
        }
        for (position, state) in states.into_iter().enumerate() {
            *function = "within_boundary";
            if !self.model.within_boundary(&state) {
                self.found.cut_at_boundary += 1;
                continue;
            }
            self.found.generated += 1;
            *function = "observe";
            observations.clear();
            self.model.observe(&state, &self.seen, &mut observations);
            let fingerprint = fingerprint(&state);
            let exact = self.options.storage == StateStorage::Exact;
            let same = |slot: SlotRef<'_>| !exact || *self.states.at(slot.node()) == state;
            let node = match self.found.visited.find(fingerprint, same) {
                Ok(slot) => slot.node(),
                Err(place) => {
                    *function = "pack";
                    self.packs = !exact && packs(self.model, &state)?;
                    let mut packed = Vec::new();
                    let state =
                        Some(state).filter(|state| !self.packs || !self.model.pack(state, &mut packed));
                    self.visit(fingerprint, place, (NONE, position as u16), state, &packed, 0)?
                }
            };
            for observation in observations.iter() {
                self.show(observation, Witness { node, action: None });
            }
        }
        self.level_end = self.states.len() as u32;
        if self.level_end > 0 {
            self.found.levels.push(0);
        }
        Ok(())
    }

    /// Expands the frontier. Calls `boundary` before each batch.
    pub(super) fn run<E>(
        &mut self,
        progress: &mut dyn FnMut(&Progress),
        boundary: &mut dyn FnMut(&Self) -> Result<(), E>,
    ) -> Result<Termination, RunError<E>> {
        let threads = self.options.threads.get().min(THREADS_MAX);
        let mut expander = Expander::new(self.found.witnesses.len(), 0);
        let mut batch = Batch::default();
        while self.waiting() > 0 {
            boundary(self).map_err(RunError::Boundary)?;
            let ended = if threads > 1 && self.waiting() >= parallel_min::<M::State>() {
                let mut batches = self.expand_parallel(threads).into_iter();
                batches.find_map(|mut batch| self.number(&mut expander, &mut batch, progress).transpose())
            } else {
                batch.clear();
                let first = self.found.expanded;
                // A batch does not cross the end of a block.
                let others = BLOCK as u32 - first % BLOCK as u32;
                let end = first + self.waiting().min(batch_len::<M::State>()).min(others);
                expander.expand(&self.known(None), self.states.block(first), first..end, &mut batch);
                self.number(&mut expander, &mut batch, progress).transpose()
            };
            if let Some(ended) = ended {
                return ended.map_err(RunError::Model);
            }
            if self.options.storage == StateStorage::Fingerprint {
                self.states.drop_before(self.found.expanded);
            }
        }
        Ok(Termination::Exhausted)
    }

    pub(super) fn waiting(&self) -> u32 {
        self.states.len() as u32 - self.found.expanded
    }

    pub(super) fn known<'s>(&'s self, new_states: Option<&'s NewStates>) -> SearchSnapshot<'s, M> {
        SearchSnapshot {
            model: self.model,
            visited: &self.found.visited,
            states: &self.states,
            new_states,
            exact: self.options.storage == StateStorage::Exact,
            seen: &self.seen,
            properties: &self.properties,
            packs: self.packs,
        }
    }

    pub(super) fn show(&mut self, observation: usize, witness: Witness) {
        if !self.seen.contains(observation) {
            self.seen.insert(observation);
            self.found.witnesses[observation] = Some(witness);
            if self.stopped.is_none() && self.options.stop_at.contains(observation) {
                self.stopped = Some(observation);
            }
        }
    }

    /// Returns the resource that was exhausted, if any.
    pub(super) fn exceeded_limit(&mut self, progress: &mut dyn FnMut(&Progress)) -> Option<Resource> {
        if self.unchecked > 0 {
            self.unchecked -= 1;
            return None;
        }
        self.unchecked = UNCHECKED;
        let budget = &self.options.limits;
        let (time, bytes) = (self.began.elapsed(), self.bytes());
        self.found.bytes = self.found.bytes.max(bytes);
        if time >= self.reported_at + Duration::from_millis(100) {
            self.reported_at = time;
            progress(&Progress {
                states: self.states.len(),
                generated: self.found.generated,
                depth: self.found.depth_of(self.found.expanded),
                frontier: self.waiting() as usize,
                bytes,
                time,
            });
        }
        if budget.memory_bytes.is_some_and(|most| bytes > most) {
            return Some(Resource::Memory);
        }
        budget.time.is_some_and(|most| time > most).then_some(Resource::Time)
    }

    pub(super) fn bytes(&self) -> usize {
        let Exploration { visited, graph, triggered, satisfied, .. } = &self.found;
        visited.bytes()
            + graph.bytes()
            + triggered.bytes()
            + satisfied.bytes()
            + self.states.bytes()
            + self.model.model_bytes()
    }

    pub(super) fn finish(mut self, ended: Termination) -> Exploration {
        self.found.bytes = self.found.bytes.max(self.bytes());
        self.found.termination = ended;
        self.found
    }

    /// Adds the path to an error.
    pub(super) fn explain(&self, mut fault: ExpandError) -> ModelError {
        let Some(node) = fault.node else { return fault.what.at(ErrorLocation::default()) };
        if fault.described.is_none() && self.states.contains(node) {
            describe(self.model, self.states.block(node), &mut fault);
        }
        let path = self.found.path_to(self.model, node).ok();
        let (state, action) = match fault.described.map(|described| *described) {
            Some((state, action)) => (Some(state), action),
            None => (path.as_ref().map(|path| short(path.last())), None),
        };
        let path = path.map(|path| path.into_actions().iter().map(short).collect());
        fault.what.at(ErrorLocation { state, action, path })
    }
}
