//! Verdicts of `lint`.

use anstyle::{AnsiColor, Style};
use orchestrion_lint::LintResult;
use orchestrion_lint::parse::ParsedMachine;
use orchestrion_report::text::sanitize;
use std::path::PathBuf;

/// A machine with the result of each rule.
pub(super) struct LintedMachine {
    pub(super) file: PathBuf,
    pub(super) parsed: ParsedMachine,
    pub(super) results: Vec<LintResult>,
}

impl LintedMachine {
    /// Returns the place of the machine, and its name if it has one.
    pub(super) fn title(&self) -> String {
        let place = format!("{}:{}", sanitize(&self.file.display().to_string()), self.parsed.lines.0);
        match &self.parsed.name {
            Some(name) => format!("{place} `{}`", sanitize(name)),
            None => place,
        }
    }
}

/// Verdict of one rule about one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Holds,
    Fails,
    /// The rule depends on a guess, or is a recommendation.
    Warning,
    /// The machine has no element that the rule is about.
    NotApplicable,
}

impl Verdict {
    pub(super) const fn from_result(result: &LintResult) -> Self {
        match (result.diagnostics.is_empty(), result.is_failure) {
            (false, true) => Self::Fails,
            (false, false) => Self::Warning,
            (true, _) if result.checked == 0 => Self::NotApplicable,
            (true, _) => Self::Holds,
        }
    }

    /// Returns the name of the verdict in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Warning => "warning",
            Self::NotApplicable => "not_applicable",
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::Warning => "warning",
            Self::NotApplicable => "not applicable",
        }
    }

    pub(super) const fn style(self) -> Style {
        let color = match self {
            Self::Holds => AnsiColor::Green,
            Self::Fails => AnsiColor::Red,
            Self::Warning => AnsiColor::Yellow,
            Self::NotApplicable => AnsiColor::BrightBlack,
        };
        Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
    }
}
