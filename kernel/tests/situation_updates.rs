//! Document 002 in conversations: summary updates and action records in replies, and their effects.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::context::{ByteMeasure, build_context};
use orchestrion_kernel::item::{ItemKey, Layer};
use orchestrion_kernel::module::{Failure, Operation, Ratings, Report};
use orchestrion_kernel::situation::{
    ActionRecord, HISTORY_ACTIONS, Mode, NO_ATTEMPTS, NO_RESULTS, SummaryField, SummaryUpdate,
};
use orchestrion_kernel::{
    ConversationId, Event, Events, Input, Policy, Score, State, TaskId, Text, UserId, decide,
};
use orchestrion_optimizer::ExactSelector;

fn take(state: &mut State, input: &Input) -> Events {
    let events = decide(&Policy::hardened(), state, input).unwrap_or_else(|refusal| panic!("{refusal}"));
    events.iter().for_each(|event| state.apply(event));
    events
}

/// Returns a request whose user is about to be verified.
fn identity_request() -> State {
    let mut state = State::new(ConversationId::new("c"));
    let user = || UserId::new("ada");
    take(&mut state, &Input::SessionStart { user: user() });
    take(&mut state, &Input::UserMessage { user: user(), text: "please".into() });
    state
}

fn update(texts: &[(&str, &str)]) -> Option<SummaryUpdate> {
    Some(SummaryUpdate(texts.iter().map(|(key, text)| ((*key).into(), Text::from(*text))).collect()))
}

fn record(iteration: u32) -> Option<Box<ActionRecord>> {
    let text = || Text::from("");
    Some(Box::new(ActionRecord {
        iteration,
        timestamp: text(),
        mode: Mode::Fast,
        thinking: text(),
        planning: text(),
        reflection: text(),
        approach: text(),
        tool_calls: Vec::new(),
    }))
}

/// Replies to the pending call with these updates.
fn reply(
    state: &mut State,
    report: Report,
    summary_update: Option<SummaryUpdate>,
    action: Option<Box<ActionRecord>>,
) -> Events {
    let call = state.control().pending_call().unwrap().id;
    take(state, &Input::Reply { call, report, summary_update, action })
}

fn locks(both: bool) -> Report {
    Report::Identity { gcp: true, mongodb: both }
}

/// An operation of a module that reasons in fast mode.
const UNDO: Operation = Operation::UndoTask { task: TaskId::FIRST };

/// Returns the context that a module receives for this operation.
fn context_text(state: &State, operation: Operation) -> String {
    build_context(&Policy::hardened(), state, operation, &ByteMeasure, &ExactSelector::default())
        .unwrap()
        .text
}

/// Advances to the classifier, from where any number of inputs returns to it without another report.
fn classifying(state: &mut State) {
    take(state, &Input::Step);
    reply(state, Report::Context { ratings: Ratings::default(), traces: Vec::new() }, None, None);
}

#[test]
fn situation_update_becomes_working_items() {
    let mut state = identity_request();
    let events =
        reply(&mut state, locks(true), update(&[("next_focus", " paper "), ("goal", "order")]), None);
    let added = events.iter().filter_map(|event| match event {
        Event::AddItem { item, .. } => Some((&item.key, item.text.as_str())),
        _ => None,
    });
    let (goal, focus) = (ItemKey::Situation(SummaryField::Goal), ItemKey::Situation(SummaryField::NextFocus));
    let added: Vec<_> = added.skip(1).collect();
    assert_eq!(added, [(&goal, "order"), (&focus, " paper ")]);
    let item = &state.semantic().latest_by_key(&goal).unwrap().item;
    assert!(matches!(item.layer, Layer::Working { expires_at: None, .. }) && !item.is_persistent());
    assert!(state.semantic().working_set().contains(&item.id));
}

#[test]
fn empty_situation_update_changes_nothing() {
    let mut state = identity_request();
    reply(&mut state, locks(true), update(&[("goal", "order")]), None);
    let updates =
        [update(&[("goal", "order")]), update(&[("goal", " \t"), ("Goal", "x"), ("insights", "x")]), None];
    take(&mut state, &Input::Step);
    let call = state.control().pending_call().unwrap().id;
    let report = Report::Context { ratings: Ratings::default(), traces: Vec::new() };
    let text = updates.map(|summary_update| {
        let reply = Input::Reply { call, report: report.clone(), summary_update, action: None };
        decide(&Policy::hardened(), &state, &reply).unwrap()
    });
    assert_eq!(text[0], text[2]);
    assert_eq!(text[1], text[2]);
}

