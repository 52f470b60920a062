//! Action records (002, "Action Record Schema"): reasoning and tool calls of one iteration, kept for diagnosis.

use crate::ids::Text;
use crate::module::Failure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The record of one iteration. Decoding rejects other keys; the situation summary replaces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ActionRecord {
    /// The number of the iteration in the request.
    pub iteration: u32,
    /// The time in ISO format; no decision depends on it.
    pub timestamp: Text,
    /// The reasoning mode.
    pub mode: Mode,
    /// The model's reasoning.
    pub thinking: Text,
    /// The model's plan; in deep mode.
    pub planning: Text,
    /// The model's reflection on its results; in deep mode.
    pub reflection: Text,
    /// The model's strategy in this iteration.
    pub approach: Text,
    /// The tool calls, in order.
    pub tool_calls: Vec<ToolCall>,
}

/// The reasoning mode of a model, which determines its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Mode {
    /// The context contains the summary.
    Fast,
    /// The context contains the summary and the latest results.
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

/// A tool call with its result. Decoding rejects other keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ToolCall {
    /// The tool.
    pub name: Text,
    /// The arguments by name. The boundary encodes values other than texts as JSON.
    pub args: BTreeMap<String, Text>,
    /// The result.
    pub result: StoredResult,
    /// The outcome.
    pub outcome: ToolOutcome,
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ToolOutcome {
    /// The tool succeeded.
    Success,
    /// The tool ran and failed.
    Failure,
    /// The call returned no usable result.
    Error,
    /// The deadline passed.
    Timeout,
}

impl ToolOutcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Error, Self::Timeout];

    /// Returns the outcome of a tool that ended with this exit code.
    #[must_use]
    pub const fn from_exit_code(code: i32) -> Self {
        if code == 0 { Self::Success } else { Self::Failure }
    }
}

/// Converts the failure of a call.
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

/// A tool's result, truncated to [`StoredResult::CHARACTERS_MAX`] characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Text", into = "Text"))]
pub struct StoredResult(Text);

impl StoredResult {
    /// The maximum number of characters.
    pub const CHARACTERS_MAX: usize = 1_000;

    /// Returns the result as a string slice.
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
