//! The lint agrees with the definitions on a small model, and finds what a set of claims was written to have.

#![allow(clippy::mutable_key_type, reason = "the hash of a state does not read its cached digest")]

use super::graph::ClaimGraph;
use super::{ClaimDefect, ClaimDiagnostic, Together, lint_claims};
use crate::adversary::Adversary;
use crate::kernel_under_test::KernelUnderTest;
use crate::product::initial_state;
use crate::scopes::{MODELS, Model, SCOPES, Scope};
use orchestrion_kernel::{Event, Policy, State};
use orchestrion_user_claims::{ClaimFile, ClaimSet, Finding, MonitorStates, Monitors, UserClaim};
use std::collections::{HashMap, HashSet, VecDeque};

/// Claims of every pattern, of which some hold, fail, exclude and imply each other.
const POOL: &str = "
claims:
- {id: no-task, never: {event: tool_call, operation: run_task}}
- {id: task, at_least: {count: 1, of: {event: tool_call, operation: run_task}}}
- {id: one-task, at_most: {limit: 1, of: {event: tool_call, operation: run_task}}}
- {id: two-tasks, at_most: {limit: 2, of: {event: tool_call, operation: run_task}, each: [task]}}
- {id: verified, always: {at: {event: tool_call, operation: run_task}, holds: {request.verified: true}}}
- {id: unverified, never: {event: tool_result, verified: false}}
- {id: every-task-ends, responds: {to: {event: tool_call, operation: run_task}, with: {event: tool_result, operation: run_task}, same: [task]}}
- {id: scored, precedes: {first: {event: consensus_scored}, then: {event: concluded}}}
- {id: no-answer, until: {holds: {event: user_msg}, end: {event: cancelled}}}
- {id: no-cancel, assume: {never: {event: call_failed}}, never: {event: cancelled}}
- {id: between, between: {start: {event: plan_adopted}, end: {event: decided}}, at_most: {limit: 4, of: {event: tool_result}}}
- {id: late, after: {event: decided}, at_least: {count: 1, of: {event: tool_result, operation: store_memory}}}
- {id: never-over-budget, never: {event: over_budget}}
";

fn pool(ids: &[&str]) -> Vec<UserClaim> {
    let claims = ClaimFile::parse("claims.yaml", POOL).unwrap().claims;
    let of_id = |id: &&str| claims.iter().find(|claim| claim.id == **id).unwrap().clone();
    if ids.is_empty() { claims.clone() } else { ids.iter().map(of_id).collect() }
}

fn model(name: &str) -> Model {
    MODELS.into_iter().find(|model| model.name == name).unwrap()
}

fn tiny() -> Scope {
    let [_, tiny, _] = SCOPES;
    tiny
}

/// What the runs say that abide by all claims, by the events of the kernel and the monitors alone.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    premises: ClaimSet,
    exclusive: ClaimSet,
    ends: bool,
    /// The length of a shortest path into a trap.
    trap: Option<usize>,
}

/// The steps of one state: the state after each, if no claim is violated, and whether a request ends.
type Steps = Vec<(Option<(Box<State>, MonitorStates)>, bool)>;

/// Enumerates all runs by brute force.
fn expected(kernel: &KernelUnderTest, model: Model, claims: &[UserClaim]) -> Expected {
    let scope = tiny();
    let subject = kernel.clone().with_scope(model, &scope);
    let adversary = Adversary::new(&subject.policy, model, &scope);
    let (monitors, free) = (Monitors::new(claims), Monitors::new(Vec::new()));
    let mut premises = ClaimSet::default();
    let mut exclusive = ClaimSet::default();
    let mut take = |monitors: &Monitors, (state, states): &(Box<State>, MonitorStates)| -> Steps {
        let mut steps = Steps::new();
        for input in adversary.inputs(state) {
            let Ok(events) = subject.decide(state, &input) else { continue };
            let (mut after, mut violated, mut decided) = (states.clone(), Vec::new(), ClaimSet::default());
            for event in &events {
                monitors.step(&mut after, &subject.policy, event, |finding| match finding {
                    Finding::Violated(claim, _) if !violated.contains(&claim) => violated.push(claim),
                    Finding::Violated(..) | Finding::Forbidden(..) => {}
                    Finding::Premise(claim) => decided.insert(claim),
                });
            }
            match &violated[..] {
                [] => premises = premises.union(decided),
                [claim] => {
                    exclusive.insert(*claim);
                    if decided.contains(*claim) {
                        premises.insert(*claim);
                    }
                }
                _ => {}
            }
            let mut next = Box::new(subject.apply(state, &events));
            next.canonicalize();
            after.canonicalize();
            let ends = events.iter().any(|event| matches!(event, Event::FinalAnswer { .. }));
            steps.push((violated.is_empty().then_some((next, after)), ends));
        }
        steps
    };
    // All states, breadth-first, with their steps.
    let start = (Box::new(initial_state()), monitors.start());
    let mut depths = HashMap::from([(start.clone(), 0_usize)]);
    let (mut open, mut order, mut steps) = (VecDeque::from([start]), Vec::new(), HashMap::new());
    while let Some(state) = open.pop_front() {
        let of_state = take(&monitors, &state);
        for next in of_state.iter().filter_map(|(next, _)| next.as_ref()) {
            if !depths.contains_key(next) {
                depths.insert(next.clone(), depths[&state] + 1);
                open.push_back(next.clone());
            }
        }
        order.push(state.clone());
        steps.insert(state, of_state);
    }
    let (premises, exclusive) = (premises, exclusive);
    let ends = steps.values().flatten().any(|(next, ends)| *ends && next.is_some());
    // Forward from each state, again and again: whether an end is reached.
    let reaches_end = |from: &(Box<State>, MonitorStates)| {
        let (mut seen, mut open) = (HashSet::from([from.clone()]), vec![from.clone()]);
        while let Some(state) = open.pop() {
            for (next, ends) in &steps[&state] {
                match next {
                    Some(_) if *ends => return true,
                    Some(next) if seen.insert(next.clone()) => open.push(next.clone()),
                    Some(_) | None => {}
                }
            }
        }
        false
    };
    // At the scope tiny there is one request: a machine that has not ended it can end it.
    let can_end = |(state, _): &(Box<State>, MonitorStates)| {
        let mut unseen = HashSet::new();
        let mut open = vec![(state.clone(), free.start())];
        while let Some(state) = open.pop() {
            for input in adversary.inputs(&state.0) {
                let Ok(events) = subject.decide(&state.0, &input) else { continue };
                if events.iter().any(|event| matches!(event, Event::FinalAnswer { .. })) {
                    return true;
                }
                let mut next = Box::new(subject.apply(&state.0, &events));
                next.canonicalize();
                if unseen.insert(next.clone()) {
                    open.push((next, free.start()));
                }
            }
        }
        false
    };
    let trap = order.iter().find(|state| !reaches_end(state) && can_end(state)).map(|state| depths[state]);
    Expected { premises, exclusive, ends, trap }
}

