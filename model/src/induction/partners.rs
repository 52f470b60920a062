//! One interaction of two nodes, one signal, or one routing, in networks of every status, record, connection, belief and offer (001-4,
//! 001-10; decision 0041).
//!
//! The model of interactions starts with one network, so few records and connections are reached. Here the network of the start has them.

use super::shapes::{at, session, user, verified};
use crate::adversary::network::interactions::trust_policy;
use crate::adversary::network::{connected, held, network_input, node, share, withdrawn};
use orchestrion_kernel::ids::{ConversationId, Text};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Module, PastRequest, Report};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    Connection, ConnectionStatus, Defense, DefenseStatus, Feedback, HandoffReceipt, InteractionReport,
    Millionths, NetworkInput, Node, NodeRecord, NodeStatus, SignatureStatus, ThreatBelief, TrustPolicy,
};
use orchestrion_kernel::{CallId, Input, NodeId, RequestId, Score, State, TraceId};

/// Sends the call, and routes it.
const SENDER: &str = "a";
/// Receives the call.
const RECEIVER: &str = "b";
/// Receives the signals.
const WATCHER: &str = "w";
/// A partner of each of them.
const NEIGHBOR: &str = "n";

/// The origins of signals. The network does not contain them.
const ORIGINS: [&str; 2] = ["y", "z"];

/// Every status but that of an expelled node.
const NOT_EXPELLED: [NodeStatus; 4] =
    [NodeStatus::Probationary, NodeStatus::Member, NodeStatus::Established, NodeStatus::Hub];

/// The policy of the model of interactions, with limits that differ from each other.
fn policy() -> TrustPolicy {
    let mut policy = trust_policy();
    policy.connection.warn_after_interactions = 1;
    policy.status.probation_interactions = 2;
    policy.status.established_interactions = 3;
    policy.status.hub_connections = 2;
    policy
}

/// The networks, each with the inputs up to the end of an interaction, up to the routing of a call, or without a request.
pub(super) fn networks() -> Vec<Vec<Input>> {
    let serving = records().into_iter().chain(connections()).map(|(sender, receiver)| {
        let receipt = HandoffReceipt {
            call: CallId::FIRST,
            from: NodeId::new(SENDER),
            to: NodeId::new(RECEIVER),
            signature: SignatureStatus::Valid,
        };
        vec![
            create(vec![sender, receiver, neighbor()]),
            session(None),
            message(),
            verified(),
            Input::Step,
            network_input(NetworkInput::Handoff(receipt)),
        ]
    });
    let watching = watchers()
        .into_iter()
        .map(|(watcher, subject)| vec![create(vec![sender(), subject, watcher, neighbor()])]);
    let routing = receivers_with_changes().into_iter().map(|(receiver, changes)| {
        let mut other = neighbor();
        other.add_capability(held(Module::Memory.capability(), 10, 2));
        let changes = changes.into_iter().map(network_input);
        let verified = [session(None), message(), verified()];
        [create(vec![sender(), receiver, other])].into_iter().chain(changes).chain(verified).collect()
    });
    serving.chain(watching).chain(routing).collect()
}

/// The receiver, and how its offer, its load or its membership changes before the call. Without it the neighbor gets the call.
fn receivers_with_changes() -> Vec<(Node, Vec<NetworkInput>)> {
    let node = || NodeId::new(RECEIVER);
    let offer = |available| NetworkInput::SetAvailable {
        node: node(),
        capability: Module::Memory.capability(),
        available,
    };
    let report = |load| NetworkInput::ReportLoad { node: node(), load };
    let leave = || NetworkInput::Leave { node: node() };
    vec![
        (receiver(), vec![]),
        (receiver(), vec![offer(false)]),
        (receiver(), vec![offer(false), offer(true)]),
        (withdrawn(receiver()), vec![]),
        (withdrawn(receiver()), vec![offer(true)]),
        (receiver(), vec![leave()]),
        (receiver(), vec![leave(), NetworkInput::Join { node: withdrawn(receiver()) }, offer(true)]),
        (withdrawn(receiver()), vec![leave(), NetworkInput::Join { node: receiver() }]),
        (receiver(), vec![report(Some(Score::ONE))]),
        (receiver(), vec![report(Some(Score::ONE)), report(None)]),
    ]
}

