//! Conversations with a network: nodes, plans, handoffs, replies and failures.

use super::RandomSource;
use super::network_plans::{random_answer, random_plan};
use super::writes::{global_fact, superseding_write};
use orchestrion_kernel::module::{Argument, Failure, Operation, Ratings, Report, Stance};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::{
    Capability, CapabilityCategory, CapabilityConstraints, CapabilityState, Feedback, HandoffReceipt,
    InteractionReport, Millionths, NetworkInput, Node, SignatureStatus, TrustPolicy,
};
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::state::{Assignment, Call};
use orchestrion_kernel::{
    CallId, CapabilityId, ClusterId, Input, NodeId, Phase, Policy, Score, State, TimedInput, Timestamp,
    UserId, can_step,
};

/// The ids of nodes; a network has 2 to 6 of them.
const NODES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
/// The capabilities of modules besides the executor.
const MODULES: [&str; 14] = [
    "identity_guard",
    "memory",
    "summarizer",
    "classifier",
    "planner",
    "analyst",
    "solution",
    "critic",
    "security",
    "optimizer",
    "approver",
    "local_store",
    "cloud_store",
    "auditor",
];
/// The capabilities that tasks require.
pub(super) const TASK_CAPABILITIES: [&str; 3] = ["executor", "analysis", "review"];

/// The probabilities of one conversation, in percent.
#[derive(Clone, Copy, Debug)]
pub struct NetworkBias {
    /// Tasks that exit with code 0.
    success: u32,
    /// Calls that fail.
    failure: u32,
    /// Changes of the network.
    change: u32,
    /// Forged, repeated and premature inputs.
    forgery: u32,
    /// Cancellations.
    cancel: u32,
    /// Tasks that start beside running ones.
    parallel: u32,
}

/// A conversation with a network under way.
#[derive(Clone, Copy, Debug)]
pub struct NetworkConversation {
    bias: NetworkBias,
    size: usize,
}

pub(super) fn score(choice: &mut impl RandomSource) -> Score {
    let millionths = choice.one_of(&[0, 1_000_000, 500_000, 300_000, 900_000]);
    let millionths = if choice.percent(60) { choice.below(1_000_001) } else { millionths };
    Score::from_millionths(millionths).unwrap_or_default()
}

fn node_id(choice: &mut impl RandomSource, size: usize) -> NodeId {
    NodeId::new(choice.one_of(&NODES[..size]))
}

/// Returns the policy of a conversation.
#[must_use]
pub fn network_policy(choice: &mut impl RandomSource) -> Policy {
    let mut policy = Policy::hardened();
    policy.bounds.parallel_tasks = choice.one_of(&[4, 1, 2, 3]);
    policy
}

fn trust_policy(choice: &mut impl RandomSource) -> TrustPolicy {
    let mut policy = TrustPolicy::default();
    policy.status.probation_interactions = choice.one_of(&[50, 2, 3, 5]);
    policy.trust.partner_window = choice.one_of(&[100, 10, 3]);
    policy.routing.order = choice.one_of(&[
        RoutingOrder::Score,
        RoutingOrder::Score,
        RoutingOrder::Quality,
        RoutingOrder::RoundRobin,
    ]);
    policy.routing.local_preference = choice.percent(80);
    policy.routing.all_capabilities = choice.percent(80);
    policy.workflow.max_retries = choice.one_of(&[2, 2, 1, 0, 3]);
    policy
}

fn capability(choice: &mut impl RandomSource, id: &str) -> CapabilityState {
    let is_limited = choice.percent(15);
    let types = |choice: &mut _, name: &str| {
        if RandomSource::percent(choice, 15) { vec![name.into()] } else { vec![] }
    };
    let declared = Capability {
        id: CapabilityId::new(id),
        name: id.into(),
        category: choice.one_of(&CapabilityCategory::ALL),
        input_types: types(choice, "text"),
        output_types: types(choice, "report"),
        constraints: CapabilityConstraints {
            max_input_size: is_limited.then_some(10),
            timeout_ms: is_limited.then_some(100),
        },
        max_capacity: choice.one_of(&[4, 1, 2, 20, 10, 0]),
    };
    let quality =
        if choice.percent(50) { Score::from_millionths(500_000).unwrap_or_default() } else { score(choice) };
    CapabilityState { available: choice.percent(92), ..CapabilityState::new(declared, quality) }
}

fn node(choice: &mut impl RandomSource, policy: &TrustPolicy, id: &NodeId, is_orchestrator: bool) -> Node {
    let mut node = Node::new(&policy.start, id.clone());
    if choice.percent(50) {
        node.trust = score(choice);
    }
    node.cluster = choice.percent(60).then(|| ClusterId::new(choice.one_of(&["one", "two"])));
    for module in MODULES {
        if choice.percent(if is_orchestrator { 90 } else { 40 }) {
            let mut held = capability(choice, module);
            if is_orchestrator && choice.percent(90) {
                let declared = Capability {
                    max_capacity: 10,
                    input_types: vec![],
                    output_types: vec![],
                    ..(*held.capability).clone()
                };
                held = CapabilityState::new(declared, held.quality);
            }
            node.add_capability(held);
        }
    }
    for id in TASK_CAPABILITIES {
        if choice.percent(if is_orchestrator { 30 } else { 75 }) {
            node.add_capability(capability(choice, id));
        }
    }
    node
}

