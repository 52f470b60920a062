//! Exact values: closed forms by hand, agreement with estimates, and refusals.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test")]

use orchestrion_experiment::exact::{Dialect, Exact, ExactError, ExactResult, Limits, build, export, solve};
use orchestrion_experiment::{Experiment, Shard, Sink, Summary, run_range};
use orchestrion_yaml::Source;
use std::num::NonZeroUsize;
use std::path::Path;

struct NoSink;

impl Sink for NoSink {
    fn receive(&mut self, _: &[u8], _: &Summary) -> std::io::Result<()> {
        Ok(())
    }
}

fn experiment(text: &str) -> Experiment {
    let text = format!("description: A test.\n{text}");
    let source = Source::from_text("test.yaml", &text).unwrap();
    Experiment::from_source("test", source, Path::new(env!("CARGO_MANIFEST_DIR")))
        .unwrap_or_else(|error| panic!("{}", orchestrion_yaml::render_error(&error)))
}

fn solved(experiment: &Experiment, limits: &Limits) -> Vec<ExactResult> {
    let solve = |cell| solve(experiment, cell, limits, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
    experiment.policies.iter().map(solve).collect()
}

fn value<'a>(result: &'a ExactResult, name: &str) -> &'a Exact {
    &result.values.iter().find(|value| value.metric.name == name).unwrap().value
}

/// Checks exact fractions.
fn check_fractions(text: &str, expected: &[(&str, &str)]) {
    let result = &solved(&experiment(text), &Limits::default())[0];
    for (name, expected) in expected {
        match value(result, name) {
            Exact::Rational(found, _) => assert_eq!(found, expected, "{name}"),
            other => panic!("{name}: expected a fraction, found {other:?}"),
        }
    }
}

/// Checks that every estimate is near the exact value: within five standard errors, so that one correct experiment in 10,000 fails, and
/// the seed is fixed. Returns the number of metrics that vary.
fn check_estimates(text: &str) -> usize {
    let experiment = experiment(text);
    let mut summary = Summary::empty(&experiment);
    let (first, end) = Shard::WHOLE.range(experiment.runs);
    run_range(&experiment, (first, end), NonZeroUsize::new(2).unwrap(), false, &mut summary, &mut NoSink)
        .unwrap();
    let mut varying = 0;
    let coarse = Limits { max_rational_states: 0, ..Limits::default() };
    let (results, bounds) = (solved(&experiment, &Limits::default()), solved(&experiment, &coarse));
    for ((policy, result), bounds) in summary.policies.iter().zip(&results).zip(&bounds) {
        for exact in &result.values {
            let name = exact.metric.name;
            let tally = &policy.metrics[name];
            let interval = exact.value.bounds();
            let allowed = 5.0 * (tally.moments.variance() / tally.moments.count as f64).sqrt() + 1e-9;
            let found = tally.mean();
            assert!(
                interval.low - allowed <= found && found <= interval.high + allowed,
                "{} {name}: estimate {found}, allowed {allowed}, exact {interval:?}, {} states",
                policy.policy,
                result.states
            );
            varying += usize::from(tally.moments.variance() > 0.0);
            // Bounds of floats contain the fraction.
            if let Exact::Rational(_, fraction) = exact.value {
                let coarse = value(bounds, name).bounds();
                assert!(coarse.low <= fraction && fraction <= coarse.high, "{name}: {fraction} {coarse:?}");
                assert!(coarse.width() <= 1e-11 * fraction.max(1.0), "{name}: {coarse:?}");
            }
        }
    }
    varying
}

/// Security alone decides, and its one veto ends the request.
#[test]
fn one_veto_has_its_probability_by_hand() {
    check_fractions(
        "
runs: 1
policies: [hardened]
plans: {acceptable: 0.6}
debaters:
  all: {miss: 1, confidence: {constant: 1}}
  security: {false_alarm: 0.1, miss: 0.25, confidence: {constant: 1}}
executor: {success: 0.9, harmful_success: 0.5}
",
        &[
            ("acceptable", "3/5"),
            // 0.6 · 0.1 + 0.4 · 0.75
            ("vetoed", "9/25"),
            ("wrong_block", "3/50"),
            ("wrong_proceed", "1/10"),
            // 0.6 · 0.9 · 0.9 + 0.4 · 0.25 · 0.5
            ("completed", "67/125"),
            // 0.6 · 0.9 · 0.1 + 0.4 · 0.25 · 0.5
            ("rolled_back", "13/125"),
            ("halted", "0"),
        ],
    );
}