#[test]
fn situation_update_overwrites_item() {
    let mut state = identity_request();
    reply(&mut state, locks(true), update(&[("goal", "order")]), None);
    let id = state.semantic().latest_by_key(&ItemKey::Situation(SummaryField::Goal)).unwrap().item.id;
    take(&mut state, &Input::Step);
    let report = Report::Context { ratings: Ratings::default(), traces: Vec::new() };
    let events = reply(&mut state, report, update(&[("goal", "cancel")]), None);
    assert!(events.iter().any(|event| matches!(event, Event::UpdateItem { item, .. } if item.id == id)));
    assert_eq!(state.semantic().situation().get(SummaryField::Goal), "cancel");
}

#[test]
fn unverified_situation_update_is_ignored() {
    let mut state = identity_request();
    let events = reply(&mut state, locks(false), update(&[("goal", "order")]), record(1));
    assert!(state.semantic().is_empty());
    assert!(events.iter().any(|event| matches!(event, Event::ActionRecorded { .. })));
}

#[test]
fn situation_summary_ends_with_session() {
    let mut state = identity_request();
    reply(&mut state, locks(true), update(&[("goal", "order")]), None);
    take(&mut state, &Input::Cancel);
    while !state.control().phase().is_quiescent() {
        match state.control().pending_call() {
            Some(call) => take(&mut state, &Input::CallFailed { call: call.id, failure: Failure::Error }),
            None => take(&mut state, &Input::Step),
        };
    }
    assert_eq!(state.semantic().situation().get(SummaryField::Goal), "order");
    take(&mut state, &Input::SessionEnd);
    assert_eq!(state.semantic().situation().get(SummaryField::Goal), "");
}

#[test]
fn latest_actions_are_kept_for_context() {
    let mut state = identity_request();
    reply(&mut state, locks(true), None, record(1));
    take(&mut state, &Input::Step);
    let context = Report::Context { ratings: Ratings::default(), traces: Vec::new() };
    reply(&mut state, context, None, record(2));
    for iteration in 3..=9 {
        state.apply(&Event::ActionRecorded { record: *record(iteration).unwrap() });
    }
    let remembered: Vec<u32> =
        state.control().request().unwrap().actions.iter().map(|action| action.iteration).collect();
    assert_eq!(remembered.len(), HISTORY_ACTIONS + 1);
    assert_eq!(remembered, [6, 7, 8, 9]);
}

#[test]
fn pending_call_receives_situation() {
    let mut state = identity_request();
    assert!(!context_text(&state, Operation::DraftPlan).contains("# Situation"));
    reply(&mut state, locks(true), None, record(1));
    assert!(
        context_text(&state, Operation::DraftPlan).ends_with(&format!("\n\n# Situation\n{NO_RESULTS}\n"))
    );
    assert!(context_text(&state, UNDO).ends_with(&format!("\n\n# Situation\n{NO_ATTEMPTS}\n")));
    assert!(!context_text(&state, Operation::Classify).contains("# Situation"));
    take(&mut state, &Input::Step);
    let context = Report::Context { ratings: Ratings::default(), traces: Vec::new() };
    reply(&mut state, context, update(&[("progress", "asked"), ("goal", "order")]), None);
    let text = context_text(&state, Operation::DraftPlan);
    assert!(text.ends_with("\n\n# Situation\ngoal: order; progress: asked\n"), "{text}");
    // A module that does not reason receives the summary as items.
    let text = context_text(&state, Operation::Classify);
    assert!(
        text.contains("situation goal: order\n") && text.contains("situation progress: asked\n"),
        "{text}"
    );
}

#[test]
fn reply_without_extras_decides_as_before() {
    let mut state = identity_request();
    reply(&mut state, locks(true), None, None);
    classifying(&mut state);
    let call = state.control().pending_call().unwrap().id;
    let report = Report::Classification { tags: Vec::new(), similarity: Score::ZERO };
    let events = decide(&Policy::hardened(), &state, &Input::reply(call, report)).unwrap();
    assert!(!events.iter().any(|event| matches!(event, Event::ActionRecorded { .. })));
    assert!(!context_text(&state, Operation::DraftPlan).contains("# Situation"));
}
