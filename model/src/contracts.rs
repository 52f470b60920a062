//! The contracts of `decide` and `apply`, checked state by state and step by step.

use crate::coverage::Observation;
use crate::kernel_under_test::KernelUnderTest;
use crate::responses::Responses;
use orchestrion_claims::{CLAIMS, ClaimCheck, Contract};
use orchestrion_kernel::checker::input_time;
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::item::{ItemKey, Layer, Scope};
use orchestrion_kernel::knowledge::{NewFact, Write, WriteSource};
use orchestrion_kernel::module::{Argument, Failure, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::network::{NetworkError, NetworkEvent, NetworkInput, Node, NodeStatus};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::state::NetworkState;
use orchestrion_kernel::{
    CallId, Event, Events, Input, Phase, Refusal, Score, State, TaskId, TimedInput, Timestamp, UserId, decide,
};
use std::fmt::{self, Write as _};
use std::sync::LazyLock;

/// Probes inputs of every kind, most of them unexpected. Reports violated contracts and the refusals that occurred.
pub fn check_state_contracts(subject: &KernelUnderTest, state: &State, seen: impl FnMut(Observation)) {
    check_responses(&Responses::new(subject, state), seen);
}

/// Checks as [`check_state_contracts`] does, and remembers the responses.
pub(crate) fn check_responses(responses: &Responses<'_>, mut seen: impl FnMut(Observation)) {
    let (subject, state) = (responses.subject(), responses.state());
    // A refusal has no events. Applying none is what a runtime does with it.
    let mut is_untouched = None;
    for probe in probes(state) {
        let TimedInput { at, input } = &probe.input;
        let is_in_time = probe.is_in_time();
        let answer = subject.decide_at(state, *at, input, &mut |_| ());
        // Claims about acceptance read the faster answer.
        let is_asked = matches!(input, Input::Step | Input::CallFailed { .. } | Input::UserMessage { .. });
        let is_confirmed = || subject.accepts(state, input) == answer.is_ok();
        if is_asked && is_in_time && !is_confirmed() || !is_total(subject, state, input, &answer) {
            seen(broken(Contract::Total));
        }
        if !probe.due.fits(&answer) {
            seen(broken(Contract::RefusesMismatchedReply));
        }
        if let Err(refusal) = &answer {
            seen(Observation::of_refusal(refusal));
            let is_untouched = *is_untouched.get_or_insert_with(|| subject.apply(state, &[]) == *state);
            if !is_untouched || !has_message(refusal) {
                seen(broken(Contract::RefusalPreservesState));
            }
        }
        if is_in_time {
            responses.remember(probe.input.input, answer);
        }
    }
    if !passes_time_first(subject, state) {
        seen(broken(Contract::PassesTimeFirst));
    }
}

/// Whether a step, and a new write of each item that expires next, are decided at that time as a tick and then the input.
fn passes_time_first(subject: &KernelUnderTest, state: &State) -> bool {
    let Some(at) = state.semantic().next_expiry(state.now()) else { return true };
    let decide = |state: &State, input: &Input| subject.decide_at(state, at, input, &mut |_| ());
    let Ok(passage) = decide(state, &Input::Tick) else { return false };
    let later = subject.apply(state, &passage);
    let expiring =
        state.semantic().entries().filter_map(|entry| match (&entry.item.key, &entry.item.layer) {
            (ItemKey::Working(key), Layer::Working { expires_at: Some(expiry), .. }) if *expiry == at => {
                Some(key)
            }
            _ => None,
        });
    let rewrites = expiring.map(|key| Input::Write(Box::new(working(key))));
    [Input::Step].into_iter().chain(rewrites).all(|input| {
        let after_passage = decide(&later, &input);
        decide(state, &input) == after_passage.map(|events| passage.iter().cloned().chain(events).collect())
    })
}

/// Returns a probing input that this state refuses with this refusal, if there is one.
#[must_use]
pub fn find_refused_input(
    subject: &KernelUnderTest,
    state: &State,
    refusal: Observation,
) -> Option<TimedInput> {
    let is_refused_so = |probe: &Probe| {
        let TimedInput { at, input } = &probe.input;
        let answer = subject.decide_at(state, *at, input, &mut |_| ());
        answer.is_err_and(|found| Observation::of_refusal(&found) == refusal)
    };
    probes(state).into_iter().find(is_refused_so).map(|probe| probe.input)
}

/// Checks the contracts on steps against the unmodified kernel: an exploration explores what `decide` does, and does
/// again. The caller finds out whether the events [round-trip](is_round_trip), once for each batch.
pub fn check_step_contracts(
    subject: &KernelUnderTest,
    before: &State,
    input: &Input,
    events: &Events,
    round_trips: impl FnOnce() -> bool,
    mut seen: impl FnMut(Observation),
) {
    if decide(&subject.policy, before, input_time(before, input), input).as_ref() != Ok(events) {
        seen(broken(Contract::Deterministic));
    }
    // Equal events give equal states, because `apply` reads nothing else.
    if !round_trips() {
        seen(broken(Contract::ReplaysFromLog));
    }
}

/// Whether events round-trip through their encoding.
#[must_use]
pub fn is_round_trip(events: &Events) -> bool {
    let text = serde_json::to_vec(events);
    let decoded = text.and_then(|text| serde_json::from_slice::<Events>(&text));
    decoded.is_ok_and(|decoded| decoded == *events)
}

/// Checks that a refused input is no well-typed reply to the pending call.
pub fn check_refusal_contract(input: &Input, refusal: &Refusal, mut seen: impl FnMut(Observation)) {
    seen(Observation::of_refusal(refusal));
    if let (Input::Reply { .. }, Refusal::UnexpectedInput { .. }) = (input, refusal) {
        seen(broken(Contract::AcceptsExpectedReply));
    }
}

fn broken(contract: Contract) -> Observation {
    let states = |check: &ClaimCheck| matches!(check, ClaimCheck::Contract(stated) if *stated == contract);
    Observation::Violation(CLAIMS.iter().position(|claim| states(&claim.check)).unwrap_or_default())
}

/// Whether a refusal has a message. It need not be formatted as a whole for that.
fn has_message(refusal: &Refusal) -> bool {
    struct First;
    impl fmt::Write for First {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            if text.is_empty() { Ok(()) } else { Err(fmt::Error) }
        }
    }
    write!(First, "{refusal}").is_err()
}

