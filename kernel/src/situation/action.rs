//! Action records (002, "Action Record Schema"): what was thought and done in one iteration, for whoever looks for a
//! mistake.

use crate::ids::Text;
use crate::module::Failure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// One iteration. Any other key is refused: what once stood there says the situation summary.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ActionRecord {
    /// Which iteration of the request it was.
    pub iteration: u32,
    /// When, in ISO format, as it came; nothing is decided by it.
    pub timestamp: Text,
    /// How it was reasoned.
    pub mode: Mode,
    /// The model's reasoning.
    pub thinking: Text,
    /// What it planned; of deep mode.
    pub planning: Text,
    /// What it made of its results; of deep mode.
    pub reflection: Text,
    /// Its strategy at the time.
    pub approach: Text,
    /// The tools that it called, in order.
    pub tool_calls: Vec<ToolCall>,
}

/// How a model reasons, and so how much it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Mode {
    /// It is shown the summary.
    Fast,
    /// It is shown the latest results as well.
    Deep,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fast => "fast",
            Self::Deep => "deep",
        })
    }
}

/// A call of one tool and what came of it. Any other key is refused, as in the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ToolCall {
    /// The tool.
    pub name: Text,
    /// Its arguments by name, as texts: the border writes any other value as JSON.
    pub args: BTreeMap<String, Text>,
    /// What it gave.
    pub result: StoredResult,
    /// How it ended.
    pub outcome: ToolOutcome,
}

/// How a call of a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ToolOutcome {
    /// The tool did what it was asked.
    Success,
    /// The tool ran and did not manage.
    Failure,
    /// Nothing usable came back.
    Error,
    /// Nothing came back in time.
    Timeout,
}

impl ToolOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Error, Self::Timeout];

    /// The outcome of a tool that ran and ended with this exit code.
    #[must_use]
    pub const fn of_exit(code: i32) -> Self {
        if code == 0 { Self::Success } else { Self::Failure }
    }
}

/// The outcome of a call that was not answered.
impl From<Failure> for ToolOutcome {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Timeout => Self::Timeout,
            Failure::Error
            | Failure::Malformed
            | Failure::NoCandidates
            | Failure::OverBudget
            | Failure::OutcomeUnknown => Self::Error,
        }
    }
}

impl fmt::Display for ToolOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Error => "error",
            Self::Timeout => "timeout",
        })
    }
}

/// What a tool gave, as far as it is kept: a longer one is not representable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Text", into = "Text"))]
pub struct StoredResult(Text);

impl StoredResult {
    /// The most characters that are kept.
    pub const CHARACTERS_MAX: usize = 1_000;

    /// The result as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<Text> for StoredResult {
    fn from(text: Text) -> Self {
        let mut characters = text.as_str().chars();
        let head: String = characters.by_ref().take(Self::CHARACTERS_MAX).collect();
        Self(if characters.next().is_some() { head.into() } else { text })
    }
}

impl From<StoredResult> for Text {
    fn from(result: StoredResult) -> Self {
        result.0
    }
}
