//! `lint`: structural checks of foreign state machines, and of a set of claims.

mod cases;
pub(super) mod claims;
mod dot;
pub(super) mod json;
mod reach;
mod report;
mod verdict;

use super::args::{GlobalArgs, ReportFormat};
use super::exit_status::ExitStatus;
use super::test_report::{TestCase, TestReport, rules, text_output};
use super::{output, targets};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_files::limits::LINTED_PARTS_MAX;
use orchestrion_lint::parse::ParsedMachine;
use orchestrion_lint::{lint, parse};
use orchestrion_report::text::sanitize;
use std::path::{Path, PathBuf};
use verdict::{LintedMachine, Verdict};

/// Lint state machines given as a YAML table or as Mermaid state diagrams, or the claims of a project as a set.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion lint                           the machines of the project file,
                                             or its claims if it names none
  orchestrion lint design.md                 Mermaid state diagrams in a text
  orchestrion lint machine.yaml              a YAML table
  orchestrion lint design.md --format sarif
  orchestrion lint claims.yaml               claims, on the real machine

  orchestrion lint machine.yaml --reach Packing    a shortest path to a state
  orchestrion lint machine.yaml --dot machine.dot  draw it:
                                                   dot -Tsvg -O machine.dot

The schema of tables: `orchestrion export schema --schema machine`.

A project file names machines under `machines: [design.md]`.

What depends on the meaning of a label or a guard gives a warning. --reach
takes every edge, whatever its guard.

The claims of all files are judged together, on all runs of the models at scope
tiny, under the first policy of the project, else under `hardened`:
  UNREACHABLE   no event of any run decides the claim
  CONTRADICTION no request ends in a run that abides by these claims
  EXCLUDED      no run that abides by the others has an event that decides it
  TRAP          after this run no request ends without a violation
  implied       only runs that violate another claim violate it (a warning)
Each has a shortest run, and a minimal set of claims that cause it. Example:
  claims:
  - {id: none, never: {event: repair_started}}
  - {id: few, at_most: {limit: 1, of: {event: repair_started}}}
`few` is implied by `none`. A claim with `enforce` is judged as one without.

Exit codes: 0 no rule fails (warnings included), or a path exists; 1 a rule
fails, or no path exists; 2 no file can be read; 3 a file cannot be read, or the
lint of claims is incomplete.")]
pub(super) struct Args {
    /// Read the state machines, or the claims, from these files [default: the machines of the project file, or its claims if it names no
    /// machine].
    #[arg(value_name = "FILE", conflicts_with = "config")]
    files: Vec<PathBuf>,
    /// Find a shortest path to this state in every machine that has it; do not check rules.
    #[arg(long, value_name = "STATE")]
    reach: Option<String>,
    /// Write a drawing of the machines for Graphviz, with the path of --reach.
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: ReportFormat,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let files = targets::files_to_lint(&args.files, global)?;
    let (of_claims, others): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|file| claims::is_claim_file(file));
    if let Some(claims) = of_claims.first() {
        if let Some(other) = others.first() {
            return Err(miette!(
                help = "lint them one after the other",
                "expected claims or state machines, found both: {} states claims, and {} does not",
                sanitize(&claims.display().to_string()),
                sanitize(&other.display().to_string())
            ));
        }
        return claims::run(&files, args, global);
    }
    let plain_format = args.reach.as_ref().map(|_| args.format.without_cases("--reach")).transpose()?;
    if let Some(path) = &args.dot {
        dot::ensure_overwritable(path)?;
    }
    let (mut machines, mut unreadable, mut statuses) = (Vec::new(), Vec::new(), Vec::new());
    let mut parts = 0;
    for file in &files {
        match read_within_limit(file, &mut parts) {
            Ok(parsed) => {
                let start = machines.len();
                machines.extend(parsed.into_iter().map(|parsed| {
                    let results = lint(&parsed.machine);
                    LintedMachine { file: file.clone(), parsed, results }
                }));
                let has_failure = machines[start..].iter().any(LintedMachine::has_failure);
                statuses.push(if has_failure { ExitStatus::Failure } else { ExitStatus::Success });
            }
            Err(error) => {
                output::print_diagnostic(&error);
                unreadable.push(TestCase::of_error("lint", file, &rules::INVALID_FILE, &error));
                statuses.push(ExitStatus::Error);
            }
        }
    }
    if let (Some(state), Some(format)) = (&args.reach, plain_format) {
        let paths = reach::find(&machines, state)?;
        if let Some(path) = &args.dot {
            dot::write(&machines, &paths, path)?;
        }
        statuses.retain(|status| *status == ExitStatus::Error);
        let found = reach::print(&machines, &paths, state, format)?;
        statuses.extend((!machines.is_empty()).then_some(found));
        return Ok(ExitStatus::combine(&statuses));
    }
    if let Some(path) = &args.dot {
        dot::write(&machines, &[], path)?;
    }
    let status = ExitStatus::combine(&statuses);
    // Without a machine, every error was printed.
    if !machines.is_empty() {
        let mut out = text_output(args.format, output::stdout());
        report::human(&machines, global.quiet, status, output::width(), &mut out).into_diagnostic()?;
    }
    match args.format {
        ReportFormat::Json => {
            json::json(&machines, &unreadable, status, &mut output::stdout()).into_diagnostic()?;
        }
        format => {
            let cases = machines.iter().flat_map(cases::of_machine).chain(unreadable).collect();
            TestReport::new("lint", status, cases).print(format)?;
        }
    }
    Ok(status)
}

/// Reads the machines of a file, and adds their states and edges to those of the files before. All of them are in memory, so a file beyond
/// the limit is not read.
fn read_within_limit(file: &Path, parts: &mut usize) -> Result<Vec<ParsedMachine>> {
    if *parts > LINTED_PARTS_MAX {
        return Err(too_many_parts(file));
    }
    let parsed = parse::read(file)?;
    *parts +=
        parsed.iter().map(|parsed| parsed.machine.states.len() + parsed.machine.edges.len()).sum::<usize>();
    if *parts > LINTED_PARTS_MAX { Err(too_many_parts(file)) } else { Ok(parsed) }
}

fn too_many_parts(file: &Path) -> miette::Report {
    miette!(
        help = "lint fewer files at once",
        "{}: not linted: expected at most {LINTED_PARTS_MAX} states and edges in all files, found more",
        sanitize(&file.display().to_string())
    )
}

impl LintedMachine {
    fn has_failure(&self) -> bool {
        self.results.iter().any(|result| Verdict::from_result(result) == Verdict::Fails)
    }
}