fn message() -> Input {
    Input::UserMessage { user: user(), text: "text".into(), scope: Scope::Global }
}

fn create(nodes: Vec<Node>) -> Input {
    let (orchestrator, policy) = (NodeId::new(SENDER), policy());
    network_input(NetworkInput::Create { orchestrator, policy, nodes })
}

/// The orchestrator, with every capability but that of the receiver.
fn sender() -> Node {
    let local = Module::ALL.into_iter().filter(|module| *module != Module::Memory);
    let node = node(SENDER, (90, 90), local.map(Module::capability), 2);
    connected(&policy().connection, node, &[(RECEIVER, 50), (NEIGHBOR, 60)])
}

fn receiver() -> Node {
    let node = node(RECEIVER, (70, 70), [Module::Memory.capability()], 2);
    connected(&policy().connection, node, &[(SENDER, 50)])
}

fn neighbor() -> Node {
    connected(&policy().connection, node(NEIGHBOR, (80, 80), [], 2), &[(WATCHER, 50)])
}

/// The receiver with every status, and every record and trust on both sides of each limit; with a second capability or without.
fn records() -> Vec<(Node, Node)> {
    let counted = [(0, 0), (1, 0), (1, 100), (2, 0), (2, 75), (2, 100), (3, 0), (3, 65), (3, 100)];
    let mut pairs = Vec::new();
    for status in NOT_EXPELLED {
        for (interactions, mean) in counted {
            for (failed_probations, promoted) in [(0, 0), (0, 100), (1, 0), (1, 80)] {
                for (trust, second) in [(50, None), (70, None), (70, Some(0)), (70, Some(100))] {
                    let mut receiver = receiver();
                    receiver.status = status;
                    receiver.trust = share(trust);
                    receiver.record = NodeRecord {
                        interactions,
                        quality_sum: u64::from(interactions) * u64::from(share(mean).millionths()),
                        failed_probations,
                        promoted_quality: share(promoted),
                    };
                    if let Some(quality) = second {
                        receiver.add_capability(held(Module::Auditor.capability(), quality, 2));
                    }
                    pairs.push((sender(), receiver));
                }
            }
        }
    }
    pairs
}

/// The two ends with every connection to each other; the other partner of the sender is connected, or was removed.
fn connections() -> Vec<(Node, Node)> {
    let mut pairs = Vec::new();
    for status in ConnectionStatus::ALL {
        for weight in [policy().connection.min_weight, share(50), Score::ONE] {
            for reciprocity in [-3_400_000, 0, 1_000_000] {
                for (quality, tone) in [(0, 0), (50, -1_000_000), (50, 0), (100, 1_000_000)] {
                    for (interactions, neighbor) in [
                        (0, ConnectionStatus::Active),
                        (1, ConnectionStatus::Removed),
                        (2, ConnectionStatus::New),
                    ] {
                        let connection = Connection {
                            weight,
                            reciprocity: Millionths::new(reciprocity),
                            quality: share(quality),
                            tone: Millionths::new(tone),
                            status,
                            last_active: at(0),
                            interactions,
                            affirmations: 0,
                        };
                        let (mut sender, mut receiver) = (sender(), receiver());
                        let other = Connection { status: neighbor, ..connection.clone() };
                        sender.connections.insert(NodeId::new(NEIGHBOR), other);
                        sender.connections.insert(NodeId::new(RECEIVER), connection.clone());
                        receiver.connections.insert(NodeId::new(SENDER), connection);
                        pairs.push((sender, receiver));
                    }
                }
            }
        }
    }
    pairs
}

