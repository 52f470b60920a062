//! `lint`: structural checks of a foreign state machine, and of a set of claims.

mod claims;
mod json;
mod report;
mod verdict;

use super::args::{Format, GlobalArgs};
use super::exit_status::ExitStatus;
use super::output;
use miette::{IntoDiagnostic, Result};
use orchestrion_lint::{lint, parse};
use std::path::PathBuf;
use verdict::{LintedMachine, Verdict};

/// Lint a state machine given as a YAML table or as Mermaid state diagrams, or the claims of a project as a set.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion lint design.md                 Mermaid state diagrams in a text
  orchestrion lint machine.yaml              a YAML table
  orchestrion lint design.md --format json
  orchestrion lint claims.yaml               claims, on the real machine

The schema of tables: `orchestrion export schema --schema machine`.

What depends on the meaning of a label or a guard gives a warning.

Claims are judged together, on all runs of the models at scope tiny, under the
first policy of the project, else under `hardened`:
  UNREACHABLE   no event of any run decides the claim
  CONTRADICTION no request ends in a run that abides by these claims
  EXCLUDED      no run that abides by the others has an event that decides it
  TRAP          after this run no request ends without a violation
  implied       only runs that violate another claim violate it (a warning)
Each has a shortest run, and a minimal set of claims that cause it. Example:
  claims:
  - {id: few, at_most: {limit: 1, of: {event: repair_started}}}
  - {id: more, at_most: {limit: 2, of: {event: repair_started}}}
`more` is implied by `few`. A claim with `enforce` is judged as one without.

Exit codes: 0 no rule fails (warnings included); 1 a rule fails; 2 the file
cannot be read.")]
pub(super) struct Args {
    /// Read the state machines from this file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    if claims::is_claim_file(&args.file) {
        return claims::run(&args.file, args.format, global);
    }
    let machines: Vec<LintedMachine> = parse::read(&args.file)?
        .into_iter()
        .map(|parsed| LintedMachine { results: lint(&parsed.machine), parsed })
        .collect();
    let mut results = machines.iter().flat_map(|machine| &machine.results);
    let has_failure = results.any(|result| Verdict::from_result(result) == Verdict::Fails);
    let status = if has_failure { ExitStatus::Failure } else { ExitStatus::Success };
    let mut out = output::stdout();
    match args.format {
        Format::Human => {
            report::human(&args.file, &machines, global.quiet, status, output::width(), &mut out)
        }
        Format::Json => json::json(&args.file, &machines, status, &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
}
