//! Convergence of positions and the agreement to disagree, by example (001 §8.3).

use crate::builders::{millionths, score};
use orchestrion_kernel::network::Millionths;
use orchestrion_kernel::network::convergence::{
    ConvergenceStatus, Position, Variance, agree_to_disagree, convergence_score, convergence_status,
    deliberate, may_disagree,
};
use orchestrion_kernel::network::policy::ConvergencePolicy;
use orchestrion_kernel::{NodeId, Score};

fn position(node: &str, value: i64, trust: Option<u32>, quality: u32) -> Position {
    let (node, trust) = (NodeId::new(node), trust.map(score));
    Position { node, value: millionths(value), trust, quality: score(quality) }
}

/// `0.3 own + 0.7 Σ(pos · T · q) / Σ(T · q)`: with the weights 0.5 and 0.25 the mean of 0 and 1 is a third.
#[test]
fn deliberation_moves_positions_to_the_weighted_mean() {
    let mut positions =
        [position("ana", 0, None, 1_000_000), position("ben", 1_000_000, Some(500_000), 500_000)];
    deliberate(&ConvergencePolicy::default(), &mut positions);
    assert_eq!(positions.map(|position| position.value.get()), [233_333, 533_333]);
}

#[test]
fn side_with_more_trust_answers() {
    let policy = ConvergencePolicy::default();
    let positions = |below| {
        [
            position("ana", 0, Some(below), 1_000_000),
            position("ben", 1_000_000, Some(500_000), 1_000_000),
            // The trust is unknown: 0.5.
            position("cid", 2_000_000, None, 1_000_000),
        ]
    };
    let names = |nodes: &[NodeId]| nodes.iter().map(ToString::to_string).collect::<Vec<_>>();
    // The mean is 1; a position at the mean is above it. The margin is 0.1 of 1.9.
    let found = agree_to_disagree(&policy, &positions(900_000));
    assert_eq!((found.answer.get(), found.confidence), (1_500_000, score(526_316)));
    assert_eq!(
        (names(&found.agreeing), names(&found.dissenting)),
        (vec!["ben".to_owned(), "cid".to_owned()], vec!["ana".to_owned()])
    );
    // A tie is for the upper side.
    let tie = agree_to_disagree(&policy, &positions(1_000_000));
    assert_eq!((tie.answer.get(), tie.confidence), (1_500_000, score(500_000)));
    let equal = [position("ana", 0, Some(0), 0), position("ben", 3, Some(0), 0)];
    // Without any trust, both sides weigh the same.
    assert_eq!(agree_to_disagree(&policy, &equal).answer.get(), 3);
}

/// A score of exactly a threshold is in the lower class.
#[test]
fn status_of_convergence_has_open_thresholds() {
    use ConvergenceStatus::{Converged, Converging, Exploring, Polarized, Stuck};
    let policy = ConvergencePolicy::default();
    let classes = [
        (policy.converged_above, Converging, Converged),
        (policy.converging_above, Exploring, Converging),
        (policy.exploring_above, Stuck, Exploring),
        (policy.stuck_above, Polarized, Stuck),
    ];
    for (threshold, at, above) in classes {
        let above_it = score(threshold.millionths() + 1);
        assert_eq!([threshold, above_it].map(|score| convergence_status(&policy, score)), [at, above]);
    }
}

/// Without a maximum variance, positions agree only where they are equal.
#[test]
fn positions_without_a_maximum_variance() {
    let none = Variance::from_millionths(Millionths::ZERO);
    let positions = |value| [position("ana", 1, None, 0), position("ben", value, None, 0)];
    assert_eq!([1, 2].map(|value| convergence_score(&positions(value), none)), [Score::ONE, Score::ZERO]);
    assert_eq!(convergence_score(&[], none), Score::ZERO);
}

/// 001-8.6: after 5 rounds, below 0.4, with a movement of at most 0.01, and a criticality below 0.8.
#[test]
fn nodes_disagree_only_if_each_condition_holds() {
    let policy = ConvergencePolicy::default();
    let may = |rounds: usize, previous: u32, latest: u32, criticality: u32| {
        let mut scores = vec![score(previous); rounds];
        scores.push(score(latest));
        may_disagree(&policy, &scores, score(criticality))
    };
    assert!(may(5, 310_000, 300_000, 799_999));
    assert!(may(5, 290_000, 300_000, 0));
    assert!(!may(4, 300_000, 300_000, 0));
    assert!(!may(5, 400_001, 400_001, 0));
    assert!(!may(5, 310_001, 300_000, 0));
    assert!(!may(5, 300_000, 300_000, 800_000));
}
