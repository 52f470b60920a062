//! The inputs of the model of interactions: results with every judgement, signals, and time.
//!
//! Unlike in the other models, interactions change connections, trust and statuses. The states are finitely many since a run has few
//! tasks. Signals come before the first handoff, and after them every result is good. The policy's numbers are such that three
//! interactions reach every row of the machines of nodes, connections and defenses.

use super::{BEST, ORCHESTRATOR, SECOND, connected, node, share};
use orchestrion_kernel::knowledge::compaction;
use orchestrion_kernel::module::{Failure, Module, Report};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    ConnectionStatus, Feedback, InteractionReport, Millionths, NetworkInput, Node, ThreatBelief, TrustPolicy,
};
use orchestrion_kernel::state::{Call, NetworkState};
use orchestrion_kernel::{Input, NodeId, Phase, Score, State, Text};

/// Executes what two others failed to execute.
const THIRD: &str = "f";
/// Receives signals, and knows the node that forwards them.
const WATCHER: &str = "d";
/// Forwards signals to the orchestrator and to the second node.
const NEIGHBOR: &str = "e";
/// Observed the threats: the orchestrator, to which no signal returns, and a node outside of the network.
const ORIGINS: [&str; 2] = [ORCHESTRATOR, "z"];
/// Sends the signals to the watcher.
const STRANGER: &str = "y";

/// The priming below which a second signal comes.
const UNPRIMED: u32 = 5;

pub(crate) fn trust_policy() -> TrustPolicy {
    let mut policy = TrustPolicy::default();
    policy.connection.smoothing = share(50);
    policy.connection.warn_quality_below = share(26);
    policy.connection.warn_after_interactions = 0;
    policy.connection.warn_reciprocity_below = Millionths::new(-3_300_000);
    policy.connection.warn_tone_below = Millionths::new(-400_000);
    policy.connection.dormant_after_ms = 0;
    policy.trust.partner_window = 2;
    policy.trust.diversity_margin = share(20);
    policy.status.probation_interactions = 1;
    policy.status.max_failed_probations = 2;
    policy.status.established_interactions = 2;
    policy.status.hub_connections = 1;
    policy.status.quality_drop_above = share(40);
    policy.status.demotion_trust_below = share(60);
    policy.status.expulsion_threat_from = share(50);
    policy.defense.act_above = share(40);
    policy.defense.max_hops = 3;
    policy.defense.priming_decay = share(1);
    // The third attempt must avoid both nodes before.
    policy.workflow.max_retries = 2;
    policy
}

fn with_connections(node: Node, to: &[(&str, u32)]) -> Node {
    connected(&trust_policy().connection, node, to)
}

/// The orchestrator, three nodes that execute, of which the second is almost out of the network, and two that only watch. One of these
/// suspects the orchestrator too little to defend itself. The third node that executes believes the orchestrator to be a threat, and warns
/// the watcher of it.
pub(super) fn nodes(mut nodes: Vec<Node>) -> Vec<Node> {
    let executor = || Module::Executor.capability();
    let mut watcher = node(WATCHER, (80, 80), [], 2);
    let mut third = node(THIRD, (20, 20), [executor()], 2);
    for (node, level) in [(&mut watcher, 1), (&mut third, 45)] {
        let belief = ThreatBelief { level: share(level), ..ThreatBelief::default() };
        node.threat_beliefs.insert_mut(NodeId::new(ORCHESTRATOR), belief);
    }
    let orchestrator =
        nodes.pop().map(|node| with_connections(node, &[(BEST, 90), (SECOND, 1), (WATCHER, 90)]));
    orchestrator
        .into_iter()
        .chain([
            // The watcher is a partner of both ends of an exchange with the best node, so it receives the warnings of both.
            with_connections(node(BEST, (80, 80), [executor()], 2), &[(WATCHER, 60)]),
            node(SECOND, (60, 60), [executor()], 2),
            with_connections(third, &[(WATCHER, 10)]),
            with_connections(watcher, &[(BEST, 50), (NEIGHBOR, 100)]),
            with_connections(node(NEIGHBOR, (80, 80), [], 2), &[(ORCHESTRATOR, 50), (SECOND, 10)]),
        ])
        .collect()
}

