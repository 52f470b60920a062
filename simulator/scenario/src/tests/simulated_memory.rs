//! Tests of the simulated memory (decision 0031).

use super::parse;
use crate::run::run_scenario;
use orchestrion_kernel::Input;
use orchestrion_kernel::module::{Ratings, Report};
use orchestrion_trace::{Reader, Step};

/// Four requests of two users. The Critic's objection in the first request raises its rating.
const HEAD: &str = "\
description: A test.
user: ada
requests:
  - text: Rotate the key
  - text: Read the log
    user: ben
  - text: Revoke the key
  - text: Rotate it again
modules:
  analyst: {pro: {confidence: 0.9}}
  solution: {pro: {confidence: 0.9}}
  critic:
    cases:
      - {when: {request: 1}, reply: {con: {confidence: 0.72}}}
      - {reply: {pro: {confidence: 0.9}}}
  security: {pro: {confidence: 0.9}}
  optimizer: {pro: {confidence: 0.9}}
  tasks: {1: {ok: done}}
";

/// Returns what the memory returned to each request: the rating of the Critic, and the texts of the traces.
fn contexts(modules: &str) -> Vec<(u32, Vec<String>)> {
    let result = run_scenario(parse(&format!("{HEAD}{modules}")).unwrap()).unwrap();
    assert_eq!(result.halted, None);
    let steps: Vec<Step> =
        Reader::new(result.trace.as_slice(), "test").unwrap().map(Result::unwrap).collect();
    let context = |step: &Step| match &step.input {
        Input::Reply { report: Report::Context { ratings: Ratings { critic, .. }, traces }, .. } => {
            Some((critic.elo, traces.iter().map(|trace| trace.text.to_string()).collect()))
        }
        _ => None,
    };
    steps.iter().filter_map(context).collect()
}

fn expect(modules: &str, expected: &[(u32, &[&str])]) {
    let expected: Vec<(u32, Vec<String>)> =
        expected.iter().map(|(elo, texts)| (*elo, texts.iter().map(ToString::to_string).collect())).collect();
    assert_eq!(contexts(modules), expected, "{modules}");
}

#[test]
fn memory_returns_ratings_and_own_requests() {
    let (first, third) = ("Rotate the key → done", "Revoke the key → done");
    expect("", &[(1200, &[]), (1210, &[]), (1210, &[first]), (1210, &[first, third])]);
}

#[test]
fn one_store_is_enough() {
    let all: &[(u32, &[&str])] = &[
        (1200, &[]),
        (1210, &[]),
        (1210, &["Rotate the key → done"]),
        (1210, &["Rotate the key → done", "Revoke the key → done"]),
    ];
    expect("  local_store: refused\n", all);
    expect("  cloud_store: {fail: error}\n", all);
}

#[test]
fn record_that_no_store_holds_is_lost() {
    let lost = "  local_store: [refused, stored, stored, stored]\n  cloud_store: [{fail: timeout}, stored, stored, stored]\n";
    expect(lost, &[(1200, &[]), (1200, &[]), (1200, &[]), (1200, &["Revoke the key → done"])]);
}

#[test]
fn only_verified_requests_are_returned() {
    let mismatch = "  identity: [{locks: {gcp: true, mongodb: true}}, {locks: {gcp: true, mongodb: true}}, \
                    {locks: {gcp: true, mongodb: false}}, {locks: {gcp: true, mongodb: true}}]\n";
    // The third request is not verified, so it reads nothing and is not stored.
    expect(mismatch, &[(1200, &[]), (1210, &[]), (1210, &["Rotate the key → done"])]);
    let aborted = "  classifier: [{fail: error}, {classification: {similarity: 0}}, \
                   {classification: {similarity: 0}}, {classification: {similarity: 0}}]\n";
    let text = "Rotate the key → aborted: the call to the classifier failed (error)";
    expect(aborted, &[(1200, &[]), (1200, &[]), (1200, &[text]), (1200, &[text, "Revoke the key → done"])]);
}

#[test]
fn scripted_memory_wins() {
    expect("  memory: {context: {}}\n", &[(1200, &[]), (1200, &[]), (1200, &[]), (1200, &[])]);
}
