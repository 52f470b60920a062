//! `lint`: structural checks of a foreign state machine.

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

/// Lint a state machine given as a YAML table or as Mermaid state diagrams.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion lint design.md                 Mermaid state diagrams in a text
  orchestrion lint machine.yaml              a YAML table
  orchestrion lint design.md --format json

The schema of tables: `orchestrion export schema --schema machine`.

What depends on the meaning of a label or a guard gives a warning.

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
