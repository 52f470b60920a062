//! One run: the kernel decides a conversation in simulated time, and the environment answers.

use crate::contexts::{ContextUse, Contexts};
use crate::environment::{CallScene, Environment, Memory};
use crate::experiment::Cell;
use crate::flows::Flow;
use crate::metrics::{Measurements, Meter};
use crate::progress::{Next, failed, next};
use crate::random::RandomDraws;
use crate::trajectories::{Line, Point, Recorder};
use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource, compaction};
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    CallId, ConversationId, Input, ItemId, Policy, Refusal, State, Text, Timestamp, UserId, decide,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// The maximum number of inputs of a request; a longer one counts as halted.
const STEPS_MAX: u32 = 10_000;

/// What a run consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The modules.
    pub environment: Environment,
    /// The number of requests.
    pub requests: u32,
    /// The text of each request.
    pub text: Text,
    /// The facts that are known before the first request, as key and text.
    pub facts: Vec<(Text, Text)>,
    /// Whether calls get their contexts. Without, tokens and utility are not measured.
    pub contexts: ContextUse,
    /// The deadline of each call, in milliseconds.
    pub deadline_ms: u64,
    /// The lines of the trajectories.
    pub lines: Vec<Line>,
}

impl World {
    /// The user of all requests.
    fn user() -> UserId {
        UserId::new("researcher")
    }

    /// Returns the inputs before the first request.
    fn opening<'a>(&'a self, cell: &'a Cell) -> impl Iterator<Item = Input> + 'a {
        let facts = self.facts.iter().map(|(key, text)| {
            let source = WriteSource::declared("admin".into());
            Input::Write(Box::new(Write::Fact(NewFact::global(key.clone(), text.clone(), source))))
        });
        let network = cell.network.iter().map(|network| Input::Network(Box::new(unshared(network))));
        std::iter::once(Input::session_start(Self::user())).chain(network).chain(facts)
    }

    /// Returns a copy with texts of its own, for one thread: every copy of a shared text counts in the same memory, and two threads were
    /// slower than one.
    #[must_use]
    pub fn unshared(&self) -> Self {
        let copy = |text: &Text| Text::from(text.as_str());
        let mut world = self.clone();
        world.text = copy(&self.text);
        world.facts = self.facts.iter().map(|(key, text)| (copy(key), copy(text))).collect();
        world.environment.result = copy(&self.environment.result);
        world
    }

    /// Returns the input that starts a request.
    pub(crate) fn message(&self) -> Input {
        Input::user_message(Self::user(), self.text.clone())
    }

    /// Returns the state after the inputs before the first request.
    ///
    /// # Errors
    /// The refusal of one of them.
    pub(crate) fn start(&self, cell: &Cell) -> Result<State, Refusal> {
        let mut state = State::new(ConversationId::new("experiment"));
        for input in self.opening(cell) {
            let events = decide(&cell.policy, &state, state.now(), &input)?;
            events.iter().for_each(|event| state.apply(event));
        }
        Ok(state)
    }
}

/// Returns a copy of a network with ids of its own, for the same reason.
fn unshared(network: &NetworkInput) -> NetworkInput {
    // A shared copy would give the same results.
    serde_json::to_value(network).and_then(serde_json::from_value).unwrap_or_else(|_| network.clone())
}

/// What one run gives: its measurements, the way of each request, and the points of the trajectories.
#[derive(Clone, Debug, Default)]
pub struct RunRecord {
    /// The metrics.
    pub measurements: Measurements,
    /// The way of each request.
    pub flows: Vec<Flow>,
    /// The points of the trajectories.
    pub points: Vec<Point>,
}

/// Runs conversations of one world under one policy. It keeps the state before the first request.
///
/// Each thread has runners of its own, with a world from [`World::unshared`].
#[derive(Debug)]
pub struct Runner<'a> {
    policy: &'a Policy,
    world: Arc<World>,
    start: State,
}

impl<'a> Runner<'a> {
    /// Creates the runner.
    ///
    /// # Errors
    /// The refusal of an input before the first request.
    pub fn new(cell: &'a Cell, world: Arc<World>) -> Result<Self, Refusal> {
        Ok(Self { policy: &cell.policy, start: world.start(cell)?, world })
    }

    /// Runs the conversation with this number, and replaces the record by its own.
    pub fn run(&self, number: u64, draws: &mut RandomDraws, record: &mut RunRecord) {
        record.flows.clear();
        record.points.clear();
        let mut run = Run {
            policy: self.policy,
            world: &self.world,
            state: self.start.clone(),
            memory: Memory::default(),
            meter: Meter::default(),
            recorder: Recorder::new(&self.world.lines),
            record,
            contexts: Contexts::new(self.world.contexts),
            now: self.start.now(),
            answers: BinaryHeap::new(),
            sent: Vec::new(),
        };
        for request in 1..=self.world.requests {
            draws.start_request(number, request);
            if run.request(request, draws) {
                break;
            }
        }
        run.record.measurements = run.meter.measurements;
    }
}

struct Run<'a> {
    policy: &'a Policy,
    world: &'a World,
    state: State,
    memory: Memory,
    meter: Meter,
    recorder: Recorder<'a>,
    record: &'a mut RunRecord,
    contexts: Contexts,
    now: Timestamp,
    /// The inputs that end the calls in flight, the earliest first; of equal times that of the earlier call.
    answers: BinaryHeap<Reverse<Arrival>>,
    /// The pending calls that were sent.
    sent: Vec<CallId>,
}