impl NetworkConversation {
    /// Chooses the probabilities.
    pub fn draw(choice: &mut impl RandomSource) -> Self {
        let bias = NetworkBias {
            success: choice.one_of(&[80, 95, 50]),
            failure: choice.one_of(&[8, 2, 25]),
            change: choice.one_of(&[5, 1, 15]),
            forgery: choice.one_of(&[5, 0, 15]),
            cancel: choice.one_of(&[0, 0, 1, 2]),
            parallel: choice.one_of(&[60, 90, 20]),
        };
        let size = usize::try_from(choice.below(5)).unwrap_or(0) + 2;
        Self { bias, size }
    }

    /// Generates the next input.
    pub fn next_input(&self, choice: &mut impl RandomSource, policy: &Policy, state: &State) -> TimedInput {
        let later = choice.one_of(&[0, 0, 1, 250, 60_000]);
        let at = Timestamp::from_millis(state.now().millis() + later);
        TimedInput { at, input: self.input(choice, policy, state) }
    }

    fn input(&self, choice: &mut impl RandomSource, policy: &Policy, state: &State) -> Input {
        let control = state.control();
        if state.network().is_none() && choice.percent(90) {
            return Input::Network(Box::new(self.create(choice)));
        }
        if choice.percent(self.bias.change) {
            return Input::Network(Box::new(self.change(choice, state)));
        }
        let is_idle = control.phase() == Phase::Idle;
        if !is_idle && choice.percent(self.bias.cancel) {
            return Input::Cancel;
        }
        if is_idle && control.session().is_some() && choice.percent(20) {
            return Input::Write(Box::new(global_fact(choice)));
        }
        let is_running = control.phase() == Phase::RunningTasks;
        let is_outdated = is_running && choice.percent(self.bias.change);
        if let Some(write) = is_outdated.then(|| superseding_write(choice, state)).flatten() {
            return Input::Write(Box::new(write));
        }
        if is_running && can_step(policy, state) && choice.percent(self.bias.parallel) {
            return Input::Step;
        }
        if !control.pending_calls().is_empty() {
            let call = choice.one_of(control.pending_calls());
            return self.answer(choice, state, call);
        }
        match control.session() {
            Some(user) if is_idle => Input::user_message(user.clone(), "do it".into()),
            None if is_idle => Input::session_start(UserId::new("ada")),
            Some(_) | None => Input::Step,
        }
    }

    fn create(&self, choice: &mut impl RandomSource) -> NetworkInput {
        let policy = trust_policy(choice);
        let orchestrator = if choice.percent(97) { NodeId::new("a") } else { NodeId::new("z") };
        let nodes = NODES[..self.size].iter().enumerate();
        let nodes = nodes.map(|(at, id)| node(choice, &policy, &NodeId::new(*id), at == 0)).collect();
        NetworkInput::Create { orchestrator, policy, nodes }
    }

    fn change(&self, choice: &mut impl RandomSource, state: &State) -> NetworkInput {
        let Some(network) = state.network() else { return NetworkInput::Tick };
        let policy = *network.policy();
        let id = node_id(choice, self.size);
        let other = node_id(choice, self.size);
        match choice.weighted(&[20, 15, 2, 25, 8, 10, 10, 6, 1, 5]) {
            0 => {
                let capability = CapabilityId::new(choice.one_of(&TASK_CAPABILITIES));
                NetworkInput::SetAvailable { node: id, capability, available: choice.percent(70) }
            }
            1 => {
                let load = choice.percent(60).then(|| score(choice));
                NetworkInput::ReportLoad { node: id, load }
            }
            2 => NetworkInput::RotateKey { node: id, public_key: vec![1, 2, 3] },
            3 => {
                let origin = if choice.percent(70) { other.clone() } else { node_id(choice, self.size) };
                let subject = node_id(choice, self.size);
                let confidence = score(choice);
                let hops = choice.one_of(&[0, 0, 1, 4, 5]);
                let signal = Signal { origin, sender: other, subject, confidence, hops };
                NetworkInput::Signal { receiver: id, signal }
            }
            4 => NetworkInput::ResolveThreat { node: id, subject: other },
            5 => NetworkInput::Tick,
            6 => NetworkInput::Join { node: node(choice, &policy, &id, false) },
            7 => NetworkInput::Leave { node: id },
            8 => self.create(choice),
            _ => NetworkInput::Handoff(HandoffReceipt {
                call: CallId::new(u64::from(choice.below(20))),
                from: id,
                to: other,
                signature: choice.one_of(&[SignatureStatus::Valid, SignatureStatus::Invalid]),
            }),
        }
    }

