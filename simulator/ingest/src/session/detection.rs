//! Writes of the supersessions that turns state.

use super::{ItemOrigin, Session, user_fact};
use crate::stems::Stems;
use crate::supersession::{Assertion, DetectedSupersession, KnownFact};
use crate::tagged_text::TaggedText;
use crate::time_sensitivity::is_time_sensitive;
use orchestrion_kernel::item::{Audience, ItemKey};
use orchestrion_kernel::knowledge::{Reference, Write};
use orchestrion_kernel::semantic::Entry;

impl Session<'_> {
    /// Detects the supersessions that turns state, and writes each once. Call it before a context is built, as late as possible:
    /// the write that records a turn may come long after the turn.
    pub fn apply_detected(&mut self) {
        let found = self.detector.detect_in_conversation(&self.known_facts(), self.conversation.turns());
        for (turn, detected) in found {
            if self.detected.insert((turn, detected.superseded)) {
                self.write_detected(turn, &detected);
            }
        }
    }

    /// Writes the statements of a turn as the successor of a fact, for the same audience. The scope is global, because the turn has
    /// no scope, even if the fact is a draft.
    fn write_detected(&mut self, index: usize, detected: &DetectedSupersession) {
        let Some(turn) = self.conversation.turns().get(index) else { return };
        let Some(old) = self.state.get(detected.superseded).map(|entry| &entry.item) else { return };
        let (ItemKey::Fact(key), Some(fact)) = (old.key.clone(), old.fact()) else { return };
        let text = turn.stated_text();
        let audience = if turn.audience == Audience::Everybody { &fact.audience } else { &turn.audience };
        // A cited rank is only a claim of the text (decision 0028).
        let cited = detected.cited_rank.map(|rank| rank.min(self.user_rank()));
        let source = self.speaker_source(turn.rank.or(cited));
        let tagged =
            TaggedText { audience: audience.clone(), scope: None, is_retracted: false, source: None, text };
        let mut new = user_fact(key.clone(), &tagged, source, turn.at);
        new.time_sensitive = is_time_sensitive(&tagged.text);
        new.supersedes = Some(Reference::Id(detected.superseded));
        new.detected_rule = Some(detected.rule);
        let origin = ItemOrigin {
            is_from_user: true,
            is_from_session: true,
            turns_before: index + 1,
            is_quoted: true,
            stems: Stems::from_text(&tagged.text),
            ..ItemOrigin::default()
        };
        self.write(key.as_str(), &Write::Fact(new), origin);
    }

    /// Returns the facts for the detector, without signals, notes and turns that are stored as facts.
    pub(super) fn known_facts(&self) -> Vec<KnownFact<'_>> {
        let principal = self.principal();
        let entries = self.state.entries();
        let facts = entries.filter_map(|Entry { item, .. }| {
            let (ItemKey::Fact(key), Some(fact)) = (&item.key, item.fact()) else { return None };
            let origin = self.origins.get(&item.id)?;
            (origin.is_from_session || !origin.is_quoted).then(|| KnownFact {
                id: item.id,
                assertion: Assertion {
                    key: key.as_str(),
                    text: item.text.as_str(),
                    stems: &origin.stems,
                    speaker: origin.speaker.as_deref(),
                    rank: fact.source.rank,
                },
                is_valid: item.is_valid(),
                is_readable: principal.can_read(item),
                is_from_session: origin.is_from_session,
                turns_before: origin.turns_before,
            })
        });
        facts.collect()
    }
}
