//! Times in ISO 8601: the start of a scenario, and the times of writes.

use orchestrion_kernel::Timestamp;
use orchestrion_yaml::{LabeledError, parse_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A time in ISO 8601 with its offset from UTC, in whole milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText(pub Timestamp);

impl TimeText {
    fn parse(text: &str) -> Result<Self, LabeledError> {
        let help = "write a date and a time with its offset from UTC, as in 2026-01-01T09:30:00Z";
        let time: jiff::Timestamp = text.parse().map_err(|_| {
            LabeledError::new(format!("expected a time, found `{}`", text.escape_debug()), help)
        })?;
        let millis = u64::try_from(time.as_millisecond()).ok();
        let is_whole = time.subsec_nanosecond() % 1_000_000 == 0;
        millis.filter(|_| is_whole).map(|millis| Self(Timestamp::from_millis(millis))).ok_or_else(|| {
            LabeledError::new(
                format!("expected a time in whole milliseconds since 1970, found `{}`", text.escape_debug()),
                help,
            )
        })
    }
}

impl Serialize for TimeText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TimeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "not a valid time", Self::parse)
    }
}

impl JsonSchema for TimeText {
    fn schema_name() -> Cow<'static, str> {
        "Time".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time in ISO 8601 with its offset from UTC, as in 2026-01-01T09:30:00Z.",
            "type": "string",
            "format": "date-time",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// jiff is independent of the kernel's calendar.
    #[test]
    fn times_read_back_as_jiff_reads_them() {
        // Up to the year 9999. The step is a prime, so every part of a time varies.
        const STEP_MS: u64 = 12_670_115_039;
        for n in 0..20_000 {
            let time = Timestamp::from_millis(n * STEP_MS);
            let read = TimeText::parse(&time.to_string()).unwrap_or_else(|error| panic!("{time}: {error:?}"));
            assert_eq!(read.0, time);
        }
    }

    #[test]
    fn offsets_are_converted_to_utc() {
        let read = TimeText::parse("2026-03-02T10:30:00.25+01:00").unwrap();
        assert_eq!(read.0.to_string(), "2026-03-02T09:30:00.250Z");
    }

    #[test]
    fn other_times_are_refused() {
        let before_1970 = "1969-12-31T23:59:59Z";
        let fraction = "2026-01-01T00:00:00.0005Z";
        for text in
            ["", "1000", "2026-01-01", "2026-01-01T00:00:00", "2026-02-30T00:00:00Z", before_1970, fraction]
        {
            assert!(TimeText::parse(text).is_err(), "{text}");
        }
    }
}
