//! Arbitrary valid policies. Contradictory settings are repaired, not rejected. A failing policy shrinks towards
//! `hardened`, one setting at a time.

use super::{RandomSource, Shrink};
use orchestrion_kernel::module::Role;
use orchestrion_kernel::policy::{
    AdditionalDebater, Bound, CompactionPolicy, EloMethod, Rule, SituationPolicy, Weights,
};
use orchestrion_kernel::situation::Mode;
use orchestrion_kernel::{Policy, Score, Weight};
use std::mem;

/// The thresholds of the built-in policies, their neighbours, and the extremes.
const THRESHOLDS: [u32; 18] = [
    800_000, 600_000, 900_000, 700_000, 0, 1, 500_000, 599_999, 600_001, 699_999, 700_001, 799_999, 800_001,
    899_999, 900_001, 950_000, 999_999, 1_000_000,
];
/// Weights in millionths: common, zero, tiny, maximal, and odd ones.
const WEIGHTS: [u32; 11] =
    [1_000_000, 1_200_000, 1_500_000, 2_000_000, 800_000, 0, 1, 333_333, 999_999, 7_654_321, 1_000_000_000];

/// Generates a policy: a built-in one with few changes, or one with arbitrary settings.
#[must_use]
pub fn random_policy(choice: &mut impl RandomSource) -> Policy {
    let mut policy = if choice.percent(70) { Policy::hardened() } else { Policy::as_drawn() };
    let changed = choice.one_of(&[0, 5, 20, 50, 100]);
    for rule in Rule::ALL {
        if choice.percent(changed) {
            policy.rules.set(*rule, choice.percent(50));
        }
    }
    // A walk writes few items, so compaction must start early.
    if choice.percent(changed.max(40)) {
        policy.compaction = CompactionPolicy {
            from_items: choice.one_of(&[2, 3, 4, 0, 6, 64]),
            from_tokens: choice.one_of(&[6_000, 6_000, 0, 3, 10, u32::MAX]),
            cluster_items: choice.one_of(&[2, 3, 5, u32::MAX]),
            session_items_max: choice.one_of(&[1_000, 1_000, 12, 5, 2, 1]),
        };
    }
    // Both built-in policies have neither, and their effects occur late. Together they would hide rare transitions.
    if choice.percent(15) {
        policy.rules.approver = true;
    } else if choice.percent(20) {
        policy.additional_debaters = additional_debaters(choice);
    }
    if choice.percent(changed.max(20)) {
        policy.elo = choice.one_of(&EloMethod::ALL);
    }
    let t = &mut policy.thresholds;
    let thresholds = [
        &mut t.redebate_below,
        &mut t.proceed_from,
        &mut t.veto_from,
        &mut t.objection_from,
        &mut t.critique_above,
    ];
    for threshold in thresholds {
        if choice.percent(changed) {
            *threshold = score(choice);
        }
    }
    for weight in weights(&mut policy.weights) {
        if choice.percent(changed) {
            *weight = Weight::from_millionths(choice.one_of(&WEIGHTS)).unwrap_or(Weight::ONE);
        }
    }
    if choice.percent(changed) {
        policy.bounds.passes = choice.one_of(&[1, 2, 3, 4, 5, 2, 1, u32::MAX]);
    }
    if choice.percent(changed) {
        let bounds = [0, 1, 2, 3].map(Bound::AtMost);
        policy.bounds.repairs = choice.one_of(&[bounds.as_slice(), &[Bound::Unbounded]].concat());
    }
    if choice.percent(changed) {
        policy.bounds.audit_attempts = choice.one_of(&[1, 2, 3]);
    }
    if choice.percent(changed.max(30)) {
        policy.bounds.parallel_tasks = choice.one_of(&[4, 1, 2, 3]);
    }
    if choice.percent(changed.max(20)) {
        policy.situation = situation(choice);
    }
    make_valid(policy)
}

