//! Changes settings of a policy, by their paths in a policy file.

use super::format::{PolicyFile, settings};
use super::write::write_settings;
use orchestrion_kernel::Policy;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_yaml::{ReadError, Source, suggest_nearest};

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
