//! The inputs of the adversary about a network: its nodes, and handoffs over a channel that loses, duplicates and reorders, with a
//! forger and a replayer (001 §6).
//!
//! A handoff that is not delivered is lost. One of a call that ended or runs is a duplicate or a replay, and one with other ends or
//! an invalid signature is forged. All of them can come at any time while calls wait.

pub(crate) mod attempts;
pub(crate) mod ensembles;
pub(crate) mod interactions;

use crate::scopes::{Model, Remote};
use orchestrion_kernel::module::{Module, Report};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::ConnectionPolicy;
use orchestrion_kernel::network::{
    Capability, CapabilityCategory, CapabilityConstraints, CapabilityState, Connection, HandoffReceipt,
    Millionths, NetworkInput, Node, NodeStatus, SignatureStatus, ThreatBelief, TrustPolicy,
};
use orchestrion_kernel::state::{Assignment, NetworkState};
use orchestrion_kernel::{CallId, CapabilityId, Input, NodeId, Phase, Score, State, TaskId, Text, Timestamp};

/// The orchestrator, and the nodes that execute.
const ORCHESTRATOR: &str = "a";
const BEST: &str = "b";
const SECOND: &str = "c";
/// Of the best quality, and trusted less than a task requires that states a minimum.
const UNTRUSTED: &str = "d";
/// Of the best trust, with less quality than a task requires that states a minimum.
const POOR: &str = "e";
const EXPELLED: &str = "x";

/// The constants of a model's network: interactions change no value that a later decision reads, so that the states are finitely
/// many (design §2, rule 6). One retry, so that attempts end before candidates do.
fn trust_policy() -> TrustPolicy {
    let mut policy = TrustPolicy::default();
    policy.connection.smoothing = Score::ONE;
    policy.connection.reinforcement = Score::ZERO;
    policy.connection.weight_decay = Score::ZERO;
    policy.connection.threat_effect = Score::ZERO;
    policy.connection.warn_after_interactions = u32::MAX;
    policy.status.probation_interactions = u32::MAX;
    policy.status.established_interactions = u32::MAX;
    policy.defense.priming_gain = Score::ZERO;
    policy.workflow.max_retries = 1;
    policy
}

pub(crate) fn share(percent: u32) -> Score {
    Score::from_millionths(percent * 10_000).unwrap_or(Score::ONE)
}

/// A node of this trust and quality in percent, with these capabilities, each for one task at a time, or two.
pub(crate) fn node(
    name: &str,
    (trust, quality): (u32, u32),
    capabilities: impl IntoIterator<Item = CapabilityId>,
    max_capacity: u32,
) -> Node {
    let policy = TrustPolicy::default();
    let mut node = Node { trust: share(trust), ..Node::new(&policy.start, NodeId::new(name)) };
    for id in capabilities {
        node.add_capability(held(id, quality, max_capacity));
    }
    node
}

/// The node, which offers none of its capabilities.
pub(crate) fn withdrawn(mut node: Node) -> Node {
    node.capabilities.values_mut().for_each(|held| held.available = false);
    node
}

/// A capability of a node, with its quality in percent.
pub(crate) fn held(id: CapabilityId, quality: u32, max_capacity: u32) -> CapabilityState {
    let capability = Capability {
        id,
        name: Text::from(""),
        category: CapabilityCategory::Analysis,
        input_types: Vec::new(),
        output_types: Vec::new(),
        constraints: CapabilityConstraints::default(),
        max_capacity,
    };
    CapabilityState::new(capability, share(quality))
}

/// The node with connections of these weights in percent.
pub(crate) fn connected(policy: &ConnectionPolicy, mut node: Node, to: &[(&str, u32)]) -> Node {
    for (partner, weight) in to {
        let connection =
            Connection { weight: share(*weight), ..Connection::new(policy, Timestamp::from_millis(0)) };
        node.connections.insert(NodeId::new(*partner), connection);
    }
    node
}

/// The capability of a task that only the second node holds.
pub(crate) fn second_capability() -> CapabilityId {
    CapabilityId::new("second")
}

/// The capability of an ensemble, which the orchestrator and the best node hold.
pub(crate) fn shared_capability() -> CapabilityId {
    CapabilityId::new("shared")
}

/// The capability that no node holds.
pub(crate) fn missing_capability() -> CapabilityId {
    CapabilityId::new("missing")
}

/// The node that executes best.
pub(crate) fn best() -> NodeId {
    NodeId::new(BEST)
}

