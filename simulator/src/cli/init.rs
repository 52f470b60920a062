//! `init`: the files with which a project begins.

use super::{ExitStatus, files};
use crate::project;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::policy_file;
use orchestrion_scenario::run::run_scenario;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Begin a project: a project file, a policy, a scenario with its trace, and a CI file. Nothing is ever overwritten:
/// if one of them is there already, none is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion init                  in this folder
  orchestrion init demo             in the folder demo, which need not be there yet

What is written, each with comments that say what it is for:
  orchestrion.yaml                         what check, run and replay are about
  policies/team.yaml                       a policy that extends `hardened`
  scenarios/first-request.yaml, .ndjson    a scenario, and the trace that it plays
  .github/workflows/orchestrion.yaml       the same three verbs on every push")]
pub(super) struct Args {
    /// The project's folder.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const POLICY: &str = "policies/team.yaml";
const SCENARIO: &str = "scenarios/first-request.yaml";
const TRACE: &str = "scenarios/first-request.ndjson";
const WORKFLOW: &str = ".github/workflows/orchestrion.yaml";

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let written = begin(&args.folder)?;
    tell(&args.folder, &written, &mut files::out()).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

/// Writes all of it or nothing.
fn begin(folder: &Path) -> Result<Vec<PathBuf>> {
    if folder.exists() && !folder.is_dir() {
        return Err(miette!(
            help = "name a folder, which need not be there yet, as in: orchestrion init demo",
            "{} is no folder, and a project begins in one",
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
    let there: Vec<String> = written
        .iter()
        .filter(|(path, _)| path.symlink_metadata().is_ok())
        .map(|(path, _)| path.display().to_string())
        .collect();
    if !there.is_empty() {
        return Err(miette!(
            help = "begin in another folder, as in `orchestrion init demo`, or move what is there away",
            "nothing was written: {} exists already, and nothing is overwritten",
            there.join(", ")
        ));
    }
    files::create_all(written)
}

/// A path as a user would write it.
fn in_folder(folder: &Path, name: &str) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}

/// What the scenario plays under the policy, before either of them is written.
fn first_trace() -> Result<Vec<u8>> {
    let policy = policy_file::parse(POLICY, include_str!("init/policy.yaml"), Path::new(""))?;
    let scenario = Scenario::parse_under("first-request.yaml", include_str!("init/scenario.yaml"), policy)?;
    Ok(run_scenario(scenario)?.trace)
}

fn tell(folder: &Path, written: &[PathBuf], out: &mut impl Write) -> std::io::Result<()> {
    for path in written {
        writeln!(out, "  wrote  {}", path.display())?;
    }
    if folder != Path::new(".") {
        writeln!(out, "  enter  cd {}", files::quoted(folder))?;
    }
    writeln!(out, "  check  orchestrion check")?;
    writeln!(out, "  play   orchestrion run")?;
    writeln!(out, "  again  orchestrion replay")
}

#[cfg(test)]
mod tests;
