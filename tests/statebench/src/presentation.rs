//! The rendering of a fact in a context: its name and its words.

use crate::pattern::compile;
use crate::relevance::{Candidate, relevance};
use crate::visible_items::{KnownItem, VisibleItems};
use orchestrion_ingest::Session;
use orchestrion_ingest::entity::{entity_of_key, normalize_key};
use orchestrion_ingest::stems::Stems;
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, Validity};
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Rules for single templates of the benchmark. Zero resurrections on eight tracks require both. Neither is a rule of 003; other
/// hosts omit them.
#[derive(Clone, Copy, Debug)]
pub struct Presentation {
    /// Renders a wish or possession without its bare purpose: `wants: a grill to cook` without `to cook`.
    pub cuts_purpose: bool,
    /// Omits a fact with a number of a superseded fact on the same attribute, unless the successor has this number too: a reader
    /// could take it for the former value.
    pub leaves_out_retracted_numbers: bool,
}

impl Default for Presentation {
    fn default() -> Self {
        Self { cuts_purpose: true, leaves_out_retracted_numbers: true }
    }
}

/// A fact with its line.
pub(crate) struct RenderedFact<'a> {
    fact: KnownItem<'a>,
    position: usize,
    relevance: usize,
    line: String,
}

impl RenderedFact<'_> {
    /// Returns the line as a candidate.
    pub(crate) fn candidate(&self) -> Candidate {
        Candidate { position: self.position, relevance: self.relevance, line: self.line.clone() }
    }
}

impl Presentation {
    /// Renders a fact.
    pub(crate) fn render<'a>(
        &self,
        session: &Session<'_>,
        items: &VisibleItems<'_>,
        position: usize,
        fact: KnownItem<'a>,
        query: &Stems,
    ) -> RenderedFact<'a> {
        let line = self.line(session, items, fact.item);
        let relevance = relevance(query, &Stems::from_text(&line));
        RenderedFact { fact, position, relevance, line }
    }

    fn line(&self, session: &Session<'_>, items: &VisibleItems<'_>, item: &Item) -> String {
        let Some(origin) = session.origin(item.id).filter(|origin| !origin.is_quoted) else {
            return item.text.to_string();
        };
        let text = remove_outdated_asides(item, items);
        let name = displayed_name(key(item));
        if let Some(absence) = render_absence(&text, &name) {
            return absence;
        }
        let mut line = if origin.is_from_user { self.render_in_third_person(&text) } else { text };
        if item.validity == Validity::NeedsReview {
            line.push_str(" (needs review)");
        }
        if is_contested(session, items, item) {
            line.push_str(" (conflict)");
        }
        if name.is_empty() || is_enumerated(&name) { line } else { format!("{name}: {line}") }
    }

    /// Renders a wish or a possession in the first person as its content.
    fn render_in_third_person(&self, text: &str) -> String {
        static WISH: LazyLock<Regex> =
            LazyLock::new(|| compile(r"(?i)^(I|we)(('d| would) like| want| need| wish)( to)? "));
        static POSSESSION: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)^(I|we)( have|'ve got) (an? )?"));
        static PURPOSE: LazyLock<Regex> = LazyLock::new(|| compile(r" to ([a-z]+)$"));
        const PRONOUNS: [&str; 6] = ["us", "me", "them", "him", "her", "it"];
        let (verb, content) = if let Some(found) = WISH.find(text) {
            ("wants", &text[found.end()..])
        } else if let Some(found) = POSSESSION.find(text) {
            ("has", &text[found.end()..])
        } else {
            return text.to_string();
        };
        let purpose = PURPOSE.captures(content).filter(|found| !PRONOUNS.contains(&&found[1]));
        let cut = purpose.filter(|_| self.cuts_purpose).map_or(0, |found| found[0].len());
        format!("{verb}: {}", &content[..content.len() - cut])
    }

    /// Whether the rule on retracted numbers omits a fact.
    pub(crate) fn omits_fact(
        &self,
        session: &Session<'_>,
        items: &VisibleItems<'_>,
        rendered: &[RenderedFact<'_>],
        fact: &RenderedFact<'_>,
    ) -> bool {
        self.leaves_out_retracted_numbers
            && items.hidden.iter().any(|old| {
                let current = current_successor(session, old.item);
                let current = current.and_then(|id| rendered.iter().find(|other| other.fact.item.id == id));
                current.is_some_and(|current| {
                    let numbers = fact.fact.stems.numbers().difference(current.fact.stems);
                    current.fact.item.id != fact.fact.item.id
                        && current.relevance >= fact.relevance
                        && numbers.intersects(old.stems)
                        && attribute(key(fact.fact.item)).intersects(&attribute(key(old.item)))
                })
            })
    }
}

