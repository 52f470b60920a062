//! Answers by lot.

use super::script::{SCENE, answers};
use super::{HEAD, catalogue, parse};
use crate::script::{Script, ScriptedReply};
use orchestrion_kernel::module::{Failure, Operation, Role};
use std::collections::BTreeMap;

const CRITIC: Operation = Operation::Argue(Role::Critic);
const ANALYST: Operation = Operation::Argue(Role::Analyst);

const MOODS: &str =
    "{draw: {seed: mood, from: [{weight: 3, answer: {fail: error}}, {answer: {fail: timeout}}]}}";

fn script(head: &str, modules: &str) -> Script {
    parse(&format!("{HEAD}{head}modules:\n{modules}")).unwrap().script
}

/// `e` for an error, `t` for a timeout.
fn letters(script: &mut Script, ask: Operation, count: usize) -> String {
    answers(script, &vec![ask; count])
        .iter()
        .map(|answer| match answer {
            ScriptedReply::Fail(Failure::Error) => 'e',
            ScriptedReply::Fail(Failure::Timeout) => 't',
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn the_same_seed_draws_the_same_for_ever() {
    let critic = format!("  critic: {MOODS}\n");
    let drawn = |head: &str| letters(&mut script(head, &critic), CRITIC, 40);
    let heads = ["seed: 0\n", "seed: 1\n", "seed: monday\n"];
    snapshot!(heads.map(|head| format!("{head}{}", drawn(head))).join("\n"));
    assert_eq!(drawn(""), drawn("seed: 0\n"));
    assert_eq!(drawn("seed: \"1\"\n"), drawn("seed: 1\n"));
}

#[test]
fn a_named_seed_is_drawn_from_whatever_else_is_drawn() {
    let alone = letters(&mut script("", &format!("  critic: {MOODS}\n")), CRITIC, 40);
    let other = MOODS.replace("mood", "whim");
    let mut beside = script("", &format!("  critic: {MOODS}\n  analyst: {other}\n"));
    let mut mixed = String::new();
    for turn in 0..40 {
        letters(&mut beside, ANALYST, turn % 3);
        mixed.push_str(&letters(&mut beside, CRITIC, 1));
    }
    assert_eq!(mixed, alone);
    // One name is one stream: what the one draws, the other does not.
    let mut shared = script("", &format!("  critic: {MOODS}\n  analyst: {MOODS}\n"));
    let taken: String =
        (0..40).map(|turn| letters(&mut shared, if turn % 2 == 0 { CRITIC } else { ANALYST }, 1)).collect();
    assert_eq!(taken, alone);
}

#[test]
fn weights_are_kept_to() {
    let mut script = script(
        "",
        "  critic:\n    draw:\n      seed: mood\n      from:\n        - {weight: 6, answer: {pro: {confidence: 0.1}}}\n        \
         - {weight: 3, answer: {pro: {confidence: 0.2}}}\n        - {answer: {fail: error}}\n",
    );
    let mut counts = BTreeMap::new();
    for answer in answers(&mut script, &[CRITIC; 20_000]) {
        *counts.entry(format!("{answer:?}")).or_insert(0u32) += 1;
    }
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable();
    for (count, expected) in counts.iter().zip([2000, 6000, 12_000]) {
        // Five times what chance does to the largest of them.
        assert!(count.abs_diff(expected) < 350, "{counts:?}");
    }
    assert_eq!(counts.len(), 3);
}

#[test]
fn a_time_is_drawn_within_its_bounds() {
    let mut script = script(
        "",
        "  critic: {fail: error, after: {seed: slow, least: 2s, most: 2005ms}}\n  analyst: {fail: error, after: {seed: x, least: 1h, most: 1h}}\n",
    );
    let mut counts = BTreeMap::new();
    for _ in 0..6000 {
        let timed = SCENE.ask(&mut script, CRITIC).unwrap();
        *counts.entry(timed.after.as_millis()).or_insert(0u32) += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [2000, 2001, 2002, 2003, 2004, 2005]);
    assert!(counts.values().all(|count| count.abs_diff(1000) < 150), "{counts:?}");
    assert_eq!(SCENE.ask(&mut script, ANALYST).unwrap().after.as_secs(), 3600);
}

#[test]
fn mistakes_in_draws() {
    let thousand = format!(
        "modules:\n  critic: {{draw: {{seed: mood, from: [{}]}}}}\n",
        "{answer: {fail: error}}, ".repeat(1001)
    );
    snapshot!(catalogue(
        HEAD,
        &[
            "seed: a b\n",
            "seed: -1\n",
            "seed:\n",
            "modules:\n  critic: {draw: {from: [{answer: {fail: error}}]}}\n",
            "modules:\n  critic: {draw: {seed: mood}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: []}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [fail: error]}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{answer: [fail: error]}]}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{weight: 0, answer: {fail: error}}]}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{weight: 0.5, answer: {fail: error}}]}}\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{weight: 4294967295, answer: {fail: error}}, {answer: {fail: error}}]}}\n",
            "modules:\n  critic: [fail: error, draw: {seed: mood, from: [{answer: {fail: error}}]}]\n",
            "modules:\n  critic: {draw: {seed: mood, from: [{answer: {fail: error}}]}, after: 5s}\n",
            &thousand,
        ]
    ));
}
