//! The search: expand what waits, number what is new.

use super::budget::{Ended, Options, Progress, Store, Why};
use super::error::{Fault, ModelError, Place, What, short};
use super::expand::{By, Expanded, Expander, Found, Fresh, Held, Known, To, packs};
use super::fair::FairModel;
use super::fingerprint::fingerprint;
use super::graph::{Edge, Graph, Pieces};
use super::marks::Marks;
use super::path::{Witness, action_at};
use super::states::States;
use super::visited::{Full, Insertion, NONE, Seat, Visited};
use super::{Exploration, POSITIONS, PROMISES};
use crate::liveness::PromiseKind;
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// States that several threads expand before what they found is numbered, and that one of them takes at a time.
/// Tests have small models.
const BLOCK: u32 = if cfg!(test) { 12 } else { 4096 };
const CHUNK: u32 = if cfg!(test) { 2 } else { 64 };
/// Fewer waiting states are not worth several threads.
const WORTHWHILE: u32 = 2 * CHUNK;
/// How often, in states, time and memory are looked at.
const NOW_AND_THEN: u32 = 64;

/// Explores a model, breadth first. `progress` is told now and then, at most ten times a second, how far it is.
///
/// # Errors
/// [`ModelError`] if the model is not deterministic, panics, or has more of something than can be numbered.
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
        Some(mark) => Ok(Ended::Stopped { mark }),
        None => search.run(progress),
    });
    match outcome {
        Ok(ended) => Ok(search.finish(ended)),
        Err(fault) => Err(search.explain(fault)),
    }
}

struct Search<'a, M: FairModel> {
    model: &'a M,
    options: &'a Options,
    states: States<M::State>,
    found: Exploration,
    seen: Marks,
    /// All promises, and those that open in initial states, and in every state.
    promised: u8,
    packs: bool,
    eventually: u8,
    always: u8,
    /// The first node that is not of the depth that is expanded now.
    level_end: u32,
    roots: u32,
    /// A mark was shown that ends it.
    stopped: Option<usize>,
    began: Instant,
    told: Duration,
    /// The nodes of the fresh ones of one state, and its edges.
    numbers: Vec<u32>,
    edges: Vec<Edge>,
}

