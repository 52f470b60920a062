//! Events that do not fit the semantic state are found.

#![allow(clippy::unwrap_used, missing_docs)]

mod write_helpers;

use orchestrion_kernel::checker::{EventError, validate_event};
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{ItemKey, Rank};
use orchestrion_kernel::knowledge::{Reference, Write, decide_write};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{Event, ItemId, Policy};
use write_helpers::{dependent, new};

fn semantic_state(writes: impl IntoIterator<Item = Write>) -> SemanticState {
    let mut state = SemanticState::default();
    for write in writes {
        let events = decide_write(&Policy::hardened(), &state, &write).unwrap();
        events.iter().for_each(|event| state.apply(event));
    }
    state
}

#[test]
fn invalid_event_is_refused_with_reason() {
    let state = semantic_state([new("a", "1", Rank::Employee), dependent("b", "2", "a")].map(Write::Fact));
    let entry = state.latest_by_key(&ItemKey::Fact("b".into())).unwrap().clone();
    let error = |event| validate_event(&state, &event).unwrap_err();
    let (item, deps) = (entry.item.clone(), entry.deps);
    assert_eq!(error(Event::AddItem { item: item.clone(), deps }), EventError::DuplicateId(item.id));
    let mut unknown = item.clone();
    unknown.id = ItemId::new(9);
    assert_eq!(
        error(Event::UpdateItem { item: unknown.clone(), deps: vec![] }),
        EventError::UnknownItem(unknown.id)
    );
    assert_eq!(
        error(Event::UpdateItem { item, deps: vec![ItemId::new(9)] }),
        EventError::DanglingDependency(ItemId::new(9))
    );
    let forget = |id: u64, cause| Event::ForgetItems { ids: vec![ItemId::new(id)], cause };
    assert_eq!(error(forget(9, ForgetCause::Expiry)), EventError::UnknownItem(ItemId::new(9)));
    assert_eq!(error(forget(2, ForgetCause::SessionEnd)), EventError::InvalidForgetCause(ItemId::new(2)));
    assert_eq!(error(forget(2, ForgetCause::Expiry)), EventError::InvalidForgetCause(ItemId::new(2)));
}

#[test]
fn item_with_dependents_is_not_forgotten() {
    let scratch = |key: &str, rests_on| Write::Working {
        key: key.into(),
        text: key.into(),
        expires_at: Some(Timestamp::from_millis(2_000)),
        depends_on: rests_on,
    };
    let state = semantic_state([scratch("a", vec![]), scratch("b", vec![Reference::Id(ItemId::FIRST)])]);
    let forget = |ids| Event::ForgetItems { ids, cause: ForgetCause::Expiry };
    let alone = validate_event(&state, &forget(vec![ItemId::FIRST]));
    assert_eq!(alone, Err(EventError::HasDependents { id: ItemId::FIRST, by: ItemId::new(2) }));
    let both = state.expired_items(Timestamp::from_millis(2_000));
    assert_eq!(validate_event(&state, &forget(both.clone())), Ok(()));
    assert_eq!(both, [ItemId::FIRST, ItemId::new(2)]);
}
