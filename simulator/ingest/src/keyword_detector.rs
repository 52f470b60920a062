//! Detection of supersessions by 003's keywords, by entity and value, and by named sources.

use crate::conversation::{Speaker, TurnRecord};
use crate::entity::{alternative_of_key, entity_of_key};
use crate::pattern::compile;
use crate::stems::{Stems, stem};
use crate::supersession::{Assertion, DetectedSupersession, KnownFact, SupersessionDetector};
use crate::values::{Values, remove_values};
use crate::wording::{Sufficient, Wording, cited_rank, is_decision};
use orchestrion_kernel::ItemId;
use orchestrion_kernel::item::SupersessionRule;
use regex::Regex;
use std::sync::LazyLock;

/// Detects supersessions by keywords.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeywordDetector;

impl SupersessionDetector for KeywordDetector {
    /// A fact of this session has a turn that states it first. A later turn supersedes the fact if it is no question, does not
    /// state the fact, is not the first to state another fact, and
    /// - has a word of change, and shares the subject, or both have numbers, or the session has no other fact; or
    /// - has a word of statement, and shares the subject; or
    /// - cites a higher rank, and shares the subject, or the session has no other fact.
    ///
    /// A turn shares the subject if it shares a word with the key or with the first turn, outside the value.
    ///
    /// Any other fact may concern anything. So the session user must be able to read it, and one sentence of the turn must contain
    /// another value of one kind. The sentence must share a word with the key or the text of the fact, unless no other readable
    /// fact has a value of that kind. A bare statement (`It is Friday`) must share half of those words.
    fn detect_in_conversation(
        &self,
        facts: &[KnownFact<'_>],
        turns: &[TurnRecord],
    ) -> Vec<(usize, DetectedSupersession)> {
        let transcript = Transcript::new(facts, turns);
        let mut found = Vec::new();
        for (fact, first) in facts.iter().zip(&transcript.first).filter(|(fact, _)| fact.is_valid) {
            found.extend(match first.filter(|_| fact.is_from_session) {
                Some(first) => transcript.supersessions_of_stated(fact, first),
                None => transcript.supersessions_of_unstated(fact),
            });
        }
        found.sort_by_key(|(turn, detected)| (*turn, detected.superseded));
        found
    }

    /// Two facts with named sources compete if they concern one entity and have different ranks, or one source. Facts without a
    /// named source compete as versions of one entity: a later version supersedes an earlier one of no higher rank.
    fn detect_for_fact(&self, new: &Assertion<'_>, valid: &[KnownFact<'_>]) -> Option<DetectedSupersession> {
        let competes = |old: &&KnownFact<'_>| {
            let Assertion { key, speaker, rank, stems, .. } = old.assertion;
            match (new.speaker, speaker) {
                (Some(one), Some(other)) => {
                    entity_of_key(key) == entity_of_key(new.key) && (rank != new.rank || other == one)
                }
                (None, None) => {
                    let is_version = alternative_of_key(key) == alternative_of_key(new.key);
                    is_version && rank <= new.rank && stems != new.stems
                }
                _ => false,
            }
        };
        let strongest = valid.iter().filter(competes).max_by_key(|old| old.assertion.rank)?;
        let (superseded, rule) = (strongest.id, SupersessionRule::Implicit);
        Some(DetectedSupersession { superseded, rule, cited_rank: None })
    }

    /// Two signals concern one subject if they share a name, a number of two digits, or two words.
    fn detect_for_signal(
        &self,
        new: &Assertion<'_>,
        current: &[(ItemId, Assertion<'_>)],
    ) -> Option<DetectedSupersession> {
        let names = capitalized_stems(new.text);
        let is_distinctive =
            |stem: &str| names.contains(stem) || stem.chars().filter(char::is_ascii_digit).count() > 1;
        let shares_subject = |(_, old): &&(ItemId, Assertion<'_>)| {
            let shared: Vec<&str> = new.stems.intersection(old.stems).collect();
            shared.len() >= 2 || shared.iter().any(|stem| is_distinctive(stem))
        };
        let (superseded, _) = current.iter().rfind(shares_subject)?;
        let rule = SupersessionRule::Temporal;
        Some(DetectedSupersession { superseded: *superseded, rule, cited_rank: None })
    }
}

/// Facts and turns with the relations between them.
struct Transcript<'a> {
    facts: &'a [KnownFact<'a>],
    /// The turns of the user with their indexes.
    turns: Vec<(usize, &'a TurnRecord)>,
    /// The index of the turn that states each fact first.
    first: Vec<Option<usize>>,
    /// The values of each readable fact.
    values: Vec<(ItemId, Values)>,
}

