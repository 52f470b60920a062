//! Times, and their form in texts.

use alloc::string::ToString;
use core::fmt;

/// A time in milliseconds since 1970-01-01. Its text is that of ISO 8601 in UTC.
///
/// ```
/// use orchestrion_kernel::Timestamp;
///
/// assert_eq!(Timestamp::from_millis(1_767_225_600_250).to_string(), "2026-01-01T00:00:00.250Z");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a timestamp from milliseconds since 1970-01-01.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since 1970-01-01.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Returns the time with this text; `None` if it is not the text of a time. Other forms of ISO 8601 are parsed at the boundary.
    ///
    /// ```
    /// use orchestrion_kernel::Timestamp;
    ///
    /// let time = Timestamp::from_millis(1_767_225_600_250);
    /// assert_eq!(Timestamp::from_text("2026-01-01T00:00:00.250Z"), Some(time));
    /// assert_eq!(Timestamp::from_text("2026-01-01 00:00"), None);
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
        let mut date = date.trim_start_matches('+').splitn(3, '-').map(|part| part.parse::<u64>().ok());
        let (year, month, day) = (date.next()??, date.next()??, date.next()??);
        let (time, millis) = time.split_once('.').unwrap_or((time, "0"));
        let mut time = time.splitn(3, ':').map(|part| part.parse::<u64>().ok());
        let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
        let minutes = hour.checked_mul(60)?.checked_add(minute)?;
        let seconds = minutes.checked_mul(60)?.checked_add(second)?;
        let of_day = seconds.checked_mul(1000)?.checked_add(millis.parse().ok()?)?;
        let date = Date { year, month, day };
        let parsed = Self(date.days()?.checked_mul(DAY_MS)?.checked_add(of_day)?);
        // The calculation accepts numbers outside of their ranges; the text of the result shows them.
        (parsed.to_string() == text).then_some(parsed)
    }
}

const DAY_MS: u64 = 86_400_000;
/// The days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: u64 = 719_468;
const DAYS_OF_400_YEARS: u64 = 146_097;

/// A date of the Gregorian calendar.
struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// Returns the day, counted from 1970-01-01; `None` before it.
    fn days(&self) -> Option<u64> {
        let is_before_march = self.month <= 2;
        let year = self.year.checked_sub(u64::from(is_before_march))?;
        let month_from_march =
            if is_before_march { self.month.checked_add(9)? } else { self.month.checked_sub(3)? };
        let first_of_month = month_from_march.checked_mul(153)?.checked_add(2)? / 5;
        let leap_days = (year / 4).checked_sub(year / 100)?.checked_add(year / 400)?;
        let days = year.checked_mul(365)?.checked_add(leap_days)?.checked_add(first_of_month)?;
        days.checked_add(self.day)?.checked_sub(1)?.checked_sub(EPOCH_DAYS)
    }

    /// Returns the date of a day, counted from 1970-01-01. Years begin in March, so that the leap day is the last day of a year.
    fn from_days(days: u64) -> Self {
        let days = days.saturating_add(EPOCH_DAYS);
        let (periods, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
        // The leap days before this day: each 4 years, but not each 100, and again at the end of 400.
        let without_leap_days =
            day.saturating_sub(day / 1460).saturating_add(day / 36_524).saturating_sub(day / 146_096);
        let year_of_period = without_leap_days / 365;
        let first_day = year_of_period
            .saturating_mul(365)
            .saturating_add(year_of_period / 4)
            .saturating_sub(year_of_period / 100);
        let day_of_year = day.saturating_sub(first_day);
        // Five months from March on have 153 days, again and again.
        let month_from_march = day_of_year.saturating_mul(5).saturating_add(2) / 153;
        let first_of_month = month_from_march.saturating_mul(153).saturating_add(2) / 5;
        let is_next_year = month_from_march >= 10;
        let year = periods.saturating_mul(400).saturating_add(year_of_period);
        Self {
            year: year.saturating_add(u64::from(is_next_year)),
            month: if is_next_year {
                month_from_march.saturating_sub(9)
            } else {
                month_from_march.saturating_add(3)
            },
            day: day_of_year.saturating_sub(first_of_month).saturating_add(1),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date { year, month, day } = Date::from_days(self.0 / DAY_MS);
        let ms = self.0 % DAY_MS;
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        // ISO 8601 expands years of more than four digits by a sign.
        if year > 9999 {
            f.write_str("+")?;
        }
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match ms % 1000 {
            0 => f.write_str("Z"),
            fraction => write!(f, ".{fraction:03}Z"),
        }
    }
}
