//! Tests of random replies and delays.

use super::script::{SCENE, replies};
use super::{HEAD, parse, render_errors};
use crate::script::{Script, ScriptedReply};
use orchestrion_kernel::module::{Failure, Operation, Role};
use std::collections::BTreeMap;

const CRITIC: Operation = Operation::Argue(Role::Critic);
const ANALYST: Operation = Operation::Argue(Role::Analyst);

const MOODS: &str =
    "{random: {seed: mood, choices: [{weight: 3, reply: {fail: error}}, {reply: {fail: timeout}}]}}";

fn script(head: &str, modules: &str) -> Script {
    parse(&format!("{HEAD}{head}modules:\n{modules}")).unwrap().script
}

/// Returns `e` for each error and `t` for each timeout.
fn outcomes(script: &mut Script, operation: Operation, count: usize) -> String {
    replies(script, &vec![operation; count])
        .iter()
        .map(|answer| match answer {
            ScriptedReply::Fail(Failure::Error) => 'e',
            ScriptedReply::Fail(Failure::Timeout) => 't',
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn equal_seeds_give_equal_choices() {
    let critic = format!("  critic: {MOODS}\n");
    let sample = |head: &str| outcomes(&mut script(head, &critic), CRITIC, 40);
    let heads = ["seed: 0\n", "seed: 1\n", "seed: monday\n"];
    snapshot!(heads.map(|head| format!("{head}{}", sample(head))).join("\n"));
    assert_eq!(sample(""), sample("seed: 0\n"));
    assert_eq!(sample("seed: \"1\"\n"), sample("seed: 1\n"));
}

#[test]
fn seed_replaces_that_of_file() {
    let critic = format!("modules:\n  critic: {MOODS}\n");
    let sample = |head: &str, seed: Option<u64>| {
        let scenario = parse(&format!("{HEAD}{head}{critic}")).unwrap();
        let scenario = match seed {
            Some(seed) => scenario.with_seed(&seed.to_string()),
            None => scenario,
        };
        outcomes(&mut { scenario.script }, CRITIC, 40)
    };
    assert_eq!(sample("seed: 1\n", Some(7)), sample("seed: 7\n", None));
    assert_ne!(sample("seed: 1\n", Some(7)), sample("seed: 1\n", None));
}

#[test]
fn streams_of_a_scenario_are_independent() {
    let alone = outcomes(&mut script("", &format!("  critic: {MOODS}\n")), CRITIC, 40);
    let other = MOODS.replace("mood", "whim");
    let mut beside = script("", &format!("  critic: {MOODS}\n  analyst: {other}\n"));
    let mut mixed = String::new();
    for turn in 0..40 {
        outcomes(&mut beside, ANALYST, turn % 3);
        mixed.push_str(&outcomes(&mut beside, CRITIC, 1));
    }
    assert_eq!(mixed, alone);
    // Equal names share one stream.
    let mut shared = script("", &format!("  critic: {MOODS}\n  analyst: {MOODS}\n"));
    let taken: String =
        (0..40).map(|turn| outcomes(&mut shared, if turn % 2 == 0 { CRITIC } else { ANALYST }, 1)).collect();
    assert_eq!(taken, alone);
}

#[test]
fn choices_follow_their_weights() {
    let mut script = script(
        "",
        "  critic:\n    random:\n      seed: mood\n      choices:\n        - {weight: 6, reply: {pro: {confidence: 0.1}}}\n        \
         - {weight: 3, reply: {pro: {confidence: 0.2}}}\n        - {reply: {fail: error}}\n",
    );
    let mut counts = BTreeMap::new();
    for answer in replies(&mut script, &[CRITIC; 20_000]) {
        *counts.entry(format!("{answer:?}")).or_insert(0u32) += 1;
    }
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable();
    for (count, expected) in counts.iter().zip([2000, 6000, 12_000]) {
        // About five standard deviations of the largest count.
        assert!(count.abs_diff(expected) < 350, "{counts:?}");
    }
    assert_eq!(counts.len(), 3);
}

#[test]
fn random_delay_is_within_its_range() {
    let mut script = script(
        "",
        "  critic: {reply: {fail: error}, after: {seed: slow, min: 2s, max: 2005ms}}\n  analyst: {reply: {fail: error}, after: {seed: x, min: 1h, max: 1h}}\n",
    );
    let mut counts = BTreeMap::new();
    for _ in 0..6000 {
        let timed = SCENE.call(&mut script, CRITIC).unwrap();
        *counts.entry(timed.after.as_millis()).or_insert(0u32) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [2000, 2001, 2002, 2003, 2004, 2005]);
    assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    assert_eq!(SCENE.call(&mut script, ANALYST).unwrap().after.as_secs(), 3600);
}

#[test]
fn invalid_random_choices_are_reported() {
    let thousand = format!(
        "modules:\n  critic: {{random: {{seed: mood, choices: [{}]}}}}\n",
        "{reply: {fail: error}}, ".repeat(1001)
    );
    snapshot!(render_errors(
        HEAD,
        &[
            "seed: a b\n",
            "seed: -1\n",
            "seed:\n",
            "modules:\n  critic: {random: {from: [{reply: {fail: error}}]}}\n",
            "modules:\n  critic: {random: {seed: mood}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: []}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [fail: error]}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{reply: [fail: error]}]}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{weight: 0, reply: {fail: error}}]}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{weight: 0.5, reply: {fail: error}}]}}\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{weight: 4294967295, reply: {fail: error}}, {reply: {fail: error}}]}}\n",
            "modules:\n  critic: [fail: error, random: {seed: mood, choices: [{reply: {fail: error}}]}]\n",
            "modules:\n  critic: {random: {seed: mood, choices: [{reply: {fail: error}}]}, after: 5s}\n",
            &thousand,
        ]
    ));
}