/// Generates up to three debaters with a default weight or an arbitrary one.
fn additional_debaters(choice: &mut impl RandomSource) -> Vec<AdditionalDebater> {
    let names = ["validation", "größer", " x"];
    let count = usize::try_from(1 + choice.below(3)).unwrap_or(1);
    let debater = |name: &&str| {
        let debater = AdditionalDebater::new(*name);
        let weight = Weight::from_millionths(choice.one_of(&WEIGHTS)).unwrap_or(Weight::ONE);
        if choice.percent(50) { AdditionalDebater { weight, ..debater } } else { debater }
    };
    names.iter().take(count).map(debater).collect()
}

/// Generates limits of the situation that short texts exceed, and any modes.
fn situation(choice: &mut impl RandomSource) -> SituationPolicy {
    let mut policy = SituationPolicy {
        max_history: choice.one_of(&[1, 2, 3, 4, u32::MAX]),
        summary_chars_max: choice.one_of(&[1, 2, 4, 1_000, u32::MAX]),
        result_chars_max: choice.one_of(&[1, 2, 50, 1_000]),
        compressed_args_chars_max: choice.one_of(&[1, 5, 20, u32::MAX]),
        compressed_result_chars_max: choice.one_of(&[1, 20, 50, 1_000]),
        ..Policy::hardened().situation
    };
    let modes = [
        &mut policy.classify_mode,
        &mut policy.draft_plan_mode,
        &mut policy.argue_mode,
        &mut policy.review_revision_mode,
        &mut policy.approve_mode,
        &mut policy.run_task_mode,
        &mut policy.undo_task_mode,
        &mut policy.diagnose_mode,
    ];
    for mode in modes {
        *mode = choice.one_of(&[None, Some(Mode::Fast), Some(Mode::Deep)]);
    }
    policy
}

/// Generates a score: mostly a threshold of some policy, sometimes any.
pub(super) fn score(choice: &mut impl RandomSource) -> Score {
    let millionths = if choice.percent(70) { choice.one_of(&THRESHOLDS) } else { choice.below(1_000_001) };
    Score::from_millionths(millionths).unwrap_or(Score::ONE)
}

fn weights(weights: &mut Weights) -> [&mut Weight; 5] {
    let Weights { analyst, solution, critic, security, optimizer } = weights;
    [analyst, solution, critic, security, optimizer]
}

/// Returns the policy without contradictory settings. The name is that of the built-in policy if they are equal.
fn make_valid(mut policy: Policy) -> Policy {
    let (t, b, r) = (&mut policy.thresholds, &mut policy.bounds, &mut policy.rules);
    if t.proceed_from > t.redebate_below {
        mem::swap(&mut t.proceed_from, &mut t.redebate_below);
    }
    if t.objection_from > t.veto_from {
        mem::swap(&mut t.objection_from, &mut t.veto_from);
    }
    b.passes = b.passes.max(1);
    b.audit_attempts = b.audit_attempts.max(1);
    b.parallel_tasks = b.parallel_tasks.max(1);
    r.next_request |= r.error_rows;
    r.rollback_ends |= r.cancel;
    r.cleared_revisions |= r.approver;
    r.current_facts &= r.cleared_revisions;
    if !r.error_rows {
        b.audit_attempts = 1;
    }
    if Role::ALL.iter().all(|role| policy.weights.for_role(*role) == Weight::ZERO) {
        policy.weights.analyst = Weight::ONE;
    }
    policy.name = "walks".to_string();
    for built_in in [Policy::hardened(), Policy::as_drawn()] {
        if (Policy { name: built_in.name.clone(), ..policy.clone() }) == built_in {
            return built_in;
        }
    }
    policy
}

