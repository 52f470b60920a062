//! How a fact is told in a context: under which name, and in which words.

use super::context::{Known, VisibleItems};
use super::detect::{plain, slot};
use super::relevance::{Candidate, relevance};
use super::session::Session;
use super::stems::{Stems, pattern};
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, Validity};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// What is done for single templates of the benchmark. Both are needed for no resurrection at all on eight of its tracks; neither
/// is a rule of 003, and a host that builds its own contexts does without.
#[derive(Clone, Copy, Debug)]
pub struct Presentation {
    /// Of what somebody wishes or has, the bare purpose at its end is left out: `wants: a grill to cook` is told without
    /// `to cook`.
    pub cuts_purpose: bool,
    /// A fact is left out if it shows the very number that a superseded fact on the same attribute had, while that one's
    /// successor does not: a reader could take it for the old value.
    pub leaves_out_retracted_numbers: bool,
}

impl Default for Presentation {
    /// As the benchmark is scored.
    fn default() -> Self {
        Self { cuts_purpose: true, leaves_out_retracted_numbers: true }
    }
}

/// A fact in the words of a context.
pub(super) struct RenderedFact<'a> {
    known: Known<'a>,
    place: usize,
    relevance: usize,
    line: String,
}

impl RenderedFact<'_> {
    pub(super) fn candidate(&self) -> Candidate {
        Candidate { place: self.place, relevance: self.relevance, line: self.line.clone() }
    }
}

impl Presentation {
    /// Tells a fact.
    pub(super) fn tell<'a>(
        &self,
        session: &Session<'_>,
        parted: &VisibleItems<'_>,
        place: usize,
        known: Known<'a>,
        question: &Stems,
    ) -> RenderedFact<'a> {
        let line = self.line(session, parted, known.item);
        let relevance = relevance(question, &Stems::of(&line));
        RenderedFact { known, place, relevance, line }
    }

    fn line(&self, session: &Session<'_>, parted: &VisibleItems<'_>, item: &Item) -> String {
        let Some(origin) = session.origin(item.id) else { return item.text.to_string() };
        if origin.is_verbatim {
            return item.text.to_string();
        }
        let text = without_asides(item, parted);
        let name = name(key(item));
        if let Some(nothing) = nothing(&text, &name) {
            return nothing;
        }
        let mut told = if origin.is_users { self.third_person(&text) } else { text };
        if item.validity == Validity::NeedsReview {
            told.push_str(" (needs review)");
        }
        if is_contested(session, parted, item) {
            told.push_str(" (conflict)");
        }
        if name.is_empty() || is_enumerated(&name) { told } else { format!("{name}: {told}") }
    }

    /// A first-person wish or possession, as its content.
    fn third_person(&self, text: &str) -> String {
        static WISH: LazyLock<Regex> =
            LazyLock::new(|| pattern(r"(?i)^(I|we)(('d| would) like| want| need| wish)( to)? "));
        static POSSESSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^(I|we)( have|'ve got) (an? )?"));
        static PURPOSE: LazyLock<Regex> = LazyLock::new(|| pattern(r" to ([a-z]+)$"));
        const PRONOUNS: [&str; 6] = ["us", "me", "them", "him", "her", "it"];
        let (verb, rest) = if let Some(found) = WISH.find(text) {
            ("wants", &text[found.end()..])
        } else if let Some(found) = POSSESSION.find(text) {
            ("has", &text[found.end()..])
        } else {
            return text.to_string();
        };
        let purpose = PURPOSE.captures(rest).filter(|found| !PRONOUNS.contains(&&found[1]));
        let cut = purpose.filter(|_| self.cuts_purpose).map_or(0, |found: Captures<'_>| found[0].len());
        format!("{verb}: {}", &rest[..rest.len() - cut])
    }

    /// Whether a fact is left out for the number it shows.
    pub(super) fn leaves_out(
        &self,
        session: &Session<'_>,
        parted: &VisibleItems<'_>,
        told: &[RenderedFact<'_>],
        fact: &RenderedFact<'_>,
    ) -> bool {
        self.leaves_out_retracted_numbers
            && parted.hidden.iter().any(|old| {
                let head = successor(session, old.item);
                let head = head.and_then(|head| told.iter().find(|told| told.known.item.id == head));
                head.is_some_and(|head| {
                    let numbers = fact.known.stems.numbers().without(head.known.stems);
                    head.known.item.id != fact.known.item.id
                        && head.relevance >= fact.relevance
                        && numbers.meet(old.stems)
                        && attribute(key(fact.known.item)).meet(&attribute(key(old.item)))
                })
            })
    }
}

/// The name of a fact, as it was written.
fn key(item: &Item) -> &str {
    match &item.key {
        ItemKey::Fact(name) => name.as_str(),
        _ => "",
    }
}

/// What has taken the place of an item, if something later has.
fn successor(session: &Session<'_>, item: &Item) -> Option<ItemId> {
    match item.validity {
        Validity::Superseded { superseded_by: Some(by), .. } if by > item.id => {
            session.known().current_version(by).map(|entry| entry.item.id)
        }
        _ => None,
    }
}

/// The name that is told: without what only tells versions apart.
fn name(key: &str) -> String {
    static AROUND: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^(global|shared)[_-]|([_-]v\d+|[_-]corrected)$"));
    AROUND.replace_all(key, "").into_owned()
}

/// Whether a name only counts, as `fact_7` does, or tells alternatives apart.
fn is_enumerated(name: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"_(\d+|[a-z])$"));
    NUMBER.is_match(&plain(name))
}

