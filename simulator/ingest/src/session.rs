//! The semantic state of one session, with the properties of items that only their texts show.
//!
//! Every input becomes writes that the kernel decides ([`decide_write`]). The kernel shows every signal to every principal, and
//! every working item to every principal of the session. So a signal, note or turn with a restriction or a scope becomes a fact
//! with that audience and scope, under a reserved key.
//!
//! Deliberately absent: the text form of times. The caller sets the clock.

mod detection;
mod facts;
mod notes;
mod references;
mod signals;
mod turns;

use crate::conversation::Conversation;
use crate::diagnostic::IngestDiagnostic;
use crate::stems::Stems;
use crate::supersession::SupersessionDetector;
use crate::tagged_text::TaggedText;
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::item::{Item, ItemKey, Layer, MemoryType, Rank, Scope, SupersessionRule, Validity};
use orchestrion_kernel::knowledge::{
    FactKind, KnowledgeError, NewFact, NewIdentity, Principal, Reference, Write, WriteSource,
    decide_identity, decide_write,
};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, Policy, Text, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// The prefix of the keys that a session assigns. Keys of facts are trimmed, so no input has it.
pub const RESERVED_PREFIX: &str = "\u{a0}";

/// A session: semantic state, conversation, and references that are still open.
pub struct Session<'a> {
    policy: Policy,
    has_declared_speakers: bool,
    detector: &'a dyn SupersessionDetector,
    state: SemanticState,
    now: Timestamp,
    /// The time as the input states it.
    time_text: String,
    origins: BTreeMap<ItemId, ItemOrigin>,
    overwritten: Vec<OverwrittenSignal>,
    conversation: Conversation,
    /// The detected supersessions that are written, by turn and fact.
    detected: BTreeSet<(usize, ItemId)>,
    reference_counts: ReferenceCounts,
    /// The unresolved `supersedes` references, to detect cycles.
    unresolved: BTreeMap<ItemId, String>,
    derivations: Vec<Derivation>,
    successions: Vec<Succession>,
    /// The times of expiry that the kernel does not apply.
    expiries: BTreeMap<ItemId, Timestamp>,
    diagnostics: Vec<(String, IngestDiagnostic)>,
}

/// The properties of an item beside the semantic state.
#[derive(Clone, Debug, Default)]
pub struct ItemOrigin {
    /// The id that references may use.
    id: String,
    /// The name of the person that the text names as its source, if any.
    pub speaker: Option<String>,
    /// Whether the source is the user.
    pub is_from_user: bool,
    is_from_session: bool,
    /// The number of turns before the write.
    turns_before: usize,
    /// Whether the text is quoted from a turn, a signal or a note rather than written as a fact.
    pub is_quoted: bool,
    /// The stems of the text.
    pub stems: Stems,
}

/// The number of `supersedes` references, and of those that were resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceCounts {
    /// The references.
    pub total: usize,
    /// The references to a known fact.
    pub resolved: usize,
}

/// A former text of a signal.
#[derive(Clone, Debug)]
pub struct OverwrittenSignal {
    /// The item before the update.
    pub item: Item,
    /// The stems of its text.
    pub stems: Stems,
}

/// A `derived_facts` reference to a fact that may be written later.
struct Derivation {
    key: String,
    dependency: ItemId,
    dependent: String,
}

/// A `superseded_by` reference to a fact that may be written later in the same event.
struct Succession {
    id: ItemId,
    key: String,
    successor: String,
    is_valid: bool,
}

impl<'a> Session<'a> {
    /// Creates a session without items.
    #[must_use]
    pub fn new(policy: Policy, detector: &'a dyn SupersessionDetector) -> Self {
        Self {
            policy,
            has_declared_speakers: false,
            detector,
            state: SemanticState::default(),
            now: Timestamp::default(),
            time_text: String::new(),
            origins: BTreeMap::new(),
            overwritten: Vec::new(),
            conversation: Conversation::default(),
            detected: BTreeSet::new(),
            reference_counts: ReferenceCounts::default(),
            unresolved: BTreeMap::new(),
            derivations: Vec::new(),
            successions: Vec::new(),
            expiries: BTreeMap::new(),
            diagnostics: Vec::new(),
        }
    }

    /// Declares that a trusted recorder wrote the speakers in the tags of texts, as in `[VP] Ann (VP Sales): …`. Each speaker then
    /// has the rank of its tag and title. Otherwise a speaker has at most the rank of the session user.
    #[must_use]
    pub fn with_declared_speakers(self) -> Self {
        Self { has_declared_speakers: true, ..self }
    }

