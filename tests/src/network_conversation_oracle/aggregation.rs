//! The aggregate of the members' results (001 §8.3).

use super::interaction::{float, round};
use super::nodes::TOLERANCE;
use orchestrion_kernel::network::aggregation::{
    Aggregate, AggregateAnswer, AggregationError, AggregationStrategy,
};
use orchestrion_kernel::network::{Millionths, TrustPolicy};
use orchestrion_kernel::{NodeId, Score};
use std::collections::BTreeMap;

/// The result of a member.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) node: NodeId,
    pub(super) text: String,
    pub(super) number: Option<i64>,
    pub(super) trust: i64,
    pub(super) quality: i64,
}

/// The expected answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpectedAggregate {
    Text(String),
    Number(i64),
    NoResults,
    NotNumeric(NodeId),
    Unresolved,
}

/// The weight of each answer; equal weights where all are 0.
fn weights(answers: &[Answer]) -> Vec<f64> {
    let weights: Vec<f64> =
        answers.iter().map(|answer| float(answer.trust) * float(answer.quality)).collect();
    if weights.iter().all(|weight| *weight == 0.0) { vec![1.0; weights.len()] } else { weights }
}

/// Returns the expected aggregate of these answers.
pub(super) fn expected(
    policy: &TrustPolicy,
    strategy: AggregationStrategy,
    criticality: Score,
    answers: &[Answer],
) -> ExpectedAggregate {
    if answers.is_empty() {
        return ExpectedAggregate::NoResults;
    }
    let weights = weights(answers);
    match strategy {
        AggregationStrategy::Voting => {
            let mut votes: BTreeMap<&str, u128> = BTreeMap::new();
            let is_weightless = answers.iter().all(|answer| answer.trust == 0 || answer.quality == 0);
            for answer in answers {
                let weight = if is_weightless { 1 } else { answer.trust * answer.quality };
                *votes.entry(&answer.text).or_default() += u128::try_from(weight).unwrap_or(0);
            }
            let most = votes.values().copied().max().unwrap_or(0);
            let winner = votes.into_iter().find(|(_, weight)| *weight == most);
            winner.map_or(ExpectedAggregate::NoResults, |(text, _)| ExpectedAggregate::Text(text.to_owned()))
        }
        AggregationStrategy::BestEffort => {
            let mut best = &answers[0];
            for answer in answers {
                let is_better = answer.trust * answer.quality > best.trust * best.quality;
                let is_tie = answer.trust * answer.quality == best.trust * best.quality;
                if is_better || is_tie && answer.node < best.node {
                    best = answer;
                }
            }
            ExpectedAggregate::Text(best.text.clone())
        }
        AggregationStrategy::Averaging | AggregationStrategy::Consensus => {
            if let Some(other) = answers.iter().find(|answer| answer.number.is_none()) {
                return ExpectedAggregate::NotNumeric(other.node.clone());
            }
            let values: Vec<f64> = answers.iter().filter_map(|answer| answer.number).map(float).collect();
            if strategy == AggregationStrategy::Averaging {
                return ExpectedAggregate::Number(round(mean(&values, &weights)));
            }
            converge(policy, criticality, answers, values, &weights)
        }
    }
}

fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    sum / weights.iter().sum::<f64>()
}

/// Deliberates until the positions converge, or the nodes agree to disagree.
fn converge(
    policy: &TrustPolicy,
    criticality: Score,
    answers: &[Answer],
    mut values: Vec<f64>,
    weights: &[f64],
) -> ExpectedAggregate {
    let range =
        values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
    let max_variance = range * range / 4.0;
    let limits = &policy.convergence;
    let own_share = float(limits.own_share.millionths().into());
    let score = |values: &[f64]| {
        let center = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
        let variance = squares / values.len() as f64;
        if max_variance == 0.0 { 1.0 } else { (1.0 - variance / max_variance).clamp(0.0, 1.0) }
    };
    let above = |value: f64, limit: Score| value > float(limit.millionths().into());
    let mut latest = score(&values);
    for rounds in 0..50 {
        if above(latest, limits.converged_above) {
            return ExpectedAggregate::Number(round(mean(&values, weights)));
        }
        let center = mean(&values, weights);
        for value in &mut values {
            *value = own_share * *value + (1.0 - own_share) * center;
        }
        let next = score(&values);
        let is_still = (next - latest).abs() <= 0.01;
        latest = next;
        if rounds + 1 >= limits.min_rounds && is_still && !above(latest, limits.exploring_above) {
            if criticality >= limits.criticality_below {
                return ExpectedAggregate::Unresolved;
            }
            return ExpectedAggregate::Number(disagree(answers, &values));
        }
    }
    ExpectedAggregate::Unresolved
}

