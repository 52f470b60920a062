//! `init`: creates the files of a new project.

use super::exit_status::ExitStatus;
use super::{files, keys, output};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::policy_file;
use orchestrion_scenario::run::run_scenario;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Create a project: a project file, a policy, claims, two scenarios with their traces, a trust network with its keys, and a CI file.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion init                  in this folder
  orchestrion init demo             in the folder demo, which is created

Files (if one of them exists, except .gitignore, none is written):
  orchestrion.yaml                        inputs of check, run and replay
  policies/team.yaml                      a policy that extends `hardened`
  claims.yaml                             what holds in every conversation
  scenarios/first-request.yaml, .ndjson   a scenario and its trace
  scenarios/in-network.yaml, .ndjson      a scenario whose calls nodes execute
  network.yaml                            the nodes, with their public keys
  keys/NODE.key                           the secret key of each node, for its
                                          owner only
  keys/.gitignore                         excludes the keys from version control
  .github/workflows/orchestrion.yaml      check, run --check and replay on
                                          every push
  .gitignore                              excludes .orchestrion/; an existing
                                          one is not changed

Example: add `redebate_below: 0.99` below `thresholds:` in policies/team.yaml.
`orchestrion run --check` then prints the first decision that changes, and the
expectations that are not met.

Scripted nodes sign with simulated keys. With `orchestrion run --stdio --keys
keys`, nodes sign handoffs with the keys of the folder. A key is replaced with
`orchestrion keys rotate`. No secret key is written to a trace.")]
pub(super) struct Args {
    /// Create the project in this folder.
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

const POLICY: &str = "policies/team.yaml";
const CLAIMS: &str = "claims.yaml";
const SCENARIO: &str = "scenarios/first-request.yaml";
const TRACE: &str = "scenarios/first-request.ndjson";
const NETWORK_SCENARIO: &str = "scenarios/in-network.yaml";
const NETWORK_TRACE: &str = "scenarios/in-network.ndjson";
const NETWORK: &str = "network.yaml";
const KEYS: &str = "keys";
const IGNORE_FILE: &str = ".gitignore";
/// The content of the ignore file: everything in its folder.
const IGNORE_ALL: &[u8] = b"# Secret keys.\n*\n";
/// The ignore file of the project: the results of the commands.
const IGNORE_RESULTS: &[u8] = b"# Traces and evidence that commands write.\n.orchestrion/\n";
const WORKFLOW: &str = ".github/workflows/orchestrion.yaml";

pub(super) fn run(args: &Args) -> Result<ExitStatus> {
    let written = create_project(&args.folder)?;
    print_report(&args.folder, &written, &mut output::plain_stdout()).into_diagnostic()?;
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
    let written: [(&str, &[u8]); 8] = [
        (orchestrion_project::FILE, include_bytes!("init/orchestrion.yaml")),
        (POLICY, include_bytes!("init/policy.yaml")),
        (CLAIMS, include_bytes!("init/claims.yaml")),
        (SCENARIO, include_bytes!("init/scenario.yaml")),
        (TRACE, &trace),
        (NETWORK, include_bytes!("init/network.yaml")),
        (NETWORK_SCENARIO, include_bytes!("init/network_scenario.yaml")),
        (WORKFLOW, include_bytes!("init/workflow.yaml")),
    ];
    let written = written.map(|(name, bytes)| (in_folder(folder, name), bytes));
    let network_files = [NETWORK_TRACE, KEYS].map(|name| in_folder(folder, name));
    let existing: Vec<String> = written
        .iter()
        .map(|(path, _)| path)
        .chain(&network_files)
        .filter(|path| path.symlink_metadata().is_ok())
        .map(|path| path.display().to_string())
        .collect();
    if !existing.is_empty() {
        return Err(miette!(
            help = "choose an empty or new folder, or move the files away",
            "no file was written: {} exists already and is not overwritten",
            existing.join(", ")
        ));
    }
    let ignore = in_folder(folder, IGNORE_FILE);
    let ignore = ignore.symlink_metadata().is_err().then_some((ignore, IGNORE_RESULTS));
    let written = written.into_iter().chain(ignore);
    let (mut written, added) = files::create_all(written, || add_network_files(folder, &network_files))?;
    written.extend(added);
    Ok(written)
}

/// Writes the files that follow from the network: the trace of its scenario, and the keys. No file of a failed call stays.
fn add_network_files(folder: &Path, [trace, keys]: &[PathBuf; 2]) -> Result<Vec<PathBuf>> {
    let result = run_scenario(Scenario::read(&in_folder(folder, NETWORK_SCENARIO))?)?;
    files::create_file(trace, &result.trace)?;
    let add = || {
        // The folder does not exist yet, so its permissions are those of a key folder.
        let mut added = keys::create_beside(&in_folder(folder, NETWORK))?;
        let ignored = keys.join(IGNORE_FILE);
        files::create_file(&ignored, IGNORE_ALL)?;
        added.splice(..0, [trace.clone()]);
        added.push(ignored);
        Ok(added)
    };
    add().inspect_err(|_| {
        // The first error is the one to report. The trace is ours, and no folder of keys existed before.
        let _ = fs::remove_file(trace);
        let _ = fs::remove_dir_all(keys);
    })
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
    let ignore = in_folder(folder, IGNORE_FILE);
    if !written.contains(&ignore) {
        writeln!(out, "  ignore   add the line `.orchestrion/` to {}", ignore.display())?;
    }
    if folder != Path::new(".") {
        writeln!(out, "  enter    cd {}", output::quoted(folder))?;
    }
    writeln!(out, "  check    orchestrion check")?;
    writeln!(out, "  run      orchestrion run --check")?;
    writeln!(out, "  replay   orchestrion replay")?;
    writeln!(out, "  network  orchestrion run {NETWORK_SCENARIO}")?;
    writeln!(out, "  keys     orchestrion keys rotate {NETWORK} ana")
}

#[cfg(test)]
mod tests;
