//! Runs of experiments: shards, threads, common random numbers, and probabilities that follow by hand.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::{experiment, run, sum};
use orchestrion_experiment::{DecisionStage, Experiment, OutcomeStage, PlanStage, Shard, Summary};
use orchestrion_yaml::Source;
use std::path::Path;

const DEBATE: &str = "
description: A test.
seed: 3
runs: 2000
grid:
- {setting: bounds.passes, values: 1..3}
requests: 2
plans: {acceptable: 0.7, revision_acceptable: 0.6}
common_errors: 0.3
debaters:
  all: {false_alarm: 0.2, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}
  solution: {revises: 0.3}
  critic: {keeps_stance: 0.5}
executor: {success: 0.8}
repairs: 0.5
calls:
  default: {error: 0.01, timeout: 0.01, duration: {exponential: 2s}}
trajectories: [consensus, completed, calls]
";

#[test]
fn merged_shards_equal_whole_run() {
    let experiment = experiment(DEBATE);
    let (whole, rows) = run(&experiment, (0, experiment.runs), 1);
    for count in [1, 3, 7] {
        let shards: Vec<(Summary, String)> = (1..=count)
            .map(|index| run(&experiment, Shard { index, count }.range(experiment.runs), 2))
            .collect();
        assert_eq!(shards.iter().map(|(_, rows)| &rows[..]).collect::<String>(), rows);
        // Forwards, and backwards.
        for order in [(0..count as usize).collect::<Vec<_>>(), (0..count as usize).rev().collect()] {
            let mut merged = Summary::empty(&experiment);
            order.iter().for_each(|index| merged.merge(&shards[*index].0).unwrap());
            assert_eq!(merged.to_json().unwrap(), whole.to_json().unwrap(), "{count} shards");
        }
    }
    assert_eq!(whole.missing(), []);
    assert_eq!(rows.lines().count(), 6000);
}

#[test]
fn result_round_trips_and_overlaps_are_refused() {
    let experiment = experiment(DEBATE);
    let (mut part, _) = run(&experiment, (100, 300), 2);
    let read: Summary = serde_json::from_str(&part.to_json().unwrap()).unwrap();
    assert_eq!(read, part);
    assert_eq!(part.missing(), [(0, 100), (300, 2000)]);
    let (overlap, _) = run(&experiment, (299, 301), 1);
    assert_eq!(
        part.merge(&overlap).unwrap_err().to_string(),
        "repeated runs: expected disjoint runs, found run 299 in both results"
    );
    assert_eq!(part, read);
}

#[test]
fn policies_draw_common_random_numbers() {
    // A policy that differs in nothing that matters here has the same rows.
    let text = DEBATE.replace("bounds.passes, values: 1..3", "bounds.audit_attempts, values: 2..3");
    let experiment = experiment(&text);
    let (summary, rows) = run(&experiment, (0, 500), 2);
    let metrics = |line: &str| line.splitn(4, ',').nth(3).unwrap().to_owned();
    let lines: Vec<&str> = rows.lines().collect();
    let equal = lines.chunks(2).filter(|pair| metrics(pair[0]) == metrics(pair[1])).count();
    assert!(equal > 450, "{equal} of {}", lines.len() / 2);
    assert!(summary.policies[1].differences["passes"].moments.sum_of_squares == 0);
}

