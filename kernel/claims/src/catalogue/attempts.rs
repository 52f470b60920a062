//! Claims about the attempts of a call, the nodes that executed the tasks of a run, and repeated tasks (001 §5.5, §9.1, §11.3).

use super::prelude::*;
use crate::reference::network::{assignments, is_in_network, requirements, tried_after};
use crate::reference::plans::{dependents_of, task as find_task};
use alloc::vec::Vec;
use orchestrion_kernel::ids::{CallId, NodeId};
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::plan::EffectKind;

pub(super) const ATTEMPTS: &[Claim] = &[
    Claim {
        id: "C-188",
        clause: "001-11.3",
        statement: "The next attempt of a call excludes the node of every attempt before, has the next number, and is routed by \
                    the same node, while this node is in the network; else by the orchestrator.",
        formula: "□ (failed(c, n), routed(c', from, n') ∈ σ ⇒ tried(c') = tried(c) · n ∧ attempt(c') = attempt(c) + 1 ∧ from = from(c))",
        check: StepInvariant(|_, before, events, _| {
            let mut failed = None;
            events.iter().all(|event| match event {
                Event::Network(NetworkEvent::AttemptFailed { call, .. }) => {
                    failed = before.network().and_then(|network| network.assignment(*call));
                    failed.is_some()
                }
                Event::Network(NetworkEvent::CallRouted { from, attempt, tried, .. }) => {
                    match failed.take() {
                        Some(failed) => {
                            let network = before.network();
                            let router = network.filter(|network| !is_in_network(network, &failed.from));
                            *tried == tried_after(failed)
                                && *attempt == failed.attempt.saturating_add(1)
                                && *from == *router.map_or(&failed.from, |network| network.orchestrator())
                        }
                        None => *attempt == 1 && tried.is_empty(),
                    }
                }
                _ => true,
            })
        }),
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| assignment.tried.len() > 1)),
        ..CLAIM
    },
    Claim {
        id: "C-189",
        clause: "001-5.5",
        statement: "The lineage of a run has the nodes that executed its tasks successfully, in this order, and no node of an \
                    earlier run. Results that return along the nodes follow the lineage from its end.",
        formula: "□ (WorkflowEnded(l, p) ⇒ l = ⟨n | exit(t, n) = 0 in this run⟩ ∧ (p = ⟨orchestrator⟩ ∨ p = reverse(l) · orchestrator))",
        check: TraceInvariant(|_, past, event| match event {
            Event::Network(NetworkEvent::WorkflowEnded { lineage, return_path, .. }) => {
                let executed = past.workflow.lineage.iter().rev();
                let mut path: Vec<&NodeId> = executed.chain(return_path.last()).collect();
                path.dedup();
                *lineage == past.workflow.lineage
                    && (return_path.len() == 1 || return_path.iter().eq(path.iter().copied()))
            }
            _ => true,
        }),
        // A repaired plan runs that omits a task of the run before.
        premise: Premise::Network(|state, _| {
            state.control().phase() == Phase::RunningTasks
                && of_request(state, |request| {
                    let is_planned = |task| {
                        request.plan.as_ref().is_some_and(|plan| find_task(&plan.plan, task).is_some())
                    };
                    request.ledger.iter().any(|started| !is_planned(started.task))
                })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-191",
        clause: "001-4.5",
        statement: "A call is routed for the first capability that it requires.",
        formula: "□ (routed(c, cap, n) ⇒ cap = required_caps(c)[0])",
        check: NetworkEventInvariant(|_, state, event| match event {
            NetworkEvent::CallRouted { call, capability, .. } => requirements(state, *call)
                .is_some_and(|required| required.required_capabilities.first() == Some(capability)),
            _ => true,
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| assignment.capability != Module::Executor.capability())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-192",
        clause: "001-9.3",
        statement: "A validation that ends with another code than 0 repeats the task that it validates and what depends on that, if \
                    it may do so again, and all of them are pure, none runs, none was left out, and no outcome is unknown.",
        formula: "□ (exit(v) ≠ 0 ∧ times(v) < max_retries ∧ ¬lost(r) ∧ repeatable(dependents*(validated(v))) ⇒ repeated(v) ∈ σ)",
        check: StepInvariant(|_, before, events, _| {
            events.iter().all(|event| match event {
                Event::ToolResult { call, report: Report::Exit { code, .. }, .. } if *code != 0 => {
                    !must_repeat(before, *call)
                        || events.iter().any(|event| {
                            matches!(event, Event::Network(NetworkEvent::ValidationFailed { .. }))
                        })
                }
                _ => true,
            })
        }),
        premise: Premise::Network(|state, _| {
            state.control().pending_calls().iter().any(|call| must_repeat(state, call.id))
        }),
        ..CLAIM
    },
];

/// Whether a call runs a validation that repeats tasks if it ends with another code than 0.
fn must_repeat(state: &State, call: CallId) -> bool {
    let retries = state.network().map_or(2, |network| network.policy().workflow.max_retries);
    let pending = state.control().pending_calls();
    let running = pending.iter().find(|pending| pending.id == call).and_then(|call| call.running_task());
    of_request(state, |request| {
        let (Some(task), Some(plan)) = (running, request.plan.as_ref().map(|plan| &plan.plan)) else {
            return false;
        };
        let Some(validated) = find_task(plan, task).and_then(|task| task.step.validates) else {
            return false;
        };
        let is_repeatable = |repeated: &TaskId| {
            find_task(plan, *repeated).is_some_and(|task| task.effect.kind() == EffectKind::Pure)
                && request.outcome(*repeated) != Some(TaskOutcome::NotRun)
                && !pending.iter().any(|other| other.id != call && other.running_task() == Some(*repeated))
        };
        request.workflow.failed_validations(task) < retries
            && !has_lost_outcome(request)
            && dependents_of(plan, validated).iter().all(is_repeatable)
    })
}
