//! What a text takes the place of, though it does not say so in a field (003 supersession rules, "detection").
//!
//! Detection is the border's: it reads words. What it finds goes to the kernel with the write, which records the rule and
//! may still rule otherwise: authority comes first. Another way to read is another [`Detect`].

use super::conversation::Said;
use super::ranks;
use super::words::{Stems, is_number, pattern, stem};
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Rank, SupersessionRule};
use regex::Regex;
use std::sync::LazyLock;

/// Something written, as its words and its source tell.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// What it speaks of.
    pub key: &'a str,
    /// What it says.
    pub text: &'a str,
    /// The stems of that.
    pub stems: &'a Stems,
    /// Who says it, if that is somebody by name.
    pub speaker: Option<&'a str>,
    /// With which rank.
    pub rank: Rank,
}

/// A fact that is known.
#[derive(Clone, Copy, Debug)]
pub struct KnownFact<'a> {
    /// Its id.
    pub id: ItemId,
    /// What it claims.
    pub claim: Claim<'a>,
    /// Whether it is valid.
    pub is_valid: bool,
    /// Whether it was written in this session.
    pub is_of_session: bool,
}

/// A supersession that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// What is superseded.
    pub old: ItemId,
    /// By which rule.
    pub rule: SupersessionRule,
    /// On the word of which rank, if the text says so.
    pub on_word_of: Option<Rank>,
}

/// Finds in texts what takes the place of what.
pub trait Detect {
    /// Which facts a turn takes the place of, by the number of the turn; of all turns so far, and all facts so far. It is asked
    /// before a context is built, because a turn may be heard before the fact is written of which it speaks, and before the
    /// write that records it.
    fn in_conversation(&self, facts: &[KnownFact<'_>], turns: &[Said]) -> Vec<(usize, Detected)>;

    /// The valid fact that a new one, which names none, stands against.
    fn in_fact(&self, new: &Claim<'_>, valid: &[KnownFact<'_>]) -> Option<Detected>;

    /// The current signal on the matter of a new one.
    fn in_signal(&self, new: &Claim<'_>, current: &[(ItemId, Claim<'_>)]) -> Option<Detected>;
}

/// Detection by 003's keywords, by entity and value, and by speakers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keywords;

/// 003's words of change, and some of their kind.
static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(actually|instead|chang(e|ed|ing)|moved?|updat(e|ed)|correction|now|new|overrid(e|ing)|make that|go back|finali[sz]ed|as of)\b",
    )
});

/// Words that say how it is, or what was decided.
static STATES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(let's|we'll|we're going|go(ing)? with|decided|is|are)\b"));

/// On whose word something is said.
static ATTRIBUTES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:(?:per|according to|on behalf of) (?:the |our )?([\w ]+?),|\[(\w+)\])")
});

/// The entity that a key speaks of: without version, correction, or the letter of an alternative.
#[must_use]
pub fn slot(key: &str) -> &str {
    static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(_v\d+|_corrected|_updated|_new|_[a-z])$"));
    VERSION.find(key).map_or(key, |version| &key[..version.start()])
}

/// The rank on whose word something is said, if that is told.
fn attributed(text: &str) -> Option<Rank> {
    let found = ATTRIBUTES.captures(text)?;
    found.get(1).or(found.get(2)).map(|title| ranks::of_title(title.as_str()))
}

fn has_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

impl Detect for Keywords {
    /// A fact of this session was said first in some turn. A later one takes its place if it is no question, neither says the
    /// fact nor is where another one was said first, and
    /// - has a word of change, and is on the same matter, or both have numbers, or there is no other fact of the session; or
    /// - has a word of statement, and is on the same matter; or
    /// - is said on the word of a higher rank, and is on the same matter, or there is no other fact of the session.
    ///
    /// On the same matter is what shares a word with the key or the first turn, outside the value.
    fn in_conversation(&self, facts: &[KnownFact<'_>], turns: &[Said]) -> Vec<(usize, Detected)> {
        let users = || turns.iter().enumerate().filter(|(_, turn)| turn.is_users());
        let said_first = |fact: &KnownFact<'_>| {
            users().find(|(_, turn)| fact.claim.stems.said_in(&turn.stems)).map(|(n, _)| n)
        };
        let first: Vec<_> = facts.iter().map(said_first).collect();
        let is_open = |fact: &KnownFact<'_>| fact.is_valid && fact.is_of_session;
        let is_alone = facts.iter().filter(|fact| is_open(fact)).count() == 1;
        let mut found = Vec::new();
        for (fact, born) in facts.iter().zip(&first) {
            let Some(born) = born.filter(|_| is_open(fact)) else { continue };
            let claim = &fact.claim;
            let about = Stems::of(slot(claim.key)).and(&turns[born].stems).without(claim.stems);
            for (n, turn) in users().skip_while(|(n, _)| *n <= born) {
                let states = !turn.text.contains('?') && !turn.statements.is_empty();
                if !states || first.contains(&Some(n)) || claim.stems.said_in(&turn.stems) {
                    continue;
                }
                let on_matter = about.meet(&turn.stems);
                let numbers = has_number(claim.text) && has_number(&turn.text);
                let changes = CHANGES.is_match(&turn.text) && (on_matter || numbers || is_alone);
                let states = STATES.is_match(&turn.text) && on_matter;
                let on_word_of = attributed(&turn.text);
                let outranks = on_word_of > Some(claim.rank) && (on_matter || is_alone);
                let rule = match (outranks, changes, states) {
                    (true, _, _) => SupersessionRule::Authority,
                    (_, true, _) => SupersessionRule::Explicit,
                    (_, _, true) => SupersessionRule::Implicit,
                    _ => continue,
                };
                found.push((n, Detected { old: fact.id, rule, on_word_of }));
            }
        }
        found.sort_by_key(|(n, detected)| (*n, detected.old));
        found
    }

    /// Two people with a name speak of one entity: whoever has more authority is right, and of equals nobody but the same
    /// person again.
    fn in_fact(&self, new: &Claim<'_>, valid: &[KnownFact<'_>]) -> Option<Detected> {
        let speaker = new.speaker?;
        let contends = |old: &&KnownFact<'_>| {
            let Claim { key, speaker: by, rank, .. } = old.claim;
            slot(key) == slot(new.key) && by.is_some() && (rank != new.rank || by == Some(speaker))
        };
        let strongest = valid.iter().filter(contends).max_by_key(|old| old.claim.rank)?;
        Some(Detected { old: strongest.id, rule: SupersessionRule::Implicit, on_word_of: None })
    }

    /// Two signals are on the same matter if they share a name or a number, or two words.
    fn in_signal(&self, new: &Claim<'_>, current: &[(ItemId, Claim<'_>)]) -> Option<Detected> {
        let names = names(new.text);
        let same = |(_, old): &&(ItemId, Claim<'_>)| {
            let shared: Vec<&str> = new.stems.shared(old.stems).collect();
            shared.len() >= 2 || shared.iter().any(|stem| is_number(stem) || names.has(stem))
        };
        let (old, _) = current.iter().rfind(same)?;
        Some(Detected { old: *old, rule: SupersessionRule::Temporal, on_word_of: None })
    }
}

/// The stems of words that begin with a capital.
fn names(text: &str) -> Stems {
    static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Z][\w-]+"));
    NAME.find_iter(text).map(|name| stem(&name.as_str().to_lowercase())).collect()
}
