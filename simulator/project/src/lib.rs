//! Project files: the default inputs of `check`, `run`, `replay` and `lint`.
//!
//! A project file is searched in the current folder and those above it. Every path in it must exist: a missing path is an error,
//! so that a check never covers less than the file states. [`scope_file`] reads the scope that a project file names.

mod format;
pub mod scope_file;

pub use format::{Day, ProjectFile, WaiverFile};

use crate::scope_file::ScopeChoice;
use jiff::civil::Date;
use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_scenario::policy_file::{BUILT_IN, look_up_list};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, schema_of, suggest_nearest};
use std::path::{Path, PathBuf};

/// Name of the project file.
pub const FILE: &str = "orchestrion.yaml";

/// Project file whose paths exist. Its policies are read by [`Project::policies`].
#[derive(Debug)]
pub struct Project {
    path: PathBuf,
    source: Source,
    file: ProjectFile,
}

/// A policy as the project file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyReference {
    /// A built-in policy.
    BuiltIn(String),
    /// A policy file.
    File(PathBuf),
}

/// Permission for a claim to fail or be vacuous until a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// Id of the claim.
    pub claim: &'static str,
    /// Name of the policy; `None` for every policy of the project.
    pub policy: Option<String>,
    /// Reason.
    pub reason: String,
    /// Last day, in UTC.
    pub until: Date,
    /// Source location: file and line.
    pub location: String,
}

impl Waiver {
    /// Whether the waiver covers a claim under the policy with this name.
    #[must_use]
    pub fn covers(&self, claim: &str, policy: &str) -> bool {
        self.claim == claim && self.policy.as_deref().is_none_or(|name| name == policy)
    }
}

impl Project {
    /// Reads the project file of the current folder, or of the nearest folder above it that has one. Returns `None` without one.
    /// Paths remain relative.
    ///
    /// # Errors
    /// As [`Project::read`].
    pub fn find() -> Result<Option<Self>, ReadError> {
        let depth = std::env::current_dir().map_or(1, |here| here.ancestors().count());
        let folders =
            std::iter::successors(Some(PathBuf::new()), |folder| Some(Path::new("..").join(folder)));
        let mut files = folders.take(depth).map(|folder| folder.join(FILE));
        files.find(|file| file.symlink_metadata().is_ok()).map(|file| Self::read(&file)).transpose()
    }

