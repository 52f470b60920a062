//! Items and inputs of which enumerations are made.

pub(super) use crate::adversary::knowledge::{declared, identity};
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{
    Audience, ConstraintType, FactRecord, FactSource, Item, ItemKey, ItemKind, Layer, MemoryType, Rank,
    Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Write};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{CallId, Input, ItemId, UserId};
use std::sync::Arc;

/// The ranks below, at and above that of the session.
pub(super) const RANKS: [Rank; 3] = [Rank::Guest, Rank::Employee, Rank::Manager];

/// The user of every session.
pub(super) fn user() -> UserId {
    UserId::new("u")
}

/// The id of an item at the start, from 1.
pub(super) fn id(number: u64) -> ItemId {
    ItemId::new(number)
}

pub(super) fn supposed() -> Scope {
    Scope::Hypothetical("h".into())
}

pub(super) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// The record of a global fact of an employee, which everybody reads.
pub(super) fn record() -> FactRecord {
    FactRecord {
        source: FactSource { name: Rank::Employee.name().into(), rank: Rank::Employee, derivation: None },
        established_at: at(1),
        memory: MemoryType::User,
        scope: Scope::Global,
        supersedes: None,
        time_sensitive: false,
        audience: Audience::Everybody,
        summarized_keys: Vec::new(),
    }
}

/// A source of this rank.
pub(super) fn source(rank: Rank) -> FactSource {
    FactSource { name: rank.name().into(), rank, derivation: None }
}

/// A current fact.
pub(super) fn fact(id: ItemId, key: &str, text: &str, record: FactRecord) -> Entry {
    entry(id, ItemKey::Fact(key.into()), text, Layer::Fact(Arc::new(record)))
}

/// A current item without dependencies.
pub(super) fn entry(id: ItemId, key: ItemKey, text: &str, layer: Layer) -> Entry {
    let item = Item { id, kind: ItemKind::Fact, key, text: text.into(), layer, validity: Validity::Current };
    Entry { item, deps: Vec::new() }
}

/// The entry with another validity.
pub(super) fn with_validity(mut entry: Entry, validity: Validity) -> Entry {
    entry.item.validity = validity;
    entry
}

/// The validity of an item that another one superseded.
pub(super) fn superseded(by: ItemId) -> Validity {
    Validity::Superseded { superseded_by: Some(by), rule: SupersessionRule::Implicit }
}

pub(super) const KINDS: [FactKind; 2] = [FactKind::Fact, FactKind::Constraint(Some(ConstraintType::Budget))];

/// A global fact of an employee, established at 1.
pub(super) fn new_fact(key: &str, text: &str) -> NewFact {
    NewFact {
        established_at: Some(at(1)),
        ..NewFact::global(key.into(), text.into(), declared(Rank::Employee))
    }
}

pub(super) fn write(write: Write) -> Input {
    Input::Write(Box::new(write))
}

/// A session of an employee.
pub(super) fn employee_session() -> Vec<Vec<Input>> {
    vec![vec![session(Some(identity(Rank::Employee.name(), None, &[])))]]
}

/// The reply that verifies the identity of the first request.
pub(super) fn verified() -> Input {
    Input::reply(CallId::FIRST, Report::Identity { gcp: true, mongodb: true })
}

pub(super) fn session(identity: Option<NewIdentity>) -> Input {
    Input::SessionStart { user: user(), identity: identity.map(Box::new) }
}

/// Every pair of the elements of two lists.
pub(super) fn pairs<A: Clone, B: Clone>(first: &[A], second: &[B]) -> Vec<(A, B)> {
    first.iter().flat_map(|a| second.iter().map(move |b| (a.clone(), b.clone()))).collect()
}