impl<'a, M> Search<'a, M>
where
    M: FairModel + Sync,
    M::State: Debug + Hash + PartialEq + Send + Sync,
    M::Action: Debug + PartialEq,
{
    fn new(model: &'a M, options: &'a Options) -> Self {
        let found = Exploration {
            visited: Visited::new(),
            graph: Graph::default(),
            opens: Pieces::default(),
            keeps: Pieces::default(),
            witnesses: Vec::new(),
            levels: Vec::new(),
            expanded: 0,
            generated: 0,
            cut_at_boundary: 0,
            collisions: 0,
            store: options.store,
            bytes: 0,
            ended: Ended::Exhausted,
        };
        let (promised, eventually, always) = (0, 0, 0);
        let (numbers, edges) = (Vec::new(), Vec::new());
        let (began, told) = (Instant::now(), Duration::ZERO);
        let (states, seen, level_end, roots, stopped) = (States::new(), Marks::default(), 0, 0, None);
        Self {
            model,
            options,
            states,
            found,
            seen,
            promised,
            packs: false,
            eventually,
            always,
            level_end,
            roots,
            stopped,
            began,
            told,
            numbers,
            edges,
        }
    }

    /// Visits the initial states.
    fn start(&mut self) -> Result<Option<usize>, Fault> {
        let mut asked = "promises";
        let outcome = catch_unwind(AssertUnwindSafe(|| self.visit_initial(&mut asked)));
        let outcome = outcome.unwrap_or_else(|payload| Err(What::panicked(asked, &*payload)));
        outcome.map_err(|what| Fault { node: None, action: None, what })?;
        Ok(self.stopped)
    }

    fn visit_initial(&mut self, asked: &mut &'static str) -> Result<(), What> {
        let promises = self.model.promises();
        if promises.len() > PROMISES {
            return Err(What::TooMany { what: "promises", limit: PROMISES as u64 });
        }
        for (i, promise) in promises.iter().enumerate() {
            let bit = 1 << i;
            self.promised |= bit;
            match promise.kind {
                PromiseKind::LeadsTo => {}
                PromiseKind::Eventually => self.eventually |= bit,
                PromiseKind::AlwaysEventually => self.always |= bit,
            }
        }
        *asked = "marks";
        let count = self.model.marks();
        let mut marks = Marks::none_of(count);
        self.seen = Marks::none_of(count);
        self.found.witnesses = vec![None; count];
        *asked = "init_states";
        let states = self.model.init_states();
        let again = self.model.init_states();
        if states != again {
            return Err(What::differs("init_states", &states, &again));
        }
        if states.len() > POSITIONS {
            return Err(What::TooMany { what: "initial states", limit: POSITIONS as u64 });
        }
        for (position, state) in states.into_iter().enumerate() {
            *asked = "within_boundary";
            if !self.model.within_boundary(&state) {
                self.found.cut_at_boundary += 1;
                continue;
            }
            self.found.generated += 1;
            *asked = "look";
            marks.clear();
            self.model.look(&state, &mut marks);
            let fingerprint = fingerprint(&state);
            let mut packed = Vec::new();
            *asked = "pack";
            let state = if self.options.store == Store::Fingerprint && packs(self.model, &state)? {
                self.packs = true;
                self.model.pack(&state, &mut packed);
                Held::Packed(packed.len())
            } else {
                Held::Whole(state)
            };
            let fresh = Fresh { state, fingerprint, position: position as u16 };
            let node = self.number(NONE, fresh, &packed)?;
            for mark in marks.iter() {
                self.show(mark, Witness { node, action: None });
            }
        }
        self.roots = self.states.len() as u32;
        self.level_end = self.roots;
        if self.roots > 0 {
            self.found.levels.push(0);
        }
        Ok(())
    }

    fn run(&mut self, progress: &mut dyn FnMut(&Progress)) -> Result<Ended, Fault> {
        let mut expander = Expander::new(self.found.witnesses.len());
        let mut found = Found::default();
        let threads = self.options.threads.get();
        while self.waiting() > 0 {
            let ended = if threads > 1 && self.waiting() >= WORTHWHILE {
                let mut ended = None;
                for mut found in self.expand_together(threads) {
                    ended = self.commit(&mut found, progress)?;
                    if ended.is_some() {
                        break;
                    }
                }
                ended
            } else {
                self.expand_alone(&mut expander, &mut found, progress)?
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
            if self.options.store == Store::Fingerprint {
                drop(self.states.take_before(self.found.expanded));
            }
        }
        Ok(Ended::Exhausted)
    }

    fn waiting(&self) -> u32 {
        self.states.len() as u32 - self.found.expanded
    }

    fn known(&self) -> Known<'_, M> {
        Known {
            model: self.model,
            visited: &self.found.visited,
            states: &self.states,
            exact: self.options.store == Store::Exact,
            seen: &self.seen,
            promised: self.promised,
            packs: self.packs,
        }
    }

    /// Expands and numbers the next few states.
    fn expand_alone(
        &mut self,
        expander: &mut Expander<M>,
        found: &mut Found<M::State>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Ended>, Fault> {
        let first = self.found.expanded;
        expander.take(&self.known(), first..first + self.waiting().min(CHUNK));
        while expander.sift(&self.known(), found) {
            if let Some(ended) = self.commit(found, progress)? {
                return Ok(Some(ended));
            }
        }
        self.commit(found, progress)
    }

    /// Expands the next block of states with several threads. What they found comes in the order of the states.
    fn expand_together(&self, threads: usize) -> Vec<Found<M::State>> {
        let known = &self.known();
        let first = self.found.expanded;
        let end = first + self.waiting().min(BLOCK);
        let chunk = &AtomicU32::new(0);
        let work = || {
            let mut expander = Expander::new(self.found.witnesses.len());
            let mut all = Vec::new();
            loop {
                let from = first + chunk.fetch_add(1, Ordering::Relaxed) * CHUNK;
                if from >= end {
                    return all;
                }
                let mut found = Found::default();
                expander.take(known, from..end.min(from + CHUNK));
                while expander.sift(known, &mut found) {}
                let well = found.fault.is_none();
                all.push((from, found));
                if !well {
                    return all;
                }
            }
        };
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                all.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            all
        });
        all.sort_unstable_by_key(|(from, _)| *from);
        all.into_iter().map(|(_, found)| found).collect()
    }

    /// Numbers what is new among what was found, state by state, and empties it.
    fn commit(
        &mut self,
        found: &mut Found<M::State>,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Option<Ended>, Fault> {
        let mut fresh = found.fresh.drain(..);
        let mut edges = found.edges.drain(..);
        let mut shown = found.shown.drain(..);
        let mut packed = 0;
        for expanded in found.nodes.drain(..) {
            if let Some(why) = self.run_out(progress) {
                return Ok(Some(Ended::Cut { why, waiting: self.waiting() as usize }));
            }
            let node = self.found.expanded;
            if node == self.level_end {
                self.level_end = self.states.len() as u32;
            }
            self.numbers.clear();
            for fresh in fresh.by_ref().take(expanded.fresh) {
                let start = packed;
                if let Held::Packed(length) = fresh.state {
                    packed += length;
                }
                let number = self.number(node, fresh, &found.packed[start..packed]);
                self.numbers.push(number.map_err(|what| Fault { node: Some(node), action: None, what })?);
            }
            for shown in shown.by_ref().take(expanded.shown) {
                let witness = match shown.by {
                    By::Action(action) => Witness { node, action: Some(action) },
                    By::Fresh(i) => Witness { node: self.numbers[i as usize], action: None },
                };
                self.show(shown.mark, witness);
            }
            if self.promised != 0 {
                self.edges.clear();
                for edge in edges.by_ref().take(expanded.edges) {
                    let to = match edge.to {
                        To::Known(node) => node,
                        To::Fresh(i) => self.numbers[i as usize],
                    };
                    self.edges.push(Edge { class: edge.class, to });
                }
                self.keep(node, &expanded);
            }
            self.found.generated += u64::from(expanded.steps);
            self.found.cut_at_boundary += u64::from(expanded.cut);
            self.found.expanded += 1;
            if let Some(mark) = self.stopped {
                return Ok(Some(Ended::Stopped { mark }));
            }
        }
        found.packed.clear();
        found.fault.take().map_or(Ok(None), Err)
    }

    /// The node of a state that was not visited when it was found, but perhaps is by now; and its bytes, if it is packed.
    fn number(&mut self, parent: u32, fresh: Fresh<M::State>, packed: &[u8]) -> Result<u32, What> {
        let Fresh { state, fingerprint, position } = fresh;
        let (exact, states) = (self.options.store == Store::Exact, &self.states);
        let same = |seat: Seat<'_>| match &state {
            Held::Whole(state) if exact => states.at(seat.node()) == state,
            _ => true,
        };
        match self.found.visited.find_or_insert(fingerprint, (parent, position), same) {
            Ok(Insertion::Known(node)) => Ok(node),
            Ok(Insertion::New { node, collides }) => {
                self.found.collisions += u64::from(collides);
                match state {
                    Held::Whole(state) => self.states.push(state, |state| self.model.heap(state)),
                    Held::Packed(_) => self.states.push_packed(packed),
                }
                if node == self.level_end && parent != NONE {
                    self.found.levels.push(node);
                }
                Ok(node)
            }
            Err(Full) => Err(What::TooMany { what: "states", limit: NONE.into() }),
        }
    }

    fn show(&mut self, mark: usize, witness: Witness) {
        if !self.seen.shows(mark) {
            self.seen.show(mark);
            self.found.witnesses[mark] = Some(witness);
            if self.stopped.is_none() && self.options.stop_at.shows(mark) {
                self.stopped = Some(mark);
            }
        }
    }

    /// Keeps what promises are about.
    fn keep(&mut self, node: u32, expanded: &Expanded) {
        let by_kind = self.always | if node < self.roots { self.eventually } else { 0 };
        let leads_to = self.promised & !self.always & !self.eventually;
        self.found.opens.push(expanded.opens & leads_to | by_kind);
        self.found.keeps.push(expanded.keeps);
        if expanded.keeps != self.promised {
            self.found.graph.push(node, &self.edges, expanded.cut > 0);
        }
    }

    /// Says what ran out before the next state.
    fn run_out(&mut self, progress: &mut dyn FnMut(&Progress)) -> Option<Why> {
        let budget = &self.options.budget;
        if budget.states.is_some_and(|most| self.states.len() >= most) {
            return Some(Why::States);
        }
        if !self.found.expanded.is_multiple_of(NOW_AND_THEN) {
            return None;
        }
        let (time, bytes) = (self.began.elapsed(), self.bytes());
        self.found.bytes = self.found.bytes.max(bytes);
        if time >= self.told + Duration::from_millis(100) {
            self.told = time;
            progress(&Progress {
                states: self.states.len(),
                generated: self.found.generated,
                depth: self.found.depth_of(self.found.expanded),
                waiting: self.waiting() as usize,
                bytes,
                time,
            });
        }
        if budget.memory.is_some_and(|most| bytes > most) {
            return Some(Why::Memory);
        }
        budget.time.is_some_and(|most| time > most).then_some(Why::Time)
    }

    fn bytes(&self) -> usize {
        let Exploration { visited, graph, opens, keeps, .. } = &self.found;
        visited.bytes() + graph.bytes() + opens.bytes() + keeps.bytes() + self.states.bytes()
    }

    fn finish(mut self, ended: Ended) -> Exploration {
        self.found.bytes = self.found.bytes.max(self.bytes());
        self.found.ended = ended;
        self.found
    }

    /// A fault with the way to where it came up.
    fn explain(&self, fault: Fault) -> ModelError {
        let Some(node) = fault.node else { return fault.what.at(Place::default()) };
        let mut unpacked = None;
        let state = match self.states.read(self.model, node, &mut unpacked) {
            Ok(state) => state,
            Err(_) => return fault.what.at(Place::default()),
        };
        let action = || fault.action.and_then(|position| action_at(self.model, state, position));
        let action = catch_unwind(AssertUnwindSafe(|| action().map(|action| short(&action))));
        let path = self.found.path_to(self.model, node).ok();
        let way = path.map(|path| path.into_actions().iter().map(short).collect());
        fault.what.at(Place { state: Some(short(state)), action: action.unwrap_or(None), way })
    }
}