    /// Reads a project file.
    ///
    /// # Errors
    /// [`ReadError`] for a file that cannot be opened, is too large or not valid, or contains a path that does not exist.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Self::from_source(path, Source::read(path)?)
    }

    /// Parses a project file. Its paths are relative to the folder of `path`, which is also its name in errors.
    ///
    /// # Errors
    /// As [`Project::read`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ReadError> {
        Self::from_source(path, Source::from_text(&path.display().to_string(), text)?)
    }

    fn from_source(path: &Path, source: Source) -> Result<Self, ReadError> {
        let project = Self { path: path.to_owned(), file: source.parse()?, source };
        project.validate().map_err(|error| ReadError::in_source(&project.source, error))?;
        Ok(project)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the policies of the project; `hardened` if the file names none.
    ///
    /// # Errors
    /// [`ReadError`] for a policy that is not valid, for two policies with the same name, and for a waiver of another policy.
    pub fn policies(&self) -> Result<Vec<Policy>, ReadError> {
        let list = self.file.policies.iter().flat_map(|list| &list.value);
        let policies = look_up_list(&self.source, list, self.folder())?;
        self.validate_waived_policies(&policies)
            .map_err(|error| ReadError::in_source(&self.source, error))?;
        Ok(policies)
    }

    /// Returns the policies as the file names them, built-in names unchanged and paths with the folder of the file.
    #[must_use]
    pub fn policy_references(&self) -> Vec<PolicyReference> {
        let reference = |entry: &Spanned<StrictText>| match entry.value.as_str() {
            name if BUILT_IN.contains(&name) => PolicyReference::BuiltIn(name.to_owned()),
            path => PolicyReference::File(self.folder().join(path)),
        };
        self.file.policies.iter().flat_map(|list| &list.value).map(reference).collect()
    }

    /// Returns the file that states each policy: its own, or this file for a built-in one.
    #[must_use]
    pub fn policy_files(&self) -> Vec<PathBuf> {
        let references = self.policy_references();
        let files = references.into_iter().map(|reference| match reference {
            PolicyReference::BuiltIn(_) => self.path.clone(),
            PolicyReference::File(path) => path,
        });
        let mut files: Vec<PathBuf> = files.collect();
        if files.is_empty() {
            files.push(self.path.clone());
        }
        files
    }

    /// Returns the scope of the models, if the file sets one.
    ///
    /// # Errors
    /// [`ReadError`] for a scope file that is not valid.
    pub fn scope(&self) -> Result<Option<ScopeChoice>, ReadError> {
        let scope = self.file.scope.as_ref();
        scope.map(|scope| ScopeChoice::resolve(scope.value.as_str(), self.folder())).transpose()
    }

    /// Returns the files and folders of scenarios.
    #[must_use]
    pub fn scenarios(&self) -> Vec<PathBuf> {
        self.paths(self.file.scenarios.as_ref())
    }

    /// Returns the files and folders of recorded traces.
    #[must_use]
    pub fn traces(&self) -> Vec<PathBuf> {
        self.paths(self.file.traces.as_ref())
    }

    /// Returns the claim files.
    #[must_use]
    pub fn claims(&self) -> Vec<PathBuf> {
        self.paths(self.file.claims.as_ref())
    }

    /// Returns the files of state machines.
    #[must_use]
    pub fn machines(&self) -> Vec<PathBuf> {
        self.paths(self.file.machines.as_ref())
    }

    /// Returns the waivers, in the order of the file.
    #[must_use]
    pub fn waivers(&self) -> Vec<Waiver> {
        let waiver = |file: &Spanned<WaiverFile>| {
            let WaiverFile { claim, policy, reason, until } = &file.value;
            let line = claim.span().map_or(1, |span| self.line(span));
            Waiver {
                claim: claim.value.0,
                policy: policy.as_ref().map(|policy| policy.value.as_str().to_owned()),
                reason: reason.value.as_str().trim().to_owned(),
                until: until.0,
                location: format!("{}:{line}", self.path.display()),
            }
        };
        self.file.waivers.iter().flatten().map(waiver).collect()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }

    fn paths(&self, list: Option<&Spanned<Vec<Spanned<StrictText>>>>) -> Vec<PathBuf> {
        let entries = list.into_iter().flat_map(|list| &list.value);
        entries.map(|path| self.folder().join(path.value.as_str())).collect()
    }

    /// Returns the line of a span, from 1.
    fn line(&self, span: SourceSpan) -> usize {
        let before = self.source.text().bytes().take(span.offset());
        before.filter(|byte| *byte == b'\n').count().saturating_add(1)
    }

    fn validate(&self) -> Result<(), LabeledError> {
        let ProjectFile { policies, scope, scenarios, traces, claims, machines, waivers } = &self.file;
        for (key, list) in [
            ("policies", policies),
            ("scenarios", scenarios),
            ("traces", traces),
            ("claims", claims),
            ("machines", machines),
        ] {
            let Some(list) = list else { continue };
            if list.value.is_empty() {
                return Err(LabeledError::new(
                    "expected at least one entry, found an empty list",
                    format!("add an entry, or remove `{key}`"),
                )
                .with_label(list.span(), "empty"));
            }
            for path in &list.value {
                let built_in: &[&str] = if key == "policies" { &BUILT_IN } else { &[] };
                self.validate_path(path, built_in)?;
            }
        }
        if let Some(scope) = scope {
            ScopeChoice::ensure_exists(scope.value.as_str(), self.folder())
                .map_err(|error| error.with_label(scope.span(), "unknown"))?;
        }
        let mut earlier: Vec<&Spanned<WaiverFile>> = Vec::new();
        for waiver in waivers.iter().flatten() {
            let WaiverFile { claim, policy, reason, .. } = &waiver.value;
            if reason.value.as_str().trim().is_empty() {
                return Err(LabeledError::new(
                    "empty reason",
                    "state why the claim may fail; the report prints the reason",
                )
                .with_label(reason.span(), "empty"));
            }
            let same = |other: &&&Spanned<WaiverFile>| {
                let either = other.value.policy.as_ref().zip(policy.as_ref());
                other.value.claim == *claim && either.is_none_or(|(one, two)| one == two)
            };
            if let Some(other) = earlier.iter().find(same) {
                return Err(LabeledError::new(
                    format!("duplicate waiver of {}", claim.value.0),
                    "remove one of the two, or name a different policy in each",
                )
                .with_label(other.value.claim.span(), "first")
                .with_label(claim.span(), "second"));
            }
            earlier.push(waiver);
        }
        Ok(())
    }

    /// Returns an error unless the path exists or is a built-in name.
    fn validate_path(&self, path: &Spanned<StrictText>, built_in: &[&str]) -> Result<(), LabeledError> {
        let name = path.value.as_str();
        if built_in.contains(&name) || self.folder().join(name).exists() {
            return Ok(());
        }
        let parent = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let entries = std::fs::read_dir(self.folder().join(if parent.is_empty() { "." } else { parent }));
        let siblings = entries.into_iter().flatten().flatten().map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if parent.is_empty() { name } else { format!("{parent}/{name}") }
        });
        let known: Vec<String> = siblings.chain(built_in.iter().map(|name| (*name).to_owned())).collect();
        let built_in =
            if built_in.is_empty() { String::new() } else { format!("{}, or ", built_in.join(", ")) };
        Err(LabeledError::new(
            format!("no such path `{}`", name.escape_debug()),
            format!(
                "{}expected {built_in}a path, relative to the folder of this file",
                suggest_nearest(name, known.iter().map(String::as_str))
            ),
        )
        .with_label(path.span(), "does not exist"))
    }

    /// Returns an error if a waiver names a policy that is not in the project.
    fn validate_waived_policies(&self, policies: &[Policy]) -> Result<(), LabeledError> {
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let waived = self.file.waivers.iter().flatten().filter_map(|waiver| waiver.value.policy.as_ref());
        match waived.into_iter().find(|policy| !names.contains(&policy.value.as_str())) {
            None => Ok(()),
            Some(policy) => Err(LabeledError::new(
                format!("no policy `{}` in this project", policy.value.as_str().escape_debug()),
                format!(
                    "{}expected one of {}; a waiver without `policy` covers all of them",
                    suggest_nearest(policy.value.as_str(), names.iter().copied()),
                    names.join(", ")
                ),
            )
            .with_label(policy.span(), "not in this project")),
        }
    }
}

/// Returns the JSON Schema of project files.
#[must_use]
pub fn project_schema() -> serde_json::Value {
    schema_of::<ProjectFile>("Orchestrion project")
}

#[cfg(test)]
mod tests;
