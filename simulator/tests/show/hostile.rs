//! Text that would act, at every place of a trace where text can stand.

use orchestrion_trace::{Header, Reader, StepMetadata, StepRecord, Writer};
use serde_json::Value;

/// What a page or a terminal must never get as it is.
pub(crate) const MARKER: &str = concat!(
    "<img src=x onerror=alert(1)>\"'&amp;\u{202e}\u{1b}[31m\u{7}\u{9b}2J\u{2028}\r\n",
    "</script><script>alert(2)</script><!--]]>{{7*7}}javascript:alert(3)\u{0}\u{e0041}\u{feff}"
);

/// The words that the format itself has as texts, beside the names of variants, which are all in this manner.
fn is_of_the_format(key: &str, text: &str) -> bool {
    matches!(key, "format" | "row" | "elo")
        || text.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !FREE.contains(&key)
}

/// The keys under which users, modules and runtimes write what they like.
pub(crate) const FREE: [&str; 11] = [
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

/// Puts the marker into every free text, behind what stood there.
fn poison(key: &str, value: &mut Value) -> usize {
    match value {
        Value::String(text) if FREE.contains(&key) || !is_of_the_format(key, text) => {
            // The name of a policy says which built-in one it is; another text there makes it an own one.
            text.push_str(MARKER);
            1
        }
        Value::Array(values) => values.iter_mut().map(|value| poison(key, value)).sum(),
        Value::Object(fields) => fields.iter_mut().map(|(key, value)| poison(key, value)).sum(),
        _ => 0,
    }
}

/// The trace with the marker in every text of it, chained anew, and how often it stands there.
pub(crate) fn poisoned(trace: &[u8]) -> (Vec<u8>, usize) {
    let reader = Reader::new(trace, "some.ndjson").unwrap();
    let mut places = 0;
    let mut header = serde_json::to_value(reader.header()).unwrap();
    places += poison("", &mut header);
    let header: Header = serde_json::from_value(header).unwrap();
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for step in reader {
        let mut step = step.unwrap();
        step.note = Some("said the runtime".into());
        step.at_ms = 1_700_000_000_000 + 350 * step.n;
        let mut value = serde_json::to_value(&step).unwrap();
        places += poison("", &mut value);
        let step: orchestrion_trace::Step = serde_json::from_value(value).unwrap();
        let made = match &step.refused {
            Some(sentence) => StepRecord::refused(sentence),
            None => StepRecord::accepted(&step.events, step.context.as_ref()),
        };
        writer.step(&StepMetadata { at_ms: step.at_ms, note: step.note.clone() }, &step.input, made).unwrap();
    }
    (writer.end().unwrap(), places)
}
