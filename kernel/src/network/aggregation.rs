//! Aggregation of the results of an ensemble (001 §8.3).

use super::convergence::{
    ConvergenceStatus, Position, Variance, agree_to_disagree, convergence_score, convergence_status,
    deliberate, may_disagree, weighted_mean,
};
use super::millionths::{Millionths, ONE, div_round};
use super::policy::ConvergencePolicy;
use crate::ids::{NodeId, Text};
use crate::score::Score;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

/// How an ensemble's results become one (001 §8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AggregationStrategy {
    /// The answer with the most weight.
    Voting,
    /// The weighted mean of numeric answers.
    Averaging,
    /// Deliberation on numeric answers until they converge.
    Consensus,
    /// The answer of the node with the most weight.
    BestEffort,
}

impl AggregationStrategy {
    /// Every strategy.
    pub const ALL: [Self; 4] = [Self::Voting, Self::Averaging, Self::Consensus, Self::BestEffort];
}

/// The result of one member of an ensemble. It weighs trust × quality.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct MemberResult {
    /// The member.
    pub node: NodeId,
    /// The answer in its canonical form.
    pub answer: Text,
    /// The answer as a number, which averaging and consensus require.
    #[cfg_attr(feature = "serde", serde(default))]
    pub number: Option<Millionths>,
    /// The trust in the member.
    pub trust: Score,
    /// The quality of the member for the capability.
    pub quality: Score,
}

/// The answer of an ensemble.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Aggregate {
    /// The answer.
    pub answer: AggregateAnswer,
    /// The confidence: the share of the weight for a vote or a best effort, the score of convergence for a number.
    pub confidence: Score,
    /// The nodes with another answer, after an agreement to disagree.
    pub dissenting: Vec<NodeId>,
}

/// The value of an ensemble's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum AggregateAnswer {
    /// A text.
    Text(Text),
    /// A number.
    Number(Millionths),
}

/// Why results have no aggregate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[non_exhaustive]
pub enum AggregationError {
    /// There is no result.
    NoResults,
    /// The strategy requires numbers, and this member's answer is none.
    NotNumeric {
        /// The member.
        node: NodeId,
    },
    /// The positions did not converge, and the task is too critical to disagree.
    Unresolved {
        /// The score after the last round.
        score: Score,
    },
}

impl fmt::Display for AggregationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoResults => f.write_str("no aggregate: expected at least one result"),
            Self::NotNumeric { node } => {
                write!(f, "no aggregate: expected a number from node {node}, found a text")
            }
            Self::Unresolved { score } => {
                write!(f, "no aggregate: expected converging positions, found score {score}")
            }
        }
    }
}

impl core::error::Error for AggregationError {}

/// Aggregates the results by the strategy. `criticality` concerns consensus only.
///
/// # Errors
/// [`AggregationError`] where the strategy gives no answer.
pub fn aggregate(
    policy: &ConvergencePolicy,
    strategy: AggregationStrategy,
    results: &[MemberResult],
    criticality: Score,
) -> Result<Aggregate, AggregationError> {
    if results.is_empty() {
        return Err(AggregationError::NoResults);
    }
    match strategy {
        AggregationStrategy::Voting => vote(results),
        AggregationStrategy::Averaging => {
            let positions = positions(results)?;
            Ok(mean(policy, &positions, Variance::widest(&positions)))
        }
        AggregationStrategy::Consensus => reach_consensus(policy, positions(results)?, criticality),
        AggregationStrategy::BestEffort => best_effort(results),
    }
}

/// Returns the answer with the most weight. A tie goes to the smallest answer by bytes.
fn vote(results: &[MemberResult]) -> Result<Aggregate, AggregationError> {
    let mut votes: BTreeMap<&Text, u128> = BTreeMap::new();
    for (result, weight) in results.iter().zip(weights(results)) {
        let votes = votes.entry(&result.answer).or_insert(0);
        *votes = votes.saturating_add(weight);
    }
    let total = votes.values().copied().fold(0, u128::saturating_add);
    let (answer, votes) = votes
        .into_iter()
        .max_by_key(|(answer, votes)| (*votes, Reverse(*answer)))
        .ok_or(AggregationError::NoResults)?;
    Ok(text_aggregate(answer, votes, total))
}

