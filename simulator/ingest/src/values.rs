//! Values with a recognizable shape: days, times, dates, shares, sums and streets.
//!
//! Two texts on one entity contradict each other if both contain a value of one kind and no common one (003 rule 2, "conflicting
//! values"). Deliberately absent: values without a shape, such as colors and names.

use crate::pattern::compile;
use crate::stems::{is_number, words};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// One pattern per kind of value. A text may contain several kinds.
static KINDS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)\b((mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow)\b",
        r"(?i)\b\d{1,2}(:\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\b(noon|midnight)\b",
        r"(?i)\b(january|february|march|april|june|july|august|september|october|november|december)\b(\s+\d+)?|\b\d{4}-\d\d-\d\d\b",
        r"(?i)\b\d+(\.\d+)?\s?(%|percent\b)",
        r"(?i)[$€£]\s?\d[\d,.]*\s?[km]?\b",
        r"(?i)\b\d+ ([a-z]+ ){1,3}(st|street|ave|avenue|rd|road|ln|lane|dr|drive|blvd|boulevard|way|court|square)\b",
    ]
    .map(compile)
    .into()
});

/// The values of a text, each with the index of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values(BTreeSet<(usize, String)>);

impl Values {
    /// Returns the values of a text.
    pub(crate) fn from_text(text: &str) -> Self {
        let of_kind = |(kind, pattern): (usize, &Regex)| {
            let normalized = |found: regex::Match<'_>| (kind, words(found.as_str()).concat());
            pattern.find_iter(text).map(normalized).collect::<Vec<_>>()
        };
        Self(KINDS.iter().enumerate().flat_map(of_kind).collect())
    }

    /// Iterates over the kinds that both sets contain, with the values of each set.
    fn shared_kinds<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (BTreeSet<&'a str>, BTreeSet<&'a str>)> {
        let of = |values: &'a Self, kind| {
            let same = move |(of, value): &'a (usize, String)| (*of == kind).then_some(value.as_str());
            values.0.iter().filter_map(same).collect::<BTreeSet<_>>()
        };
        let both = (0..KINDS.len()).map(move |kind| (of(self, kind), of(other, kind)));
        both.filter(|(own, others)| !own.is_empty() && !others.is_empty())
    }

    /// Whether both sets contain a value of one kind.
    pub(crate) fn shares_kind_with(&self, other: &Self) -> bool {
        self.shared_kinds(other).next().is_some()
    }

    /// Whether both sets contain values of one kind, and no common one.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        self.shared_kinds(other).any(|(own, others)| own.is_disjoint(&others))
    }
}

/// Returns the words of a text without values and numbers: its subject.
pub(crate) fn remove_values(text: &str) -> String {
    let rest = KINDS.iter().fold(text.to_string(), |rest, kind| kind.replace_all(&rest, " ").into_owned());
    words(&rest).into_iter().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradict(one: &str, other: &str) -> bool {
        Values::from_text(one).contradicts(&Values::from_text(other))
    }

    #[test]
    fn different_values_of_one_kind_contradict() {
        for (one, other) in [
            ("Meeting is Tuesday at 2pm", "Let's do Thursday"),
            ("Tuesday at 2pm", "Thursday at 2pm"),
            ("at 2 pm", "at 14:30"),
            ("due March 3", "due April 4"),
            ("max 15%", "offer 25 percent"),
            ("$1,500", "$95"),
            ("lives at 123 Main St", "I moved to 456 Oak Ave"),
        ] {
            assert!(contradict(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn equal_values_and_different_kinds_do_not_contradict() {
        for (one, other) in
            [("on Tuesday", "TUESDAY then"), ("2 pm", "2pm"), ("max 15%", "at $15"), ("red", "black")]
        {
            assert!(!contradict(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn subject_excludes_values() {
        assert_eq!(remove_values("Meeting is Tuesday at 2pm with 12 guests"), "meeting is at with guests");
        assert_eq!(remove_values("lives at 123 Main St"), "lives at");
    }
}
