//! Which policies are valid: each limit at its boundary, and each pair of settings that conflict.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use orchestrion_kernel::module::Module;
use orchestrion_kernel::network::TrustPolicy;
use orchestrion_kernel::network::policy::{RoutingOrder, RoutingPolicy};
use orchestrion_kernel::policy::{AdditionalDebater, ModuleContextPolicy, Weights};
use orchestrion_kernel::{Policy, Score, Weight};

/// A change of a policy.
type Change = fn(&mut Policy);

/// Returns the setting that the error names, with the one that it conflicts with; `None` for a valid policy.
fn conflict(change: Change) -> Option<(&'static str, Option<&'static str>)> {
    let mut policy = Policy::hardened();
    change(&mut policy);
    policy.validate().err().map(|error| (error.setting, error.conflicts_with))
}

const NO_WEIGHTS: Weights = Weights {
    analyst: Weight::ZERO,
    solution: Weight::ZERO,
    critic: Weight::ZERO,
    security: Weight::ZERO,
    optimizer: Weight::ZERO,
};

fn next(score: Score) -> Score {
    Score::from_millionths(score.millionths() + 1).unwrap()
}

/// Gives a module a budget that exceeds the reserved tokens by this many.
fn override_budget(policy: &mut Policy, module: Module, excess: u32) {
    let budget_tokens = Some(policy.contexts.reserved_tokens + excess);
    policy.contexts.module_overrides =
        vec![ModuleContextPolicy { module, budget_tokens, weights: [].into() }];
}

fn debaters(names: &[&str]) -> Vec<AdditionalDebater> {
    names.iter().map(|name| AdditionalDebater::new(*name)).collect()
}

