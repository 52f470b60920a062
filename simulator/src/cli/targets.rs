//! Inputs of a command: its arguments, or else the paths that the project file names.

use super::args::GlobalArgs;
use super::files;
use miette::{Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_project::{PolicyReference, Project};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Reads the project file: the one of `--config`, or the nearest in this folder or above it.
pub(super) fn project(global: &GlobalArgs) -> Result<Option<Project>> {
    Ok(match &global.config {
        Some(file) => Some(Project::read(file)?),
        None => Project::find()?,
    })
}

/// The policies of the project, the first of which is the project's policy.
#[derive(Debug)]
pub(super) struct ProjectPolicies {
    first: Policy,
    /// The others, each as the project file names it.
    others: Vec<(PolicyReference, Policy)>,
}

impl ProjectPolicies {
    /// Reads the policies of the project; `None` outside a project.
    pub(super) fn read(global: &GlobalArgs) -> Result<Option<Self>> {
        let Some(project) = project(global)? else { return Ok(None) };
        let mut policies = project.policies()?.into_iter();
        let first = policies.next().unwrap_or_else(Policy::hardened);
        let references = project.policy_references().into_iter().skip(1);
        Ok(Some(Self { first, others: references.zip(policies).collect() }))
    }

    /// The policy of scenarios that name none.
    pub(super) const fn first(&self) -> &Policy {
        &self.first
    }

    /// Returns the policy with this name, or the first one.
    pub(super) fn named_or_first(&self, name: &str) -> &Policy {
        self.named(name).map_or(&self.first, |(_, policy)| policy)
    }

    /// Returns the policy with this name, if it is not the first one.
    pub(super) fn named(&self, name: &str) -> Option<&(PolicyReference, Policy)> {
        self.others.iter().find(|(_, policy)| policy.name == name)
    }
}

/// Returns the policy of scenarios that name none: that of the project, or `hardened` outside a project.
pub(super) fn default_policy(global: &GlobalArgs) -> Result<Policy> {
    let policies = ProjectPolicies::read(global)?;
    Ok(policies.map_or_else(Policy::hardened, |policies| policies.first))
}

/// Returns the scenarios to run: the arguments or those of the project file, with those in and below folders.
pub(super) fn scenarios(arguments: &[PathBuf], global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    let mut scenarios = Vec::new();
    let paths = match arguments {
        [] => paths_of_project(global, "scenarios", "scenarios: [scenarios]", Project::scenarios)?,
        arguments => checked(arguments)?,
    };
    for path in paths {
        if !path.is_dir() {
            scenarios.push(path);
            continue;
        }
        let before = scenarios.len();
        files::walk_files(&path, &is_scenario, &mut scenarios).map_err(|error| miette!("{error}"))?;
        if scenarios.len() == before {
            return Err(miette!(
                help = "create one with `orchestrion promote TRACE NAME`, or name another folder",
                "{}: no scenario found: expected a file *.yaml in this folder or below it",
                path.display()
            ));
        }
    }
    // A scenario and its folder may both be named. A link is a scenario of its own: its golden trace is beside it.
    let mut seen = BTreeSet::new();
    scenarios.retain(|path| place(path).is_none_or(|place| seen.insert(place)));
    Ok(scenarios)
}

/// Returns the folder of a file without links, and its name.
fn place(path: &Path) -> Option<(PathBuf, OsString)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Some((folder.unwrap_or_else(|| Path::new(".")).canonicalize().ok()?, path.file_name()?.to_owned()))
}

/// Whether a file is a scenario; `promote` writes a policy beside the scenario that uses it.
fn is_scenario(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".yaml") && !name.ends_with(".policy.yaml")
}

/// Returns paths that a report can name.
fn checked(arguments: &[PathBuf]) -> Result<Vec<PathBuf>> {
    arguments.iter().try_for_each(|path| files::check_name(path)).map_err(|error| miette!("{error}"))?;
    Ok(arguments.to_vec())
}

/// Returns the traces to replay, and folders of traces.
pub(super) fn traces(arguments: &[PathBuf], global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    if arguments.is_empty() {
        paths_of_project(global, "traces", "traces: [scenarios]", Project::traces)
    } else {
        checked(arguments)
    }
}

/// Returns the files to lint: without arguments, the state machines of the project, or its claims if it has no machines.
pub(super) fn files_to_lint(arguments: &[PathBuf], global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    if arguments.is_empty() {
        paths_of_project(global, "machines or claims", "machines: [design.md]", |project| {
            let machines = project.machines();
            if machines.is_empty() { project.claims() } else { machines }
        })
    } else {
        checked(arguments)
    }
}

/// Returns the paths of this kind that the project file names. `example` is a line that names one.
fn paths_of_project(
    global: &GlobalArgs,
    kind: &str,
    example: &str,
    paths: fn(&Project) -> Vec<PathBuf>,
) -> Result<Vec<PathBuf>> {
    let Some(project) = project(global)? else {
        return Err(miette!(
            help = "name them as arguments, or create a project here with `orchestrion init`",
            "no {kind} given: there is no {} in this folder or above it",
            orchestrion_project::FILE
        ));
    };
    let paths = paths(&project);
    if paths.is_empty() {
        return Err(miette!(
            help = format!("add a line such as `{example}` to it, or name them as arguments"),
            "no {kind} given: {} names none",
            project.path().display()
        ));
    }
    Ok(paths)
}