/// Whether an input takes one enabled transition, takes none as a resume, a write, a tick, an input about the network or a failed
/// attempt that is repeated, or is refused.
fn is_total(
    subject: &KernelUnderTest,
    state: &State,
    input: &Input,
    answer: &Result<Events, Refusal>,
) -> bool {
    let Ok(events) = answer else { return true };
    let rows: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Transitioned { row } = event { Some(row) } else { None })
        .collect();
    match rows.as_slice() {
        [] => match input {
            Input::Resume => events == &[Event::Resumed],
            Input::Write(_) => events.iter().all(|event| event.base().is_some()),
            Input::Tick => events.iter().all(is_passage_of_time),
            Input::Network(_) => events.iter().all(is_of_network),
            Input::CallFailed { call, .. } => {
                events.iter().all(is_of_network)
                    && events.iter().any(|event| {
                        matches!(event, Event::Network(NetworkEvent::AttemptFailed { call: failed, .. }) if failed == call)
                    })
            }
            _ => false,
        },
        [row] => row.transition().is_enabled(&subject.policy, state.control().phase(), input.trigger()),
        _ => false,
    }
}

/// Whether the event advances the time or forgets expired items.
const fn is_passage_of_time(event: &Event) -> bool {
    matches!(event, Event::TimeAdvanced { .. } | Event::ForgetItems { cause: ForgetCause::Expiry, .. })
}