impl<'a> Transcript<'a> {
    fn new(facts: &'a [KnownFact<'a>], turns: &'a [TurnRecord]) -> Self {
        let by_user = |(_, turn): &(usize, &TurnRecord)| turn.speaker == Speaker::User;
        let turns: Vec<_> = turns.iter().enumerate().filter(by_user).collect();
        let first = |fact: &KnownFact<'_>| {
            let states = |(_, turn): &&(usize, &TurnRecord)| fact.assertion.stems.is_stated_by(&turn.stems);
            turns.iter().find(states).map(|(index, _)| *index)
        };
        let first = facts.iter().map(first).collect();
        let readable = facts.iter().filter(|fact| fact.is_readable);
        let values = readable.map(|fact| (fact.id, Values::from_text(fact.assertion.text))).collect();
        Self { facts, turns, first, values }
    }

    /// Iterates over the turns from `start` that may supersede a fact: they state something, but neither this fact nor, for the
    /// first time, another one.
    fn candidates(
        &self,
        fact: &KnownFact<'_>,
        start: usize,
    ) -> impl Iterator<Item = (usize, &'a TurnRecord)> {
        let later = self.turns.iter().copied().filter(move |(index, _)| *index >= start);
        later.filter(|(index, turn)| {
            let states = !turn.text.contains('?') && !turn.statements.is_empty();
            let is_first = self.first.contains(&Some(*index));
            states && !is_first && !fact.assertion.stems.is_stated_by(&turn.stems)
        })
    }

    /// Returns the supersessions of a session fact that the turn `first` states first.
    fn supersessions_of_stated(
        &self,
        fact: &KnownFact<'_>,
        first: usize,
    ) -> Vec<(usize, DetectedSupersession)> {
        let assertion = &fact.assertion;
        let first_turn = self.turns.iter().find(|(index, _)| *index == first).map(|(_, turn)| &turn.stems);
        let words =
            Stems::from_text(&entity_of_key(assertion.key)).union(first_turn.unwrap_or(assertion.stems));
        let subject = words.difference(assertion.stems);
        let is_session_fact = |fact: &&KnownFact<'_>| fact.is_valid && fact.is_from_session;
        let is_only = self.facts.iter().filter(is_session_fact).count() == 1;
        let detect = |(index, turn): (usize, &TurnRecord)| {
            let on_subject = subject.intersects(&turn.stems);
            let has_numbers = has_digit(assertion.text) && has_digit(&turn.text);
            let wording = Wording::from_text(&turn.text);
            let sufficient = Sufficient {
                citation: on_subject || is_only,
                change: on_subject || has_numbers || is_only,
                statement: on_subject,
            };
            let rule = wording.rule(assertion.rank, &sufficient)?;
            let cited_rank = wording.cited_rank;
            Some((index, DetectedSupersession { superseded: fact.id, rule, cited_rank }))
        };
        self.candidates(fact, first + 1).filter_map(detect).collect()
    }

    /// Returns the supersessions of a fact that no turn stated before its write. One sentence must contain value, subject and
    /// change.
    fn supersessions_of_unstated(&self, fact: &KnownFact<'_>) -> Vec<(usize, DetectedSupersession)> {
        let assertion = &fact.assertion;
        let Some((_, values)) = self.values.iter().find(|(id, _)| *id == fact.id) else { return Vec::new() };
        let key = Stems::from_text(&alternative_of_key(assertion.key));
        let subject = key.union(&Stems::from_text(&remove_values(assertion.text)));
        let is_only_of_kind = |new: &Values| {
            let mut others = self.values.iter().filter(|(id, _)| *id != fact.id);
            !others.any(|(_, values)| values.shares_kind_with(new))
        };
        let rule = |sentence: &str, stems: &Stems| {
            let new = Values::from_text(sentence);
            if !values.contradicts(&new) || !(subject.intersects(stems) || is_only_of_kind(&new)) {
                return None;
            }
            let statement = subject.is_covered_by(stems, 50) || is_decision(sentence);
            let sufficient = Sufficient { citation: true, change: true, statement };
            Wording::from_text(sentence).rule(assertion.rank, &sufficient)
        };
        let detect = |(index, turn): (usize, &TurnRecord)| {
            let rule =
                turn.statements.iter().find_map(|statement| rule(&statement.text, &statement.stems))?;
            let cited_rank = cited_rank(&turn.text);
            Some((index, DetectedSupersession { superseded: fact.id, rule, cited_rank }))
        };
        self.candidates(fact, fact.turns_before).filter_map(detect).collect()
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

/// Returns the stems of the words that begin with a capital letter.
fn capitalized_stems(text: &str) -> Stems {
    static NAME: LazyLock<Regex> = LazyLock::new(|| compile(r"\b[A-Z][\w-]+"));
    NAME.find_iter(text).map(|name| stem(&name.as_str().to_lowercase())).collect()
}