#[test]
fn limits_are_valid() {
    assert_eq!(Policy::as_drawn().validate(), Ok(()));
    let changes: [Change; 16] = [
        |_| (),
        |policy| policy.thresholds.proceed_from = policy.thresholds.redebate_below,
        |policy| policy.thresholds.objection_from = policy.thresholds.veto_from,
        |policy| policy.contexts.reserved_tokens = policy.contexts.budget_tokens - 1,
        |policy| override_budget(policy, Module::Planner, 1),
        |policy| policy.contexts.nodes_max = 1,
        |policy| policy.bounds.passes = 1,
        |policy| policy.bounds.audit_attempts = 1,
        |policy| policy.bounds.parallel_tasks = 1,
        |policy| policy.compaction.cluster_items = 2,
        |policy| policy.compaction.session_items_max = 1,
        |policy| policy.situation.max_history = 1,
        |policy| {
            policy.rules.error_rows = false;
            policy.bounds.audit_attempts = 1;
        },
        |policy| (policy.rules.cancel, policy.rules.rollback_ends) = (false, false),
        |policy| policy.weights = Weights { critic: Weight::ONE, ..NO_WEIGHTS },
        |policy| {
            policy.weights = NO_WEIGHTS;
            policy.additional_debaters = debaters(&["validation", "lawyer"]);
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(conflict(change), None, "change {number}");
    }
}

#[test]
fn conflicts_name_their_settings() {
    let conflicts: [(&str, Option<&str>, Change); 27] = [
        ("thresholds.proceed_from", Some("thresholds.redebate_below"), |policy| {
            policy.thresholds.proceed_from = next(policy.thresholds.redebate_below);
        }),
        ("contexts.reserved_tokens", Some("contexts.budget_tokens"), |policy| {
            policy.contexts.reserved_tokens = policy.contexts.budget_tokens;
        }),
        ("module_overrides", Some("contexts.reserved_tokens"), |policy| {
            override_budget(policy, Module::Planner, 0);
        }),
        ("module_overrides", None, |policy| override_budget(policy, Module::IdentityGuard, 1)),
        ("contexts.nodes_max", None, |policy| policy.contexts.nodes_max = 0),
        ("situation.max_history", None, |policy| policy.situation.max_history = 0),
        ("situation.summary_chars_max", None, |policy| policy.situation.summary_chars_max = 0),
        ("situation.result_chars_max", None, |policy| policy.situation.result_chars_max = 0),
        ("situation.compressed_args_chars_max", None, |policy| {
            policy.situation.compressed_args_chars_max = 0;
        }),
        ("situation.compressed_result_chars_max", None, |policy| {
            policy.situation.compressed_result_chars_max = 0;
        }),
        ("additional_debaters", None, |policy| policy.additional_debaters = debaters(&[" "])),
        ("additional_debaters", None, |policy| policy.additional_debaters = debaters(&["planner"])),
        ("additional_debaters", None, |policy| policy.additional_debaters = debaters(&["a", "a"])),
        ("thresholds.objection_from", Some("thresholds.veto_from"), |policy| {
            policy.thresholds.objection_from = next(policy.thresholds.veto_from);
        }),
        ("bounds.passes", None, |policy| policy.bounds.passes = 0),
        ("compaction.cluster_items", None, |policy| policy.compaction.cluster_items = 1),
        ("compaction.cluster_items", None, |policy| policy.compaction.cluster_items = 0),
        ("compaction.session_items_max", None, |policy| policy.compaction.session_items_max = 0),
        ("bounds.audit_attempts", None, |policy| policy.bounds.audit_attempts = 0),
        ("bounds.parallel_tasks", None, |policy| policy.bounds.parallel_tasks = 0),
        ("bounds.audit_attempts", Some("rules.error_rows"), |policy| {
            policy.bounds.audit_attempts = 2;
            policy.rules.error_rows = false;
        }),
        ("rules.error_rows", Some("rules.next_request"), |policy| policy.rules.next_request = false),
        ("rules.cancel", Some("rules.rollback_ends"), |policy| policy.rules.rollback_ends = false),
        ("rules.current_facts", Some("rules.cleared_revisions"), |policy| {
            policy.rules.cleared_revisions = false;
        }),
        ("rules.approver", Some("rules.cleared_revisions"), |policy| {
            policy.rules.approver = true;
            policy.rules.current_facts = false;
            policy.rules.cleared_revisions = false;
        }),
        ("weights", None, |policy| policy.weights = NO_WEIGHTS),
        ("weights", None, |policy| {
            policy.weights = NO_WEIGHTS;
            policy.additional_debaters = debaters(&["a"]);
            policy.additional_debaters[0].weight = Weight::ZERO;
        }),
    ];
    for (setting, conflicts_with, change) in conflicts {
        assert_eq!(conflict(change), Some((setting, conflicts_with)));
    }
}

/// A change of the constants of a network.
type TrustChange = fn(&mut TrustPolicy);

fn trust_conflict(change: TrustChange) -> Option<(&'static str, Option<&'static str>)> {
    let mut policy = TrustPolicy::default();
    change(&mut policy);
    policy.validate().err().map(|error| (error.setting, error.conflicts_with))
}

#[test]
fn limits_of_trust_are_valid() {
    let changes: [TrustChange; 10] = [
        |_| (),
        |policy| policy.connection.min_weight = policy.connection.initial_weight,
        |policy| policy.connection.max_weight = policy.connection.initial_weight,
        |policy| policy.connection.epsilon = Score::from_millionths(1).unwrap(),
        |policy| policy.trust.partner_window = 1,
        |policy| policy.status.probation_interactions = 1,
        |policy| policy.status.established_interactions = policy.status.probation_interactions,
        |policy| policy.routing.preference_bonus = Weight::from_decimal("100").unwrap(),
        |policy| policy.defense.primed_from = policy.defense.act_above,
        |policy| {
            let convergence = &mut policy.convergence;
            convergence.converging_above = convergence.converged_above;
            convergence.exploring_above = convergence.converged_above;
            convergence.stuck_above = convergence.converged_above;
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(trust_conflict(change), None, "change {number}");
    }
}

#[test]
fn conflicts_of_trust_name_their_settings() {
    let conflicts: [(&str, Option<&str>, TrustChange); 12] = [
        ("connection.initial_weight", Some("connection.min_weight"), |policy| {
            policy.connection.min_weight = next(policy.connection.initial_weight);
        }),
        ("connection.initial_weight", Some("connection.max_weight"), |policy| {
            policy.connection.max_weight = policy.connection.min_weight;
        }),
        ("connection.epsilon", None, |policy| policy.connection.epsilon = Score::ZERO),
        ("trust", None, |policy| policy.trust.quality = next(policy.trust.quality)),
        ("trust.partner_window", None, |policy| policy.trust.partner_window = 0),
        ("status.probation_interactions", None, |policy| policy.status.probation_interactions = 0),
        ("status.established_interactions", Some("status.probation_interactions"), |policy| {
            policy.status.established_interactions = policy.status.probation_interactions - 1;
        }),
        ("routing.preference_bonus", None, |policy| {
            policy.routing.preference_bonus = Weight::from_millionths(100_000_001).unwrap();
        }),
        ("defense.act_above", Some("defense.primed_from"), |policy| {
            policy.defense.primed_from = next(policy.defense.act_above);
        }),
        ("convergence.converged_above", Some("convergence.converging_above"), |policy| {
            policy.convergence.converging_above = next(policy.convergence.converged_above);
        }),
        ("convergence.converging_above", Some("convergence.exploring_above"), |policy| {
            policy.convergence.exploring_above = next(policy.convergence.converging_above);
        }),
        ("convergence.exploring_above", Some("convergence.stuck_above"), |policy| {
            policy.convergence.stuck_above = next(policy.convergence.exploring_above);
        }),
    ];
    for (setting, conflicts_with, change) in conflicts {
        assert_eq!(trust_conflict(change), Some((setting, conflicts_with)));
    }
}

#[test]
fn ranks_encode_by_name() {
    let encoded = serde_json::to_value(Policy::hardened()).unwrap();
    assert_eq!(encoded["ranks"]["cfo"], "executive");
}

#[test]
fn omitted_settings_decode_to_defaults() {
    let mut encoded = serde_json::to_value(Policy::hardened()).unwrap();
    // Policies that were recorded before tasks ran in parallel.
    encoded["bounds"].as_object_mut().unwrap().remove("parallel_tasks").unwrap();
    assert_eq!(serde_json::from_value::<Policy>(encoded).unwrap().bounds.parallel_tasks, 1);
    for order in RoutingOrder::ALL {
        let policy = RoutingPolicy { order, ..RoutingPolicy::default() };
        let encoded = serde_json::to_value(policy).unwrap();
        assert_eq!(encoded.get("order").is_some(), order != RoutingOrder::Score);
        assert_eq!(serde_json::from_value::<RoutingPolicy>(encoded).unwrap(), policy);
    }
}
