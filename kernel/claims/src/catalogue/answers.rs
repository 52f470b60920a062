//! Claims about what a request leaves: its final answer, the past requests that memory returned, and the items of replies.

use super::prelude::*;
use crate::reference::answers::{answer, concluding_text};
use alloc::vec::Vec;
use orchestrion_kernel::item::{Item, Layer, Scope};
use orchestrion_kernel::module::PastRequest;
use orchestrion_kernel::plan::Task;

pub(super) const ANSWERS: &[Claim] = &[
    Claim {
        id: "C-180",
        clause: "004-2.16",
        statement: "The stores receive, of a request that succeeded, the answer of the members, if their results became one, and \
                    the outputs of the other tasks that are done, in the order of task numbers and readable in the scope of the \
                    request. Without any, and for every other request, they receive the conclusion.",
        formula: "□ (memory(r) = aggregate(r) · ⟨output(t) | done(t), t ∉ members⟩ if outcome(r), else conclusion(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::MemoryRecorded { record } => {
                past.conclusion.is_some_and(|conclusion| record.text == answer(past, conclusion))
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            let stores = |call: &Call| matches!(call.operation, Operation::StoreMemory { .. });
            state.control().pending_calls().iter().any(stores)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-181",
        clause: "004-1.36",
        statement: "The final answer is the text that the stores received. A request that was not stored is answered with its \
                    conclusion.",
        formula: "□ (final_answer(r) = memory(r) if there is one, else conclusion(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::FinalAnswer { text, .. } => match (&past.answer, past.conclusion) {
                (Some(stored), _) => stored == text,
                (None, Some(conclusion)) => *text == concluding_text(conclusion),
                (None, None) => false,
            },
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::Auditing),
        ..CLAIM
    },
    Claim {
        id: "C-182",
        clause: "decision 0016",
        statement: "The final answer to a verified request is an item of the request.",
        formula: "□ (final_answer(r) = x ∧ verified(r) ⇒ Answer(r) = x ∈ I')",
        check: StepInvariant(|_, before, events, _| {
            events.iter().all(|event| match event {
                Event::FinalAnswer { trace, text } => {
                    !of_request(before, |request| request.verified)
                        || is_kept(before, events, &ItemKey::FinalAnswer(trace.request), |item| {
                            item.text == *text
                        })
                }
                _ => true,
            })
        }),
        premise: Premise::State(|_, state| {
            state.control().phase() == Phase::Auditing && of_request(state, |request| request.verified)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-183",
        clause: "004-1.6",
        statement: "Each past request that memory returns becomes one item, with its text and its scope. Of two with one trace id \
                    the first counts. A past request that is an item already keeps this item.",
        formula: "□ (traces(memory) = ⟨…, p, …⟩ ∧ p is the first of its id ⇒ exactly one x ∈ I' with trace(x) = id(p), and x = p)",
        check: StepInvariant(|_, before, events, after| {
            let returned = events.iter().filter_map(|event| match event {
                Event::ToolResult { report: Report::Context { traces, .. }, .. } => Some(traces),
                _ => None,
            });
            returned.flat_map(|traces| first_of_each(traces)).all(|past| {
                let key = ItemKey::Trace(past.trace.clone());
                let of_key = |state: &State| -> Vec<_> {
                    let entries = state.semantic().entries().filter(|entry| entry.item.key == key);
                    entries.map(|entry| entry.item.id).collect()
                };
                let (earlier, later) = (of_key(before), of_key(after));
                later.len() == 1
                    && (earlier.is_empty() || earlier == later)
                    && is_kept(before, events, &key, |item| {
                        item.text == past.text && *item_scope(item) == past.scope
                    })
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let is_trace = |key: &ItemKey| matches!(key, ItemKey::Trace(_));
            state.semantic().entries().filter(|entry| is_trace(&entry.item.key)).count() > 1
        }),
        ..CLAIM
    },
    Claim {
        id: "C-186",
        clause: "decision 0016",
        statement: "A reply leaves an item with its text: the tags of a request, an argument, the output of a task, a diagnosis, \
                    the reason of the approver, and each task of a plan. So does the message of a verified request.",
        formula: "□ (ToolResult(c, x) ∈ σ ⇒ for each item (k, y) that decision 0016 lists for it: k has the text y in I')",
        check: StepInvariant(|policy, before, events, _| {
            events.iter().all(|event| {
                let Event::ToolResult { call, report, .. } = event else { return true };
                let operation = before.control().pending_call(*call).map(|call| call.operation);
                let (Some(operation), Some(request)) = (operation, before.control().request()) else {
                    return false;
                };
                items_of_reply(policy, request, operation, report)
                    .iter()
                    .all(|(key, text)| is_kept(before, events, key, |item| item.text == *text))
                    && report_tasks(report).iter().all(|task| {
                        is_kept(before, events, &ItemKey::Task(request.id, task.id), |item| {
                            item.text.as_str().starts_with(task.text.as_str())
                        })
                    })
                    && report_tags(report).iter().all(|tag| {
                        is_kept(before, events, &ItemKey::Tags(request.id), |item| {
                            item.text.as_str().contains(tag.as_str())
                        })
                    })
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| matches!(entry.item.key, ItemKey::Diagnosis(_)))
        }),
        ..CLAIM
    },
];

/// Whether a batch writes an item with this key, or the state has it already, and the condition holds for it.
fn is_kept(before: &State, events: &[Event], key: &ItemKey, holds: impl Fn(&Item) -> bool) -> bool {
    let written = events.iter().rev().find_map(|event| match event {
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } if item.key == *key => Some(item),
        _ => None,
    });
    let stored = || {
        let mut entries = before.semantic().entries();
        entries.find(|entry| entry.item.key == *key).map(|entry| &entry.item)
    };
    written.or_else(stored).is_some_and(holds)
}

/// The scope of an item of a request.
fn item_scope(item: &Item) -> &Scope {
    match &item.layer {
        Layer::Request { scope, .. } => scope,
        Layer::Fact(fact) => &fact.scope,
        Layer::Identity(_) | Layer::Working { .. } | Layer::Environment => &Scope::Global,
    }
}

fn first_of_each(traces: &[PastRequest]) -> impl Iterator<Item = &PastRequest> {
    traces.iter().enumerate().filter_map(|(at, past)| {
        let is_repeated = traces.iter().take(at).any(|earlier| earlier.trace == past.trace);
        (!is_repeated).then_some(past)
    })
}

/// The items, with their texts, that a reply leaves by decision 0016.
fn items_of_reply(
    policy: &Policy,
    request: &Request,
    operation: Operation,
    report: &Report,
) -> Vec<(ItemKey, Text)> {
    let id = request.id;
    let item = match (operation, report) {
        (_, Report::Identity { gcp: true, mongodb: true }) => (ItemKey::Request(id), request.text.clone()),
        (Operation::Argue(role), Report::Argument { text, .. }) => {
            (ItemKey::Argument(id, role), text.clone())
        }
        (Operation::ReviewRevision, Report::Argument { text, .. }) => {
            (ItemKey::Argument(id, Role::Security), text.clone())
        }
        (Operation::ArgueAdditional { debater }, Report::Argument { text, .. }) => {
            let debater = usize::try_from(debater).ok().and_then(|at| policy.additional_debaters.get(at));
            let Some(debater) = debater else { return Vec::new() };
            (ItemKey::AdditionalArgument(id, debater.name.clone()), text.clone())
        }
        (Operation::RunTask { task, .. }, Report::Exit { text, .. }) => {
            (ItemKey::Output(id, task), text.clone())
        }
        (Operation::Diagnose, Report::Repaired { text, .. } | Report::NoRepair { text }) => {
            (ItemKey::Diagnosis(id), text.clone())
        }
        (Operation::Approve, Report::Approval { text, .. }) => (ItemKey::Approval(id), text.clone()),
        _ => return Vec::new(),
    };
    Vec::from([item])
}

fn report_tasks(report: &Report) -> &[Task] {
    match report {
        Report::Plan(plan) | Report::Argument { plan: Some(plan), .. } | Report::Repaired { plan, .. } => {
            plan.tasks()
        }
        _ => &[],
    }
}

fn report_tags(report: &Report) -> &[Text] {
    match report {
        Report::Classification { tags, .. } => tags,
        _ => &[],
    }
}
