//! Claims about the situation summary and action records (002, decision 0020).

use super::prelude::*;
use crate::reference::plans::call_scope;
use crate::reference::situation::{reasoning_mode, situation};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use orchestrion_kernel::module::Ratings;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryField, SummaryUpdate};
use orchestrion_kernel::{CallId, Events, Timestamp};

pub(super) const SITUATION: &[Claim] = &[
    Claim {
        id: "C-93",
        clause: "002-4.2",
        statement: "The update of a reply, also to a failed task, sets the fields of the situation that it names. A blank text, an \
                    unknown field, an update before verification or in a scope of its own, and a reply without one change nothing.",
        formula: "□ (reply to c with update u ∧ r' = r ⇒ ∀ f: summary'(f) ≠ ∅ if strip(u(f)) ≠ ε ∧ verified' ∧ scope(c) = scope(r), \
                  else summary'(f) = summary(f))",
        check: InputInvariant(|policy, before, input, events, after| {
            let Input::Reply { call, summary_update, .. } = input else { return true };
            let Some(update) = summary_update else { return !events.iter().any(writes_situation) };
            if has_ended(after) {
                return true;
            }
            let is_taken = takes_update(before, *call, after);
            let named: Vec<_> = texts_of(update, policy.situation.summary_chars_max)
                .map(|(field, _)| field)
                .filter(|_| is_taken)
                .collect();
            let (earlier, later) = (situation(before.semantic()), situation(after.semantic()));
            is_shown(after)
                && SummaryField::ALL.iter().all(|field| {
                    if named.contains(field) {
                        later.contains_key(field)
                    } else {
                        later.get(field) == earlier.get(field)
                    }
                })
        }),
        premise: Premise::State(|_, state| {
            !state.control().pending_calls().is_empty() && !situation(state.semantic()).is_empty()
        }),
        ..CLAIM
    },
    Claim {
        id: "C-94",
        clause: "002-5.2",
        statement: "A module's action records change neither the semantic state nor any decision, unless the next call does not \
                    fit its budget with them.",
        formula: "□ (reply with action a ⇒ S' and C' as without a, but for a among the latest actions, or OverBudget ∈ σ)",
        check: ResponseInvariant(|_, decide, state| {
            common_replies(state).all(|report| {
                let Some(unchanged) = events_of(decide, state, &report, None) else { return true };
                let Some(events) = events_of(decide, state, &report, Some(action_record())) else {
                    return false;
                };
                if events.iter().any(|event| matches!(event, Event::OverBudget { .. })) {
                    return true;
                }
                let is_recorded = |event: &&Event| matches!(event, Event::ActionRecorded { record, .. } if *record == action_record());
                let Some(recorded) = events.iter().find(is_recorded) else { return false };
                let mut unchanged_state = state_after(state, &unchanged);
                unchanged_state.apply(recorded);
                unchanged_state == state_after(state, &events)
            })
        }),
        premise: Premise::State(|_, state| {
            common_replies(state).next().is_some() && of_request(state, |request| !request.actions.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-103",
        clause: "002-1.14",
        statement: "The situation summary is that of the running request: without a request it is empty, and \
                    while a request runs, it loses no field.",
        formula: "□ (no request runs ⇒ summary = ∅) ∧ □ (r runs ∧ r' = r ⇒ dom(summary) ⊆ dom(summary'))",
        check: SemanticStepInvariant(|_, before, _, after| {
            let fields = |state: &SemanticView<'_>| -> Vec<SummaryField> {
                situation(state.semantic()).into_keys().collect()
            };
            let later = fields(after);
            if after.request_scope().is_none() {
                return later.is_empty();
            }
            before.request_scope().is_none() || fields(before).iter().all(|field| later.contains(field))
        }),
        premise: Premise::Semantic(|_, state| {
            state.request_scope().is_some() && !situation(state.semantic()).is_empty()
        }),
        ..CLAIM
    },
    Claim {
        id: "C-244",
        clause: "002-4.1",
        statement: "The call of a module that reasons, in either mode, asks for an update of each field of the summary, and states its \
                    limit of characters. No other call asks for one.",
        formula: "□ (ToolCall(m) ∈ σ ⇒ asked(m) = (mode(m) ≠ none ? ⟨(f, summary_chars_max) | f ∈ fields⟩ : none))",
        check: ContextInvariant(|ContextView { policy, operation, .. }, _| {
            let asked = policy.situation.summary_schema(*operation);
            let limits = SummaryField::ALL.map(|field| (field, policy.situation.summary_chars_max));
            match reasoning_mode(&policy.situation, *operation) {
                Some(_) => asked.is_some_and(|schema| {
                    schema.fields.iter().map(|field| (field.name, field.chars_max)).eq(limits)
                }),
                None => asked.is_none(),
            }
        }),
        premise: Premise::State(|policy, state| {
            let reasons = |call: &Call| reasoning_mode(&policy.situation, call.operation).is_some();
            state.control().pending_calls().iter().any(reasons)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-173",
        clause: "002-2.10",
        statement: "Every reply with an action, also to a failed task, records what the module sent, with the results of its tool \
                    calls up to the limit of characters. A reply to a task in a scope of its own records nothing.",
        formula: "□ (reply to c with action a ⇒ recorded(σ) = {a' | scope(c) = scope(r)}: a' = a but result' = first n characters of result)",
        check: InputInvariant(|policy, before, input, events, _| {
            let Input::Reply { call, action, .. } = input else { return true };
            let sent = action.as_deref().filter(|_| is_of_scope_of_request(before, *call));
            let max = policy.situation.result_chars_max;
            let expected = sent.map(|record| with_truncated_results(record.clone(), max));
            let recorded = events.iter().filter_map(|event| match event {
                Event::ActionRecorded { record, .. } => Some(record),
                _ => None,
            });
            recorded.eq(&expected)
        }),
        premise: Premise::State(|_, state| {
            !state.control().pending_calls().is_empty()
                && of_request(state, |request| !request.actions.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-174",
        clause: "002-1.11",
        statement: "A request keeps the latest action and the last actions before it, up to the limit of the history, in the \
                    order in which they were recorded. A task in a scope of its own adds none.",
        formula: "□ (r' = r ⇒ actions' = last (n + 1) of actions · recorded(σ)) ∧ □ (reply in scope ≠ scope(r) ⇒ recorded(σ) = ∅)",
        check: StepInvariant(|policy, before, events, after| {
            let (Some(earlier), Some(later)) = (before.control().request(), after.control().request()) else {
                return true;
            };
            if earlier.id != later.id {
                return true;
            }
            let recorded = events.iter().filter_map(|event| match event {
                Event::ActionRecorded { record, .. } => Some(record),
                _ => None,
            });
            let is_of_request = |event: &Event| match event {
                Event::ToolResult { call, .. } => {
                    let call = before.control().pending_call(*call);
                    call.is_none_or(|call| *call_scope(before, call.operation) == earlier.scope)
                }
                _ => true,
            };
            let recorded: Vec<&ActionRecord> = recorded.collect();
            if !recorded.is_empty() && !events.iter().all(is_of_request) {
                return false;
            }
            let all: Vec<&ActionRecord> = earlier.actions.iter().chain(recorded).collect();
            let kept = usize::try_from(policy.situation.max_history).unwrap_or(usize::MAX).saturating_add(1);
            let expected = all.iter().skip(all.len().saturating_sub(kept)).copied();
            later.actions.iter().eq(expected)
        }),
        premise: Premise::State(|policy, state| {
            let kept = u64::from(policy.situation.max_history).saturating_add(1);
            of_request(state, |request| {
                let distinct = request.actions.windows(2).all(|pair| pair.first() != pair.last());
                u64::try_from(request.actions.len()) == Ok(kept) && distinct
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-175",
        clause: "002-4.4",
        statement: "An update replaces the text of every field that it names by its own, with leading and trailing space, up to \
                    the limit of characters.",
        formula: "□ (reply to c with update u ∧ verified' ∧ r' = r ∧ scope(c) = scope(r) ⇒ \
                  ∀ f: strip(u(f)) ≠ ε ⇒ summary'(f) = first n characters of u(f))",
        check: InputInvariant(|policy, before, input, _, after| {
            let Input::Reply { call, summary_update: Some(update), .. } = input else { return true };
            let is_taken = takes_update(before, *call, after);
            let later = situation(after.semantic());
            let mut texts = texts_of(update, policy.situation.summary_chars_max);
            !is_taken || texts.all(|(field, text)| later.get(&field) == Some(&text))
        }),
        premise: Premise::State(|_, state| {
            !state.control().pending_calls().is_empty()
                && of_request(state, |request| request.verified)
                && !situation(state.semantic()).is_empty()
        }),
        ..CLAIM
    },
];

/// The texts that an update gives to the fields that it names, up to the limit of characters. A blank text changes nothing.
fn texts_of(update: &SummaryUpdate, chars_max: u32) -> impl Iterator<Item = (SummaryField, Text)> {
    let texts = SummaryField::ALL.iter().filter_map(move |field| {
        let text = update.0.get(field.name())?;
        Some((*field, truncated(text.as_str(), chars_max)))
    });
    // 002 strips texts as Python does, which also removes separators of records.
    let is_space = |character: char| character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}');
    texts.filter(move |(_, text)| !text.as_str().chars().all(is_space))
}

/// Whether contexts read the summary that was written.
fn is_shown(state: &State) -> bool {
    let (shown, written) = (state.semantic().situation(), situation(state.semantic()));
    shown.fields().eq(written.iter().map(|(field, text)| (*field, text)))
}

/// Whether the event writes a field of the summary.
const fn writes_situation(event: &Event) -> bool {
    matches!(
        event,
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } if matches!(item.key, ItemKey::Situation(_))
    )
}

/// Whether a pending call is in the scope of its request, and not in a scope of its own.
fn is_of_scope_of_request(state: &State, call: CallId) -> bool {
    let call = state.control().pending_call(call);
    call.is_some_and(|call| of_request(state, |request| *call_scope(state, call.operation) == request.scope))
}

/// Whether the update of a reply counts: the call is in the scope of its request, and the user is verified.
fn takes_update(before: &State, call: CallId, after: &State) -> bool {
    is_of_scope_of_request(before, call) && of_request(after, |request| request.verified)
}

/// Whether no request runs.
fn has_ended(state: &State) -> bool {
    state.control().request().is_none()
}

/// Replies to the pending call, for some operations that every request has. Each of them is the only pending call.
fn common_replies(state: &State) -> impl Iterator<Item = Report> + use<> {
    let identity = |gcp| Report::Identity { gcp, mongodb: true };
    let answers = match state.control().pending_calls().first().map(|call| call.operation) {
        Some(Operation::VerifyIdentity) => Vec::from([identity(true), identity(false)]),
        Some(Operation::LoadContext) => {
            Vec::from([Report::Context { ratings: Ratings::default(), traces: Vec::new() }])
        }
        Some(Operation::StoreMemory { .. }) => Vec::from([Report::Stored { held: true }]),
        _ => Vec::new(),
    };
    answers.into_iter()
}

/// The events of a reply, if the kernel accepts it.
fn events_of(
    decide: &crate::Decide<'_>,
    state: &State,
    report: &Report,
    action: Option<ActionRecord>,
) -> Option<Events> {
    let call = state.control().pending_calls().first()?.id;
    let action = action.map(Box::new);
    decide(
        state,
        &Input::Reply { call, report: report.clone(), summary_update: None, action, interaction: None },
    )
    .ok()
}

/// The state after a batch.
fn state_after(state: &State, events: &Events) -> State {
    let mut after = state.clone();
    events.iter().for_each(|event| after.apply(event));
    after
}

fn action_record() -> ActionRecord {
    let nothing = || Text::from("");
    ActionRecord {
        iteration: NonZeroU32::MIN,
        timestamp: Timestamp::default(),
        mode: Mode::Fast,
        thinking: nothing(),
        planning: nothing(),
        reflection: nothing(),
        approach: nothing(),
        tool_calls: Vec::new(),
    }
}

/// The record with results up to the limit.
fn with_truncated_results(mut record: ActionRecord, chars_max: u32) -> ActionRecord {
    for call in &mut record.tool_calls {
        call.result = truncated(call.result.as_str(), chars_max);
    }
    record
}

/// The first characters of a text.
fn truncated(text: &str, chars_max: u32) -> Text {
    let chars = usize::try_from(chars_max).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(chars).map(|(end, _)| end);
    Text::from(end.and_then(|end| text.get(..end)).unwrap_or(text))
}
