//! Changes settings of a policy, by their paths in a policy file.

use super::format::{PolicyFile, settings};
use super::write::{quoted, write_settings};
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_yaml::{ReadError, Source, suggest_nearest};
use std::collections::BTreeMap;

/// Returns the path of a setting. `name` is the path, its last part, or `max_` and the last part of a bound.
///
/// # Errors
/// A message and a help for an unknown or ambiguous name.
pub fn setting(name: &str) -> Result<String, (String, String)> {
    let paths: Vec<String> = settings(&Policy::hardened()).into_iter().map(|setting| setting.path).collect();
    fn last(path: &str) -> &str {
        path.rsplit('.').next().unwrap_or_default()
    }
    let matches = |path: &&String| {
        **path == name
            || last(path) == name
            || path.starts_with("bounds.") && name.strip_prefix("max_") == Some(last(path))
    };
    let found: Vec<&String> = paths.iter().filter(matches).collect();
    match found.as_slice() {
        [path] => Ok((*path).clone()),
        [] => {
            let mut near = suggest_nearest(name, paths.iter().map(String::as_str));
            if near.is_empty() {
                near = suggest_nearest(name, paths.iter().map(|path| last(path)));
            }
            Err((
                format!("unknown setting `{}`", name.escape_debug()),
                format!("{near}the settings are {}", paths.join(", ")),
            ))
        }
        many => Err((
            format!("ambiguous setting `{name}`"),
            format!(
                "write the whole path: {}",
                many.iter().map(|path| &path[..]).collect::<Vec<_>>().join(" or ")
            ),
        )),
    }
}

/// Returns every setting of a policy by its path in a policy file, with its value as YAML.
#[must_use]
pub fn setting_values(policy: &Policy) -> Vec<(String, String)> {
    settings(policy).into_iter().map(|setting| (setting.path, setting.value)).collect()
}

/// A setting with its values in two policies, or in two networks, as YAML.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedSetting {
    /// The path of the setting in its file.
    pub path: String,
    /// The value in the first one; `None` if it has no such setting.
    pub before: Option<String>,
    /// The value in the second one; `None` if it has no such setting.
    pub after: Option<String>,
}

/// Returns the settings in which two policies differ, the name first.
#[must_use]
pub fn changed_settings(before: &Policy, after: &Policy) -> Vec<ChangedSetting> {
    let values = |policy: &Policy| {
        let name = ("name".to_owned(), quoted(&policy.name));
        let settings = settings(policy).into_iter().map(|setting| (setting.path, setting.value));
        std::iter::once(name).chain(settings).collect::<Vec<_>>()
    };
    changed_values(&values(before), &values(after))
}

/// Returns the paths whose values differ: those of the first list in its order, then those of the second one alone.
pub(crate) fn changed_values(before: &[(String, String)], after: &[(String, String)]) -> Vec<ChangedSetting> {
    fn by_path(values: &[(String, String)]) -> BTreeMap<&str, &str> {
        values.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect()
    }
    let (of_before, of_after) = (by_path(before), by_path(after));
    let added = after.iter().filter(|(path, _)| !of_before.contains_key(path.as_str()));
    let paths = before.iter().chain(added).map(|(path, _)| path);
    let value = |values: &BTreeMap<&str, &str>, path: &str| values.get(path).map(|value| (*value).to_owned());
    paths
        .map(|path| ChangedSetting {
            path: path.clone(),
            before: value(&of_before, path),
            after: value(&of_after, path),
        })
        .filter(|setting| setting.before != setting.after)
        .collect()
}

/// Returns the policy with these settings, by path, under this name; or the contradiction in it.
///
/// # Errors
/// [`ReadError`] for a value that the setting does not accept.
pub fn set(
    policy: &Policy,
    name: &str,
    changed: &[(String, String)],
) -> Result<Result<Policy, PolicyError>, ReadError> {
    let mut settings = settings(policy);
    for setting in &mut settings {
        if let Some((_, value)) = changed.iter().find(|(path, _)| *path == setting.path) {
            value.clone_into(&mut setting.value);
        }
    }
    let file: PolicyFile = Source::from_text(name, &write_settings(name, &settings))?.parse()?;
    let policy = file.apply_to(policy);
    Ok(policy.validate().map(|()| policy))
}
