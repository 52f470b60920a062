//! Claims about the semantic state: items and dependencies.

use super::prelude::*;
use crate::reference::items::{latest_with_key, persists};
use crate::reference::plans::readable_dependencies;
use alloc::collections::{BTreeMap, BTreeSet};
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::Layer;
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::semantic::Entry;

pub(super) const KNOWLEDGE: &[Claim] = &[
    Claim {
        id: "C-30",
        clause: "000-2.9",
        statement: "Every dependency refers to an item of the state.",
        formula: "□ (∀ x ∈ I: deps(id(x)) ⊆ { id(y) | y ∈ I })",
        // The indexes after a step follow from its events and the consistent ones before it.
        check: SemanticStepInvariant(|_, _, _, after| {
            let known = |id: &ItemId| after.semantic().get(*id).is_some();
            after.semantic().entries().all(|entry| entry.deps.iter().all(known))
                && after.semantic().is_consistent()
        }),
        premise: Premise::Semantic(|_, state| state.semantic().entries().any(|entry| !entry.deps.is_empty())),
        ..CLAIM
    },
    Claim {
        id: "C-31",
        clause: "000-4.9",
        statement: "Only AddItem, UpdateItem and ForgetItems change the semantic state.",
        formula: "□ (no such event in σ ⇒ S' = S)",
        check: SemanticStepInvariant(|_, before, events, after| {
            let is_semantic = |event: &&Event| {
                matches!(event, Event::AddItem { .. } | Event::UpdateItem { .. } | Event::ForgetItems { .. })
            };
            events.iter().any(is_semantic) || before.semantic() == after.semantic()
        }),
        premise: Premise::Semantic(|_, state| !state.semantic().is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-32",
        clause: "000-2.3",
        statement: "A subtask is in progress exactly while its task runs.",
        formula: "□ (status(t) = InProgress ⇔ running(t))",
        check: ClaimCheck::StateInvariant(|_, state| {
            let tasks = state.control().pending_calls().iter().filter_map(Call::running_task);
            let request = state.control().request().map(|request| request.id);
            let running: BTreeSet<ItemKey> =
                tasks.filter_map(|task| Some(ItemKey::Task(request?, task))).collect();
            let subtasks = state.semantic().entries().map(|entry| &entry.item);
            let in_progress =
                subtasks.filter(|item| item.kind == ItemKind::Subtask(SubtaskStatus::InProgress));
            in_progress.map(|item| item.key.clone()).collect::<BTreeSet<_>>() == running
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks),
        ..CLAIM
    },
    Claim {
        id: "C-33",
        clause: "000-2.3",
        statement: "A task that ended leaves its subtask done or failed. A task that was undone leaves it \
                    failed.",
        formula: "□ (exit(t) = 0 ⇒ Done) ∧ □ (exit(t) ≠ 0 ∨ failed(t) ∨ cancelled ∨ undone(t) ⇒ Failed)",
        check: StepInvariant(|_, before, events, after| {
            let has_status = |(status, task): (SubtaskStatus, TaskId)| {
                let Some(request) = before.control().request() else { return false };
                let subtask = latest_with_key(after.semantic(), &ItemKey::Task(request.id, task));
                subtask.is_some_and(|entry| entry.item.kind == ItemKind::Subtask(status))
            };
            events.iter().flat_map(|event| ended_tasks(before, event)).all(has_status)
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::RollbackActive),
        ..CLAIM
    },
    Claim {
        id: "C-234",
        clause: "000-2.6",
        statement: "Each task of an adopted plan is a subtask, unassigned unless it starts at once. It depends on the message and on \
                    the subtasks of its dependencies that are readable in its scope.",
        formula: "□ (PlanAdopted(p) ∈ σ ⇒ ∀ t ∈ p: deps'(t) = {message(r)} ∪ {u ∈ depends(t) | scope(t) reads scope(u)} ∧ \
                  status'(t) = (InProgress if ToolCall(RunTask(t)) ∈ σ, else Unassigned))",
        check: StepInvariant(|_, _, events, after| {
            let is_started = |task: TaskId| {
                events.iter().any(|event| {
                    matches!(event, Event::ToolCall { operation: Operation::RunTask { task: started, .. }, .. } if *started == task)
                })
            };
            let is_planned = |request: &Request, plan: &Plan, task: &Task| {
                let status =
                    if is_started(task.id) { SubtaskStatus::InProgress } else { SubtaskStatus::Unassigned };
                let of_task = |task| latest_with_key(after.semantic(), &ItemKey::Task(request.id, task));
                let required = readable_dependencies(plan, task, &request.scope).into_iter().map(of_task);
                let message = latest_with_key(after.semantic(), &ItemKey::Request(request.id));
                let expected: Option<BTreeSet<ItemId>> =
                    required.chain([message]).map(|entry| Some(entry?.item.id)).collect();
                of_task(task.id).is_some_and(|entry| {
                    entry.item.kind == ItemKind::Subtask(status)
                        && expected.is_some_and(|expected| entry.deps.iter().copied().eq(expected))
                })
            };
            let adopted = events.iter().rev().find_map(|event| match event {
                Event::PlanAdopted { plan, .. } => Some(plan),
                _ => None,
            });
            adopted.is_none_or(|plan| {
                of_request(after, |request| plan.tasks().iter().all(|task| is_planned(request, plan, task)))
            })
        }),
        premise: Premise::State(|_, state| revised(state)),
        ..CLAIM
    },
    Claim {
        id: "C-34",
        clause: "000-2.9",
        statement: "The output of a task depends on the task, while the task is in the state.",
        formula: "□ (output(t) ∈ I ∧ t ∈ I ⇒ deps(output(t)) = {t})",
        check: SemanticInvariant(|_, state| {
            let tasks = state.semantic().entries().filter_map(|entry| match entry.item.key {
                ItemKey::Task(request, task) => Some(((request, task), entry.item.id)),
                _ => None,
            });
            // The latest item of a task replaces the earlier ones.
            let tasks: BTreeMap<(RequestId, TaskId), ItemId> = tasks.collect();
            state.semantic().entries().all(|entry| match entry.item.key {
                ItemKey::Output(request, task) => {
                    tasks.get(&(request, task)).is_none_or(|subtask| entry.deps == [*subtask])
                }
                _ => true,
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| matches!(entry.item.key, ItemKey::Output(..)))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-230",
        clause: "decision 0016",
        statement: "What a request adds depends on the item of its message, and nothing else of the request does but a task on \
                    earlier tasks. A message, a past request and a field of the situation depend on nothing.",
        formula: "□ (AddItem(x) ∈ σ, x of r ⇒ message(r) ∈ deps(x) ⊆ {message(r)} ∪ tasks(r))",
        check: SemanticStepInvariant(|_, _, events, after| {
            let id_of = |key| latest_with_key(after.semantic(), &key).map(|entry| entry.item.id);
            let is_task = |request: RequestId, id: ItemId| {
                let key = after.semantic().get(id).map(|entry| &entry.item.key);
                matches!(key, Some(ItemKey::Task(other, _)) if *other == request)
            };
            events.iter().all(|event| {
                let Event::AddItem { item, deps } = event else { return true };
                match &item.key {
                    ItemKey::Request(_) | ItemKey::Trace(_) | ItemKey::Situation(_) => deps.is_empty(),
                    ItemKey::FinalAnswer(request)
                    | ItemKey::Tags(request)
                    | ItemKey::Argument(request, _)
                    | ItemKey::AdditionalArgument(request, _)
                    | ItemKey::Diagnosis(request)
                    | ItemKey::Approval(request)
                    | ItemKey::Aggregate(request) => {
                        deps.iter().copied().eq(id_of(ItemKey::Request(*request)))
                    }
                    ItemKey::Task(request, _) => {
                        let message = id_of(ItemKey::Request(*request));
                        let others = deps.iter().filter(|id| Some(**id) != message);
                        others.clone().count() + usize::from(message.is_some()) == deps.len()
                            && others.copied().all(|id| is_task(*request, id))
                    }
                    // Of an output C-34, of the others C-206.
                    ItemKey::Output(..)
                    | ItemKey::Identity
                    | ItemKey::Fact(_)
                    | ItemKey::Working(_)
                    | ItemKey::Environment(_)
                    | ItemKey::Summary => true,
                }
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| matches!(entry.item.key, ItemKey::Task(..)))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-231",
        clause: "003-3.2",
        statement: "An item of the working set states the time at which it was written.",
        formula: "□ (AddItem(x) ∨ UpdateItem(x) ∈ σ, x ∈ working set ⇒ created_at(x) = now')",
        check: SemanticStepInvariant(|_, before, events, after| {
            events.iter().all(|event| match event {
                Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => match item.layer {
                    Layer::Working { created_at, .. } => {
                        let is_same = |entry: &Entry| entry.item == *item;
                        created_at == after.now() || before.semantic().get(item.id).is_some_and(is_same)
                    }
                    Layer::Request { .. } | Layer::Identity(_) | Layer::Fact(_) | Layer::Environment => true,
                },
                _ => true,
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| matches!(entry.item.layer, Layer::Working { .. }))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-35",
        clause: "004-2.9",
        statement: "No item of a request is added before the identity is verified.",
        formula: "□ (AddItem(x) ∨ UpdateItem(x), x of r ⇒ verified(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                past.verified || item.user().is_none() && !matches!(item.key, ItemKey::Situation(_))
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| state.control().phase() == Phase::VerifyingIdentity),
        ..CLAIM
    },
    Claim {
        id: "C-36",
        clause: "000-2.11",
        statement: "The end of a session removes its working set.",
        formula: "□ (session ends ⇒ what does not persist ∉ I)",
        check: SemanticStepInvariant(|_, _, events, after| {
            !events.contains(&&Event::SessionEnded)
                || after.semantic().entries().all(|entry| persists(&entry.item))
        }),
        premise: Premise::Semantic(|_, state| state.session().is_none() && !state.semantic().is_empty()),
        not_applicable: |policy| {
            (!policy.rules.next_request).then_some("the policy accepts no input after a request")
        },
        ..CLAIM
    },
];
