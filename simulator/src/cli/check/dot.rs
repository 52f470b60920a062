//! `check --dot`: the explored state graph for Graphviz.

use super::result::PolicyResult;
use crate::cli::files;
use miette::Result;
use orchestrion_files::FileKind;
use orchestrion_kernel::{TimedInput, decide};
use orchestrion_model::check::{Counterexample, Verdict};
use orchestrion_model::export::dot::{DOT_START, Summary, dot};
use orchestrion_model::product::initial_state;
use orchestrion_model::transition_counts::{TransitionCounts, TransitionEdge, edge_of_step};
use std::io::Write;
use std::path::Path;

const DRAWING: FileKind = FileKind {
    name: "a drawing of explored states",
    is_start: |start| start.starts_with(DOT_START.as_bytes()),
    last_line: None,
};

/// Returns an error if the file exists and is not a drawing.
pub(super) fn ensure_overwritable(path: &Path) -> Result<()> {
    files::ensure_overwritable(path, &DRAWING)
}

/// Writes the drawing, with the counterexample of the first failing claim.
pub(super) fn write(result: &PolicyResult, counts: &TransitionCounts, path: &Path) -> Result<()> {
    let PolicyResult { policy, scope, claims, .. } = result;
    let failing = claims.iter().find_map(|claim| match &claim.verdict {
        Verdict::Fails { counterexample, .. } => Some((claim.claim, &**counterexample)),
        Verdict::Holds
        | Verdict::Vacuous
        | Verdict::Inconclusive
        | Verdict::NotInductive { .. }
        | Verdict::NotChecked(_) => None,
    });
    let violated = failing.map_or_else(String::new, |(claim, _)| format!("; counterexample of {}", claim.id));
    let is_exhaustive = result.runs.iter().all(|run| run.is_exhaustive());
    let limit = if is_exhaustive { "" } else { ", limit reached" };
    let models = result.models().join(", ");
    let summary = Summary {
        title: format!("policy {}, scope {scope}: {models}{limit}{violated}", policy.name),
        states: counts.states.clone(),
        steps: counts.steps.clone(),
        run: failing.map_or_else(Vec::new, |(_, counterexample)| edges(counterexample)),
    };
    files::replace_with(path, &DRAWING, |file| file.write_all(dot(policy, &summary).as_bytes()))
}

/// Returns the edges of a counterexample; those of a cycle once.
fn edges(counterexample: &Counterexample) -> Vec<TransitionEdge> {
    let lasso = counterexample.stem_len.zip(counterexample.cycle_len());
    let end = lasso.map_or(counterexample.inputs.len(), |(stem, cycle)| stem + cycle);
    let mut state = initial_state();
    let mut edges = Vec::new();
    for TimedInput { at, input } in counterexample.inputs.iter().take(end) {
        let Ok(events) = decide(&counterexample.policy, &state, *at, input) else { break };
        edges.extend(edge_of_step(&state, &events));
        events.iter().for_each(|event| state.apply(event));
    }
    edges
}
