//! Claims on the semantic state: what is known, and what rests on what.

use super::*;

pub(super) const KNOWLEDGE: &[Claim] = &[
    Claim {
        id: "C-30",
        clause: "000-2.9",
        statement: "Every dependency leads to an item of the state.",
        formula: "□ (∀ x ∈ I: deps(id(x)) ⊆ { id(y) | y ∈ I })",
        check: Check::State(|_, state| state.semantic.is_closed()),
        premise: |_, state| state.semantic.entries().any(|entry| !entry.deps.is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-31",
        clause: "000-4.9",
        statement: "The semantic state changes only by AddItem, UpdateItem and ForgetItems.",
        formula: "□ (no such event in σ ⇒ S' = S)",
        check: Step(|_, before, events, after| {
            let semantic = |event: &Event| {
                matches!(event, Event::AddItem { .. } | Event::UpdateItem { .. } | Event::ForgetItems { .. })
            };
            events.iter().any(semantic) || before.semantic == after.semantic
        }),
        premise: |_, state| !state.semantic.is_empty(),
        ..CLAIM
    },
    Claim {
        id: "C-32",
        clause: "000-2.3",
        statement: "A subtask is in progress exactly while its task runs.",
        formula: "□ (status(t) = InProgress ⇔ running(t))",
        check: Check::State(|_, state| {
            let running = match (state.control.waiting().map(|call| call.ask), state.control.request()) {
                (Some(Ask::RunTask { task, .. }), Some(request)) => Some(Key::Task(request.id, task)),
                _ => None,
            };
            let subtasks = state.semantic.entries().map(|entry| &entry.item);
            let in_progress = subtasks.filter(|item| item.variant == Variant::Subtask(Status::InProgress));
            in_progress.map(|item| &item.key).eq(running.iter())
        }),
        premise: |_, state| state.control.phase() == Phase::RunningTasks,
        ..CLAIM
    },
    Claim {
        id: "C-33",
        clause: "000-2.3",
        statement: "A task that ended leaves its subtask done or failed, and one that was undone leaves it failed.",
        formula: "□ (exit(t) = 0 ⇒ Done) ∧ □ (exit(t) ≠ 0 ∨ no answer ∨ cancelled ∨ undone(t) ⇒ Failed)",
        check: Step(|_, before, events, after| {
            let Some((status, task)) = events.iter().find_map(|event| ends_task(before, event)) else {
                return true;
            };
            let Some(request) = before.control.request() else { return false };
            let subtask = after.semantic.find(&Key::Task(request.id, task));
            subtask.is_some_and(|entry| entry.item.variant == Variant::Subtask(status))
        }),
        premise: |_, state| state.control.phase() == Phase::RollbackActive,
        ..CLAIM
    },
    Claim {
        id: "C-34",
        clause: "000-2.9",
        statement: "What a task gave rests on the task, as long as the task is known.",
        formula: "□ (output(t) ∈ I ∧ t ∈ I ⇒ deps(output(t)) = {t})",
        check: Check::State(|_, state| {
            state.semantic.entries().all(|entry| match &entry.item.key {
                Key::Output(request, task) => {
                    let subtask = state.semantic.find(&Key::Task(*request, *task));
                    subtask.is_none_or(|subtask| entry.deps == [subtask.item.id])
                }
                _ => true,
            })
        }),
        premise: |_, state| state.semantic.entries().any(|entry| matches!(entry.item.key, Key::Output(..))),
        ..CLAIM
    },
    Claim {
        id: "C-35",
        clause: "004-2.9",
        statement: "Nothing of a request becomes known before the identity is verified.",
        formula: "□ (AddItem(x) ∨ UpdateItem(x), x of r ⇒ verified(r))",
        check: Trace(|_, past, event| match event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                past.verified || item.user().is_none() && !matches!(item.key, Key::Situation(_))
            }
            _ => true,
        }),
        premise: |_, state| state.control.phase() == Phase::VerifyingIdentity,
        ..CLAIM
    },
    Claim {
        id: "C-36",
        clause: "000-2.11",
        statement: "When a session ends, its working set is forgotten.",
        formula: "□ (session ends ⇒ what does not persist ∉ I)",
        check: Step(|_, _, events, after| {
            !events.contains(&Event::SessionEnded) || after.semantic.working_set().is_empty()
        }),
        premise: |_, state| state.control.session().is_none() && !state.semantic.is_empty(),
        not_under: |policy| {
            (!policy.rules.next_request).then_some("under the policy no session ends after a request")
        },
        ..CLAIM
    },
];
