//! Claims about the network: which node gets a call, handoffs, attempts and load (001 §4, §6, §7, §11.3; decision 0042).
//!
//! They compute the score and every filter of 001 §4 from the nodes themselves; `reference::network` is the reference.

use super::prelude::*;
use crate::reference::network::*;
use crate::reference::plans::has_effect;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{CallId, NodeId};
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::routing::NoCandidates;
use orchestrion_kernel::network::{CapabilityState, NetworkEvent, NetworkInput, Node, NodeStatus};
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::Assignment;

pub(super) const NETWORK: &[Claim] = &[
    Claim {
        id: "C-119",
        clause: "001-3.7",
        statement: "A call never goes to a node that its task excludes, nor to a node that was tried before.",
        formula: "□ (routed(c, n) ⇒ n ∉ excluded(c) ∧ n ∉ tried(c))",
        check: NetworkEventInvariant(|_, state, event| {
            holds_at_routing(state, event, |_, routed| {
                !routed.tried.contains(routed.to)
                    && !routed.requirements.constraints.excluded_nodes.contains(routed.to)
            })
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| {
                requirements(state, assignment.call)
                    .is_some_and(|required| !required.constraints.excluded_nodes.is_empty())
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-120",
        clause: "001-3.5",
        statement: "A node that gets a call has at least the minimum trust and the minimum quality of its task.",
        formula: "□ (routed(c, n) ⇒ T(n) ≥ min_trust(c) ∧ q_cap(n) ≥ min_quality(c))",
        check: NetworkEventInvariant(|_, state, event| {
            holds_at_routing(state, event, |network, routed| {
                let constraints = &routed.requirements.constraints;
                network.node(routed.to).is_some_and(|node| {
                    node.trust >= constraints.min_trust
                        && first_capability(node, &routed.requirements)
                            .is_some_and(|state| state.quality >= constraints.min_quality)
                })
            })
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| {
                requirements(state, assignment.call).is_some_and(|required| {
                    required.constraints.min_trust > Score::ZERO
                        || required.constraints.min_quality > Score::ZERO
                })
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-121",
        clause: "001-4.5",
        statement: "A node that lacks a capability, does not offer it, or is expelled starts no call of it.",
        formula: "□ (started(c, n) ⇒ cap(c) ∈ caps(n) ∧ available(n, cap) ∧ ¬expelled(n))",
        check: NetworkEventInvariant(|_, state, event| {
            holds_at_start(state, event, |node, capability| {
                node.status != NodeStatus::Expelled
                    && node.capabilities.get(capability).is_some_and(|state| state.available)
            })
        }),
        premise: Premise::Network(|state, _| {
            nodes(state).any(|node| {
                node.status == NodeStatus::Expelled || node.capabilities.values().any(|held| !held.available)
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-122",
        clause: "001-6.4",
        statement: "A node starts no call while the load of its capability is above the limit.",
        formula: "□ (started(c, n) ⇒ load(n, cap) ≤ overload_above)",
        check: NetworkEventInvariant(|_, state, event| {
            let Some(limit) = state.network().map(|network| network.policy().routing.overload_above) else {
                return true;
            };
            holds_at_start(state, event, |node, capability| {
                let load = node.capabilities.get(capability).map(capability_load);
                load.is_some_and(|load| load <= limit.millionths())
            })
        }),
        premise: Premise::Network(|state, _| {
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
        }),
        not_applicable: super::ordering::is_sequential,
        ..CLAIM
    },
    Claim {
        id: "C-123",
        clause: "001-4.9",
        statement: "Where the policy prefers local execution, a call goes to the routing node if it can execute the call. Else it goes to \
                    the candidate with the highest score; of equal ones, to that with the smaller id. An overloaded routing node is no \
                    candidate. By another order of the policy, the highest quality counts, or the fewest interactions with the routing \
                    node.",
        formula: "□ (routed(c, n) ⇒ n = from if local, else argmax T · q_cap · (1 − load) · w · (1 − threat) · bonus, or q_cap, or \
                  −interactions(from, n))",
        check: NetworkEventInvariant(|_, state, event| {
            holds_at_routing(state, event, |network, routed| {
                expected_node(network, routed.from, &routed.requirements, routed.tried) == Some(routed.to)
            })
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| !assignment.is_local() && !assignment.tried.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-124",
        clause: "001-4.10",
        statement: "A call has no candidates only if no node can get it, its attempts are used up, or its task cannot start \
                    again. Then it is not made: the kernel accepts no reply.",
        formula: "□ (NO_CANDIDATES(c) ⇒ candidates(c) = ∅ ∨ attempts used up ∨ ¬can_start(c)) ∧ □ (NO_CANDIDATES(c) ⇒ ToolResult(c) ∉ σ)",
        check: StepInvariant(|policy, before, events, _| {
            let is_no_candidates = |event: &NetworkEvent| matches!(event, NetworkEvent::NoCandidates { .. });
            let is_answered = |event: &Event| {
                let Event::ToolResult { call, .. } = event else { return false };
                let pending = before.control().pending_call(*call);
                pending.is_some_and(|call| call.not_made == Some(Failure::NoCandidates))
            };
            !events.iter().any(is_answered)
                && holds_at_each(before, events, is_no_candidates, |state, event| {
                    let NetworkEvent::NoCandidates { call, .. } = event else { return true };
                    let (Some(network), Some(required)) = (state.network(), requirements(state, *call))
                    else {
                        return false;
                    };
                    // A refused handoff may not be repeated.
                    let ends = network.assignment(*call).is_some_and(|refused| {
                        refused.attempt > network.policy().workflow.max_retries
                            || !can_start_again(policy, state, *call)
                    });
                    let (from, tried) = next_attempt(state, network, *call);
                    ends || expected_node(network, &from, &required, &tried).is_none()
                })
        }),
        premise: Premise::State(|_, state| {
            let mut pending = state.control().pending_calls().iter();
            pending.any(|call| call.not_made == Some(Failure::NoCandidates))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-241",
        clause: "001-4.10",
        statement: "A call that is not made for lack of a node names its first required capability, the number of nodes that each \
                    filter removes, and the last of these filters. It names no filter if a candidate remains, because its attempts are \
                    used up or its task cannot start again.",
        formula: "□ (NO_CANDIDATES(c, k, R, f) ⇒ k = first(required(c)) ∧ (candidates(c) = ∅ ⇒ R = {g ↦ |{n : first filter of n = g}|} \
                  ∧ f = max dom R) ∧ (candidates(c) ≠ ∅ ⇒ R = ∅ ∧ f = none))",
        check: NetworkEventInvariant(|_, state, event| {
            let NetworkEvent::NoCandidates { call, capability, removed } = event else { return true };
            let (Some(network), Some(required)) = (state.network(), requirements(state, *call)) else {
                return false;
            };
            let (from, tried) = next_attempt(state, network, *call);
            let expected = match expected_node(network, &from, &required, &tried) {
                Some(_) => NoCandidates::default(),
                None => removed_nodes(network, &from, &required, &tried),
            };
            capability.as_ref() == required.required_capabilities.first() && *removed == expected
        }),
        premise: Premise::State(|_, state| {
            let mut pending = state.control().pending_calls().iter();
            pending.any(|call| call.not_made == Some(Failure::NoCandidates))
        }),
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
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| !assignment.is_running())),
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
        premise: Premise::Network(|state, _| runs_remotely(state)),
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
        premise: Premise::Network(|state, _| runs_remotely(state)),
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
        premise: Premise::Network(|state, _| assignments(state).any(Assignment::is_running)),
        ..CLAIM
    },
    Claim {
        id: "C-129",
        clause: "001-6.5",
        statement: "Only pending calls have a node, each at most one. So with the last pending call, every load returned to \
                    its base.",
        formula: "□ (assigned(c, n) ⇒ c ∈ pending ∧ c is to be made ∧ n is the only node of c)",
        check: NetworkInvariant(|state, _| {
            let made = |call: CallId| {
                state.control().pending_call(call).is_some_and(|pending| pending.not_made.is_none())
            };
            assignments(state).all(|assignment| made(assignment.call))
                && assignments(state)
                    .zip(assignments(state).skip(1))
                    .all(|(earlier, later)| earlier.call < later.call)
        }),
        premise: Premise::Network(|state, _| assignments(state).count() > 0),
        ..CLAIM
    },
    Claim {
        id: "C-130",
        clause: "001-1.1",
        statement: "A routing decision reads the connections and beliefs of the node that routes, and what the candidates \
                    publish; not the connections and beliefs of other nodes.",
        formula: "□ (o ≈ o' up to the views of n ≠ from ⇒ routed(o, i) = routed(o', i))",
        check: ResponseInvariant(|_, decide, state| {
            let mut views: BTreeMap<NodeId, State> = BTreeMap::new();
            routing_inputs(state).into_iter().all(|input| {
                let Some((call, from, to)) = events_of(decide, state, &input).as_deref().and_then(routed)
                else {
                    return true;
                };
                let changed = &*views.entry(from.clone()).or_insert_with(|| with_other_views(state, &from));
                let events = events_of(decide, changed, &input);
                // A warning of the same batch can make another view expel a node, which every node sees.
                events.as_deref().is_some_and(|events| {
                    events.iter().any(is_signal) || routed(events) == Some((call, from, to))
                })
            })
        }),
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| !assignment.is_local())),
        ..CLAIM
    },
    Claim {
        id: "C-131",
        clause: "001-7.6",
        statement: "Under the order by score, explicit load moves work away: a node that reports the full load gets no call of \
                    another node while a candidate with a positive score is left. A member keeps the node of its assignment.",
        formula: "□ (order = score ∧ routed(c, n) ∧ n ≠ from ∧ load(n) := 1 ⇒ ¬routed(c, n) ∨ no other candidate scores above 0)",
        check: ResponseInvariant(|_, decide, state| {
            // The other orders do not read the load.
            let is_by_score =
                state.network().is_some_and(|network| network.policy().routing.order == RoutingOrder::Score);
            if !is_by_score {
                return true;
            }
            routing_inputs(state).into_iter().all(|input| {
                let routed_now = events_of(decide, state, &input).as_deref().and_then(routed);
                let Some((_, from, to)) = routed_now.filter(|(_, from, to)| from != to) else {
                    return true;
                };
                let mut loaded = state.clone();
                let load = NetworkInput::ReportLoad { node: to.clone(), load: Some(Score::ONE) };
                loaded.apply(&Event::Network(NetworkEvent::Changed(Box::new(load))));
                let events = events_of(decide, &loaded, &input).unwrap_or_default();
                match routed(&events) {
                    Some((call, _, again)) if again == to => {
                        let mut after = loaded;
                        events.iter().for_each(|event| after.apply(event));
                        let task = after.control().pending_call(call).and_then(|call| call.running_task());
                        let is_assigned = task.is_some_and(|task| {
                            of_request(&after, |request| request.workflow.assigned_node(task).is_some())
                        });
                        if is_assigned {
                            return true;
                        }
                        let others = requirements(&after, call).and_then(|required| {
                            let network = after.network()?;
                            let assignment = network.assignment(call)?;
                            Some(startable_candidates(network, &from, &required, &assignment.tried))
                        });
                        others.is_some_and(|others| {
                            others.iter().all(|(score, node)| *score == 0 || **node == to)
                        })
                    }
                    _ => true,
                }
            })
        }),
        premise: Premise::Network(|state, _| {
            nodes(state).any(|node| node.reported_load == Some(Score::ONE)) && assignments(state).count() > 0
        }),
        ..CLAIM
    },
    Claim {
        id: "C-132",
        clause: "001-11.3",
        statement: "The attempts of a call are numbered from 1, and there is at most one more than the policy's retries.",
        formula: "□ (attempt(c) ≤ max_retries + 1) ∧ □ (attempt(c) = |tried(c)| + 1)",
        check: NetworkInvariant(|_, network| {
            network.assignments().iter().all(|assignment| {
                assignment.attempt <= network.policy().workflow.max_retries.saturating_add(1)
                    && usize::try_from(assignment.attempt) == Ok(assignment.tried.len().saturating_add(1))
            })
        }),
        premise: Premise::Network(|state, _| {
            let retries = state.network().map_or(0, |network| network.policy().workflow.max_retries);
            retries > 0 && assignments(state).any(|assignment| assignment.attempt > retries)
        }),
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
                            !assignment.is_running || !has_effect(*operation)
                        }
                        Failure::Timeout => !assignment.is_running,
                        Failure::NoCandidates
                        | Failure::OverBudget
                        | Failure::OutcomeUnknown
                        | Failure::Forbidden => false,
                    },
                )
            }
            _ => true,
        }),
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| !assignment.tried.is_empty())
        }),
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
                        is_running && (failure == Failure::Timeout || has_effect(call.operation));
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
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| !assignment.is_local())),
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
        premise: Premise::Network(|state, _| {
            assignments(state).any(|assignment| !assignment.tried.is_empty())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-136",
        clause: "decision 0042",
        statement: "The nodes of the pending calls are those that the events determine.",
        formula: "□ (assignments(o) = fold of the events about calls)",
        check: ClaimCheck::HistoryConsistency(|_, past, state| {
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
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| !assignment.is_local())),
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
        premise: Premise::Network(|state, _| assignments(state).any(|assignment| !assignment.is_local())),
        ..CLAIM
    },
];