/// The answer of the side with more trust; a position at the mean counts as above it, and so does a tie.
fn disagree(answers: &[Answer], values: &[f64]) -> i64 {
    let center = values.iter().sum::<f64>() / values.len() as f64;
    let side = |is_above: bool| {
        let members = answers.iter().zip(values).filter(move |(_, value)| (**value >= center) == is_above);
        members.map(|(answer, value)| (float(answer.trust), *value)).collect::<Vec<_>>()
    };
    let trust = |side: &[(f64, f64)]| side.iter().map(|(trust, _)| trust).sum::<f64>();
    let (above, below) = (side(true), side(false));
    let winner = if trust(&above) >= trust(&below) { above } else { below };
    round(winner.iter().map(|(trust, value)| trust * value).sum::<f64>() / trust(&winner))
}

/// Compares the aggregate of the kernel.
pub(super) fn compare(
    expected: &ExpectedAggregate,
    found: Result<&Aggregate, &AggregationError>,
    strategy: AggregationStrategy,
    answers: &[Answer],
) -> Result<(), String> {
    // Weights have six digits, so a mean is as accurate as its smallest weight and its range allow.
    let numbers = || answers.iter().filter_map(|answer| answer.number);
    let range = numbers().max().unwrap_or(0) - numbers().min().unwrap_or(0);
    let total: f64 = answers.iter().map(|answer| float(answer.trust) * float(answer.quality)).sum();
    let accuracy = TOLERANCE + (float(range) * 2.0 * answers.len() as f64 / total.max(1e-6)) as i64;
    let is_equal = match found {
        Ok(Aggregate { answer: AggregateAnswer::Text(text), .. }) => {
            *expected == ExpectedAggregate::Text(text.to_string())
                || strategy == AggregationStrategy::BestEffort && is_best(text.as_str(), answers)
        }
        Ok(Aggregate { answer: AggregateAnswer::Number(number), .. }) => {
            matches!(expected, ExpectedAggregate::Number(value) if (value - number.get()).abs() <= accuracy)
        }
        Err(AggregationError::NoResults) => *expected == ExpectedAggregate::NoResults,
        // No text says which of several nodes is named.
        Err(AggregationError::NotNumeric { node }) => {
            matches!(expected, ExpectedAggregate::NotNumeric(_))
                && answers.iter().any(|answer| answer.number.is_none() && answer.node == *node)
        }
        Err(AggregationError::Unresolved { .. }) => *expected == ExpectedAggregate::Unresolved,
        // The error can get further variants.
        Err(_) => false,
    };
    if !is_equal {
        return Err(format!("aggregate of {answers:?}: expected {expected:?}, found {found:?}"));
    }
    // Nodes dissent only after an agreement to disagree.
    if let (AggregationStrategy::Voting | AggregationStrategy::BestEffort, Ok(aggregate)) = (strategy, found)
        && !aggregate.dissenting.is_empty()
    {
        return Err(format!("dissenting nodes: expected none, found {:?}", aggregate.dissenting));
    }
    Ok(())
}

/// Whether an answer is one of those with the highest weight. No text breaks a tie of best results.
fn is_best(text: &str, answers: &[Answer]) -> bool {
    let weight = |answer: &Answer| answer.trust * answer.quality;
    let most = answers.iter().map(weight).max();
    answers.iter().any(|answer| answer.text == text && Some(weight(answer)) == most)
}

/// The number of a report.
pub(super) fn number(number: Option<Millionths>) -> Option<i64> {
    number.map(Millionths::get)
}