/// A task fails with probability 1/2, and each failed run is repaired with probability 1/2, at most twice.
#[test]
fn bounded_repairs_are_truncated_geometric() {
    check_fractions(
        "
runs: 1
policies: [hardened]
grid: [{setting: bounds.repairs, values: '2'}]
executor: {success: 0.5}
repairs: 0.5
",
        // Repairs: 1/2 + 1/8. Completed: 1/2 + 1/8 + 1/32.
        &[("repairs", "5/8"), ("completed", "21/32"), ("tasks", "21/16")],
    );
}

/// A call fails with probability 1/10 and its duration exceeds the deadline with probability 1/4; the time sums both.
#[test]
fn durations_are_summed_up_to_deadline() {
    let text = "
runs: 20000
deadline: 3s
calls:
  modules:
    planner: {error: 0.1, duration: {uniform: {min: 1ms, max: 4000ms}}}
";
    check_fractions(text, &[("aborted", "13/40")]);
    assert!(check_estimates(text) > 4);
}

/// The Analyst takes the common error about an acceptable plan; Solution replaces the plan by a harmful one, whose error is another one.
#[test]
fn common_error_follows_the_plan() {
    check_fractions(
        "
runs: 1
grid: [{setting: bounds.passes, values: '1'}]
plans: {acceptable: 1, revision_acceptable: 0}
common_errors: 1
debaters:
  all: {false_alarm: 0.5, miss: 0.2, confidence: {constant: 1}}
  solution: {revises: 1}
",
        &[("vetoed", "4/5"), ("revisions", "1")],
    );
}

#[test]
fn estimates_agree_in_debates() {
    let varying = check_estimates(
        "
seed: 11
runs: 20000
policies: [hardened]
grid: [{setting: bounds.passes, values: 1..2}]
plans: {acceptable: 0.7, revision_acceptable: 0.6}
common_errors: 0.3
debaters:
  all: {false_alarm: 0.1, miss: 0.2, confidence: {constant: 0.7}}
  critic: {false_alarm: 0.2, miss: 0.3, keeps_stance: 0.5, confidence: {values: [{value: 0.6, probability: 0.4}, {value: 0.9, probability: 0.6}]}}
  solution: {revises: 0.2}
executor: {success: 0.8, harmful_success: 0.4, undo_success: 0.9}
repairs: 0.5
approver: {false_alarm: 0.05, miss: 0.5}
",
    );
    assert!(varying > 15, "{varying}");
}

#[test]
fn estimates_agree_with_failures_and_malformed_replies() {
    let varying = check_estimates(
        "
seed: 5
runs: 20000
plans: {acceptable: 0.5}
executor: {success: 0.6}
repairs: 0.7
tasks: {count: 2}
calls:
  default: {error: 0.02, timeout: 0.03, malformed: 0.02, duration: {constant: 2s}}
",
    );
    assert!(varying > 12, "{varying}");
}

/// The second request starts with the ratings of the first one.
#[test]
fn estimates_agree_over_two_requests() {
    let varying = check_estimates(
        "
seed: 2
runs: 20000
requests: 2
plans: {acceptable: 0.6}
debaters:
  critic: {false_alarm: 0.3, miss: 0.4, confidence: {constant: 0.8}}
  security: {miss: 0.5, confidence: {constant: 0.7}}
",
    );
    assert!(varying > 6, "{varying}");
}

/// Tasks in flight at the same time end in the order in which they were sent, except after a timeout.
#[test]
fn estimates_agree_with_parallel_tasks() {
    let text = "
seed: 7
runs: 20000
tasks: {count: 3, independent: true}
executor: {success: 0.7, undo_success: 0.8}
calls: {modules: {executor: {timeout: 0.1, duration: {constant: 1s}}}}
";
    let varying = check_estimates(text);
    assert!(varying > 4, "{varying}");
}

/// Trust and the load of the nodes are part of a state: the second request is routed by the results of the first one.
#[test]
fn estimates_agree_in_networks() {
    let text = "
seed: 8
runs: 3000
grid:
- {setting: network.routing.order, values: 'score, round_robin'}
requests: 2
network: ../../specs/networks/executors.yaml
nodes:
  ana: {success: 0.6, later: {from_request: 2, success: 0.3}, lies: 0.5}
  ben: {success: 0.9}
  cleo: {success: 0.8}
metrics: [completed, tasks, bad_tasks, load_spread_tasks, repairs]
";
    let varying = check_estimates(text);
    assert!(varying > 6, "{varying}");
}

