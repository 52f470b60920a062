//! Claims about the run of a plan as a workflow: members, validations, the view of each step, and the end (001 §5, §8, §9).

use super::prelude::*;
use crate::reference::network::{
    assignments, candidates, capability_load, expected_node, holds_at_each, passes, task_requirements,
};
use crate::reference::plans::{
    dependents_of, is_member, is_sequence, members, node_of_step_before, task as find_task,
};
use orchestrion_kernel::ids::NodeId;
use orchestrion_kernel::network::{NetworkEvent, NodeStatus, WorkflowStatus};
use orchestrion_kernel::plan::EffectKind;

pub(super) const WORKFLOWS: &[Claim] = &[
    Claim {
        id: "C-138",
        clause: "001-5.6",
        statement: "The members of a plan are routed before any task of the run starts. The first attempt of each goes to \
                    its assigned node, or to another one if that node cannot start it. A node that left the network gets none. Only a member \
                    that no node can get is not routed, and lets no other start.",
        formula: "□ (assigned(members) ⇒ no task of the run started) ∧ □ (routed(m, n) ⇒ (n = assigned(m) ∧ n ∈ N) ∨ \
                  ¬can_start(assigned(m), m)) ∧ □ (unroutable(m) ⇒ candidates(m) = ∅ ∧ only m starts)",
        check: NetworkEventInvariant(|_, state, event| {
            let Some(request) = state.control().request() else {
                return !matches!(
                    event,
                    NetworkEvent::StepsAssigned { .. } | NetworkEvent::StepsUnroutable { .. }
                );
            };
            match event {
                NetworkEvent::StepsAssigned { assigned, left_out } => {
                    let members = request.plan.iter().flat_map(|plan| members(&plan.plan));
                    let mut routed: alloc::vec::Vec<TaskId> = assigned
                        .iter()
                        .map(|assigned| assigned.task)
                        .chain(left_out.iter().copied())
                        .collect();
                    routed.sort_unstable();
                    let mut members: alloc::vec::Vec<TaskId> = members.map(|task| task.id).collect();
                    members.sort_unstable();
                    is_before_run(state, request) && routed == members
                }
                NetworkEvent::StepsUnroutable { task } => {
                    is_before_run(state, request) && is_unroutable(state, request, *task)
                }
                NetworkEvent::CallRouted { call, to, attempt: 1, .. } => {
                    let task = state.control().pending_call(*call).and_then(|call| call.running_task());
                    let plan = request.plan.as_ref().map(|plan| &plan.plan);
                    let is_member = |task| plan.is_some_and(|plan| is_member(plan, task));
                    task.filter(|task| is_member(*task)).is_none_or(|task| {
                        request.workflow.assigned_node(task).is_some_and(|assigned| {
                            if assigned == to {
                                state.network().is_some_and(|network| network.node(to).is_some())
                            } else {
                                !can_start(state, assigned, request, Some(task))
                            }
                        })
                    })
                }
                _ => true,
            }
        }),
        premise: Premise::State(|_, state| of_request(state, |request| request.workflow.assigned.len() > 1)),
        ..CLAIM
    },
    Claim {
        id: "C-139",
        clause: "001-5.6",
        statement: "The results of the members become one once every member ended, at least one of them succeeded, and the \
                    others may fail. This happens once in a run.",
        formula: "□ (aggregated(r) ⇒ every member ended ∧ some member succeeded ∧ (all did ∨ failures allowed) ∧ ¬aggregated before)",
        check: TraceInvariant(|_, past, event| match event {
            Event::Network(
                NetworkEvent::ResultsAggregated { .. } | NetworkEvent::AggregationFailed { .. },
            ) => past.workflow.is_aggregated.is_none() && do_members_suffice(past),
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| request.workflow.is_aggregated == Some(true))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-140",
        clause: "001-9.3",
        statement: "A failed validation repeats the task that it validates and what depends on that, at most as often as the \
                    policy retries, and only if all of them are pure, none runs, and no outcome is unknown.",
        formula: "□ (repeated(v) ⇒ exit(v) ≠ 0 ∧ times(v) < max_retries ∧ tasks = dependents*(validated(v)) ∧ pure(tasks) ∧ ¬running(tasks) ∧ ¬lost(r))",
        check: NetworkEventInvariant(|_, state, event| {
            let retries = state.network().map_or(2, |network| network.policy().workflow.max_retries);
            let NetworkEvent::ValidationFailed { task, repeated } = event else { return true };
            let Some(request) = state.control().request() else { return false };
            let Some(plan) = request.plan.as_ref().map(|plan| &plan.plan) else { return false };
            let validates = find_task(plan, *task).and_then(|task| task.step.validates);
            let is_repeatable = |task: &TaskId| {
                let is_pure =
                    find_task(plan, *task).is_some_and(|task| task.effect.kind() == EffectKind::Pure);
                let mut pending = state.control().pending_calls().iter();
                is_pure && !pending.any(|call| call.running_task() == Some(*task))
            };
            matches!(request.outcome(*task), Some(TaskOutcome::Exited(_)))
                && request.workflow.failed_validations(*task) < retries
                && !has_lost_outcome(request)
                && validates.is_some_and(|validated| dependents_of(plan, validated) == *repeated)
                && repeated.iter().all(is_repeatable)
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| !request.workflow.validations.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-141",
        clause: "001-5.3",
        statement: "A task of a sequence is routed by the node that executed the task before, while this node is in the \
                    network. Every other call is routed by the orchestrator.",
        formula: "□ (routed(c, from, n) ⇒ from = node(task before c) in a sequence, else orchestrator)",
        check: NetworkEventInvariant(|_, state, event| {
            let (NetworkEvent::CallRouted { call, from, attempt: 1, .. }, Some(network)) =
                (event, state.network())
            else {
                return true;
            };
            let operation = state.control().pending_call(*call).map(|call| call.operation);
            let before = operation.and_then(|operation| node_of_step_before(state, operation));
            let is_in_network =
                |node: &NodeId| network.node(node).is_some_and(|node| node.status != NodeStatus::Expelled);
            let expected = before.filter(is_in_network);
            *from == expected.unwrap_or_else(|| network.orchestrator().clone())
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| {
                state.network().is_some_and(|network| assignment.from != *network.orchestrator())
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-142",
        clause: "001-5.5",
        statement: "Each run of a plan in a network ends with one report to the originator, also a run that a review interrupts: \
                    completed if and only if the run succeeded, cancelled if the user did, else failed. It returns to the orchestrator, \
                    in a sequence along the nodes that executed.",
        formula: "□ (run ends ⇒ WorkflowEnded) ∧ □ (status = completed ⇔ succeeded(r)) ∧ □ (return_path = reverse(executed) · orchestrator)",
        check: StepInvariant(|_, before, events, after| {
            let reports = || {
                events.iter().filter_map(|event| match event {
                    Event::Network(NetworkEvent::WorkflowEnded { return_path, .. }) => Some(return_path),
                    _ => None,
                })
            };
            let ends = is_run_open(before) && !is_run_open(after);
            let orchestrator = before.network().map(|network| network.orchestrator());
            let is_end = |event: &NetworkEvent| matches!(event, NetworkEvent::WorkflowEnded { .. });
            let is_way = holds_at_each(before, events, is_end, |state, event| match event {
                NetworkEvent::WorkflowEnded { return_path, .. } => {
                    expected_return_path(state).is_none_or(|expected| expected == *return_path)
                }
                _ => true,
            });
            reports().count() == usize::from(ends && orchestrator.is_some())
                && reports().all(|path| path.last() == orchestrator)
                && is_way
        }),
        premise: Premise::State(|_, state| {
            state.network().is_some() && state.control().phase() == Phase::RunningTasks
        }),
        ..CLAIM
    },
    Claim {
        id: "C-143",
        clause: "001-5.4",
        statement: "A workflow is reported as completed if and only if every required task succeeded, the results of its \
                    members became one and no task was lost, and as cancelled if and only if the user cancelled it. So a failure reaches the \
                    originator.",
        formula: "□ (WorkflowEnded(completed) ⇔ succeeded(r) ∧ ¬lost(t) ∧ ¬cancelled(r)) ∧ □ (WorkflowEnded(cancelled) ⇔ cancelled(r))",
        check: TraceInvariant(|_, past, event| match event {
            Event::Network(NetworkEvent::WorkflowEnded { status, .. }) => {
                let expected = if past.since_transition.cancelled {
                    WorkflowStatus::Cancelled
                } else if past.succeeded && !past.task_lost {
                    WorkflowStatus::Completed
                } else {
                    WorkflowStatus::Failed
                };
                *status == expected && past.since_transition.workflow_ended.is_none()
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            state.network().is_some()
                && of_request(state, |request| {
                    request.outcomes.iter().any(|ended| ended.outcome != TaskOutcome::Succeeded)
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-144",
        clause: "001-11.3",
        statement: "If every call gets a reply or times out, every run of a plan ends.",
        formula: "fair ⇒ □ (RunningTasks ⇒ ◇ ¬RunningTasks)",
        check: LeadsTo {
            from: |_, past, _| past.phase == Some(Phase::RunningTasks),
            to: |_, _, state| state.control().phase() != Phase::RunningTasks,
            under: FAIR,
        },
        premise: Premise::State(|_, state| state.control().phase() == Phase::RunningTasks),
        not_applicable: |policy| {
            (!policy.rules.error_rows).then_some("the policy has no transitions for failed calls")
        },
        ..CLAIM
    },
    Claim {
        id: "C-158",
        clause: "decision 0042",
        statement: "No transition leaves or continues a run in which every member ended and enough succeeded, before their results \
                    are aggregated or found to have no aggregate.",
        formula: "□ (running ∧ every member ended ∧ some succeeded ∧ (all did ∨ failures allowed) ∧ Transitioned ⇒ aggregated ∈ {true, \
                  false})",
        check: TraceInvariant(|_, past, event| match event {
            Event::Transitioned { .. } if past.phase == Some(Phase::RunningTasks) => {
                past.workflow.is_aggregated.is_some() || !do_members_suffice(past)
            }
            _ => true,
        }),
        premise: Premise::State(|_, state| {
            of_request(state, |request| request.workflow.is_aggregated == Some(false))
        }),
        ..CLAIM
    },
];

/// Whether every member ended, and those that succeeded suffice for an aggregate.
fn do_members_suffice(past: &History) -> bool {
    let members = || past.tasks_planned.iter().filter(|planned| planned.is_member);
    let has_ended = |task: TaskId| past.outcomes.iter().any(|ended| ended.task == task);
    let have_all_succeeded = members().all(|member| past.has_succeeded(member.task));
    members().all(|member| has_ended(member.task))
        && members().any(|member| past.has_succeeded(member.task))
        && (past.workflow.allows_failures == Some(true) || have_all_succeeded)
}

/// Whether a run started and has not ended. A review of an outdated plan interrupts the run, while a repaired plan is reviewed before
/// any of its tasks ends.
fn is_run_open(state: &State) -> bool {
    match state.control().phase() {
        Phase::RunningTasks => true,
        Phase::RepairReview | Phase::RepairScoring | Phase::RepairApproval => of_request(state, |request| {
            !request.outcomes.is_empty() || !request.workflow.validations.is_empty()
        }),
        _ => false,
    }
}

/// The nodes of the successful tasks, the last first, then the orchestrator; in a plan that is no sequence the orchestrator alone.
/// A node that follows itself counts once. None if tasks were repeated, since the ledger has only their latest nodes.
fn expected_return_path(state: &State) -> Option<alloc::vec::Vec<NodeId>> {
    let (network, request) = (state.network()?, state.control().request()?);
    let plan = &request.plan.as_ref()?.plan;
    if !request.workflow.validations.is_empty() {
        return None;
    }
    let executed = plan.tasks().iter().rev().filter_map(|task| {
        let node = request.ledger.get(task.id)?.node.clone();
        node.filter(|_| request.outcome(task.id) == Some(TaskOutcome::Succeeded))
    });
    let executed = executed.filter(|_| is_sequence(plan));
    let mut path: alloc::vec::Vec<NodeId> = executed.chain([network.orchestrator().clone()]).collect();
    path.dedup();
    Some(path)
}

/// Whether no task of the run started yet.
fn is_before_run(state: &State, request: &Request) -> bool {
    request.outcomes.is_empty()
        && request.workflow.assigned.is_empty()
        && state.control().pending_calls().is_empty()
}

/// Whether a task is a member that no node can get. Local preference concerns no ensemble: the orchestrator competes in it.
fn is_unroutable(state: &State, request: &Request, task: TaskId) -> bool {
    let (Some(network), Some(plan)) = (state.network(), request.plan.as_ref().map(|plan| &plan.plan)) else {
        return false;
    };
    let (from, member) = (network.orchestrator(), find_task(plan, task).filter(|_| is_member(plan, task)));
    let required = member.map(|member| task_requirements(member.step.requirements.as_deref()));
    required.is_some_and(|required| match plan.aggregation() {
        Some(aggregation) if aggregation.is_ensemble => {
            candidates(network, from, &required, &[]).is_empty()
                && !network.node(from).is_some_and(|node| passes(network, node, &required, &[]))
        }
        _ => expected_node(network, from, &required, &[]).is_none(),
    })
}

/// Whether a node can be sent a task now: it is in the network, and the orchestrator, which starts its own tasks at once, holds and
/// offers the capability with a load at most the limit.
fn can_start(state: &State, node: &NodeId, request: &Request, task: Option<TaskId>) -> bool {
    let Some((network, node)) = state.network().and_then(|network| Some((network, network.node(node)?)))
    else {
        return false;
    };
    let task = task.and_then(|task| find_task(&request.plan.as_ref()?.plan, task));
    let declared = task.and_then(|task| task.step.requirements.as_deref());
    let capability = match declared {
        Some(declared) => declared.required_capabilities.first().cloned(),
        None => Some(Module::Executor.capability()),
    };
    let held = capability.and_then(|capability| node.capabilities.get(&capability));
    node.id != *network.orchestrator()
        || node.status != NodeStatus::Expelled
            && held.is_some_and(|held| {
                held.available
                    && capability_load(held) <= network.policy().routing.overload_above.millionths()
            })
}
