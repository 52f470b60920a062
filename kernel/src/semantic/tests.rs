//! Each condition of a consistent state, violated alone.

use super::*;
use crate::decide::decide;
use crate::ids::{ConversationId, UserId};
use crate::input::Input;
use crate::item::Scope;
use crate::knowledge::{NewFact, Reference, Write, WriteSource};
use crate::policy::Policy;
use crate::state::State;
use alloc::boxed::Box;
use alloc::vec;

const OLD: ItemId = ItemId::new(1);
const FACT: ItemId = ItemId::new(2);
const SCOPED: ItemId = ItemId::new(3);
const DEPENDENT: ItemId = ItemId::new(4);
const ALONE: ItemId = ItemId::new(5);
const UNUSED: ItemId = ItemId::new(6);
const EXPIRY: Timestamp = Timestamp::from_millis(9);

fn fact(key: &str) -> NewFact {
    NewFact::global(key.into(), "text".into(), WriteSource::declared("employee".into()))
}

fn working(key: &str, expires_at: Option<Timestamp>, depends_on: &[&str]) -> Write {
    let depends_on = depends_on.iter().map(|key| Reference::Key((*key).into())).collect();
    Write::Working { key: key.into(), text: "text".into(), expires_at, depends_on }
}

/// A fact with an old version, a fact of a task, a dependent with an expiry, and an item without links.
fn semantic() -> SemanticState {
    let mut state = State::new(ConversationId::new("c"));
    let session = Input::SessionStart { user: UserId::new("ada"), identity: None };
    let writes = [
        Write::Fact(NewFact { text: "old".into(), ..fact("a") }),
        Write::Fact(fact("a")),
        Write::Fact(NewFact { scope: Scope::Task("t".into()), ..fact("b") }),
        working("c", Some(EXPIRY), &["a"]),
        working("d", None, &[]),
    ];
    let writes = writes.into_iter().map(|write| Input::Write(Box::new(write)));
    for input in [session].into_iter().chain(writes) {
        let events = decide(&Policy::hardened(), &state, state.now(), &input).unwrap();
        events.iter().for_each(|event| state.apply(event));
    }
    state.semantic().clone()
}

/// A change that violates one condition.
type Change = fn(&mut SemanticState);

fn key(key: &str) -> ItemKey {
    ItemKey::Fact(key.into())
}

/// Inserts an entry under an id, without its indexes.
fn insert(items: &mut SharedMap<ItemId, Arc<KeptEntry>>, id: ItemId, entry: Entry) {
    items.insert(id, Arc::new(KeptEntry { entry, digest: CachedDigest::default() }));
}

