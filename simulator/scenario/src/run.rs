//! Runs a scenario: its user and its scripted modules drive a conversation to the end.

mod facts;
mod progress;

pub use facts::{RequestFacts, RunFacts};
pub use progress::Progress;

use crate::expect::ScriptForm;
use crate::expectations::{Expectations, ObservedContext};
use crate::handoff_channel::HandoffChannel;
use crate::run::facts::FactsFolds;
use crate::script::{CallScene, DelayedReply, Script, ScriptError, ScriptedReply};
use crate::{
    PhaseVisit, Scenario, ScriptedEvent, ScriptedNetworkEvent, ScriptedRequest, ScriptedWrite, ingest,
};
use miette::{Diagnostic, SourceSpan};
use orchestrion_handoff::SignedHandoff;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_kernel::{CallId, Input, Phase, Policy, Refusal, Timestamp};
use orchestrion_runtime::{
    Call, CallResult, Clock, Conversation, Deadlines, DeadlockError, Host, Observer, OpenError,
    RecoveryResult, RuntimeError, StepResult, lock_ignoring_poison,
};
use orchestrion_text::StandardContexts;
use orchestrion_trace::fork::Fork;
use orchestrion_trace::{Header, TraceError};
use orchestrion_yaml::{LabeledError, ReadError, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::Mutex;
use std::time::Duration;
use thiserror::Error;

/// The maximum number of steps; a longer run does not end.
const STEPS_MAX: u64 = 100_000;

/// The result of a scenario run.
#[derive(Debug)]
pub struct ScenarioResult {
    /// The trace.
    pub trace: Vec<u8>,
    /// The number of steps, including refused inputs.
    pub steps: u64,
    /// The refusal at which the conversation halted, if it did. Under `as-drawn` many conversations halt.
    pub halted: Option<Refusal>,
    /// Scripted events and replies that did not occur, as sentences.
    pub unused_events: Vec<String>,
    /// Writes and network events that the kernel refused or accepted against the scenario's expectation, and texts that state no fact.
    pub unexpected_writes: Vec<ReadError>,
    /// Expectations of the scenario that the run does not meet.
    pub unmet_expectations: Vec<ReadError>,
}

/// A failed scenario run.
#[derive(Debug, Error, Diagnostic)]
pub enum ScenarioRunError {
    /// The script has no reply to a call.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Script(#[from] ScriptError),
    /// The journal cannot be opened after a crash.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The runtime cannot continue the conversation.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// No event is left that could continue the run.
    #[error(transparent)]
    Deadlock(#[from] DeadlockError),
    /// The trace of the run cannot be read.
    #[error(transparent)]
    #[diagnostic(help("report this as a bug"))]
    Trace(#[from] TraceError),
    /// The run does not end.
    #[error("{name}: no end after {STEPS_MAX} steps")]
    #[diagnostic(help(
        "a single reply repeats; write a list that ends in a success, or limit the repairs in the policy"
    ))]
    StepLimit {
        /// The name of the scenario.
        name: String,
    },
}

/// Makes the observer of a run, which has seen the steps of a journal. An empty journal has none.
pub type ObserverSource<'a> = &'a dyn Fn(&Policy, &[u8]) -> Result<Box<dyn Observer>, TraceError>;

/// Runs a scenario and records its trace.
///
/// # Errors
/// [`ScenarioRunError`].
pub fn run_scenario(scenario: Scenario) -> Result<ScenarioResult, ScenarioRunError> {
    let header = header_of(&scenario);
    run_from(scenario, &header, RunStart::default(), None)
}

/// Runs a scenario with an observer, which can forbid calls. After a scripted crash it is made again from the journal.
///
/// # Errors
/// [`ScenarioRunError`].
pub fn run_observed(
    scenario: Scenario,
    observer: ObserverSource<'_>,
) -> Result<ScenarioResult, ScenarioRunError> {
    let header = header_of(&scenario);
    run_from(scenario, &header, RunStart::default(), Some(observer))
}

/// Runs a scenario for its facts alone. Nothing is recorded, unless a crash or an expectation of the scenario needs the trace.
///
/// # Errors
/// [`ScenarioRunError`].
pub fn run_for_facts(
    scenario: Scenario,
    observer: Option<ObserverSource<'_>>,
) -> Result<RunFacts, ScenarioRunError> {
    let header = header_of(&scenario);
    let is_recorded = scenario.has_crash() || !scenario.expectations.is_empty();
    let folds = FactsFolds::default();
    let start = RunStart { folds: Some(folds.clone()), is_unrecorded: !is_recorded, ..RunStart::default() };
    let result = run_from(scenario, &header, start, observer)?;
    Ok(folds.finish(&result))
}

