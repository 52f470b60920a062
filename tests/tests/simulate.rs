//! Simulations: the same runs on any number of threads, and counterexamples that violate their claims and are minimal.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_claims::CLAIMS;
use orchestrion_kernel::{Policy, TimedInput};
use orchestrion_model::coverage::Observation;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{COMPOSED, MODELS, SCOPES};
use orchestrion_model::simulate::{SimulationOptions, SimulationResult, simulate};
use std::num::NonZeroUsize;
use std::time::Duration;

fn options(runs: u64, steps: usize, threads: usize, counterexamples: usize) -> SimulationOptions {
    let number = |number| NonZeroUsize::new(number).unwrap();
    let (threads, counterexamples) = (number(threads), number(counterexamples));
    SimulationOptions { seed: 7, runs, steps, counterexamples, threads, time: None }
}

fn simulate_composed(policy: Policy, options: &SimulationOptions) -> SimulationResult {
    let kernel = KernelUnderTest::unmodified(policy);
    simulate(&kernel, COMPOSED, &SCOPES[0], options, &mut |_| ())
}

#[test]
fn result_does_not_depend_on_threads() {
    let results = [1, 3].map(|threads| simulate_composed(Policy::as_drawn(), &options(30, 60, threads, 2)));
    let [one, three] = results.map(|result| {
        let SimulationResult { runs, steps, states, longest, .. } = result;
        let violations: Vec<_> = result
            .violations
            .into_iter()
            .map(|violation| (violation.claim, violation.run, violation.steps, violation.counterexample))
            .collect();
        ((runs, steps, states, longest), result.first_runs, violations)
    });
    assert_eq!(one.0, three.0);
    assert_eq!(one.1, three.1);
    assert_eq!(one.2, three.2);
    assert!(!one.2.is_empty(), "the policy has defects");
}

/// The limit of time ends a run that would take days, too.
#[test]
fn time_ends_a_run() {
    let limited =
        SimulationOptions { time: Some(Duration::from_millis(300)), ..options(1, usize::MAX, 1, 1) };
    let result = simulate_composed(Policy::hardened(), &limited);
    assert!(result.longest > 10, "{}", result.longest);
}

/// The violated claims after these inputs to a new conversation, evaluated without the model.
fn violated(policy: &Policy, inputs: &[TimedInput]) -> Vec<usize> {
    let mut state = orchestrion_model::product::initial_state();
    let mut history = orchestrion_claims::History::default();
    let mut violated = Vec::new();
    for TimedInput { at, input } in inputs {
        let Ok(events) = orchestrion_kernel::decide(policy, &state, *at, input) else { continue };
        let mut after = state.clone();
        events.iter().for_each(|event| after.apply(event));
        violated.extend(orchestrion_claims::step_violations(
            policy,
            &state,
            input,
            &events,
            &after,
            &mut history,
        ));
        violated.extend(orchestrion_claims::state_violations(policy, &after));
        state = after;
    }
    violated
}

#[test]
fn counterexamples_violate_their_claims_and_are_minimal() {
    let result = simulate_composed(Policy::as_drawn(), &options(60, 80, 2, 3));
    let of_claims: std::collections::BTreeSet<_> =
        result.violations.iter().map(|violation| CLAIMS[violation.claim].id).collect();
    assert!(of_claims.len() > 5, "{of_claims:?}");
    assert!(result.violations.len() > of_claims.len(), "no claim has several counterexamples");
    for violation in &result.violations {
        let (id, found) = (CLAIMS[violation.claim].id, &violation.counterexample);
        assert!(found.inputs.len() <= violation.steps, "{id}");
        assert!(violated(&found.policy, &found.inputs).contains(&violation.claim), "{id}");
        // Inputs of a new conversation name calls by their numbers, so only the last one can be omitted without renaming.
        let but_last = &found.inputs[..found.inputs.len() - 1];
        assert!(!violated(&found.policy, but_last).contains(&violation.claim), "{id}");
    }
}

#[test]
fn runs_reach_deeper_than_explorations() {
    let result = simulate_composed(Policy::hardened(), &options(100, 300, 2, 1));
    assert_eq!(result.violations.iter().map(|found| CLAIMS[found.claim].id).collect::<Vec<_>>(), [""; 0]);
    assert_eq!(result.longest, 300);
    // Every phase in which something can go wrong is entered by some run.
    for phase in ["Success", "Failure", "RollbackActive", "SelfHealingActive", "Blocked"] {
        let observation = orchestrion_model::coverage::observation_by_name(phase).unwrap();
        assert!(matches!(observation, Observation::Phase(_)));
        assert!(result.is_reached(observation), "{phase}");
    }
}

#[test]
fn every_model_is_simulated() {
    for model in MODELS {
        let kernel = KernelUnderTest::unmodified(Policy::hardened());
        let result = simulate(&kernel, model, &SCOPES[0], &options(3, 40, 2, 1), &mut |_| ());
        assert!(result.violations.is_empty(), "{}", model.name);
        assert!(result.steps > 20, "{}: {} steps", model.name, result.steps);
    }
}
