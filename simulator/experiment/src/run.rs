//! One run: the kernel decides a conversation in simulated time, and the environment answers.

use crate::environment::{CallScene, Environment, Memory};
use crate::metrics::{Measurements, Meter};
use crate::progress::{Next, failed, next};
use crate::random::RandomDraws;
use orchestrion_kernel::context::{ContextBuilder, IncrementalContexts};
use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    CallId, ConversationId, Input, Policy, Refusal, State, Text, Timestamp, UserId, decide,
};
use orchestrion_text::StandardContexts;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    pub contexts: bool,
    /// The deadline of each call, in milliseconds.
    pub deadline_ms: u64,
    /// The input that creates the network, if there is one.
    pub network: Option<NetworkInput>,
}

impl World {
    /// The user of all requests.
    fn user() -> UserId {
        UserId::new("researcher")
    }

    /// Returns the inputs before the first request.
    pub(crate) fn opening(&self) -> impl Iterator<Item = Input> + '_ {
        let facts = self.facts.iter().map(|(key, text)| {
            let source = WriteSource::declared("admin".into());
            Input::Write(Box::new(Write::Fact(NewFact::global(key.clone(), text.clone(), source))))
        });
        let network = self.network.iter().map(|network| Input::Network(Box::new(network.clone())));
        std::iter::once(Input::session_start(Self::user())).chain(network).chain(facts)
    }

    /// Returns the input that starts a request.
    pub(crate) fn message(&self) -> Input {
        Input::user_message(Self::user(), self.text.clone())
    }

    /// Returns the state after the inputs before the first request.
    ///
    /// # Errors
    /// The refusal of one of them.
    pub(crate) fn start(&self, policy: &Policy) -> Result<State, Refusal> {
        let mut state = State::new(ConversationId::new("experiment"));
        for input in self.opening() {
            let events = decide(policy, &state, state.now(), &input)?;
            events.iter().for_each(|event| state.apply(event));
        }
        Ok(state)
    }
}

/// Runs conversations of one world under one policy. It keeps the state before the first request.
#[derive(Debug)]
pub struct Runner<'a> {
    policy: &'a Policy,
    world: &'a World,
    start: State,
}

impl<'a> Runner<'a> {
    /// Creates the runner.
    ///
    /// # Errors
    /// The refusal of an input before the first request.
    pub fn new(policy: &'a Policy, world: &'a World) -> Result<Self, Refusal> {
        Ok(Self { policy, world, start: world.start(policy)? })
    }

    /// Runs the conversation with this number.
    pub fn run(&self, number: u64, draws: &mut RandomDraws) -> Measurements {
        let mut run = Run {
            policy: self.policy,
            world: self.world,
            state: self.start.clone(),
            memory: Memory::default(),
            meter: Meter::default(),
            contexts: self.world.contexts.then(|| StandardContexts.create_incremental()).flatten(),
            now: self.start.now(),
            answers: BinaryHeap::new(),
            sent: Vec::new(),
        };
        for request in 1..=self.world.requests {
            draws.start_request(number, request);
            let start = run.now;
            let halted = run.request(request, draws);
            let took_ms = run.now.millis().saturating_sub(start.millis());
            run.meter.end_request(took_ms, halted);
            if halted {
                break;
            }
        }
        run.meter.end_run()
    }
}

struct Run<'a> {
    policy: &'a Policy,
    world: &'a World,
    state: State,
    memory: Memory,
    meter: Meter,
    contexts: Option<Box<dyn IncrementalContexts>>,
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
pub(crate) fn scene(state: &State, call: Call, request: u32) -> CallScene<'_> {
    CallScene {
        operation: call.operation,
        pass: state.control().request().map_or(0, |request| request.debate.pass),
        request,
        node: state.network().and_then(|network| network.assignment(call.id)).map(|found| &found.to),
    }
}

impl Run<'_> {
    /// Runs one request. Returns whether it halted.
    fn request(&mut self, request: u32, draws: &mut RandomDraws) -> bool {
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
        }
        Ok(())
    }

    /// Sends a call: its answer arrives after its duration, or its deadline passes.
    fn send(&mut self, call: Call, request: u32, draws: &mut RandomDraws) {
        self.sent.push(call.id);
        let (after_ms, input) = match self.build_context(call.operation) {
            Err(failure) => (0, failed(call.id, failure)),
            Ok(()) => {
                let scene = scene(&self.state, call, request);
                let answer = self.world.environment.answer(&mut self.memory, scene, draws);
                let duration_ms = self.world.environment.duration_ms(call.operation, draws);
                answer.into_input(call.id, u64::from(duration_ms), self.world.deadline_ms)
            }
        };
        let at = Timestamp::from_millis(self.now.millis().saturating_add(after_ms));
        self.answers.push(Reverse(Arrival { at, call: call.id, input }));
    }

    fn build_context(&mut self, operation: Operation) -> Result<(), Failure> {
        let Some(contexts) = self.contexts.as_mut().filter(|_| operation.takes_context()) else {
            return Ok(());
        };
        let context = contexts.build(self.policy, &self.state, operation).map_err(|_| Failure::OverBudget)?;
        let total = &mut self.meter.measurements;
        total.context_tokens += i64::try_from(context.cost_tokens).unwrap_or(i64::MAX);
        total.context_utility += i64::try_from(context.utility).unwrap_or(i64::MAX);
        Ok(())
    }
}