/// Returns the key of a fact.
fn key(item: &Item) -> &str {
    match &item.key {
        ItemKey::Fact(key) => key.as_str(),
        _ => "",
    }
}

/// Returns the current version of a superseded item, if a later item superseded it.
fn current_successor(session: &Session<'_>, item: &Item) -> Option<ItemId> {
    match item.validity {
        Validity::Superseded { superseded_by: Some(by), .. } if by > item.id => {
            session.state().current_version(by).map(|entry| entry.item.id)
        }
        _ => None,
    }
}

/// Returns a key without prefix and version.
fn displayed_name(key: &str) -> String {
    static AFFIXES: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)^(global|shared)[_-]|([_-]v\d+|[_-]corrected)$"));
    AFFIXES.replace_all(key, "").into_owned()
}

/// Whether a name only counts, as in `fact_7`, or distinguishes alternatives.
fn is_enumerated(name: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| compile(r"_(\d+|[a-z])$"));
    NUMBER.is_match(&normalize_key(name))
}

/// Returns the stems of the attribute in a key; none for a key that only counts.
fn attribute(key: &str) -> Stems {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| compile(r"_\d+$"));
    if NUMBER.is_match(&normalize_key(key)) {
        Stems::default()
    } else {
        Stems::from_text(&entity_of_key(key))
    }
}

/// Returns the text of a fact without parentheses that repeat a number of its predecessor.
fn remove_outdated_asides(item: &Item, items: &VisibleItems<'_>) -> String {
    static ASIDE: LazyLock<Regex> = LazyLock::new(|| compile(r"\s*\([^)]*\)"));
    let is_predecessor = |known: &&KnownItem<'_>| match known.item.validity {
        Validity::Superseded { superseded_by, .. } => {
            superseded_by == Some(item.id) && known.item.id < item.id
        }
        _ => false,
    };
    let predecessors = items.hidden.iter().filter(is_predecessor);
    let outdated: Vec<Stems> = predecessors.map(|known| known.stems.numbers()).collect();
    let text = ASIDE.replace_all(item.text.as_str(), |found: &Captures<'_>| {
        let aside = Stems::from_text(&found[0]);
        let is_outdated = outdated.iter().any(|numbers| numbers.intersects(&aside));
        if is_outdated { String::new() } else { found[0].to_string() }
    });
    text.into_owned()
}

/// Renders an empty value: `no <name>`; `None open` under `bob_tickets` as `no open tickets`.
fn render_absence(text: &str, name: &str) -> Option<String> {
    static ABSENCE: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)^(none|null|n/a)\b\s*(.*)"));
    let rest = ABSENCE.captures(text)?.get(2)?.as_str();
    let words = name.replace('_', " ");
    Some(if rest.starts_with(char::is_alphabetic) {
        format!("no {rest} {}", words.rsplit(' ').next().unwrap_or_default())
    } else {
        format!("no {words} {rest}").trim_end().to_string()
    })
}

/// Whether a visible fact of another person with the same rank concerns the same entity (003: neither has authority).
fn is_contested(session: &Session<'_>, items: &VisibleItems<'_>, item: &Item) -> bool {
    let speaker = |id| session.origin(id).and_then(|origin| origin.speaker.as_deref());
    let Some(own) = speaker(item.id) else { return false };
    let rank = |item: &Item| item.fact().map(|fact| fact.source.rank);
    items.facts().any(|other| {
        entity_of_key(key(other.item)) == entity_of_key(key(item))
            && rank(other.item) == rank(item)
            && speaker(other.item.id).is_some_and(|speaker| speaker != own)
    })
}