/// An input that ends a call, at its time.
struct Arrival {
    at: Timestamp,
    call: CallId,
    input: Input,
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Arrival {}

impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.call).cmp(&(other.at, other.call))
    }
}

/// Returns what the environment sees of a call.
pub(crate) fn scene<'a>(state: &'a State, call: Call, request: u32, cluster: &'a [ItemId]) -> CallScene<'a> {
    CallScene {
        operation: call.operation,
        pass: state.control().request().map_or(0, |request| request.debate.pass),
        request,
        node: state.network().and_then(|network| network.assignment(call.id)).map(|found| &found.to),
        cluster,
    }
}

impl Run<'_> {
    /// Runs one request, and measures it. Returns whether it halted.
    fn request(&mut self, request: u32, draws: &mut RandomDraws) -> bool {
        let (start, before) = (self.now, self.meter.measurements);
        let halted = self.converse(request, draws);
        let took_ms = self.now.millis().saturating_sub(start.millis());
        let flow = Flow::of_request(self.meter.request, &before, &self.meter.measurements, halted);
        self.record.flows.extend(flow);
        self.meter.end_request(took_ms, halted);
        self.meter.measure_totals(&self.memory.information);
        self.recorder.end_request(request, &self.state, &self.meter, &mut self.record.points);
        halted
    }

    /// Exchanges inputs and answers until the request ends. Returns whether it halted.
    fn converse(&mut self, request: u32, draws: &mut RandomDraws) -> bool {
        self.answers.clear();
        self.sent.clear();
        if self.submit(&self.world.message()).is_err() {
            return true;
        }
        for _ in 0..STEPS_MAX {
            if self.state.control().phase().is_quiescent() && self.state.control().pending_calls().is_empty()
            {
                return false;
            }
            let (sent, state) = (&self.sent, &self.state);
            match next(self.policy, state, |call| sent.contains(&call)) {
                Next::Input(input) => {
                    if self.submit(&input).is_err() {
                        return true;
                    }
                }
                Next::Send(call) => self.send(call, request, draws),
                Next::Wait => match self.answers.pop() {
                    None => return true,
                    Some(Reverse(Arrival { at, call, input })) => {
                        self.now = self.now.max(at);
                        self.sent.retain(|sent| *sent != call);
                        let is_pending = self.state.control().pending_call(call).is_some();
                        if is_pending && self.submit(&input).is_err() && self.fail_malformed(call) {
                            return true;
                        }
                    }
                },
            }
        }
        true
    }

    /// Ends a call whose reply the kernel refused, as the runtime does. Returns whether the kernel refuses that, too.
    fn fail_malformed(&mut self, call: CallId) -> bool {
        self.submit(&failed(call, Failure::Malformed)).is_err()
    }

    fn submit(&mut self, input: &Input) -> Result<(), Refusal> {
        let events = decide(self.policy, &self.state, self.now, input)?;
        for event in &events {
            self.state.apply(event);
            self.memory.observe(event);
            self.meter.observe(event, self.memory.acceptable);
            self.recorder.observe(event, &self.state, &mut self.record.points);
        }
        Ok(())
    }

    /// Sends a call: its answer arrives after its duration, or its deadline passes.
    fn send(&mut self, call: Call, request: u32, draws: &mut RandomDraws) {
        self.sent.push(call.id);
        let total = &mut self.meter.measurements;
        let (after_ms, input) = match self.contexts.build(self.policy, &self.state, call.operation, total) {
            Err(failure) => (0, failed(call.id, failure)),
            Ok(()) => {
                let cluster = self.cluster(call.operation);
                let scene = scene(&self.state, call, request, &cluster);
                let answer = self.world.environment.answer(&mut self.memory, scene, draws);
                let duration_ms = self.world.environment.duration_ms(call.operation, draws);
                let is_bad_task = answer.is_bad_task;
                let (after_ms, input) =
                    answer.into_input(call.id, u64::from(duration_ms), self.world.deadline_ms);
                self.meter.observe_answer(is_bad_task && matches!(input, Input::Reply { .. }));
                (after_ms, input)
            }
        };
        let at = Timestamp::from_millis(self.now.millis().saturating_add(after_ms));
        self.answers.push(Reverse(Arrival { at, call: call.id, input }));
    }

    /// Returns the items that a summary would replace.
    fn cluster(&self, operation: Operation) -> Vec<ItemId> {
        if operation == Operation::Summarize {
            compaction::cluster(self.policy, &self.state)
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_network::LoadedNetwork;
    use std::path::Path;

    #[test]
    fn unshared_network_is_equal_and_shares_no_id() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs/networks/executors.yaml");
        let network = LoadedNetwork::read(&path).unwrap().conversation_input().unwrap();
        let copy = unshared(&network);
        assert_eq!(copy, network);
        let (NetworkInput::Create { orchestrator: a, .. }, NetworkInput::Create { orchestrator: b, .. }) =
            (&network, &copy)
        else {
            panic!("{network:?}")
        };
        assert!(!std::ptr::eq(a.as_str(), b.as_str()));
    }
}
