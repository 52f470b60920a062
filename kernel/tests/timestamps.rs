//! The text of a time and its reading, against a calendar that counts day by day.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use orchestrion_kernel::Timestamp;

const DAY_MS: u64 = 86_400_000;

/// Days of the Gregorian calendar from 1970-01-01 on: number, year, month, day.
fn calendar() -> impl Iterator<Item = (u64, u64, u64, u64)> {
    let (mut year, mut month, mut day) = (1970, 1, 0);
    (0..).map(move |number| {
        let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days_of_month = match month {
            2 if is_leap_year => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        day += 1;
        if day > days_of_month {
            (day, month) = (1, month + 1);
        }
        if month > 12 {
            (month, year) = (1, year + 1);
        }
        (number, year, month, day)
    })
}

#[test]
fn text_of_day_matches_calendar() {
    for (number, year, month, day) in calendar().take_while(|(_, year, ..)| *year <= 2401) {
        let text = format!("{year}-{month:02}-{day:02}T00:00:00Z");
        let time = Timestamp::from_millis(number * DAY_MS);
        assert_eq!((time.to_string(), Timestamp::from_text(&text)), (text, Some(time)));
    }
}

#[test]
fn text_contains_time_at() {
    let at = |hour: u64, minute: u64, second: u64, millis: u64| {
        Timestamp::from_millis(((hour * 60 + minute) * 60 + second) * 1000 + millis)
    };
    for (time, text) in [
        (at(0, 0, 0, 1), "1970-01-01T00:00:00.001Z"),
        (at(0, 0, 59, 0), "1970-01-01T00:00:59Z"),
        (at(0, 59, 0, 990), "1970-01-01T00:59:00.990Z"),
        (at(13, 7, 42, 0), "1970-01-01T13:07:42Z"),
        (at(23, 59, 59, 999), "1970-01-01T23:59:59.999Z"),
    ] {
        assert_eq!((time.to_string().as_str(), Timestamp::from_text(text)), (text, Some(time)));
    }
}

#[test]
fn year_of_five_digits_has_a_sign() {
    for (millis, text) in [
        (253_402_300_799_000, "9999-12-31T23:59:59Z"),
        (253_402_300_800_000, "+10000-01-01T00:00:00Z"),
        (u64::MAX, "+584556019-04-03T14:25:51.615Z"),
    ] {
        let time = Timestamp::from_millis(millis);
        assert_eq!((time.to_string().as_str(), Timestamp::from_text(text)), (text, Some(time)));
    }
}

#[test]
fn invalid_text_is_not_a_time() {
    for text in [
        "",
        "Z",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01 00:00:00Z",
        "1970-01-01T00:00Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00.1Z",
        "1970-01-01T00:00:00.000Z",
        "1970-01-01T00:00:00.0010Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T24:00:00Z",
        "1970-1-01T00:00:00Z",
        "+1970-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "++10000-01-01T00:00:00Z",
        "+010000-01-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-13-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-01-32T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z",
        "+584556019-04-03T14:25:51.616Z",
        "+18446744073709551615-01-01T00:00:00Z",
        "1970-18446744073709551615-01T00:00:00Z",
        "1970-01-18446744073709551615T00:00:00Z",
        "1970-01-01T18446744073709551615:00:00Z",
        "1970-01-01T00:18446744073709551615:00Z",
        "1970-01-01T00:00:18446744073709551615Z",
    ] {
        assert_eq!(Timestamp::from_text(text), None, "{text}");
    }
}