/// Security alone decides: it vetoes a harmful plan unless it misses it, and an acceptable one by a false alarm.
#[test]
fn rates_agree_with_probabilities_by_hand() {
    let experiment = experiment(
        "
description: A test.
runs: 40000
policies: [hardened]
plans: {acceptable: 0.6}
debaters:
  all: {miss: 1, confidence: {constant: 1}}
  security: {false_alarm: 0.1, miss: 0.25, confidence: {constant: 1}}
executor: {success: 0.9, harmful_success: 0.5}
",
    );
    let (summary, _) = run(&experiment, (0, experiment.runs), 2);
    let metrics = &summary.policies[0].metrics;
    let expected = [
        ("acceptable", 0.6),
        ("vetoed", 0.6 * 0.1 + 0.4 * 0.75),
        ("wrong_block", 0.6 * 0.1),
        ("wrong_proceed", 0.4 * 0.25),
        ("completed", 0.6 * 0.9 * 0.9 + 0.4 * 0.25 * 0.5),
        ("rolled_back", 0.6 * 0.9 * 0.1 + 0.4 * 0.25 * 0.5),
        ("halted", 0.0),
    ];
    for (name, rate) in expected {
        let found = metrics[name].mean();
        // Four standard deviations: one false alarm in 15,000 seeds, and the seed is fixed.
        let allowed = 4.0 * (rate * (1.0 - rate) / 40_000.0_f64).sqrt();
        assert!((found - rate).abs() <= allowed, "{name}: expected {rate}, found {found}");
    }
}

#[test]
fn common_errors_correlate_debaters() {
    let vetoes = |common: &str| {
        let text = format!(
            "
description: A test.
runs: 20000
common_errors: {common}
plans: {{acceptable: 0}}
grid: [{{setting: thresholds.proceed_from, values: '0.6'}}]
debaters:
  all: {{miss: 0.5, confidence: {{constant: 0.8}}}}
"
        );
        run(&experiment(&text), (0, 20_000), 2).0.policies[0].metrics["proceeded"].mean()
    };
    let (independent, common) = (vetoes("0"), vetoes("1"));
    // With a common error all five debaters err together, in each pass anew.
    assert!(common > independent + 0.1, "{independent} {common}");
}

#[test]
fn drawn_policy_halts_where_it_has_no_row() {
    let experiment = experiment(
        "
description: A test.
runs: 2000
policies: [as-drawn]
calls: {modules: {classifier: {error: 0.5}}}
",
    );
    let (summary, _) = run(&experiment, (0, 2000), 1);
    let metrics = &summary.policies[0].metrics;
    assert!((metrics["halted"].mean() - 0.5).abs() < 0.05, "{}", metrics["halted"].mean());
    assert_eq!(metrics["halted"].moments.sum + metrics["completed"].moments.sum, 2000);
}

#[test]
fn contexts_are_measured() {
    let text = "
description: A test.
runs: 20
facts: 20
contexts: true
";
    let (summary, _) = run(&experiment(text), (0, 20), 2);
    assert!(summary.policies[0].metrics["context_tokens"].mean() > 100.0);
    let (without, _) = run(&experiment(&text.replace("contexts: true", "contexts: false")), (0, 20), 2);
    assert_eq!(without.policies[0].metrics["context_tokens"].moments.sum, 0);
}

