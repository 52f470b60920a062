//! Claims about the network: which node gets a call, handoffs, attempts and load (001 §4, §6, §7, §11.3; decision 0042).
//!
//! They compute the score and every filter of 001 §4 from the nodes themselves; [`expected_node`] is the reference.

use super::prelude::*;
use alloc::boxed::Box;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{CallId, CapabilityId, NodeId};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::{
    CapabilityState, HandoffReceipt, HandoffRefusal, NetworkEvent, NetworkInput, Node, NodeStatus,
    Requirements, SignatureStatus,
};
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::{Assignment, NetworkState};

pub(super) const NETWORK: &[Claim] = &[
    Claim {
        id: "C-119",
        clause: "001-3.7",
        statement: "A call never goes to a node that its task excludes, nor to a node that was tried before.",
        formula: "□ (routed(c, n) ⇒ n ∉ excluded(c) ∧ n ∉ tried(c))",
        check: StepInvariant(|_, before, events, _| {
            holds_at_routing(before, events, |_, routed| {
                !routed.tried.contains(routed.to)
                    && !routed.requirements.constraints.excluded_nodes.contains(routed.to)
            })
        }),
        premise: |_, state| {
            assignments(state).any(|assignment| {
                requirements(state, assignment.call)
                    .is_some_and(|required| !required.constraints.excluded_nodes.is_empty())
            })
        },
        ..CLAIM
    },
    Claim {
        id: "C-120",
        clause: "001-3.5",
        statement: "A node that gets a call has at least the minimum trust and the minimum quality of its task.",
        formula: "□ (routed(c, n) ⇒ T(n) ≥ min_trust(c) ∧ q_cap(n) ≥ min_quality(c))",
        check: StepInvariant(|_, before, events, _| {
            holds_at_routing(before, events, |network, routed| {
                let constraints = &routed.requirements.constraints;
                network.node(routed.to).is_some_and(|node| {
                    node.trust >= constraints.min_trust
                        && first_capability(node, &routed.requirements)
                            .is_some_and(|state| state.quality >= constraints.min_quality)
                })
            })
        }),
        premise: |_, state| {
            assignments(state).any(|assignment| {
                requirements(state, assignment.call).is_some_and(|required| {
                    required.constraints.min_trust > Score::ZERO
                        || required.constraints.min_quality > Score::ZERO
                })
            })
        },
        ..CLAIM
    },
    Claim {
        id: "C-121",
        clause: "001-4.5",
        statement: "A node that lacks a capability, does not offer it, or is expelled starts no call of it.",
        formula: "□ (started(c, n) ⇒ cap(c) ∈ caps(n) ∧ available(n, cap) ∧ ¬expelled(n))",
        check: StepInvariant(|_, before, events, _| {
            holds_at_start(before, events, |node, capability| {
                node.status != NodeStatus::Expelled
                    && node.capabilities.get(capability).is_some_and(|state| state.available)
            })
        }),
        premise: |_, state| {
            nodes(state).any(|node| {
                node.status == NodeStatus::Expelled || node.capabilities.values().any(|held| !held.available)
            })
        },
        ..CLAIM
    },
    Claim {
        id: "C-122",
        clause: "001-6.4",
        statement: "A node starts no call while the load of its capability is above the limit.",
        formula: "□ (started(c, n) ⇒ load(n, cap) ≤ overload_above)",
        check: StepInvariant(|_, before, events, _| {
            let Some(limit) = before.network().map(|network| network.policy().routing.overload_above) else {
                return true;
            };
            holds_at_start(before, events, |node, capability| {
                let load = node.capabilities.get(capability).map(capability_load);
                load.is_some_and(|load| load <= limit.millionths())
            })
        }),
        premise: |_, state| {
            let limit = state.network().map(|network| network.policy().routing.overload_above);
            let is_full = |held: &CapabilityState| {
                limit.is_some_and(|limit| capability_load(held) > limit.millionths())
            };
            assignments(state).any(|assignment| {
                !assignment.is_running()
                    && nodes(state).any(|node| {
                        node.id == assignment.to
                            && node.capabilities.get(&assignment.capability).is_some_and(is_full)
                    })
            })
        },
        not_applicable: super::ordering::is_sequential,
        ..CLAIM
    },
    Claim {
        id: "C-123",
        clause: "001-4.9",
        statement: "A call goes to the routing node, if it can execute the call itself, else to the candidate with the \
                    highest score, of equal ones to that with the smaller id.",
        formula: "□ (routed(c, n) ⇒ n = from if local, else argmax T · q_cap · (1 − load) · w · (1 − threat) · bonus)",
        check: StepInvariant(|_, before, events, _| {
            holds_at_routing(before, events, |network, routed| {
                expected_node(network, routed.from, &routed.requirements, routed.tried) == Some(routed.to)
            })
        }),
        premise: |_, state| {
            assignments(state).any(|assignment| !assignment.is_local() && !assignment.tried.is_empty())
        },
        ..CLAIM
    },
    Claim {
        id: "C-124",
        clause: "001-4.10",
        statement: "A call has no candidates only if no node can get it, or its attempts are used up. Then it is not made: \
                    the kernel accepts no reply.",
        formula: "□ (NO_CANDIDATES(c) ⇒ candidates(c) = ∅ ∨ attempts used up) ∧ □ (NO_CANDIDATES(c) ⇒ ToolResult(c) ∉ σ)",
        check: StepInvariant(|policy, before, events, _| {
            let is_answered = |event: &Event| {
                let Event::ToolResult { call, .. } = event else { return false };
                let pending = before.control().pending_call(*call);
                pending.is_some_and(|call| call.not_made == Some(Failure::NoCandidates))
            };
            !events.iter().any(is_answered)
                && holds_at_each(before, events, |state, event| {
                    let NetworkEvent::NoCandidates { call, .. } = event else { return true };
                    let (Some(network), Some(required)) = (state.network(), requirements(state, *call))
                    else {
                        return false;
                    };
                    match network.assignment(*call) {
                        // A refused handoff.
                        Some(refused) => {
                            refused.attempt > network.policy().workflow.max_retries
                                || !can_start_again(policy, state, *call)
                                || expected_node(network, &refused.from, &required, &tried_after(refused))
                                    .is_none()
                        }
                        None => routing_nodes(state, *call)
                            .iter()
                            .all(|from| expected_node(network, from, &required, &[]).is_none()),
                    }
                })
        }),
        premise: |_, state| {
            let mut pending = state.control().pending_calls().iter();
            pending.any(|call| call.not_made == Some(Failure::NoCandidates))
        },
        ..CLAIM
    },
    Claim {
        id: "C-125",
        clause: "001-6.3",
        statement: "A receiver accepts a handoff if and only if its signature is valid, it is the awaited handoff of a pending \
                    call, and its capability is held, offered and not overloaded. A refusal names the first check that \
                    fails, in this order. A forged and an unexpected handoff change nothing.",
        formula: "□ (accepted(h) ⇔ signed(h) ∧ expected(h) ∧ capable ∧ available ∧ load ≤ overload_above) ∧ □ (refused(h) = first failing check)",
        check: ResponseInvariant(|_, decide, state| {
            state.network().is_none_or(|network| {
                receipts(state, network)
                    .into_iter()
                    .all(|receipt| is_judged_rightly(decide, state, network, receipt))
            })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.is_running()),
        ..CLAIM
    },
    Claim {
        id: "C-126",
        clause: "001-6.3",
        statement: "The reply of a node counts only after this node accepted the handoff of the call.",
        formula: "□ (ToolResult(c) ∈ σ ∧ routed(c, n) ⇒ started(c, n))",
        check: TraceInvariant(|_, past, event| match event {
            Event::ToolResult { call, .. } => {
                past.assignment(*call).is_none_or(|assignment| assignment.is_running)
            }
            _ => true,
        }),
        premise: |_, state| {
            assignments(state).any(|assignment| !assignment.is_local() && assignment.is_running())
        },
        ..CLAIM
    },
    Claim {
        id: "C-127",
        clause: "001-6.3",
        statement: "A handoff is executed at most once: only a pending call that another node does not execute yet is \
                    accepted.",
        formula: "□ (accepted(c) ⇒ c pending ∧ from ≠ to ∧ c was not accepted before)",
        check: TraceInvariant(|_, past, event| match event {
            Event::Network(NetworkEvent::HandoffAccepted { call }) => past
                .assignment(*call)
                .is_some_and(|assignment| !assignment.is_running && assignment.from != assignment.to),
            _ => true,
        }),
        premise: |_, state| {
            assignments(state).any(|assignment| !assignment.is_local() && assignment.is_running())
        },
        ..CLAIM
    },
    Claim {
        id: "C-128",
        clause: "001-6.5",
        statement: "The load of a capability rises by one task when its node starts a call, and falls by one task when the \
                    call ends in any way. Nothing else changes it.",
        formula: "□ (tasks'(n, cap) − tasks(n, cap) = running'(n, cap) − running(n, cap))",
        check: StepInvariant(|_, before, events, after| {
            let Some(network) = after.network() else { return true };
            let joined = events.iter().flat_map(|event| match event {
                Event::Network(NetworkEvent::Changed(change)) => match &**change {
                    NetworkInput::Join { node } => core::slice::from_ref(node),
                    NetworkInput::Create { nodes, .. } => nodes,
                    _ => &[],
                },
                _ => &[],
            });
            let joined: Vec<&Node> = joined.collect();
            network.nodes().iter().all(|node| {
                let base = joined.iter().copied().find(|base| base.id == node.id);
                // A node that joins starts with the tasks that it declares, besides those that run.
                let (earlier, was_running) = match base {
                    Some(base) => (Some(base), None),
                    None => (before.network().and_then(|network| network.node(&node.id)), before.network()),
                };
                node.capabilities.iter().all(|(capability, held)| {
                    let tasks = earlier.and_then(|node| node.capabilities.get(capability));
                    let tasks = tasks.map_or(0, |held| i64::from(held.current_tasks));
                    let ran = was_running.map_or(0, |network| running_tasks(network, &node.id, capability));
                    i64::from(held.current_tasks).saturating_sub(tasks)
                        == running_tasks(network, &node.id, capability).saturating_sub(ran)
                })
            })
        }),
        premise: |_, state| assignments(state).any(Assignment::is_running),
        ..CLAIM
    },
    Claim {
        id: "C-129",
        clause: "001-6.5",
        statement: "Only pending calls have a node, each at most one. So with the last pending call, every load returned to \
                    its base.",
        formula: "□ (assigned(c, n) ⇒ c ∈ pending ∧ c is to be made ∧ n is the only node of c)",
        check: ClaimCheck::StateInvariant(|_, state| {
            let made = |call: CallId| {
                state.control().pending_call(call).is_some_and(|pending| pending.not_made.is_none())
            };
            assignments(state).all(|assignment| made(assignment.call))
                && assignments(state)
                    .zip(assignments(state).skip(1))
                    .all(|(earlier, later)| earlier.call < later.call)
        }),
        premise: |_, state| assignments(state).count() > 0,
        ..CLAIM
    },
    Claim {
        id: "C-130",
        clause: "001-1.1",
        statement: "A routing decision reads the connections and beliefs of the node that routes, and what the candidates \
                    publish; not the connections and beliefs of other nodes.",
        formula: "□ (o ≈ o' up to the views of n ≠ from ⇒ routed(o, i) = routed(o', i))",
        check: ResponseInvariant(|_, decide, state| {
            routing_inputs(state).into_iter().all(|input| {
                routed_by(decide, state, &input).is_none_or(|(call, from, to)| {
                    let changed = with_other_views(state, &from);
                    routed_by(decide, &changed, &input) == Some((call, from, to))
                })
            })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.is_local()),
        ..CLAIM
    },
    Claim {
        id: "C-131",
        clause: "001-7.6",
        statement: "Explicit load moves work away: a node that reports the full load gets no call of another node while a \
                    candidate with a positive score is left. A member keeps the node of its assignment.",
        formula: "□ (routed(c, n) ∧ n ≠ from ∧ load(n) := 1 ⇒ ¬routed(c, n) ∨ no other candidate scores above 0)",
        check: ResponseInvariant(|_, decide, state| {
            routing_inputs(state).into_iter().all(|input| {
                let Some((_, from, to)) = routed_by(decide, state, &input).filter(|(_, from, to)| from != to)
                else {
                    return true;
                };
                let mut loaded = state.clone();
                let load = NetworkInput::ReportLoad { node: to.clone(), load: Some(Score::ONE) };
                loaded.apply(&Event::Network(NetworkEvent::Changed(Box::new(load))));
                match routed_by(decide, &loaded, &input) {
                    Some((call, _, again)) if again == to => {
                        let after = state_after(decide, &loaded, &input);
                        let is_assigned = after.as_ref().is_some_and(|after| {
                            let task =
                                after.control().pending_call(call).and_then(|call| call.running_task());
                            task.is_some_and(|task| {
                                of_request(after, |request| request.workflow.assigned_node(task).is_some())
                            })
                        });
                        if is_assigned {
                            return true;
                        }
                        let others = after.as_ref().and_then(|after| {
                            let (network, required) = (after.network()?, requirements(after, call)?);
                            let assignment = network.assignment(call)?;
                            Some(candidates(network, &from, &required, &assignment.tried))
                        });
                        others.is_some_and(|others| {
                            others.iter().all(|(score, node)| *score == 0 || **node == to)
                        })
                    }
                    _ => true,
                }
            })
        }),
        premise: |_, state| {
            nodes(state).any(|node| node.reported_load == Some(Score::ONE)) && assignments(state).count() > 0
        },
        ..CLAIM
    },
    Claim {
        id: "C-132",
        clause: "001-11.3",
        statement: "The attempts of a call are numbered from 1, and there is at most one more than the policy's retries.",
        formula: "□ (attempt(c) ≤ max_retries + 1) ∧ □ (attempt(c) = |tried(c)| + 1)",
        check: ClaimCheck::StateInvariant(|_, state| {
            let Some(network) = state.network() else { return true };
            network.assignments().iter().all(|assignment| {
                assignment.attempt <= network.policy().workflow.max_retries.saturating_add(1)
                    && usize::try_from(assignment.attempt) == Ok(assignment.tried.len().saturating_add(1))
            })
        }),
        premise: |_, state| {
            let retries = state.network().map_or(0, |network| network.policy().workflow.max_retries);
            retries > 0 && assignments(state).any(|assignment| assignment.attempt > retries)
        },
        ..CLAIM
    },
    Claim {
        id: "C-133",
        clause: "001-11.3",
        statement: "An attempt that could have had an effect is not repeated: one that a node executes, of a call with an \
                    effect, or without a reply in time.",
        formula: "□ (repeated(c) ∧ started(c, n) ⇒ ¬effectful(c) ∧ failure ∈ {error, malformed})",
        check: TraceInvariant(|_, past, event| match event {
            Event::Network(NetworkEvent::AttemptFailed { call, failure, .. }) => {
                let pending = past.pending.iter().find(|(pending, _)| pending == call);
                past.assignment(*call).zip(pending).is_some_and(
                    |(assignment, (_, operation))| match failure {
                        Failure::Error | Failure::Malformed => {
                            !assignment.is_running || !operation.is_effectful()
                        }
                        Failure::Timeout => !assignment.is_running,
                        Failure::NoCandidates | Failure::OverBudget | Failure::OutcomeUnknown => false,
                    },
                )
            }
            _ => true,
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.tried.is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-134",
        clause: "001-11.3",
        statement: "A failed attempt goes to the next-best node, if attempts are left, the attempt had no effect, there is a \
                    candidate, and tasks may start. Otherwise the call fails.",
        formula: "□ (failed(c) ⇒ (repeated(c) ⇔ attempt(c) ≤ max_retries ∧ no effect ∧ candidates(c) ∖ tried(c) ≠ ∅ ∧ tasks may start))",
        check: ResponseInvariant(|policy, decide, state| {
            let Some(network) = state.network() else { return true };
            network.assignments().iter().all(|assignment| {
                let Some(call) = state.control().pending_call(assignment.call) else { return false };
                let is_running = assignment.is_running();
                let has_node = requirements(state, assignment.call).is_some_and(|required| {
                    let from = if is_in_network(network, &assignment.from) {
                        &assignment.from
                    } else {
                        network.orchestrator()
                    };
                    expected_node(network, from, &required, &tried_after(assignment)).is_some()
                });
                [Failure::Error, Failure::Timeout, Failure::Malformed].into_iter().all(|failure| {
                    let had_effect =
                        is_running && (failure == Failure::Timeout || call.operation.is_effectful());
                    let is_repeated = assignment.attempt <= network.policy().workflow.max_retries
                        && !had_effect
                        && can_start_again(policy, state, assignment.call)
                        && has_node;
                    match decide(state, &Input::CallFailed { call: assignment.call, failure }) {
                        Ok(events) => events.iter().any(is_attempt_failed) == is_repeated,
                        Err(_) => !is_repeated,
                    }
                })
            })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.is_local()),
        ..CLAIM
    },
    Claim {
        id: "C-135",
        clause: "decision 0042",
        statement: "A failed attempt is followed by another call with the same operation, in the same batch.",
        formula: "□ (AttemptFailed(c) ∈ σ ⇒ some ToolCall(c') ∈ σ after it with operation(c') = operation(c))",
        check: StepInvariant(|_, before, events, _| {
            let operation = |call: CallId| before.control().pending_call(call).map(|call| call.operation);
            events.iter().enumerate().all(|(at, event)| match event {
                Event::Network(NetworkEvent::AttemptFailed { call, .. }) => {
                    let mut later = events.iter().skip(at);
                    later.any(|event| {
                        matches!(event, Event::ToolCall { operation: again, .. } if Some(*again) == operation(*call))
                    })
                }
                _ => true,
            })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.tried.is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-136",
        clause: "decision 0042",
        statement: "The nodes of the pending calls are those that the events determine.",
        formula: "□ (assignments(o) = fold of the events about calls)",
        check: ClaimCheck::HistoryConsistency(|past, state| {
            let assignments: Vec<&Assignment> = assignments(state).collect();
            assignments.len() == past.assignments.len()
                && assignments.iter().zip(&past.assignments).all(|(kept, heard)| {
                    kept.call == heard.call
                        && kept.from == heard.from
                        && kept.to == heard.to
                        && kept.capability == heard.capability
                        && kept.attempt == heard.attempt
                        && kept.tried == heard.tried
                        && kept.is_running() == heard.is_running
                })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.is_local()),
        ..CLAIM
    },
    Claim {
        id: "C-137",
        clause: "001-6.2",
        statement: "A call that is handed off leaves its sender with an active connection to the receiver.",
        formula: "□ (routed(c, n) ∧ n ≠ from ⇒ last_active'(from, n) = now)",
        check: StepInvariant(|_, _, events, after| {
            events.iter().all(|event| match event {
                Event::Network(NetworkEvent::CallRouted { from, to, .. }) if from != to => {
                    let sender = after.network().and_then(|network| network.node(from));
                    let connection = sender.and_then(|node| node.connections.get(to));
                    connection.is_some_and(|connection| connection.last_active == after.now())
                }
                _ => true,
            })
        }),
        premise: |_, state| assignments(state).any(|assignment| !assignment.is_local()),
        ..CLAIM
    },
];

/// A call that is routed, with what it requires.
struct Routed<'a> {
    from: &'a NodeId,
    to: &'a NodeId,
    tried: &'a [NodeId],
    requirements: Requirements,
}

fn is_attempt_failed(event: &Event) -> bool {
    matches!(event, Event::Network(NetworkEvent::AttemptFailed { .. }))
}

pub(super) fn assignments(state: &State) -> impl Iterator<Item = &Assignment> {
    state.network().into_iter().flat_map(|network| network.assignments())
}

pub(super) fn nodes(state: &State) -> impl Iterator<Item = &Node> {
    state.network().into_iter().flat_map(|network| network.nodes().iter())
}

/// The number of calls of a capability that a node executes.
fn running_tasks(network: &NetworkState, node: &NodeId, capability: &CapabilityId) -> i64 {
    let runs = |assignment: &&Assignment| {
        assignment.is_running() && assignment.to == *node && assignment.capability == *capability
    };
    i64::try_from(network.assignments().iter().filter(runs).count()).unwrap_or(i64::MAX)
}

/// The nodes that the next attempt excludes.
fn tried_after(assignment: &Assignment) -> Vec<NodeId> {
    assignment.tried.iter().chain([&assignment.to]).cloned().collect()
}

fn is_in_network(network: &NetworkState, node: &NodeId) -> bool {
    network.node(node).is_some_and(|node| node.status != NodeStatus::Expelled)
}

/// Whether a condition holds at each event about the network, in the state before this event.
pub(super) fn holds_at_each(
    before: &State,
    events: &[Event],
    holds: impl Fn(&State, &NetworkEvent) -> bool,
) -> bool {
    if !events.iter().any(|event| matches!(event, Event::Network(_))) {
        return true;
    }
    let mut state = before.clone();
    events.iter().all(|event| {
        let is_right = match event {
            Event::Network(event) => holds(&state, event),
            _ => true,
        };
        state.apply(event);
        is_right
    })
}

/// Whether a condition holds for each call that is routed when it is emitted, and for each member that is assigned. A call that
/// goes to the node of its assignment was routed then.
fn holds_at_routing(
    before: &State,
    events: &[Event],
    holds: impl Fn(&NetworkState, &Routed<'_>) -> bool,
) -> bool {
    holds_at_each(before, events, |state, event| {
        let Some(network) = state.network() else { return true };
        match event {
            NetworkEvent::CallRouted { call, from, to, tried, .. } => {
                let operation = state.control().pending_call(*call).map(|call| call.operation);
                let Some(requirements) = requirements(state, *call) else { return false };
                let assigned = operation.and_then(Operation::task).and_then(|task| {
                    state.control().request().and_then(|request| request.workflow.assigned_node(task))
                });
                tried.is_empty() && assigned == Some(to)
                    || holds(network, &Routed { from, to, tried, requirements })
            }
            NetworkEvent::StepsAssigned { assigned, .. } => {
                let plan = state.control().request().and_then(|request| request.plan.as_ref());
                let Some(plan) = plan.map(|plan| &plan.plan) else { return false };
                // The members of an ensemble are several nodes for one task, not only the best.
                plan.aggregation().is_some_and(|aggregation| aggregation.is_ensemble)
                    || assigned.iter().all(|assigned| {
                        plan.task(assigned.task).is_some_and(|task| {
                            let requirements = task_requirements(task.step.requirements.as_deref());
                            let (from, to) = (network.orchestrator(), &assigned.node);
                            holds(network, &Routed { from, to, tried: &[], requirements })
                        })
                    })
            }
            _ => true,
        }
    })
}

/// Whether a condition holds for each node that starts a call, in the state before it.
fn holds_at_start(before: &State, events: &[Event], holds: impl Fn(&Node, &CapabilityId) -> bool) -> bool {
    holds_at_each(before, events, |state, event| {
        let Some(network) = state.network() else { return true };
        let started = match event {
            NetworkEvent::CallRouted { from, to, capability, .. } if from == to => Some((to, capability)),
            NetworkEvent::HandoffAccepted { call } => {
                network.assignment(*call).map(|assignment| (&assignment.to, &assignment.capability))
            }
            _ => return true,
        };
        started
            .is_some_and(|(node, capability)| network.node(node).is_some_and(|node| holds(node, capability)))
    })
}

fn task_requirements(declared: Option<&Requirements>) -> Requirements {
    declared.cloned().unwrap_or_else(|| module_requirements(Module::Executor))
}

fn module_requirements(module: Module) -> Requirements {
    Requirements { required_capabilities: Vec::from([module.capability()]), ..Requirements::default() }
}

/// What a pending call requires of its node. A compensation prefers the node that executed the task.
pub(super) fn requirements(state: &State, call: CallId) -> Option<Requirements> {
    let operation = state.control().pending_call(call)?.operation;
    let request = state.control().request()?;
    let started = operation.task().and_then(|task| request.ledger.get(task));
    let mut required = match (operation, started) {
        (
            Operation::RunTask { .. } | Operation::UndoTask { .. },
            Some(StartedTask { version: Some(task), .. }),
        ) => task_requirements(task.step.requirements.as_deref()),
        _ => module_requirements(operation.module()),
    };
    if let (Operation::UndoTask { .. }, Some(StartedTask { node: Some(node), .. })) = (operation, started) {
        required.constraints.preferred_nodes.push(node.clone());
    }
    Some(required)
}

fn first_capability<'n>(node: &'n Node, required: &Requirements) -> Option<&'n CapabilityState> {
    node.capabilities.get(required.required_capabilities.first()?)
}

const ONE: u32 = 1_000_000;

/// `current_tasks / max_capacity` in millionths, at most 1.
fn capability_load(state: &CapabilityState) -> u32 {
    let tasks = u64::from(state.current_tasks).saturating_mul(ONE.into());
    let load = tasks.checked_div(u64::from(state.capability.max_capacity)).unwrap_or(ONE.into());
    u32::try_from(load).unwrap_or(ONE).min(ONE)
}

fn node_load(node: &Node) -> u32 {
    match node.reported_load {
        Some(load) => load.millionths(),
        None => node.capabilities.values().map(capability_load).max().unwrap_or(0),
    }
}

/// Whether a node passes every filter of a task (001 §4.3, steps 1 and 2).
fn passes(network: &NetworkState, node: &Node, required: &Requirements, tried: &[NodeId]) -> bool {
    let Some(held) = first_capability(node, required) else { return false };
    let (capability, constraints) = (&held.capability, &required.constraints);
    let accepts = |types: &[Text], kind: &Option<Text>| match kind {
        Some(kind) => types.is_empty() || types.contains(kind),
        None => true,
    };
    let mut others = required.required_capabilities.iter().skip(1);
    node.status != NodeStatus::Expelled
        && held.available
        && !constraints.excluded_nodes.contains(&node.id)
        && !tried.contains(&node.id)
        && (!network.policy().routing.all_capabilities
            || others.all(|other| node.capabilities.contains_key(other)))
        && accepts(&capability.input_types, &required.input_type)
        && accepts(&capability.output_types, &required.output_type)
        && capability.constraints.max_input_size.is_none_or(|max| required.input_size <= max)
        && match (constraints.timeout_ms, capability.constraints.timeout_ms) {
            (Some(allowed), Some(needed)) => needed <= allowed,
            (None, _) | (_, None) => true,
        }
        && node.trust >= constraints.min_trust
        && held.quality >= constraints.min_quality
}

/// The candidates with their exact scores (001 §4.1), in the order of ids.
fn candidates<'n>(
    network: &'n NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> Vec<(u128, &'n NodeId)> {
    let (policy, view) = (network.policy(), network.node(from));
    let scored = network.nodes().iter().filter_map(|node| {
        let competes = node.id != *from || !policy.routing.local_preference;
        let held = first_capability(node, required)?;
        if !competes || !passes(network, node, required, tried) {
            return None;
        }
        let connection = view.and_then(|view| view.connections.get(&node.id));
        let weight = connection.map_or(policy.connection.initial_weight, |connection| connection.weight);
        let belief = view.and_then(|view| view.threat_beliefs.get(&node.id));
        let threat = belief.map_or(0, |belief| belief.level.millionths());
        let is_preferred = required.constraints.preferred_nodes.contains(&node.id);
        let bonus = if is_preferred { policy.routing.preference_bonus.millionths() } else { ONE };
        let factors = [
            node.trust.millionths(),
            held.quality.millionths(),
            ONE.saturating_sub(node_load(node)),
            weight.millionths(),
            ONE.saturating_sub(threat),
            bonus,
        ];
        let score = factors.into_iter().fold(1_u128, |product, factor| product.saturating_mul(factor.into()));
        Some((score, &node.id))
    });
    scored.collect()
}

/// The node that gets a call, by 001 §4.2 and §4.3.
fn expected_node<'n>(
    network: &'n NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> Option<&'n NodeId> {
    let routing = &network.policy().routing;
    let is_local = |node: &&Node| {
        let offers = |capability| node.capabilities.get(capability).is_some_and(|held| held.available);
        routing.local_preference
            && passes(network, node, required, tried)
            && required.required_capabilities.iter().all(offers)
            && first_capability(node, required)
                .is_some_and(|held| capability_load(held) <= routing.overload_above.millionths())
    };
    if let Some(node) = network.node(from).filter(is_local) {
        return Some(&node.id);
    }
    let best = candidates(network, from, required, tried);
    best.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, node)| node)
}

/// Whether another attempt of a pending call may start: no task does after the outcome of one is unknown, or while the plan is
/// outdated (decision 0040).
fn can_start_again(policy: &Policy, state: &State, call: CallId) -> bool {
    let is_task = state.control().pending_call(call).is_some_and(|call| call.running_task().is_some());
    let lost = TaskOutcome::NoResult(Failure::OutcomeUnknown);
    !is_task
        || of_request(state, |request| {
            let is_outdated = policy.rules.current_facts && request.debate.outdated;
            !is_outdated && !request.outcomes.iter().any(|ended| ended.outcome == lost)
        })
}

/// The nodes from whose view a new call may be routed.
fn routing_nodes(state: &State, call: CallId) -> Vec<NodeId> {
    let Some(network) = state.network() else { return Vec::new() };
    let before = state
        .control()
        .pending_call(call)
        .and_then(|call| super::workflows::node_of_step_before(state, call.operation));
    let before = before.filter(|node| is_in_network(network, node));
    Vec::from([before.unwrap_or_else(|| network.orchestrator().clone())])
}

/// Handoffs to try in a state: of each pending call and of a call that was never sent, signed and forged, with the right and with
/// other ends.
fn receipts(state: &State, network: &NetworkState) -> Vec<HandoffReceipt> {
    let nodes: Vec<&NodeId> = network.nodes().iter().map(|node| &node.id).collect();
    let pending = state.control().pending_calls().iter().map(|call| call.id);
    let never_sent = CallId::new(u64::MAX);
    let mut receipts = Vec::new();
    for call in pending.chain([never_sent]) {
        let ends = network.assignment(call).map(|assignment| (&assignment.from, &assignment.to));
        let (from, to) = ends.unwrap_or((network.orchestrator(), network.orchestrator()));
        let other =
            |end: &NodeId| nodes.iter().copied().find(|node| *node != end).unwrap_or(network.orchestrator());
        for signature in [SignatureStatus::Valid, SignatureStatus::Invalid] {
            for (from, to) in [(from, to), (other(from), to), (from, other(to))] {
                receipts.push(HandoffReceipt { call, from: from.clone(), to: to.clone(), signature });
            }
        }
    }
    receipts
}

/// The refusal of a handoff by the checks of 001 §6.3; none if it is accepted.
fn expected_refusal(network: &NetworkState, receipt: &HandoffReceipt) -> Option<HandoffRefusal> {
    if receipt.signature == SignatureStatus::Invalid {
        return Some(HandoffRefusal::InvalidSignature);
    }
    let is_awaited = |assignment: &&Assignment| {
        assignment.call == receipt.call
            && assignment.from == receipt.from
            && assignment.to == receipt.to
            && assignment.from != assignment.to
            && !assignment.is_running()
    };
    let Some(assignment) = network.assignments().iter().find(is_awaited) else {
        return Some(HandoffRefusal::NotExpected);
    };
    let node = network.node(&receipt.to);
    let Some((node, held)) =
        node.and_then(|node| Some((node, node.capabilities.get(&assignment.capability)?)))
    else {
        return Some(HandoffRefusal::MissingCapability);
    };
    if !held.available || node.status == NodeStatus::Expelled {
        return Some(HandoffRefusal::Unavailable);
    }
    (capability_load(held) > network.policy().routing.overload_above.millionths())
        .then_some(HandoffRefusal::Overloaded)
}

/// Whether the kernel accepts or refuses a handoff as expected. A handoff that is forged or not expected has no other effect.
fn is_judged_rightly(
    decide: &crate::Decide<'_>,
    state: &State,
    network: &NetworkState,
    receipt: HandoffReceipt,
) -> bool {
    let expected = expected_refusal(network, &receipt);
    let Ok(events) = decide(state, &Input::Network(Box::new(NetworkInput::Handoff(receipt.clone())))) else {
        return false;
    };
    let accepted = Event::Network(NetworkEvent::HandoffAccepted { call: receipt.call });
    match expected {
        None => events == [accepted],
        Some(refusal) => {
            let is_forgery =
                matches!(refusal, HandoffRefusal::InvalidSignature | HandoffRefusal::NotExpected);
            events.first() == Some(&Event::Network(NetworkEvent::HandoffRefused { receipt, refusal }))
                && !events.contains(&accepted)
                && (events.len() == 1) == is_forgery
        }
    }
}

/// The inputs after which a call is routed: a step, the loss of a handoff, and the end of a call.
fn routing_inputs(state: &State) -> Vec<Input> {
    if state.network().is_none() {
        return Vec::new();
    }
    let lost = assignments(state)
        .map(|assignment| Input::CallFailed { call: assignment.call, failure: Failure::Error });
    [Input::Step].into_iter().chain(lost).collect()
}

/// The call that an input routes, with the node that routes and the node that gets it.
fn routed_by(decide: &crate::Decide<'_>, state: &State, input: &Input) -> Option<(CallId, NodeId, NodeId)> {
    decide(state, input).ok()?.iter().find_map(|event| match event {
        Event::Network(NetworkEvent::CallRouted { call, from, to, .. }) => {
            Some((*call, from.clone(), to.clone()))
        }
        _ => None,
    })
}

fn state_after(decide: &crate::Decide<'_>, state: &State, input: &Input) -> Option<State> {
    let mut after = state.clone();
    decide(state, input).ok()?.iter().for_each(|event| after.apply(event));
    Some(after)
}

/// The state in which every other node than this one believes that all others are threats, and has cut the connections to them.
fn with_other_views(state: &State, routing: &NodeId) -> State {
    let mut changed = state.clone();
    let ids: Vec<NodeId> = nodes(state).map(|node| node.id.clone()).collect();
    for receiver in nodes(state).filter(|node| node.id != *routing) {
        for subject in ids.iter().filter(|subject| **subject != receiver.id) {
            // A belief that another origin confirms could expel the subject.
            let first = receiver.threat_beliefs.get(subject).and_then(|belief| belief.first_origin.clone());
            let origin = first.unwrap_or_else(|| NodeId::new("stranger"));
            let signal = Signal {
                sender: NodeId::new("stranger"),
                origin,
                subject: subject.clone(),
                confidence: Score::ONE,
                hops: u32::MAX,
            };
            let receiver = receiver.id.clone();
            let event = Event::Network(NetworkEvent::SignalReceived { receiver, signal });
            (0..4).for_each(|_| changed.apply(&event));
        }
    }
    changed
}
