//! Time-sensitive texts (003 rule 4).

use crate::pattern::compile;
use regex::Regex;
use std::sync::LazyLock;

/// Whether a text or a key is time-sensitive, so that the later of two times counts: it has a time phrase such as `as of`, or
/// measures a value that changes by itself, such as a stock price.
#[must_use]
pub fn is_time_sensitive(text: &str) -> bool {
    static CHANGING: LazyLock<Regex> = LazyLock::new(|| {
        compile(
            r"(?i)\b(as of|right now|at the moment|(stock|share)[ _]prices?|exchange[ _]rates?|temperatures?)\b",
        )
    });
    CHANGING.is_match(text)
}