#[test]
fn products_agree_with_all_runs() {
    let kernel = KernelUnderTest::unmodified(Policy::hardened());
    let sets: [&[&str]; 7] = [
        &["no-task", "task"],
        &["one-task", "no-cancel", "late"],
        &["every-task-ends", "scored", "verified"],
        &["unverified", "no-answer"],
        &["two-tasks", "one-task", "never-over-budget", "between"],
        &["scored", "task"],
        &["late", "unverified", "task", "no-cancel"],
    ];
    let mut traps = 0;
    for ids in sets {
        let claims = pool(ids);
        let graph = ClaimGraph::explore(&kernel, model("lifecycle"), &tiny(), &claims);
        let together = Together::of(&graph, ClaimSet::first(claims.len()));
        let found = Expected {
            premises: together.premises,
            exclusive: together.exclusive,
            ends: together.ends,
            trap: together.trap.map(|path| path.len()),
        };
        traps += usize::from(found.trap.is_some_and(|steps| steps > 0));
        let expected = expected(&kernel, model("lifecycle"), &claims);
        // Any event decides what is required; a letter has only those that the claim names.
        let names_events =
            |claim: &usize| !matches!(claims[*claim].id.as_str(), "task" | "no-answer" | "late");
        let named = |set: ClaimSet| set.iter().filter(names_events).collect::<Vec<_>>();
        assert_eq!(named(found.premises), named(expected.premises), "{ids:?}");
        assert_eq!(
            (found.exclusive, found.ends, found.trap),
            (expected.exclusive, expected.ends, expected.trap),
            "{ids:?}"
        );
    }
    assert!(traps >= 2, "{traps}");
}

/// The diagnostics with the names of their claims.
fn lint(ids: &[&str]) -> Vec<(ClaimDefect, String)> {
    let claims = pool(ids);
    let kernel = KernelUnderTest::unmodified(Policy::hardened());
    let lint = lint_claims(&kernel, &[model("lifecycle"), model("answers")], &tiny(), &claims, 1);
    assert!(lint.incomplete.is_empty() && lint.states > 4_000);
    let named = |ClaimDiagnostic { defect, claim, causes, example }: ClaimDiagnostic| {
        let has_example = defect == ClaimDefect::UnreachablePremise || example.is_some();
        assert!(has_example, "{defect:?}");
        let id = |claim: usize| claims[claim].id.as_str();
        let causes: Vec<&str> = causes.into_iter().map(id).collect();
        (defect, format!("{}: {}", claim.map_or("", id), causes.join(", ")))
    };
    lint.diagnostics.into_iter().map(named).collect()
}

#[test]
fn sets_of_claims_have_their_defects() {
    use ClaimDefect::{Contradiction, Excluded, Implied, Trap, UnreachablePremise};
    let found = |defect, text: &str| (defect, text.to_owned());
    assert_eq!(lint(&["verified", "unverified", "two-tasks"]), []);
    // Only the event that violates it decides it: that is no defect.
    assert_eq!(lint(&["no-task"]), []);
    // Either of the two is refused by the other one.
    assert_eq!(lint(&["verified", "task", "no-task"])[0], found(Contradiction, ": task, no-task"));
    assert_eq!(lint(&["no-task", "verified", "scored"]), [found(Excluded, "verified: no-task")]);
    assert_eq!(lint(&["one-task", "verified", "no-task"])[0], found(Implied, "one-task: no-task"));
    assert_eq!(lint(&["no-task", "never-over-budget"]), [found(UnreachablePremise, "never-over-budget: ")]);
    // A mismatch of the identity ends the request without a score in the same step.
    let trapped = lint(&["task", "unverified", "scored"]);
    assert_eq!(trapped, [found(Implied, "unverified: scored"), found(Trap, ": task")]);
}
