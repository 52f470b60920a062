//! Claims about the items that reports leave (000 §2.3, decision 0016).

use super::prelude::*;
use crate::reference::answers::first_of_each;
use crate::reference::events::is_kept;
use crate::reference::items::latest_with_key;
use alloc::string::ToString;
use alloc::vec::Vec;
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::item::Item;
use orchestrion_kernel::plan::{Effect, Plan, Task};

pub(super) const REPORTS: &[Claim] = &[Claim {
    id: "C-170",
    clause: "000-2.10",
    statement: "What a module reports to a request is an item with its text: past requests, tags with the similarity of the \
                nearest past request, tasks with how they are undone, arguments, diagnoses, approvals and outputs. So are the \
                final answer and the message of a verified request. Of an argument and a task the latest text counts.",
    formula: "□ (ToolResult(x) ∈ σ ∨ FinalAnswer(x) ∈ σ ⇒ ∀ statement (key, text) of x: item'(key) has text)",
    check: StepInvariant(|policy, before, events, after| {
        let Some(request) = before.control().request() else { return true };
        // A session that is full forgets its oldest items, which may be these.
        let is_full =
            |event: &Event| matches!(event, Event::ForgetItems { cause: ForgetCause::Capacity, .. });
        let is_full = events.iter().any(is_full);
        events.iter().flat_map(|event| statements(policy, before, request, event)).all(|(key, texts)| {
            match latest_with_key(after.semantic(), &key) {
                Some(entry) => are_stated(&key, &entry.item, &texts),
                None => {
                    is_full && is_kept(before.semantic(), events, &key, |item| are_stated(&key, item, &texts))
                }
            }
        })
    }),
    premise: Premise::State(|_, state| {
        let has_text = |is: fn(&ItemKey) -> bool| {
            let mut entries = state.semantic().entries();
            entries.any(|entry| is(&entry.item.key) && !entry.item.text.as_str().is_empty())
        };
        has_text(|key| matches!(key, ItemKey::Argument(..)))
            && has_text(|key| matches!(key, ItemKey::Task(..)))
            && has_text(|key| matches!(key, ItemKey::Output(..)))
            && has_text(|key| matches!(key, ItemKey::Tags(_)))
    }),
    ..CLAIM
}];

/// Whether the text of an item states texts. That of a task begins with the first one; that of tags contains each, and ends with the
/// last one, the similarity.
fn are_stated(key: &ItemKey, item: &Item, texts: &[Text]) -> bool {
    let item = item.text.as_str();
    let has = |text: &Text| item.contains(text.as_str());
    match key {
        ItemKey::Tags(_) => {
            let before = texts.last().and_then(|similarity| item.strip_suffix(similarity.as_str()));
            before.is_some_and(|before| before.ends_with(' ')) && texts.iter().all(has)
        }
        ItemKey::Task(..) => {
            texts.first().is_none_or(|first| item.starts_with(first.as_str())) && texts.iter().all(has)
        }
        _ => texts.iter().all(|text| item == text.as_str()),
    }
}

/// What an event states, by the keys of the items.
fn statements(
    policy: &Policy,
    before: &State,
    request: &Request,
    event: &Event,
) -> Vec<(ItemKey, Vec<Text>)> {
    let id = request.id;
    match event {
        Event::FinalAnswer { text, .. } if request.verified => {
            Vec::from([(ItemKey::FinalAnswer(id), Vec::from([text.clone()]))])
        }
        Event::ToolResult { call, report, .. } => {
            let operation = before.control().pending_call(*call).map(|call| call.operation);
            operation.map_or_else(Vec::new, |operation| of_report(policy, request, operation, report))
        }
        _ => Vec::new(),
    }
}

/// What a report states.
fn of_report(
    policy: &Policy,
    request: &Request,
    operation: Operation,
    report: &Report,
) -> Vec<(ItemKey, Vec<Text>)> {
    let id = request.id;
    let one = |key: ItemKey, text: &Text| (key, Vec::from([text.clone()]));
    match report {
        Report::Context { traces, .. } => {
            first_of_each(traces).map(|past| one(ItemKey::Trace(past.trace.clone()), &past.text)).collect()
        }
        Report::Identity { gcp: true, mongodb: true } => {
            Vec::from([one(ItemKey::Request(id), &request.text)])
        }
        Report::Classification { tags, similarity } => {
            let similarity = Text::from(similarity.to_string());
            Vec::from([(ItemKey::Tags(id), tags.iter().cloned().chain([similarity]).collect())])
        }
        Report::Plan(plan) => of_plan(id, plan),
        Report::Argument { text, plan, .. } => {
            let key = match operation {
                Operation::Argue(role) => Some(ItemKey::Argument(id, role)),
                Operation::ReviewRevision => Some(ItemKey::Argument(id, Role::Security)),
                Operation::ArgueAdditional { debater } => {
                    let at = usize::try_from(debater).ok();
                    let debater = at.and_then(|at| policy.additional_debaters.get(at));
                    debater.map(|debater| ItemKey::AdditionalArgument(id, debater.name.clone()))
                }
                _ => None,
            };
            let argument = key.map(|key| one(key, text));
            argument.into_iter().chain(plan.iter().flat_map(|plan| of_plan(id, plan))).collect()
        }
        Report::Approval { text, .. } => Vec::from([one(ItemKey::Approval(id), text)]),
        Report::Repaired { text, plan } => {
            [one(ItemKey::Diagnosis(id), text)].into_iter().chain(of_plan(id, plan)).collect()
        }
        Report::NoRepair { text } => Vec::from([one(ItemKey::Diagnosis(id), text)]),
        Report::Exit { text, .. } => match operation {
            Operation::RunTask { task, .. } => Vec::from([one(ItemKey::Output(id, task), text)]),
            // The output of a compensation is in the log alone.
            _ => Vec::new(),
        },
        Report::Summary { .. } | Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {
            Vec::new()
        }
    }
}

/// What a plan states of each task: its text, and how it is undone.
fn of_plan(id: RequestId, plan: &Plan) -> Vec<(ItemKey, Vec<Text>)> {
    let texts = |task: &Task| match &task.effect {
        Effect::Undoable { compensation } => Vec::from([task.text.clone(), compensation.clone()]),
        Effect::Pure => Vec::from([task.text.clone()]),
        Effect::Irreversible => Vec::from([task.text.clone(), Text::from("irreversible")]),
    };
    plan.tasks().iter().map(|task| (ItemKey::Task(id, task.id), texts(task))).collect()
}
