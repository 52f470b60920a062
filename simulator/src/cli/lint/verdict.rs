//! Verdicts of `lint`.

use anstyle::{AnsiColor, Style};
use orchestrion_lint::LintResult;
use orchestrion_lint::parse::ParsedMachine;

/// A machine with the result of each rule.
pub(super) struct LintedMachine {
    pub(super) parsed: ParsedMachine,
    pub(super) results: Vec<LintResult>,
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
