//! Tags: what a text says of itself in brackets, or at its beginning.
//!
//! A tag counts wherever it stands and however it is written. What may be a restriction is one: what is shown by mistake cannot be
//! taken back.

use super::stems::pattern;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The word that tells a restriction.
static RESTRICTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?:^|[^\pL])(restrict(?:ed)?|confidential)(?:[^\pL]|$)"));

/// The tags of a text, and the text without those that became fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Tags {
    pub(super) text: String,
    /// Who may see it, by each of its restrictions; where that cannot be read, nobody by name.
    pub(super) restrictions: Vec<String>,
    /// What its scopes are called.
    pub(super) scopes: Vec<String>,
    /// What it calls itself that is only a draft or a supposition.
    pub(super) supposed: Option<String>,
    pub(super) retracted: bool,
}

impl Tags {
    /// Reads the tags of a text.
    pub(super) fn of(text: &str) -> Self {
        static SCOPE: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"(?i)\[\s*(?:SCOPE|TASK)S?(?:\b|_)[\s:=]*(?:([^\[\]]*)\][\s:]*)?"));
        static SUPPOSED: LazyLock<Regex> = LazyLock::new(|| {
            const WORDS: &str = r"\W*(?:draft|tentative|proposed|preliminary|hypothetical|what[ -]if)\b";
            pattern(&format!(r"(?i)\[({WORDS}[^\[\]]*)|\(({WORDS}(?:\s+v?\d[\w.]*)?\W*)\)"))
        });
        static RETRACTED: LazyLock<Regex> = LazyLock::new(|| {
            const WORDS: &str =
                r"\W*(?:invalid(?:ated)?|no longer valid|superseded|retracted|revoked|withdrawn)\b";
            pattern(&format!(r"(?i)\[{WORDS}|\({WORDS}\s*(?:[^\w\s]|by\b)"))
        });
        let (restrictions, text) = restrictions(&plain(text));
        let scopes = SCOPE.captures_iter(&text).map(|found| group(&found, 1)).collect();
        let text = SCOPE.replace_all(&text, "").trim().to_string();
        let supposed = SUPPOSED.captures(&text).map(|found| found.get(1).or(found.get(2)));
        let supposed = supposed.flatten().map(|said| said.as_str().trim().to_lowercase());
        let retracted = RETRACTED.is_match(&text);
        Self { restrictions, scopes, supposed, retracted, text }
    }
}

/// A text in the characters in which tags are written: without those that nobody sees, and with plain brackets.
fn plain(text: &str) -> String {
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
    let is_unseen = |c: &char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let plain = |c: char| BRACKETS.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to);
    text.chars().filter(|c| !is_unseen(c)).map(plain).collect()
}

fn group(found: &Captures<'_>, n: usize) -> String {
    found.get(n).map_or("", |said| said.as_str()).to_string()
}

/// Who may see a text, and the text without the brackets that say so. Of a bracket that is never closed nobody knows where it ends,
/// and what stands in a bracket alone is the text itself: both stay.
fn restrictions(text: &str) -> (Vec<String>, String) {
    static BRACKETS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [r"\[([^\[\]]*)(\][\s:]*)?", r"\(([^()]*)(\)[\s:]*)?", r"\{([^{}]*)(\}[\s:]*)?"].map(pattern)
    });
    static BEGINS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^\W*(?:restrict(?:ed)?|confidential)\b[^\pL:]*:\s*([^.;!?\n]*)"));
    let (mut found, mut rest) = (Vec::new(), text.to_string());
    for bracket in BRACKETS.iter() {
        let without = bracket.replace_all(&rest, |tag: &Captures<'_>| {
            if !RESTRICTED.is_match(&tag[1]) {
                return tag[0].to_string();
            }
            let is_closed = tag.get(2).is_some();
            found.push(if is_closed { audience(&tag[1]) } else { String::new() });
            if is_closed { String::new() } else { tag[0].to_string() }
        });
        rest = without.into_owned();
    }
    found.extend(BEGINS.captures(rest.trim()).map(|begins| group(&begins, 1)));
    let is_all = rest.trim().is_empty();
    (found, if is_all { text.to_string() } else { rest.trim().to_string() })
}

/// Who is meant by a restriction: whom it is restricted to, or what follows its colon, or else what is left of it.
fn audience(restriction: &str) -> String {
    static TO: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^.*(?:restrict(?:ed)?|confidential)[\s*_]+to\s+(.*)$"));
    if let Some(found) = TO.captures(restriction) {
        return group(&found, 1);
    }
    let without = |text: &str| RESTRICTED.replace_all(text, " ").trim().to_string();
    let after = restriction.rsplit_once(':').map(|(_, after)| without(after));
    after.filter(|after| !after.is_empty()).unwrap_or_else(|| without(restriction))
}