/// The ends to try for a task that a node executes: replies of every judgement, and failures. After a signal, and from the third task
/// on, only the best one.
pub(in crate::adversary) fn ends(state: &State, call: Call) -> Vec<Input> {
    let fail = |failure| Input::CallFailed { call: call.id, failure };
    let Some(network) = state.network() else { return Vec::new() };
    let best_node = NodeId::new(BEST);
    let Some(assignment) = network.assignment(call.id) else { return vec![fail(Failure::NoCandidates)] };
    if !assignment.is_running() {
        return Vec::new();
    }
    let payload = state.control().request().and_then(|request| request.payload_text(call.operation));
    let tokens = payload.as_deref().map_or(0, compaction::estimate_tokens);
    let reply_with = |tokens: usize, interaction: InteractionReport| Input::Reply {
        call: call.id,
        report: Report::Exit { code: 0, text: Text::from("text".repeat(tokens).as_str()), number: None },
        summary_update: None,
        action: None,
        interaction: Some(Box::new(interaction)),
    };
    let of_result = |feedback: Feedback, tone: i64| InteractionReport {
        feedback: Some(feedback),
        tone: Millionths::new(tone),
        ..InteractionReport::default()
    };
    let reply = |tokens: usize, feedback: Feedback, tone: i64| reply_with(tokens, of_result(feedback, tone));
    let of_both = |feedback: Feedback, tone: i64| InteractionReport {
        task_feedback: Some(feedback),
        task_tone: Millionths::new(tone),
        ..of_result(feedback, tone)
    };
    let (good, middle, bad) = (rated([5; 4], true), rated([3; 4], true), rated([1; 4], false));
    let best = reply(tokens.saturating_mul(3), good, 1_000_000);
    let is_suspicious = network.nodes().iter().any(|node| node.threat_beliefs.contains_key(&best_node));
    if is_suspicious || outcomes(state) > 1 {
        return vec![best];
    }
    let mut ends = vec![best, reply(tokens, middle, 0), reply(0, bad, -1_000_000)];
    if outcomes(state) == 0 {
        ends.extend([
            // Too little of one thing for an affirmation.
            reply(tokens, good, 300_000),
            reply(tokens, middle, 1_000_000),
            // One reason for a warning.
            reply(tokens, bad, 0),
            reply(tokens, middle, -1_000_000),
            reply(0, middle, 0),
            // Both ends warn.
            reply_with(0, of_both(bad, -1_000_000)),
            // Every answer counts with its own weight, and the lowest rating is 1.
            reply(tokens, rated([5, 2, 4, 0], true), 0),
        ]);
    }
    if assignment.attempt == 1 {
        ends.push(fail(Failure::Error));
    }
    ends.push(fail(Failure::Timeout));
    ends
}

fn rated([help, accuracy, relevance, timeliness]: [u8; 4], reuse: bool) -> Feedback {
    Feedback { help, accuracy, relevance, timeliness, reuse }
}

/// The number of tasks that ended.
fn outcomes(state: &State) -> usize {
    state.control().request().map_or(0, |request| request.outcomes.iter().count())
}

/// Signals about the best node, and their end, before the first handoff; time before the first and the second.
pub(in crate::adversary) fn changes(network: &NetworkState, state: &State) -> Vec<Input> {
    let waits =
        network.assignments().iter().any(|assignment| !assignment.is_running() && assignment.attempt == 1);
    if state.control().phase() != Phase::RunningTasks || !waits || outcomes(state) > 1 {
        return Vec::new();
    }
    let is_first = outcomes(state) == 0;
    let (watcher, subject) = (NodeId::new(WATCHER), NodeId::new(BEST));
    let Some(node) = network.node(&watcher) else { return Vec::new() };
    let mut inputs = Vec::new();
    let belief = node.threat_beliefs.get(&subject);
    // Each signal comes once: a second one only confirms the first, and none comes after the threat was resolved.
    let is_due = match belief {
        None => node.defense.priming == Score::ZERO,
        Some(belief) => !belief.is_confirmed && node.defense.priming < share(UNPRIMED),
    };
    if is_first && is_due {
        let first = belief.and_then(|belief| belief.first_origin.clone());
        let origin = ORIGINS.iter().map(|name| NodeId::new(*name)).find(|name| Some(name) != first.as_ref());
        let confidences = [(Score::ONE, 1), (Score::ONE, 3), (share(50), 0)];
        for (origin, (confidence, hops)) in
            origin.iter().flat_map(|origin| confidences.map(|sent| (origin, sent)))
        {
            let (sender, subject) = (NodeId::new(STRANGER), subject.clone());
            let signal = Signal { origin: origin.clone(), sender, subject, confidence, hops };
            inputs.push(NetworkInput::Signal { receiver: watcher.clone(), signal });
        }
    }
    if is_first && belief.is_some() {
        inputs.push(NetworkInput::ResolveThreat { node: watcher, subject });
    }
    let min_weight = network.policy().connection.min_weight;
    let is_primed = |node: &Node| node.defense.priming >= share(UNPRIMED);
    let is_fresh = |node: &Node| {
        let mut connections = node.connections.iter();
        connections.any(|(_, held)| match held.status {
            ConnectionStatus::Active => true,
            ConnectionStatus::New | ConnectionStatus::Dormant => held.weight <= min_weight,
            ConnectionStatus::Removed => false,
        })
    };
    if network.nodes().iter().any(|node| is_primed(node) || is_fresh(node)) {
        inputs.push(NetworkInput::Tick);
    }
    inputs.into_iter().map(|input| Input::Network(Box::new(input))).collect()
}
