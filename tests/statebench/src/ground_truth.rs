//! Expected answers, and the benchmark's rules for contexts.
//!
//! **Invariant.** Only verdicts on finished contexts leave a [`GroundTruth`]: its phrases are private to this file.

use crate::pattern::compile;
use regex::Regex;
use std::sync::LazyLock;

/// The name of a timeline, and the expected answer of each query.
#[derive(Clone, Debug)]
pub struct GroundTruth {
    /// The id of the timeline.
    pub id: String,
    /// The track.
    pub track: String,
    pub(crate) queries: Vec<ExpectedAnswer>,
}

/// The expected answer of a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedAnswer {
    required: Vec<Phrase>,
    forbidden: Vec<Phrase>,
}

/// The verdict on a context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the query forbids any phrase.
    pub has_forbidden: bool,
    /// The forbidden phrases in the context.
    pub resurrected: Vec<String>,
    /// The number of required phrases.
    pub required: usize,
    /// The required phrases that the context lacks.
    pub missing: Vec<String>,
}

impl ExpectedAnswer {
    /// Parses the phrases.
    ///
    /// # Errors
    /// A phrase has an invalid pattern.
    pub(crate) fn new(required: Vec<String>, forbidden: Vec<String>) -> Result<Self, String> {
        let parse = |phrases: Vec<String>| -> Result<Vec<Phrase>, String> {
            phrases.iter().map(|text| Phrase::new(text)).collect()
        };
        Ok(Self { required: parse(required)?, forbidden: parse(forbidden)? })
    }

    fn judge(&self, context: &str) -> Verdict {
        let context = context.to_lowercase();
        let context = context.trim();
        let texts = |phrases: &[Phrase], is_in: bool| {
            let found = phrases.iter().filter(|phrase| phrase.is_in(context) == is_in);
            found.map(|phrase| phrase.text.clone()).collect()
        };
        Verdict {
            has_forbidden: !self.forbidden.is_empty(),
            resurrected: texts(&self.forbidden, true),
            required: self.required.len(),
            missing: texts(&self.required, false),
        }
    }
}

impl GroundTruth {
    /// Judges the contexts of the queries, in the order of the queries.
    pub fn judge<'a>(&'a self, contexts: impl IntoIterator<Item = &'a str>) -> Vec<Verdict> {
        self.queries.iter().zip(contexts).map(|(answer, context)| answer.judge(context)).collect()
    }
}

/// A phrase with its matcher.
#[derive(Clone, Debug)]
struct Phrase {
    text: String,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// The pattern matches.
    Pattern(Regex),
    /// The text contains one of these.
    AnyOf(Vec<String>),
}

/// Equivalent forms of negation.
static NEGATIONS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"do not (\w+)", "don't $1"),
        (r"don't (\w+)", "do not $1"),
        (r"cannot (\w+)", "can't $1"),
        (r"can't (\w+)", "cannot $1"),
        (r"should not (\w+)", "shouldn't $1"),
        (r"shouldn't (\w+)", "should not $1"),
    ]
    .map(|(from, to)| (compile(from), to))
    .into()
});

impl Phrase {
    fn new(text: &str) -> Result<Self, String> {
        let lower = text.to_lowercase();
        let lower = lower.trim();
        let matcher = if let Some(pattern) = lower.strip_prefix("regex:") {
            Matcher::Pattern(Regex::new(pattern).map_err(|error| format!("the phrase `{text}`: {error}"))?)
        } else if lower.contains('|') {
            Matcher::AnyOf(lower.split('|').map(|part| part.trim().to_string()).collect())
        } else {
            let negated = NEGATIONS.iter().map(|(from, to)| from.replace_all(lower, *to).into_owned());
            Matcher::AnyOf(std::iter::once(lower.to_string()).chain(negated).collect())
        };
        Ok(Self { text: text.to_string(), matcher })
    }

    /// Whether a lowercase text contains the phrase.
    fn is_in(&self, text: &str) -> bool {
        match &self.matcher {
            Matcher::Pattern(pattern) => pattern.is_match(text),
            Matcher::AnyOf(parts) => parts.iter().any(|part| text.contains(part.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(phrase: &str, text: &str) -> bool {
        let answer = ExpectedAnswer::new(vec![phrase.to_string()], Vec::new()).unwrap();
        answer.judge(text).missing.is_empty()
    }

    #[test]
    fn phrase_ignores_case_and_outer_spaces() {
        assert!(is_in(" Friday ", "due on FRIDAY"));
        assert!(!is_in("Fri day", "due on Friday"));
        assert!(is_in("50", "1500"), "part of a word suffices");
    }

    #[test]
    fn one_alternative_suffices() {
        assert!(is_in("red | green", "all green"));
        assert!(!is_in("red|green", "all blue"));
    }

    #[test]
    fn pattern_matches_lowercase_text() {
        assert!(is_in("regex:ROOM [0-9]+", "in Room 12"));
        assert!(!is_in("regex:room [0-9]+$", "Room 12 or so"));
        let invalid = ExpectedAnswer::new(vec!["regex:(".to_string()], Vec::new());
        assert!(invalid.unwrap_err().contains("regex:("));
    }

    #[test]
    fn negations_are_equivalent() {
        for (a, b) in
            [("do not sign", "don't sign"), ("cannot pay", "can't pay"), ("should not go", "shouldn't go")]
        {
            assert!(is_in(a, &format!("We {b}.")) && is_in(b, &format!("We {a}.")), "{a}");
        }
        assert!(!is_in("do not sign", "don't pay"));
        assert!(!is_in("don't sign|x", "do not sign"), "alternatives match literally");
    }

    #[test]
    fn verdict_names_forbidden_and_missing_phrases() {
        let list = |phrases: &[&str]| phrases.iter().map(|phrase| (*phrase).to_string()).collect::<Vec<_>>();
        let answer = ExpectedAnswer::new(list(&["red", "red", "blue"]), list(&["green", "black"])).unwrap();
        let verdict = answer.judge("red and green");
        assert!(verdict.has_forbidden);
        assert_eq!(verdict.resurrected, ["green"]);
        assert_eq!((verdict.required, verdict.missing), (3, list(&["blue"])));
    }
}
