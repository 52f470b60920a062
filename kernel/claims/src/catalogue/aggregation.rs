//! The claim about the one answer of several members (001 §8.3).

use super::prelude::*;
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

pub(super) const AGGREGATION: &[Claim] = &[Claim {
    id: "C-159",
    clause: "001-8.4",
    statement: "The answers of the members that succeeded become one by the strategy of the plan. Each has the weight of its \
                node, trust × quality, or those of an unknown node if it left; if no weight is above 0, and without a network, all weigh the same. A vote takes the answer with the most weight, best effort the answer of the node with \
                the most weight, averaging the weighted mean, and consensus the weighted mean up to rounding, or else \
                names who dissents. The last two fail without numbers. The confidence of the first two is the share \
                of the weight for the answer.",
    formula: "□ (aggregated(a) ⇒ a = argmax Σ w ∨ a = answer(argmax w) ∨ a = Σ w x / Σ w ∨ a ≈ Σ w x / Σ w, by strategy)",
    check: NetworkEventInvariant(|_, state, event| {
        let expected = || Some((plan_aggregation(state)?.strategy, votes(state)?));
        match event {
            NetworkEvent::ResultsAggregated { aggregate } => {
                expected().is_some_and(|(strategy, votes)| is_aggregate(strategy, &votes, aggregate))
            }
            NetworkEvent::AggregationFailed { .. } => expected().is_some_and(|(strategy, votes)| {
                let has_numbers = votes.iter().all(|vote| vote.number.is_some());
                match strategy {
                    AggregationStrategy::Voting | AggregationStrategy::BestEffort => false,
                    AggregationStrategy::Averaging => !has_numbers,
                    // Positions that do not converge have no aggregate either.
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
}];

/// The answer of one member.
struct Vote<'s> {
    /// The node; none without a network.
    node: Option<&'s NodeId>,
    text: &'s Text,
    number: Option<i64>,
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
        let weight = match state.network() {
            Some(network) => weight(network, node?, declared),
            None => 0,
        };
        Some(Vote { node, text: &answer.text, number: answer.number.map(|number| number.get()), weight })
    };
    let mut votes: Vec<Vote<'_>> = succeeded.map(|task| vote(task.id)).collect::<Option<_>>()?;
    if votes.iter().all(|vote| vote.weight == 0) {
        votes.iter_mut().for_each(|vote| vote.weight = 1);
    }
    Some(votes)
}

/// The trust in a node times the quality of its capability. A node that left has unknown trust, and the quality with which a
/// capability starts; so has a capability that its node lost.
fn weight(network: &NetworkState, node: &NodeId, declared: Option<&Requirements>) -> i128 {
    let policy = network.policy();
    let node = network.node(node);
    let trust = node.map_or(policy.convergence.unknown_trust, |node| node.trust);
    let capability = node.and_then(|node| first_capability(node, &task_requirements(declared)));
    let quality = capability.map_or(policy.start.capability_quality, |capability| capability.quality);
    i128::from(trust.millionths()).saturating_mul(quality.millionths().into())
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
            mean(votes) == Some(number.get().into())
        }
        (AggregationStrategy::Consensus, AggregateAnswer::Number(number)) => {
            let numbers = || votes.iter().filter_map(|vote| vote.number);
            let distance = mean(votes).map(|mean| mean.saturating_sub(number.get().into()).abs());
            numbers().min() <= Some(number.get())
                && Some(number.get()) <= numbers().max()
                && (!aggregate.dissenting.is_empty()
                    || distance.is_some_and(|distance| distance <= CONSENSUS_ROUNDING))
        }
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

/// In each round of a deliberation every position moves towards the weighted mean, which stays where it is but for rounding. So a
/// consensus is the mean, up to one millionth for each round.
const CONSENSUS_ROUNDING: i128 = 20;

/// The weighted mean, rounded half away from zero; none if an answer is no number, or nothing has a weight.
fn mean(votes: &[Vote<'_>]) -> Option<i128> {
    let (mut sum, mut total) = (0_i128, 0_i128);
    for vote in votes {
        sum = sum.saturating_add(vote.weight.saturating_mul(vote.number?.into()));
        total = total.saturating_add(vote.weight);
    }
    let twice = sum.abs().saturating_mul(2).saturating_add(total);
    Some(twice.checked_div(total.saturating_mul(2))?.saturating_mul(sum.signum()))
}
