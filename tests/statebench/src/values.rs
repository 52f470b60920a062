//! Values that tell by their shape what they are: days, times, shares, sums and streets.
//!
//! Two texts on one entity contradict each other where both tell a value of one kind, and not the same (003 rule 2, "conflicting
//! values"). What has no such shape, a colour or a name, contradicts nothing here.

use super::stems::{is_number, pattern, words};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Kinds of values. The order is of no account: a text may tell several.
static KINDS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)\b((mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow)\b",
        r"(?i)\b\d{1,2}(:\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|\b(noon|midnight)\b",
        r"(?i)\b(january|february|march|april|june|july|august|september|october|november|december)\b(\s+\d+)?|\b\d{4}-\d\d-\d\d\b",
        r"(?i)\b\d+(\.\d+)?\s?(%|percent\b)",
        r"(?i)[$€£]\s?\d[\d,.]*\s?[km]?\b",
        r"(?i)\b\d+ ([a-z]+ ){1,3}(st|street|ave|avenue|rd|road|ln|lane|dr|drive|blvd|boulevard|way|court|square)\b",
    ]
    .map(pattern)
    .into()
});

/// The values of a text, each with its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values(BTreeSet<(usize, String)>);

impl Values {
    /// The values of a text.
    pub(super) fn of(text: &str) -> Self {
        let of_kind = |(kind, shape): (usize, &Regex)| {
            let plain = |found: regex::Match<'_>| (kind, words(found.as_str()).concat());
            shape.find_iter(text).map(plain).collect::<Vec<_>>()
        };
        Self(KINDS.iter().enumerate().flat_map(of_kind).collect())
    }

    /// The values of a kind that both tell, of each.
    fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (BTreeSet<&'a str>, BTreeSet<&'a str>)> {
        let of = |values: &'a Self, kind| {
            let same = move |(of, value): &'a (usize, String)| (*of == kind).then_some(value.as_str());
            values.0.iter().filter_map(same).collect::<BTreeSet<_>>()
        };
        let both = (0..KINDS.len()).map(move |kind| (of(self, kind), of(other, kind)));
        both.filter(|(own, others)| !own.is_empty() && !others.is_empty())
    }

    /// Whether both tell a value of one kind.
    pub(super) fn compare_with(&self, other: &Self) -> bool {
        self.shared(other).next().is_some()
    }

    /// Whether of some kind they tell different values.
    pub(super) fn contradict(&self, other: &Self) -> bool {
        self.shared(other).any(|(own, others)| own.is_disjoint(&others))
    }
}

/// A text without its values and numbers: what it is about.
pub(super) fn without_values(text: &str) -> String {
    let rest = KINDS.iter().fold(text.to_string(), |rest, kind| kind.replace_all(&rest, " ").into_owned());
    words(&rest).into_iter().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contradict(one: &str, other: &str) -> bool {
        Values::of(one).contradict(&Values::of(other))
    }

    #[test]
    fn values_of_one_kind_contradict_each_other() {
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
    fn the_same_value_and_values_of_different_kinds_do_not() {
        for (one, other) in
            [("on Tuesday", "TUESDAY then"), ("2 pm", "2pm"), ("max 15%", "at $15"), ("red", "black")]
        {
            assert!(!contradict(one, other), "{one} and {other}");
        }
    }

    #[test]
    fn what_a_text_is_about_is_left_without_its_values() {
        assert_eq!(without_values("Meeting is Tuesday at 2pm with 12 guests"), "meeting is at with guests");
        assert_eq!(without_values("lives at 123 Main St"), "lives at");
    }
}