    /// Sets the session user (003 layer 1). A session has one.
    pub fn set_identity(&mut self, identity: &NewIdentity) {
        match decide_identity(&self.policy, &self.state, identity) {
            Ok(event) => self.apply(&event, &ItemOrigin::default()),
            Err(error) => self.report("identity", IngestDiagnostic::Refused(error)),
        }
    }

    /// Sets the time, with the text that contexts contain. Items expire by it. An earlier time is ignored.
    pub fn set_time(&mut self, now: Timestamp, text: &str) {
        if now < self.now {
            return;
        }
        self.now = now;
        text.clone_into(&mut self.time_text);
        let ids = self.state.expired_items(now);
        self.apply(&Event::ForgetItems { ids, cause: ForgetCause::Expiry }, &ItemOrigin::default());
        let expired: Vec<ItemId> =
            self.expiries.iter().filter(|(_, at)| **at <= now).map(|(id, _)| *id).collect();
        for id in expired {
            self.expiries.remove(&id);
            self.invalidate(id, None);
        }
    }

    /// The time.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The time as the input states it; empty before the first time.
    #[must_use]
    pub fn time_text(&self) -> &str {
        &self.time_text
    }

    /// The reader of the session user.
    #[must_use]
    pub fn principal(&self) -> Principal {
        self.state.session_principal(None, Scope::Global, self.now)
    }

    /// The semantic state.
    #[must_use]
    pub const fn state(&self) -> &SemanticState {
        &self.state
    }

    /// The conversation.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The number of `supersedes` references so far.
    #[must_use]
    pub const fn reference_counts(&self) -> ReferenceCounts {
        self.reference_counts
    }

    /// The origin of an item.
    #[must_use]
    pub fn origin(&self, id: ItemId) -> Option<&ItemOrigin> {
        self.origins.get(&id)
    }

    /// The former texts of signals, in order.
    #[must_use]
    pub fn overwritten_signals(&self) -> &[OverwrittenSignal] {
        &self.overwritten
    }

    /// Whether an item is a note rather than a statement of a turn.
    #[must_use]
    pub fn is_note(&self, item: &Item) -> bool {
        let is_quoted = self.origins.get(&item.id).is_some_and(|origin| origin.is_quoted);
        matches!(item.layer, Layer::Working { .. }) && !is_quoted
    }

    /// Removes and returns the diagnostics so far, each with the key of its input.
    pub fn take_diagnostics(&mut self) -> Vec<(String, IngestDiagnostic)> {
        std::mem::take(&mut self.diagnostics)
    }

    fn report(&mut self, key: &str, diagnostic: IngestDiagnostic) {
        self.diagnostics.push((key.trim().to_string(), diagnostic));
    }

    /// Gives a source that the input declares its rank in the policy's table, as a host would.
    fn declare(&mut self, source: &Text, rank: Rank) {
        self.policy.ranks.insert(source.as_str(), rank);
    }

    /// The source of a text by a speaker with this rank; by the session user without a rank.
    fn speaker_source(&self, rank: Option<Rank>) -> WriteSource {
        let user_rank = self.user_rank();
        match rank {
            Some(rank) if rank > user_rank && self.has_declared_speakers => {
                WriteSource::declared(Text::from(rank.name()))
            }
            rank => WriteSource {
                name: Some(Text::from("user")),
                rank: rank.map(|rank| rank.min(user_rank)),
                is_derived: true,
            },
        }
    }

    /// The rank of the session user.
    fn user_rank(&self) -> Rank {
        self.principal().rank
    }

    /// Decides a write and applies its events. Returns the id of the added item.
    fn write(&mut self, key: &str, write: &Write, origin: ItemOrigin) -> Option<ItemId> {
        let next = self.state.next_id();
        match decide_write(&self.policy, &self.state, self.now, None, write) {
            Ok(events) => {
                events.iter().for_each(|event| self.apply(event, &origin));
                (self.state.next_id() > next).then_some(next)
            }
            Err(KnowledgeError::Expired { at, now }) => {
                self.report(key, IngestDiagnostic::Expired { at, now });
                None
            }
            Err(error) => {
                let error = self.with_keys(error);
                self.report(key, IngestDiagnostic::Refused(error));
                None
            }
        }
    }

