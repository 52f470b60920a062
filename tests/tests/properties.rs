//! Properties of every conversation under every valid policy, checked on random walks with legal and illegal inputs.
//!
//! Stored failures in `tests/regressions` run first.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::control::table::TRANSITIONS;
use orchestrion_kernel::event::{Cause, TaskOutcome};
use orchestrion_kernel::item::{ItemKey, Scope};
use orchestrion_kernel::knowledge::Write;
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::{Event, Events, Input, Phase, Refusal, State, TimedInput, decide};
use orchestrion_tests::canonicalization::CanonicalizedRun;
use orchestrion_tests::monitored::MonitoredKernel;
use orchestrion_tests::random_walk::conversation;
use orchestrion_tests::regressions::{check_property, random_walks};
use std::collections::BTreeMap;

/// The default number of walks for each property, unless `PROPTEST_CASES` is set; it fits into the CI time limit.
const CASES: u32 = 500;
/// The number of walks for transition coverage.
const WALKS: u32 = 2_000;

#[test]
fn kernel_matches_oracle() {
    check_property::<MonitoredKernel>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}

/// A behavior without walks is untested, so every transition must occur, and in several walks.
#[test]
fn random_walks_take_every_transition() {
    let mut taken: BTreeMap<&str, u32> = TRANSITIONS.iter().map(|row| (row.id, 0)).collect();
    let mut steps = 0;
    for (policy, inputs) in random_walks(WALKS) {
        let mut state = State::new(conversation());
        for TimedInput { at, input } in &inputs {
            steps += 1;
            for event in decide(&policy, &state, *at, input).unwrap_or_default() {
                if let Event::Transitioned { row } = event {
                    *taken.entry(row.transition().id).or_default() += 1;
                }
                state.apply(&event);
            }
        }
    }
    println!("{steps} steps of {WALKS} walks, transitions: {taken:?}");
    let rare: Vec<_> = taken.iter().filter(|(_, times)| **times < 3).collect();
    assert!(rare.is_empty(), "transitions with fewer than three occurrences in {WALKS} walks: {rare:?}");
}

/// Decision 0037 is untested in walks that run in no scope, so each of its cases must occur in several walks.
#[test]
fn random_walks_run_in_scopes() {
    let mut counts: BTreeMap<&str, u32> = SCOPE_CASES.iter().map(|case| (*case, 0)).collect();
    for (policy, inputs) in random_walks(WALKS) {
        let mut state = State::new(conversation());
        for TimedInput { at, input } in &inputs {
            let before = state.clone();
            let decided = decide(&policy, &state, *at, input);
            decided.iter().flatten().for_each(|event| state.apply(event));
            for case in scope_cases(&before, input, &decided, &state) {
                *counts.entry(case).or_default() += 1;
            }
        }
    }
    println!("{counts:?}");
    let rare: Vec<_> = counts.iter().filter(|(_, times)| **times < 10).collect();
    assert!(rare.is_empty(), "cases of scopes with fewer than ten occurrences in {WALKS} walks: {rare:?}");
}

/// The cases of decision 0037 that walks must contain.
const SCOPE_CASES: [&str; 9] = [
    "message in a scope",
    "unknown scope",
    "other scope",
    "plan moves the request",
    "plan in several scopes",
    "output of a narrower scope",
    "situation of another scope",
    "promotion",
    "past request in a scope",
];

/// Returns the cases that occur in a step.
fn scope_cases(
    before: &State,
    input: &Input,
    decided: &Result<Events, Refusal>,
    after: &State,
) -> Vec<&'static str> {
    let scope = |state: &State| state.control().request().map(|request| request.scope.clone());
    let is_global = scope(before) == Some(Scope::Global);
    let events = decided.as_ref().map_or(&[][..], |events| events.as_slice());
    let has_scoped_item = |is_kind: fn(&ItemKey) -> bool| {
        events.iter().any(
            |event| matches!(event, Event::AddItem { item, .. } if is_kind(&item.key) && !item.scope().is_global()),
        )
    };
    let is_mixed = |plan: &Plan| {
        let declared = |index: usize| plan.tasks().get(index).map(|task| &task.scope);
        (1..plan.tasks().len()).any(|index| declared(index) != declared(0))
    };
    let has_narrow_output = is_global && has_scoped_item(|key| matches!(key, ItemKey::Output(..)));
    let occurs = |case: &&'static str| match *case {
        "message in a scope" => {
            matches!(input, Input::UserMessage { scope, .. } if !scope.is_global()) && decided.is_ok()
        }
        "unknown scope" => matches!(decided, Err(Refusal::UnknownScope { .. })),
        "other scope" => matches!(decided, Err(Refusal::OtherScope { .. })),
        "plan moves the request" => {
            is_global
                && scope(after).is_some_and(|scope| !scope.is_global())
                && matches!(input, Input::Reply { .. })
        }
        "plan in several scopes" => {
            events.iter().any(|event| matches!(event, Event::PlanAdopted { plan, .. } if is_mixed(plan)))
        }
        "output of a narrower scope" => has_narrow_output,
        "situation of another scope" => {
            has_narrow_output
                && matches!(input, Input::Reply { summary_update, action, .. }
                    if summary_update.is_some() || action.is_some())
        }
        "promotion" => {
            matches!(input, Input::Write(write) if matches!(**write, Write::Promote { .. }))
                && !events.is_empty()
        }
        "past request in a scope" => has_scoped_item(|key| matches!(key, ItemKey::Trace(..))),
        other => unreachable!("a case without a definition: {other}"),
    };
    SCOPE_CASES.into_iter().filter(occurs).collect()
}

