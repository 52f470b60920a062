//! The situation in a context (002, "Context Assembly Methods"): the summary, else the compressed actions; in deep mode also the
//! latest results.

use super::{ActionRecord, Mode, SituationSummary, ToolCall};
use crate::ids::Text;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The number of actions before the latest that a context contains without a summary (`max_history`).
pub const HISTORY_ACTIONS: usize = 3;
/// The text if there is neither a summary nor an earlier tool call.
pub const NO_ATTEMPTS: &str = "No previous attempts";
/// The text if the latest action has no tool call.
pub const NO_RESULTS: &str = "No tool results from current iteration";
/// The text in deep mode if there is no content.
pub const NO_CONTEXT: &str = "No context available";

/// The maximum number of characters of the arguments in a compressed call.
const ARGS_CHARACTERS_MAX: usize = 20;
/// The maximum number of characters of the result in a compressed call.
const RESULT_CHARACTERS_MAX: usize = 50;

/// Returns the previous attempts: the summary as one text, else the tool calls of the last [`HISTORY_ACTIONS`] actions before the
/// latest.
#[must_use]
pub fn get_compressed_attempts(summary: &SituationSummary, actions: &[ActionRecord]) -> Vec<String> {
    let fields: Vec<String> = summary.fields().map(|(field, text)| format!("{field}: {text}")).collect();
    if !fields.is_empty() {
        return vec![fields.join("; ")];
    }
    let earlier = actions.split_last().map_or_else(Default::default, |(_, earlier)| earlier);
    compress_actions(earlier.get(earlier.len().saturating_sub(HISTORY_ACTIONS)..).unwrap_or_default())
}

/// Returns the tool calls of these actions in compressed form, in order.
#[must_use]
pub fn compress_actions(actions: &[ActionRecord]) -> Vec<String> {
    let compress = |call: &ToolCall| {
        let args = truncate(&format_args(call), ARGS_CHARACTERS_MAX);
        format_call(call, &args, &truncate(call.result.as_str(), RESULT_CHARACTERS_MAX))
    };
    actions.iter().flat_map(|action| &action.tool_calls).map(compress).collect()
}

/// Returns the previous attempts as one text.
#[must_use]
pub fn format_actions_for_fast_mode(summary: &SituationSummary, actions: &[ActionRecord]) -> String {
    match get_compressed_attempts(summary, actions) {
        attempts if attempts.is_empty() => NO_ATTEMPTS.to_string(),
        attempts => attempts.join("; "),
    }
}

/// Returns the stored results of the latest action, one line per tool call; empty before the first action.
#[must_use]
pub fn format_latest_results_detailed(actions: &[ActionRecord]) -> String {
    let Some(latest) = actions.last() else { return String::new() };
    if latest.tool_calls.is_empty() {
        return NO_RESULTS.to_string();
    }
    let format_full = |call: &ToolCall| format_call(call, &format_args(call), call.result.as_str());
    latest.tool_calls.iter().map(format_full).collect::<Vec<_>>().join("\n")
}

/// Returns whether there is a summary or an action.
#[must_use]
pub fn has_content(summary: &SituationSummary, actions: &[ActionRecord]) -> bool {
    summary.fields().next().is_some() || !actions.is_empty()
}

/// Returns the situation for a model in this mode.
///
/// No other content equals a sentinel text, because it contains `: ` or ` → `.
#[must_use]
pub fn build_reasoning_context(mode: Mode, summary: &SituationSummary, actions: &[ActionRecord]) -> String {
    let attempts = format_actions_for_fast_mode(summary, actions);
    if mode == Mode::Fast {
        return attempts;
    }
    let latest = format_latest_results_detailed(actions);
    match (attempts == NO_ATTEMPTS, latest.as_str()) {
        (true, "") => NO_CONTEXT.to_string(),
        (true, _) => latest,
        (false, "" | NO_RESULTS) => attempts,
        (false, _) => format!("{attempts}\n\nLATEST DETAILS:\n{latest}"),
    }
}

/// Formats a tool call as one line.
fn format_call(call: &ToolCall, args: &str, result: &str) -> String {
    format!("{}({args}) → {}: {result}", call.name, call.outcome)
}

/// Formats the arguments of a call, in the order of their names.
fn format_args(call: &ToolCall) -> String {
    let format_arg = |(name, value): (&String, &Text)| format!("{name}={value}");
    call.args.iter().map(format_arg).collect::<Vec<_>>().join(", ")
}

/// Truncates a text and appends `...` if characters were removed.
fn truncate(text: &str, characters_max: usize) -> String {
    let mut characters = text.chars();
    let mut head: String = characters.by_ref().take(characters_max).collect();
    if characters.next().is_some() {
        head.push_str("...");
    }
    head
}
