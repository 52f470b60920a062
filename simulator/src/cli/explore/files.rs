//! The files of an experiment: its result, and its rows.

use crate::cli::{files, output};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use orchestrion_experiment::{Experiment, Shard, Summary};
use orchestrion_files::FileKind;
use orchestrion_files::limits::{RESULT_FILE_BYTES_MAX, RESULT_FILE_VALUES_MAX};
use orchestrion_report::text::sanitize;
use orchestrion_trace::json_values;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The result of an experiment. A later run of the same part replaces it.
pub(super) const RESULT: FileKind = FileKind {
    name: "the result of an experiment",
    is_start: |start| start.starts_with(b"{\n  \"format\": \"orchestrion-experiment/"),
    last_line: None,
};

/// Returns the path of the result of a part, without its extension.
pub(super) fn stem(folder: &Path, experiment: &str, shard: Shard) -> PathBuf {
    match shard {
        Shard { count: 1, .. } => folder.join(experiment),
        Shard { index, count } => folder.join(format!("{experiment}.{index}-of-{count}")),
    }
}

/// Adds an extension to a path.
pub(super) fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}

/// Reads a result.
///
/// # Errors
/// The file cannot be read, or is no result.
pub(super) fn read(path: &Path) -> Result<Summary> {
    let shown = sanitize(&path.display().to_string());
    let bytes = orchestrion_files::read(path, RESULT_FILE_BYTES_MAX)
        .into_diagnostic()
        .wrap_err_with(|| format!("{shown}: unreadable result"))?;
    Summary::from_json(&bytes)
        .map_err(|error| miette!(help = error.help(), "{shown}: {}", sanitize(&error.to_string())))
}

/// Replaces the file of a result.
pub(super) fn write(path: &Path, summary: &Summary) -> Result<()> {
    let json = summary.to_json().into_diagnostic()?;
    files::replace_with(path, &RESULT, |file| file.write_all(json.as_bytes()))?;
    let (bytes, values) = (json.len(), json_values(json.as_bytes()));
    if values > RESULT_FILE_VALUES_MAX || bytes as u64 > RESULT_FILE_BYTES_MAX {
        output::print_error(&format!(
            "{}: larger than what `explore merge` and `explore report` read: {bytes} bytes with {values} values and keys; run fewer \
             policies at once",
            path.display()
        ));
    }
    Ok(())
}

/// A difference between a result and an experiment.
pub(super) struct Difference {
    /// What differs.
    pub(super) subject: String,
    /// Its value in the result.
    pub(super) in_result: String,
    /// Its value in the experiment.
    pub(super) in_experiment: String,
}

/// Returns the first difference of settings, requests and policies; `None` if the result can be one of the experiment.
///
/// The digests are not compared: they also depend on the number of runs, the seed and the version of the program.
pub(super) fn difference(summary: &Summary, experiment: &Experiment) -> Option<Difference> {
    let compare = |subject: &str, in_result: String, in_experiment: String| {
        let differs = in_result != in_experiment;
        differs.then(|| Difference { subject: subject.to_owned(), in_result, in_experiment })
    };
    let number = |policies: usize| policies.to_string();
    let policies = || {
        let mut pairs = summary.policies.iter().zip(&experiment.policies).enumerate();
        pairs.find_map(|(position, (found, cell))| {
            compare(&format!("policy {}", position + 1), found.policy.clone(), cell.policy.name.clone())
        })
    };
    compare("settings", names(&summary.settings), names(&experiment.settings))
        .or_else(|| compare("requests", summary.requests.to_string(), experiment.world.requests.to_string()))
        .or_else(|| compare("policies", number(summary.policies.len()), number(experiment.policies.len())))
        .or_else(policies)
}

fn names(settings: &[String]) -> String {
    if settings.is_empty() { "none".to_owned() } else { settings.join(", ") }
}

/// Returns the name without characters that separate folders.
pub(super) fn file_name(experiment: &str) -> String {
    experiment.replace(['/', '\\'], "-")
}