/// Decision 0042 without a network is untested in walks without aggregates, optional tasks and validations, so each case must occur
/// in several walks.
#[test]
fn random_walks_execute_workflows() {
    let mut counts: BTreeMap<&str, u32> = WORKFLOW_CASES.iter().map(|case| (*case, 0)).collect();
    for (policy, inputs) in random_walks(WALKS) {
        let mut state = State::new(conversation());
        for TimedInput { at, input } in &inputs {
            let events = decide(&policy, &state, *at, input).unwrap_or_default();
            let before = state.control().request().map(|request| request.workflow.clone());
            for case in workflow_cases(&state, &events) {
                *counts.entry(case).or_default() += 1;
            }
            let had_failed = before.is_some_and(|workflow| workflow.is_aggregated == Some(false));
            events.iter().for_each(|event| state.apply(event));
            if had_failed && state.control().phase() == Phase::Failure {
                *counts.entry("run fails without an aggregate").or_default() += 1;
            }
        }
    }
    println!("{counts:?}");
    let rare: Vec<_> = counts.iter().filter(|(_, times)| **times < 10).collect();
    assert!(rare.is_empty(), "cases of workflows with fewer than ten occurrences in {WALKS} walks: {rare:?}");
}

/// The cases of decision 0042 that walks without a network must contain.
const WORKFLOW_CASES: [&str; 12] = [
    "vote",
    "average",
    "consensus",
    "best effort",
    "ensemble",
    "several answers",
    "some members failed",
    "no numbers",
    "run fails without an aggregate",
    "success without an optional task",
    "skipped task",
    "repeated validation",
];

/// Returns the cases that occur in a batch.
fn workflow_cases(state: &State, events: &Events) -> Vec<&'static str> {
    let Some(request) = state.control().request() else { return Vec::new() };
    let Some(plan) = request.plan.as_ref().map(|revised| &revised.plan) else { return Vec::new() };
    let mut cases = Vec::new();
    for event in events {
        match event {
            Event::Network(NetworkEvent::ResultsAggregated { .. }) => {
                let Some(aggregation) = plan.aggregation() else { continue };
                cases.push(match aggregation.strategy {
                    AggregationStrategy::Voting => "vote",
                    AggregationStrategy::Averaging => "average",
                    AggregationStrategy::Consensus => "consensus",
                    AggregationStrategy::BestEffort => "best effort",
                });
                cases.extend(aggregation.is_ensemble.then_some("ensemble"));
                let members: Vec<_> = plan.members().map(|task| request.outcome(task.id)).collect();
                let is_failure = |outcome: &Option<TaskOutcome>| {
                    matches!(outcome, Some(TaskOutcome::Exited(_) | TaskOutcome::NoResult(_)))
                };
                // The last member ends in this batch.
                let failed = members.iter().filter(|outcome| is_failure(outcome)).count();
                cases.extend((members.len() > failed + 1).then_some("several answers"));
                cases.extend((failed > 0).then_some("some members failed"));
            }
            Event::Network(NetworkEvent::AggregationFailed { .. }) => cases.push("no numbers"),
            Event::Network(NetworkEvent::ValidationFailed { .. }) => cases.push("repeated validation"),
            Event::Concluded { conclusion } if conclusion.cause == Cause::Completed => {
                let is_open = |task: &&Task| request.outcome(task.id) != Some(TaskOutcome::Succeeded);
                let open: Vec<&Task> = plan.tasks().iter().filter(is_open).collect();
                let has_optional = open.iter().any(|task| task.step.optional);
                cases.extend(has_optional.then_some("success without an optional task"));
                let is_skipped = |task: &&&Task| !task.step.optional && request.outcome(task.id).is_none();
                cases.extend(
                    (has_optional && open.iter().any(|task| is_skipped(&task))).then_some("skipped task"),
                );
            }
            _ => {}
        }
    }
    cases
}

#[test]
fn stepping_and_renaming_commute() {
    check_property::<CanonicalizedRun>(CASES).unwrap_or_else(|failed| panic!("{failed}"));
}
