//! Redaction of summary updates and action records.

use super::texts::Redactor;
use orchestrion_kernel::Text;
use orchestrion_kernel::situation::{ActionRecord, SummaryField, SummaryUpdate, ToolCall, is_blank};

impl Redactor {
    /// Redacts a summary update. The keys of the summary and blank texts stay, because decisions depend on them.
    pub(super) fn update(&self, update: &SummaryUpdate) -> SummaryUpdate {
        let is_field = |key: &str| SummaryField::ALL.iter().any(|field| field.name() == key);
        let key = |key: &str| if is_field(key) { key.to_owned() } else { self.name(key) };
        let text = |text: &Text| if is_blank(text.as_str()) { text.clone() } else { self.text(text) };
        SummaryUpdate(update.0.iter().map(|(name, value)| (key(name), text(value))).collect())
    }

    /// Redacts an action record.
    pub(super) fn record(&self, record: &ActionRecord) -> ActionRecord {
        let call = |call: &ToolCall| ToolCall {
            name: self.text(&call.name),
            args: call.args.iter().map(|(name, value)| (self.name(name), self.free_text(value))).collect(),
            result: self.free_text(&call.result),
            outcome: call.outcome,
        };
        ActionRecord {
            iteration: record.iteration,
            timestamp: self.time(record.timestamp),
            mode: record.mode,
            thinking: self.free_text(&record.thinking),
            planning: self.free_text(&record.planning),
            reflection: self.free_text(&record.reflection),
            approach: self.free_text(&record.approach),
            tool_calls: record.tool_calls.iter().map(call).collect(),
        }
    }
}
