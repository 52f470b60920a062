//! One reason why a case did not pass.

use orchestrion_trace::TraceError;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// One reason why a case did not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::cli) struct Diagnostic {
    /// What was checked.
    #[serde(flatten)]
    pub(in crate::cli) rule: Rule,
    /// Whether it makes the case fail.
    pub(in crate::cli) level: Level,
    /// What was expected and found.
    pub(in crate::cli) message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) help: Option<String>,
    /// Where it is.
    pub(in crate::cli) location: Location,
    /// The step of a trace that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) step: Option<u64>,
}

/// What a diagnostic checked: a claim, a rule of `lint`, or a rule of this command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::cli) struct Rule {
    /// The id.
    #[serde(rename = "rule")]
    pub(in crate::cli) id: Cow<'static, str>,
    /// What the rule requires.
    #[serde(rename = "requirement")]
    pub(in crate::cli) requirement: Cow<'static, str>,
}

/// Weight of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum Level {
    /// The case fails.
    Error,
    /// The result is incomplete, or a rule recommends a change.
    Warning,
    /// The reason why a case was not checked.
    Note,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::cli) struct Location {
    /// The path, as the command names it.
    pub(in crate::cli) file: String,
    /// The line, from 1, if the diagnostic is not about the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) line: Option<usize>,
    /// The column, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) column: Option<usize>,
}

impl Location {
    /// A whole file.
    pub(in crate::cli) fn of_file(file: &Path) -> Self {
        Self { file: file.display().to_string(), line: None, column: None }
    }

    /// The line of a step in a trace, whose header is its first line.
    pub(in crate::cli) fn of_step(trace: &Path, step: u64) -> Self {
        let line = usize::try_from(step).ok().map(|step| step.saturating_add(1));
        Self { line, ..Self::of_file(trace) }
    }

    /// A place that is written as `FILE:LINE`.
    pub(in crate::cli) fn of_place(place: &str) -> Self {
        let parts = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) = parts.map_or((place, None), |(file, line)| (file, Some(line)));
        Self { file: file.to_owned(), line, column: None }
    }
}

impl fmt::Display for Location {
    /// Formats the place as `FILE:LINE:COLUMN`, as far as it is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        [self.line, self.column].into_iter().flatten().try_for_each(|number| write!(f, ":{number}"))
    }
}

impl Rule {
    /// A rule of this command.
    pub(in crate::cli) const fn new(id: &'static str, requirement: &'static str) -> Self {
        Self { id: Cow::Borrowed(id), requirement: Cow::Borrowed(requirement) }
    }
}

impl Diagnostic {
    pub(in crate::cli) fn error(rule: &Rule, message: impl Into<String>, location: Location) -> Self {
        let rule = rule.clone();
        Self { rule, level: Level::Error, message: message.into(), help: None, location, step: None }
    }

    pub(in crate::cli) fn warning(rule: &Rule, message: impl Into<String>, location: Location) -> Self {
        Self::error(rule, message, location).into_warning()
    }

    #[must_use]
    pub(in crate::cli) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// The result is incomplete, and nothing fails.
    #[must_use]
    pub(in crate::cli) fn into_warning(self) -> Self {
        Self { level: Level::Warning, ..self }
    }

    #[must_use]
    pub(in crate::cli) fn at_step(self, step: u64) -> Self {
        Self { step: Some(step), ..self }
    }

    /// The diagnostic of a trace that cannot be read to its end, at the line where reading ended.
    pub(in crate::cli) fn of_trace_error(trace: &Path, error: &TraceError) -> Self {
        let line = usize::try_from(error.line).ok().filter(|line| *line > 0);
        let location = Location { line, ..Location::of_file(trace) };
        Self::warning(&super::rules::DAMAGED_TRACE, error.kind.to_string(), location)
    }

    /// The diagnostic of an error, at its first label; without a label, at `file`.
    pub(in crate::cli) fn of_error(rule: &Rule, error: &dyn miette::Diagnostic, file: &Path) -> Self {
        let label = error.labels().and_then(|mut labels| labels.next());
        let place = label.zip(error.source_code()).and_then(|(label, source)| {
            let contents = source.read_span(label.inner(), 0, 0).ok()?;
            let file = contents.name().map_or_else(|| file.display().to_string(), str::to_owned);
            Some(Location { file, line: Some(contents.line() + 1), column: Some(contents.column() + 1) })
        });
        let location = place.unwrap_or_else(|| Location::of_file(file));
        let help = error.help().map(|help| help.to_string());
        Self { help, ..Self::error(rule, error.to_string(), location) }
    }
}
