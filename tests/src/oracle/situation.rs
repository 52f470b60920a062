//! 002 as an independent implementation: its pseudo-code line by line, on JSON and lists of characters.
//!
//! Design §2 ("002's text") and decision 0020 define the functions that the document only names.

use super::policy::SituationLimits;
use serde_json::Value;

/// The two fields of the document's `State` that its contexts read.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Keys with their values, in the document's order.
    situation_summary: Vec<(&'static str, String)>,
    /// Action records in their published encoding.
    actions: Vec<Value>,
}

/// `field(default_factory=…)`: five empty texts and no action.
impl Default for Situation {
    fn default() -> Self {
        let keys = ["goal", "progress", "current_approach", "key_findings", "next_focus"];
        Self { situation_summary: keys.map(|key| (key, String::new())).into(), actions: Vec::new() }
    }
}

impl Situation {
    /// Merges an update: "In reason.py - merge LLM updates into persistent summary" (002-4.2 to 002-4.4).
    /// Decision 0034: a value is cut to the limit of the policy before anything else.
    pub fn update(&mut self, limits: &SituationLimits, summary_update: &Value) {
        for (key, value) in summary_update.as_object().into_iter().flatten() {
            let value = &first(text_of(value), limits.summary_chars_max);
            for (field, stored) in &mut self.situation_summary {
                if field == key && !strip(value).is_empty() {
                    stored.clone_from(value);
                }
            }
        }
    }

    /// Runs `actions.append(action_entry)`, with each result cut to its stored length (002-2.10).
    pub fn act(&mut self, limits: &SituationLimits, action_entry: &Value) {
        let mut action_entry = action_entry.clone();
        for call in action_entry["tool_calls"].as_array_mut().into_iter().flatten() {
            call["result"] = Value::from(first(text_of(&call["result"]), limits.result_chars_max));
        }
        self.actions.push(action_entry);
    }

    /// Returns the keys with their values.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.situation_summary.clone().into_iter()
    }

    /// Returns whether there is neither a summary nor an action.
    pub(super) fn is_empty(&self) -> bool {
        self.actions.is_empty() && self.situation_summary.iter().all(|(_, value)| strip(value).is_empty())
    }

    /// Returns the latest action as it is stored.
    pub(super) fn latest_action(&self) -> Option<&Value> {
        self.actions.last()
    }

    /// Returns the latest action and at most `max_history` actions before it.
    pub(super) fn latest_actions(&self, limits: &SituationLimits) -> &[Value] {
        &self.actions[self.actions.len().saturating_sub(limits.max_history.saturating_add(1))..]
    }

    /// `get_compressed_attempts` (002-3.1 to 002-3.3).
    #[must_use]
    pub fn get_compressed_attempts(&self, limits: &SituationLimits) -> Vec<String> {
        let mut summary_parts = Vec::new();
        for (key, value) in &self.situation_summary {
            if !strip(value).is_empty() {
                summary_parts.push(format!("{key}: {value}"));
            }
        }
        if !summary_parts.is_empty() {
            return vec![summary_parts.join("; ")];
        }
        let mut before_last = self.actions.clone();
        before_last.pop();
        while before_last.len() > limits.max_history {
            before_last.remove(0);
        }
        let mut compressed = Vec::new();
        for action in &before_last {
            for call in tool_calls(action) {
                let args = shorten(&args(call), limits.compressed_args_chars_max);
                let result = shorten(text_of(&call["result"]), limits.compressed_result_chars_max);
                compressed.push(call_line(call, &args, &result));
            }
        }
        compressed
    }

    /// `format_actions_for_fast_mode` (002-3.5).
    #[must_use]
    pub fn format_actions_for_fast_mode(&self, limits: &SituationLimits) -> String {
        let attempts = self.get_compressed_attempts(limits);
        if attempts.is_empty() { "No previous attempts".to_owned() } else { attempts.join("; ") }
    }

    /// `format_latest_results_detailed` (002-3.10).
    #[must_use]
    pub fn format_latest_results_detailed(&self) -> String {
        let Some(latest) = self.actions.last() else { return String::new() };
        let lines: Vec<String> = tool_calls(latest)
            .iter()
            .map(|call| call_line(call, &args(call), text_of(&call["result"])))
            .collect();
        if lines.is_empty() {
            return "No tool results from current iteration".to_owned();
        }
        lines.join("\n")
    }

    /// `build_reasoning_context` (002-3.5 to 002-3.9).
    #[must_use]
    pub fn build_reasoning_context(&self, limits: &SituationLimits, mode: &str) -> String {
        if mode == "deep" {
            let summary_context = self.format_actions_for_fast_mode(limits);
            let latest_context = self.format_latest_results_detailed();
            if summary_context == "No previous attempts" {
                if latest_context.is_empty() { "No context available".to_owned() } else { latest_context }
            } else if latest_context == "No tool results from current iteration" || latest_context.is_empty()
            {
                summary_context
            } else {
                summary_context + "\n\nLATEST DETAILS:\n" + &latest_context
            }
        } else {
            self.format_actions_for_fast_mode(limits)
        }
    }
}

/// Python's `str.strip`, with the complete set of its space characters.
fn strip(text: &str) -> &str {
    text.trim_matches(|c: char| {
        matches!(
            c as u32,
            0x09..=0x0d | 0x1c..=0x20 | 0x85 | 0xa0 | 0x1680 | 0x2000..=0x200a | 0x2028 | 0x2029 | 0x202f | 0x205f | 0x3000
        )
    })
}

fn tool_calls(action: &Value) -> &[Value] {
    action["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns `name(args) → outcome: result` (002-3.4).
fn call_line(call: &Value, args: &str, result: &str) -> String {
    [text_of(&call["name"]), "(", args, ") → ", text_of(&call["outcome"]), ": ", result].concat()
}

/// Returns the arguments in the form of decision 0020: `name=value`, in the order of the names.
fn args(call: &Value) -> String {
    let mut args: Vec<(&String, &Value)> = call["args"].as_object().into_iter().flatten().collect();
    args.sort_by_key(|(name, _)| *name);
    let args: Vec<String> =
        args.into_iter().map(|(name, value)| name.to_owned() + "=" + text_of(value)).collect();
    args.join(", ")
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the first characters of a text.
fn first(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// Cuts a text to a number of characters; `...` follows if it had more.
fn shorten(text: &str, characters: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        text.to_owned()
    } else {
        all[..characters].iter().collect::<String>() + "..."
    }
}
