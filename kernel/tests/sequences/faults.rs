//! Claims and event checks find faults in events.

use crate::conversation::{events_of, state_after};
use orchestrion_claims::{CLAIMS, History, state_violations, step_violations};
use orchestrion_kernel::checker::{EventError, validate_event};
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::item::{FactRecord, ItemKey, Layer, Validity};
use orchestrion_kernel::{Event, Input, ItemId, State, Timestamp};
use std::sync::Arc;

/// Spoils the summary in the events of an input. Returns the claims on summaries and keys that detect it.
fn detecting_claims(setup: &str, input: &str, spoil: fn(&mut FactRecord)) -> Vec<&'static str> {
    let (policy, before) = state_after(setup);
    let mut events = events_of(&policy, &before, input);
    for event in &mut events {
        if let Event::AddItem { item, .. } | Event::UpdateItem { item, .. } = event
            && let (ItemKey::Summary, Layer::Fact(fact)) = (&item.key, &mut item.layer)
        {
            spoil(Arc::make_mut(fact));
        }
    }
    let mut after = before.clone();
    events.iter().for_each(|event| after.apply(event));
    let by_step = step_violations(&policy, &before, &Input::Step, &events, &after, &mut History::default());
    let all = by_step.chain(state_violations(&policy, &after)).map(|claim| CLAIMS[claim].id);
    all.filter(|id| ["C-53", "C-58", "C-90", "C-100"].contains(id)).collect()
}

#[test]
fn claims_detect_wrong_covered_keys() {
    let setup = "conversation hardened compaction.from_items=2; session_start ada; fact a 1; fact b 2; advance Compacting";
    let summary = "reply summary \"a is 1, b is 2\"";
    assert_eq!(detecting_claims(setup, summary, |_| ()), [""; 0]);
    assert_eq!(detecting_claims(setup, summary, |fact| fact.summarized_keys.clear()), ["C-90"]);
    let setup = &format!("{setup}; {summary}");
    assert_eq!(detecting_claims(setup, "fact a 9", |_| ()), [""; 0]);
    let added = detecting_claims(setup, "fact a 9", |fact| fact.summarized_keys.insert(0, "a".into()));
    assert_eq!(added, ["C-58", "C-100", "C-53"]);
    let added = detecting_claims(setup, "fact a 9", |fact| fact.summarized_keys.push("c".into()));
    assert_eq!(added, ["C-100"]);
}

/// An old kernel accepted a write under a superseded key beside the successor.
#[test]
fn claim_detects_second_valid_fact_of_family() {
    let (policy, mut state) = state_after("conversation hardened; fact a 1; fact b 2 supersedes=a");
    let violated = |state: &State| state_violations(&policy, state).map(|claim| CLAIMS[claim].id).collect();
    let none: Vec<&str> = violated(&state);
    assert_eq!(none, [""; 0]);
    for mut event in events_of(&policy, &state, "fact a 9 rank=guest") {
        if let Event::AddItem { item, .. } = &mut event {
            item.validity = Validity::Current;
        }
        state.apply(&event);
    }
    let all: Vec<&str> = violated(&state);
    assert_eq!(all, ["C-101"]);
}

#[test]
fn invalid_event_is_refused_with_reason() {
    let (_, state) = state_after("conversation hardened; fact a 1; fact b 2 depends_on=a");
    let entry = state.semantic().get(ItemId::new(2)).unwrap().clone();
    let error = |event| validate_event(state.semantic(), &event).unwrap_err();
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
    // The summary exists, and is not forgotten itself.
    let compaction = |into: u64| ForgetCause::Compaction { into: ItemId::new(into) };
    assert_eq!(validate_event(state.semantic(), &forget(2, compaction(1))), Ok(()));
    for into in [2, 9] {
        assert_eq!(error(forget(2, compaction(into))), EventError::InvalidForgetCause(ItemId::new(2)));
    }
}

#[test]
fn item_with_dependents_is_not_forgotten() {
    let setup = "conversation hardened; session_start ada; working a a expires_at=2000";
    let (_, state) = state_after(&format!("{setup}; working b b expires_at=2000 depends_on=#1"));
    let forget = |ids| Event::ForgetItems { ids, cause: ForgetCause::Expiry };
    let alone = validate_event(state.semantic(), &forget(vec![ItemId::FIRST]));
    assert_eq!(alone, Err(EventError::HasDependents { id: ItemId::FIRST, by: ItemId::new(2) }));
    let both = state.semantic().expired_items(Timestamp::from_millis(2_000));
    assert_eq!(validate_event(state.semantic(), &forget(both.clone())), Ok(()));
    assert_eq!(both, [ItemId::FIRST, ItemId::new(2)]);
}
