//! Claims about what a request leaves: its final answer, its memory record, and the past requests that memory returned.

use super::prelude::*;
use crate::reference::answers::{answer, concluding_text, first_of_each};
use crate::reference::events::is_kept;
use crate::reference::items::item_scope;
use alloc::vec::Vec;

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
                    && is_kept(before.semantic(), events, &key, |item| {
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
];
