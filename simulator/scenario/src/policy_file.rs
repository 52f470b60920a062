//! Policy files: what a policy sets differently from the one that it extends.
//!
//! A file is laid over its base, and the whole must make sense: a contradiction is drawn at both settings, or
//! says from where a setting that the file does not have was inherited.

mod format;
mod set;
mod write;

pub use format::{
    BoundFile, BoundsFile, EnumName, NamedEnum, PolicyFile, RulesFile, ThresholdsFile, WeightsFile,
};
pub use set::{set, setting};
pub use write::write;

use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_kernel::policy::PolicyError;
use orchestrion_text::PolicyMeasure;
use orchestrion_yaml::{LabeledError, ReadError, Source, nearest, schema_of};
use std::path::{Path, PathBuf};

/// The names of the built-in policies.
pub const BUILT_IN: [&str; 2] = ["as-drawn", "hardened"];

/// How many policy files may extend each other in a row.
const CHAIN_MAX: usize = 32;

/// Reads a policy file, and those that it extends.
///
/// # Errors
/// [`ReadError`] for a file that cannot be opened, is too large, is no policy, contradicts itself, or extends
/// itself in a circle.
pub fn read(path: &Path) -> Result<Policy, ReadError> {
    read_chained(path, &mut Vec::new())
}

/// Reads a policy from text. `name` is the file name that errors show; a policy that it extends by path is
/// looked up from `base_dir`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, text: &str, base_dir: &Path) -> Result<Policy, ReadError> {
    extend_base(&Source::from_text(name, text)?, base_dir, &mut Vec::new())
}

/// The built-in policy of this name, or the policy in the file of this path, looked up from `base_dir`.
///
/// # Errors
/// As [`read`], and for a name that no built-in policy has.
pub fn resolve(name_or_path: &str, base_dir: &Path) -> Result<Policy, ReadError> {
    look_up(name_or_path, base_dir).map_err(|problem| match problem {
        LookupError::Reference { message, help } => ReadError::for_file(message, help),
        LookupError::File(error) => error,
    })
}

/// The JSON Schema of policy files.
#[must_use]
pub fn policy_schema() -> serde_json::Value {
    schema_of::<PolicyFile>("Orchestrion policy")
}

/// Why a policy that something names could not be had.
pub enum LookupError {
    /// The name or path leads nowhere.
    Reference { message: String, help: String },
    /// The file that it leads to has a fault of its own.
    File(ReadError),
}

impl LookupError {
    /// The problem, drawn where the policy is named, unless the named file draws its own.
    pub fn drawn_in(self, source: &Source, span: Option<SourceSpan>, label: &str) -> ReadError {
        match self {
            Self::Reference { message, help } => {
                ReadError::in_source(source, LabeledError::new(message, help).at(span, label))
            }
            Self::File(error) => error,
        }
    }
}

/// Looks a policy up by name or path.
pub fn look_up(name_or_path: &str, base_dir: &Path) -> Result<Policy, LookupError> {
    look_up_chained(name_or_path, base_dir, &mut Vec::new())
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
        let near = nearest(name_or_path, BUILT_IN);
        return Err(LookupError::Reference {
            message: format!("there is no policy `{shown}`: neither a built-in one nor a file"),
            help: format!(
                "{near}expected one of {}, or the path of a policy file, relative to this one's folder",
                BUILT_IN.join(", "),
            ),
        });
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.clone());
    if chain.contains(&real) {
        return Err(LookupError::Reference {
            message: format!("the policies extend each other in a circle, back to `{shown}`"),
            help: "let one of them extend a built-in policy: as-drawn or hardened".into(),
        });
    }
    read_chained(&path, chain).map_err(LookupError::File)
}

fn read_chained(path: &Path, chain: &mut Vec<PathBuf>) -> Result<Policy, ReadError> {
    if chain.len() >= CHAIN_MAX {
        return Err(ReadError::for_file(
            format!("more than {CHAIN_MAX} policies extend each other"),
            "let one of them extend a built-in policy: as-drawn or hardened",
        ));
    }
    chain.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    extend_base(&Source::read(path)?, path.parent().unwrap_or_else(|| Path::new("")), chain)
}

/// Lays a file over the policy that it extends.
fn extend_base(source: &Source, base_dir: &Path, chain: &mut Vec<PathBuf>) -> Result<Policy, ReadError> {
    let file: PolicyFile = source.parse()?;
    let base = match &file.extends {
        None => Policy::hardened(),
        Some(base) => look_up_chained(base.value.as_str(), base_dir, chain)
            .map_err(|problem| problem.drawn_in(source, base.span(), "extended here"))?,
    };
    let policy = file.over(&base);
    policy.validate().map_err(|contradiction| {
        ReadError::in_source(source, contradicts(&file, &base, &policy, contradiction))
    })?;
    if let Err(not_built_in) = PolicyMeasure::of(&policy) {
        let problem = format!("tokenizer {} is not part of this program", not_built_in.0.name());
        let fault = LabeledError::new(problem, TokenizerUnavailable::HELP);
        return Err(ReadError::in_source(source, fault.at(file.span("contexts.tokenizer"), "not built in")));
    }
    if Policy::built_in(&policy.name).is_some_and(|built_in| built_in != policy) {
        let fault = LabeledError::new(
            format!("`{}` is the name of a built-in policy, and this is another one", policy.name),
            "give it a name of its own, or reports and traces would mislead",
        );
        return Err(ReadError::in_source(source, fault.at(file.name.span(), "taken")));
    }
    Ok(policy)
}

/// A contradiction, at the settings that the file has; of the others it says where they came from.
fn contradicts(file: &PolicyFile, base: &Policy, policy: &Policy, found: PolicyError) -> LabeledError {
    let settings = [Some(found.setting), found.conflicts_with].into_iter().flatten();
    let values = write::values(policy);
    let value = |setting: &str| {
        let known = values.iter().find(|(path, _)| path == setting);
        known.map_or_else(|| setting.to_owned(), |(path, value)| format!("{path} is {value}"))
    };
    let mut inherited = Vec::new();
    let mut places = Vec::new();
    for setting in settings {
        match file.span(setting) {
            Some(span) => places.push((span, value(setting))),
            None => inherited.push(format!(
                "{}, inherited from `{}`; set it in this file to change it",
                value(setting),
                base.name.escape_debug(),
            )),
        }
    }
    let help = match (inherited.is_empty(), places.len()) {
        (true, 0 | 1) => "change it".to_owned(),
        (true, _) => "change one of them".to_owned(),
        (false, _) => inherited.join(". "),
    };
    places
        .into_iter()
        .fold(LabeledError::new(found.to_string(), help), |fault, (span, label)| fault.at(span, label))
}

#[cfg(test)]
mod tests;