impl Shrink for Policy {
    /// Returns `hardened`, `as-drawn`, and the policy with one setting of `hardened`. Each of the latter differs from
    /// `hardened` in fewer settings.
    fn shrink_candidates(&self) -> Vec<Self> {
        let hardened = Self::hardened();
        let differences = |policy: &Self| {
            let rules =
                Rule::ALL.iter().filter(|rule| policy.rules.has(**rule) != hardened.rules.has(**rule));
            let numbers = numbers(policy).zip(numbers(&hardened)).filter(|(one, other)| one != other);
            let others = usize::from(policy.elo != hardened.elo)
                + usize::from(policy.situation != hardened.situation)
                + policy.additional_debaters.len();
            rules.count() + numbers.count() + others
        };
        let mut simpler = vec![hardened.clone(), Self::as_drawn()];
        let mut with = |change: &dyn Fn(&mut Self)| {
            let mut policy = self.clone();
            change(&mut policy);
            simpler.push(make_valid(policy));
        };
        for rule in Rule::ALL {
            with(&|policy| policy.rules.set(*rule, hardened.rules.has(*rule)));
        }
        with(&|policy| drop(policy.additional_debaters.pop()));
        with(&|policy| policy.elo = hardened.elo);
        with(&|policy| policy.situation = hardened.situation);
        with(&|policy| policy.thresholds = hardened.thresholds);
        with(&|policy| policy.thresholds.redebate_below = hardened.thresholds.redebate_below);
        with(&|policy| policy.thresholds.proceed_from = hardened.thresholds.proceed_from);
        with(&|policy| policy.thresholds.veto_from = hardened.thresholds.veto_from);
        with(&|policy| policy.thresholds.objection_from = hardened.thresholds.objection_from);
        with(&|policy| policy.thresholds.critique_above = hardened.thresholds.critique_above);
        with(&|policy| policy.bounds.passes = hardened.bounds.passes);
        with(&|policy| policy.bounds.repairs = hardened.bounds.repairs);
        with(&|policy| policy.bounds.audit_attempts = hardened.bounds.audit_attempts);
        with(&|policy| policy.bounds.parallel_tasks = hardened.bounds.parallel_tasks);
        with(&|policy| policy.compaction = hardened.compaction);
        with(&|policy| policy.weights = hardened.weights);
        for index in 0..5 {
            with(&|policy| {
                let all = weights(&mut policy.weights).into_iter();
                for (weight, hardened) in all.zip(weights(&mut hardened.weights.clone())).skip(index).take(1)
                {
                    *weight = *hardened;
                }
            });
        }
        simpler.retain(|policy| differences(policy) < differences(self));
        simpler
    }
}

/// Returns every number of a policy in a fixed order.
fn numbers(policy: &Policy) -> impl Iterator<Item = u64> + use<> {
    let (t, b, mut w) = (policy.thresholds, policy.bounds, policy.weights);
    let thresholds = [t.redebate_below, t.proceed_from, t.veto_from, t.objection_from, t.critique_above];
    let repairs = match b.repairs {
        Bound::AtMost(most) => u64::from(most),
        Bound::Unbounded => u64::MAX,
    };
    let bounds = [u64::from(b.passes), repairs, u64::from(b.audit_attempts), u64::from(b.parallel_tasks)];
    let CompactionPolicy { from_items, from_tokens, cluster_items, session_items_max } = policy.compaction;
    let limits = [from_items, from_tokens, cluster_items, session_items_max].map(u64::from);
    let weights = weights(&mut w).map(|weight| u64::from(weight.millionths()));
    thresholds
        .map(|threshold| u64::from(threshold.millionths()))
        .into_iter()
        .chain(bounds)
        .chain(limits)
        .chain(weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::test_runner::{RngAlgorithm, TestRng};

    #[test]
    fn generated_policies_are_valid() {
        let mut rng = TestRng::deterministic_rng(RngAlgorithm::default());
        for _ in 0..5_000 {
            let policy = random_policy(&mut rng);
            assert_eq!(policy.validate(), Ok(()), "{policy:?}");
            for simpler in policy.shrink_candidates() {
                assert_eq!(simpler.validate(), Ok(()), "{simpler:?}, shrunk from {policy:?}");
            }
        }
        assert_eq!(Policy::hardened().shrink_candidates(), []);
    }
}
