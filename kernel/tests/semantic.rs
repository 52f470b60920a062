//! The semantic state by example: when two are equal, and when one is consistent.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::item::{
    Audience, FactRecord, FactSource, Item, ItemKey, ItemKind, Layer, MemoryType, Rank, Scope,
    SupersessionRule, Validity,
};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{ItemId, Timestamp};

fn item(id: ItemId, key: &str, text: &str) -> Item {
    Item {
        id,
        kind: ItemKind::Fact,
        key: ItemKey::Working(key.into()),
        text: text.into(),
        layer: Layer::Working { created_at: Timestamp::default(), expires_at: None },
        validity: Validity::Current,
    }
}

const fn superseded_by(id: ItemId) -> Validity {
    Validity::Superseded { superseded_by: Some(id), rule: SupersessionRule::Explicit }
}

fn apply(events: &[Event]) -> SemanticState {
    let mut state = SemanticState::default();
    events.iter().for_each(|event| state.apply(event));
    state
}

/// Two items; the second depends on the first.
fn two_items() -> Vec<Event> {
    let first = SemanticState::default().next_id();
    let added = Event::AddItem { item: item(first, "a", "1"), deps: Vec::new() };
    let second = apply(std::slice::from_ref(&added)).next_id();
    vec![added, Event::AddItem { item: item(second, "b", "2"), deps: vec![first] }]
}

fn added(event: &Event) -> &Item {
    let Event::AddItem { item, .. } = event else { panic!("{event:?}") };
    item
}

#[test]
fn states_with_equal_items_are_equal() {
    let events = two_items();
    let (first, second) = (added(&events[0]), added(&events[1]));
    let state = apply(&events);
    let changed = |event: Event| apply(&[events.clone(), vec![event]].concat());
    // The same items by other events.
    assert_eq!(changed(Event::UpdateItem { item: second.clone(), deps: vec![first.id] }), state);
    let other_text = Item { text: "3".into(), ..second.clone() };
    assert_ne!(changed(Event::UpdateItem { item: other_text, deps: vec![first.id] }), state);
    assert_ne!(changed(Event::UpdateItem { item: second.clone(), deps: Vec::new() }), state);
    // The same items, of which one is archived.
    let archived = Item { validity: superseded_by(first.id), ..second.clone() };
    assert_ne!(changed(Event::UpdateItem { item: archived, deps: vec![first.id] }), state);
    // The same items, and another next id.
    let third = Event::AddItem { item: item(state.next_id(), "c", ""), deps: Vec::new() };
    let forget = Event::ForgetItems { ids: vec![state.next_id()], cause: ForgetCause::Capacity };
    let forgotten = apply(&[events.clone(), vec![third, forget]].concat());
    assert_eq!(forgotten.entries().count(), state.entries().count());
    assert_ne!(forgotten, state);
}

#[test]
fn state_without_items_is_empty() {
    assert!(SemanticState::default().is_empty());
    assert!(!apply(&two_items()).is_empty());
    let archived = |event: &Event| {
        let item = Item { validity: superseded_by(added(event).id), ..added(event).clone() };
        Event::UpdateItem { item, deps: Vec::new() }
    };
    let events = two_items();
    let all_archived: Vec<Event> = events.iter().cloned().chain(events.iter().map(archived)).collect();
    let state = apply(&all_archived);
    assert_eq!((state.valid_entries().count(), state.len()), (0, 2));
    assert!(!state.is_empty());
}

/// The indexes follow an update of any field.
#[test]
fn updated_items_are_reindexed() {
    let events = two_items();
    let first = added(&events[0]).clone();
    let fact = |scope| {
        let record = FactRecord {
            source: FactSource { name: "ada".into(), rank: Rank::Employee, derivation: None },
            established_at: Timestamp::default(),
            memory: MemoryType::User,
            scope,
            supersedes: None,
            time_sensitive: false,
            audience: Audience::Everybody,
            summarized_keys: Vec::new(),
        };
        Item { key: ItemKey::Fact("a".into()), layer: Layer::Fact(record.into()), ..first.clone() }
    };
    let versions = [
        Item { key: ItemKey::Working("c".into()), ..first.clone() },
        fact(Scope::Global),
        fact(Scope::Task("t".into())),
        Item { validity: superseded_by(first.id), ..fact(Scope::Global) },
        Item {
            layer: Layer::Working {
                created_at: Timestamp::default(),
                expires_at: Some(Timestamp::from_millis(9)),
            },
            ..first.clone()
        },
        first,
    ];
    for from in &versions {
        for to in &versions {
            let updates = [from, to].map(|item| Event::UpdateItem { item: item.clone(), deps: Vec::new() });
            let state = apply(&[events.clone(), updates.to_vec()].concat());
            assert!(state.is_consistent(), "{from:?}\n{to:?}");
            assert_eq!(state.by_key(&to.key).map(|entry| &entry.item).collect::<Vec<_>>(), [to]);
        }
    }
}

/// Events that the kernel does not produce.
#[test]
fn foreign_events_leave_an_inconsistent_state() {
    let events = two_items();
    assert!(apply(&events).is_consistent());
    let first = added(&events[0]).id;
    let forget = Event::ForgetItems { ids: vec![first], cause: ForgetCause::Capacity };
    assert!(!apply(&[events.clone(), vec![forget]].concat()).is_consistent(), "a dependency is missing");
    let dangling = apply(&events).next_id();
    let added = Event::AddItem { item: item(dangling, "c", ""), deps: vec![dangling.next()] };
    assert!(!apply(&[events, vec![added]].concat()).is_consistent(), "a dependency never existed");
}
