//! Facts (003 layer 2).

use super::{Derivation, ItemOrigin, Session, Succession};
use crate::diagnostic::IngestDiagnostic;
use crate::input::FactInput;
use crate::memory::memory_of_source;
use crate::source::determine_source;
use crate::stems::Stems;
use crate::supersession::{Assertion, DetectedSupersession};
use crate::time_sensitivity::is_time_sensitive;
use orchestrion_kernel::item::{Item, ItemKey, Rank, Validity};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{ItemId, Text};

impl Session<'_> {
    /// Writes a fact. References to later facts stay open until [`resolve_references`](Self::resolve_references).
    pub fn write_fact(&mut self, input: &FactInput) {
        let key = input.key.trim();
        let is_withdrawn = input.is_withdrawn();
        if let Err(diagnostic) = self.check_expiry(input.expires_at) {
            return self.report(key, diagnostic);
        }
        if is_withdrawn && input.supersedes.is_none() && self.has_other_valid(key, input) {
            return self.report(key, IngestDiagnostic::Withdrawn);
        }
        let text = &input.text.text;
        let source =
            determine_source(&input.text, &input.source, self.user_rank(), self.has_declared_speakers);
        let rank = source.rank;
        if source.is_declared {
            self.declare(&source.name, rank);
        }
        let origin = ItemOrigin {
            id: input.id.clone(),
            speaker: input.text.source.as_ref().map(|source| source.name.clone()),
            is_from_user: input.source.kind == "user",
            is_from_session: input.is_from_session,
            turns_before: self.conversation.turns().len(),
            is_quoted: false,
            stems: Stems::from_text(text),
        };
        let referenced = self.resolve_superseded(key, input);
        let detected = if input.supersedes.is_some() || is_withdrawn {
            None
        } else {
            self.detect_for_fact(key, text, &origin, rank)
        };
        let superseded = referenced.or(detected.map(|detected| detected.superseded));
        let new = NewFact {
            kind: input.kind,
            key: Text::from(key),
            text: Text::from(text.as_str()),
            source: source.to_write(),
            established_at: Some(input.established_at),
            memory: input.memory.unwrap_or_else(|| memory_of_source(&input.source.kind)),
            scope: input.scope.clone(),
            audience: input.text.audience.clone(),
            time_sensitive: input
                .time_sensitive
                .unwrap_or_else(|| is_time_sensitive(key) || is_time_sensitive(text)),
            supersedes: superseded.map(Reference::Id),
            detected_rule: detected.map(|detected| detected.rule),
            depends_on: self.resolve_dependencies(key, input),
            is_from_text: true,
        };
        let added = self.write(key, &Write::Fact(new), origin);
        if let Some(id) = added {
            self.complete_added(id, key, input, rank);
        }
        // A repetition adds no item, and may invalidate the existing one.
        if let Some(id) = added.or_else(|| self.valid_repetition(key, input, rank)) {
            self.set_expiry(id, input.expires_at);
            self.invalidate_by_record(id, key, input);
        }
    }

    fn detect_for_fact(
        &self,
        key: &str,
        text: &str,
        origin: &ItemOrigin,
        rank: Rank,
    ) -> Option<DetectedSupersession> {
        let speaker = origin.speaker.as_deref();
        let assertion = Assertion { key, text, stems: &origin.stems, speaker, rank };
        let mut valid = self.known_facts();
        valid.retain(|fact| fact.is_valid);
        self.detector.detect_for_fact(&assertion, &valid)
    }

    /// Reports a denied write, records the dependents, and marks the need for review.
    fn complete_added(&mut self, id: ItemId, key: &str, input: &FactInput, rank: Rank) {
        if self.state.get(id).is_some_and(|entry| entry.item.validity == Validity::Denied) {
            self.report(key, IngestDiagnostic::Denied(rank));
        }
        self.derivations.extend(input.derived_facts.iter().map(|dependent| Derivation {
            key: key.to_string(),
            dependency: id,
            dependent: dependent.clone(),
        }));
        if input.needs_review {
            self.set_validity(id, Validity::NeedsReview);
        }
    }

    /// Invalidates a fact that is invalid by its own record or text. A successor may follow in the same event.
    fn invalidate_by_record(&mut self, id: ItemId, key: &str, input: &FactInput) {
        if let Some(successor) = &input.superseded_by {
            let (key, successor) = (key.to_string(), successor.clone());
            self.successions.push(Succession { id, key, successor, is_valid: input.is_valid });
        } else if !input.is_valid {
            self.invalidate(id, None);
        }
        if input.text.is_retracted {
            self.invalidate(id, None);
        }
    }

    /// Whether a valid fact with another text has the key and the scope of the input, and waits for no successor.
    fn has_other_valid(&self, key: &str, input: &FactInput) -> bool {
        let is_waiting = |id: ItemId| self.successions.iter().any(|succession| succession.id == id);
        self.state.by_key(&ItemKey::Fact(Text::from(key))).any(|Entry { item, .. }| {
            let has_scope = item.fact().is_some_and(|fact| fact.scope == input.scope);
            let is_other = item.text.as_str() != input.text.text;
            has_scope && is_other && item.is_valid() && !is_waiting(item.id)
        })
    }

    /// Returns the valid fact that the input repeats: same key, scope and text, no higher rank.
    fn valid_repetition(&self, key: &str, input: &FactInput, rank: Rank) -> Option<ItemId> {
        let is_repeated = |item: &Item| {
            let fact = item.fact().filter(|fact| fact.scope == input.scope && fact.source.rank <= rank);
            fact.is_some() && item.is_valid() && item.text.as_str() == input.text.text
        };
        let mut entries = self.state.by_key(&ItemKey::Fact(Text::from(key)));
        entries.find(|entry| is_repeated(&entry.item)).map(|entry| entry.item.id)
    }
}
