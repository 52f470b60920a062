//! Project files: what `check`, `run` and `replay` are about when nothing else is named.
//!
//! A project file is looked for in the current folder, then in those above it. Whatever it names must be there:
//! a check that quietly covers less than the file says would be worse than none.

mod format;

pub use format::{ClaimId, Day, ProjectFile, ScopeName, WaiverFile};

use jiff::civil::Date;
use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_model::scopes::Scope;
use orchestrion_scenario::policy_file::{BUILT_IN, look_up};
use orchestrion_yaml::{LabeledError, ReadError, Source, Spanned, StrictText, nearest, schema_of};
use std::path::{Path, PathBuf};

/// How a project file is called.
pub const FILE: &str = "orchestrion.yaml";

/// A project file that was read. What it names is there; whether its policies make sense is seen when they are
/// asked for.
#[derive(Debug)]
pub struct Project {
    path: PathBuf,
    source: Source,
    file: ProjectFile,
}

/// A claim that is known to fail or to be vacuous, and may until a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The claim.
    pub claim: &'static str,
    /// The policy under which it may; none for each of the project's.
    pub policy: Option<String>,
    /// Why it may.
    pub reason: String,
    /// The last day on which it may.
    pub until: Date,
    /// Where it stands: file and line.
    pub place: String,
}

impl Waiver {
    /// Whether the waiver speaks of this claim under the policy of this name.
    #[must_use]
    pub fn covers(&self, claim: &str, policy: &str) -> bool {
        self.claim == claim && self.policy.as_deref().is_none_or(|name| name == policy)
    }
}

impl Project {
    /// The project file of the current folder, or of the nearest folder above it that has one. Paths stay
    /// relative, as a user would write them.
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
    /// [`ReadError`] for a file that cannot be opened, is too large, is no project file, or names what is not
    /// there.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let source = Source::read(path)?;
        let project = Self { path: path.to_owned(), file: source.parse()?, source };
        project.validate().map_err(|fault| ReadError::in_source(&project.source, fault))?;
        Ok(project)
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The policies that it names, each with a name of its own; `hardened` if it names none.
    ///
    /// # Errors
    /// [`ReadError`] if one of them is no policy, if two have the same name, or if a waiver names another one.
    pub fn policies(&self) -> Result<Vec<Policy>, ReadError> {
        let mut policies: Vec<(Policy, Option<SourceSpan>)> = Vec::new();
        for named in self.file.policies.iter().flat_map(|named| &named.value) {
            let policy = look_up(named.value.as_str(), self.folder())
                .map_err(|problem| problem.drawn_in(&self.source, named.span(), "named here"))?;
            if let Some((_, other)) = policies.iter().find(|(other, _)| other.name == policy.name) {
                let fault = LabeledError::new(
                    format!("two policies are called `{}`", policy.name.escape_debug()),
                    "remove one of them here, or give it a name of its own in its file",
                );
                let fault = fault.at(*other, "the first").at(named.span(), "the second");
                return Err(ReadError::in_source(&self.source, fault));
            }
            policies.push((policy, named.span()));
        }
        let mut policies: Vec<Policy> = policies.into_iter().map(|(policy, _)| policy).collect();
        if policies.is_empty() {
            policies.push(Policy::hardened());
        }
        self.waived_policies_are(&policies).map_err(|fault| ReadError::in_source(&self.source, fault))?;
        Ok(policies)
    }

