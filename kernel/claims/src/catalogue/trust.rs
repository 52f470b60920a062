//! Claims about trust: ranges, the bound on trust, interactions, and the effect of load on reciprocity (001 §4.1, §7, §10).
//!
//! The table of 001 §7.3 is stated for reciprocity alone, at both ends of a connection. That it moves work away from an overloaded
//! node does not follow from the equations: finding G1 has the counterexample.

use super::prelude::*;
use crate::reference::contexts::{payload_tokens, tokens};
use crate::reference::network::nodes;
use alloc::vec::Vec;
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::{Connection, Contribution, Exchange, Millionths, NetworkEvent};
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::{Assignment, NetworkState};

pub(super) const TRUST: &[Claim] = &[
    Claim {
        id: "C-145",
        clause: "001-4.1",
        statement: "Every factor of a score is from 0 to 1. A weight lies between its bounds, a tone between −1 and 1.",
        formula: "□ (T, q_cap, load, w, θ, q ∈ [0, 1] ∧ W_MIN ≤ w ≤ W_MAX ∧ −1 ≤ τ ≤ 1)",
        check: NetworkInvariant(|state, network| {
            let policy = network.policy().connection;
            let is_share = |score: Score| score.millionths() <= 1_000_000;
            nodes(state).all(|node| {
                is_share(node.trust)
                    && is_share(node.computed_trust)
                    && is_share(node.load())
                    && node.capabilities.values().all(|held| is_share(held.quality) && is_share(held.load()))
                    && node.threat_beliefs.values().all(|belief| is_share(belief.level))
                    && node.connections.iter().all(|(_, connection)| {
                        is_share(connection.quality)
                            && connection.tone.get().abs() <= 1_000_000
                            && connection.weight >= policy.min_weight
                            && connection.weight <= policy.max_weight
                    })
            })
        }),
        premise: Premise::Network(|state, _| nodes(state).any(|node| !node.connections.is_empty())),
        ..CLAIM
    },
    Claim {
        id: "C-146",
        clause: "001-10.3",
        statement: "After an interaction, the computed trust of each end is at most its diversity plus the margin: T ≤ D + 0.3.",
        formula: "□ (interaction(n) ⇒ T'(n) ≤ D'(n) + margin)",
        check: StepInvariant(|_, _, events, after| {
            let Some(network) = after.network() else { return true };
            let weights = &network.policy().trust;
            exchanges(events).all(|exchange| {
                let ends = [&exchange.sender, &exchange.receiver];
                exchange.sender == exchange.receiver
                    || ends.into_iter().filter_map(|end| network.node(end)).all(|node| {
                        let mut partners: Vec<&NodeId> = node.recent_partners.iter().collect();
                        partners.sort_unstable();
                        partners.dedup();
                        // T ≤ distinct / window + margin, by cross multiplication. Trust and diversity are rounded.
                        let window = u64::from(weights.partner_window);
                        let distinct = u64::try_from(partners.len()).unwrap_or(u64::MAX);
                        let trust = u64::from(node.computed_trust.millionths());
                        let margin = u64::from(weights.diversity_margin.millionths());
                        trust.saturating_sub(margin).saturating_mul(window)
                            <= distinct.saturating_mul(1_000_000).saturating_add(window)
                    })
            })
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
    Claim {
        id: "C-147",
        clause: "001-10.2",
        statement: "Each call that a node executes and that ends, with a reply, an error, a malformed reply or a timeout, is one \
                    interaction of its sender and its receiver, in the same batch, with the time of the batch. Nothing else is. A \
                    failure counts as a rated result of quality 0, without tone and tokens.",
        formula: "□ (interactions(σ) = executed calls that end in σ with a reply or a failure) ∧ □ (failed(c) ⇒ result(c) = (0, rated, 0, 0))",
        check: StepInvariant(|_, before, events, after| {
            let executed = |call| {
                let assignment = before.network().and_then(|network| network.assignment(call));
                assignment.filter(|assignment| assignment.is_running())
            };
            let failed = Contribution {
                quality: Score::ZERO,
                is_rated: true,
                tone: Millionths::ZERO,
                tokens: Millionths::ZERO,
            };
            let mut ended = events.iter().filter_map(|event| match event {
                Event::ToolResult { call, .. } => Some((executed(*call)?, false)),
                Event::CallFailed { call, failure, .. }
                | Event::Network(NetworkEvent::AttemptFailed { call, failure, .. }) => {
                    let is_judged = matches!(failure, Failure::Error | Failure::Timeout | Failure::Malformed);
                    Some((executed(*call).filter(|_| is_judged)?, true))
                }
                _ => None,
            });
            let mut exchanges = exchanges(events);
            let is_interaction = |(ended, has_failed): (&Assignment, bool)| {
                exchanges.next().is_some_and(|exchange| {
                    (&ended.from, &ended.to, &ended.capability)
                        == (&exchange.sender, &exchange.receiver, &exchange.capability)
                        && exchange.at == after.now()
                        && (!has_failed || exchange.result == failed)
                })
            };
            ended.all(is_interaction) && exchanges.next().is_none()
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
    Claim {
        id: "C-239",
        clause: "001-10.2",
        statement: "The sender of an interaction gives the tokens of the payload of the call, or of the message if the call has no \
                    payload. The receiver gives those of the texts of its report, and none after a failure. The volume is a thousandth of \
                    their sum.",
        formula: "□ (Exchanged(x) ⇒ tokens_task(x) = tokens(payload(c)) or tokens(message(r)) ∧ tokens_result(x) = Σ tokens(texts(report(c))), \
                  0 on a failure ∧ v(x) = (tokens_task(x) + tokens_result(x)) / 1000)",
        check: StepInvariant(|_, before, events, _| {
            exchanges(events).all(|exchange| {
                let ended = events.iter().find_map(|event| match event {
                    Event::ToolResult { call, report, .. } => Some((*call, report_tokens(report))),
                    Event::CallFailed { call, .. }
                    | Event::Network(NetworkEvent::AttemptFailed { call, .. }) => Some((*call, 0)),
                    _ => None,
                });
                let call = ended.and_then(|(call, _)| before.control().pending_call(call));
                let (Some(call), Some((_, result))) = (call, ended) else { return false };
                let task = match payload_tokens(before, call.operation) {
                    0 => before.control().request().map_or(0, |request| tokens(request.text.as_str())),
                    payload => payload,
                };
                let millionths = |number: u64, unit| {
                    i64::try_from(number).map_or(i64::MAX, |number| number.saturating_mul(unit))
                };
                exchange.task.tokens.get() == millionths(task, 1_000_000)
                    && exchange.result.tokens.get() == millionths(result, 1_000_000)
                    && exchange.volume.get() == millionths(task.saturating_add(result), 1_000)
            })
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
    Claim {
        id: "C-148",
        clause: "001-7.7",
        statement: "A node that gives at least as much as it receives, for a part of quality at most 0.5, does not gain \
                    reciprocity above 0: an overloaded node has a falling one.",
        formula: "□ (out ≥ in ∧ x ≤ 0.5 ∧ r ≥ 0 ⇒ r' ≤ r)",
        check: StepInvariant(|_, before, events, after| {
            holds_at_ends(before, events, after, |before, after, given, received| {
                let is_overloaded = given.tokens >= received.tokens && received.quality.millionths() <= HALF;
                !is_overloaded || before < Millionths::ZERO || after <= before
            })
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
    Claim {
        id: "C-149",
        clause: "001-7.7",
        statement: "A node that receives more than it gives, for a part of quality at least 0.5, does not lose reciprocity \
                    below 0: an underutilized node has a rising one.",
        formula: "□ (in ≥ out + ε ∧ x ≥ 0.5 ∧ r ≤ 0 ⇒ r' ≥ r)",
        check: StepInvariant(|_, before, events, after| {
            let epsilon =
                before.network().map_or(0, |network| network.policy().connection.epsilon.millionths());
            let epsilon = Millionths::new(epsilon.into());
            holds_at_ends(before, events, after, |before, after, given, received| {
                let is_underutilized =
                    received.tokens >= given.tokens + epsilon && received.quality.millionths() >= HALF;
                !is_underutilized || before > Millionths::ZERO || after >= before
            })
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
    Claim {
        id: "C-150",
        clause: "001-7.7",
        statement: "An exchange of as many tokens as were received, of quality 0.5, moves reciprocity towards 0: a balanced \
                    node has one of about 0.",
        formula: "□ (in = out > 0 ∧ x = 0.5 ⇒ |r'| ≤ max(|r|, ε))",
        check: StepInvariant(|_, before, events, after| {
            let epsilon =
                before.network().map_or(0, |network| network.policy().connection.epsilon.millionths());
            holds_at_ends(before, events, after, |before, after, given, received| {
                let is_balanced = given.tokens == received.tokens
                    && given.tokens >= Millionths::ONE
                    && received.quality.millionths() == HALF;
                !is_balanced || after.get().abs() <= before.get().abs().max(epsilon.into())
            })
        }),
        premise: Premise::Network(has_interacted),
        ..CLAIM
    },
];

const HALF: u32 = 500_000;

/// The tokens of the texts of a report, each counted by itself. Of a plan these are the texts of its tasks.
fn report_tokens(report: &Report) -> u64 {
    let (own, plan): (Vec<&Text>, Option<&Plan>) = match report {
        Report::Context { traces, .. } => (traces.iter().map(|past| &past.text).collect(), None),
        Report::Classification { tags, .. } => (tags.iter().collect(), None),
        Report::Plan(plan) => (Vec::new(), Some(plan)),
        Report::Argument { text, plan, .. } => (Vec::from([text]), plan.as_ref()),
        Report::Repaired { text, plan } => (Vec::from([text]), Some(plan)),
        Report::Summary { text, .. }
        | Report::Approval { text, .. }
        | Report::NoRepair { text }
        | Report::Exit { text, .. } => (Vec::from([text]), None),
        Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => (Vec::new(), None),
    };
    let tasks = plan.map_or(&[][..], Plan::tasks);
    let texts = own.into_iter().chain(tasks.iter().map(|task| &task.text));
    texts.map(|text| tokens(text.as_str())).fold(0, u64::saturating_add)
}

fn has_interacted(state: &State, _: &NetworkState) -> bool {
    let is_active =
        |connection: &Connection| connection.status == orchestrion_kernel::network::ConnectionStatus::Active;
    nodes(state).any(|node| node.connections.iter().any(|(_, connection)| is_active(connection)))
}

fn exchanges(events: &[Event]) -> impl Iterator<Item = &Exchange> {
    events.iter().filter_map(|event| match event {
        Event::Network(NetworkEvent::Exchanged(exchange)) => Some(&**exchange),
        _ => None,
    })
}

/// Whether a condition holds at both ends of each exchange: the reciprocity before and after the batch, what the end gave, and what
/// it received. A batch has at most one exchange (C-147).
fn holds_at_ends(
    before: &State,
    events: &[Event],
    after: &State,
    holds: impl Fn(Millionths, Millionths, &Contribution, &Contribution) -> bool,
) -> bool {
    exchanges(events).filter(|exchange| exchange.sender != exchange.receiver).all(|exchange| {
        let reciprocity = |state: &State, end: &NodeId, partner: &NodeId| {
            let node = state.network().and_then(|network| network.node(end));
            node.map(|node| {
                let connection = node.connections.get(partner);
                connection.map_or(Millionths::ZERO, |connection| connection.reciprocity)
            })
        };
        let ends = [
            (&exchange.sender, &exchange.receiver, &exchange.task, &exchange.result),
            (&exchange.receiver, &exchange.sender, &exchange.result, &exchange.task),
        ];
        ends.into_iter().all(|(end, partner, given, received)| {
            let both = reciprocity(before, end, partner).zip(reciprocity(after, end, partner));
            both.is_none_or(|(earlier, later)| holds(earlier, later, given, received))
        })
    })
}