fn header_of(scenario: &Scenario) -> Header {
    Header::new(scenario.conversation.clone(), scenario.policy.clone(), Some(scenario.reference()))
}

/// Continues a fork with the rest of a scenario. `header` is that of the fork. The expectations of the scenario are not judged: they are
/// about its own run. An observer, which sees the steps before the fork too, can forbid calls.
///
/// # Errors
/// [`ScenarioRunError`].
pub fn continue_scenario(
    progress: Progress,
    header: &Header,
    fork: Fork,
    observer: Option<ObserverSource<'_>>,
) -> Result<ScenarioResult, ScenarioRunError> {
    let Progress { mut scenario, request, events, next_request, replies, .. } = progress;
    scenario.expectations = Expectations::default();
    scenario.starts_at = Timestamp::from_millis(fork.at_ms);
    let replies = replies.into_iter().map(|(call, drawn)| (call, drawn.remaining(fork.at_ms))).collect();
    let running = request.map(|request| (request, events));
    let Fork { trace: journal, steps, halted, .. } = fork;
    let start = RunStart { journal, steps, running, halted, next_request, replies, ..RunStart::default() };
    run_from(scenario, header, start, observer)
}

/// Where a run starts: at the beginning of a scenario, or after the steps of a fork.
#[derive(Default)]
struct RunStart {
    journal: Vec<u8>,
    steps: u64,
    /// The request that runs, with its further events.
    running: Option<(ScriptedRequest, Vec<(PhaseVisit, ScriptedEvent)>)>,
    /// The refusal of an internal step, after which the kernel refuses every input.
    halted: Option<Refusal>,
    /// The index of the next request.
    next_request: usize,
    /// The replies to calls that were sent before.
    replies: BTreeMap<CallId, DelayedReply>,
    /// What collects the facts of the run, if they are needed.
    folds: Option<FactsFolds>,
    /// Whether no trace is recorded.
    is_unrecorded: bool,
}

fn run_from(
    scenario: Scenario,
    header: &Header,
    start: RunStart,
    observer: Option<ObserverSource<'_>>,
) -> Result<ScenarioResult, ScenarioRunError> {
    let host = ScriptedHost {
        clock: Clock::simulated(),
        starts_at: scenario.starts_at,
        replies: Mutex::new(start.replies.clone()),
        unsent: Mutex::default(),
        folds: start.folds.clone(),
        script: Mutex::new(scenario.script),
        handoffs: Mutex::new(HandoffChannel::new(scenario.handoffs)),
        contexts: scenario.expectations.needs_contexts().then(Mutex::default),
        error: Mutex::default(),
    };
    let Scenario { expectations, name, network, requests, deadlines, source, .. } = scenario;
    let network = network.map(|mut network| {
        clear_public_keys(&mut network);
        Input::Network(network)
    });
    let runner = ScenarioRunner {
        host: &host,
        header,
        name: &name,
        source: &source,
        network,
        deadlines,
        expectations,
        observer,
        is_unrecorded: start.is_unrecorded,
    };
    host.clock.block_on(runner.run(&requests, start))?
}

/// Removes the public keys of a new network. The nodes of a simulation sign with simulated keys, since a scenario has no secret keys;
/// the public keys of its file would refuse every handoff.
pub fn clear_public_keys(network: &mut NetworkInput) {
    if let NetworkInput::Create { nodes, .. } = network {
        nodes.iter_mut().for_each(|node| node.public_key.clear());
    }
}

fn unused_event((PhaseVisit { phase, visit }, event): (PhaseVisit, ScriptedEvent)) -> String {
    let event = match event {
        ScriptedEvent::Write(_) => "write",
        ScriptedEvent::Network(_) => "network event",
        ScriptedEvent::Ingest(_) => "ingest",
        ScriptedEvent::Interrupt(_) => "interrupt",
        ScriptedEvent::Crash => "crash",
        ScriptedEvent::Cancel => "cancel",
    };
    format!("unused {event}: the request did not reach visit {visit} of {phase}")
}

