//! Claims about the one answer of several members (001 §8.3).

use super::prelude::*;
use crate::reference::consensus::{Position, consensus, convergence, weighted_mean, widest_variance};
use crate::reference::network::{first_capability, task_requirements};
use crate::reference::plans::{members, task as find_task};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::aggregation::{Aggregate, AggregateAnswer, AggregationStrategy};
use orchestrion_kernel::network::{NetworkEvent, Requirements};
use orchestrion_kernel::plan::Aggregation;
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::NetworkState;

pub(super) const AGGREGATION: &[Claim] = &[
    Claim {
        id: "C-159",
        clause: "001-8.4",
        statement: "The answers of the members that succeeded become one by the strategy of the plan. Each has the weight of its \
                node, trust × quality, or those of an unknown node if it left; if no weight is above 0, and without a network, all \
                weigh the same. A vote takes the answer with the most weight, best effort the answer of the node with the most \
                weight, averaging the weighted mean, which fails without numbers. The confidence of the first two is the share of \
                the weight for the answer, that of a mean how far the answers converge.",
        formula: "□ (aggregated(a) ⇒ a = argmax Σ w ∨ a = answer(argmax w) ∨ a = Σ w x / Σ w, by strategy)",
        check: NetworkEventInvariant(|_, state, event| {
            let expected = || Some((plan_aggregation(state)?.strategy, votes(state)?));
            match event {
                NetworkEvent::ResultsAggregated { aggregate } => {
                    expected().is_some_and(|(strategy, votes)| is_aggregate(strategy, &votes, aggregate))
                }
                NetworkEvent::AggregationFailed { .. } => expected().is_some_and(|(strategy, votes)| {
                    let has_numbers = positions(&votes).is_some();
                    match strategy {
                        AggregationStrategy::Voting | AggregationStrategy::BestEffort => false,
                        AggregationStrategy::Averaging => !has_numbers,
                        // C-237 is about a consensus.
                        AggregationStrategy::Consensus => true,
                    }
                }),
                _ => true,
            }
        }),
        premise: Premise::Network(|state, _| {
            of_request(state, |request| {
                request.workflow.is_aggregated == Some(true) && request.workflow.answers.len() > 1
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-237",
        clause: "001-8.6",
        statement: "A consensus deliberates. It is the weighted mean once the positions converge, measured by the range of the answers. \
                Positions that stay apart and rest agree to disagree on a task that is not critical: the side with more trust \
                answers, and the others dissent. Otherwise, and without numbers, there is no aggregate.",
        formula: "□ (aggregated(a) by consensus ⇒ a = deliberation(x, T, q)) ∧ □ (¬aggregated by consensus ⇒ deliberation(x, T, q) = ∅)",
        check: NetworkEventInvariant(|_, state, event| {
            let found = match event {
                NetworkEvent::ResultsAggregated { aggregate } => Some(aggregate),
                NetworkEvent::AggregationFailed { .. } => None,
                _ => return true,
            };
            let Some(aggregation) = plan_aggregation(state) else { return false };
            if aggregation.strategy != AggregationStrategy::Consensus {
                return true;
            }
            let policy = state.network().map(|network| network.policy().convergence).unwrap_or_default();
            let Some(votes) = votes(state) else { return false };
            let expected = positions(&votes)
                .and_then(|positions| consensus(&policy, positions, aggregation.criticality));
            match (expected, found) {
                (None, None) => true,
                (
                    Some(expected),
                    Some(Aggregate { answer: AggregateAnswer::Number(number), confidence, dissenting }),
                ) => {
                    // Without a network the members have no nodes.
                    let mut nodes = expected.dissenting.iter().zip(dissenting);
                    expected.answer == number.get().into()
                        && expected.confidence == confidence.millionths().into()
                        && expected.dissenting.len() == dissenting.len()
                        && nodes.all(|(expected, found)| expected.is_none_or(|expected| expected == found))
                }
                (None, Some(_)) | (Some(_), None | Some(_)) => false,
            }
        }),
        premise: Premise::Network(|state, _| {
            plan_aggregation(state)
                .is_some_and(|aggregation| aggregation.strategy == AggregationStrategy::Consensus)
                && of_request(state, |request| request.workflow.is_aggregated == Some(true))
        }),
        ..CLAIM
    },
];

/// The answer of one member.
struct Vote<'s> {
    /// The node; none without a network.
    node: Option<&'s NodeId>,
    text: &'s Text,
    number: Option<i64>,
    /// The trust in the node, in millionths; full trust without a network.
    trust: i128,
    /// Trust × quality, in units of 10^-12.
    weight: i128,
}

fn plan_aggregation(state: &State) -> Option<&Aggregation> {
    state.control().request()?.plan.as_ref()?.plan.aggregation()
}

/// The answer of each member that succeeded; none if an answer or its node is missing.
fn votes(state: &State) -> Option<Vec<Vote<'_>>> {
    let request = state.control().request()?;
    let plan = &request.plan.as_ref()?.plan;
    let succeeded =
        members(plan).into_iter().filter(|task| request.outcome(task.id) == Some(TaskOutcome::Succeeded));
    let vote = |task: TaskId| {
        let answer = request.workflow.answers.iter().find(|answer| answer.task == task)?;
        let node = request.ledger.get(task)?.node.as_ref();
        let declared = find_task(plan, task)?.step.requirements.as_deref();
        let (trust, weight) = match state.network() {
            Some(network) => trust_and_weight(network, node?, declared),
            None => (i128::from(Score::ONE.millionths()), 0),
        };
        Some(Vote {
            node,
            text: &answer.text,
            number: answer.number.map(|number| number.get()),
            trust,
            weight,
        })
    };
    let mut votes: Vec<Vote<'_>> = succeeded.map(|task| vote(task.id)).collect::<Option<_>>()?;
    if votes.iter().all(|vote| vote.weight == 0) {
        votes.iter_mut().for_each(|vote| vote.weight = 1);
    }
    Some(votes)
}

/// The answers as positions; none if one is no number.
fn positions<'s>(votes: &[Vote<'s>]) -> Option<Vec<Position<'s>>> {
    let position = |vote: &Vote<'s>| {
        Some(Position { node: vote.node, value: vote.number?.into(), trust: vote.trust, weight: vote.weight })
    };
    votes.iter().map(position).collect()
}

