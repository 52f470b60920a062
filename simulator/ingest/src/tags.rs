//! Tags of a text: restrictions, scopes, drafts and retractions in brackets or at the beginning.
//!
//! A tag counts anywhere in the text, in any case. Unclear restrictions are restrictions, because a disclosed secret cannot be
//! retracted.

use crate::pattern::compile;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A word that marks a restriction.
static RESTRICTED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"(?i)(?:^|[^\pL])(restrict(?:ed)?|confidential)(?:[^\pL]|$)"));

/// The tags of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    /// The text without restrictions and scopes.
    pub(crate) text: String,
    /// The audience that each restriction names; empty if it is unreadable.
    pub(crate) restrictions: Vec<String>,
    /// The names of the scopes.
    pub(crate) scopes: Vec<String>,
    /// The words of a draft or hypothetical tag, in lowercase.
    pub(crate) tentative: Option<String>,
    /// Whether the text is marked as retracted.
    pub(crate) is_retracted: bool,
}

impl Tags {
    /// Parses the tags of a text.
    pub(crate) fn parse(text: &str) -> Self {
        static SCOPE: LazyLock<Regex> =
            LazyLock::new(|| compile(r"(?i)\[\s*(?:SCOPE|TASK)S?(?:\b|_)[\s:=]*(?:([^\[\]]*)\][\s:]*)?"));
        static TENTATIVE: LazyLock<Regex> = LazyLock::new(|| {
            const WORDS: &str = r"\W*(?:draft|tentative|proposed|preliminary|hypothetical|what[ -]if)\b";
            compile(&format!(r"(?i)\[({WORDS}[^\[\]]*)|\(({WORDS}(?:\s+v?\d[\w.]*)?\W*)\)"))
        });
        static RETRACTED: LazyLock<Regex> = LazyLock::new(|| {
            const WORDS: &str =
                r"\W*(?:invalid(?:ated)?|no longer valid|superseded|retracted|revoked|withdrawn)\b";
            compile(&format!(r"(?i)\[{WORDS}|\({WORDS}\s*(?:[^\w\s]|by\b)"))
        });
        let (restrictions, text) = take_restrictions(&normalize(text));
        let scopes = SCOPE.captures_iter(&text).map(|found| group(&found, 1)).collect();
        let text = SCOPE.replace_all(&text, "").trim().to_string();
        let tentative = TENTATIVE.captures(&text).and_then(|found| found.get(1).or(found.get(2)));
        let tentative = tentative.map(|words| words.as_str().trim().to_lowercase());
        let is_retracted = RETRACTED.is_match(&text);
        Self { text, restrictions, scopes, tentative, is_retracted }
    }
}

/// Returns a text without invisible characters and with ASCII brackets.
fn normalize(text: &str) -> String {
    const BRACKETS: [(char, char); 8] = [
        ('［', '['),
        ('］', ']'),
        ('【', '['),
        ('】', ']'),
        ('（', '('),
        ('）', ')'),
        ('：', ':'),
        ('\u{a0}', ' '),
    ];
    let is_invisible = |c: &char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let ascii = |c: char| BRACKETS.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to);
    text.chars().filter(|c| !is_invisible(c)).map(ascii).collect()
}

fn group(found: &Captures<'_>, index: usize) -> String {
    found.get(index).map_or("", |group| group.as_str()).to_string()
}

/// Returns the audience of each restriction, and the text without them. An unclosed bracket stays in the text, because its end is
/// unknown. A text that consists of restrictions stays as well.
fn take_restrictions(text: &str) -> (Vec<String>, String) {
    static BRACKETS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [r"\[([^\[\]]*)(\][\s:]*)?", r"\(([^()]*)(\)[\s:]*)?", r"\{([^{}]*)(\}[\s:]*)?"].map(compile)
    });
    static PREFIX: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)^\W*(?:restrict(?:ed)?|confidential)\b[^\pL:]*:\s*([^.;!?\n]*)"));
    let (mut restrictions, mut rest) = (Vec::new(), text.to_string());
    for bracket in BRACKETS.iter() {
        let without = bracket.replace_all(&rest, |tag: &Captures<'_>| {
            if !RESTRICTED.is_match(&tag[1]) {
                return tag[0].to_string();
            }
            let is_closed = tag.get(2).is_some();
            restrictions.push(if is_closed { restricted_audience(&tag[1]) } else { String::new() });
            if is_closed { String::new() } else { tag[0].to_string() }
        });
        rest = without.into_owned();
    }
    restrictions.extend(PREFIX.captures(rest.trim()).map(|prefix| group(&prefix, 1)));
    let rest = rest.trim();
    let text = if rest.is_empty() { text } else { rest };
    (restrictions, text.to_string())
}

/// Returns the audience that a restriction names: the words after `restricted to`, else after the colon, else all other words.
fn restricted_audience(restriction: &str) -> String {
    static TO: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)^.*(?:restrict(?:ed)?|confidential)[\s*_]+to\s+(.*)$"));
    if let Some(found) = TO.captures(restriction) {
        return group(&found, 1);
    }
    let other_words = |text: &str| RESTRICTED.replace_all(text, " ").trim().to_string();
    let after_colon = restriction.rsplit_once(':').map(|(_, after)| other_words(after));
    after_colon.filter(|after| !after.is_empty()).unwrap_or_else(|| other_words(restriction))
}
