//! What a model is shown of the situation (002, "Context Assembly Methods"): the summary where there is one, else the
//! actions in short; in deep mode the latest results as well.

use super::{ActionRecord, Mode, SituationSummary, ToolCall};
use crate::ids::Text;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// How many actions before the latest are told where there is no summary (`max_history`).
pub const HISTORY_ACTIONS: usize = 3;
/// Said where there is neither a summary nor an earlier call of a tool.
pub const NO_ATTEMPTS: &str = "No previous attempts";
/// Said where the latest action called no tool.
pub const NO_RESULTS: &str = "No tool results from current iteration";
/// Said in deep mode where there is nothing at all to show.
pub const NO_CONTEXT: &str = "No context available";

/// The characters of a call's arguments that are told in short.
const ARGS_CHARACTERS_MAX: usize = 20;
/// The characters of a call's result that are told in short.
const RESULT_CHARACTERS_MAX: usize = 50;

/// What has been tried: the summary as one text or, if nothing was summed up yet, the calls of the last [`HISTORY`]
/// actions before the latest.
#[must_use]
pub fn get_compressed_attempts(summary: &SituationSummary, actions: &[ActionRecord]) -> Vec<String> {
    let said: Vec<String> = summary.said().map(|(field, text)| format!("{field}: {text}")).collect();
    if !said.is_empty() {
        return vec![said.join("; ")];
    }
    let earlier = actions.split_last().map_or_else(Default::default, |(_, earlier)| earlier);
    compress_actions(earlier.get(earlier.len().saturating_sub(HISTORY_ACTIONS)..).unwrap_or_default())
}

/// Every call of these actions in short, in order.
#[must_use]
pub fn compress_actions(actions: &[ActionRecord]) -> Vec<String> {
    let short = |call: &ToolCall| {
        let args = truncate(&format_args(call), ARGS_CHARACTERS_MAX);
        format_call(call, &args, &truncate(call.result.as_str(), RESULT_CHARACTERS_MAX))
    };
    actions.iter().flat_map(|action| &action.tool_calls).map(short).collect()
}

/// What has been tried, as one text.
#[must_use]
pub fn format_actions_for_fast_mode(summary: &SituationSummary, actions: &[ActionRecord]) -> String {
    match get_compressed_attempts(summary, actions) {
        attempts if attempts.is_empty() => NO_ATTEMPTS.to_string(),
        attempts => attempts.join("; "),
    }
}

/// What the tools of the latest action gave, as far as it is stored, a line for each call; empty before the first action.
#[must_use]
pub fn format_latest_results_detailed(actions: &[ActionRecord]) -> String {
    let Some(latest) = actions.last() else { return String::new() };
    if latest.tool_calls.is_empty() {
        return NO_RESULTS.to_string();
    }
    let whole = |call: &ToolCall| format_call(call, &format_args(call), call.result.as_str());
    latest.tool_calls.iter().map(whole).collect::<Vec<_>>().join("\n")
}

/// Whether there is anything to be told.
#[must_use]
pub fn has_content(summary: &SituationSummary, actions: &[ActionRecord]) -> bool {
    summary.said().next().is_some() || !actions.is_empty()
}

/// What a model is shown of the situation when it reasons in this mode.
///
/// The sentinels cannot be forged: whatever else the two parts say contains `: ` or ` → `.
#[must_use]
pub fn build_reasoning_context(mode: Mode, summary: &SituationSummary, actions: &[ActionRecord]) -> String {
    let tried = format_actions_for_fast_mode(summary, actions);
    if mode == Mode::Fast {
        return tried;
    }
    let latest = format_latest_results_detailed(actions);
    match (tried == NO_ATTEMPTS, latest.as_str()) {
        (true, "") => NO_CONTEXT.to_string(),
        (true, _) => latest,
        (false, "" | NO_RESULTS) => tried,
        (false, _) => format!("{tried}\n\nLATEST DETAILS:\n{latest}"),
    }
}

/// One call in a line, with its arguments and its result as far as they are told.
fn format_call(call: &ToolCall, args: &str, result: &str) -> String {
    format!("{}({args}) → {}: {result}", call.name, call.outcome)
}

/// The arguments of a call, in the order of their names.
fn format_args(call: &ToolCall) -> String {
    let written = |(name, value): (&String, &Text)| format!("{name}={value}");
    call.args.iter().map(written).collect::<Vec<_>>().join(", ")
}

/// The first characters of a text, with a mark where there were more.
fn truncate(text: &str, characters_max: usize) -> String {
    let mut characters = text.chars();
    let mut head: String = characters.by_ref().take(characters_max).collect();
    if characters.next().is_some() {
        head.push_str("...");
    }
    head
}
