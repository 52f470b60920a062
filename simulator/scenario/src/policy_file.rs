//! Policy files: the settings that differ from an extended policy.
//!
//! The resulting policy is validated. The error for a contradiction labels both settings, or names the policy from which a
//! setting is inherited.

mod format;
mod meanings;
mod set;
mod value_list;
mod write;

pub use format::{
    AdditionalDebaterFile, BoundFile, BoundsFile, ByName, CompactionFile, ContextsFile, EnumName, ModeFile,
    ModuleOverrideFile, NamedEnum, PolicyFile, RulesFile, SituationFile, ThresholdsFile, WeightsFile,
    WritesFile,
};
pub(crate) use set::changed_values;
pub use set::{ChangedSetting, changed_settings, set, setting, setting_values};
pub use value_list::{ValueList, combinations};
pub use write::write;

use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_text::PolicyMeasure;
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, schema_of, suggest_nearest};
use std::path::{Path, PathBuf};

/// The names of the built-in policies.
pub const BUILT_IN: [&str; 2] = ["as-drawn", "hardened"];

/// The maximum length of a chain of policy files that extend each other.
const CHAIN_MAX: usize = 32;

/// Reads a policy file and the files that it extends.
///
/// # Errors
/// [`ReadError`] if a file cannot be opened, is too large, is not a valid policy, contains a contradiction, or extends
/// itself.
pub fn read(path: &Path) -> Result<Policy, ReadError> {
    read_chained(path, &mut Vec::new())
}

/// Parses a policy. `name` is the file name for errors; the path of an extended policy is relative to `base_dir`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, text: &str, base_dir: &Path) -> Result<Policy, ReadError> {
    extend_base(&Source::from_text(name, text)?, base_dir, &mut Vec::new())
}

/// Returns the built-in policy with this name, or reads the policy file at this path relative to `base_dir`.
///
/// # Errors
/// As [`read`], and for an unknown name.
pub fn resolve(name_or_path: &str, base_dir: &Path) -> Result<Policy, ReadError> {
    look_up(name_or_path, base_dir).map_err(|error| match error {
        LookupError::Reference(error) => error.into_file_error(),
        LookupError::File(error) => error,
    })
}

/// Returns the JSON Schema of policy files.
#[must_use]
pub fn policy_schema() -> serde_json::Value {
    schema_of::<PolicyFile>("Orchestrion policy")
}

/// A failed lookup of a policy.
pub(crate) enum LookupError {
    /// No policy has this name or path.
    Reference(LabeledError),
    /// The policy file is invalid.
    File(ReadError),
}

impl LookupError {
    /// Returns the error with the place where the policy is named, or the error of the policy file.
    pub(crate) fn into_read_error(self, source: &Source, span: Option<SourceSpan>, label: &str) -> ReadError {
        match self {
            Self::Reference(error) => ReadError::in_source(source, error.with_label(span, label)),
            Self::File(error) => error,
        }
    }
}

/// Looks up a policy by name or path.
///
/// # Errors
/// [`LookupError`].
pub(crate) fn look_up(name_or_path: &str, base_dir: &Path) -> Result<Policy, LookupError> {
    look_up_chained(name_or_path, base_dir, &mut Vec::new())
}

/// Looks up the policies that a file lists, relative to its folder; `hardened` if it lists none.
///
/// # Errors
/// [`ReadError`] for a policy that is not valid, and for two policies with the same name.
pub fn look_up_list<'a>(
    source: &Source,
    list: impl IntoIterator<Item = &'a Spanned<StrictText>>,
    base_dir: &Path,
) -> Result<Vec<Policy>, ReadError> {
    let (mut policies, mut places): (Vec<Policy>, Vec<_>) = (Vec::new(), Vec::new());
    for entry in list {
        let policy = look_up(entry.value.as_str(), base_dir)
            .map_err(|error| error.into_read_error(source, entry.span(), "named here"))?;
        if let Some(first) = policies.iter().position(|other| other.name == policy.name) {
            let error = LabeledError::new(
                format!("duplicate policy name `{}`", policy.name.escape_debug()),
                "remove one of the two, or rename it in its file",
            );
            let error = error.with_label(places[first], "first").with_label(entry.span(), "second");
            return Err(ReadError::in_source(source, error));
        }
        policies.push(policy);
        places.push(entry.span());
    }
    if policies.is_empty() {
        policies.push(Policy::hardened());
    }
    Ok(policies)
}

