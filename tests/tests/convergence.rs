//! Finding G2: with the constants of 001, the positions of CONSENSUS always converge, and nodes never agree to disagree.
//!
//! A round shrinks every difference to 0.3 of it (`own_share`), so the variance shrinks to 0.09 of it. The variance is at most the
//! largest, so the score after one round is at least 0.91, above the threshold 0.85. An agreement to disagree needs five rounds with
//! a score of at most 0.4.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::network::aggregation::{
    AggregateAnswer, AggregationStrategy, MemberResult, aggregate,
};
use orchestrion_kernel::network::policy::ConvergencePolicy;
use orchestrion_kernel::network::{Millionths, TrustPolicy};
use orchestrion_kernel::{NodeId, Score};
use proptest::prelude::*;

fn member(number: usize, value: i64, trust: u32, quality: u32) -> MemberResult {
    let score = |millionths| Score::from_millionths(millionths).unwrap_or(Score::ONE);
    MemberResult {
        node: NodeId::new(number.to_string()),
        answer: value.to_string().as_str().into(),
        number: Some(Millionths::new(value)),
        trust: score(trust),
        quality: score(quality),
    }
}

fn any_members() -> impl Strategy<Value = Vec<MemberResult>> {
    let value = prop_oneof![-1_000_000_000..1_000_000_000_i64, 0..3_000_i64, Just(1_000_000)];
    prop::collection::vec((value, 0..=1_000_000_u32, 0..=1_000_000_u32), 1..8).prop_map(|members| {
        let numbered = members.into_iter().enumerate();
        numbered.map(|(number, (value, trust, quality))| member(number, value, trust, quality)).collect()
    })
}

#[test]
fn constants_bound_the_score_above_convergence() {
    let ConvergencePolicy { own_share, converged_above, exploring_above, min_rounds, .. } =
        ConvergencePolicy::default();
    let share = u64::from(own_share.millionths());
    let lowest = 1_000_000 - share * share / 1_000_000;
    assert_eq!(lowest, 910_000);
    assert!(lowest > u64::from(converged_above.millionths()));
    assert!(exploring_above < converged_above && min_rounds > 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn consensus_never_disagrees(members in any_members(), criticality in 0..=1_000_000_u32) {
        let policy = TrustPolicy::default().convergence;
        let criticality = Score::from_millionths(criticality).unwrap_or(Score::ONE);
        let result = aggregate(&policy, AggregationStrategy::Consensus, &members, criticality).unwrap();
        prop_assert!(matches!(result.answer, AggregateAnswer::Number(_)));
        prop_assert!(result.dissenting.is_empty());
        prop_assert!(result.confidence > policy.converged_above);
    }
}

/// 001-8.6: nodes that keep their positions do agree to disagree.
#[test]
fn whole_share_permits_disagreement() {
    let policy = ConvergencePolicy { own_share: Score::ONE, ..ConvergencePolicy::default() };
    let members = [member(0, 0, 1_000_000, 1_000_000), member(1, 1_000_000, 900_000, 1_000_000)];
    let result = aggregate(&policy, AggregationStrategy::Consensus, &members, Score::ZERO);
    assert_eq!(result.unwrap().dissenting, [NodeId::new("1")]);
}

/// Answers a few millionths apart converge too, although rounding moves them by half a millionth.
#[test]
fn smallest_spread_converges() {
    let policy = TrustPolicy::default().convergence;
    for value in 1..3_000 {
        let members = [member(0, 0, 1_000_000, 1_000_000), member(1, value, 900_000, 1_000_000)];
        let result = aggregate(&policy, AggregationStrategy::Consensus, &members, Score::ZERO).unwrap();
        assert!(result.dissenting.is_empty(), "{value} millionths apart: {result:?}");
    }
}
