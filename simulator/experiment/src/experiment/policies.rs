//! The policies of an experiment: each named policy with each combination of the settings that vary.

use super::{Cell, POLICIES_MAX};
use crate::file::{ExperimentFile, GridFile};
use orchestrion_kernel::Policy;
use orchestrion_kernel::network::NetworkInput;
use orchestrion_network::{TRUST_SETTINGS, set_trust_policy};
use orchestrion_scenario::policy_file::{self, ValueList, combinations};
use orchestrion_yaml::{LabeledError, ReadError, Source, suggest_nearest};
use std::fmt::Display;
use std::path::Path;

/// A setting with its values.
struct Axis<'a> {
    file: &'a GridFile,
    owner: Owner,
    /// The path in the owner's file.
    path: String,
    values: Vec<String>,
}

/// Which policy contains a setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The policy of the kernel.
    Policy,
    /// The policy of the trust network.
    Network,
}

/// The prefix of settings of the trust network.
const NETWORK: &str = "network.";

impl Axis<'_> {
    /// Returns the path in an experiment file.
    fn full_path(&self) -> String {
        match self.owner {
            Owner::Policy => self.path.clone(),
            Owner::Network => format!("{NETWORK}{}", self.path),
        }
    }
}

/// Returns the paths of the settings that vary, and the policies.
pub(super) fn resolve(
    source: &Source,
    file: &ExperimentFile,
    network: Option<&NetworkInput>,
    base_dir: &Path,
) -> Result<(Vec<String>, Vec<Cell>), ReadError> {
    let in_source = |error| ReadError::in_source(source, error);
    check_size(file).map_err(in_source)?;
    let axes = file.grid.value.iter().map(axis).collect::<Result<Vec<Axis<'_>>, _>>().map_err(in_source)?;
    for (position, axis) in axes.iter().enumerate() {
        if axis.owner == Owner::Network && network.is_none() {
            let error = LabeledError::new(
                format!("setting {}: expected a network, found none", axis.full_path()),
                "add `network` with the path of a network file",
            );
            return Err(in_source(error.with_label(axis.file.setting.span(), "of the network")));
        }
        if axes.iter().take(position).any(|other| other.full_path() == axis.full_path()) {
            let error = LabeledError::new(
                format!("the setting {} varies twice", axis.full_path()),
                "list all of its values in one entry, separated by commas",
            );
            return Err(in_source(error.with_label(axis.file.setting.span(), "again")));
        }
    }
    let bases = policy_file::look_up_list(source, &file.policies.value, base_dir)?;
    // An empty list gives `hardened`, whose name is valid.
    for (policy, entry) in bases.iter().zip(&file.policies.value) {
        // The rows contain the name, and a spreadsheet calculates a field that starts so. Reports print it, and files have it as names.
        let is_formula = policy.name.starts_with(['=', '+', '-', '@']);
        if is_formula || policy.name.is_empty() || policy.name.contains(char::is_control) {
            let message = format!(
                "invalid name of a policy: expected a name without control characters and none of = + - @ first, found {:?}",
                policy.name
            );
            let error = LabeledError::new(message, "give the policy another name in its file");
            return Err(in_source(error.with_label(entry.span(), "this policy")));
        }
    }
    let mut cells = Vec::new();
    for base in &bases {
        for values in combinations(axes.iter().map(|axis| axis.values.as_slice())) {
            let policy = set(base, &axes, &values).map_err(in_source)?;
            let network = set_network(network, &axes, &values).map_err(in_source)?;
            let base = base.name.clone();
            cells.push(Cell { policy, network, base, values });
        }
    }
    Ok((axes.iter().map(Axis::full_path).collect(), cells))
}