#[test]
fn invalid_experiments_are_refused_with_place_and_help() {
    let cases = [
        "runs: 0",
        "runs: 10\nmetrics: [pases]",
        "runs: 10\ngrid: [{setting: thresholds.veto_from, values: 0..1:0.000001}, {setting: thresholds.proceed_from, values: 0..1:0.000001}]",
        "runs: 10\ngrid: [{setting: thresholds.vetofrom, values: '0.5'}]",
        "runs: 10\ngrid: [{setting: thresholds.redebate_below, values: '0.1'}]",
        "runs: 10\ngrid: [{setting: bounds.passes, values: none}]",
        "runs: 10\ngrid: [{setting: bounds.passes, values: '1,1'}]",
        "runs: 10\ngrid: [{setting: thresholds.veto_from, values: 0.5..0.8}]",
        "runs: 10\ndebaters: {critic: {confidence: {values: [{value: 0.5, probability: 0.6}, {value: 0.9, probability: 0.5}]}}}",
        "runs: 10\ndebaters: {critic: {confidence: {beta: {alpha: 0, beta: 2}}}}",
        "runs: 10\ndebaters: {critic: {confidence: {uniform: {min: 0.9, max: 0.5}}}}",
        "runs: 10\ndebaters: {critic: {confidence: {samples: {traces: [none.ndjson]}}}}",
        "runs: 10\ncalls: {modules: {planner: {error: 0.7, timeout: 0.7}}}",
        "runs: 10\nnodes: {ana: {success: 0.5}}",
        "runs: 10\nfacts: 1000000",
        "runs: 10\nrequests: 4000000000",
        "runs: 10\npolicies: [hardend]",
        "runs: 10\npolicies: [hardened, hardened]",
        "runs: 10\ndebaters: {critc: {miss: 0.5}}",
    ];
    let mut text = String::new();
    for case in cases {
        let source = Source::from_text("test.yaml", &format!("description: A test.\n{case}\n")).unwrap();
        let error = Experiment::from_source("test", source, Path::new("")).unwrap_err();
        text += &format!("{case}\n{}\n", orchestrion_yaml::render_error(&error));
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn failed_call_is_no_wrong_block() {
    let text = "
description: A test.
runs: 200
calls: {modules: {critic: {error: 1}}}
";
    let (summary, _) = run(&experiment(text), (0, 200), 1);
    let metrics = &summary.policies[0].metrics;
    assert_eq!((metrics["blocked"].moments.sum, metrics["wrong_block"].moments.sum), (200, 0));
}

#[test]
fn digest_depends_on_every_row() {
    let first = experiment(DEBATE);
    let (summary, _) = run(&first, (0, 300), 1);
    let other = experiment(&DEBATE.replace("seed: 3", "seed: 4"));
    let (changed, _) = run(&other, (0, 300), 1);
    let (fewer, _) = run(&first, (0, 299), 1);
    let digests = [summary.rows_digest, changed.rows_digest, fewer.rows_digest, Default::default()];
    for (position, digest) in digests.iter().enumerate() {
        assert!(!digests[..position].contains(digest), "{position}: {digest}");
    }
}

/// The ways of the requests have the same totals as the metrics.
#[test]
fn flows_agree_with_metrics() {
    let experiment = experiment(DEBATE);
    let (summary, _) = run(&experiment, (0, 500), 2);
    for policy in &summary.policies {
        let count = |is: &dyn Fn(&orchestrion_experiment::Flow) -> bool| {
            let counts = policy.flows.iter().filter(|count| is(&count.flow));
            counts.map(|count| i64::try_from(count.requests).unwrap()).sum::<i64>()
        };
        let outcomes = [
            (OutcomeStage::Completed, "completed"),
            (OutcomeStage::Blocked, "blocked"),
            (OutcomeStage::RolledBack, "rolled_back"),
            (OutcomeStage::Aborted, "aborted"),
            (OutcomeStage::Halted, "halted"),
        ];
        for (outcome, metric) in outcomes {
            assert_eq!(count(&|flow| flow.outcome == outcome), sum(policy, metric), "{metric}");
        }
        let proceeded = count(&|flow| flow.decision == DecisionStage::Proceeded);
        assert_eq!(proceeded, sum(policy, "proceeded"));
        assert_eq!(count(&|flow| flow.plan == PlanStage::Acceptable), sum(policy, "acceptable"));
        assert_eq!(policy.flows.requests(), 1000);
    }
}

/// A trajectory of a metric splits its sum by request; every scored pass has a consensus.
#[test]
fn trajectories_split_sums_by_request() {
    let experiment = experiment(DEBATE);
    let (summary, _) = run(&experiment, (0, 500), 2);
    for (position, policy) in summary.policies.iter().enumerate() {
        for metric in ["completed", "calls"] {
            let line = &policy.trajectories[metric][""];
            assert_eq!(line.len(), 2);
            assert!(line.iter().all(|moments| moments.count == 500 && moments.sum > 0));
            assert_eq!(line.iter().map(|moments| moments.sum).sum::<i128>(), sum(policy, metric).into());
        }
        let consensus = &policy.trajectories["consensus"][""];
        assert_eq!(consensus.len(), position + 1, "the bound of passes");
        assert!(consensus.windows(2).all(|pair| pair[0].count > pair[1].count));
        assert!(consensus.iter().all(|moments| (0.0..=1e6).contains(&moments.mean())));
    }
}
