//! Action records (002, "Action Record Schema"): reasoning and tool calls of one iteration, kept for diagnosis.

use super::truncate;
use crate::ids::{Text, Timestamp};
use crate::module::Failure;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroU32;

/// The record of one iteration. Decoding rejects other keys; the situation summary replaces them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ActionRecord {
    /// The number of the iteration in the request, from 1.
    pub iteration: NonZeroU32,
    /// The time, encoded in ISO 8601; no decision depends on it.
    #[cfg_attr(feature = "serde", serde(with = "iso_8601"))]
    pub timestamp: Timestamp,
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

impl ActionRecord {
    /// Returns the record with results of at most this number of characters (002: about 1,000).
    #[must_use]
    pub fn with_truncated_results(mut self, chars_max: u32) -> Self {
        for call in &mut self.tool_calls {
            call.result = truncate(&call.result, chars_max);
        }
        self
    }
}

/// The encoding of a time as text.
#[cfg(feature = "serde")]
mod iso_8601 {
    use crate::ids::Timestamp;
    use alloc::format;
    use alloc::string::String;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::from_text(&text).ok_or_else(|| {
            de::Error::custom(format!(
                "invalid time: expected ISO 8601 in UTC, as in 2026-01-01T09:30:00Z, found `{text}`"
            ))
        })
    }
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

impl Mode {
    /// Returns the name in the document.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Deep => "deep",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
    /// The result. The event of the action contains it truncated to the limit of the policy.
    pub result: Text,
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
            | Failure::OutcomeUnknown
            | Failure::Forbidden => Self::Error,
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
