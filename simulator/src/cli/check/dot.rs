//! `check --dot`: what was explored, as a picture.

use super::PolicyResult;
use crate::cli::files;
use miette::Result;
use orchestrion_kernel::decide;
use orchestrion_model::check::{Counterexample, Verdict};
use orchestrion_model::export::dot::{Summary, dot};
use orchestrion_model::product::initial_state;
use orchestrion_model::transition_counts::{TransitionCounts, TransitionEdge, edge_of_step};
use std::io::Write;
use std::path::Path;

/// What a drawing begins with.
const BEGINS: &str = "digraph ";

/// An error if a drawing must not be written there.
pub(super) fn refuse_other(path: &Path) -> Result<()> {
    files::ensure_overwritable(
        path,
        BEGINS,
        "no drawing",
        "choose another file for it, or move this one away",
    )
}

/// Writes the picture, with the run that breaks the first claim that fails, if one does.
pub(super) fn draw(checked: &PolicyResult, tally: &TransitionCounts, path: &Path) -> Result<()> {
    let PolicyResult { policy, scope, found, .. } = checked;
    let failing = found.iter().find_map(|found| match &found.verdict {
        Verdict::Fails { counterexample, .. } => Some((found.claim, counterexample)),
        _ => None,
    });
    let breaks = failing.map_or_else(String::new, |(claim, _)| format!("; a run that breaks {}", claim.id));
    let is_cut = checked.runs.iter().any(|run| !run.is_exhaustive());
    let cut = if is_cut { ", cut short" } else { "" };
    let models = checked.models().join(", ");
    let summary = Summary {
        title: format!("policy {}, scope {scope}: {models}{cut}{breaks}", policy.name),
        states: tally.states.clone(),
        steps: tally.steps.clone(),
        run: failing.map_or_else(Vec::new, |(_, counterexample)| ways(counterexample)),
    };
    refuse_other(path)?;
    files::replace_by(path, |file| file.write_all(dot(policy, &summary).as_bytes()))
}

/// The ways that a run goes; a loop once.
fn ways(run: &Counterexample) -> Vec<TransitionEdge> {
    let end = run.stem_len.zip(run.cycle_len()).map_or(run.inputs.len(), |(stem, round)| stem + round);
    let mut state = initial_state();
    let mut ways = Vec::new();
    for input in run.inputs.iter().take(end) {
        let Ok(events) = decide(&run.policy, &state, input) else { break };
        ways.extend(edge_of_step(&state, &events));
        events.iter().for_each(|event| state.apply(event));
    }
    ways
}
