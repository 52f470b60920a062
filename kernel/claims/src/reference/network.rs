//! The reference by which claims about the network judge: filters, score, refusals and routes, computed from the nodes themselves
//! (001 §4, §6.3).

use super::plans::{self, node_of_step_before};
use crate::catalogue::of_request;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use orchestrion_kernel::Events;
use orchestrion_kernel::event::{Event, TaskOutcome};
use orchestrion_kernel::ids::{CallId, CapabilityId, NodeId, Text};
use orchestrion_kernel::input::Input;
use orchestrion_kernel::module::{Failure, Module, Operation};
use orchestrion_kernel::network::defense::Signal;
use orchestrion_kernel::network::policy::RoutingOrder;
use orchestrion_kernel::network::routing::{Filter, NoCandidates};
use orchestrion_kernel::network::{
    CapabilityState, HandoffReceipt, HandoffRefusal, NetworkEvent, NetworkInput, Node, NodeStatus,
    Requirements, SignatureStatus,
};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::score::Score;
use orchestrion_kernel::state::{Assignment, NetworkState, StartedTask, State};

/// A call that is routed, with what it requires.
pub(crate) struct Routed<'a> {
    pub(crate) from: &'a NodeId,
    pub(crate) to: &'a NodeId,
    pub(crate) tried: &'a [NodeId],
    pub(crate) requirements: Requirements,
}

pub(crate) fn is_attempt_failed(event: &Event) -> bool {
    matches!(event, Event::Network(NetworkEvent::AttemptFailed { .. }))
}

pub(crate) fn assignments(state: &State) -> impl Iterator<Item = &Assignment> {
    state.network().into_iter().flat_map(|network| network.assignments())
}

pub(crate) fn nodes(state: &State) -> impl Iterator<Item = &Node> {
    state.network().into_iter().flat_map(|network| network.nodes().iter())
}

/// Whether a node executes a call that another node handed to it.
pub(crate) fn runs_remotely(state: &State) -> bool {
    assignments(state).any(|assignment| !assignment.is_local() && assignment.is_running())
}

/// The number of calls of a capability that a node executes.
pub(crate) fn running_tasks(network: &NetworkState, node: &NodeId, capability: &CapabilityId) -> i64 {
    let runs = |assignment: &&Assignment| {
        assignment.is_running() && assignment.to == *node && assignment.capability == *capability
    };
    i64::try_from(network.assignments().iter().filter(runs).count()).unwrap_or(i64::MAX)
}

/// The nodes that the next attempt excludes.
pub(crate) fn tried_after(assignment: &Assignment) -> Vec<NodeId> {
    assignment.tried.iter().chain([&assignment.to]).cloned().collect()
}

pub(crate) fn is_in_network(network: &NetworkState, node: &NodeId) -> bool {
    network.node(node).is_some_and(|node| node.status != NodeStatus::Expelled)
}

/// Whether a condition holds at each of these events about the network, in the state before it.
pub(crate) fn holds_at_each(
    before: &State,
    events: &[Event],
    is_relevant: impl Fn(&NetworkEvent) -> bool,
    holds: impl Fn(&State, &NetworkEvent) -> bool,
) -> bool {
    let is_last = |event: &Event| matches!(event, Event::Network(event) if is_relevant(event));
    let Some(last) = events.iter().rposition(is_last) else { return true };
    let mut state = Cow::Borrowed(before);
    events.iter().enumerate().take(last.saturating_add(1)).all(|(at, event)| {
        let is_right = match event {
            Event::Network(event) => !is_relevant(event) || holds(&state, event),
            _ => true,
        };
        // The state after the last one is not read.
        if at < last {
            state.to_mut().apply(event);
        }
        is_right
    })
}

/// Whether a condition holds for each call that is routed when it is emitted, and for each member that is assigned. A call that
/// goes to the node of its assignment was routed then.
pub(crate) fn holds_at_routing(
    state: &State,
    event: &NetworkEvent,
    holds: impl Fn(&NetworkState, &Routed<'_>) -> bool,
) -> bool {
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
                    plans::task(plan, assigned.task).is_some_and(|task| {
                        let requirements = task_requirements(task.step.requirements.as_deref());
                        let (from, to) = (network.orchestrator(), &assigned.node);
                        holds(network, &Routed { from, to, tried: &[], requirements })
                    })
                })
        }
        _ => true,
    }
}