/// 004 as drawn repairs for ever.
#[test]
fn endless_repairs_are_cyclic() {
    let text = "
runs: 20000
policies: [as-drawn]
executor: {success: 0.5}
repairs: 0.5
calls: {modules: {executor: {duration: {constant: 1s}}}}
";
    let result = &solved(&experiment(text), &Limits::default())[0];
    assert!(!result.is_acyclic);
    assert_eq!(result.endless.bounds().high, 0.0);
    // Each attempt succeeds with 1/2; a failed one is repaired with 1/2.
    assert_eq!(value(result, "completed"), &Exact::Rational("2/3".to_owned(), 2.0 / 3.0));
    assert_eq!(value(result, "repairs"), &Exact::Rational("2/3".to_owned(), 2.0 / 3.0));
    assert!(check_estimates(text) > 4);
}

#[test]
fn run_without_end_has_no_outcome() {
    let text = "
runs: 1
policies: [as-drawn]
plans: {acceptable: 0.25}
debaters: {all: {miss: 1}}
executor: {success: 1, harmful_success: 0}
repairs: 1
";
    let result = &solved(&experiment(text), &Limits::default())[0];
    // A repaired plan is acceptable with 1/4, so repairs end.
    assert_eq!(value(result, "completed"), &Exact::Rational("1".to_owned(), 1.0));
    let text = text.replace("acceptable: 0.25", "acceptable: 0.25, repair_acceptable: 0");
    let result = &solved(&experiment(&text), &Limits::default())[0];
    assert_eq!(value(result, "completed"), &Exact::Rational("1/4".to_owned(), 0.25));
    assert_eq!(result.endless, Exact::Rational("3/4".to_owned(), 0.75));
    assert_eq!(value(result, "repairs"), &Exact::Infinite);
}

/// Security is an adversary that can veto or consent; the truth makes the worst case.
#[test]
fn adversary_has_best_and_worst_case() {
    let text = "
runs: 20000
plans: {acceptable: 0.6}
debaters:
  all: {miss: 1, confidence: {constant: 1}}
  security: {adversary: [{pro: 1}, {con: 1}]}
";
    let result = &solved(&experiment(text), &Limits::default())[0];
    for (name, expected) in
        [("wrong_proceed", 0.4), ("wrong_block", 0.6), ("vetoed", 1.0), ("acceptable", 0.6)]
    {
        let Exact::MinMax { min, max } = value(result, name) else { panic!("{name}") };
        assert!(min.low <= 0.0 || name == "acceptable", "{name} {min:?}");
        assert!(max.low <= expected && expected <= max.high && max.width() < 1e-12, "{name} {max:?}");
    }
    check_estimates(text);
}

#[test]
fn chain_does_not_depend_on_threads() {
    let experiment = experiment(
        "
runs: 1
plans: {acceptable: 0.6}
debaters: {all: {false_alarm: 0.1, miss: 0.3, confidence: {constant: 0.6}}}
",
    );
    let export_with = |threads: usize| {
        let limits = Limits { threads: NonZeroUsize::new(threads).unwrap(), ..Limits::default() };
        let chain = build(&experiment, &experiment.policies[0], &limits, &mut |_| {}).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let paths = export(&chain, &experiment.metrics, Dialect::Prism, folder.path(), "chain").unwrap();
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect::<Vec<_>>()
    };
    let files = export_with(1);
    assert_eq!(files, export_with(3));
    assert!(files.len() > 6, "{}", files.len());
    // The rows of the transitions sum to 1.
    let mut sums = std::collections::BTreeMap::<&str, f64>::new();
    for line in files[0].lines().skip(1) {
        let parts: Vec<&str> = line.split(' ').collect();
        *sums.entry(parts[0]).or_default() += parts[2].parse::<f64>().unwrap();
    }
    assert!(sums.values().all(|sum| (sum - 1.0).abs() < 1e-12) && sums.len() > 10);
}

