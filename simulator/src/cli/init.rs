//! `init`: creates the files of a new project.

use super::exit_status::ExitStatus;
use super::{files, output};
use crate::project;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::policy_file;
use orchestrion_scenario::run::run_scenario;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Create a project: a project file, a policy, a scenario with its trace, and a CI file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion init                  in this folder
  orchestrion init demo             in the folder demo, which is created

Files (if one of them exists, none is written):
  orchestrion.yaml                        inputs of check, run and replay
  policies/team.yaml                      a policy that extends `hardened`
  scenarios/first-request.yaml, .ndjson   a scenario and its trace
  .github/workflows/orchestrion.yaml      the three commands on every push")]
pub(super) struct Args {
    /// Create the project in this folder.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const POLICY: &str = "policies/team.yaml";
const SCENARIO: &str = "scenarios/first-request.yaml";
const TRACE: &str = "scenarios/first-request.ndjson";
const WORKFLOW: &str = ".github/workflows/orchestrion.yaml";

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let written = create_project(&args.folder)?;
    print_report(&args.folder, &written, &mut output::stdout()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

/// Writes all files or none.
fn create_project(folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.exists() && !folder.is_dir() {
        return Err(miette!(
            help = "name a folder, which is created if it does not exist, such as: orchestrion init demo",
            "{} is not a folder",
            folder.display()
        ));
    }
    let trace = first_trace()?;
    let written: [(&str, &[u8]); 5] = [
        (project::FILE, include_bytes!("init/orchestrion.yaml")),
        (POLICY, include_bytes!("init/policy.yaml")),
        (SCENARIO, include_bytes!("init/scenario.yaml")),
        (TRACE, &trace),
        (WORKFLOW, include_bytes!("init/workflow.yaml")),
    ];
    let written = written.map(|(name, bytes)| (in_folder(folder, name), bytes));
    let existing: Vec<String> = written
        .iter()
        .filter(|(path, _)| path.symlink_metadata().is_ok())
        .map(|(path, _)| path.display().to_string())
        .collect();
    if !existing.is_empty() {
        return Err(miette!(
            help = "choose another folder, such as `orchestrion init demo`, or move the files away",
            "no file was written: {} exists already and is not overwritten",
            existing.join(", ")
        ));
    }
    files::create_all(written)
}

/// Returns the path of a file of the project, without a leading `./`.
fn in_folder(folder: &Path, name: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}

/// Runs the scenario under the policy, before either file is written.
fn first_trace() -> Result<Vec<u8>> {
    let policy = policy_file::parse(POLICY, include_str!("init/policy.yaml"), Path::new(""))?;
    let scenario = Scenario::parse_under("first-request.yaml", include_str!("init/scenario.yaml"), policy)?;
    Ok(run_scenario(scenario)?.trace)
}

fn print_report(folder: &Path, written: &[PathBuf], out: &mut impl Write) -> std::io::Result<()> {
    for path in written {
        writeln!(out, "  wrote    {}", path.display())?;
    }
    if folder != Path::new(".") {
        writeln!(out, "  enter    cd {}", output::quoted(folder))?;
    }
    writeln!(out, "  check    orchestrion check")?;
    writeln!(out, "  run      orchestrion run")?;
    writeln!(out, "  replay   orchestrion replay")
}

#[cfg(test)]
mod tests;