/// Whether a condition holds for each node that starts a call, in the state before it.
pub(crate) fn holds_at_start(
    state: &State,
    event: &NetworkEvent,
    holds: impl Fn(&Node, &CapabilityId) -> bool,
) -> bool {
    let Some(network) = state.network() else { return true };
    let started = match event {
        NetworkEvent::CallRouted { from, to, capability, .. } if from == to => Some((to, capability)),
        NetworkEvent::HandoffAccepted { call } => {
            network.assignment(*call).map(|assignment| (&assignment.to, &assignment.capability))
        }
        _ => return true,
    };
    started.is_some_and(|(node, capability)| network.node(node).is_some_and(|node| holds(node, capability)))
}

pub(crate) fn task_requirements(declared: Option<&Requirements>) -> Requirements {
    declared.cloned().unwrap_or_else(|| module_requirements(Module::Executor))
}

pub(crate) fn module_requirements(module: Module) -> Requirements {
    Requirements { required_capabilities: Vec::from([module.capability()]), ..Requirements::default() }
}

/// What a pending call requires of its node. A compensation prefers the node that executed the task.
pub(crate) fn requirements(state: &State, call: CallId) -> Option<Requirements> {
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

pub(crate) fn first_capability<'n>(node: &'n Node, required: &Requirements) -> Option<&'n CapabilityState> {
    node.capabilities.get(required.required_capabilities.first()?)
}

pub(crate) const ONE: u32 = 1_000_000;

/// `current_tasks / max_capacity` in millionths, at most 1.
pub(crate) fn capability_load(state: &CapabilityState) -> u32 {
    let tasks = u64::from(state.current_tasks).saturating_mul(ONE.into());
    let load = tasks.checked_div(u64::from(state.capability.max_capacity)).unwrap_or(ONE.into());
    u32::try_from(load).unwrap_or(ONE).min(ONE)
}

pub(crate) fn node_load(node: &Node) -> u32 {
    match node.reported_load {
        Some(load) => load.millionths(),
        None => node.capabilities.values().map(capability_load).max().unwrap_or(0),
    }
}

/// Whether a node passes every filter of a task (001 §4.3, steps 1 and 2), else the first that removes it.
fn check_filters(
    network: &NetworkState,
    node: &Node,
    required: &Requirements,
    tried: &[NodeId],
) -> Result<(), Filter> {
    let pass = |holds: bool, filter| if holds { Ok(()) } else { Err(filter) };
    pass(node.status != NodeStatus::Expelled, Filter::Expelled)?;
    let held = first_capability(node, required).ok_or(Filter::MissingCapability)?;
    let (capability, constraints) = (&held.capability, &required.constraints);
    pass(held.available, Filter::Unavailable)?;
    let is_excluded = constraints.excluded_nodes.contains(&node.id) || tried.contains(&node.id);
    pass(!is_excluded, Filter::Excluded)?;
    let mut others = required.required_capabilities.iter().skip(1);
    let holds_others = !network.policy().routing.all_capabilities
        || others.all(|other| node.capabilities.contains_key(other));
    pass(holds_others, Filter::MissingOtherCapability)?;
    let accepts = |types: &[Text], kind: &Option<Text>| match kind {
        Some(kind) => types.is_empty() || types.contains(kind),
        None => true,
    };
    pass(accepts(&capability.input_types, &required.input_type), Filter::InputType)?;
    pass(accepts(&capability.output_types, &required.output_type), Filter::OutputType)?;
    let is_small = capability.constraints.max_input_size.is_none_or(|max| required.input_size <= max);
    pass(is_small, Filter::InputSize)?;
    let is_in_time = match (constraints.timeout_ms, capability.constraints.timeout_ms) {
        (Some(allowed), Some(needed)) => needed <= allowed,
        (None, _) | (_, None) => true,
    };
    pass(is_in_time, Filter::Timeout)?;
    pass(node.trust >= constraints.min_trust, Filter::MinTrust)?;
    pass(held.quality >= constraints.min_quality, Filter::MinQuality)
}