/// Whether the event is about the network, or repeats a call at another node.
const fn is_of_network(event: &Event) -> bool {
    matches!(event, Event::Network(_) | Event::ToolCall { .. } | Event::OverBudget { .. })
}

/// An input with the expected response.
struct Probe {
    input: TimedInput,
    due: ExpectedResponse,
}

impl Probe {
    /// Whether the input comes at its input time.
    const fn is_in_time(&self) -> bool {
        !matches!(self.due, ExpectedResponse::TimeWentBack)
    }
}

/// The expected response to an input.
#[derive(Clone, Copy)]
enum ExpectedResponse {
    Any,
    WrongCall,
    WrongReport,
    WrongUser,
    NoSession,
    Unexpected,
    EffectChanged,
    SecondNetwork,
    DuplicateNode,
    TimeWentBack,
}

impl ExpectedResponse {
    const fn fits(self, answer: &Result<Events, Refusal>) -> bool {
        match self {
            Self::Any => true,
            Self::WrongCall => matches!(answer, Err(Refusal::WrongCall { .. })),
            Self::WrongReport => matches!(answer, Err(Refusal::WrongReport { .. })),
            Self::WrongUser => matches!(answer, Err(Refusal::WrongUser { .. })),
            Self::NoSession => matches!(answer, Err(Refusal::NoSession)),
            Self::Unexpected => matches!(answer, Err(Refusal::UnexpectedInput { .. })),
            Self::EffectChanged => matches!(answer, Err(Refusal::EffectChanged { .. })),
            Self::SecondNetwork => {
                matches!(answer, Err(Refusal::InvalidNetworkInput(NetworkError::AlreadyCreated)))
            }
            Self::DuplicateNode => {
                matches!(answer, Err(Refusal::InvalidNetworkInput(NetworkError::DuplicateNode { .. })))
            }
            Self::TimeWentBack => matches!(answer, Err(Refusal::TimeWentBack { .. })),
        }
    }
}

/// The text of all probes.
static TEXT: LazyLock<Text> = LazyLock::new(|| Text::from("?"));

/// A user without a session.
static STRANGER: LazyLock<UserId> = LazyLock::new(|| UserId::new("stranger"));

fn signal() -> Write {
    Write::Environment { key: TEXT.clone(), text: TEXT.clone(), supersedes: None }
}

/// A working item, which ends with its session.
fn working(key: &Text) -> Write {
    Write::Working { key: key.clone(), text: TEXT.clone(), expires_at: None, depends_on: Vec::new() }
}

