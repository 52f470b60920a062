//! Words: how texts are compared where nobody understands them.
//!
//! A text is the set of its stems; function words say nothing of what it is about. Deliberately absent: synonyms, grammar,
//! anything learnt.

use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words that say nothing of what a text is about.
static FUNCTION_WORDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    "a about again all also am an and any are as at be been being but by can could did do does done for from had \
     has have he her here his how i i'd i'll i'm if in into is it its just let let's may me might more most must my \
     need needs no not now of off on or our out over please shall she should so some than that the their them then \
     there these they this those to too under up us very want wants was we we'd we'll we're we've were what when \
     where which who whom whose why will with would you your"
        .split_whitespace()
        .collect()
});

/// Numbers keep their points, signs and units, names their hyphens.
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[$#]?\w[\w.,%/'-]*\w%?|\w"));

/// A word this long or longer is told by its beginning.
const STEM_CHARS: usize = 5;

/// Compiles a pattern of ours.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours, which every test of its table compiles")
}

/// The words of a text, in small letters, in their order.
pub fn words(text: &str) -> Vec<String> {
    let plain = text.replace('\u{2019}', "'").replace('_', " ");
    let word = |found: regex::Match<'_>| {
        found.as_str().to_lowercase().trim_end_matches(['.', ',', '\'']).to_string()
    };
    WORD.find_iter(&plain).map(word).collect()
}

/// What is left of a word without its ending.
pub fn stem(word: &str) -> String {
    let word = word.replace(',', "");
    let word = word.strip_suffix("'s").unwrap_or(&word);
    let letters = word.chars().count();
    match word.chars().all(char::is_alphabetic) {
        true if letters > STEM_CHARS => word.chars().take(STEM_CHARS).collect(),
        true if letters > 3 => word.trim_end_matches('s').to_string(),
        _ => word.to_string(),
    }
}

/// Whether a stem has a digit in it: the value of something, rather than what it is.
pub fn is_number(stem: &str) -> bool {
    stem.chars().any(|c| c.is_ascii_digit())
}

/// The stems of a text, each once, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stems(Vec<String>);

impl Stems {
    /// The stems of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let said = words(text).into_iter().filter(|word| !FUNCTION_WORDS.contains(word.as_str()));
        said.map(|word| stem(&word)).collect()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this stem is one of them.
    #[must_use]
    pub fn has(&self, stem: &str) -> bool {
        self.0.binary_search_by(|own| own.as_str().cmp(stem)).is_ok()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Those that are among the others too.
    pub fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a str> {
        self.iter().filter(|stem| other.has(stem))
    }

    /// Whether any of them is among the others.
    #[must_use]
    pub fn meet(&self, other: &Self) -> bool {
        self.shared(other).next().is_some()
    }

    /// Those that are not among the others.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self(self.0.iter().filter(|stem| !other.has(stem)).cloned().collect())
    }

    /// These and the others.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.0.iter().chain(&other.0).cloned().collect()
    }

    /// Only those with a digit.
    #[must_use]
    pub fn numbers(&self) -> Self {
        Self(self.0.iter().filter(|stem| is_number(stem)).cloned().collect())
    }

    /// Whether at least so many hundredths of them are among the others; of none, none are.
    #[must_use]
    pub fn covered(&self, other: &Self, percent: usize) -> bool {
        !self.is_empty() && self.shared(other).count() * 100 >= self.len() * percent
    }

    /// Whether all of them are among the others: whoever said those said these.
    #[must_use]
    pub fn said_in(&self, other: &Self) -> bool {
        self.covered(other, 100)
    }
}

impl FromIterator<String> for Stems {
    fn from_iter<T: IntoIterator<Item = String>>(stems: T) -> Self {
        Self(stems.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// The sentences of a text, with what ends them.
pub fn sentences(text: &str) -> Vec<&str> {
    static END: LazyLock<Regex> = LazyLock::new(|| pattern(r"[.!?]\s+"));
    let (mut from, mut found) = (0, Vec::new());
    for end in END.find_iter(text) {
        found.push(text[from..end.end()].trim());
        from = end.end();
    }
    found.push(text[from..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        Stems::of(text).0
    }

    #[test]
    fn words_keep_what_makes_a_number() {
        assert_eq!(words("Pay $1,500.50, or 12% of 99.9."), ["pay", "$1,500.50", "or", "12%", "of", "99.9"]);
        assert_eq!(words("launch_date: it\u{2019}s X-1"), ["launch", "date", "it's", "x-1"]);
    }

    #[test]
    fn stems_forget_endings_and_function_words() {
        assert_eq!(stems("The suppliers' supplies are the supplier's"), ["suppl"]);
        assert_eq!(stems("Bills, bill's 1,500"), ["1500", "bill"]);
        assert!(Stems::of("what is it about?").is_empty());
    }

    #[test]
    fn a_number_is_said_only_as_itself() {
        let of = Stems::of;
        assert!(of("500 seats").said_in(&of("We want 500 seats now")));
        assert!(!of("500 seats").said_in(&of("We want 1500 seats now")));
        assert!(!of("").said_in(&of("anything")), "who says nothing says no value");
    }

    #[test]
    fn cover_is_a_share_of_the_first() {
        let (few, many) = (Stems::of("red green"), Stems::of("red blue black white"));
        assert!(few.covered(&many, 50) && !few.covered(&many, 51));
        assert!(many.covered(&few, 25) && !many.covered(&few, 26));
    }

    #[test]
    fn sentences_end_where_a_space_follows() {
        assert_eq!(sentences("It costs 1.5 now. Really?  Yes! "), ["It costs 1.5 now.", "Really?", "Yes!"]);
        assert!(sentences("  ").is_empty());
    }
}
