//! Facts to write, and the resulting semantic state.

#![allow(clippy::unwrap_used, dead_code, reason = "each test uses a part")]

use orchestrion_kernel::checker::validate_event;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{FactSource, ItemKey, Rank, Scope, Validity};
use orchestrion_kernel::knowledge::{KnowledgeError, NewFact, Principal, Reference, Write, decide_write};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, Policy};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_000);

pub(crate) fn new(key: &str, text: &str, rank: Rank) -> NewFact {
    let source = FactSource { name: "author".into(), rank };
    NewFact { established_at: NOW, ..NewFact::global(key.into(), text.into(), source) }
}

pub(crate) fn superseding(key: &str, text: &str, rank: Rank, named: &str) -> NewFact {
    NewFact { supersedes: Some(Reference::Key(named.into())), ..new(key, text, rank) }
}

pub(crate) fn dependent(key: &str, text: &str, on: &str) -> NewFact {
    NewFact { depends_on: vec![Reference::Key(on.into())], ..new(key, text, Rank::Employee) }
}

/// Writes, and checks every event against the state to which it applies.
pub(crate) fn write(state: &mut SemanticState, write: &Write) -> Result<Vec<Event>, KnowledgeError> {
    let events = decide_write(&Policy::hardened(), state, write)?;
    for event in &events {
        validate_event(state, event).unwrap();
        state.apply(event);
        assert!(state.is_consistent());
    }
    Ok(events)
}

pub(crate) fn semantic_state(facts: impl IntoIterator<Item = NewFact>) -> SemanticState {
    let mut state = SemanticState::default();
    for fact in facts {
        write(&mut state, &Write::Fact(fact)).unwrap();
    }
    state
}

pub(crate) fn validity_of(state: &SemanticState, key: &str) -> Validity {
    state.latest_by_key(&ItemKey::Fact(key.into())).unwrap().item.validity
}

pub(crate) fn id(state: &SemanticState, key: &str) -> ItemId {
    state.latest_by_key(&ItemKey::Fact(key.into())).unwrap().item.id
}

pub(crate) fn anonymous() -> Principal {
    Principal { user: None, rank: Rank::Employee, permissions: Vec::new(), scope: Scope::Global, now: NOW }
}

/// Returns the texts that may enter a context.
pub(crate) fn context_texts(state: &SemanticState, reader: &Principal) -> Vec<String> {
    state.selectable(reader).map(|entry| entry.item.text.to_string()).collect()
}

pub(crate) fn current(state: &SemanticState, key: &str) -> Option<String> {
    state.get_current_value(&key.into(), &anonymous()).map(|item| item.text.to_string())
}