    /// How large the models grow, if it says so.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        self.file.scope.map(|scope| scope.0)
    }

    /// The files and folders of scenarios that it names.
    #[must_use]
    pub fn scenarios(&self) -> Vec<PathBuf> {
        self.paths(self.file.scenarios.as_ref())
    }

    /// The files and folders of recorded traces that it names.
    #[must_use]
    pub fn traces(&self) -> Vec<PathBuf> {
        self.paths(self.file.traces.as_ref())
    }

    /// The waivers, in the order of the file.
    #[must_use]
    pub fn waivers(&self) -> Vec<Waiver> {
        let waiver = |written: &Spanned<WaiverFile>| {
            let WaiverFile { claim, policy, reason, until } = &written.value;
            let line = claim.span().map_or(1, |span| self.line(span));
            Waiver {
                claim: claim.value.0,
                policy: policy.as_ref().map(|policy| policy.value.as_str().to_owned()),
                reason: reason.value.as_str().trim().to_owned(),
                until: until.0,
                place: format!("{}:{line}", self.path.display()),
            }
        };
        self.file.waivers.iter().flatten().map(waiver).collect()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or_else(|| Path::new(""))
    }

    fn paths(&self, named: Option<&Spanned<Vec<Spanned<StrictText>>>>) -> Vec<PathBuf> {
        let named = named.into_iter().flat_map(|named| &named.value);
        named.map(|path| self.folder().join(path.value.as_str())).collect()
    }

    /// The line of a place, from 1.
    fn line(&self, span: SourceSpan) -> usize {
        let before = self.source.text().bytes().take(span.offset());
        before.filter(|byte| *byte == b'\n').count().saturating_add(1)
    }

    fn validate(&self) -> Result<(), LabeledError> {
        let ProjectFile { policies, scope: _, scenarios, traces, waivers } = &self.file;
        for (key, named) in [("policies", policies), ("scenarios", scenarios), ("traces", traces)] {
            let Some(named) = named else { continue };
            if named.value.is_empty() {
                return Err(LabeledError::new(
                    "expected at least one, found an empty list",
                    format!("name one, or leave `{key}` out"),
                )
                .at(named.span(), "empty"));
            }
            for path in &named.value {
                let built_in: &[&str] = if key == "policies" { &BUILT_IN } else { &[] };
                self.is_there(path, built_in)?;
            }
        }
        let mut seen: Vec<&Spanned<WaiverFile>> = Vec::new();
        for waiver in waivers.iter().flatten() {
            let WaiverFile { claim, policy, reason, .. } = &waiver.value;
            if reason.value.as_str().trim().is_empty() {
                return Err(LabeledError::new(
                    "a waiver without a reason",
                    "say why the claim may fail until then: whoever reads the report will ask",
                )
                .at(reason.span(), "nothing here"));
            }
            let same = |other: &&&Spanned<WaiverFile>| {
                let either = other.value.policy.as_ref().zip(policy.as_ref());
                other.value.claim == *claim && either.is_none_or(|(one, two)| one == two)
            };
            if let Some(other) = seen.iter().find(same) {
                return Err(LabeledError::new(
                    format!("{} is waived twice", claim.value.0),
                    "keep one of the two, or let each name another policy",
                )
                .at(other.value.claim.span(), "the first")
                .at(claim.span(), "the second"));
            }
            seen.push(waiver);
        }
        Ok(())
    }

    /// A fault if a path leads nowhere and is no built-in name.
    fn is_there(&self, named: &Spanned<StrictText>, built_in: &[&str]) -> Result<(), LabeledError> {
        let written = named.value.as_str();
        if built_in.contains(&written) || self.folder().join(written).exists() {
            return Ok(());
        }
        let within = written.rsplit_once('/').map_or("", |(folder, _)| folder);
        let entries = std::fs::read_dir(self.folder().join(if within.is_empty() { "." } else { within }));
        let beside = entries.into_iter().flatten().flatten().map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            if within.is_empty() { name } else { format!("{within}/{name}") }
        });
        let known: Vec<String> = beside.chain(built_in.iter().map(|name| (*name).to_owned())).collect();
        let kind = if built_in.is_empty() { String::new() } else { format!("{}, or ", built_in.join(", ")) };
        Err(LabeledError::new(
            format!("there is no `{}`", written.escape_debug()),
            format!(
                "{}expected {kind}a path, relative to the folder of this file",
                nearest(written, known.iter().map(String::as_str))
            ),
        )
        .at(named.span(), "not there"))
    }

    /// A fault if a waiver names a policy that the project has not.
    fn waived_policies_are(&self, policies: &[Policy]) -> Result<(), LabeledError> {
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let waived = self.file.waivers.iter().flatten().filter_map(|waiver| waiver.value.policy.as_ref());
        match waived.into_iter().find(|named| !names.contains(&named.value.as_str())) {
            None => Ok(()),
            Some(named) => Err(LabeledError::new(
                format!("no policy of this project is called `{}`", named.value.as_str().escape_debug()),
                format!(
                    "{}the policies are {}; a waiver without `policy` is for each of them",
                    nearest(named.value.as_str(), names.iter().copied()),
                    names.join(", ")
                ),
            )
            .at(named.span(), "not one of them")),
        }
    }
}

/// The JSON Schema of project files.
#[must_use]
pub fn project_schema() -> serde_json::Value {
    schema_of::<ProjectFile>("Orchestrion project")
}

#[cfg(test)]
mod tests;