/// The other nodes that execute handoffs.
pub(crate) fn others() -> Vec<NodeId> {
    [SECOND, UNTRUSTED, POOR].map(NodeId::new).into()
}

/// The network is created first. Before, every other input about it is refused.
pub(super) fn creation(model: Model) -> Vec<Input> {
    let executor = || Module::Executor.capability();
    let is_remote = |module: &Module| match model.free.network {
        Remote::Handoffs | Remote::Steps | Remote::Interactions | Remote::Attempts | Remote::Nowhere => {
            *module == Module::Executor
        }
        Remote::Ensembles => *module == Module::Executor || ensembles::MODULES.contains(module),
        Remote::Modules => matches!(module, Module::Executor | Module::Auditor),
    };
    let local = Module::ALL.into_iter().filter(|module| !is_remote(module)).map(Module::capability);
    let remote = || Module::ALL.into_iter().filter(is_remote).map(Module::capability);
    let orchestrator = NodeId::new(ORCHESTRATOR);
    let mut nodes = vec![node(ORCHESTRATOR, (90, 90), local, 2)];
    match model.free.network {
        Remote::Nowhere => {}
        Remote::Handoffs => nodes.extend([
            // The product decides: of these nodes, trust alone prefers the poor one, and quality alone the untrusted one. The
            // second node is the only one that has the minimum of both.
            node(BEST, (56, 56), [executor()], 1),
            node(SECOND, (50, 50), [executor()], 2),
            node(UNTRUSTED, (30, 100), [executor()], 2),
            node(POOR, (100, 30), [executor()], 2),
            Node { status: NodeStatus::Expelled, ..node(EXPELLED, (90, 90), [executor()], 2) },
        ]),
        Remote::Steps => nodes.extend([
            node(BEST, (80, 80), [executor(), shared_capability()], 2),
            node(SECOND, (60, 60), [executor(), second_capability()], 2),
        ]),
        Remote::Modules => {
            // Without this belief the other node would be the best one.
            let belief = ThreatBelief { level: share(50), ..ThreatBelief::default() };
            nodes.iter_mut().for_each(|node| node.threat_beliefs.insert_mut(best(), belief.clone()));
            nodes.extend([node(BEST, (80, 80), remote(), 2), node(SECOND, (60, 60), remote(), 2)]);
        }
        Remote::Interactions => nodes = interactions::nodes(nodes),
        Remote::Attempts => nodes = attempts::nodes(nodes),
        Remote::Ensembles => nodes = ensembles::nodes(nodes),
    }
    // A member of the orchestrator itself.
    if model.free.network == Remote::Steps
        && let Some(first) = nodes.first_mut()
    {
        let own = node(ORCHESTRATOR, (90, 90), [own_capability(), shared_capability()], 1);
        own.capabilities.into_values().for_each(|state| first.add_capability(state));
    }
    let policies = match model.free.network {
        Remote::Nowhere | Remote::Handoffs | Remote::Steps | Remote::Modules => vec![trust_policy()],
        Remote::Interactions => vec![interactions::trust_policy()],
        Remote::Attempts => vec![attempts::trust_policy()],
        Remote::Ensembles => ensembles::policies(),
    };
    let create = |orchestrator: &NodeId, policy: &TrustPolicy, nodes: &[Node]| NetworkInput::Create {
        orchestrator: orchestrator.clone(),
        policy: *policy,
        nodes: nodes.to_vec(),
    };
    let mut twice = nodes.clone();
    twice.extend(nodes.first().cloned());
    let valid = policies.iter().map(|policy| create(&orchestrator, policy, &nodes));
    let refused = policies.iter().take(1).flat_map(|policy| {
        let mut invalid = *policy;
        invalid.connection.initial_weight = Score::ZERO;
        [
            create(&orchestrator, policy, &twice),
            create(&NodeId::new("?"), policy, &nodes),
            create(&orchestrator, &invalid, &nodes),
        ]
    });
    valid.chain(refused).chain([NetworkInput::Tick]).map(network_input).collect()
}

/// The capability that only the orchestrator holds, for one task at a time.
pub(crate) fn own_capability() -> CapabilityId {
    CapabilityId::new("own")
}

pub(crate) fn network_input(input: NetworkInput) -> Input {
    Input::Network(Box::new(input))
}

