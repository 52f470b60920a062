//! One play of a conversation from choice to choice: the same loop as that of a random run, in a time that stands still.

use super::chain::Ending;
use super::enumerate::Tape;
use super::number::Fraction;
use crate::draws::{Draws, Purpose, Stream};
use crate::environment::{Answer, Memory};
use crate::experiment::Cell;
use crate::metrics::{Measurements, Meter, RequestMeter};
use crate::progress::{Next, failed, next};
use crate::run::{World, scene};
use num_traits::Zero;
use orchestrion_kernel::module::{ConclusionKind, Failure};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Input, NodeId, Policy, Refusal, State, decide};
use std::collections::BTreeMap;

/// The maximum number of steps without a choice from one state of the chain to the next. More than that are a cycle without a choice,
/// which the chain finds because its states repeat.
const STEPS_MAX: u32 = 500;

/// A state of the chain: all that later choices and metrics depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    state: State,
    memory: Memory,
    /// The number of the request, from 1; 0 before the first.
    request: u32,
    measured: RequestMeter,
    tasks_by_node: BTreeMap<NodeId, i64>,
    in_flight: Vec<Flight>,
}

/// A call that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Flight {
    /// The time until its answer arrives.
    after_ms: u64,
    /// Whether that time varies. It is 0 then, and its mean is measured.
    varies: bool,
    /// The call and the input that ends it; `None` after the call ended otherwise. Then only time passes.
    answer: Option<(CallId, Input)>,
}

impl Flight {
    fn call(&self) -> Option<CallId> {
        self.answer.as_ref().map(|(call, _)| *call)
    }
}

impl Position {
    /// Returns the position before the first request.
    pub(crate) fn start(cell: &Cell, world: &World) -> Result<Self, Refusal> {
        let (memory, measured) = (Memory::default(), RequestMeter::default());
        let state = world.start(cell)?;
        Ok(Self {
            state,
            memory,
            request: 0,
            measured,
            tasks_by_node: BTreeMap::new(),
            in_flight: Vec::new(),
        })
    }

    /// Renumbers ids, so that positions that differ only in them become equal.
    fn canonicalize(&mut self) {
        let before: Vec<CallId> = self.state.control().pending_calls().iter().map(|call| call.id).collect();
        self.state.canonicalize();
        let after = self.state.control().pending_calls();
        for flight in &mut self.in_flight {
            let rank = flight.call().and_then(|call| before.iter().position(|other| *other == call));
            match (rank.and_then(|rank| after.get(rank)), &mut flight.answer) {
                (Some(renamed), Some((call, input))) => {
                    *call = renamed.id;
                    // Modules answer with a reply or a failure.
                    if let Input::Reply { call, .. } | Input::CallFailed { call, .. } = input {
                        *call = renamed.id;
                    }
                }
                (_, answer) => *answer = None,
            }
        }
    }
}

/// Where a play stops.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Before the next choice.
    Choice(Box<Position>),
    /// At the end of the run.
    End(Ending),
    /// Calls are in flight at the same time, and their durations vary.
    OrderVaries,
}

/// A play from one choice to the next.
pub(crate) struct Play<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) world: &'a World,
    /// Whether the tasks of each node are counted.
    pub(crate) counts_nodes: bool,
    /// The positions of the metrics whose rewards are computed.
    pub(crate) rewards: Vec<u8>,
}

struct Running<'a> {
    play: &'a Play<'a>,
    position: Position,
    meter: Meter,
    elapsed_ms: u64,
    /// The expected time of calls whose durations vary.
    mean_ms: Fraction,
    /// The choices are made; the next one stops the play.
    is_decided: bool,
}

/// What the part of a play measured.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) stop: Stop,
    pub(crate) measurements: Measurements,
    pub(crate) time_ms: Fraction,
}

impl Play<'_> {
    /// Plays from a position with the choices of the tape, up to the next choice.
    pub(crate) fn advance(&self, position: &Position, tape: &mut Tape) -> Part {
        let mut position = position.clone();
        let measured = std::mem::take(&mut position.measured);
        let meter = Meter::resume(measured, std::mem::take(&mut position.tasks_by_node));
        let (elapsed_ms, mean_ms, is_decided) = (0, Fraction::zero(), false);
        let mut running = Running { play: self, position, meter, elapsed_ms, mean_ms, is_decided };
        let ending = running.run(tape);
        let Running { mut position, mut meter, elapsed_ms, mean_ms, .. } = running;
        let time_ms = mean_ms + Fraction::from_integer(elapsed_ms.into());
        let stop = match ending {
            Outcome::Ending(ending) => {
                meter.measure_totals(&position.memory.information);
                return Part { stop: Stop::End(ending), measurements: meter.measurements, time_ms };
            }
            Outcome::OrderVaries => Stop::OrderVaries,
            Outcome::Choice => {
                position.canonicalize();
                let measurements = std::mem::take(&mut meter.measurements);
                (position.measured, position.tasks_by_node) = meter.into_parts();
                if !self.counts_nodes {
                    position.tasks_by_node.clear();
                }
                return Part { stop: Stop::Choice(Box::new(position)), measurements, time_ms };
            }
        };
        Part { stop, measurements: meter.measurements, time_ms }
    }
}

enum Outcome {
    Choice,
    Ending(Ending),
    OrderVaries,
}

enum Sent {
    Yes,
    /// The call has a choice, and the choices of this part are made.
    NotYet,
    OrderVaries,
}

