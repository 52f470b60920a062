//! A policy with some settings changed, by their paths in a policy file.

use super::format::PolicyFile;
use super::write::{values, write_values};
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_yaml::{ReadError, Source, nearest};

/// The path of a setting that is called by it, by its last part, or, among the bounds, by that with `max_` before it.
///
/// # Errors
/// A message and a help if there is none.
pub fn setting(named: &str) -> Result<String, (String, String)> {
    let paths: Vec<String> = values(&Policy::hardened()).into_iter().map(|(path, _)| path).collect();
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let is_named = |path: &&String| {
        **path == named
            || last(path) == named
            || path.starts_with("bounds.") && named.strip_prefix("max_") == Some(&last(path))
    };
    let found: Vec<&String> = paths.iter().filter(is_named).collect();
    match found.as_slice() {
        [path] => Ok((*path).clone()),
        [] => {
            let words = paths.iter().map(String::as_str);
            let whole = nearest(named, words.clone());
            let shortened: Vec<String> = paths.iter().map(|path| last(path)).collect();
            let near =
                if whole.is_empty() { nearest(named, shortened.iter().map(String::as_str)) } else { whole };
            Err((
                format!("a policy has no setting `{}`", named.escape_debug()),
                format!("{near}the settings are {}", words.collect::<Vec<_>>().join(", ")),
            ))
        }
        several => Err((
            format!("`{named}` may be one of several settings"),
            format!(
                "write the whole path: {}",
                several.iter().map(|path| &path[..]).collect::<Vec<_>>().join(" or ")
            ),
        )),
    }
}

/// A policy with other values at some paths, under a name of its own; or why it contradicts itself.
///
/// # Errors
/// A [`ReadError`], drawn in the policy's file form, for a value that the setting does not take.
pub fn set(
    policy: &Policy,
    name: &str,
    changed: &[(String, String)],
) -> Result<Result<Policy, PolicyError>, ReadError> {
    let mut values = values(policy);
    for (path, value) in &mut values {
        if let Some((_, other)) = changed.iter().find(|(changed, _)| changed == path) {
            other.clone_into(value);
        }
    }
    let file: PolicyFile = Source::from_text(name, &write_values(name, values))?.parse()?;
    let policy = file.over(policy);
    Ok(policy.validate().map(|()| policy))
}