/// At least one input of every kind, most of them unexpected.
fn probes(state: &State) -> Vec<Probe> {
    let control = state.control();
    let pending = control.pending_calls();
    let live = pending.first().map_or(CallId::FIRST, |call| call.id);
    let ask = pending.first().map(|call| call.operation);
    let is_made = pending.first().is_some_and(|call| call.not_made.is_none());
    let other = pending.last().map_or(live, |call| call.id).next();
    let stranger = || STRANGER.clone();
    let message = |user| Input::user_message(user, TEXT.clone());
    // Outside Idle, the phase is refused first.
    let of_message =
        |in_idle| if control.phase() == Phase::Idle { in_idle } else { ExpectedResponse::Unexpected };
    let in_session = |due| if control.session().is_some() { due } else { ExpectedResponse::NoSession };
    let receipt_fits = ask.is_none_or(|ask| matches!(ask, Operation::DeliverAudit));
    let locks = Report::Identity { gcp: true, mongodb: true };
    let mut probes: Vec<Probe> = [
        (Input::Step, ExpectedResponse::Any),
        (Input::Cancel, ExpectedResponse::Any),
        (Input::Resume, ExpectedResponse::Any),
        (Input::Tick, ExpectedResponse::Any),
        (Input::Write(Box::new(signal())), ExpectedResponse::Any),
        (Input::SessionEnd, of_message(in_session(ExpectedResponse::Any))),
        (Input::session_start(stranger()), of_message(ExpectedResponse::Any)),
        (message(stranger()), of_message(in_session(ExpectedResponse::WrongUser))),
        (Input::reply(other, Report::Delivered), ExpectedResponse::WrongCall),
        (
            Input::reply(live, Report::Delivered),
            if receipt_fits { ExpectedResponse::Any } else { ExpectedResponse::WrongReport },
        ),
        (Input::reply(live, locks), ExpectedResponse::Any),
        (Input::CallFailed { call: other, failure: Failure::Error }, ExpectedResponse::WrongCall),
        (Input::CallFailed { call: live, failure: Failure::Timeout }, ExpectedResponse::Any),
    ]
    .into_iter()
    .map(|(input, due)| Probe { input: TimedInput::in_state(state, input), due })
    .collect();
    probes.extend(control.session().map(|user| Probe {
        input: TimedInput::in_state(state, message(user.clone())),
        due: of_message(ExpectedResponse::Any),
    }));
    if control.session().is_none() {
        probes.extend(writes_of_session().map(|write| Probe {
            input: TimedInput::in_state(state, Input::Write(Box::new(write))),
            due: ExpectedResponse::NoSession,
        }));
    }
    if let Some(network) = state.network() {
        let creation = (second_creation(network), ExpectedResponse::SecondNetwork);
        let join = second_join(network).map(|join| (join, ExpectedResponse::DuplicateNode));
        probes.extend([creation].into_iter().chain(join).map(|(input, due)| Probe {
            input: TimedInput::in_state(state, Input::Network(Box::new(input))),
            due,
        }));
    }
    probes.extend(state.now().millis().checked_sub(1).map(|earlier| Probe {
        input: TimedInput { at: Timestamp::from_millis(earlier), input: Input::Step },
        due: ExpectedResponse::TimeWentBack,
    }));
    // Only Solution and the Optimizer may submit a plan with their arguments.
    if let (
        Some(
            Operation::Argue(Role::Analyst | Role::Critic | Role::Security)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision,
        ),
        Some(request),
    ) = (ask, control.request())
        && let Some(revised) = request.plan.as_ref().filter(|_| is_made)
    {
        let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
        let report = Report::Argument { argument, text: TEXT.clone(), plan: Some(revised.plan.clone()) };
        probes.push(Probe {
            input: TimedInput::in_state(state, Input::reply(live, report)),
            due: ExpectedResponse::WrongReport,
        });
    }
    // No reply to a call that is not made is accepted, whatever its plan.
    if is_made && let (Some(Operation::Diagnose), Some(plan)) = (ask, other_effects(state)) {
        let report = Report::Repaired { text: Text::from("?"), plan };
        probes.push(Probe {
            input: TimedInput::in_state(state, Input::reply(live, report)),
            due: ExpectedResponse::EffectChanged,
        });
    }
    probes
}

/// Replies to the first pending call with every report of another operation. Whether a report fits depends on the operation alone, so the
/// states of the enumerations of control suffice.
pub(crate) fn check_other_reports(
    subject: &KernelUnderTest,
    state: &State,
    mut seen: impl FnMut(Observation),
) {
    let Some(call) = state.control().pending_calls().first() else { return };
    for report in REPORTS.iter().filter(|report| !is_reply_to(report, call.operation)) {
        let reply = TimedInput::in_state(state, Input::reply(call.id, report.clone()));
        let response = subject.decide_at(state, reply.at, &reply.input, &mut |_| ());
        if !ExpectedResponse::WrongReport.fits(&response) {
            seen(broken(Contract::RefusesMismatchedReply));
        }
    }
}