/// Checks the number of policies before any of them is made.
fn check_size(file: &ExperimentFile) -> Result<(), LabeledError> {
    let mut count = u64::try_from(file.policies.value.len().max(1)).unwrap_or(u64::MAX);
    for entry in &file.grid.value {
        count = count.saturating_mul(value_list(entry)?.count());
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
    let name = file.setting.value.as_str();
    let found = match name.strip_prefix(NETWORK) {
        Some(path) => network_setting(path).map(|path| (Owner::Network, path)),
        None => policy_file::setting(name).map(|path| (Owner::Policy, path)),
    };
    let (owner, path) = found.map_err(|(message, help)| {
        LabeledError::new(message, help).with_label(file.setting.span(), "not a setting")
    })?;
    let values = value_list(file)?.values().map_err(|error| invalid_values(file, error))?;
    Ok(Axis { file, owner, path, values })
}

fn value_list(file: &GridFile) -> Result<ValueList, LabeledError> {
    ValueList::parse(file.values.value.as_str()).map_err(|error| invalid_values(file, error))
}

fn invalid_values(file: &GridFile, (message, help): (String, String)) -> LabeledError {
    LabeledError::new(message, help).with_label(file.values.span(), "these values")
}

/// Returns the path of a setting of the trust network, or a message and a help.
fn network_setting(name: &str) -> Result<String, (String, String)> {
    if TRUST_SETTINGS.contains(&name) {
        return Ok(name.to_owned());
    }
    let full: Vec<String> = TRUST_SETTINGS.iter().map(|path| format!("{NETWORK}{path}")).collect();
    let name = format!("{NETWORK}{}", name.escape_debug());
    let near = suggest_nearest(&name, full.iter().map(String::as_str));
    Err((
        format!("unknown setting `{name}`"),
        format!("{near}the settings of a network are {}", full.join(", ")),
    ))
}

/// Returns a policy with these values, under a name that contains them.
fn set(base: &Policy, axes: &[Axis<'_>], values: &[String]) -> Result<Policy, LabeledError> {
    if axes.is_empty() {
        return Ok(base.clone());
    }
    let name = format!("{} with {}", base.name, describe(axes, values));
    let settings = settings_of(Owner::Policy, axes, values);
    match policy_file::set(base, &name, &settings) {
        Ok(Ok(policy)) => Ok(policy),
        Ok(Err(contradiction)) => Err(contradictory(axes, values, &contradiction)),
        Err(error) => Err(unacceptable(axes, values, &error)),
    }
}

/// Returns the input that creates the network under a trust policy with these values.
fn set_network(
    network: Option<&NetworkInput>,
    axes: &[Axis<'_>],
    values: &[String],
) -> Result<Option<NetworkInput>, LabeledError> {
    let mut network = network.cloned();
    if let Some(NetworkInput::Create { policy, .. }) = &mut network {
        *policy = match set_trust_policy(policy, &settings_of(Owner::Network, axes, values)) {
            Ok(Ok(policy)) => policy,
            Ok(Err(contradiction)) => return Err(contradictory(axes, values, &contradiction)),
            Err(error) => return Err(unacceptable(axes, values, &error)),
        };
    }
    Ok(network)
}

/// Returns the settings of one owner, with their values.
fn settings_of(owner: Owner, axes: &[Axis<'_>], values: &[String]) -> Vec<(String, String)> {
    let owned = axes.iter().zip(values).filter(|(axis, _)| axis.owner == owner);
    owned.map(|(axis, value)| (axis.path.clone(), value.clone())).collect()
}

fn describe(axes: &[Axis<'_>], values: &[String]) -> String {
    let text = axes.iter().zip(values).map(|(axis, value)| format!("{}={value}", axis.full_path()));
    text.collect::<Vec<String>>().join(", ")
}

fn contradictory(axes: &[Axis<'_>], values: &[String], found: &impl Display) -> LabeledError {
    let message = format!("{}: {found}", describe(axes, values));
    label(axes, LabeledError::new(message, "remove the values that contradict other settings of the policy"))
}

fn unacceptable(axes: &[Axis<'_>], values: &[String], found: &ReadError) -> LabeledError {
    let message = format!("{}: {found}", describe(axes, values));
    label(axes, LabeledError::new(message, "write values that the setting accepts, as in a policy file"))
}

fn label(axes: &[Axis<'_>], error: LabeledError) -> LabeledError {
    axes.iter().fold(error, |error, axis| error.with_label(axis.file.values.span(), "these values"))
}
