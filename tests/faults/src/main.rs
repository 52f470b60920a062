//! The `orchestrion-faults` program: its command line and its exit codes.
//!
//! A fault is a small change of the kernel that violates a clause (tests/faults/README.md). The program builds one copy of the
//! workspace with all faults, switches on one at a time, and reports which judge detects it.

use clap::Parser;
use orchestrion_faults::exit_code;
use orchestrion_faults::judges::Judge;
use orchestrion_faults::list::{NumberedFault, read_faults};
use orchestrion_faults::results::Results;
use orchestrion_faults::suite::{Check, Suite, Until, in_parallel};
use orchestrion_faults::table::{Judged, Row, Table};
use orchestrion_faults::workspace::write_faulty_workspace;
use orchestrion_yaml::render_error;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Switch on each fault of tests/faults/list in a copy of the kernel, and report who detects it.
#[derive(Debug, Parser)]
#[command(name = "orchestrion-faults", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// Try only the faults whose id starts with this text; may be repeated.
    #[arg(value_name = "ID")]
    only: Vec<String>,
    /// Ask only this judge; may be repeated [default: all].
    #[arg(long = "judge", value_enum, value_name = "JUDGE")]
    judges: Vec<Judge>,
    /// Check at this scope what the scope tiny does not detect. Policies with other parts are checked at scope tiny.
    #[arg(long, default_value = "small", value_name = "SCOPE")]
    scope: String,
    /// Run with this many threads.
    #[arg(long, default_value_t = 2, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Write the copy of the workspace, and build it, in this folder.
    #[arg(long, default_value = "target/faults", value_name = "FOLDER")]
    work_dir: PathBuf,
    /// Append what each judge finds to this file. What is in it is not asked again.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Write the table to this Markdown file.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  orchestrion-faults                           try all faults; takes hours
  orchestrion-faults 003 --judge check         the faults of document 003, with the claims only
  orchestrion-faults 003-07                    one fault
  orchestrion-faults --results results.ndjson --page specs/pages/faults.md

Run it in the root of the workspace. The first run builds a copy of it. Delete the file of results
after a change of the code.

Exit codes: 0 success; 1 a fault that is not equivalent is not detected, one that is equivalent is
detected, or the claims detect less than 90 %; 2 error.";

fn main() -> ExitCode {
    exit_code(run(&Cli::parse()))
}

/// Runs the judges. Returns whether the faults are detected as they should be.
fn run(cli: &Cli) -> Result<bool, Box<dyn Error>> {
    let root = std::env::current_dir()?;
    let faults = read_faults(Path::new("tests/faults/list")).map_err(|error| render_error(&error))?;
    let copy = std::path::absolute(&cli.work_dir)?.join("workspace");
    write_faulty_workspace(&root, &copy, &faults).map_err(|error| render_error(&error))?;
    eprintln!("building {} faults in {}", faults.len(), copy.display());
    let chosen: Vec<&NumberedFault> = faults
        .iter()
        .filter(|fault| cli.only.is_empty() || cli.only.iter().any(|id| fault.id().starts_with(id.as_str())))
        .collect();
    if chosen.is_empty() {
        return Err(format!("no fault: expected an id that starts with {}", cli.only.join(" or ")).into());
    }
    let mut checks = Check::tiny();
    let scope = Check::new("hardened", &cli.scope);
    if !checks.contains(&scope) {
        checks.push(scope);
    }
    let suites: Vec<Suite> = Judge::ALL
        .into_iter()
        .filter(|judge| cli.judges.is_empty() || cli.judges.contains(judge))
        .map(|judge| Suite::build(&copy, judge, &checks, cli.jobs.into()))
        .collect::<Result<_, _>>()?;
    let (results, earlier) = match &cli.results {
        Some(path) => Results::open::<Judged>(path).map(|(results, earlier)| (Some(results), earlier))?,
        None => (None, Vec::new()),
    };
    let done = AtomicUsize::new(0);
    let rows = in_parallel(&chosen, cli.jobs.into(), |_, fault| {
        let find = |suite: &Suite| {
            let judge = suite.judge();
            let is_same = |judged: &&Judged| {
                (judged.fault.as_str(), judged.judge, &judged.scope) == (fault.id(), judge, &cli.scope)
            };
            if let Some(judged) = earlier.iter().find(is_same) {
                return Ok((judge, judged.finding.clone()));
            }
            let finding = suite.find(fault.number, Until::EndOfCheck)?;
            if let Some(results) = &results {
                let (fault, scope) = (fault.id().to_owned(), cli.scope.clone());
                results.append(&Judged { fault, judge, scope, finding: finding.clone() })?;
            }
            Ok((judge, finding))
        };
        let findings = suites.iter().map(find).collect::<std::io::Result<_>>()?;
        let row = Row { fault: (*fault).clone(), findings };
        println!("{:>3} of {}  {row}", done.fetch_add(1, Ordering::Relaxed) + 1, chosen.len());
        Ok(row)
    });
    let table = Table { rows: rows.into_iter().collect::<std::io::Result<_>>()? };
    if let Some(page) = &cli.page {
        std::fs::write(page, table.page(&cli.scope))?;
    }
    println!("{}", table.summary());
    Ok(table.is_as_expected())
}
