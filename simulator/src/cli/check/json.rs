//! What was checked, for programs.

use super::{Checked, Found, Standing};
use crate::cli::Outcome;
use crate::project::Waiver;
use orchestrion_model::check::{Run, Verdict};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Serialize)]
struct Report<'a> {
    verdict: &'static str,
    runs: Vec<RunReport<'a>>,
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
    counterexample: Option<Counterexample>,
}

#[derive(Serialize)]
struct Counterexample {
    steps: usize,
    trace: PathBuf,
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
    checked: &[Checked],
    standings: &[(&Waiver, Standing)],
    outcome: Outcome,
    out: &mut impl Write,
) -> io::Result<()> {
    let any = |verdict: &Verdict| {
        checked.iter().flat_map(|checked| &checked.found).any(|found| found.verdict == *verdict)
    };
    let report = Report {
        verdict: match outcome {
            Outcome::Fine => "holds",
            Outcome::Failure => "fails",
            _ if any(&Verdict::Inconclusive) => "inconclusive",
            _ if any(&Verdict::Vacuous) => "vacuous",
            _ => "expired",
        },
        runs: checked.iter().flat_map(|checked| &checked.runs).map(run_report).collect(),
        claims: checked
            .iter()
            .flat_map(|checked| checked.found.iter().map(|found| claim_report(checked, found)))
            .collect(),
        waivers: standings.iter().map(|(waiver, standing)| waiver_report(waiver, *standing)).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn run_report(run: &Run) -> RunReport<'_> {
    RunReport {
        model: run.model,
        scope: run.scope,
        policy: &run.policy,
        states: run.states,
        products: run.products,
    }
}

fn claim_report<'a>(checked: &'a Checked, found: &'a Found) -> ClaimReport<'a> {
    let (run, steps) = match &found.verdict {
        Verdict::Fails { run, counterexample } => {
            (checked.runs.get(*run).map(|run| run.model), counterexample.inputs.len())
        }
        _ => (None, 0),
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
        counterexample: found
            .evidence
            .as_ref()
            .map(|(trace, _)| Counterexample { steps, trace: trace.clone() }),
    }
}

fn waiver_report(waiver: &Waiver, standing: Standing) -> WaiverReport<'_> {
    WaiverReport {
        claim: waiver.claim,
        policy: waiver.policy.as_deref(),
        reason: &waiver.reason,
        until: waiver.until.to_string(),
        standing: standing.word(),
    }
}
