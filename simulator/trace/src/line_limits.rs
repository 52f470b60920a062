//! The limits of a line: its bytes, and its values, because a value needs more memory than its bytes.
//!
//! A writer and a reader apply the same limits, so that each written line is readable.

use crate::chain;
use crate::error::TraceErrorKind;
use orchestrion_files::limits::{
    STATE_BYTES_MAX, STATE_VALUES_MAX, TRACE_HEADER_BYTES_MAX, TRACE_LINE_BYTES_MAX, TRACE_LINE_VALUES_MAX,
};
use serde::Serialize;
use std::io;

/// The limits of one kind of line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineLimits {
    pub(crate) bytes_max: usize,
    values_max: usize,
}

impl LineLimits {
    pub(crate) const HEADER: Self =
        Self { bytes_max: TRACE_HEADER_BYTES_MAX, values_max: TRACE_LINE_VALUES_MAX };
    pub(crate) const STEP: Self = Self { bytes_max: TRACE_LINE_BYTES_MAX, values_max: TRACE_LINE_VALUES_MAX };
    /// The conversation at the start of a segment.
    pub(crate) const STATE: Self = Self { bytes_max: STATE_BYTES_MAX, values_max: STATE_VALUES_MAX };

    /// Checks a line without its chain that is to be written. `more` is the number of values that its references add.
    pub(crate) fn check_written(self, line: &str, more: usize) -> io::Result<()> {
        let Self { bytes_max, values_max } = self;
        let is_short = line.len() + chain::SEAL_BYTES <= bytes_max;
        if is_short && self.check_values(line.as_bytes(), more).is_ok() {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!(
                "line too large: expected at most {bytes_max} bytes and {values_max} values and keys, found more"
            ),
        ))
    }

    /// Checks the values of a line. `more` is the number of those that its references add.
    pub(crate) fn check_values(self, line: &[u8], more: usize) -> Result<(), TraceErrorKind> {
        // Each value has at least one byte.
        if line.len().saturating_add(more) <= self.values_max {
            return Ok(());
        }
        if json_values(line).saturating_add(more) <= self.values_max {
            return Ok(());
        }
        Err(TraceErrorKind::TooManyValues { values_max: self.values_max })
    }
}

/// Returns the number of values of JSON: objects, lists, keys and single values. An empty object or list counts as two.
#[must_use]
pub fn json_values(json: &[u8]) -> usize {
    let (mut is_in_string, mut is_escaped) = (false, false);
    // Each value but the first one follows an opening bracket, a comma or a colon.
    let starts_value = |byte: &&u8| match (is_in_string, byte) {
        (true, _) if is_escaped => {
            is_escaped = false;
            false
        }
        (true, b'\\') => {
            is_escaped = true;
            false
        }
        (_, b'"') => {
            is_in_string = !is_in_string;
            false
        }
        (false, b',' | b':' | b'[' | b'{') => true,
        (true | false, _) => false,
    };
    usize::from(!json.is_empty()) + json.iter().filter(starts_value).count()
}

/// Returns the length of a value as JSON, without keeping the JSON.
#[must_use]
pub fn json_len_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A value that cannot be serialized cannot be recorded either.
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Header, StepMetadata, StepRecord};
    use crate::{Reader, Writer};
    use orchestrion_kernel::{ConversationId, Event, Input, Policy, Timestamp};
    use serde_json::{Value, json};

    /// Counts the values of a parsed tree.
    fn values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(entries) => entries.values().map(|value| 1 + values(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    #[test]
    fn values_are_those_of_the_parsed_tree() {
        for value in [
            json!(7),
            json!("a,b:[c{"),
            json!([1, 2, [3]]),
            json!({"a": {"b\"": "c\\", "d,": [null, true, "\\\",["]}}),
        ] {
            let text = value.to_string();
            assert_eq!(json_values(text.as_bytes()), values(&value), "{text}");
        }
        assert_eq!((json_values(b"[]"), json_values(b"")), (2, 0));
    }

    #[test]
    fn longer_lines_and_more_values_are_refused() {
        let limits = LineLimits { bytes_max: 20 + chain::SEAL_BYTES, values_max: 4 };
        assert!(limits.check_written(&"a".repeat(20), 0).is_ok());
        assert!(limits.check_written(&"a".repeat(21), 0).is_err());
        for (line, more, is_valid) in [
            ("[1,2,3]", 0, true),
            ("[1,2,3]", 1, false),
            ("[1,2,3,4]", 0, false),
            ("\",,,,,,,,,\"", 0, true),
            ("[[[[[", 0, false),
        ] {
            assert_eq!(limits.check_values(line.as_bytes(), more).is_ok(), is_valid, "{line}");
        }
    }

    /// A step that no reader accepts is refused, and nothing of it is written.
    #[test]
    fn unreadable_step_is_not_written() {
        let header = Header::new(ConversationId::new("long"), Policy::hardened(), None);
        let mut trace = Vec::new();
        let mut writer = Writer::new(&mut trace, &header).unwrap();
        let metadata = StepMetadata::at(Timestamp::default());
        let events = vec![Event::TimeAdvanced { now: Timestamp::default() }; TRACE_LINE_VALUES_MAX / 5 + 1];
        let few = StepRecord::accepted(&events[20..], None);
        writer.write_step(&metadata, &Input::Tick, few).unwrap();
        let many = writer.write_step(&metadata, &Input::Tick, StepRecord::accepted(&events, None));
        assert_eq!(many.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let mut reader = Reader::new(trace.as_slice(), "long").unwrap();
        assert!(reader.advance().is_ok_and(|has_step| has_step));
        assert!(reader.is_incomplete());
    }
}