    /// Answers a pending call, or hands it off.
    fn answer(&self, choice: &mut impl RandomSource, state: &State, call: Call) -> Input {
        let failed = |failure| Input::CallFailed { call: call.id, failure };
        if let Some(failure) = call.not_made {
            return if choice.percent(95) { failed(failure) } else { self.reply(choice, state, call) };
        }
        let assignment = state.network().and_then(|network| network.assignment(call.id));
        let failures =
            [Failure::Error, Failure::Error, Failure::Malformed, Failure::Timeout, Failure::OutcomeUnknown];
        // Few failures before the run, so that most conversations reach it.
        let factor = u32::from(call.operation.task().is_some()) * 2 + 1;
        if choice.percent(self.bias.failure * factor / 3) {
            return failed(choice.one_of(&failures));
        }
        match assignment {
            Some(assignment) if !assignment.is_running() => {
                if choice.percent(self.bias.forgery / 3) {
                    return self.reply(choice, state, call);
                }
                Input::Network(Box::new(NetworkInput::Handoff(self.receipt(choice, assignment))))
            }
            Some(assignment) if choice.percent(self.bias.forgery / 2) => {
                Input::Network(Box::new(NetworkInput::Handoff(self.receipt(choice, assignment))))
            }
            Some(_) | None => self.reply(choice, state, call),
        }
    }

    fn receipt(&self, choice: &mut impl RandomSource, assignment: &Assignment) -> HandoffReceipt {
        let mut receipt = HandoffReceipt {
            call: assignment.call,
            from: assignment.from.clone(),
            to: assignment.to.clone(),
            signature: SignatureStatus::Valid,
        };
        if choice.percent(self.bias.forgery) {
            match choice.below(4) {
                0 => receipt.signature = SignatureStatus::Invalid,
                1 => receipt.from = node_id(choice, self.size),
                2 => receipt.to = node_id(choice, self.size),
                _ => receipt.call = CallId::new(assignment.call.number().saturating_sub(1)),
            }
        }
        receipt
    }

    fn reply(&self, choice: &mut impl RandomSource, state: &State, call: Call) -> Input {
        let report = self.report(choice, state, call.operation);
        let interaction = choice.percent(75).then(|| {
            let is_good = choice.percent(60);
            Box::new(InteractionReport {
                feedback: choice.percent(80).then(|| feedback(choice, is_good)),
                tone: tone(choice, is_good),
                task_feedback: choice.percent(40).then(|| feedback(choice, is_good)),
                task_tone: tone(choice, is_good),
            })
        });
        Input::Reply { call: call.id, report, summary_update: None, action: None, interaction }
    }

    fn report(&self, choice: &mut impl RandomSource, state: &State, operation: Operation) -> Report {
        let request = state.control().request();
        let current = request.and_then(|request| request.plan.as_ref()).map(|revised| &revised.plan);
        match operation {
            Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
            Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
            Operation::Summarize => Report::Summary { text: "all".into(), forgets: None },
            Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
            Operation::DraftPlan => Report::Plan(random_plan(choice, &NODES[..self.size])),
            Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
                let argument = Argument { stance: Stance::Pro, confidence: Score::ONE };
                Report::Argument { argument, text: "yes".into(), plan: None }
            }
            Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
            Operation::RunTask { .. } => random_answer(choice, self.bias.success),
            Operation::UndoTask { .. } => random_answer(choice, 80),
            Operation::Diagnose if choice.percent(30) => Report::NoRepair { text: "no".into() },
            Operation::Diagnose => {
                let same: Option<Plan> = current.filter(|_| choice.percent(60)).cloned();
                let plan = same.unwrap_or_else(|| random_plan(choice, &NODES[..self.size]));
                Report::Repaired { text: "again".into(), plan }
            }
            Operation::StoreMemory { .. } => Report::Stored { held: true },
            Operation::DeliverAudit => Report::Delivered,
        }
    }
}

fn feedback(choice: &mut impl RandomSource, is_good: bool) -> Feedback {
    let ratings: &[u8] = if is_good { &[5, 4, 5] } else { &[0, 1, 2, 3, 6] };
    Feedback {
        help: choice.one_of(ratings),
        accuracy: choice.one_of(ratings),
        relevance: choice.one_of(ratings),
        timeliness: choice.one_of(ratings),
        reuse: choice.percent(if is_good { 80 } else { 20 }),
    }
}

fn tone(choice: &mut impl RandomSource, is_good: bool) -> Millionths {
    let tones: &[i64] = if is_good { &[1_000_000, 600_000, 0] } else { &[-1_000_000, -400_000, 0] };
    Millionths::new(choice.one_of(tones))
}
