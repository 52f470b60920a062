//! A timeline replayed: every event becomes writes, which the kernel decides and its semantic state holds.
//!
//! Beside the state stands what only the border knows of an item: what links call it, who speaks in it, and its stems.

mod links;
mod write;

pub use links::Links;

use super::conversation::{Conversation, TurnRecord};
use super::detect::{Assertion, Detected, KnownFact, SupersessionDetector};
use super::diagnostic::WriteDiagnostic;
use super::import::is_time_sensitive;
use super::stems::Stems;
use super::timeline::{Event as Happening, Initial};
use orchestrion_kernel::item::{Audience, FactSource, Item, ItemKey, Layer, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::{FactKind, KnowledgeError, NewFact, Reference, Write, decide_write};
use orchestrion_kernel::semantic::{Entry, SemanticState};
use orchestrion_kernel::{Event, ItemId, Policy, Text, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// What became of a timeline so far.
pub struct Session<'a> {
    policy: Policy,
    detect: &'a dyn SupersessionDetector,
    known: SemanticState,
    origins: BTreeMap<ItemId, Origin>,
    overwritten: Vec<Overwritten>,
    conversation: Conversation,
    /// Which turns were found to take the place of which facts, and written: each once.
    settled: BTreeSet<(usize, ItemId)>,
    /// The time of the event in hand. It may be an earlier one than the clock's: events come in their order.
    at: Timestamp,
    links: Links,
    /// What writes were to supersede that supersede nothing: to tell circles.
    dangling: BTreeMap<ItemId, String>,
    /// What is to rest on which item, by the key that said so, and is not written yet.
    derives: Vec<(String, ItemId, String)>,
    /// What was superseded by something that may be written later in the same event.
    superseded: Vec<Superseded>,
    /// When what the kernel does not let expire is to end all the same.
    ends: BTreeMap<ItemId, Timestamp>,
    unfit: Vec<(String, WriteDiagnostic)>,
}

/// What the border knows of an item.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin {
    /// What links may call it, beside its key.
    name: String,
    /// Who says it, if that is somebody by name.
    pub(super) speaker: Option<String>,
    /// Whether it is the user's own word.
    pub(super) is_users: bool,
    is_of_session: bool,
    /// How many turns were heard before it.
    heard: usize,
    /// Whether it stands there as it was said, because nobody wrote it.
    pub(super) is_verbatim: bool,
    pub(super) stems: Stems,
}

/// What its own record says to be superseded.
struct Superseded {
    id: ItemId,
    key: String,
    /// The id or key of what superseded it.
    by: String,
    is_valid: bool,
}

/// What a signal said before it was overwritten.
#[derive(Clone, Debug)]
pub(super) struct Overwritten {
    pub(super) item: Item,
    pub(super) stems: Stems,
}

impl<'a> Session<'a> {
    /// Begins with what is known at first.
    #[must_use]
    pub fn new(initial: &Initial, detect: &'a dyn SupersessionDetector) -> Self {
        let mut session = Self {
            policy: Policy::hardened(),
            detect,
            known: SemanticState::default(),
            origins: BTreeMap::new(),
            overwritten: Vec::new(),
            conversation: Conversation::default(),
            settled: BTreeSet::new(),
            at: Timestamp::default(),
            links: Links::default(),
            dangling: BTreeMap::new(),
            derives: Vec::new(),
            superseded: Vec::new(),
            ends: BTreeMap::new(),
            unfit: Vec::new(),
        };
        session.write_initial(initial);
        session
    }

    /// Takes in what happens; a question changes nothing but the time.
    pub fn take(&mut self, event: &Happening) {
        self.at = match event {
            Happening::Turn(turn) => turn.at.0,
            Happening::Writes { at, .. } | Happening::Query { at, .. } => at.0,
        };
        self.advance_clock();
        match event {
            Happening::Turn(turn) => self.hear(turn),
            Happening::Writes { writes, .. } => {
                for write in writes {
                    self.write(write, true);
                }
                self.end_superseded();
                self.derive();
            }
            Happening::Query { .. } => {}
        }
    }

    /// Nothing more happens.
    pub fn close(&mut self) {
        self.name_underived();
    }

    /// Writes what the conversation says in the place of facts, and nobody wrote. It is read as late as possible, because the
    /// write that records a turn may come long after it.
    pub fn apply_detected(&mut self) {
        let found = self.detect.in_conversation(&self.facts(), self.conversation.turns());
        for (turn, detected) in found {
            if self.settled.insert((turn, detected.old)) {
                self.write_said(turn, &detected);
            }
        }
    }

    /// What a turn says takes the place of a fact, for the same audience. It is said plainly, so it counts everywhere, though
    /// the fact may have been a draft.
    fn write_said(&mut self, turn: usize, detected: &Detected) {
        let Some(said) = self.conversation.turns().get(turn) else { return };
        let Some(old) = self.known.get(detected.old).map(|entry| &entry.item) else { return };
        let (ItemKey::Fact(key), Some(fact)) = (&old.key, old.fact()) else { return };
        let text = said.stated();
        let audience = if said.audience == Audience::Everybody { &fact.audience } else { &said.audience };
        // What a guest says on the word of others is still a guest's.
        let own = self.rank_of(said);
        let rank = detected.on_word_of.filter(|_| own >= Rank::Employee).unwrap_or(own);
        let new = NewFact {
            kind: FactKind::Fact,
            key: key.clone(),
            text: Text::from(text.as_str()),
            source: FactSource { name: Text::from("user"), rank },
            established_at: said.at,
            memory: MemoryType::User,
            scope: Scope::Global,
            audience: audience.clone(),
            time_sensitive: is_time_sensitive(&text),
            supersedes: Some(Reference::Id(detected.old)),
            detected_rule: Some(detected.rule),
            depends_on: Vec::new(),
        };
        let origin = Origin {
            is_users: true,
            is_of_session: true,
            heard: turn + 1,
            is_verbatim: true,
            stems: Stems::of(&text),
            ..Origin::default()
        };
        self.decide(&key.to_string(), &Write::Fact(new), origin);
    }

