//! Claims on the summary of the situation and on action records (002, decision 0020).

use super::*;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use orchestrion_kernel::module::Ratings;
use orchestrion_kernel::situation::{ActionRecord, Mode, SituationSummary, SummaryField, SummaryUpdate};

pub(super) const SITUATION: &[Claim] = &[
    Claim {
        id: "C-93",
        clause: "002-4.2",
        statement: "What a module says of a field of the summary is what the field says from then on; blank words, words on \
                    no such field, and words before the identity is verified change nothing.",
        formula: "□ (reply with update u ⇒ ∀ f: summary'(f) = u(f) if verified' ∧ strip(u(f)) ≠ ε, else summary(f))",
        check: ResponseInvariant(|decide, state| {
            answers(state).all(|report| {
                let after = |update: &[(&str, &str)]| after(decide, state, &report, Some(said(update)), None);
                let Some(silent) = after_saying_nothing(decide, state, &report) else { return true };
                let unchanged = [("goal", " \t\u{1c}"), ("progress", ""), ("Goal", "g"), ("insights", "g")];
                let (Some(blank), Some(told)) = (after(&unchanged), after(&[("next_focus", "g")])) else {
                    return false;
                };
                let verified = told.control.request().is_some_and(|request| request.verified);
                let known = |state: &State| state.semantic.situation();
                blank == silent
                    && known(&silent) == known(state)
                    && known(&told) == if verified { focused(known(state)) } else { known(state) }
            })
        }),
        premise: |_, state| {
            answers(state).next().is_some() && state.semantic.situation().said().next().is_some()
        },
        ..CLAIM
    },
    Claim {
        id: "C-94",
        clause: "002-5.2",
        statement: "What a module tells of its actions changes nothing that is known, and nothing that is decided.",
        formula: "□ (reply with action a ⇒ S' and C' as without a, but for a among the latest actions)",
        check: ResponseInvariant(|decide, state| {
            answers(state).all(|report| {
                let Some(mut silent) = after_saying_nothing(decide, state, &report) else { return true };
                let Some(told) = after(decide, state, &report, None, Some(record())) else { return false };
                silent.apply(&Event::ActionRecorded { record: record() });
                silent == told
            })
        }),
        premise: |_, state| {
            answers(state).next().is_some() && of_request(state, |request| !request.actions.is_empty())
        },
        ..CLAIM
    },
];

/// Answers to the call that is waited for, where it is one of a few that every request makes.
fn answers(state: &State) -> impl Iterator<Item = Report> + use<> {
    let identity = |gcp| Report::Identity { gcp, mongodb: true };
    let answers = match state.control.pending_call().map(|call| call.operation) {
        Some(Operation::VerifyIdentity) => Vec::from([identity(true), identity(false)]),
        Some(Operation::LoadContext) => {
            Vec::from([Report::Context { ratings: Ratings::default(), traces: Vec::new() }])
        }
        Some(Operation::StoreMemory { .. }) => Vec::from([Report::Stored { held: true }]),
        _ => Vec::new(),
    };
    answers.into_iter()
}

/// The state after a reply, if it is taken.
fn after(
    decide: &crate::Decide<'_>,
    state: &State,
    report: &Report,
    summary_update: Option<SummaryUpdate>,
    action: Option<ActionRecord>,
) -> Option<State> {
    let call = state.control.pending_call()?.id;
    let action = action.map(Box::new);
    let reply = Input::Reply { call, report: report.clone(), summary_update, action };
    let mut after = state.clone();
    decide(state, &reply).ok()?.iter().for_each(|event| after.apply(event));
    Some(after)
}

fn after_saying_nothing(decide: &crate::Decide<'_>, state: &State, report: &Report) -> Option<State> {
    after(decide, state, report, None, None)
}

fn said(texts: &[(&str, &str)]) -> SummaryUpdate {
    SummaryUpdate(texts.iter().map(|(key, text)| (String::from(*key), Text::from(*text))).collect())
}

fn focused(mut summary: SituationSummary) -> SituationSummary {
    summary.extend([(SummaryField::NextFocus, Text::from("g"))]);
    summary
}

fn record() -> ActionRecord {
    let nothing = || Text::from("");
    ActionRecord {
        iteration: 1,
        timestamp: nothing(),
        mode: Mode::Fast,
        thinking: nothing(),
        planning: nothing(),
        reflection: nothing(),
        approach: nothing(),
        tool_calls: Vec::new(),
    }
}
