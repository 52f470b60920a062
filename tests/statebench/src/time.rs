//! Times as text. A time without a zone is UTC; times are only compared.

use crate::pattern::compile;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use orchestrion_kernel::Timestamp;
use regex::Regex;
use std::sync::LazyLock;

/// Parses a time from 1970 on.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let without_zone = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
    let time = text.parse::<jiff::Timestamp>().ok();
    let time = time.or_else(|| without_zone().map(|time| time.timestamp()))?;
    u64::try_from(time.as_millisecond()).ok().map(Timestamp::from_millis)
}

/// Formats a time in UTC.
pub(crate) fn format(time: Timestamp) -> String {
    to_jiff(time).map_or_else(|| time.to_string(), |time| time.to_string())
}

/// Formats a time with the zone and the precision of another text, in UTC if that is no time.
pub(crate) fn format_like(form: &str, time: Timestamp) -> String {
    static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
        compile(r"^\d{4}-\d\d-\d\d([Tt ])\d\d:\d\d(:\d\d)?[\d.]*(?:([+-])(\d\d):?(\d\d)|([Zz]))?$")
    });
    let form = form.trim();
    let formatted = parse(form).and(SHAPE.captures(form)).and_then(|shape| {
        let number = |n: usize| shape.get(n).and_then(|group| group.as_str().parse::<i32>().ok());
        let seconds = (number(4).unwrap_or_default() * 60 + number(5).unwrap_or_default()) * 60;
        let is_west = shape.get(3).is_some_and(|sign| sign.as_str() == "-");
        let offset = Offset::from_seconds(if is_west { -seconds } else { seconds }).ok()?;
        let zone = shape.get(3).or(shape.get(6)).map_or("", |zone| &form[zone.start()..]);
        let seconds = if shape.get(2).is_some() { ":%S" } else { "" };
        let civil = offset.to_datetime(to_jiff(time)?);
        Some(format!("{}{zone}", civil.strftime(&format!("%Y-%m-%d{}%H:%M{seconds}", &shape[1]))))
    });
    formatted.unwrap_or_else(|| format(time))
}

fn to_jiff(time: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(i64::try_from(time.millis()).ok()?).ok()
}
