//! Experiments with a trust network: which node gets the tasks, and what its lies cost.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::{experiment, run, sum};
use orchestrion_experiment::{Experiment, PolicySummary};
use orchestrion_yaml::Source;
use std::path::Path;

const NETWORK: &str = "
description: A test.
runs: 20
grid:
- {setting: network.routing.order, values: 'score, quality, round_robin'}
requests: 12
network: ../../specs/networks/executors.yaml
trajectories: [trust, tasks_by_node, bad_tasks]
";

/// Returns the tasks of each node in all runs.
fn tasks(policy: &PolicySummary) -> [i128; 3] {
    let lines = &policy.trajectories["tasks_by_node"];
    ["ana", "ben", "cleo"].map(|node| lines[node].iter().map(|moments| moments.sum).sum())
}

/// Every task is done well, so the node with the best quality keeps all of them, and turns are equal.
#[test]
fn order_decides_which_node_gets_tasks() {
    let experiment = experiment(&format!("{NETWORK}nodes: {{ana: {{success: 1}}}}\n"));
    assert_eq!(experiment.settings, ["network.routing.order"]);
    let (summary, _) = run(&experiment, (0, 20), 2);
    let [score, quality, round_robin] = summary.policies.as_slice() else { panic!() };
    assert_eq!(tasks(quality), [240, 0, 0]);
    assert_eq!(tasks(round_robin), [80, 80, 80]);
    assert_eq!(tasks(score).iter().sum::<i128>(), 240);
    assert_eq!(sum(round_robin, "load_spread_tasks"), 0);
    assert_eq!(round_robin.trajectories["trust"]["ana"].len(), 12);
}

/// A node that always fails and always lies: every request completes, and its tasks are bad.
#[test]
fn bad_tasks_of_liar_are_counted_and_cost_trust() {
    let liar = format!("{NETWORK}nodes: {{ana: {{success: 0, lies: 1}}}}\n");
    let (summary, _) = run(&experiment(&liar), (0, 20), 1);
    for policy in &summary.policies {
        assert_eq!(sum(policy, "completed"), 240);
        assert_eq!(i128::from(sum(policy, "bad_tasks")), tasks(policy)[0]);
        let trust = &policy.trajectories["trust"]["ana"];
        assert!(trust.last().unwrap().mean() < 800_000.0, "the network file says 0.8");
    }
    let [score, quality, round_robin] = [0, 1, 2].map(|position| tasks(&summary.policies[position]));
    assert!(score[0] < round_robin[0] && quality[0] < round_robin[0], "{score:?} {quality:?}");
}

#[test]
fn invalid_networks_and_trajectories_are_refused_with_help() {
    let base = "description: A test.\nruns: 1\n";
    let network = "network: ../../specs/networks/executors.yaml\n";
    let cases = [
        format!("{base}grid:\n- {{setting: network.routing.order, values: score}}\n"),
        format!("{base}{network}grid:\n- {{setting: network.routing.ordre, values: score}}\n"),
        format!("{base}{network}grid:\n- {{setting: network.routing.order, values: fastest}}\n"),
        format!("{base}{network}grid:\n- {{setting: network.connection.min_weight, values: '1'}}\n"),
        format!("{base}trajectories: [trust]\n"),
        format!("{base}trajectories: [konsensus]\n"),
        format!("{base}trajectories: [calls, calls]\n"),
        format!("{base}requests: 1001\ntrajectories: [calls]\n"),
        format!("{base}rules: true\n"),
    ];
    let errors = cases.map(|text| {
        let source = Source::from_text("test.yaml", &text).unwrap();
        let error = Experiment::from_source("test", source, Path::new(env!("CARGO_MANIFEST_DIR")));
        format!("{:?}", miette::Report::new(error.unwrap_err()))
    });
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(errors.join("\n")) });
}
