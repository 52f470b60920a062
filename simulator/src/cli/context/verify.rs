//! `context verify`: checks a certificate.

use super::text::style;
use crate::cli::args::Format;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, write_hanging, write_summary};
use miette::{IntoDiagnostic, Result};
use orchestrion_report::text::{grouped, sanitize};
use orchestrion_selection::{NamedProblem, VerifyResult, verify_file};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// Verify a certificate of `context solve --certify` in integers, without a solver.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json --certify proof.json
  orchestrion context verify problem.json proof.json
  orchestrion context verify problem.json proof.json --format json

A certificate proves that no selection has more utility, and that none of equal
utility costs less. It does not prove the tie-break by ids. It is a
branch-and-bound tree: nodes branch on an item or on the number of items, and
are pruned by prices of tokens and items with a flow along the dependencies. The
schema: `orchestrion export schema --schema certificate`.

Exit codes: 0 verified; 1 a step is invalid, or the certificate is for another
problem; 2 the problem or the certificate cannot be read.")]
pub(super) struct Args {
    /// Read the problem from this JSON file.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    /// Read the certificate from this JSON file.
    #[arg(value_name = "CERTIFICATE")]
    certificate: PathBuf,
    /// Print the verdict in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let problem = NamedProblem::read(&args.problem, None)?;
    let result = verify_file(&problem, &args.certificate)?;
    let status = if result.error.is_none() { ExitStatus::Success } else { ExitStatus::Failure };
    let mut out = output::stdout();
    match args.format {
        Format::Json => json(&result, &mut out),
        Format::Human => human(&result, status, output::width(), &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
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

fn json(result: &VerifyResult, out: &mut impl Write) -> io::Result<()> {
    let VerifyResult { utility, cost, steps, error } = result;
    let report = Report {
        verified: error.is_none(),
        utility: *utility,
        cost: *cost,
        steps: *steps,
        step: error.as_ref().and_then(|error| error.step),
        reason: error.as_ref().map(ToString::to_string),
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

fn human(result: &VerifyResult, status: ExitStatus, width: usize, out: &mut impl Write) -> io::Result<()> {
    let VerifyResult { utility, cost, error, .. } = result;
    let (style, code) = (style(error.is_none()).bold(), status.code());
    match error {
        None => {
            let (utility, cost) = (grouped(*utility), grouped(*cost));
            let text = format!(": maximum utility {utility}, minimum cost {cost}. exit {code}");
            write_summary(style, "verified", &text, width, out)?;
            write_hanging(2, "", "the tie-break by ids is not proven", width, out)
        }
        Some(error) => {
            let text = format!(": {}. exit {code}", sanitize(&error.to_string()));
            write_summary(style, "not verified", &text, width, out)
        }
    }
}
