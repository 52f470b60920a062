//! `context verify`: whether a certificate proves a choice the best.

use super::style;
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use miette::{IntoDiagnostic, Result};
use orchestrion_report::show::grouped;
use orchestrion_selection::{NamedProblem, VerifyResult, verify_file};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// Check a certificate of `context solve --certify`, in integers and without any solver: that no choice has more utility, and
/// that none of as much utility costs less.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json --certify proof.json
  orchestrion context verify problem.json proof.json
  orchestrion context verify problem.json proof.json --format json    {\"verified\": true, \"utility\": …, \"cost\": …, \"steps\": …}

A certificate is a tree of cases: with an item or without it, with so many items at most or more. Each case is closed by prices
of utility and tokens, and by a flow along the dependencies, under which nothing in it is better than the choice. What is not
proven is which comes first of the choices that are as good and as cheap. `orchestrion export schema --of certificate` describes
the file.

Exit codes: 0 verified; 1 a step does not prove what it says, or it is of another problem; 2 no problem, or no certificate.")]
pub(super) struct Args {
    /// The problem, a JSON file.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    /// The certificate, a JSON file.
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// How the verdict is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, _: &GlobalArgs) -> Result<ExitStatus> {
    let named = NamedProblem::read(&args.problem, None)?;
    let verdict = verify_file(&named, &args.certificate)?;
    let outcome = if verdict.refuted.is_none() { ExitStatus::Success } else { ExitStatus::Failure };
    let mut out = files::out();
    match args.format {
        Format::Json => json(&verdict, &mut out),
        Format::Human => human(&verdict, outcome, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

#[derive(Serialize)]
struct Report {
    verified: bool,
    utility: u64,
    cost: u64,
    steps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn json(verdict: &VerifyResult, out: &mut impl Write) -> io::Result<()> {
    let VerifyResult { utility, cost, steps, refuted } = verdict;
    let report = Report {
        verified: refuted.is_none(),
        utility: *utility,
        cost: *cost,
        steps: *steps,
        step: refuted.as_ref().and_then(|refuted| refuted.step),
        reason: refuted.as_ref().map(ToString::to_string),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

fn human(verdict: &VerifyResult, outcome: ExitStatus, out: &mut impl Write) -> io::Result<()> {
    let VerifyResult { utility, cost, refuted, .. } = verdict;
    let (style, code) = (style(refuted.is_none()).bold(), outcome.code());
    match refuted {
        None => {
            let (utility, cost) = (grouped(*utility), grouped(*cost));
            writeln!(
                out,
                "{style}verified{style:#}: utility {utility} is the most that fits (cost {cost}). exit {code}"
            )?;
            writeln!(
                out,
                "  proven, too, that as much utility costs no less; not, which such choice comes first"
            )
        }
        Some(refuted) => writeln!(out, "{style}not proven{style:#}: {refuted}. exit {code}"),
    }
}