/// Returns an error if the result of an input differs from the scenario's expectation.
fn unexpected_result_error(
    source: &Source,
    noun: &str,
    place: Option<SourceSpan>,
    refused: bool,
    result: &StepResult,
) -> Option<ReadError> {
    let error = match (result, refused) {
        (StepResult::Halted(refusal) | StepResult::Refused(refusal), false) => LabeledError::new(
            format!("{noun} refused: {refusal}"),
            format!("correct the {noun}, or add `refused: true` if the scenario expects the refusal"),
        ),
        (StepResult::Accepted, true) => LabeledError::new(
            format!("{noun} accepted: expected a refusal"),
            format!("remove `refused: true`, or change the {noun}"),
        ),
        (StepResult::Halted(_) | StepResult::Refused(_), true) | (StepResult::Accepted, false) => {
            return None;
        }
    };
    Some(ReadError::in_source(source, error.with_label(place, format!("this {noun}"))))
}

/// Returns the error of a text that states no fact.
fn underivable_error(source: &Source, place: Option<SourceSpan>) -> ReadError {
    let error = LabeledError::new(
        "no fact derived: expected a text that supersedes a fact, found none",
        "add the `key` of the fact that the text states, or remove the entry",
    );
    ReadError::in_source(source, error.with_label(place, "states no fact"))
}

/// The scripted modules, in simulated time.
struct ScriptedHost {
    clock: Clock,
    starts_at: Timestamp,
    /// The replies that were drawn before the run started, for calls that are still pending.
    replies: Mutex<BTreeMap<CallId, DelayedReply>>,
    /// The calls that no module has executed: those that were pending before the run started, and those that a crash left pending and that
    /// the observer forbids.
    unsent: Mutex<BTreeSet<CallId>>,
    folds: Option<FactsFolds>,
    script: Mutex<Script>,
    handoffs: Mutex<HandoffChannel>,
    /// The contexts of the calls, if the scenario expects something of them.
    contexts: Option<Mutex<Vec<ObservedContext>>>,
    /// The first call without a scripted reply.
    error: Mutex<Option<ScriptError>>,
}

impl ScriptedHost {
    /// Returns the scripted reply after its delay. From then on a store holds its record.
    async fn reply(&self, call: &Call) -> ScriptedReply {
        if let (Some(contexts), Some(context)) = (&self.contexts, &call.context) {
            let (request, module) = (call.trace.request, call.module);
            let observed = ObservedContext { request, module, text: context.text.clone() };
            lock_ignoring_poison(contexts).push(observed);
        }
        if let (Some(folds), Some(context)) = (&self.folds, &call.context) {
            folds.add_context(context.cost_tokens, context.payload_tokens);
        }
        let scene = CallScene {
            operation: call.operation,
            request: call.trace.request,
            pass: call.pass,
            user: &call.user,
            text: &call.request,
            node: call.node.as_ref(),
            context: call.context.as_ref().map_or("", |context| &context.text),
        };
        let drawn = lock_ignoring_poison(&self.replies).remove(&call.id);
        let scripted = match drawn {
            Some(drawn) => Ok(drawn),
            None => lock_ignoring_poison(&self.script).reply(&scene),
        };
        match scripted {
            Ok(DelayedReply { reply, after }) => {
                if !after.is_zero() {
                    self.clock.sleep(after).await;
                }
                lock_ignoring_poison(&self.script).store(call, &reply);
                reply
            }
            Err(error) => {
                *lock_ignoring_poison(&self.error) = Some(error);
                ScriptedReply::Fail(Failure::Error)
            }
        }
    }
}

impl Host for ScriptedHost {
    async fn execute(&self, call: &Call) -> CallResult {
        match self.reply(call).await {
            ScriptedReply::Reply(reply) => Ok(reply),
            ScriptedReply::Fail(Failure::Timeout) => pending().await,
            ScriptedReply::Fail(failure) => Err(failure.into()),
        }
    }

    async fn recover(&self, call: &Call) -> RecoveryResult {
        if lock_ignoring_poison(&self.unsent).remove(&call.id) {
            return RecoveryResult::NotStarted;
        }
        match self.reply(call).await {
            ScriptedReply::Reply(reply) => RecoveryResult::Completed(Ok(reply)),
            ScriptedReply::Fail(Failure::OutcomeUnknown) => RecoveryResult::OutcomeUnknown,
            ScriptedReply::Fail(failure) => RecoveryResult::Completed(Err(failure.into())),
        }
    }