impl Running<'_> {
    fn run(&mut self, tape: &mut Tape) -> Outcome {
        for _ in 0..STEPS_MAX {
            let control = self.position.state.control();
            if control.phase().is_quiescent() && control.pending_calls().is_empty() {
                if let Some(ending) = self.next_request() {
                    return Outcome::Ending(ending);
                }
                continue;
            }
            let flights = &self.position.in_flight;
            let is_sent = |call: CallId| flights.iter().any(|flight| flight.call() == Some(call));
            let refused = match next(self.play.policy, &self.position.state, is_sent) {
                Next::Input(input) => self.submit(&input).is_err(),
                Next::Send(call) => match self.send(call, tape) {
                    Sent::Yes => false,
                    Sent::NotYet => return Outcome::Choice,
                    Sent::OrderVaries => return Outcome::OrderVaries,
                },
                Next::Wait => self.receive(),
            };
            if refused {
                return self.halt();
            }
        }
        Outcome::Choice
    }

    /// Ends the running request and starts the next one. Returns how the run ends, if it does.
    fn next_request(&mut self) -> Option<Ending> {
        let ending = match self.meter.conclusion() {
            Some(ConclusionKind::Outcome) => Ending::Completed,
            Some(ConclusionKind::Blocked) => Ending::Blocked,
            Some(ConclusionKind::RolledBack) => Ending::RolledBack,
            Some(ConclusionKind::Aborted) => Ending::Aborted,
            None => Ending::Unconcluded,
        };
        if self.position.request > 0 {
            self.meter.end_request(0, false);
        }
        if self.position.request >= self.play.world.requests {
            return Some(ending);
        }
        self.position.request += 1;
        self.position.in_flight.clear();
        if self.submit(&self.play.world.message()).is_err() {
            self.meter.end_request(0, true);
            return Some(Ending::Halted);
        }
        let control = self.position.state.control();
        (control.phase().is_quiescent() && control.pending_calls().is_empty())
            .then(|| self.next_request())
            .flatten()
    }

    fn halt(&mut self) -> Outcome {
        self.meter.end_request(0, true);
        Outcome::Ending(Ending::Halted)
    }

    fn submit(&mut self, input: &Input) -> Result<(), Refusal> {
        let Position { state, memory, .. } = &mut self.position;
        for event in &decide(self.play.policy, state, state.now(), input)? {
            state.apply(event);
            memory.observe(event);
            self.meter.observe(event, memory.acceptable);
        }
        Ok(())
    }

    /// Sends a call: its answer arrives after its duration, or its deadline passes.
    fn send(&mut self, call: Call, tape: &mut Tape) -> Sent {
        let position = &mut self.position;
        let (world, deadline_ms) = (self.play.world, self.play.world.deadline_ms);
        // An experiment with a summarizer is not computed exactly.
        let scene = scene(&position.state, call, position.request, &[]);
        let behavior = world.environment.behavior(call.operation.module());
        let varies = behavior.is_some_and(|behavior| !behavior.duration.is_constant());
        let others = &position.in_flight;
        if !others.is_empty() && (varies || others.iter().any(|flight| flight.varies)) {
            return Sent::OrderVaries;
        }
        let answer_with = |memory: &mut Memory, tape: &mut Tape| {
            let answer = world.environment.answer(memory, scene, tape);
            let weights = behavior.map_or([1, 0], |behavior| behavior.duration.weights_at(deadline_ms));
            let stream = Stream::module(call.operation.module(), Purpose::Duration);
            let times_out = answer.result == Err(Failure::Timeout) || tape.pick(stream, &weights) == 1;
            (answer, times_out)
        };
        let mut probe = Tape::new(0);
        let mut memory = position.memory.clone();
        let mut answered = answer_with(&mut memory, &mut probe);
        if !probe.is_certain() {
            if self.is_decided {
                return Sent::NotYet;
            }
            self.is_decided = true;
            memory = position.memory.clone();
            answered = answer_with(&mut memory, tape);
        }
        position.memory = memory;
        let (answer, times_out): (Answer, bool) = answered;
        let is_bad_task = answer.is_bad_task;
        let duration_ms = match behavior.map(|behavior| &behavior.duration) {
            // A timeout takes its time until the deadline.
            _ if times_out => 0,
            None => 0,
            Some(duration) => {
                let [timely, _] = duration.weights_at(deadline_ms);
                let sum_ms = duration.timely_sum_ms(deadline_ms);
                if varies {
                    self.mean_ms += Fraction::new(sum_ms.into(), timely.max(1).into());
                    0
                } else {
                    u64::try_from(sum_ms / u128::from(timely.max(1))).unwrap_or(u64::MAX)
                }
            }
        };
        let (after_ms, input) = match times_out {
            true => (deadline_ms, failed(call.id, Failure::Timeout)),
            false => answer.into_input(call.id, duration_ms, deadline_ms),
        };
        self.meter.observe_answer(is_bad_task && matches!(input, Input::Reply { .. }));
        position.in_flight.push(Flight { after_ms, varies, answer: Some((call.id, input)) });
        Sent::Yes
    }

    /// Receives the next answer. Returns whether the kernel refuses even the failure of the call.
    fn receive(&mut self) -> bool {
        let flights = &mut self.position.in_flight;
        let time = |at: &usize| flights.get(*at).map(|flight| (flight.after_ms, flight.call()));
        let Some(earliest) = (0..flights.len()).min_by_key(time) else { return true };
        let Flight { after_ms, answer, .. } = flights.remove(earliest);
        for flight in flights.iter_mut() {
            flight.after_ms = flight.after_ms.saturating_sub(after_ms);
        }
        self.elapsed_ms = self.elapsed_ms.saturating_add(after_ms);
        let Some((call, input)) = answer else { return false };
        let is_pending = self.position.state.control().pending_call(call).is_some();
        is_pending && self.submit(&input).is_err() && self.submit(&failed(call, Failure::Malformed)).is_err()
    }
}