fn look_up_chained(
    name_or_path: &str,
    base_dir: &Path,
    chain: &mut Vec<PathBuf>,
) -> Result<Policy, LookupError> {
    if let Some(policy) = Policy::built_in(name_or_path) {
        return Ok(policy);
    }
    let shown = name_or_path.escape_debug();
    let path = base_dir.join(name_or_path);
    if !path.is_file() {
        let near = suggest_nearest(name_or_path, BUILT_IN);
        let names = BUILT_IN.join(", ");
        return Err(LookupError::Reference(LabeledError::new(
            format!("unknown policy `{shown}`: expected a built-in policy or a file"),
            format!("{near}write one of {names}, or the path of a policy file relative to this file"),
        )));
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if chain.contains(&real) {
        return Err(LookupError::Reference(LabeledError::new(
            format!("cyclic `extends`: the policies lead back to `{shown}`"),
            "extend a built-in policy in one of them: as-drawn or hardened",
        )));
    }
    read_chained(&path, chain).map_err(LookupError::File)
}

fn read_chained(path: &Path, chain: &mut Vec<PathBuf>) -> Result<Policy, ReadError> {
    if chain.len() >= CHAIN_MAX {
        return Err(ReadError::for_file(
            format!("`extends` chain too long: expected at most {CHAIN_MAX} policies"),
            "extend a built-in policy in one of them: as-drawn or hardened",
        ));
    }
    chain.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    extend_base(&Source::read(path)?, path.parent().unwrap_or_else(|| Path::new("")), chain)
}

/// Applies a file to the policy that it extends, and validates the result.
fn extend_base(source: &Source, base_dir: &Path, chain: &mut Vec<PathBuf>) -> Result<Policy, ReadError> {
    let file: PolicyFile = source.parse()?;
    let base = match &file.extends {
        None => Policy::hardened(),
        Some(base) => look_up_chained(base.value.as_str(), base_dir, chain)
            .map_err(|error| error.into_read_error(source, base.span(), "extended here"))?,
    };
    let policy = file.apply_to(&base);
    policy
        .validate()
        .map_err(|error| ReadError::in_source(source, contradiction(&file, &base, &policy, error)))?;
    if let Err(unavailable) = PolicyMeasure::from_policy(&policy) {
        let message = format!("tokenizer {} is not compiled in", unavailable.0.name());
        let error = LabeledError::new(message, TokenizerUnavailable::HELP);
        return Err(ReadError::in_source(
            source,
            error.with_label(file.span("contexts.tokenizer"), "unavailable"),
        ));
    }
    if Policy::built_in(&policy.name).is_some_and(|built_in| built_in != policy) {
        let error = LabeledError::new(
            format!("`{}` is the name of a built-in policy with other settings", policy.name),
            "choose another name, so that reports and traces are unambiguous",
        );
        return Err(ReadError::in_source(source, error.with_label(file.name.span(), "taken")));
    }
    Ok(policy)
}

/// Returns the error for a contradiction, with labels for the file's settings and a help for the inherited ones.
fn contradiction(file: &PolicyFile, base: &Policy, policy: &Policy, found: PolicyError) -> LabeledError {
    let paths = [Some(found.setting), found.conflicts_with].into_iter().flatten();
    let settings = format::settings(policy);
    let value = |path: &str| {
        let known = settings.iter().find(|setting| setting.path == path);
        known.map_or_else(|| path.to_owned(), |setting| format!("{path} is {}", setting.value))
    };
    let mut inherited = Vec::new();
    let mut labels = Vec::new();
    for path in paths {
        match file.span(path) {
            Some(span) => labels.push((span, value(path))),
            None => inherited.push(format!(
                "{}, inherited from `{}`; set it in this file to change it",
                value(path),
                base.name.escape_debug(),
            )),
        }
    }
    let help = match (inherited.is_empty(), labels.len()) {
        (true, 0 | 1) => "change this setting".to_owned(),
        (true, _) => "change one of the settings".to_owned(),
        (false, _) => inherited.join(". "),
    };
    labels.into_iter().fold(LabeledError::new(found.to_string(), help), |error, (span, label)| {
        error.with_label(span, label)
    })
}

#[cfg(test)]
mod tests;
