//! What a text takes the place of, though it does not say so in a field (003 supersession rules, "detection").
//!
//! Detection is the border's: it reads words. What it finds goes to the kernel with the write, which records the rule and
//! may still rule otherwise: authority comes first. Another way to read is another [`Detect`].

use super::conversation::TurnRecord;
use super::ranks;
use super::stems::{Stems, pattern, stem};
use super::values::{Values, without_values};
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Rank, SupersessionRule};
use regex::Regex;
use std::sync::LazyLock;

/// Something written, as its words and its source tell.
#[derive(Clone, Copy, Debug)]
pub struct Assertion<'a> {
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
    pub claim: Assertion<'a>,
    /// Whether it is valid.
    pub is_valid: bool,
    /// Whether it is valid, and whoever asks may read it.
    pub is_read: bool,
    /// Whether it was written in this session.
    pub is_of_session: bool,
    /// How many turns were heard when it was written.
    pub heard: usize,
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
pub trait SupersessionDetector {
    /// Which facts a turn takes the place of, by the number of the turn; of all turns so far, and all facts so far. It is asked
    /// before a context is built, because a turn may be heard before the fact is written of which it speaks, and before the
    /// write that records it.
    fn in_conversation(&self, facts: &[KnownFact<'_>], turns: &[TurnRecord]) -> Vec<(usize, Detected)>;

    /// The valid fact that a new one, which names none, stands against.
    fn in_fact(&self, new: &Assertion<'_>, valid: &[KnownFact<'_>]) -> Option<Detected>;

    /// The current signal on the matter of a new one.
    fn in_signal(&self, new: &Assertion<'_>, current: &[(ItemId, Assertion<'_>)]) -> Option<Detected>;
}

/// Detection by 003's keywords, by entity and value, and by speakers.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeywordDetector;

/// 003's words of change, and some of their kind.
static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(actually|instead|chang(e|ed|ing)|moved?|updat(e|ed)|correction|now|new|overrid(e|ing)|make that|go back|finali[sz]ed|as of)\b",
    )
});

/// Words that say what was decided.
const DECISION: &str = r"let's|we'll|we're going|go(ing)? with|decided";

/// A word of decision.
static DECIDES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i)\b({DECISION})\b")));

/// Words that say how it is, or what was decided.
static STATES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i)\b({DECISION}|is|are)\b")));

/// On whose word something is said.
static ATTRIBUTES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(?:(?:per|according to|on behalf of) (?:the |our )?([\w ]+?),|\[(\w+)\])")
});

/// The entity that a key speaks of: without version, correction, or the letter of an alternative.
#[must_use]
pub fn slot(key: &str) -> String {
    static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(_v\d+|_corrected|_updated|_new|_[a-z])$"));
    VERSION.replace(&plain(key), "").into_owned()
}

/// The same, but alternatives are entities of their own.
fn entity(key: &str) -> String {
    static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(_v\d+|_corrected|_updated|_new)$"));
    VERSION.replace(&plain(key), "").into_owned()
}

/// A key as most are written, in small letters with `_`: `Roof-V2` and `roofV2` are `roof_v2`.
pub(super) fn plain(key: &str) -> String {
    let (mut plain, mut was_small) = (String::new(), false);
    for c in key.chars() {
        if c.is_uppercase() && was_small {
            plain.push('_');
        }
        was_small = c.is_lowercase() || c.is_ascii_digit();
        plain.extend(if c == '-' { '_' } else { c }.to_lowercase());
    }
    plain
}

/// The rank on whose word something is said, if that is told.
fn attributed(text: &str) -> Option<Rank> {
    let found = ATTRIBUTES.captures(text)?;
    found.get(1).or(found.get(2)).map(|title| ranks::of_title(title.as_str()))
}

