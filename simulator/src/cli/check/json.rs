//! What was checked, for programs.

use super::coverage::{Coverage, cause, cut};
use super::{CheckedClaim, PolicyResult, WaiverStatus};
use crate::cli::ExitStatus;
use crate::project::Waiver;
use orchestrion_explorer::Termination;
use orchestrion_model::check::{Counterexample, ModelRun, Verdict};
use orchestrion_model::coverage::Observation;
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    runs: Vec<RunReport<'a>>,
    extents: Vec<ExtentReport<'a>>,
    claims: Vec<ClaimReport<'a>>,
    waivers: Vec<WaiverReport<'a>>,
}

#[derive(Serialize)]
struct RunReport<'a> {
    model: &'a str,
    scope: &'a str,
    policy: &'a str,
    states: usize,
    products: usize,
    steps: u64,
    depth: usize,
    /// What ran out, if anything did.
    cut: Option<CutReport>,
}

/// How far a search came that was cut short.
#[derive(Serialize)]
pub(super) struct CutReport {
    /// What ran out: memory, time or states.
    out_of: &'static str,
    /// Products that were not followed further.
    waiting: usize,
    /// Every run of up to so many steps was tried.
    covered_steps: usize,
}

impl CutReport {
    pub(super) fn of(ended: Termination, depth: usize) -> Option<Self> {
        let (why, waiting, covered_steps) = cut(ended, depth)?;
        Some(Self { out_of: cause(why).0, waiting, covered_steps })
    }
}

/// What all runs under one policy reached.
#[derive(Serialize)]
struct ExtentReport<'a> {
    policy: &'a str,
    /// How likely it is at most that a collision hid something; 0 where whole states were compared.
    collision_probability: f64,
    /// Whether every model was explored, and none was cut short.
    complete: bool,
    expected: usize,
    reached: usize,
    unreached: Vec<MarkReport>,
}

#[derive(Serialize)]
struct MarkReport {
    kind: &'static str,
    name: String,
    about: String,
}

impl MarkReport {
    fn of(mark: Observation) -> Self {
        Self { kind: mark.kind(), name: mark.name(), about: mark.description() }
    }
}

#[derive(Serialize)]
struct ClaimReport<'a> {
    id: &'a str,
    policy: &'a str,
    statement: &'a str,
    clause: &'a str,
    finding: Option<&'a str>,
    kind: &'a str,
    verdict: &'a str,
    /// The model of the run that found the counterexample.
    run: Option<&'a str>,
    counterexample: Option<WayReport>,
}

#[derive(Serialize)]
struct WayReport {
    steps: usize,
    trace: PathBuf,
    /// The same run in the Informal Trace Format.
    itf: PathBuf,
    /// The steps that a run without end takes again and again.
    r#loop: Option<LoopReport>,
}

#[derive(Serialize)]
struct LoopReport {
    first_step: usize,
    last_step: usize,
}

impl LoopReport {
    fn of(counterexample: &Counterexample) -> Option<Self> {
        let (stem, round) = counterexample.stem_len.zip(counterexample.cycle_len())?;
        Some(Self { first_step: stem + 1, last_step: stem + round })
    }
}

#[derive(Serialize)]
struct WaiverReport<'a> {
    claim: &'a str,
    policy: Option<&'a str>,
    reason: &'a str,
    until: String,
    standing: &'static str,
}

pub(super) fn json(
    checked: &[PolicyResult],
    standings: &[(&Waiver, WaiverStatus)],
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let report = Report {
        verdict: verdict(checked, outcome),
        runs: checked.iter().flat_map(|checked| &checked.runs).map(run_report).collect(),
        extents: checked.iter().map(extent_report).collect(),
        claims: checked
            .iter()
            .flat_map(|checked| checked.found.iter().map(|found| claim_report(checked, found)))
            .collect(),
        waivers: standings.iter().map(|(waiver, standing)| waiver_report(waiver, *standing)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

/// What an outcome means, in one word.
pub(super) fn verdict(checked: &[PolicyResult], outcome: ExitStatus) -> &'static str {
    let any =
        |word: &str| checked.iter().flat_map(|checked| &checked.found).any(|found| found.word() == word);
    match outcome {
        ExitStatus::Success => "holds",
        ExitStatus::Failure => "fails",
        _ if any("inconclusive") => "inconclusive",
        _ if any("vacuous") => "vacuous",
        _ => "expired",
    }
}

fn extent_report(checked: &PolicyResult) -> ExtentReport<'_> {
    let extent = Coverage::of(&checked.policy, &checked.runs);
    ExtentReport {
        policy: &checked.policy.name,
        collision_probability: extent.collision,
        complete: extent.only.is_none() && !extent.is_cut,
        expected: extent.expected.len(),
        reached: extent.expected.len() - extent.unreached.len(),
        unreached: extent.unreached.into_iter().map(MarkReport::of).collect(),
    }
}

fn run_report(run: &ModelRun) -> RunReport<'_> {
    RunReport {
        model: run.model,
        scope: run.scope,
        policy: &run.policy,
        states: run.states,
        products: run.products,
        steps: run.steps,
        depth: run.depth,
        cut: CutReport::of(run.ended, run.depth),
    }
}

fn claim_report<'a>(checked: &'a PolicyResult, found: &'a CheckedClaim) -> ClaimReport<'a> {
    let (run, way) = match &found.verdict {
        Verdict::Fails { run, counterexample } => {
            (checked.runs.get(*run).map(|run| run.model), Some(counterexample))
        }
        _ => (None, None),
    };
    ClaimReport {
        id: found.claim.id,
        policy: &checked.policy.name,
        statement: found.claim.statement,
        clause: found.claim.clause,
        finding: found.claim.finding,
        kind: found.claim.check.kind(),
        verdict: found.word(),
        run,
        counterexample: way.zip(found.evidence.as_ref()).map(|(way, kept)| WayReport {
            steps: way.inputs.len(),
            trace: kept.trace.clone(),
            itf: kept.itf.clone(),
            r#loop: LoopReport::of(way),
        }),
    }
}

fn waiver_report(waiver: &Waiver, standing: WaiverStatus) -> WaiverReport<'_> {
    WaiverReport {
        claim: waiver.claim,
        policy: waiver.policy.as_deref(),
        reason: &waiver.reason,
        until: waiver.until.to_string(),
        standing: standing.word(),
    }
}