/// A report of every kind.
static REPORTS: LazyLock<Vec<Report>> = LazyLock::new(|| {
    let text = || TEXT.clone();
    let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
    let task = Task {
        id: TaskId::new(1),
        text: text(),
        effect: Effect::Pure,
        depends_on: None,
        scope: None,
        step: StepOptions::default(),
    };
    let plan = Plan::new(vec![task]).expect("a plan of one task is valid");
    vec![
        Report::Plan(plan.clone()),
        Report::Repaired { text: text(), plan },
        Report::Identity { gcp: true, mongodb: true },
        Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Report::Summary { text: text(), forgets: None },
        Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Report::Argument { argument, text: text(), plan: None },
        Report::Approval { approved: true, text: text() },
        Report::NoRepair { text: text() },
        Report::Exit { code: 0, text: text(), number: None },
        Report::Stored { held: true },
        Report::Delivered,
    ]
});

/// Whether a report is a reply to this operation, by the source documents.
const fn is_reply_to(report: &Report, operation: Operation) -> bool {
    match report {
        Report::Identity { .. } => matches!(operation, Operation::VerifyIdentity),
        Report::Context { .. } => matches!(operation, Operation::LoadContext),
        Report::Summary { .. } => matches!(operation, Operation::Summarize),
        Report::Classification { .. } => matches!(operation, Operation::Classify),
        Report::Plan(_) => matches!(operation, Operation::DraftPlan),
        Report::Argument { .. } => {
            matches!(
                operation,
                Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision
            )
        }
        Report::Approval { .. } => matches!(operation, Operation::Approve),
        Report::Repaired { .. } | Report::NoRepair { .. } => matches!(operation, Operation::Diagnose),
        Report::Exit { .. } => matches!(operation, Operation::RunTask { .. } | Operation::UndoTask { .. }),
        Report::Stored { .. } => matches!(operation, Operation::StoreMemory { .. }),
        Report::Delivered => matches!(operation, Operation::DeliverAudit),
    }
}

/// A working item, a fact of the session, a fact of the user, and a promotion by the user.
fn writes_of_session() -> [Write; 4] {
    let fact = |source| NewFact::global(TEXT.clone(), TEXT.clone(), source);
    let named = || WriteSource::declared(TEXT.clone());
    let of_session = NewFact { scope: Scope::Session, ..fact(named()) };
    let promotion = Write::Promote {
        key: TEXT.clone(),
        scope: Scope::Draft(TEXT.clone()),
        source: WriteSource::default(),
    };
    [working(&TEXT), Write::Fact(of_session), Write::Fact(fact(WriteSource::default())), promotion]
}

/// The creation of a network where one exists.
fn second_creation(network: &NetworkState) -> NetworkInput {
    let (orchestrator, policy) = (network.orchestrator().clone(), *network.policy());
    let nodes = network.node(&orchestrator).cloned().into_iter().collect();
    NetworkInput::Create { orchestrator, policy, nodes }
}

/// The join of a node that is in the network: of an expelled one, if there is one.
fn second_join(network: &NetworkState) -> Option<NetworkInput> {
    let is_expelled = |node: &&Node| node.status == NodeStatus::Expelled;
    let expelled = network.nodes().iter().find(is_expelled);
    let known = expelled.or_else(|| network.node(network.orchestrator()))?;
    Some(NetworkInput::Join { node: Node { status: NodeStatus::Member, ..known.clone() } })
}

/// The plan with a different effect and an unknown scope for every task, if one of them was started. The effect is refused first.
fn other_effects(state: &State) -> Option<Plan> {
    let request = state.control().request()?;
    let started = |task: &Task| request.ledger.get(task.id).is_some();
    let plan = &request.plan.as_ref()?.plan;
    let other = |effect: &Effect| match effect {
        Effect::Pure => Effect::Irreversible,
        Effect::Undoable { .. } | Effect::Irreversible => Effect::Pure,
    };
    let tasks = plan.tasks().iter().map(|task| Task {
        effect: other(&task.effect),
        scope: Some(Scope::Draft(TEXT.clone())),
        ..task.clone()
    });
    plan.tasks().iter().any(started).then(|| Plan::new(tasks.collect()).ok()).flatten()
}