/// The watcher with every belief about the receiver and every state of its defense, and this receiver as a member or expelled.
fn watchers() -> Vec<(Node, Node)> {
    let mut pairs = Vec::new();
    let believed = [0, 30, 45, 60].into_iter().flat_map(|level| {
        [(None, false), (None, true), (Some(ORIGINS[0]), false), (Some(ORIGINS[0]), true)].map(
            |(origin, is_confirmed)| ThreatBelief {
                level: share(level),
                first_origin: origin.map(NodeId::new),
                is_confirmed,
            },
        )
    });
    for belief in [None].into_iter().chain(believed.map(Some)) {
        for status in [NodeStatus::Member, NodeStatus::Expelled] {
            for (defense, priming) in [
                (DefenseStatus::Normal, 0),
                (DefenseStatus::Primed, 1),
                (DefenseStatus::Primed, 50),
                (DefenseStatus::Defending, 0),
                (DefenseStatus::Defending, 50),
            ] {
                let partners = [(RECEIVER, 40), (NEIGHBOR, 60), (SENDER, 30)];
                let mut watcher = connected(&policy().connection, node(WATCHER, (80, 80), [], 2), &partners);
                watcher.public_key = vec![1];
                watcher.defense = Defense { status: defense, priming: share(priming) };
                if let Some(belief) = &belief {
                    watcher.threat_beliefs.insert_mut(NodeId::new(RECEIVER), belief.clone());
                }
                pairs.push((watcher, Node { status, ..receiver() }));
            }
        }
    }
    pairs
}

/// With a pending call: its end, with every judgement. In a request without one: the step that routes the call. Without a request: every
/// signal, the end of the threat, a new key, and time.
pub(super) fn inputs(state: &State) -> Vec<Input> {
    match (state.control().request(), state.control().pending_calls()) {
        (None, _) => signals(),
        (Some(_), []) => vec![Input::Step],
        (Some(_), _) => ends(),
    }
}

fn ends() -> Vec<Input> {
    let rated = |[help, accuracy, relevance, timeliness]: [u8; 4], reuse| {
        Some(Feedback { help, accuracy, relevance, timeliness, reuse })
    };
    let reply = |chars: usize, feedback, tone, task: (Option<Feedback>, i64)| {
        let trace = TraceId { conversation: ConversationId::new("c"), request: RequestId::FIRST };
        let text = Text::from("t".repeat(chars).as_str());
        let traces = (chars > 0).then_some(PastRequest { trace, text, scope: Scope::Global });
        let (task_feedback, task_tone) = (task.0, Millionths::new(task.1));
        Input::Reply {
            call: CallId::FIRST,
            report: Report::Context { ratings: Default::default(), traces: traces.into_iter().collect() },
            summary_update: None,
            action: None,
            interaction: Some(Box::new(InteractionReport {
                feedback,
                tone: Millionths::new(tone),
                task_feedback,
                task_tone,
            })),
        }
    };
    let (good, middle, bad) = (rated([5; 4], true), rated([3; 4], true), rated([1; 4], false));
    let unjudged = (None, 0);
    vec![
        reply(12, good, 1_000_000, unjudged),
        reply(4, good, 600_000, (good, 1_000_000)),
        reply(4, middle, 0, (bad, -1_000_000)),
        reply(4, rated([5, 2, 4, 1], true), 0, unjudged),
        reply(0, middle, -1_000_000, (middle, 0)),
        reply(0, bad, 0, unjudged),
        reply(0, None, 0, unjudged),
        Input::CallFailed { call: CallId::FIRST, failure: Failure::Error },
        Input::CallFailed { call: CallId::FIRST, failure: Failure::Timeout },
    ]
}

fn signals() -> Vec<Input> {
    let (watcher, subject) = (NodeId::new(WATCHER), NodeId::new(RECEIVER));
    let mut inputs = Vec::new();
    for origin in ORIGINS {
        for sender in [NEIGHBOR, SENDER, ORIGINS[1]] {
            for (confidence, hops) in [(100, 0), (100, 2), (100, 3), (60, 0), (10, 0)] {
                let signal = Signal {
                    sender: NodeId::new(sender),
                    origin: NodeId::new(origin),
                    subject: subject.clone(),
                    confidence: share(confidence),
                    hops,
                };
                inputs.push(NetworkInput::Signal { receiver: watcher.clone(), signal });
            }
        }
    }
    inputs.extend([
        NetworkInput::ResolveThreat { node: watcher.clone(), subject },
        NetworkInput::RotateKey { node: watcher, public_key: vec![2] },
        NetworkInput::Tick,
    ]);
    inputs.into_iter().map(network_input).collect()
}
