//! The report of a command for other tools: one case for each claim, scenario, trace or rule, with its diagnostics.
//!
//! Each command builds the same cases for every format; a writer for each format is in a module of its own.

mod diagnostic;
mod github;
mod json;
mod junit;
pub(super) mod rules;
mod sarif;
#[cfg(test)]
mod tests;

pub(super) use diagnostic::{Diagnostic, Level, Location, Rule};
pub(super) use json::write_value as write_json;

use super::args::ReportFormat;
use super::exit_status::ExitStatus;
use super::output;
use miette::{IntoDiagnostic, Result};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The cases of one run of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TestReport {
    /// The command: `check`, `lint`, `replay`, `run` or `diff`.
    command: &'static str,
    /// The exit code of the command.
    exit_code: u8,
    /// In the order of the inputs.
    cases: Vec<TestCase>,
}

/// What the command found about one claim, scenario, trace or rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct TestCase {
    /// What the case belongs to: a policy for a claim, a machine for a rule, else the command.
    pub(super) suite: String,
    /// The id of the claim or rule, or the path of the file.
    pub(super) name: String,
    /// What was found.
    pub(super) verdict: CaseVerdict,
    /// Why the case has this verdict, if it did not pass.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum CaseVerdict {
    /// What was checked holds.
    Passed,
    /// It does not hold.
    Failed,
    /// Nothing failed, but the result is incomplete.
    Incomplete,
    /// A file cannot be read or used.
    Error,
    /// It was not checked, or is waived.
    Skipped,
}

impl From<ExitStatus> for CaseVerdict {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Success => Self::Passed,
            ExitStatus::Failure => Self::Failed,
            ExitStatus::Error => Self::Error,
            ExitStatus::Incomplete => Self::Incomplete,
        }
    }
}

impl TestCase {
    /// The case of a file.
    pub(super) fn of_file(
        command: &str,
        file: &Path,
        status: ExitStatus,
        diagnostics: Vec<Diagnostic>,
    ) -> Self {
        let (suite, name) = (command.to_owned(), file.display().to_string());
        Self { suite, name, verdict: status.into(), diagnostics }
    }

    /// A case that was not checked, for this reason.
    pub(super) fn skipped(suite: &str, name: &str, rule: &Rule, reason: &str, file: &Path) -> Self {
        let note =
            Diagnostic { level: Level::Note, ..Diagnostic::error(rule, reason, Location::of_file(file)) };
        let (suite, name) = (suite.to_owned(), name.to_owned());
        Self { suite, name, verdict: CaseVerdict::Skipped, diagnostics: vec![note] }
    }

    /// The case of a file that cannot be read or used.
    pub(super) fn of_error(command: &str, file: &Path, rule: &Rule, error: &miette::Report) -> Self {
        let diagnostic = Diagnostic::of_error(rule, error.as_ref(), file);
        Self::of_file(command, file, ExitStatus::Error, vec![diagnostic])
    }
}

impl TestReport {
    pub(super) fn new(command: &'static str, status: ExitStatus, cases: Vec<TestCase>) -> Self {
        Self { command, exit_code: status.code(), cases }
    }

    /// Prints the report; for `human` nothing, because each command has a text of its own. `github` adds its annotations to that text.
    pub(super) fn print(&self, format: ReportFormat) -> Result<()> {
        let mut out = output::stdout();
        match format {
            ReportFormat::Human => Ok(()),
            ReportFormat::Json => json::write(self, &mut out),
            ReportFormat::Junit => junit::write(self, &mut out),
            ReportFormat::Sarif => sarif::write(self, &mut out),
            ReportFormat::Github => github::write(self, &mut output::command_stdout()),
        }
        .into_diagnostic()
    }

    /// Every diagnostic that asks for a change; no reason for which a case was not checked.
    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        let all = self.cases.iter().flat_map(|case| &case.diagnostics);
        all.filter(|diagnostic| diagnostic.level != Level::Note)
    }
}

/// Returns standard output for a text, or nothing if the format is for tools.
pub(super) fn text_output(format: ReportFormat, text: impl Write + 'static) -> Box<dyn Write> {
    if format.has_text() { Box::new(text) } else { Box::new(io::sink()) }
}
