//! The situation in a context (002, "Context Assembly Methods"): the summary, else the compressed actions; in deep mode also the
//! latest results.

use super::{ActionRecord, Mode, SituationSummary, ToolCall, truncated_len};
use crate::ids::Text;
use crate::policy::SituationPolicy;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// The text if there is neither a summary nor an earlier tool call.
pub const NO_ATTEMPTS: &str = "No previous attempts";
/// The text if the latest action has no tool call.
pub const NO_RESULTS: &str = "No tool results from current iteration";
/// The text in deep mode if there is no content.
pub const NO_CONTEXT: &str = "No context available";

/// Returns the previous attempts: the summary as one text, else the tool calls of the last [`SituationPolicy::max_history`] actions
/// before the latest.
#[must_use]
pub fn get_compressed_attempts(
    policy: &SituationPolicy,
    summary: &SituationSummary,
    actions: &[ActionRecord],
) -> Vec<String> {
    let fields: Vec<String> = summary.fields().map(|(field, text)| format!("{field}: {text}")).collect();
    if !fields.is_empty() {
        return vec![fields.join("; ")];
    }
    let earlier = actions.split_last().map_or_else(Default::default, |(_, earlier)| earlier);
    let max_history = usize::try_from(policy.max_history).unwrap_or(usize::MAX);
    compress_actions(policy, earlier.get(earlier.len().saturating_sub(max_history)..).unwrap_or_default())
}

/// Returns the tool calls of these actions in compressed form, in order.
#[must_use]
pub fn compress_actions(policy: &SituationPolicy, actions: &[ActionRecord]) -> Vec<String> {
    let compress = |call: &ToolCall| {
        let args = format_args(call);
        let args = shorten(&args, policy.compressed_args_chars_max);
        format_call(call, &args, &shorten(call.result.as_str(), policy.compressed_result_chars_max))
    };
    actions.iter().flat_map(|action| &action.tool_calls).map(compress).collect()
}

/// Returns the previous attempts as one text.
#[must_use]
pub fn format_actions_for_fast_mode(
    policy: &SituationPolicy,
    summary: &SituationSummary,
    actions: &[ActionRecord],
) -> String {
    match get_compressed_attempts(policy, summary, actions) {
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
pub fn build_reasoning_context(
    policy: &SituationPolicy,
    mode: Mode,
    summary: &SituationSummary,
    actions: &[ActionRecord],
) -> String {
    let attempts = format_actions_for_fast_mode(policy, summary, actions);
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
fn shorten(text: &str, chars_max: u32) -> Cow<'_, str> {
    match truncated_len(text, chars_max).and_then(|len| text.get(..len)) {
        Some(head) => Cow::from([head, "..."].concat()),
        None => Cow::from(text),
    }
}