fn has_number(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// How a text speaks of a change, if it does.
struct Change {
    changes: bool,
    states: bool,
    on_word_of: Option<Rank>,
}

impl Change {
    fn of(text: &str) -> Self {
        Self { changes: CHANGES.is_match(text), states: STATES.is_match(text), on_word_of: attributed(text) }
    }

    /// The rule by which it takes the place of a fact of this rank, where each of its ways to speak of that is enough.
    fn rule(&self, rank: Rank, [outranks, changes, states]: [bool; 3]) -> Option<SupersessionRule> {
        let outranks = outranks && self.on_word_of > Some(rank);
        match (outranks, changes && self.changes, states && self.states) {
            (true, _, _) => Some(SupersessionRule::Authority),
            (_, true, _) => Some(SupersessionRule::Explicit),
            (_, _, true) => Some(SupersessionRule::Implicit),
            _ => None,
        }
    }
}

/// The facts and the turns that a conversation is read with.
struct Reading<'a> {
    facts: &'a [KnownFact<'a>],
    /// The turns of the user, with their numbers.
    turns: Vec<(usize, &'a TurnRecord)>,
    /// In which turn each fact was said first.
    first: Vec<Option<usize>>,
    /// The values of each fact that whoever asks may read: nobody speaks of what was never shown.
    values: Vec<(ItemId, Values)>,
}

impl<'a> Reading<'a> {
    fn of(facts: &'a [KnownFact<'a>], turns: &'a [TurnRecord]) -> Self {
        let turns: Vec<_> = turns.iter().enumerate().filter(|(_, turn)| turn.is_users()).collect();
        let said_first = |fact: &KnownFact<'_>| {
            turns.iter().find(|(_, turn)| fact.claim.stems.said_in(&turn.stems)).map(|(n, _)| *n)
        };
        let first = facts.iter().map(said_first).collect();
        let read = facts.iter().filter(|fact| fact.is_read);
        let values = read.map(|fact| (fact.id, Values::of(fact.claim.text))).collect();
        Self { facts, turns, first, values }
    }

    /// The turns from one on that may take the place of a fact: they state something, do not say the fact, and no fact was said
    /// in them first.
    fn later(&self, fact: &KnownFact<'_>, from: usize) -> impl Iterator<Item = (usize, &'a TurnRecord)> {
        let later = self.turns.iter().copied().filter(move |(n, _)| *n >= from);
        later.filter(|(n, turn)| {
            let states = !turn.text.contains('?') && !turn.statements.is_empty();
            states && !self.first.contains(&Some(*n)) && !fact.claim.stems.said_in(&turn.stems)
        })
    }

    /// What takes the place of a fact that was said first in this turn.
    fn of_session(&self, fact: &KnownFact<'_>, born: usize) -> Vec<(usize, Detected)> {
        let claim = &fact.claim;
        let said = self.turns.iter().find(|(n, _)| *n == born).map(|(_, turn)| &turn.stems);
        let about = Stems::of(&slot(claim.key)).and(said.unwrap_or(claim.stems)).without(claim.stems);
        let is_open = |fact: &&KnownFact<'_>| fact.is_valid && fact.is_of_session;
        let is_alone = self.facts.iter().filter(is_open).count() == 1;
        let found = self.later(fact, born + 1).filter_map(|(n, turn)| {
            let on_matter = about.meet(&turn.stems);
            let numbers = has_number(claim.text) && has_number(&turn.text);
            let change = Change::of(&turn.text);
            let ways = [on_matter || is_alone, on_matter || numbers || is_alone, on_matter];
            let rule = change.rule(claim.rank, ways)?;
            Some((n, Detected { old: fact.id, rule, on_word_of: change.on_word_of }))
        });
        found.collect()
    }

    /// What takes the place of a fact that was known before it was said, if it ever was: one sentence must tell the value, the
    /// matter and the change.
    fn unsaid(&self, fact: &KnownFact<'_>) -> Vec<(usize, Detected)> {
        let claim = &fact.claim;
        let Some((_, values)) = self.values.iter().find(|(id, _)| *id == fact.id) else { return Vec::new() };
        let about = Stems::of(&entity(claim.key)).and(&Stems::of(&without_values(claim.text)));
        let is_only = |said: &Values| {
            let mut others = self.values.iter().filter(|(id, _)| *id != fact.id);
            !others.any(|(_, values)| values.compare_with(said))
        };
        let rule = |sentence: &str, stems: &Stems| {
            let said = Values::of(sentence);
            let on_matter = about.meet(stems);
            if !values.contradict(&said) || !(on_matter || is_only(&said)) {
                return None;
            }
            let decides = about.covered(stems, 50) || DECIDES.is_match(sentence);
            Change::of(sentence).rule(claim.rank, [true, true, decides])
        };
        let found = self.later(fact, fact.heard).filter_map(|(n, turn)| {
            let rule = turn.statements.iter().find_map(|said| rule(&said.text, &said.stems))?;
            Some((n, Detected { old: fact.id, rule, on_word_of: attributed(&turn.text) }))
        });
        found.collect()
    }
}