/// The trust in a node, and it times the quality of its capability. A node that left has unknown trust, and the quality with which a
/// capability starts; so has a capability that its node lost.
fn trust_and_weight(network: &NetworkState, node: &NodeId, declared: Option<&Requirements>) -> (i128, i128) {
    let policy = network.policy();
    let node = network.node(node);
    let trust = node.map_or(policy.convergence.unknown_trust, |node| node.trust);
    let capability = node.and_then(|node| first_capability(node, &task_requirements(declared)));
    let quality = capability.map_or(policy.start.capability_quality, |capability| capability.quality);
    let trust = i128::from(trust.millionths());
    (trust, trust.saturating_mul(quality.millionths().into()))
}

fn is_aggregate(strategy: AggregationStrategy, votes: &[Vote<'_>], aggregate: &Aggregate) -> bool {
    match (strategy, &aggregate.answer) {
        (AggregationStrategy::Voting, AggregateAnswer::Text(text)) => {
            let mut sums: BTreeMap<&Text, i128> = BTreeMap::new();
            for vote in votes {
                let sum = sums.entry(vote.text).or_insert(0);
                *sum = sum.saturating_add(vote.weight);
            }
            // The map has the smaller of equally heavy answers first.
            let best = sums.iter().reduce(|best, next| if next.1 > best.1 { next } else { best });
            best.is_some_and(|(best, weight)| *best == text && is_share(aggregate.confidence, *weight, votes))
        }
        (AggregationStrategy::BestEffort, AggregateAnswer::Text(text)) => {
            let best = votes.iter().map(|vote| (core::cmp::Reverse(vote.weight), vote.node)).min();
            votes.iter().any(|vote| {
                Some((core::cmp::Reverse(vote.weight), vote.node)) == best
                    && vote.text == text
                    && is_share(aggregate.confidence, vote.weight, votes)
            })
        }
        (AggregationStrategy::Averaging, AggregateAnswer::Number(number)) => {
            positions(votes).is_some_and(|positions| {
                let score = convergence(&positions, widest_variance(&positions));
                weighted_mean(&positions, |position| position.weight) == number.get().into()
                    && score == aggregate.confidence.millionths().into()
                    && aggregate.dissenting.is_empty()
            })
        }
        // C-237 is about a consensus.
        (AggregationStrategy::Consensus, AggregateAnswer::Number(_)) => true,
        (
            AggregationStrategy::Voting
            | AggregationStrategy::BestEffort
            | AggregationStrategy::Averaging
            | AggregationStrategy::Consensus,
            AggregateAnswer::Text(_) | AggregateAnswer::Number(_),
        ) => false,
    }
}

/// Whether the confidence is the share that a weight has in all, up to one millionth.
fn is_share(confidence: Score, weight: i128, votes: &[Vote<'_>]) -> bool {
    let total = votes.iter().map(|vote| vote.weight).fold(0, i128::saturating_add);
    let share = i128::from(confidence.millionths()).saturating_mul(total);
    share.saturating_sub(weight.saturating_mul(1_000_000)).abs() <= total
}
