//! Faults in the deciding policy, while claims read the unmodified one.

use super::mutant::{Mutant, Part};
use crate::kernel_under_test::KernelUnderTest;
use orchestrion_kernel::policy::{Bound, EloMethod, Rule};
use orchestrion_kernel::{Policy, Score, Weight};

/// A setting with its accessor.
type Setting<T> = (&'static str, fn(&mut Policy) -> &mut T);

/// The thresholds, each changed by one millionth in both directions.
const LINES: [Setting<Score>; 5] = [
    ("thresholds.redebate_below", |policy| &mut policy.thresholds.redebate_below),
    ("thresholds.proceed_from", |policy| &mut policy.thresholds.proceed_from),
    ("thresholds.veto_from", |policy| &mut policy.thresholds.veto_from),
    ("thresholds.objection_from", |policy| &mut policy.thresholds.objection_from),
    ("thresholds.critique_above", |policy| &mut policy.thresholds.critique_above),
];

/// The role weights, each set to zero.
const VOICES: [Setting<Weight>; 5] = [
    ("weights.analyst", |policy| &mut policy.weights.analyst),
    ("weights.solution", |policy| &mut policy.weights.solution),
    ("weights.critic", |policy| &mut policy.weights.critic),
    ("weights.security", |policy| &mut policy.weights.security),
    ("weights.optimizer", |policy| &mut policy.weights.optimizer),
];

/// The bounds, each changed by one in both directions.
const BOUNDS: [Setting<u32>; 8] = [
    ("bounds.passes", |policy| &mut policy.bounds.passes),
    ("bounds.audit_attempts", |policy| &mut policy.bounds.audit_attempts),
    ("bounds.parallel_tasks", |policy| &mut policy.bounds.parallel_tasks),
    ("compaction.from_items", |policy| &mut policy.compaction.from_items),
    ("compaction.from_tokens", |policy| &mut policy.compaction.from_tokens),
    ("compaction.cluster_items", |policy| &mut policy.compaction.cluster_items),
    ("compaction.session_items_max", |policy| &mut policy.compaction.session_items_max),
    ("contexts.budget", |policy| &mut policy.contexts.budget_tokens),
];

const OFF_BY_ONE: [(i32, &str); 2] = [(-1, "one too few"), (1, "one too many")];

/// Each number with an offset, each rule toggled.
pub(super) fn mutants(policy: &Policy) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut add = |place: &str, fault: String, change: &dyn Fn(&mut Policy)| {
        let mut subject = KernelUnderTest::unmodified(policy.clone());
        change(&mut subject.decide_policy);
        if subject.decide_policy != subject.policy {
            all.push(Mutant { location: place.to_string(), fault, subject, row: None, part: Part::Core });
        }
    };
    for (place, line) in LINES {
        for (by, fault) in [(-1, "a millionth too low"), (1, "a millionth too high")] {
            add(place, fault.into(), &|policy| {
                let moved = i64::from(line(policy).millionths()) + by;
                let moved = u32::try_from(moved).ok().and_then(Score::from_millionths);
                *line(policy) = moved.unwrap_or(*line(policy));
            });
        }
    }
    for (place, voice) in VOICES {
        add(place, "does not count".into(), &|policy| *voice(policy) = Weight::ZERO);
    }
    for (place, bound) in BOUNDS {
        for (by, fault) in OFF_BY_ONE {
            add(place, fault.into(), &|policy| *bound(policy) = bound(policy).saturating_add_signed(by));
        }
    }
    for (by, fault) in OFF_BY_ONE {
        add("bounds.repairs", fault.into(), &|policy| {
            if let Bound::AtMost(most) = &mut policy.bounds.repairs {
                *most = most.saturating_add_signed(by);
            }
        });
    }
    add("bounds.repairs", "not bounded".into(), &|policy| policy.bounds.repairs = Bound::Unbounded);
    for elo in EloMethod::ALL {
        add("elo", format!("{} instead of {}", elo.name(), policy.elo.name()), &|policy| policy.elo = elo);
    }
    for rule in Rule::ALL {
        let on = policy.rules.has(*rule);
        let fault = if on { "left out" } else { "put in" };
        add(&format!("rules.{}", rule.name()), fault.into(), &|policy| policy.rules.set(*rule, !on));
    }
    all
}