#[test]
fn small_chain_has_prism_files() {
    let experiment = experiment("runs: 1\nmetrics: [completed, tasks]\nexecutor: {success: 0.25}\n");
    let chain = build(&experiment, &experiment.policies[0], &Limits::default(), &mut |_| {}).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for (dialect, name) in [(Dialect::Prism, "prism"), (Dialect::Storm, "storm")] {
        for path in export(&chain, &experiment.metrics, dialect, folder.path(), name).unwrap() {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            text += &format!("{file}\n{}\n", std::fs::read_to_string(&path).unwrap());
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn infinite_experiments_are_refused_with_place_and_help() {
    let cases = [
        "debaters: {critic: {confidence: {beta: {alpha: 8, beta: 2}}}}",
        "debaters: {critic: {confidence: {uniform: {min: 0.5, max: 0.9}}}}",
        "contexts: true",
        "facts: 3",
        "tasks: {count: 2, independent: true}\ncalls: {default: {duration: {exponential: 1s}}}",
    ];
    let mut text = String::new();
    for case in cases {
        let experiment = experiment(&format!("runs: 1\n{case}\n"));
        let cell = &experiment.policies[0];
        match solve(&experiment, cell, &Limits::default(), &mut |_| {}) {
            Err(ExactError::Unsuitable(error)) => {
                text += &format!("{case}\n{}\n", orchestrion_yaml::render_error(&error));
            }
            other => panic!("{case}: {other:?}"),
        }
    }
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn too_many_states_are_refused() {
    let experiment = experiment("runs: 1\ncalls: {default: {error: 0.1}}\n");
    let limits = Limits { max_states: 5, ..Limits::default() };
    let error = solve(&experiment, &experiment.policies[0], &limits, &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "policy hardened: expected at most 5 states, found more");
}

/// A position has many values of a confidence, so the memory limit ends the exploration within a batch.
#[test]
fn too_much_memory_is_refused() {
    let values: Vec<String> =
        (50..100).map(|value| format!("{{value: 0.{value}, probability: 0.02}}")).collect();
    let experiment = experiment(&format!(
        "runs: 1\ndebaters: {{all: {{confidence: {{values: [{}]}}}}}}\n",
        values.join(", ")
    ));
    let limits = Limits { memory_bytes: 1 << 20, ..Limits::default() };
    let error = solve(&experiment, &experiment.policies[0], &limits, &mut |_| {}).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("policy hardened: expected at most 1048576 bytes of memory, found more with "),
        "{text}"
    );
}

/// Storm reads the exported files. `.ci/storm` runs this test where stormpy is available.
#[test]
#[ignore = "needs stormpy: .ci/storm"]
fn storm_computes_the_same_values() {
    let python = std::env::var("ORCHESTRION_STORMPY").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/storm.py");
    let cases = [
        (
            "debate",
            "runs: 1\nplans: {acceptable: 0.6}\ndebaters: {all: {false_alarm: 0.1, miss: 0.3, confidence: {constant: 0.6}}}\nexecutor: {success: 0.8}\nrepairs: 0.5\n",
        ),
        ("cyclic", "runs: 1\npolicies: [as-drawn]\nexecutor: {success: 0.5}\nrepairs: 0.5\n"),
        (
            "adversary",
            "runs: 1\nplans: {acceptable: 0.6}\nexecutor: {success: 0.7}\ndebaters: {all: {miss: 0.3}, critic: {adversary: [{pro: 0.9}, {con: 0.6}]}, security: {adversary: [{pro: 1}, {con: 1}]}}\n",
        ),
    ];
    for (name, text) in cases {
        let experiment = experiment(text);
        let cell = &experiment.policies[0];
        let folder = tempfile::tempdir().unwrap();
        let chain = build(&experiment, cell, &Limits::default(), &mut |_| {}).unwrap();
        export(&chain, &experiment.metrics, Dialect::Storm, folder.path(), name).unwrap();
        let output =
            std::process::Command::new(&python).arg(&script).arg(folder.path()).arg(name).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let result = solve(&experiment, cell, &Limits::default(), &mut |_| {}).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() > 5, "{name}: {text}");
        for line in text.lines() {
            let parts: Vec<&str> = line.split(' ').collect();
            let (min, max): (f64, f64) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            let bounds = value(&result, parts[0]).bounds();
            assert!(
                (bounds.low - min).abs() < 1e-9 && (bounds.high - max).abs() < 1e-9,
                "{name} {line}: {bounds:?}"
            );
        }
    }
}
