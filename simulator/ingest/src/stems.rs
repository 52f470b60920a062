//! Words, stems and sentences: the comparison of texts without understanding them.
//!
//! A text is the set of its stems, without function words. Deliberately absent: synonyms, grammar, anything learned.

use crate::pattern::compile;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that do not contribute to the subject of a text.
static FUNCTION_WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "a about again all also am an and any are as at be been being but by can could did do does done for from had \
     has have he her here his how i i'd i'll i'm if in into is it its just let let's may me might more most must my \
     need needs no not now of off on or our out over please shall she should so some than that the their them then \
     there these they this those to too under up us very want wants was we we'd we'll we're we've were what when \
     where which who whom whose why will with would you your"
        .split_whitespace()
        .collect()
});

/// A word. Numbers keep their points, signs and units; names keep their hyphens.
static WORD: LazyLock<Regex> = LazyLock::new(|| compile(r"[$#]?\w[\w.,%/'-]*\w%?|\w"));

/// The length of a stem. A longer word is cut to this length.
const STEM_CHARS: usize = 5;

/// Returns the words of a text in lowercase, in order.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let plain = text.replace('\u{2019}', "'").replace('_', " ");
    let word = |found: regex::Match<'_>| {
        found.as_str().to_lowercase().trim_end_matches(['.', ',', '\'']).to_string()
    };
    WORD.find_iter(&plain).map(word).collect()
}

/// Returns a lowercase word without its ending.
#[must_use]
pub fn stem(word: &str) -> String {
    let word = word.replace(',', "");
    let word = word.strip_suffix("'s").unwrap_or(&word);
    let chars = word.chars().count();
    match word.chars().all(char::is_alphabetic) {
        true if chars > STEM_CHARS => word.chars().take(STEM_CHARS).collect(),
        true if chars > 3 => word.trim_end_matches('s').to_string(),
        _ => word.to_string(),
    }
}

/// Whether a stem contains a digit: part of a value rather than of a subject.
#[must_use]
pub fn is_number(stem: &str) -> bool {
    stem.chars().any(|c| c.is_ascii_digit())
}

/// The set of the stems of a text, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stems(Vec<String>);

impl Stems {
    /// Returns the stems of a text.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let content = words(text).into_iter().filter(|word| !FUNCTION_WORDS.contains(word.as_str()));
        content.map(|word| stem(&word)).collect()
    }

    /// The number of stems.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set contains this stem.
    #[must_use]
    pub fn contains(&self, stem: &str) -> bool {
        self.0.binary_search_by(|own| own.as_str().cmp(stem)).is_ok()
    }

    /// Iterates over the stems in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Iterates over the stems that both sets contain.
    pub fn intersection<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        self.iter().filter(|stem| other.contains(stem))
    }

    /// Whether both sets share a stem.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.intersection(other).next().is_some()
    }

    /// Returns the stems that the other set does not contain.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|stem| !other.contains(stem)).cloned().collect())
    }

    /// Returns the stems of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).cloned().collect()
    }

    /// Returns the stems with a digit.
    #[must_use]
    pub fn numbers(&self) -> Self {
        Self(self.0.iter().filter(|stem| is_number(stem)).cloned().collect())
    }

    /// Whether the other set contains at least this percentage of the stems. An empty set is never covered.
    #[must_use]
    pub fn is_covered_by(&self, other: &Self, percent: usize) -> bool {
        !self.is_empty() && self.intersection(other).count() * 100 >= self.len() * percent
    }

    /// Whether the other set contains every stem, so that the other text states this one. An empty set is never stated.
    #[must_use]
    pub fn is_stated_by(&self, other: &Self) -> bool {
        self.is_covered_by(other, 100)
    }
}

impl FromIterator<String> for Stems {
    fn from_iter<T: IntoIterator<Item = String>>(stems: T) -> Self {
        Self(stems.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// Returns the sentences of a text with their punctuation.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    static END: LazyLock<Regex> = LazyLock::new(|| compile(r"[.!?]\s+"));
    let (mut start, mut sentences) = (0, Vec::new());
    for end in END.find_iter(text) {
        sentences.push(text[start..end.end()].trim());
        start = end.end();
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        Stems::from_text(text).0
    }

    #[test]
    fn words_keep_number_signs() {
        assert_eq!(words("Pay $1,500.50, or 12% of 99.9."), ["pay", "$1,500.50", "or", "12%", "of", "99.9"]);
        assert_eq!(words("launch_date: it\u{2019}s X-1"), ["launch", "date", "it's", "x-1"]);
    }

    #[test]
    fn stems_omit_endings_and_function_words() {
        assert_eq!(stems("The suppliers' supplies are the supplier's"), ["suppl"]);
        assert_eq!(stems("Bills, bill's 1,500"), ["1500", "bill"]);
        assert!(Stems::from_text("what is it about?").is_empty());
    }

    #[test]
    fn numbers_match_only_as_a_whole() {
        let from = Stems::from_text;
        assert!(from("500 seats").is_stated_by(&from("We want 500 seats now")));
        assert!(!from("500 seats").is_stated_by(&from("We want 1500 seats now")));
        assert!(!from("").is_stated_by(&from("anything")), "an empty text states nothing");
    }

    #[test]
    fn coverage_is_a_share_of_the_receiver() {
        let (few, many) = (Stems::from_text("red green"), Stems::from_text("red blue black white"));
        assert!(few.is_covered_by(&many, 50) && !few.is_covered_by(&many, 51));
        assert!(many.is_covered_by(&few, 25) && !many.is_covered_by(&few, 26));
    }

    #[test]
    fn sentences_end_before_a_space() {
        assert_eq!(sentences("It costs 1.5 now. Really?  Yes! "), ["It costs 1.5 now.", "Really?", "Yes!"]);
        assert!(sentences("  ").is_empty());
    }
}
