//! The facts that a text states, as writes to a running conversation (decision 0032).
//!
//! The result depends on the text, the policy and the state only; the kernel decides each write. Deliberately absent: earlier
//! turns, and facts without a key that supersede nothing. The request itself is an item of its own.

use crate::conversation::{Conversation, Speaker};
use crate::memory::memory_of_source;
use crate::stems::Stems;
use crate::supersession::{Assertion, KnownFact, SupersessionDetector};
use crate::tagged_text::TaggedText;
use crate::time_sensitivity::is_time_sensitive;
use orchestrion_kernel::item::{Audience, FactRecord, Item, ItemKey, ItemKind, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Principal, Reference, Write, WriteSource};
use orchestrion_kernel::{Policy, State, Text, Timestamp};

/// A text from which facts are derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The text.
    pub text: Text,
    /// The key of the fact that the text states; `None` to find the facts that the text supersedes.
    pub key: Option<Text>,
    /// The source, which the host declares; `None` for the session user.
    pub source: Option<Text>,
    /// The time of the text; `None` for the time of its writes.
    pub established_at: Option<Timestamp>,
}

/// Returns the writes of the facts that a text states, in the order of the facts that they supersede. A text that is marked as
/// retracted states nothing.
///
/// The text competes with the valid facts of its scope that the session user may read.
#[must_use]
pub fn derive_writes(
    detector: &dyn SupersessionDetector,
    policy: &Policy,
    state: &State,
    source: &SourceText,
) -> Vec<Write> {
    let tagged = TaggedText::parse(source.text.as_str());
    if tagged.is_retracted {
        return Vec::new();
    }
    let Principal { rank: session_rank, scope, now, .. } = state.session_principal();
    let scope = tagged.scope.clone().unwrap_or(scope);
    let deriver = Deriver { policy, session_rank, now, source, tagged, scope };
    let known = deriver.known_facts(state);
    let facts: Vec<KnownFact<'_>> = known.iter().map(Known::to_fact).collect();
    let facts = match &source.key {
        Some(key) => vec![deriver.keyed_fact(detector, key, &facts, &known)],
        None => deriver.superseding_facts(detector, &facts, &known),
    };
    facts.into_iter().map(Write::Fact).collect()
}

struct Deriver<'a> {
    policy: &'a Policy,
    session_rank: Rank,
    now: Timestamp,
    source: &'a SourceText,
    tagged: TaggedText,
    /// The scope that the text names, else that of the running request.
    scope: Scope,
}

/// A fact that the text may supersede.
struct Known<'a> {
    item: &'a Item,
    key: &'a Text,
    record: &'a FactRecord,
    stems: Stems,
}

impl Known<'_> {
    fn to_fact(&self) -> KnownFact<'_> {
        let Self { item, key, record, stems } = self;
        let (key, text, rank) = (key.as_str(), item.text.as_str(), record.source.rank);
        KnownFact {
            id: item.id,
            assertion: Assertion { key, text, stems, speaker: None, rank },
            is_valid: true,
            is_readable: true,
            is_from_session: false,
            turns_before: 0,
        }
    }
}