    fn transmit(&self, handoff: SignedHandoff) -> Vec<SignedHandoff> {
        lock_ignoring_poison(&self.handoffs).transmit(handoff)
    }

    async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }

    fn now_ms(&self) -> u64 {
        let passed_ms = u64::try_from(self.clock.now().as_millis()).unwrap_or(u64::MAX);
        self.starts_at.millis().saturating_add(passed_ms)
    }
}

struct ScenarioRunner<'a> {
    host: &'a ScriptedHost,
    header: &'a Header,
    name: &'a str,
    source: &'a Source,
    /// The input that creates the network.
    network: Option<Input>,
    deadlines: Deadlines,
    expectations: Expectations,
    observer: Option<ObserverSource<'a>>,
    is_unrecorded: bool,
}

impl ScenarioRunner<'_> {
    /// Opens a journal whose steps were acknowledged up to this one.
    fn open(&self, journal: Vec<u8>, step: u64) -> Result<Conversation<Vec<u8>>, ScenarioRunError> {
        let observer = match self.observer {
            Some(observer) => Some(observer(&self.header.policy, &journal)?),
            None => None,
        };
        let observer = match &self.host.folds {
            Some(folds) => Some(folds.observer(observer)),
            None => observer,
        };
        let conversation = match self.is_unrecorded {
            true => Conversation::start_unrecorded(journal, self.header, &StandardContexts)?,
            false => Conversation::open_acknowledged(journal, self.header, &StandardContexts, step)?,
        };
        let conversation = conversation.with_deadlines(self.deadlines.clone());
        let Some(observer) = observer else { return Ok(conversation) };
        let pending = conversation.state().control().pending_calls().iter().map(|call| call.id);
        lock_ignoring_poison(&self.host.unsent)
            .extend(pending.filter(|call| observer.forbids(*call).is_some()));
        Ok(conversation.with_observer(observer))
    }

    async fn run(
        &self,
        requests: &[ScriptedRequest],
        start: RunStart,
    ) -> Result<ScenarioResult, ScenarioRunError> {
        let RunStart { journal, steps, running, halted, next_request, .. } = start;
        let mut conversation = self.open(journal, steps)?;
        let pending = conversation.state().control().pending_calls().iter();
        lock_ignoring_poison(&self.host.unsent).extend(pending.map(|call| call.id));
        let (mut unused_events, mut unexpected_writes) = (Vec::new(), Vec::new());
        let mut halted = halted;
        let mut network = self.network.as_ref().filter(|_| steps == 0);
        if let Some((request, mut events)) = running.filter(|_| halted.is_none()) {
            let started = StepResult::Accepted;
            halted = self
                .drive_request(&mut conversation, &request, started, &mut events, &mut unexpected_writes)
                .await?;
            unused_events.extend(events.into_iter().map(unused_event));
        }
        for request in requests.iter().skip(next_request) {
            if halted.is_none() {
                self.host.sleep(request.after).await;
                if let Some(network) = network.take()
                    && let StepResult::Halted(refusal) = conversation.run(self.host)?.submit(network)?
                {
                    halted = Some(refusal);
                    continue;
                }
                let mut events = request.events.clone();
                halted =
                    self.run_request(&mut conversation, request, &mut events, &mut unexpected_writes).await?;
                unused_events.extend(events.into_iter().map(unused_event));
            }
        }
        // After a halt, later replies are unreachable rather than unused.
        if halted.is_none() {
            unused_events.extend(lock_ignoring_poison(&self.host.script).unused());
            unused_events.extend(lock_ignoring_poison(&self.host.handoffs).unused());
        }
        if lock_ignoring_poison(&self.host.script).form() == ScriptForm::Partial {
            unused_events.clear();
        }
        // Under `as-drawn` a conversation may end with its request; then no session is open. A fork can start after the end of it.
        let control = conversation.state().control();
        if halted.is_none()
            && control.phase() == Phase::Idle
            && control.session().is_some()
            && let StepResult::Halted(refusal) = conversation.run(self.host)?.submit(&Input::SessionEnd)?
        {
            halted = Some(refusal);
        }
        if let Some(folds) = &self.host.folds {
            folds.set_time(self.host.clock.now());
        }
        let steps = conversation.steps();
        let trace = conversation.finish().await?;
        let contexts = self.host.contexts.as_ref().map(|contexts| lock_ignoring_poison(contexts));
        let contexts = contexts.as_ref().map_or(&[][..], |contexts| contexts);
        let unmet_expectations = self.expectations.judge(self.source, &trace, contexts)?;
        Ok(ScenarioResult { trace, steps, halted, unused_events, unexpected_writes, unmet_expectations })
    }

    /// Runs a request. Returns the refusal at which the conversation halts, if it does.
    async fn run_request(
        &self,
        conversation: &mut Conversation<Vec<u8>>,
        request: &ScriptedRequest,
        events: &mut Vec<(PhaseVisit, ScriptedEvent)>,
        unexpected: &mut Vec<ReadError>,
    ) -> Result<Option<Refusal>, ScenarioRunError> {
        let result = conversation.run(self.host)?.start_request(&request.user, request.request.clone())?;
        // Neither without a session nor in an unknown scope a request runs.
        if let StepResult::Refused(refusal) = &result
            && conversation.state().control().phase() == Phase::Idle
        {
            return Ok(Some(refusal.clone()));
        }
        self.drive_request(conversation, request, result, events, unexpected).await
    }

    /// Runs a started request to its end. `result` is that of its latest input.
    async fn drive_request(
        &self,
        conversation: &mut Conversation<Vec<u8>>,
        ScriptedRequest { user, .. }: &ScriptedRequest,
        mut result: StepResult,
        events: &mut Vec<(PhaseVisit, ScriptedEvent)>,
        unexpected: &mut Vec<ReadError>,
    ) -> Result<Option<Refusal>, ScenarioRunError> {
        let mut driver = conversation.run(self.host)?;
        loop {
            let phase = driver.state().control().phase();
            if let (Some(folds), Some(facts)) = (&self.host.folds, driver.facts()) {
                folds.set_passes(facts.passes);
            }
            match result {
                StepResult::Halted(refusal) => return Ok(Some(refusal)),
                _ if phase.is_quiescent() => return Ok(None),
                StepResult::Accepted | StepResult::Refused(_) => {}
            }
            let visit = driver.facts().map_or(0, |facts| facts.visits(phase));
            let now = PhaseVisit { phase, visit };
            let mut cancelled = false;
            while let Some(next) = events.iter().position(|(at, _)| *at == now) {
                match events.remove(next).1 {
                    ScriptedEvent::Write(write) => {
                        let ScriptedWrite { write, refused } = *write;
                        let span = write.span();
                        let result = driver.submit(&Input::Write(Box::new(write.value)))?;
                        unexpected.extend(unexpected_result_error(
                            self.source,
                            "write",
                            span,
                            refused,
                            &result,
                        ));
                    }
                    ScriptedEvent::Network(event) => {
                        let ScriptedNetworkEvent { input, refused } = *event;
                        let span = input.span();
                        let result = driver.submit(&Input::Network(Box::new(input.value)))?;
                        unexpected.extend(unexpected_result_error(
                            self.source,
                            "network event",
                            span,
                            refused,
                            &result,
                        ));
                    }
                    ScriptedEvent::Ingest(text) => {
                        let writes = ingest(&self.header.policy, driver.state(), &text.value);
                        if writes.is_empty() {
                            unexpected.push(underivable_error(self.source, text.span()));
                        }
                        for write in writes {
                            let result = driver.submit(&Input::Write(Box::new(write)))?;
                            unexpected.extend(unexpected_result_error(
                                self.source,
                                "write",
                                text.span(),
                                false,
                                &result,
                            ));
                        }
                    }
                    // The kernel refuses the message, and the request continues.
                    ScriptedEvent::Interrupt(text) => {
                        let _refused = driver.submit(&Input::user_message(user.user.clone(), text))?;
                    }
                    ScriptedEvent::Crash => {
                        drop(driver);
                        conversation.commit().await?;
                        *conversation = self.open(conversation.journal().clone(), conversation.steps())?;
                        driver = conversation.run(self.host)?;
                        let _resumed = driver.resume()?;
                    }
                    ScriptedEvent::Cancel => cancelled = true,
                }
            }
            result = if cancelled { driver.submit(&Input::Cancel)? } else { driver.step().await? };
            if let Some(error) = lock_ignoring_poison(&self.host.error).take() {
                return Err(error.into());
            }
            if driver.steps() > STEPS_MAX {
                return Err(ScenarioRunError::StepLimit { name: self.name.to_owned() });
            }
        }
    }
}