impl SupersessionDetector for KeywordDetector {
    /// A fact of this session was said first in some turn. A later one takes its place if it is no question, neither says the
    /// fact nor is where another one was said first, and
    /// - has a word of change, and is on the same matter, or both have numbers, or there is no other fact of the session; or
    /// - has a word of statement, and is on the same matter; or
    /// - is said on the word of a higher rank, and is on the same matter, or there is no other fact of the session.
    ///
    /// On the same matter is what shares a word with the key or the first turn, outside the value.
    ///
    /// A fact that nobody here said, or that was known before, may be of anything. So whoever asks must be able to read it, and
    /// one sentence of the turn must also tell another value of one kind: on the same matter, which the fact's key and words
    /// tell here, or where no other fact that may be read has a value of that kind. What only is so, and was not decided (`It is
    /// Friday`), must share half of those words.
    fn in_conversation(&self, facts: &[KnownFact<'_>], turns: &[TurnRecord]) -> Vec<(usize, Detected)> {
        let reading = Reading::of(facts, turns);
        let mut found = Vec::new();
        for (fact, born) in facts.iter().zip(&reading.first).filter(|(fact, _)| fact.is_valid) {
            found.extend(match born.filter(|_| fact.is_of_session) {
                Some(born) => reading.of_session(fact, born),
                None => reading.unsaid(fact),
            });
        }
        found.sort_by_key(|(n, detected)| (*n, detected.old));
        found
    }

    /// Two people with a name speak of one entity: whoever has more authority is right, and of equals nobody but the same
    /// person again. Where nobody is named, the later version of an entity stands instead of an earlier one of no higher rank.
    fn in_fact(&self, new: &Assertion<'_>, valid: &[KnownFact<'_>]) -> Option<Detected> {
        let contends = |old: &&KnownFact<'_>| {
            let Assertion { key, speaker, rank, stems, .. } = old.claim;
            match (new.speaker, speaker) {
                (Some(one), Some(by)) => slot(key) == slot(new.key) && (rank != new.rank || by == one),
                (None, None) => entity(key) == entity(new.key) && rank <= new.rank && stems != new.stems,
                _ => false,
            }
        };
        let strongest = valid.iter().filter(contends).max_by_key(|old| old.claim.rank)?;
        Some(Detected { old: strongest.id, rule: SupersessionRule::Implicit, on_word_of: None })
    }

    /// Two signals are on the same matter if they share a name or a number of two digits, or two words.
    fn in_signal(&self, new: &Assertion<'_>, current: &[(ItemId, Assertion<'_>)]) -> Option<Detected> {
        let names = names(new.text);
        let tells = |stem: &str| stem.chars().filter(char::is_ascii_digit).count() > 1;
        let same = |(_, old): &&(ItemId, Assertion<'_>)| {
            let shared: Vec<&str> = new.stems.shared(old.stems).collect();
            shared.len() >= 2 || shared.iter().any(|stem| tells(stem) || names.has(stem))
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
