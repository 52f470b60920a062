//! Times in ISO 8601: the start of a scenario, and the times of writes.

use orchestrion_kernel::Timestamp;
use orchestrion_yaml::{LabeledError, parse_scalar};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A time in ISO 8601 with its offset from UTC, in whole milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText(pub Timestamp);

/// The time of an action record: as [`TimeText`], without parts of a millisecond, which other languages write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordTime(pub Timestamp);

const HELP: &str = "write a date and a time with its offset from UTC, as in 2026-01-01T09:30:00Z";

/// Parses a time. Returns it without parts of a millisecond, and whether it has none.
fn parse(text: &str) -> Result<(Timestamp, bool), LabeledError> {
    let time: jiff::Timestamp = text
        .parse()
        .map_err(|_| LabeledError::new(format!("expected a time, found `{}`", text.escape_debug()), HELP))?;
    let is_whole = time.subsec_nanosecond() % 1_000_000 == 0;
    match u64::try_from(time.as_millisecond()) {
        Ok(millis) if time >= jiff::Timestamp::UNIX_EPOCH => Ok((Timestamp::from_millis(millis), is_whole)),
        _ => Err(LabeledError::new(
            format!("expected a time since 1970, found `{}`", text.escape_debug()),
            HELP,
        )),
    }
}

impl TimeText {
    fn parse(text: &str) -> Result<Self, LabeledError> {
        match parse(text)? {
            (time, true) => Ok(Self(time)),
            (_, false) => Err(LabeledError::new(
                format!("expected a time in whole milliseconds, found `{}`", text.escape_debug()),
                HELP,
            )),
        }
    }
}

impl RecordTime {
    fn parse(text: &str) -> Result<Self, LabeledError> {
        parse(text).map(|(time, _)| Self(time))
    }
}

macro_rules! time_texts {
    ($($name:ident $schema:literal,)*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parse_scalar(deserializer, "not a valid time", Self::parse)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $schema.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": "A time in ISO 8601 with its offset from UTC, as in 2026-01-01T09:30:00Z.",
                    "type": "string",
                    "format": "date-time",
                })
            }
        }
    )*};
}

time_texts! {
    TimeText "Time",
    RecordTime "RecordTime",
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
            assert_eq!(Timestamp::from_text(&time.to_string()), Some(time));
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
