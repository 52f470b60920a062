//! What the right answers are, and the benchmark's rules by which a context is held against them.
//!
//! **Invariant.** Nothing leaves an [`Answers`] but a verdict on contexts that are built already: its phrases are private to this
//! file, and whoever builds contexts is given a [`Timeline`](super::timeline::Timeline), which has none.

use regex::Regex;
use std::sync::LazyLock;

/// The name of a timeline, and what is right at each of its queries.
#[derive(Clone, Debug)]
pub struct GroundTruth {
    /// The name of the timeline.
    pub id: String,
    /// What it tries out.
    pub track: String,
    pub(super) queries: Vec<ExpectedAnswer>,
}

/// What is right at one query.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedAnswer {
    must: Vec<Phrase>,
    must_not: Vec<Phrase>,
}

/// What holding one context against its answer came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Whether anything is forbidden there.
    pub has_forbidden: bool,
    /// What is forbidden and stands there all the same.
    pub resurrected: Vec<String>,
    /// How many phrases are required.
    pub required: usize,
    /// What is required and does not stand there.
    pub missing: Vec<String>,
}

impl ExpectedAnswer {
    /// # Errors
    /// What is wrong with a phrase.
    pub(super) fn new(must: Vec<String>, must_not: Vec<String>) -> Result<Self, String> {
        let all =
            |phrases: Vec<String>| phrases.iter().map(|text| Phrase::new(text)).collect::<Result<_, _>>();
        Ok(Self { must: all(must)?, must_not: all(must_not)? })
    }

    fn judge(&self, context: &str) -> Verdict {
        let context = context.to_lowercase();
        let context = context.trim();
        let texts = |phrases: &[Phrase], is_in: bool| {
            let found = phrases.iter().filter(|phrase| phrase.is_in(context) == is_in);
            found.map(|phrase| phrase.text.clone()).collect()
        };
        Verdict {
            has_forbidden: !self.must_not.is_empty(),
            resurrected: texts(&self.must_not, true),
            required: self.must.len(),
            missing: texts(&self.must, false),
        }
    }
}

impl GroundTruth {
    /// Holds the contexts of the queries against the answers, both in the order of the queries.
    pub fn judge<'a>(&'a self, contexts: impl IntoIterator<Item = &'a str>) -> Vec<Verdict> {
        self.queries.iter().zip(contexts).map(|(answer, context)| answer.judge(context)).collect()
    }
}

/// A phrase, and what counts as its being there.
#[derive(Clone, Debug)]
struct Phrase {
    text: String,
    matcher: Matcher,
}

#[derive(Clone, Debug)]
enum Matcher {
    /// The pattern is found.
    Pattern(Regex),
    /// Any of these is a part of the text.
    AnyOf(Vec<String>),
}

/// Ways to say no: each counts for the other.
static NEGATIONS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"do not (\w+)", "don't $1"),
        (r"don't (\w+)", "do not $1"),
        (r"cannot (\w+)", "can't $1"),
        (r"can't (\w+)", "cannot $1"),
        (r"should not (\w+)", "shouldn't $1"),
        (r"shouldn't (\w+)", "should not $1"),
    ]
    .map(|(from, to)| (super::stems::pattern(from), to))
    .into()
});

impl Phrase {
    fn new(text: &str) -> Result<Self, String> {
        let lower = text.to_lowercase();
        let lower = lower.trim();
        let matcher = if let Some(pattern) = lower.strip_prefix("regex:") {
            let pattern = Regex::new(pattern).map_err(|error| format!("the phrase `{text}`: {error}"))?;
            Matcher::Pattern(pattern)
        } else if lower.contains('|') {
            Matcher::AnyOf(lower.split('|').map(|part| part.trim().to_string()).collect())
        } else {
            let negated = NEGATIONS.iter().map(|(from, to)| from.replace_all(lower, *to).into_owned());
            Matcher::AnyOf(std::iter::once(lower.to_string()).chain(negated).collect())
        };
        Ok(Self { text: text.to_string(), matcher })
    }

    /// Whether it is in a text of small letters.
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
    fn case_and_spaces_around_do_not_count() {
        assert!(is_in(" Friday ", "due on FRIDAY"));
        assert!(!is_in("Fri day", "due on Friday"));
        assert!(is_in("50", "1500"), "a part of a word is enough");
    }

    #[test]
    fn any_alternative_is_enough() {
        assert!(is_in("red | green", "all green"));
        assert!(!is_in("red|green", "all blue"));
    }

    #[test]
    fn a_pattern_is_searched_in_small_letters() {
        assert!(is_in("regex:ROOM [0-9]+", "in Room 12"));
        assert!(!is_in("regex:room [0-9]+$", "Room 12 or so"));
        assert!(
            ExpectedAnswer::new(vec!["regex:(".to_string()], Vec::new()).unwrap_err().contains("regex:(")
        );
    }

    #[test]
    fn one_way_to_say_no_counts_for_the_other() {
        for (a, b) in
            [("do not sign", "don't sign"), ("cannot pay", "can't pay"), ("should not go", "shouldn't go")]
        {
            assert!(is_in(a, &format!("We {b}.")) && is_in(b, &format!("We {a}.")), "{a}");
        }
        assert!(!is_in("do not sign", "don't pay"));
        assert!(!is_in("don't sign|x", "do not sign"), "alternatives are taken as they are");
    }

    #[test]
    fn a_verdict_names_what_is_forbidden_and_what_is_missing() {
        let of = |phrases: &[&str]| phrases.iter().map(|phrase| (*phrase).to_string()).collect::<Vec<_>>();
        let answer = ExpectedAnswer::new(of(&["red", "red", "blue"]), of(&["green", "black"])).unwrap();
        let verdict = answer.judge("red and green");
        assert!(verdict.has_forbidden);
        assert_eq!(verdict.resurrected, ["green"]);
        assert_eq!((verdict.required, verdict.missing), (3, of(&["blue"])));
    }
}
