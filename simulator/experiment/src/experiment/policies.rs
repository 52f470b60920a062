//! The policies of an experiment: each named policy with each combination of the settings that vary.

use super::{Cell, POLICIES_MAX};
use crate::file::{ExperimentFile, GridFile, parse_values, value_count};
use orchestrion_kernel::Policy;
use orchestrion_scenario::policy_file;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use std::path::Path;

/// A setting with its values.
struct Axis<'a> {
    file: &'a GridFile,
    path: String,
    values: Vec<String>,
}

/// Returns the paths of the settings that vary, and the policies.
pub(super) fn resolve(
    source: &Source,
    file: &ExperimentFile,
    base_dir: &Path,
) -> Result<(Vec<String>, Vec<Cell>), ReadError> {
    let in_source = |error| ReadError::in_source(source, error);
    check_size(file).map_err(in_source)?;
    let axes = file.grid.value.iter().map(axis).collect::<Result<Vec<Axis<'_>>, _>>().map_err(in_source)?;
    for (position, axis) in axes.iter().enumerate() {
        if axes.iter().take(position).any(|other| other.path == axis.path) {
            let error = LabeledError::new(
                format!("the setting {} varies twice", axis.path),
                "list all of its values in one entry, separated by commas",
            );
            return Err(in_source(error.with_label(axis.file.setting.span(), "again")));
        }
    }
    let mut bases = Vec::new();
    for name in &file.policies.value {
        let found = policy_file::look_up(name.value.as_str(), base_dir);
        bases.push(found.map_err(|error| error.into_read_error(source, name.span(), "named here"))?);
    }
    if bases.is_empty() {
        bases.push(Policy::hardened());
    }
    let mut cells = Vec::new();
    for base in &bases {
        for values in combinations(&axes) {
            let policy = set(base, &axes, &values).map_err(in_source)?;
            let base = base.name.clone();
            cells.push(Cell { policy, base, values });
        }
    }
    Ok((axes.into_iter().map(|axis| axis.path).collect(), cells))
}

/// Checks the number of policies before any of them is made.
fn check_size(file: &ExperimentFile) -> Result<(), LabeledError> {
    let mut count = u64::try_from(file.policies.value.len().max(1)).unwrap_or(u64::MAX);
    for entry in &file.grid.value {
        let values = value_count(entry.values.value.as_str())
            .map_err(|error| error.with_label(entry.values.span(), "these values"))?;
        count = count.saturating_mul(values);
    }
    if count > POLICIES_MAX {
        return Err(LabeledError::new(
            format!("too many policies: expected at most {POLICIES_MAX}, found {count}"),
            "vary fewer settings, or write larger steps",
        )
        .with_label(file.grid.span(), format!("{count} combinations")));
    }
    Ok(())
}

fn axis(file: &GridFile) -> Result<Axis<'_>, LabeledError> {
    let path = policy_file::setting(file.setting.value.as_str()).map_err(|(message, help)| {
        LabeledError::new(message, help).with_label(file.setting.span(), "not a setting")
    })?;
    let values = parse_values(file.values.value.as_str())
        .map_err(|error| error.with_label(file.values.span(), "these values"))?;
    Ok(Axis { file, path, values })
}

/// Returns every combination of values; the last setting varies fastest.
fn combinations(axes: &[Axis<'_>]) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let extend = |prefix: &Vec<String>| {
            let with = |value: &String| prefix.iter().chain([value]).cloned().collect();
            axis.values.iter().map(with).collect::<Vec<Vec<String>>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// Returns a policy with these values, under a name that contains them.
fn set(base: &Policy, axes: &[Axis<'_>], values: &[String]) -> Result<Policy, LabeledError> {
    if axes.is_empty() {
        return Ok(base.clone());
    }
    let settings: Vec<(String, String)> =
        axes.iter().map(|axis| axis.path.clone()).zip(values.iter().cloned()).collect();
    let text: Vec<String> = settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
    let text = text.join(", ");
    let name = format!("{} with {text}", base.name);
    let label = |error: LabeledError| {
        axes.iter().fold(error, |error, axis| error.with_label(axis.file.values.span(), "these values"))
    };
    match policy_file::set(base, &name, &settings) {
        Ok(Ok(policy)) => Ok(policy),
        Ok(Err(contradiction)) => Err(label(LabeledError::new(
            format!("{text}: {contradiction}"),
            "remove the values that contradict other settings of the policy",
        ))),
        Err(error) => Err(label(LabeledError::new(
            format!("{text}: {error}"),
            "write values that the setting accepts, as in a policy file",
        ))),
    }
}