#[test]
fn each_inconsistency_is_found() {
    let changes: [(&str, Change); 16] = [
        ("a key too many", |state| state.by_key.insert((key("z"), FACT), ())),
        ("a dependent too many", |state| state.dependents.insert((FACT, ALONE), ())),
        ("an expiry too many", |state| state.expiries.insert((EXPIRY, ALONE), ())),
        ("a link too many", |state| state.links.insert((FACT, ALONE), ())),
        ("a scoped fact too many", |state| state.scoped.insert(ALONE, ())),
        ("wrong totals", |state| state.totals.session_items += 1),
        ("another expiry", |state| {
            state.expiries.remove(&(EXPIRY, DEPENDENT));
            state.expiries.insert((EXPIRY, ALONE), ());
        }),
        ("an old version among the valid items", |state| {
            let old = state.get(OLD).unwrap().clone();
            state.archived.remove(&OLD);
            insert(&mut state.valid, OLD, old);
        }),
        ("a valid item among the old versions", |state| {
            let alone = state.get(ALONE).unwrap().clone();
            state.totals = state.totals.without(&alone.item);
            state.valid.remove(&ALONE);
            insert(&mut state.archived, ALONE, alone);
        }),
        ("an item under another id", |state| {
            let alone = state.get(ALONE).unwrap().clone();
            state.valid.remove(&ALONE);
            state.by_key.remove(&(alone.item.key.clone(), ALONE));
            state.by_key.insert((alone.item.key.clone(), UNUSED), ());
            insert(&mut state.valid, UNUSED, alone);
            state.next = UNUSED.next();
        }),
        ("a next id that is used", |state| state.next = ALONE),
        ("another link", |state| {
            state.links.remove(&(FACT, OLD));
            state.links.insert((FACT, ALONE), ());
        }),
        ("another scoped fact", |state| {
            state.scoped.remove(&SCOPED);
            state.scoped.insert(ALONE, ());
        }),
        ("another key", |state| {
            state.by_key.remove(&(key("b"), SCOPED));
            state.by_key.insert((key("z"), SCOPED), ());
        }),
        ("another dependent", |state| {
            state.dependents.remove(&(FACT, DEPENDENT));
            state.dependents.insert((FACT, ALONE), ());
        }),
        ("a dependency on no item", |state| {
            let entry = state.get(DEPENDENT).unwrap().clone();
            state.dependents.remove(&(FACT, DEPENDENT));
            state.dependents.insert((UNUSED, DEPENDENT), ());
            insert(&mut state.valid, DEPENDENT, Entry { deps: vec![UNUSED], ..entry });
        }),
    ];
    assert!(semantic().is_consistent());
    let mut stale = semantic();
    let _ = stale.digest();
    stale.next = stale.next.next();
    assert!(!stale.is_consistent(), "a digest that was not reset");
    for (name, change) in changes {
        let mut state = semantic();
        change(&mut state);
        state.digest.reset();
        assert!(!state.is_consistent(), "{name}");
    }
}

/// Items of both maps have one order.
#[test]
fn entries_are_in_id_order() {
    let mut state = semantic();
    assert!(state.entries().map(|entry| entry.item.id).eq([OLD, FACT, SCOPED, DEPENDENT, ALONE]));
    assert_eq!((state.valid.size(), state.archived.size()), (4, 1));
    // The last item becomes an old version.
    let Entry { item, deps } = state.get(ALONE).unwrap().clone();
    state.write(Entry { item: Item { validity: Validity::Denied, ..item }, deps });
    assert!(state.entries().map(|entry| entry.item.id).eq([OLD, FACT, SCOPED, DEPENDENT, ALONE]));
    assert_eq!((state.valid.size(), state.archived.size()), (3, 2));
}

/// The digest depends on each part of the state, and equality too.
#[test]
fn digest_and_equality_read_every_part() {
    let [state, mut fewer_valid, mut fewer_archived, mut later] = [(); 4].map(|()| semantic());
    assert_eq!((state.digest(), &state), (semantic().digest(), &semantic()));
    fewer_valid.forget(ALONE);
    fewer_archived.forget(OLD);
    later.next = later.next.next();
    later.digest.reset();
    for other in [fewer_valid, fewer_archived, later, SemanticState::default()] {
        assert_ne!(state, other);
        assert_ne!(state.digest(), other.digest());
        assert_ne!(digest(&state), digest(&other));
    }
}

/// Canonical ids are 1, 2, 3 …; a link to an item that is gone leads to none.
#[test]
fn canonical_ids_have_no_gap() {
    let mut state = semantic();
    let unchanged = state.clone();
    state.canonicalize();
    assert_eq!(state, unchanged);
    state.forget(DEPENDENT);
    state.forget(FACT);
    state.canonicalize();
    assert!(state.is_consistent());
    let found: Vec<_> =
        state.entries().map(|entry| (entry.item.id.number(), entry.item.key.clone())).collect();
    assert_eq!(found, [(1, key("a")), (2, key("b")), (3, ItemKey::Working("d".into()))]);
    let old = &state.get(OLD).unwrap().item;
    assert!(matches!(old.validity, Validity::Superseded { superseded_by: Some(by), .. } if by.number() == 0));
    assert_eq!(state.next_id(), ItemId::new(4));
    // A gap at the end counts too.
    state.forget(ItemId::new(3));
    state.canonicalize();
    assert_eq!(state.next_id(), ItemId::new(3));
}