/// Whether a node passes every filter of a task.
pub(crate) fn passes(network: &NetworkState, node: &Node, required: &Requirements, tried: &[NodeId]) -> bool {
    check_filters(network, node, required, tried).is_ok()
}

/// How many nodes each filter removes, where no node can get a call, and the last of these filters.
pub(crate) fn removed_nodes(
    network: &NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> NoCandidates {
    let mut found = NoCandidates::default();
    for node in network.nodes().iter() {
        let filter = if node.id == *from && network.policy().routing.local_preference {
            Filter::RoutingNode
        } else {
            // A routing node that passes has no room: it is tried, and refuses.
            check_filters(network, node, required, tried).err().unwrap_or(Filter::Excluded)
        };
        let count = found.removed.entry(filter).or_insert(0);
        *count = count.saturating_add(1);
        found.emptied_by = found.emptied_by.max(Some(filter));
    }
    found
}

/// The candidates with their exact scores (001 §4.1), in the order of ids.
pub(crate) fn candidates<'n>(
    network: &'n NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> Vec<(u128, &'n NodeId)> {
    let competes = |node: &&Node| node.id != *from || !network.policy().routing.local_preference;
    let passing =
        network.nodes().iter().filter(competes).filter(|node| passes(network, node, required, tried));
    passing.filter_map(|node| score(network, from, required, node)).collect()
}

/// What a node is compared by, as another one sees it: the exact score (001 §4.1), or what the policy names instead.
pub(crate) fn score<'n>(
    network: &NetworkState,
    from: &NodeId,
    required: &Requirements,
    node: &'n Node,
) -> Option<(u128, &'n NodeId)> {
    let (policy, view) = (network.policy(), network.node(from));
    let held = first_capability(node, required)?;
    let connection = view.and_then(|view| view.connections.get(&node.id));
    let weight = connection.map_or(policy.connection.initial_weight, |connection| connection.weight);
    let belief = view.and_then(|view| view.threat_beliefs.get(&node.id));
    let threat = belief.map_or(0, |belief| belief.level.millionths());
    let is_preferred = required.constraints.preferred_nodes.contains(&node.id);
    let bonus = if is_preferred { policy.routing.preference_bonus.millionths() } else { ONE };
    let interactions = connection.map_or(0, |connection| connection.interactions);
    match policy.routing.order {
        RoutingOrder::Score => {}
        RoutingOrder::Quality => return Some((held.quality.millionths().into(), &node.id)),
        RoutingOrder::RoundRobin => return Some((ONE.saturating_sub(interactions).into(), &node.id)),
    }
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
}

/// The candidates that can start the call. The routing node would start it at once, so it needs room; another node refuses at the
/// handoff.
pub(crate) fn startable_candidates<'n>(
    network: &'n NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> Vec<(u128, &'n NodeId)> {
    let routing_node_has_room =
        || network.node(from).is_some_and(|node| has_room_for(network, node, required));
    let can_start = |(_, id): &(u128, &NodeId)| *id != from || routing_node_has_room();
    candidates(network, from, required, tried).into_iter().filter(can_start).collect()
}

/// Whether a node offers the first capability that a call requires, and it is not overloaded.
fn has_room_for(network: &NetworkState, node: &Node, required: &Requirements) -> bool {
    first_capability(node, required).is_some_and(|held| has_room(network, held))
}

/// Whether a capability is not overloaded (001 §6.3).
fn has_room(network: &NetworkState, held: &CapabilityState) -> bool {
    capability_load(held) <= network.policy().routing.overload_above.millionths()
}

/// The node that gets a call, by 001 §4.2 and §4.3.
pub(crate) fn expected_node<'n>(
    network: &'n NetworkState,
    from: &NodeId,
    required: &Requirements,
    tried: &[NodeId],
) -> Option<&'n NodeId> {
    let is_local = |node: &&Node| {
        let offers = |capability| node.capabilities.get(capability).is_some_and(|held| held.available);
        network.policy().routing.local_preference
            && passes(network, node, required, tried)
            && required.required_capabilities.iter().all(offers)
            && has_room_for(network, node, required)
    };
    if let Some(node) = network.node(from).filter(is_local) {
        return Some(&node.id);
    }
    let best = startable_candidates(network, from, required, tried);
    best.into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, node)| node)
}