    /// Replaces the ids in an error by keys, which the user knows.
    fn with_keys(&self, error: KnowledgeError) -> KnowledgeError {
        let key = |reference: Reference| match &reference {
            Reference::Id(id) => match self.state.get(*id).map(|entry| &entry.item.key) {
                Some(ItemKey::Fact(key)) => Reference::Key(key.clone()),
                _ => reference,
            },
            Reference::Key(_) => reference,
        };
        match error {
            KnowledgeError::DanglingDependency { on } => KnowledgeError::DanglingDependency { on: key(on) },
            KnowledgeError::UnknownSuperseded(what) => KnowledgeError::UnknownSuperseded(key(what)),
            KnowledgeError::CyclicDependency(what) => KnowledgeError::CyclicDependency(key(what)),
            KnowledgeError::OutOfScope(what) => KnowledgeError::OutOfScope(key(what)),
            KnowledgeError::OutlivesDependency(what) => KnowledgeError::OutlivesDependency(key(what)),
            other => other,
        }
    }

    fn apply(&mut self, event: &Event, origin: &ItemOrigin) {
        match event {
            Event::AddItem { item, .. } => {
                self.origins.insert(item.id, origin.clone());
            }
            Event::UpdateItem { item, .. } => {
                if let Some(old) = self.state.get(item.id).filter(|old| old.item.text != item.text) {
                    let former = self.origins.insert(item.id, origin.clone());
                    let stems = former.unwrap_or_default().stems;
                    self.overwritten.push(OverwrittenSignal { item: old.item.clone(), stems });
                }
            }
            _ => {}
        }
        self.state.apply(event);
    }

    /// The valid item with this key.
    fn valid(&self, key: &ItemKey) -> Option<ItemId> {
        self.state.by_key(key).find(|entry| entry.item.is_valid()).map(|entry| entry.item.id)
    }

    /// Marks a valid item as superseded, by `successor` or by its own record.
    fn invalidate(&mut self, id: ItemId, successor: Option<ItemId>) {
        let rule = SupersessionRule::Explicit;
        self.set_validity(id, Validity::Superseded { superseded_by: successor, rule });
    }

    /// Changes the validity of a valid item.
    fn set_validity(&mut self, id: ItemId, validity: Validity) {
        let Some(entry) = self.state.get(id).filter(|entry| entry.item.is_valid()) else { return };
        let event =
            Event::UpdateItem { item: Item { validity, ..entry.item.clone() }, deps: entry.deps.clone() };
        self.apply(&event, &ItemOrigin::default());
    }

    /// Returns a diagnostic if an input that the kernel does not let expire is expired.
    fn check_expiry(&self, expires_at: Option<Timestamp>) -> Result<(), IngestDiagnostic> {
        let now = self.now;
        match expires_at {
            Some(at) if at <= now => Err(IngestDiagnostic::Expired { at, now }),
            _ => Ok(()),
        }
    }

    /// Sets or removes the time of expiry of an item.
    fn set_expiry(&mut self, id: ItemId, expires_at: Option<Timestamp>) {
        match expires_at {
            Some(at) => self.expiries.insert(id, at),
            None => self.expiries.remove(&id),
        };
    }

    /// Sets the time of expiry of the valid item with this key.
    fn set_key_expiry(&mut self, key: &ItemKey, expires_at: Option<Timestamp>) {
        self.valid(key).into_iter().for_each(|id| self.set_expiry(id, expires_at));
    }

    /// Invalidates the items that the new item with this key replaces, and a retracted new item itself.
    fn replace(&mut self, replaced: &[Option<ItemId>], key: &ItemKey, is_retracted: bool) {
        let Some(new) = self.valid(key) else { return };
        for id in replaced.iter().flatten().filter(|id| **id != new) {
            self.invalidate(*id, Some(new));
        }
        if is_retracted {
            self.invalidate(new, None);
        }
    }
}

/// Returns a fact with the audience and the scope of a text, without references.
fn new_fact(key: Text, text: &TaggedText, source: WriteSource, memory: MemoryType, at: Timestamp) -> NewFact {
    NewFact {
        kind: FactKind::Fact,
        key,
        text: Text::from(text.text.as_str()),
        source,
        established_at: Some(at),
        memory,
        scope: text.scope.clone().unwrap_or_default(),
        audience: text.audience.clone(),
        time_sensitive: false,
        supersedes: None,
        detected_rule: None,
        depends_on: Vec::new(),
        is_from_text: true,
    }
}

/// Returns a fact of the user memory.
fn user_fact(key: Text, text: &TaggedText, source: WriteSource, at: Timestamp) -> NewFact {
    new_fact(key, text, source, MemoryType::User, at)
}