/// Every handoff to try for the pending calls, and of a call that was never sent.
pub(super) fn handoffs(model: Model, network: &NetworkState, pending: &[CallId]) -> Vec<Input> {
    let mut inputs = Vec::new();
    let mut deliver = |call: CallId, from: &NodeId, to: &NodeId, signature: SignatureStatus| {
        let receipt = HandoffReceipt { call, from: from.clone(), to: to.clone(), signature };
        inputs.push(network_input(NetworkInput::Handoff(receipt)));
    };
    let (valid, invalid) = (SignatureStatus::Valid, SignatureStatus::Invalid);
    for Assignment { call, from, to, .. } in network.assignments() {
        // While it waits it is delivered, afterwards it is a duplicate or a replay.
        deliver(*call, from, to, valid);
        if model.free.network == Remote::Handoffs {
            deliver(*call, from, to, invalid);
            deliver(*call, &NodeId::new(UNTRUSTED), to, valid);
            deliver(*call, from, &NodeId::new(EXPELLED), valid);
        }
    }
    if model.free.network == Remote::Handoffs && !pending.is_empty() {
        deliver(CallId::new(u64::MAX), network.orchestrator(), &best(), valid);
    }
    inputs
}

/// The results of a task of a workflow: an answer by the number of the task, as a number too, a failure, and of the second task also an
/// answer that is no number.
pub(super) fn answers(task: TaskId) -> Vec<Report> {
    let text = || Text::from(if task.number() % 2 == 1 { "odd" } else { "even" });
    let answer = |number| Report::Exit { code: 0, text: text(), number };
    let mut reports = vec![answer(Some(Millionths::new(i64::from(task.number()).saturating_mul(1_000_000))))];
    if task == TaskId::new(2) {
        reports.push(answer(None));
    }
    reports.push(Report::Exit { code: 1, text: text(), number: None });
    reports
}

/// Every change of the network to try while tasks run: the best node withdraws its capability or offers it again, reports a full load or
/// none, is suspected or trusted again, leaves or joins again, with the capability or without. The other inputs change nothing, or are refused.
pub(super) fn changes(environment: [u32; 2], network: &NetworkState, state: &State) -> Vec<Input> {
    let plan = state.control().request().and_then(|request| request.plan.as_ref());
    let [of_one, of_two] = environment;
    let environment = if plan.is_some_and(|plan| plan.plan.tasks().len() > 1) { of_two } else { of_one };
    if state.control().phase() != Phase::RunningTasks {
        return Vec::new();
    }
    let (orchestrator, best) = (network.orchestrator(), best());
    let executor = Module::Executor.capability();
    let mut inputs = Vec::new();
    let node = network.node(&best);
    let held = node.and_then(|node| node.capabilities.get(&executor));
    inputs.extend(held.map(|held| NetworkInput::SetAvailable {
        node: best.clone(),
        capability: executor.clone(),
        available: !held.available,
    }));
    if environment >= 1 {
        inputs.extend(node.map(|node| NetworkInput::ReportLoad {
            node: best.clone(),
            load: if node.reported_load.is_some() { None } else { Some(Score::ONE) },
        }));
        let suspects = network.node(orchestrator).is_some_and(|node| node.threat_beliefs.contains_key(&best));
        inputs.push(if suspects {
            NetworkInput::ResolveThreat { node: orchestrator.clone(), subject: best.clone() }
        } else {
            let (origin, subject) = (NodeId::new(SECOND), best.clone());
            let signal = Signal { sender: origin.clone(), origin, subject, confidence: Score::ONE, hops: 9 };
            NetworkInput::Signal { receiver: orchestrator.clone(), signal }
        });
    }
    if environment >= 2 {
        if node.is_some() {
            inputs.push(NetworkInput::Leave { node: best.clone() });
        } else {
            let join = |capabilities: Vec<CapabilityId>| NetworkInput::Join {
                node: self::node(BEST, (56, 56), capabilities, 1),
            };
            let withdrawn = withdrawn(self::node(BEST, (56, 56), [executor.clone()], 1));
            // It may come back without the capability of a handoff that it was sent, or not offer it yet.
            inputs.extend([
                join(vec![executor.clone()]),
                join(Vec::new()),
                NetworkInput::Join { node: withdrawn },
            ]);
        }
    }
    inputs.extend([
        NetworkInput::RotateKey { node: orchestrator.clone(), public_key: Vec::new() },
        NetworkInput::Tick,
        NetworkInput::Leave { node: orchestrator.clone() },
        NetworkInput::Leave { node: NodeId::new("?") },
        NetworkInput::Join { node: self::node(ORCHESTRATOR, (90, 90), [], 2) },
        NetworkInput::SetAvailable { node: best, capability: CapabilityId::new("?"), available: true },
    ]);
    inputs.into_iter().map(network_input).collect()
}