/// Whether another attempt of a pending call may start: no task does after the outcome of one is unknown, or while the plan is
/// outdated (decision 0040).
pub(crate) fn can_start_again(policy: &Policy, state: &State, call: CallId) -> bool {
    let is_task = state.control().pending_call(call).is_some_and(|call| call.running_task().is_some());
    let lost = TaskOutcome::NoResult(Failure::OutcomeUnknown);
    !is_task
        || of_request(state, |request| {
            let is_outdated = policy.rules.current_facts && request.debate.outdated;
            !is_outdated && !request.outcomes.iter().any(|ended| ended.outcome == lost)
        })
}

/// The node from whose view a new call is routed.
fn routing_node(state: &State, network: &NetworkState, call: CallId) -> NodeId {
    let before =
        state.control().pending_call(call).and_then(|call| node_of_step_before(state, call.operation));
    let before = before.filter(|node| is_in_network(network, node));
    before.unwrap_or_else(|| network.orchestrator().clone())
}

/// The node from whose view the next attempt of a call is routed, and the nodes that were tried. It is that of the last attempt, while it
/// is in the network.
pub(crate) fn next_attempt(state: &State, network: &NetworkState, call: CallId) -> (NodeId, Vec<NodeId>) {
    let last = network.assignment(call);
    let from = last.map(|last| &last.from).filter(|from| is_in_network(network, from)).cloned();
    (from.unwrap_or_else(|| routing_node(state, network, call)), last.map(tried_after).unwrap_or_default())
}

/// Handoffs to try in a state: of each pending call and of a call that was never sent, signed and forged, with the right and with
/// other ends.
pub(crate) fn receipts(state: &State, network: &NetworkState) -> Vec<HandoffReceipt> {
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
pub(crate) fn expected_refusal(network: &NetworkState, receipt: &HandoffReceipt) -> Option<HandoffRefusal> {
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
    (!has_room(network, held)).then_some(HandoffRefusal::Overloaded)
}

/// Whether the kernel accepts or refuses a handoff as expected. A handoff that is forged or not expected has no other effect.
pub(crate) fn is_judged_rightly(
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
pub(crate) fn routing_inputs(state: &State) -> Vec<Input> {
    if state.network().is_none() {
        return Vec::new();
    }
    let lost = assignments(state)
        .map(|assignment| Input::CallFailed { call: assignment.call, failure: Failure::Error });
    [Input::Step].into_iter().chain(lost).collect()
}

/// The events of an input, if the kernel accepts it.
pub(crate) fn events_of(decide: &crate::Decide<'_>, state: &State, input: &Input) -> Option<Events> {
    decide(state, input).ok()
}

/// The call that these events route, with the node that routes and the node that gets it.
pub(crate) fn routed(events: &[Event]) -> Option<(CallId, NodeId, NodeId)> {
    events.iter().find_map(|event| match event {
        Event::Network(NetworkEvent::CallRouted { call, from, to, .. }) => {
            Some((*call, from.clone(), to.clone()))
        }
        _ => None,
    })
}

/// Whether a node receives a signal.
pub(crate) const fn is_signal(event: &Event) -> bool {
    matches!(event, Event::Network(NetworkEvent::SignalReceived { .. }))
}

/// The state in which every other node than this one believes that all others are threats, and has cut the connections to them.
pub(crate) fn with_other_views(state: &State, routing: &NodeId) -> State {
    let mut changed = state.clone();
    let ids: Vec<NodeId> = nodes(state).map(|node| node.id.clone()).collect();
    for receiver in nodes(state).filter(|node| node.id != *routing) {
        for subject in ids.iter().filter(|subject| **subject != receiver.id) {
            // More of a belief that another origin confirmed could expel the subject.
            let belief = receiver.threat_beliefs.get(subject);
            if belief.is_some_and(|belief| belief.is_confirmed) {
                continue;
            }
            let first = belief.and_then(|belief| belief.first_origin.clone());
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