/// Returns the answer of the member with the most weight; a tie goes to the smaller id.
fn best_effort(results: &[MemberResult]) -> Result<Aggregate, AggregationError> {
    let weights = weights(results);
    let total = weights.iter().copied().fold(0, u128::saturating_add);
    let (best, weight) = results
        .iter()
        .zip(weights)
        .max_by_key(|(result, weight)| (*weight, Reverse(&result.node)))
        .ok_or(AggregationError::NoResults)?;
    Ok(text_aggregate(&best.answer, weight, total))
}

/// Returns the weight of each result; if no weight is above 0, all weigh the same.
fn weights(results: &[MemberResult]) -> Vec<u128> {
    let is_weightless = results.iter().all(|result| result.weight() == 0);
    results.iter().map(|result| if is_weightless { 1 } else { result.weight() }).collect()
}

fn text_aggregate(answer: &Text, weight: u128, total: u128) -> Aggregate {
    let wide = |weight: u128| i128::try_from(weight).unwrap_or(i128::MAX);
    let share = div_round(wide(weight).saturating_mul(ONE.into()), wide(total));
    Aggregate {
        answer: AggregateAnswer::Text(answer.clone()),
        confidence: Millionths::new(share).to_score(),
        dissenting: Vec::new(),
    }
}

/// The number of deliberation rounds after which positions that move no more are given up.
const MAX_ROUNDS: u32 = 20;

/// Deliberates until the positions converge, or until the nodes agree to disagree.
fn reach_consensus(
    policy: &ConvergencePolicy,
    mut positions: Vec<Position>,
    criticality: Score,
) -> Result<Aggregate, AggregationError> {
    let max_variance = Variance::widest(&positions);
    let mut score = convergence_score(&positions, max_variance);
    let mut scores = vec![score];
    for _ in 0..MAX_ROUNDS {
        if convergence_status(policy, score) == ConvergenceStatus::Converged {
            return Ok(mean(policy, &positions, max_variance));
        }
        if may_disagree(policy, &scores, criticality) {
            let disagreement = agree_to_disagree(policy, &positions);
            return Ok(Aggregate {
                answer: AggregateAnswer::Number(disagreement.answer),
                confidence: disagreement.confidence,
                dissenting: disagreement.dissenting,
            });
        }
        deliberate(policy, &mut positions);
        score = convergence_score(&positions, max_variance);
        scores.push(score);
    }
    Err(AggregationError::Unresolved { score })
}

/// Returns the weighted mean of the positions, with their score as the confidence.
fn mean(policy: &ConvergencePolicy, positions: &[Position], max_variance: Variance) -> Aggregate {
    let mean = weighted_mean(positions.iter().map(|position| (position.value, position.weight(policy))));
    Aggregate {
        answer: AggregateAnswer::Number(mean),
        confidence: convergence_score(positions, max_variance),
        dissenting: Vec::new(),
    }
}

fn positions(results: &[MemberResult]) -> Result<Vec<Position>, AggregationError> {
    let position = |result: &MemberResult| match result.number {
        Some(value) => Ok(Position {
            node: result.node.clone(),
            value,
            trust: Some(result.trust),
            quality: result.quality,
        }),
        None => Err(AggregationError::NotNumeric { node: result.node.clone() }),
    };
    results.iter().map(position).collect()
}

impl MemberResult {
    /// Returns trust × quality, in units of 10^-12.
    fn weight(&self) -> u128 {
        u128::from(self.trust.millionths()).saturating_mul(self.quality.millionths().into())
    }
}
