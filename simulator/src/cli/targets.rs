//! What a verb is about: what its arguments name, or else what the project file does.

use super::{GlobalArgs, files};
use crate::project::{self, Project};
use miette::{Result, miette};
use std::path::{Path, PathBuf};

/// The project file: the one that --config names, or else the nearest from here upwards.
pub(super) fn project(global: &GlobalArgs) -> Result<Option<Project>> {
    Ok(match &global.config {
        Some(file) => Some(Project::read(file)?),
        None => Project::find()?,
    })
}

/// The scenarios to play.
pub(super) fn scenarios(named: &[PathBuf], global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let mut scenarios = Vec::new();
    for path in of_project(global, "scenarios", Project::scenarios)? {
        if !path.is_dir() {
            scenarios.push(path);
            continue;
        }
        let before = scenarios.len();
        files::walk_files(&path, &is_scenario, &mut scenarios).map_err(|error| miette!("{error}"))?;
        if scenarios.len() == before {
            return Err(miette!(
                help = "keep one there with: orchestrion promote TRACE NAME, or remove the folder from the project file",
                "{}: no scenario in this folder; expected a file *.yaml in it or below it",
                path.display()
            ));
        }
    }
    Ok(scenarios)
}

/// A policy that was kept beside the scenario that names it is no scenario.
fn is_scenario(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".yaml") && !name.ends_with(".policy.yaml")
}

/// The traces to decide again, and folders of them.
pub(super) fn traces(named: &[PathBuf], global: &GlobalArgs) -> Result<Vec<PathBuf>> {
    if named.is_empty() { of_project(global, "traces", Project::traces) } else { Ok(named.to_vec()) }
}

fn of_project(global: &GlobalArgs, key: &str, paths: fn(&Project) -> Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let Some(project) = project(global)? else {
        return Err(miette!(
            help = "name some behind the verb, or begin a project here with: orchestrion init",
            "no {key} are named, and there is no {} here or in a folder above",
            project::FILE
        ));
    };
    let paths = paths(&project);
    if paths.is_empty() {
        return Err(miette!(
            help = format!("add a line such as `{key}: [scenarios]` to it, or name some behind the verb"),
            "no {key} are named, neither here nor in {}",
            project.path().display()
        ));
    }
    Ok(paths)
}
