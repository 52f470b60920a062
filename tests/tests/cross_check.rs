//! `run --cross-check`: the 0-1 program finds wrong contexts in a trace, and accepts right ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::context::{
    ContextBuilder, ContextError, Selected, SelectionStatus, Selector, TokenizerUnavailable,
};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::selection::{Inclusion, Problem, Selection};
use orchestrion_kernel::{ModuleContext, Policy, State};
use orchestrion_optimizer::ExactSelector;
use orchestrion_selection::{CrossCheck, Difference, IlpError, cross_check};
use orchestrion_text::{StandardContexts, build_context_with_selector};
use orchestrion_trace::recorder::Recorder;
use orchestrion_trace::{Header, Reader, StepMetadata};
use std::fs;
use std::path::Path;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Records the inputs of a golden trace again.
fn record(name: &str, contexts: &'static dyn ContextBuilder, change: impl Fn(&mut Policy)) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../specs/scenarios/{name}.ndjson"));
    let golden = fs::read(path).unwrap();
    let reader = Reader::new(golden.as_slice(), name).unwrap();
    let mut header: Header = reader.header().clone();
    change(&mut header.policy);
    let mut recorder = Recorder::open(Vec::new(), &header, contexts).unwrap();
    for step in reader {
        let _refused = recorder.submit(&step.unwrap().input, &StepMetadata::default()).unwrap();
    }
    recorder.close().unwrap()
}

fn checked(trace: &[u8], time_limit: Duration) -> CrossCheck {
    cross_check(Reader::new(trace, "trace").unwrap(), time_limit).unwrap()
}

#[test]
fn contexts_of_optimizer_are_equal() {
    let result = checked(&record("own-contexts", &StandardContexts, |_| ()), MINUTE);
    assert!(result.is_complete(), "{result:?}");
    assert!(result.contexts > 10 && result.equal == result.contexts, "{result:?}");
}

#[test]
fn unproven_contexts_are_within_their_bound() {
    let trace = record("node-limit", &StandardContexts, |_| ());
    let unproven = trace.windows(12).filter(|bytes| bytes == b"\"not_proven\"").count();
    let result = checked(&trace, MINUTE);
    assert!(result.is_complete() && unproven > 0, "{result:?}");
    assert_eq!((result.within_bound, result.equal), (unproven, result.contexts - unproven));
    // With more nodes, the same contexts are proven.
    let proven = record("node-limit", &StandardContexts, |policy| policy.contexts.nodes_max = 2_000);
    let result = checked(&proven, MINUTE);
    assert_eq!(result.equal, result.contexts, "{result:?}");
}

/// Builds contexts with a selector that a test supplies.
#[derive(Debug)]
struct Planted(fn(&Problem, Selected) -> Selected);

impl ContextBuilder for Planted {
    fn check_policy(&self, policy: &Policy) -> Result<(), TokenizerUnavailable> {
        StandardContexts.check_policy(policy)
    }

    fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        let selector = PlantedSelector { change: self.0, exact: ExactSelector::from_policy(policy) };
        build_context_with_selector(policy, state, operation, &selector)
    }
}

struct PlantedSelector {
    change: fn(&Problem, Selected) -> Selected,
    exact: ExactSelector,
}

impl Selector for PlantedSelector {
    fn select(&self, problem: &Problem) -> Selected {
        (self.change)(problem, self.exact.select(problem))
    }
}

/// Drops the last free item with utility on which no selected item depends; the result is valid and worse.
fn without_last_item(problem: &Problem, optimum: Selected) -> Selected {
    let candidates = problem.candidates();
    let Selection { mut selected, mut utility, mut cost } = optimum.selection;
    let is_leaf = |item: &usize| {
        candidates[*item].inclusion == Inclusion::Free
            && candidates[*item].utility > 0
            && selected.iter().all(|other| other == item || !candidates[*other].deps.contains(item))
    };
    if let Some(item) = selected.iter().rev().copied().find(is_leaf) {
        selected.retain(|other| *other != item);
        utility -= candidates[item].utility;
        cost -= candidates[item].cost;
    }
    Selected { selection: Selection { selected, utility, cost }, status: SelectionStatus::Optimal }
}

#[test]
fn planted_selection_is_found() {
    let result = checked(&record("own-contexts", &Planted(without_last_item), |_| ()), MINUTE);
    assert!(result.unsolved.is_empty() && !result.differences.is_empty(), "{result:?}");
    for difference in &result.differences {
        let Difference::Selection { recorded_utility, optimal_utility, only_optimal, .. } =
            &difference.result
        else {
            panic!("{difference:?}");
        };
        assert!(recorded_utility < optimal_utility && !only_optimal.is_empty(), "{difference:?}");
    }
}

#[test]
fn planted_bound_is_found() {
    static CONTEXTS: Planted = Planted(|problem, optimum| {
        let Selected { selection, .. } = without_last_item(problem, optimum);
        let status = SelectionStatus::NotProven { bound: selection.utility };
        Selected { selection, status }
    });
    let result = checked(&record("own-contexts", &CONTEXTS, |_| ()), MINUTE);
    let is_bound = |difference: &Difference| matches!(difference, Difference::Bound { .. });
    assert!(!result.differences.is_empty(), "{result:?}");
    assert!(result.differences.iter().all(|context| is_bound(&context.result)), "{result:?}");
}

#[test]
fn time_limit_leaves_contexts_unsolved() {
    let result = checked(&record("own-contexts", &StandardContexts, |_| ()), Duration::ZERO);
    assert_eq!(result.unsolved.len(), result.contexts);
    assert!(result.unsolved.iter().all(|context| matches!(context.result, IlpError::TimeLimit)));
}
