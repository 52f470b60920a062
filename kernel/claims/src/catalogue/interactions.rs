//! Claims about what events do to nodes: connections, trust, statuses, beliefs, signals, and what nodes publish (001 §7.2, §10.2;
//! decision 0041). `reference::trust` is the reference.

use super::prelude::*;
use crate::reference::network::{
    assignments, candidates, events_of, is_signal, nodes, passes, task_requirements,
};
use crate::reference::plans::members;
use crate::reference::trust::{EndEffects, ExpectedNodes};
use alloc::boxed::Box;
use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::DefensePolicy;
use orchestrion_kernel::network::{
    ConnectionStatus, Contribution, DefenseStatus, Feedback, InteractionReport, Millionths, NetworkEvent,
    NetworkInput, Node, NodeStatus,
};
use orchestrion_kernel::score::Score;

pub(super) const INTERACTIONS: &[Claim] = &[
    Claim {
        id: "C-151",
        clause: "001-10.2",
        statement: "An interaction changes the connection at each end by the equations; signals, handoffs and time change it \
                    as decided. Nothing else does.",
        formula: "□ (r' = λ r + (1−λ)(ln max(in / (out + ε), ε) + θ (x − 0.5)) ∧ q', τ' averaged ∧ w' = clamp(w + Φ − α w − δ t))",
        check: NodeInvariant(|expected, node| expected.connections == node.connections),
        premise: Premise::Network(|state, _| {
            let mut connections = nodes(state).flat_map(|node| node.connections.iter());
            connections.any(|(_, held)| held.reciprocity != Millionths::ZERO)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-152",
        clause: "001-2.5",
        statement: "An interaction changes the quality of the capability used and the computed trust of each end by the \
                    equations. The stored trust follows it past the probation.",
        formula: "□ (q_cap' = λ q_cap + (1−λ) x ∧ T' = min(0.4 Q_agg + 0.2 / (1 + e^−R) + 0.2 S + 0.2 D, D + margin))",
        check: NodeInvariant(|expected, node| {
            // The reference rounds the term of reciprocity twice.
            let is_close = |one: Score, other: Score| one.millionths().abs_diff(other.millionths()) <= 2;
            let mut pairs = expected.capabilities.values().zip(node.capabilities.values());
            pairs.all(|(expected, held)| {
                expected.quality == held.quality
                    && expected.volume == held.volume
                    && expected.last_used == held.last_used
            }) && expected.recent_partners == node.recent_partners
                && is_close(expected.computed_trust, node.computed_trust)
                && is_close(expected.trust, node.trust)
        }),
        premise: Premise::Network(|state, _| {
            nodes(state)
                .any(|node| node.status != NodeStatus::Probationary && node.trust == node.computed_trust)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-153",
        clause: "decision 0041",
        statement: "A node is promoted, demoted and expelled by its counted interactions, its trust and confirmed threats, and \
                    by nothing else.",
        formula: "□ (status'(n) = judged(status(n), record'(n), T'(n)))",
        check: NodeInvariant(|expected, node| {
            expected.status == node.status && expected.record == node.record
        }),
        premise: Premise::Network(|state, _| nodes(state).any(|node| node.status == NodeStatus::Member)),
        ..CLAIM
    },
    Claim {
        id: "C-154",
        clause: "decision 0041",
        statement: "A signal raises the receiver's belief and primes it. Above the level of action the node defends itself, \
                    until the threat is resolved; a priming decays with time.",
        formula: "□ (b' = b + w · c · (1 − b) ∧ (defending ⇒ some belief was above act_above))",
        check: NodeInvariant(|expected, node| {
            expected.threat_beliefs == node.threat_beliefs && expected.defense == node.defense
        }),
        premise: Premise::Network(|state, _| {
            nodes(state).any(|node| node.defense.status != DefenseStatus::Normal)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-155",
        clause: "001-10.2",
        statement: "A node warns its other partners of one that gave bad work, and affirms good work. A signal of high \
                    confidence is forwarded, weaker and at most to the last hop, never to its sender, origin or subject.",
        formula: "□ (signals(σ) = breadth-first closure of warnings and forwards) ∧ □ (affirmed(n, p) ⇔ x > 0.8 ∧ y > 0.5)",
        check: StepInvariant(|_, before, events, after| has_expected_signals(before, events, after)),
        premise: Premise::Network(|state, _| {
            nodes(state).any(|node| node.threat_beliefs.values().any(|belief| belief.level > Score::ZERO))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-243",
        clause: "decision 0041",
        statement: "A node ignores a signal about itself, and a signal that it sent.",
        formula: "□ ∀ n: (signal to n ∧ (subject = n ∨ sender = n) ⇒ no SignalReceived)",
        check: ResponseInvariant(|_, decide, state| {
            ignored_signals(state).into_iter().all(|input| {
                events_of(decide, state, &input).is_some_and(|events| !events.iter().any(is_signal))
            })
        }),
        premise: Premise::Network(|state, _| nodes(state).count() > 1),
        ..CLAIM
    },
    Claim {
        id: "C-156",
        clause: "001-7.4",
        statement: "The capabilities that nodes offer, the loads that they report, their keys, and the members of the network \
                    change with the inputs about them, and with nothing else.",
        formula: "□ (published'(n) = the latest input about n)",
        check: NodeInvariant(|expected, node| {
            let mut pairs = expected.capabilities.iter().zip(&node.capabilities);
            expected.capabilities.len() == node.capabilities.len()
                && pairs.all(|((id, expected), (other, held))| {
                    id == other
                        && expected.available == held.available
                        && expected.capability == held.capability
                })
                && expected.reported_load == node.reported_load
                && expected.public_key == node.public_key
                && expected.cluster == node.cluster
        }),
        premise: Premise::Network(|state, _| {
            nodes(state).any(|node| node.capabilities.values().any(|held| !held.available))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-157",
        clause: "001-8.2",
        statement: "An ensemble has the candidates with the highest scores, each once, as many as there are members or \
                    candidates. If these are several, and all of one declared cluster, the best of each cluster come first. The \
                    orchestrator competes as any other node.",
        formula: "□ (ensemble(N) ⇒ N = first min(k, |candidates|) of candidates by score, then id; by cluster if these have one)",
        check: NetworkEventInvariant(|_, state, event| {
            let NetworkEvent::StepsAssigned { assigned, .. } = event else { return true };
            let (Some(network), Some(plan)) =
                (state.network(), state.control().request().and_then(|request| request.plan.as_ref()))
            else {
                return false;
            };
            let is_ensemble = plan.plan.aggregation().is_some_and(|aggregation| aggregation.is_ensemble);
            let Some(first) = members(&plan.plan).first().copied().filter(|_| is_ensemble) else {
                return true;
            };
            let required = task_requirements(first.step.requirements.as_deref());
            let from = network.orchestrator();
            let mut best = candidates(network, from, &required, &[]);
            let own = network.node(from).filter(|node| passes(network, node, &required, &[]));
            if network.policy().routing.local_preference
                && let Some(node) = own
            {
                best.extend(crate::reference::network::score(network, from, &required, node));
            }
            best.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
            let best: Vec<&Node> = best.iter().filter_map(|(_, node)| network.node(node)).collect();
            let wanted = members(&plan.plan).len().min(best.len());
            let best = diversified(best, wanted);
            wanted > 0
                && assigned.len() == wanted
                && best.iter().zip(assigned).all(|(node, assigned)| node.id == assigned.node)
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| {
                let plan = request.plan.as_ref().and_then(|plan| plan.plan.aggregation());
                plan.is_some_and(|aggregation| aggregation.is_ensemble)
                    && !request.workflow.assigned.is_empty()
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-160",
        clause: "001-10.2",
        statement: "The quality of a result and of its task is the weighted sum of the ratings times the factor of reuse, mapped to \
                    0..1. Without feedback the ratings of a result are 3, and the quality of a task is 0.5. The result of a \
                    failure has the quality 0. Each has its own tone: that of the reply, else 0. A result is rated if it \
                    has feedback or the call failed; a task is rated if it has feedback.",
        formula: "□ (Exchanged(x) ⇒ ∀ y ∈ {task, result}: q(y) = (f Σ w r − f_min) / (5 f_max − f_min) ∧ tone(y) = tone_y(reply)), where \
                  r(result) = 3 and q(task) = 0.5 without feedback; on a failure q(result) = 0, q(task) = 0.5, tone = 0; \
                  rated(y) ⇔ feedback on y, or y = result of a failure",
        check: ResponseInvariant(|_, decide, state| {
            ended_tasks(state).all(|(input, judged)| {
                // Without rows for errors a failure is refused.
                decide(state, &input).map_or(true, |events| {
                    let exchange = events.iter().find_map(|event| match event {
                        Event::Network(NetworkEvent::Exchanged(exchange)) => Some(exchange),
                        _ => None,
                    });
                    let is_expected = |found: &Contribution, quality: Option<i64>, tone: Millionths| {
                        quality == Some(found.quality.millionths().into()) && found.tone == tone
                    };
                    exchange.is_some_and(|exchange| {
                        let unrated =
                            Feedback { help: 3, accuracy: 3, relevance: 3, timeliness: 3, reuse: false };
                        let rated = |feedback| expected_quality(state, feedback);
                        let report = judged.unwrap_or_default();
                        let of_result =
                            judged.map_or(Some(0), |report| rated(report.feedback.unwrap_or(unrated)));
                        let of_task = report.task_feedback.map_or(Some(500_000), rated);
                        is_expected(&exchange.result, of_result, report.tone)
                            && is_expected(&exchange.task, of_task, report.task_tone)
                            && exchange.result.is_rated
                                == judged.is_none_or(|report| report.feedback.is_some())
                            && exchange.task.is_rated == report.task_feedback.is_some()
                    })
                })
            })
        }),
        premise: Premise::Network(|state, _| ended_tasks(state).next().is_some()),
        ..CLAIM
    },
];

/// Whether the signals and affirmations of a batch are those that its exchanges and its first signal cause.
fn has_expected_signals(before: &State, events: &[Event], after: &State) -> bool {
    let Some(mut nodes) = ExpectedNodes::new(before, after) else { return true };
    let policy = after.network().map(|network| *network.policy()).unwrap_or_default();
    let mut queue: VecDeque<(NodeId, Signal)> = VecDeque::new();
    let mut received: BTreeSet<(NodeId, NodeId, NodeId)> = BTreeSet::new();
    let (mut expected, mut affirmed) = (Vec::new(), Vec::new());
    let has_exchange = events.iter().any(|event| matches!(event, Event::Network(NetworkEvent::Exchanged(_))));
    for event in events {
        let Event::Network(event) = event else { continue };
        match event {
            NetworkEvent::Affirmed { node, partner } => affirmed.push((node.clone(), partner.clone())),
            NetworkEvent::SignalReceived { receiver, signal } => {
                // The first signal of a batch without an exchange came from outside.
                if !has_exchange && received.is_empty() {
                    queue.push_back((receiver.clone(), signal.clone()));
                }
                let delivered = next_delivery(&nodes, &mut queue, &mut received);
                if delivered.as_ref() != Some(&(receiver.clone(), signal.clone())) {
                    return false;
                }
            }
            _ => {}
        }
        let ends = nodes.apply(event);
        match event {
            NetworkEvent::Exchanged(exchange) => {
                let pairs = [(&exchange.sender, &exchange.receiver), (&exchange.receiver, &exchange.sender)];
                for (EndEffects { is_affirmation, warns }, (end, partner)) in ends.into_iter().zip(pairs) {
                    if is_affirmation {
                        expected.push((end.clone(), partner.clone()));
                    }
                    if warns && nodes.node(end).is_some() {
                        let confidence = policy.defense.warning_confidence;
                        let (origin, sender, subject) = (end.clone(), end.clone(), partner.clone());
                        let warning = Signal { origin, sender, subject, confidence, hops: 0 };
                        queue.extend(addressed(&nodes, end, &warning, |_| Some(warning.clone())));
                    }
                }
            }
            NetworkEvent::SignalReceived { receiver, signal } => {
                queue.extend(forwarded(&nodes, &policy.defense, receiver, signal));
            }
            _ => {}
        }
    }
    next_delivery(&nodes, &mut queue, &mut received).is_none() && affirmed == expected
}

/// The signals that a receiver forwards: `confidence × 0.8 × w`, one hop further.
fn forwarded(
    nodes: &ExpectedNodes<'_>,
    policy: &DefensePolicy,
    receiver: &NodeId,
    signal: &Signal,
) -> Vec<(NodeId, Signal)> {
    if signal.confidence < policy.propagate_from || signal.hops >= policy.max_hops {
        return Vec::new();
    }
    addressed(nodes, receiver, signal, |weight| {
        let factors = [signal.confidence, policy.hop_factor, weight];
        let product = factors.iter().map(|factor| u128::from(factor.millionths()));
        let product = product.fold(1, u128::saturating_mul).saturating_add(500_000_000_000);
        let confidence = Score::from_millionths(u32::try_from(product / 1_000_000_000_000).ok()?)?;
        let (sender, hops) = (receiver.clone(), signal.hops.saturating_add(1));
        (confidence >= policy.drop_below).then(|| Signal { sender, confidence, hops, ..signal.clone() })
    })
}

/// Signals that their receivers ignore: to each node, one of another node about it, and one of its own about the other node.
fn ignored_signals(state: &State) -> Vec<Input> {
    let ids = || nodes(state).map(|node| &node.id);
    let signal = |receiver: &NodeId, sender: &NodeId, subject: &NodeId| {
        let (origin, confidence) = (NodeId::new("stranger"), Score::ONE);
        let signal = Signal { sender: sender.clone(), origin, subject: subject.clone(), confidence, hops: 0 };
        Input::Network(Box::new(NetworkInput::Signal { receiver: receiver.clone(), signal }))
    };
    let pairs = ids().filter_map(|receiver| Some((receiver, ids().find(|id| *id != receiver)?)));
    pairs
        .flat_map(|(receiver, other)| [signal(receiver, other, receiver), signal(receiver, receiver, other)])
        .collect()
}

/// The next signal that its receiver does not ignore.
fn next_delivery(
    nodes: &ExpectedNodes<'_>,
    queue: &mut VecDeque<(NodeId, Signal)>,
    received: &mut BTreeSet<(NodeId, NodeId, NodeId)>,
) -> Option<(NodeId, Signal)> {
    loop {
        let (to, signal) = queue.pop_front()?;
        let is_new = received.insert((to.clone(), signal.origin.clone(), signal.subject.clone()));
        if is_new && signal.subject != to && signal.sender != to && nodes.node(&to).is_some() {
            return Some((to, signal));
        }
    }
}

/// A signal of a node to each of its partners but the signal's sender, origin and subject, given the weight of the connection.
fn addressed(
    nodes: &ExpectedNodes<'_>,
    from: &NodeId,
    signal: &Signal,
    forward: impl Fn(Score) -> Option<Signal>,
) -> Vec<(NodeId, Signal)> {
    let Some(node) = nodes.node(from) else { return Vec::new() };
    let partners = node.connections.iter().filter(|(partner, held)| {
        ![&signal.sender, &signal.origin, &signal.subject].contains(partner)
            && held.status != ConnectionStatus::Removed
    });
    partners.filter_map(|(partner, held)| Some((partner.clone(), forward(held.weight)?))).collect()
}

/// Inputs that end each task that another node executes, with how the result and the task are judged: with unequal ratings and tones,
/// without a judgement, and `None` for a failure.
fn ended_tasks(state: &State) -> impl Iterator<Item = (Input, Option<InteractionReport>)> + '_ {
    let running = assignments(state).filter(|assignment| assignment.is_running() && !assignment.is_local());
    let tasks = running.filter(|assignment| {
        let call = state.control().pending_call(assignment.call);
        call.is_some_and(|call| call.running_task().is_some())
    });
    tasks.flat_map(|assignment| {
        let call = assignment.call;
        let reply = move |judged: InteractionReport| Input::Reply {
            call,
            report: Report::Exit { code: 0, text: Text::from("text"), number: None },
            summary_update: None,
            action: None,
            interaction: Some(Box::new(judged)),
        };
        let rated = |[help, accuracy, relevance, timeliness]: [u8; 4], reuse| Feedback {
            help,
            accuracy,
            relevance,
            timeliness,
            reuse,
        };
        let reused = InteractionReport {
            feedback: Some(rated([5, 2, 4, 1], true)),
            tone: Millionths::new(300_000),
            task_feedback: Some(rated([2, 5, 1, 3], true)),
            task_tone: Millionths::new(-600_000),
        };
        // Ratings outside of their range count as its ends.
        let feedback = Some(rated([0, 4, 2, 6], false));
        let given = [
            reused,
            InteractionReport { feedback, ..InteractionReport::default() },
            InteractionReport::default(),
        ];
        let replies = given.map(|judged| (reply(judged), Some(judged)));
        replies.into_iter().chain([(Input::CallFailed { call, failure: Failure::Error }, None)])
    })
}

/// The quality of a result or a task in millionths, rounded half up.
fn expected_quality(state: &State, feedback: Feedback) -> Option<i64> {
    let policy = state.network()?.policy().feedback;
    let weighted =
        |weight: Score, rating: u8| i64::from(weight.millionths()).saturating_mul(rating.clamp(1, 5).into());
    let sum = weighted(policy.help, feedback.help)
        .saturating_add(weighted(policy.accuracy, feedback.accuracy))
        .saturating_add(weighted(policy.relevance, feedback.relevance))
        .saturating_add(weighted(policy.timeliness, feedback.timeliness));
    let (reuse, no_reuse) = (i64::from(policy.reuse.millionths()), i64::from(policy.no_reuse.millionths()));
    let one = 1_000_000_i64;
    let factor = if feedback.reuse { reuse } else { no_reuse };
    let (low, high) = (reuse.min(no_reuse), reuse.max(no_reuse));
    // In units of 10^-12.
    let above = sum.saturating_mul(factor).saturating_sub(low.saturating_mul(one));
    let range = high.saturating_mul(5).saturating_sub(low);
    let half = range.checked_div(2)?;
    Some(above.saturating_add(half).checked_div(range)?.clamp(0, one))
}

/// The candidates, the best first, in the order in which an ensemble of this size takes them: if it would have several nodes, all of one
/// declared cluster, the first of each cluster before the others. A node without a cluster is its own.
fn diversified(best: Vec<&Node>, size: usize) -> Vec<&Node> {
    let mut clusters = best.iter().take(size).map(|node| node.cluster.as_ref());
    let first = clusters.next().flatten();
    if size < 2 || first.is_none() || !clusters.all(|cluster| cluster == first) {
        return best;
    }
    let is_first = |at: usize, node: &Node| {
        node.cluster.is_none() || !best.iter().take(at).any(|better| better.cluster == node.cluster)
    };
    let numbered = || best.iter().enumerate();
    let firsts = numbered().filter(|(at, node)| is_first(*at, node));
    let others = numbered().filter(|(at, node)| !is_first(*at, node));
    firsts.chain(others).map(|(_, node)| *node).collect()
}