impl Deriver<'_> {
    fn known_facts<'a>(&self, state: &'a State) -> Vec<Known<'a>> {
        let principal = state.session_principal();
        let items = state.semantic().entries().map(|entry| &entry.item);
        let readable = items.filter(|item| item.is_valid() && principal.can_read(item));
        let facts = readable.filter_map(|item| {
            let (ItemKey::Fact(key), Some(record)) = (&item.key, item.fact()) else { return None };
            let stems = Stems::from_text(item.text.as_str());
            (record.scope == self.scope).then_some(Known { item, key, record, stems })
        });
        facts.collect()
    }

    /// Returns the fact under the key that the host gives. It supersedes the version of its entity that the detector finds.
    fn keyed_fact(
        &self,
        detector: &dyn SupersessionDetector,
        key: &Text,
        facts: &[KnownFact<'_>],
        known: &[Known<'_>],
    ) -> NewFact {
        let text = self.tagged.text.as_str();
        let named = self.tagged.source.as_ref();
        let source =
            self.write_source(named.map(|named| named.name.as_str()), named.and_then(|named| named.rank));
        let rank = source.rank.unwrap_or(self.highest_rank(&source));
        let assertion =
            Assertion { key: key.as_str(), text, stems: &Stems::from_text(text), speaker: None, rank };
        let detected = detector.detect_for_fact(&assertion, facts);
        let superseded =
            detected.and_then(|detected| known.iter().find(|fact| fact.item.id == detected.superseded));
        NewFact {
            supersedes: superseded.map(|fact| Reference::Key(fact.key.clone())),
            detected_rule: detected.map(|detected| detected.rule),
            ..self.new_fact(key.clone(), text, source, self.tagged.audience.clone())
        }
    }

    /// Returns a successor of each fact that the text supersedes, under its key and for its readers.
    fn superseding_facts(
        &self,
        detector: &dyn SupersessionDetector,
        facts: &[KnownFact<'_>],
        known: &[Known<'_>],
    ) -> Vec<NewFact> {
        let mut conversation = Conversation::default();
        // The detector reads statements of users only.
        let at = self.source.established_at.unwrap_or(self.now);
        conversation.add_turn(Speaker::User, self.tagged.clone(), at);
        let turns = conversation.turns();
        let successor = |(index, detected): (usize, crate::DetectedSupersession)| {
            let turn = turns.get(index)?;
            let Known { item, key, record, .. } =
                known.iter().find(|fact| fact.item.id == detected.superseded)?;
            let audience = match &self.tagged.audience {
                Audience::Everybody => record.audience.clone(),
                restricted @ (Audience::AtLeast(_) | Audience::Permitted(_)) => restricted.clone(),
            };
            let source = self.write_source(None, turn.rank.or(detected.cited_rank));
            Some(NewFact {
                kind: fact_kind(item.kind)?,
                supersedes: Some(Reference::Key((*key).clone())),
                detected_rule: Some(detected.rule),
                ..self.new_fact((*key).clone(), &turn.stated_text(), source, audience)
            })
        };
        detector.detect_in_conversation(facts, turns).into_iter().filter_map(successor).collect()
    }

    fn new_fact(&self, key: Text, text: &str, source: WriteSource, audience: Audience) -> NewFact {
        let declared = self.source.source.as_ref().map(Text::as_str);
        NewFact {
            kind: FactKind::Fact,
            time_sensitive: is_time_sensitive(key.as_str()) || is_time_sensitive(text),
            key,
            text: Text::from(text),
            source,
            established_at: self.source.established_at,
            memory: declared.map_or(MemoryType::User, memory_of_source),
            scope: self.scope.clone(),
            audience,
            supersedes: None,
            detected_rule: None,
            depends_on: Vec::new(),
            is_from_text: true,
        }
    }

    /// Returns the source: the declared one, unless the text names a person or cites a rank. What the text says of its source is
    /// derived, so it raises no rank above that of the session (decision 0028).
    fn write_source(&self, named: Option<&str>, cited: Option<Rank>) -> WriteSource {
        if named.is_none()
            && cited.is_none()
            && let Some(name) = &self.source.source
        {
            return WriteSource::declared(name.clone());
        }
        let name = named.map(Text::from).or_else(|| self.source.source.clone());
        let source = WriteSource { name, rank: None, is_derived: true };
        WriteSource { rank: cited.map(|rank| rank.min(self.highest_rank(&source))), ..source }
    }

    /// The highest rank that the kernel gives the source.
    fn highest_rank(&self, source: &WriteSource) -> Rank {
        let own = source.name.as_ref().and_then(|name| self.policy.ranks.get(name.as_str()));
        match own {
            Some(own) if source.is_derived => own.min(self.session_rank),
            Some(own) => own,
            None => self.session_rank,
        }
    }
}

/// Returns the kind of a successor: a constraint remains one.
const fn fact_kind(kind: ItemKind) -> Option<FactKind> {
    match kind {
        ItemKind::Fact => Some(FactKind::Fact),
        ItemKind::Constraint(constraint) => Some(FactKind::Constraint(constraint)),
        ItemKind::Subtask(_) => None,
    }
}