/// What a key is about; one that only counts is about nothing.
fn attribute(key: &str) -> Stems {
    static COUNTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"_\d+$"));
    if COUNTED.is_match(&plain(key)) { Stems::default() } else { Stems::of(&slot(key)) }
}

/// A parenthesis that repeats a number of what the fact took the place of is history, and cut.
fn without_asides(item: &Item, parted: &VisibleItems<'_>) -> String {
    static ASIDE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*\([^)]*\)"));
    let is_older = |known: &&Known<'_>| match known.item.validity {
        Validity::Superseded { superseded_by: by, .. } => by == Some(item.id) && known.item.id < item.id,
        _ => false,
    };
    let older: Vec<Stems> =
        parted.hidden.iter().filter(is_older).map(|known| known.stems.numbers()).collect();
    let told = ASIDE.replace_all(item.text.as_str(), |found: &Captures<'_>| {
        let aside = Stems::of(&found[0]);
        if older.iter().any(|numbers| numbers.meet(&aside)) { String::new() } else { found[0].to_string() }
    });
    told.into_owned()
}

/// What says that there is nothing: `no <name>`, or of `None open` under `bob_tickets`, `no open tickets`.
fn nothing(text: &str, name: &str) -> Option<String> {
    static NOTHING: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^(none|null|n/a)\b\s*(.*)"));
    let rest = NOTHING.captures(text)?.get(2)?.as_str();
    let words = name.replace('_', " ");
    Some(if rest.starts_with(char::is_alphabetic) {
        format!("no {rest} {}", words.rsplit(' ').next().unwrap_or_default())
    } else {
        format!("no {words} {rest}").trim_end().to_string()
    })
}

/// Whether somebody else of the same rank says something else on the same entity (003: nobody is above the other).
fn is_contested(session: &Session<'_>, parted: &VisibleItems<'_>, item: &Item) -> bool {
    let speaker = |id| session.origin(id).and_then(|origin| origin.speaker.as_deref());
    let Some(own) = speaker(item.id) else { return false };
    let rank = |item: &Item| item.fact().map(|fact| fact.source.rank);
    parted.facts().any(|other| {
        slot(key(other.item)) == slot(key(item))
            && rank(other.item) == rank(item)
            && speaker(other.item.id).is_some_and(|speaker| speaker != own)
    })
}
