//! Traces with a hostile text in every text field.

use orchestrion_trace::{Header, Reader, StepRecord, Writer};
use serde_json::Value;

/// Markup, escape sequences and invisible characters that output must neutralize.
pub(crate) const MARKER: &str = concat!(
    "<img src=x onerror=alert(1)>\"'&amp;\u{202e}\u{1b}[31m\u{7}\u{9b}2J\u{2028}\r\n",
    "</script><script>alert(2)</script><!--]]>{{7*7}}javascript:alert(3)\u{0}\u{e0041}\u{feff}"
);

/// Checks whether a text belongs to the format: variant names and fixed values.
fn is_format_word(key: &str, text: &str) -> bool {
    matches!(key, "format" | "row" | "elo" | "timestamp")
        || text.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !FREE_TEXT_FIELDS.contains(&key)
}

/// The fields whose texts come from users, modules or runtimes.
pub(crate) const FREE_TEXT_FIELDS: [&str; 11] = [
    "conversation",
    "user",
    "text",
    "tags",
    "compensation",
    "note",
    "refused",
    "name",
    "kernel",
    "table",
    "digest",
];

/// Appends the marker to every free text; returns the number of texts.
fn poison(key: &str, value: &mut Value) -> usize {
    match value {
        Value::String(text) if FREE_TEXT_FIELDS.contains(&key) || !is_format_word(key, text) => {
            // A policy with another name than a built-in one is a custom policy.
            text.push_str(MARKER);
            1
        }
        Value::Array(values) => values.iter_mut().map(|value| poison(key, value)).sum(),
        Value::Object(fields) => fields.iter_mut().map(|(key, value)| poison(key, value)).sum(),
        _ => 0,
    }
}

/// Returns the trace with the marker in every text and a new hash chain, and the number of texts.
pub(crate) fn poisoned(trace: &[u8]) -> (Vec<u8>, usize) {
    let reader = Reader::new(trace, "some.ndjson").unwrap();
    let mut places = 0;
    let mut header = serde_json::to_value(reader.header()).unwrap();
    places += poison("", &mut header);
    let header: Header = serde_json::from_value(header).unwrap();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for step in reader {
        let mut step = step.unwrap();
        step.note = Some("note of the runtime".into());
        step.at_ms = 1_700_000_000_000 + 350 * step.n;
        let mut value = serde_json::to_value(&step).unwrap();
        places += poison("", &mut value);
        let step: orchestrion_trace::Step = serde_json::from_value(value).unwrap();
        let made = match &step.refused {
            Some(sentence) => StepRecord::refused(sentence),
            None => StepRecord::accepted(&step.events, step.context.as_ref()),
        };
        writer.write_step(&step.metadata(), &step.input, made).unwrap();
    }
    (writer.end().unwrap(), places)
}
