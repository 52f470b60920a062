//! The picture of an exploration, with a run.

use super::*;
use crate::check::explore_counting;
use crate::kernel_under_test::KernelUnderTest;
use crate::scopes::{Model, Scope};
use orchestrion_explorer::Options;

/// Explores a model under `hardened`.
fn explored(policy: &Policy, model: &str) -> Summary {
    let (model, scope) = (Model::from_name(model).unwrap(), Scope::by_name("tiny").unwrap());
    let subject = KernelUnderTest::unmodified(policy.clone());
    let (run, tally) = explore_counting(&subject, model, &scope, &Options::default(), &mut |_| ()).unwrap();
    assert_eq!(run.states as u64, tally.states.values().sum::<u64>());
    let resumes = run.steps - 1 - tally.steps.values().sum::<u64>();
    assert!(resumes < run.products as u64, "only a resume moves nothing, and it is one step from a state");
    Summary {
        title: format!("{} under hardened", model.name),
        states: tally.states,
        steps: tally.steps,
        run: Vec::new(),
    }
}

#[test]
fn enabled_rows_are_drawn_once() {
    let policy = Policy::hardened();
    let summary = explored(&policy, "lifecycle");
    let text = dot(&policy, &summary);

    let labels = text.split("label=\"").map(|part| part.split('"').next().unwrap_or_default());
    let drawn: Vec<&str> = labels.flat_map(|label| label.split([' ', '\\', 'n'])).collect();
    for (id, row) in (0..).zip(TRANSITIONS) {
        let taken = summary.steps.keys().any(|(_, taken, _)| *taken == id);
        let count = drawn.iter().filter(|word| **word == row.id).count();
        // Only an approver leads to the phases of these rows.
        let is_due = row.switch.is_on(&policy) && !["E13", "E14", "H14", "H17"].contains(&row.id);
        assert_eq!(count, usize::from(is_due), "{}: {text}", row.id);
        assert!(!taken || count == 1);
    }
    // The drawn counts equal the counted ones, for rows of a region too.
    let steps: u64 = edges(&policy, &summary).iter().map(|edge| edge.count).sum();
    assert_eq!(steps, summary.steps.values().sum::<u64>());
    assert!(text.contains("not reached"), "{text}");
}

#[test]
fn run_steps_are_numbered() {
    let policy = Policy::hardened();
    let mut summary = explored(&policy, "lifecycle");
    let first = |from: Phase| *summary.steps.keys().find(|way| way.0 == from && way.2 != from).unwrap();
    let start = first(Phase::Idle);
    summary.run = vec![start, first(start.2)];
    let text = dot(&policy, &summary);
    for step in ["step 1: ", "step 2: ", "the run, with its step numbers"] {
        assert!(text.contains(step), "{text}");
    }
    assert_eq!(text.matches("step 3").count(), 0);
}

#[test]
fn titles_are_escaped() {
    let summary = Summary { title: "a \"b\" \\".to_string(), ..Summary::default() };
    assert!(dot(&Policy::hardened(), &summary).contains("label=\"a \\\"b\\\" \\\\\";"));
}
