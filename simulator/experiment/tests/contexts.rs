//! What contexts and summaries lose.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, reason = "a test")]

mod common;

use common::{experiment, run, sum};

/// A rule never beats the optimum; with a budget for everything, none loses anything.
#[test]
fn rules_lose_utility_only_at_tight_budgets() {
    let text = "
description: A test.
runs: 3
grid:
- {setting: contexts.budget_tokens, values: '4400, 32000'}
facts: 60
contexts: true
rules: true
";
    let (summary, rows) = run(&experiment(text), (0, 3), 1);
    let [tight, wide] = summary.policies.as_slice() else { panic!() };
    let rules = ["greedy_loss_utility", "ranked_loss_utility", "recent_loss_utility"];
    for rule in rules {
        assert!(sum(tight, rule) >= 0, "{rule}: {rows}");
    }
    assert!(sum(tight, "ranked_loss_utility") > 0 && sum(tight, "recent_loss_utility") > 0, "{rows}");
    assert_eq!(rules.map(|rule| sum(wide, rule)), [0, 0, 0]);
    assert!(sum(wide, "context_utility") > sum(tight, "context_utility"));
    assert_eq!(sum(tight, "unproven_utility"), 0);
}

/// The measured contexts are those of the policy, with and without the rules beside them.
#[test]
fn compared_contexts_equal_selected_ones() {
    let text = "description: A test.\nruns: 2\nrequests: 3\nfacts: 20\ncontexts: true\n";
    let (selected, _) = run(&experiment(text), (0, 2), 1);
    let (compared, _) = run(&experiment(&format!("{text}rules: true\n")), (0, 2), 1);
    for metric in ["context_tokens", "context_utility", "calls"] {
        assert_eq!(sum(&selected.policies[0], metric), sum(&compared.policies[0], metric), "{metric}");
        assert!(sum(&selected.policies[0], metric) > 0);
    }
}

/// A summary that keeps all loses nothing, one that keeps nothing loses all.
#[test]
fn summaries_lose_what_they_do_not_keep() {
    let lost = |keeps: &str| {
        let text = format!(
            "
description: A test.
runs: 5
grid:
- {{setting: compaction.from_items, values: '6'}}
- {{setting: compaction.cluster_items, values: '3'}}
requests: 8
summarizer: {{keeps: {keeps}}}
"
        );
        let (summary, _) = run(&experiment(&text), (0, 5), 1);
        let policy = &summary.policies[0];
        assert!(sum(policy, "compactions") > 0);
        (sum(policy, "compacted_items"), sum(policy, "lost_items"))
    };
    let (compacted, none) = lost("1");
    assert!(compacted > 0 && none == 0, "{compacted} {none}");
    let (compacted, all) = lost("0");
    assert_eq!(all, compacted);
    let (compacted, some) = lost("0.7");
    assert!(0 < some && some < compacted, "{some} of {compacted}");
}

/// What only the whole run knows has a trajectory too.
#[test]
fn lost_items_grow_over_requests() {
    let text = "
description: A test.
runs: 5
grid:
- {setting: compaction.from_items, values: '6'}
requests: 8
summarizer: {keeps: 0}
trajectories: [lost_items]
";
    let (summary, _) = run(&experiment(text), (0, 5), 1);
    let policy = &summary.policies[0];
    let line = &policy.trajectories["lost_items"][""];
    assert_eq!(line.iter().map(|moments| moments.sum).sum::<i128>(), sum(policy, "lost_items").into());
    assert!(line.iter().filter(|moments| moments.sum > 0).count() > 1, "{line:?}");
}
