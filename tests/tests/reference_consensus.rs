//! Consensus and ratings agree with aggregations recorded from a running implementation, to 1e-4.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::control::consensus::{WeightedArgument, consensus};
use orchestrion_kernel::control::elo;
use orchestrion_kernel::module::{Argument, Rating, Ratings, Role, Stance};
use orchestrion_kernel::{Policy, Score, Weight};
use serde_json::Value;

const TOLERANCE: f64 = 1e-4;

fn millionths(value: &Value) -> u32 {
    (value.as_f64().unwrap() * 1e6).round() as u32
}

fn role(name: &str) -> Option<Role> {
    Some(match name {
        "ANALYST" => Role::Analyst,
        "SOLUTION" => Role::Solution,
        "CRITIC" => Role::Critic,
        "SECURITY" => Role::Security,
        "OPTIMIZER" => Role::Optimizer,
        _ => return None,
    })
}

fn argument(recorded: &Value) -> Argument {
    let stance = if recorded["is_pro"].as_bool().unwrap() { Stance::Pro } else { Stance::Con };
    Argument { stance, confidence: Score::from_millionths(millionths(&recorded["confidence"])).unwrap() }
}

#[test]
fn reference_aggregations_agree() {
    let Some(folder) = orchestrion_tests::recorded_data_dir("consensus-reference") else { return };
    let policy = Policy::hardened();
    let mut cases = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !(name.contains("vectors") && name.ends_with(".jsonl")) {
            continue;
        }
        for (i, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let at = format!("{name}:{}", i + 1);
            check(&policy, &serde_json::from_str(line).unwrap(), &at);
            cases += 1;
        }
    }
    assert!(cases >= 200, "only {cases} recorded aggregations found in {}", folder.display());
    println!("{cases} recorded aggregations agree to {TOLERANCE}");
}

fn check(policy: &Policy, case: &Value, at: &str) {
    let arguments = case["arguments"].as_array().unwrap();
    let voices = arguments.iter().map(|recorded| {
        let name = recorded["role"].as_str().unwrap();
        let agent = recorded["agent_id"].as_str().unwrap();
        WeightedArgument {
            argument: argument(recorded),
            weight: match (role(name), name) {
                (Some(role), _) => policy.weights.for_role(role),
                (None, "VALIDATION") => Weight::from_millionths(1_300_000).unwrap(),
                (None, _) => Weight::ONE,
            },
            elo: case["elo"].get(agent).map_or(1200, |elo| elo.as_f64().unwrap() as u32),
            accuracy: case["historical_accuracy"]
                .get(agent)
                .map_or(Weight::ONE, |accuracy| Weight::from_millionths(millionths(accuracy)).unwrap()),
            objection_from: (name == "SECURITY").then_some(policy.thresholds.objection_from),
        }
    });
    let score = f64::from(consensus(voices).millionths()) / 1e6;
    let expected = case["expected"]["consensus"].as_f64().unwrap();
    assert!((score - expected).abs() <= TOLERANCE, "{at}: consensus {score}, recorded {expected}");

    // Each recording has one agent for each role; ratings of other roles never change.
    let mut before = Ratings::default();
    let mut agents = Vec::new();
    for recorded in arguments {
        let agent = recorded["agent_id"].as_str().unwrap();
        if let Some(role) = role(recorded["role"].as_str().unwrap()) {
            let elo = case["elo"].get(agent).map_or(1200, |elo| elo.as_f64().unwrap() as u32);
            *before.get_mut(role) = Rating { elo, ..Rating::START };
            agents.push((role, agent));
        }
    }
    let made =
        arguments.iter().filter_map(|a| role(a["role"].as_str().unwrap()).map(|role| (role, argument(a))));
    let after = elo::update_incremental(&policy.thresholds, &before, made.collect::<Vec<_>>().into_iter());
    for (role, agent) in agents {
        let Some(expected) = case["expected"]["elo_after"].get(agent).and_then(Value::as_f64) else {
            continue;
        };
        let elo = f64::from(after.get(role).elo);
        assert!((elo - expected).abs() <= TOLERANCE, "{at}: {agent} has {elo}, recorded {expected}");
    }
}