    /// Lets the kernel decide on a write, and writes what it decides. Gives the id of what was added.
    fn decide(&mut self, name: &str, write: &Write, origin: Origin) -> Option<ItemId> {
        let next = self.known.next_id();
        match decide_write(&self.policy, &self.known, write) {
            Ok(events) => {
                for event in &events {
                    self.apply(event, &origin);
                }
                (self.known.next_id() > next).then_some(next)
            }
            Err(misuse) => {
                let unfit = match misuse {
                    KnowledgeError::Expired { at, now } => WriteDiagnostic::Expired { at, now },
                    misuse => WriteDiagnostic::Misuse(self.by_name(misuse)),
                };
                self.unfit.push((name.trim().to_string(), unfit));
                None
            }
        }
    }

    /// The same, with the names that the timeline gives for the ids that are only ours.
    fn by_name(&self, misuse: KnowledgeError) -> KnowledgeError {
        let name = |reference: Reference| match &reference {
            Reference::Id(id) => match self.known.get(*id).map(|entry| &entry.item.key) {
                Some(ItemKey::Fact(key)) => Reference::Key(key.clone()),
                _ => reference,
            },
            Reference::Key(_) => reference,
        };
        match misuse {
            KnowledgeError::DanglingDependency { on } => KnowledgeError::DanglingDependency { on: name(on) },
            KnowledgeError::UnknownSuperseded(what) => KnowledgeError::UnknownSuperseded(name(what)),
            KnowledgeError::CyclicDependency(what) => KnowledgeError::CyclicDependency(name(what)),
            KnowledgeError::OutOfScope(what) => KnowledgeError::OutOfScope(name(what)),
            KnowledgeError::OutlivesDependency(what) => KnowledgeError::OutlivesDependency(name(what)),
            other => other,
        }
    }

    /// The rank of whoever said something: the one whom the turn names, or else whoever asks.
    fn rank_of(&self, said: &TurnRecord) -> Rank {
        said.rank.unwrap_or(self.known.session_principal(None).rank)
    }

    fn apply(&mut self, event: &Event, origin: &Origin) {
        match event {
            Event::AddItem { item, .. } => {
                self.origins.insert(item.id, origin.clone());
            }
            // What time it was is no secret that talk could tell.
            Event::UpdateItem { item, .. } if item.key != ItemKey::Clock => {
                if let Some(old) = self.known.get(item.id).filter(|old| old.item.text != item.text) {
                    let now = self.origins.insert(item.id, origin.clone());
                    let stems = now.unwrap_or_default().stems;
                    self.overwritten.push(Overwritten { item: old.item.clone(), stems });
                }
            }
            _ => {}
        }
        self.known.apply(event);
    }

    /// Every fact so far, as detection sees it; not what only stands among the facts because it is not for everybody.
    fn facts(&self) -> Vec<KnownFact<'_>> {
        let reader = self.known.session_principal(None);
        let known = self.known.entries().filter_map(|Entry { item, .. }| {
            let (ItemKey::Fact(key), Some(fact)) = (&item.key, item.fact()) else { return None };
            let origin =
                self.origins.get(&item.id).filter(|origin| origin.is_of_session || !origin.is_verbatim)?;
            let claim = Assertion {
                key: key.as_str(),
                text: item.text.as_str(),
                stems: &origin.stems,
                speaker: origin.speaker.as_deref(),
                rank: fact.source.rank,
            };
            let (is_valid, is_of_session, heard) = (item.is_valid(), origin.is_of_session, origin.heard);
            let is_read = reader.can_read(item);
            Some(KnownFact { id: item.id, claim, is_valid, is_read, is_of_session, heard })
        });
        known.collect()
    }

    /// What is known.
    #[must_use]
    pub const fn known(&self) -> &SemanticState {
        &self.known
    }

    /// What was said.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// How many writes name what they supersede, and how many of them lead somewhere.
    #[must_use]
    pub const fn links(&self) -> Links {
        self.links
    }

    /// The writes that were not taken as they stand, by their keys.
    #[must_use]
    pub fn unfit(&self) -> &[(String, WriteDiagnostic)] {
        &self.unfit
    }

    /// Whether an item is of the working set, and nobody said it in a turn.
    pub(super) fn is_note(&self, item: &Item) -> bool {
        let is_said = |origin: &Origin| origin.is_verbatim;
        matches!(item.layer, Layer::Working { .. }) && !self.origins.get(&item.id).is_some_and(is_said)
    }

    pub(super) fn origin(&self, id: ItemId) -> Option<&Origin> {
        self.origins.get(&id)
    }

    pub(super) fn overwritten(&self) -> &[Overwritten] {
        &self.overwritten
    }
}
