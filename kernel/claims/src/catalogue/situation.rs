//! Claims about the situation summary and action records (002, decision 0020).

use super::prelude::*;
use crate::reference::plans::call_scope;
use crate::reference::situation::situation;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use orchestrion_kernel::module::Ratings;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryField, SummaryUpdate, ToolCall, ToolOutcome};
use orchestrion_kernel::{Events, Timestamp};

pub(super) const SITUATION: &[Claim] = &[
    Claim {
        id: "C-93",
        clause: "002-4.2",
        statement: "A summary update sets the fields of the situation that it names. A blank text, an \
                    unknown field and an update before verification change nothing.",
        formula: "□ (reply with update u ⇒ ∀ f: summary'(f) = u(f) if verified' ∧ strip(u(f)) ≠ ε, else summary(f))",
        check: ResponseInvariant(|_, decide, state| {
            common_replies(state).all(|report| {
                let update = |texts: &[(&str, &str)]| {
                    events_of(decide, state, &report, Some(summary_update(texts)), None)
                };
                let Some(unchanged) = events_of(decide, state, &report, None, None) else { return true };
                let blank = [("goal", " \t\u{1c}"), ("progress", ""), ("Goal", "g"), ("insights", "g")];
                let (Some(blank), Some(updated)) = (update(&blank), update(&[("next_focus", "g")])) else {
                    return false;
                };
                let (unchanged_state, updated) =
                    (state_after(state, &unchanged), state_after(state, &updated));
                let verified = updated.control().request().is_some_and(|request| request.verified);
                let known = |state: &State| situation(state.semantic());
                // Equal events give equal states.
                (blank == unchanged || state_after(state, &blank) == unchanged_state)
                    && is_shown(&updated)
                    && (known(&unchanged_state) == known(state) || has_ended(&unchanged_state))
                    && (known(&updated) == if verified { with_focus(known(state)) } else { known(state) }
                        || has_ended(&updated))
            })
        }),
        premise: Premise::State(|_, state| {
            common_replies(state).next().is_some() && !situation(state.semantic()).is_empty()
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
                let Some(unchanged) = events_of(decide, state, &report, None, None) else { return true };
                let Some(events) = events_of(decide, state, &report, None, Some(action_record())) else {
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
        id: "C-173",
        clause: "002-2.10",
        statement: "The record of an action contains what the module sent, with the results of its tool calls up to the limit \
                    of characters.",
        formula: "□ (reply with action a ⇒ ActionRecorded(a') ∈ σ: a' = a but result' = first n characters of result)",
        check: ResponseInvariant(|policy, decide, state| {
            let max = policy.situation.result_chars_max;
            common_replies(state).all(|report| {
                let sent = sent_record(max);
                let Some(events) = events_of(decide, state, &report, None, Some(sent.clone())) else {
                    return true;
                };
                let mut records = events.iter().filter_map(|event| match event {
                    Event::ActionRecorded { record, .. } => Some(record),
                    _ => None,
                });
                records.next() == Some(&with_truncated_results(sent, max)) && records.next().is_none()
            })
        }),
        premise: Premise::State(|_, state| common_replies(state).next().is_some()),
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
        formula: "□ (reply with update u ∧ verified' ∧ r' = r ⇒ ∀ f ∈ dom(u): summary'(f) = first n characters of u(f))",
        check: ResponseInvariant(|policy, decide, state| {
            let max = policy.situation.summary_chars_max;
            common_replies(state).all(|report| {
                let update = whole_update(max);
                let Some(updated) = events_of(decide, state, &report, Some(update.clone()), None) else {
                    return true;
                };
                let updated = state_after(state, &updated);
                let mut expected = situation(state.semantic());
                expected.extend(texts_of(&update, max));
                of_request(&updated, |request| !request.verified)
                    || has_ended(&updated)
                    || situation(updated.semantic()) == expected
            })
        }),
        premise: Premise::State(|_, state| {
            common_replies(state).next().is_some()
                && of_request(state, |request| request.verified)
                && !situation(state.semantic()).is_empty()
        }),
        ..CLAIM
    },
    Claim {
        id: "C-232",
        clause: "002-0.3",
        statement: "Every reply with an update or an action, also that of a failed task, sets the fields that the update names and \
                    records the action. A reply to a task in a scope of its own does neither.",
        formula: "□ (reply to c with u and a ∧ scope(c) = scope(r) ⇒ (verified' ∧ r' = r ⇒ summary' = summary ⊕ u) ∧ ActionRecorded(a) ∈ σ)",
        check: InputInvariant(|policy, before, input, events, after| {
            let Input::Reply { call, summary_update, action, .. } = input else { return true };
            if summary_update.is_none() && action.is_none() {
                return true;
            }
            let call = before.control().pending_call(*call);
            let (Some(call), Some(request)) = (call, before.control().request()) else { return false };
            let limits = &policy.situation;
            let is_of_request = *call_scope(before, call.operation) == request.scope;
            let mut expected = situation(before.semantic());
            if let Some(update) = summary_update.as_ref().filter(|_| is_of_request) {
                expected.extend(texts_of(update, limits.summary_chars_max));
            }
            let record = action.as_deref().filter(|_| is_of_request);
            let record = record.map(|record| with_truncated_results(record.clone(), limits.result_chars_max));
            let recorded = events.iter().filter_map(|event| match event {
                Event::ActionRecorded { record, .. } => Some(record),
                _ => None,
            });
            recorded.eq(&record)
                && (has_ended(after)
                    || of_request(after, |request| !request.verified)
                    || situation(after.semantic()) == expected)
        }),
        premise: Premise::State(|_, state| {
            let runs_task = |call: &Call| matches!(call.operation, Operation::RunTask { .. });
            state.control().pending_calls().iter().any(runs_task) && !situation(state.semantic()).is_empty()
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
    summary_update: Option<SummaryUpdate>,
    action: Option<ActionRecord>,
) -> Option<Events> {
    let call = state.control().pending_calls().first()?.id;
    let action = action.map(Box::new);
    decide(state, &Input::Reply { call, report: report.clone(), summary_update, action, interaction: None })
        .ok()
}

/// The state after a batch.
fn state_after(state: &State, events: &Events) -> State {
    let mut after = state.clone();
    events.iter().for_each(|event| after.apply(event));
    after
}

fn summary_update(texts: &[(&str, &str)]) -> SummaryUpdate {
    SummaryUpdate(texts.iter().map(|(key, text)| (String::from(*key), Text::from(*text))).collect())
}

fn with_focus(mut summary: BTreeMap<SummaryField, Text>) -> BTreeMap<SummaryField, Text> {
    summary.insert(SummaryField::NextFocus, Text::from("g"));
    summary
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

/// A record with texts of all lengths around the limit, in characters of one and two bytes.
fn sent_record(chars_max: u32) -> ActionRecord {
    let call = |more: i8| ToolCall {
        name: Text::from(" tool "),
        args: BTreeMap::from([(String::from("key"), Text::from(" value "))]),
        result: text_of_chars(chars_max, more),
        outcome: ToolOutcome::Failure,
    };
    ActionRecord {
        mode: Mode::Deep,
        thinking: Text::from(" thinking"),
        planning: Text::from("planning "),
        reflection: Text::from(" reflection "),
        approach: Text::from("approach"),
        tool_calls: [-1, 0, 1].map(call).into(),
        ..action_record()
    }
}

/// The record with results up to the limit.
fn with_truncated_results(mut record: ActionRecord, chars_max: u32) -> ActionRecord {
    for call in &mut record.tool_calls {
        call.result = truncated(call.result.as_str(), chars_max);
    }
    record
}

/// The most characters of a probed text. A policy may permit texts that no memory holds.
const PROBED_CHARS_MAX: u32 = 64;

/// An update of every field: short texts with space at both ends, and, if the limit is low, one text above it.
fn whole_update(chars_max: u32) -> SummaryUpdate {
    let chars_max = chars_max.min(PROBED_CHARS_MAX);
    let text = |field: &SummaryField| match field {
        SummaryField::Goal | SummaryField::KeyFindings => Text::from(" g "),
        SummaryField::Progress | SummaryField::NextFocus => text_of_chars(chars_max, 1),
        SummaryField::CurrentApproach => text_of_chars(chars_max, 0),
    };
    SummaryUpdate(SummaryField::ALL.iter().map(|field| (String::from(field.name()), text(field))).collect())
}

/// A text of as many characters as a limit, and some more or fewer. Its first character has two bytes. Under a large limit it is shorter.
fn text_of_chars(limit: u32, more: i8) -> Text {
    /// A larger limit cuts no text of a claim.
    const CHARS_MAX: u32 = 4_000;
    let chars =
        usize::try_from(limit.min(CHARS_MAX)).unwrap_or(usize::MAX).saturating_add_signed(more.into());
    Text::from(if chars == 0 { String::new() } else { String::from("é") + &"a".repeat(chars - 1) })
}

/// The first characters of a text.
fn truncated(text: &str, chars_max: u32) -> Text {
    let chars = usize::try_from(chars_max).unwrap_or(usize::MAX);
    let end = text.char_indices().nth(chars).map(|(end, _)| end);
    Text::from(end.and_then(|end| text.get(..end)).unwrap_or(text))
}
