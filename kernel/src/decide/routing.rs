//! The nodes that execute calls: routing, attempts, and the interactions at their end (001 §4, §10.2, §11.3; decision 0042).

use super::batch::Batch;
use super::workflow::requirements_of;
use crate::event::{Event, Events};
use crate::ids::{CallId, CapabilityId, NodeId, Text};
use crate::input::Input;
use crate::knowledge::compaction;
use crate::module::{Failure, Module, Operation, Report};
use crate::network::{
    Contribution, Exchange, Feedback, InteractionReport, Millionths, NetworkEvent, NodeInteraction,
    NodeStatus, Requirements, RoutingResult, StepGuard, StepStatus, StepTrigger, route, step_transition,
};
use crate::plan::{Task, WorkflowType};
use crate::policy::Policy;
use crate::score::Score;
use crate::state::{Assignment, NetworkState, Request, State};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Returns the events of a failed attempt after which the next-best node is tried; none if the failure is that of the call.
pub(super) fn decide_next_best(policy: &Policy, state: &State, input: &Input) -> Option<Events> {
    let Input::CallFailed { call, failure } = input else { return None };
    let assignment = state.network()?.assignment(*call)?.clone();
    let mut batch = Batch::new(policy, state);
    batch.repeat(&assignment, *failure).then(|| batch.into_events())
}

/// What the outcome of an attempt means for its step. A timeout before the handoff was accepted is a lost handoff.
const fn step_trigger(failure: Failure, is_running: bool) -> StepTrigger {
    match failure {
        Failure::Timeout | Failure::OutcomeUnknown if is_running => StepTrigger::Timeout,
        Failure::Error
        | Failure::Timeout
        | Failure::Malformed
        | Failure::NoCandidates
        | Failure::OverBudget
        | Failure::OutcomeUnknown
        | Failure::Forbidden => StepTrigger::Error,
    }
}

/// Whether an attempt with this failure certainly had no effect that a repetition could double.
const fn is_repeatable(operation: Operation, failure: Failure, is_running: bool) -> bool {
    match failure {
        Failure::Error | Failure::Malformed => !is_running || !operation.is_effectful(),
        Failure::Timeout => !is_running,
        // A claim forbids the call on every node.
        Failure::NoCandidates | Failure::OverBudget | Failure::OutcomeUnknown | Failure::Forbidden => false,
    }
}

impl Batch<'_> {
    /// Emits which node executes a call that was just emitted. Without a network the orchestrator does.
    pub(super) fn route_call(&mut self, call: CallId, operation: Operation, earlier: Option<&Assignment>) {
        let Some(network) = self.network.clone() else { return };
        let requirements = self.requirements(operation);
        let tried: Vec<NodeId> = earlier.iter().flat_map(|earlier| earlier.nodes_after()).collect();
        let attempt = earlier.map_or(1, |earlier| earlier.attempt.saturating_add(1));
        let from = self.routing_node(&network, operation, earlier);
        let capability = requirements.required_capabilities.first().cloned();
        let assigned = self.assigned_node(operation).filter(|_| earlier.is_none());
        let result = match assigned.filter(|node| can_get(&network, &from, node, capability.as_ref())) {
            Some(node) => Ok(node),
            None => find_node(&network, &from, &requirements, &tried),
        };
        self.emit(Event::Network(match (result, capability) {
            (Ok(to), Some(capability)) => {
                NetworkEvent::CallRouted { call, from, to, capability, attempt, tried }
            }
            (Ok(_), None) => {
                NetworkEvent::NoCandidates { call, capability: None, removed: Default::default() }
            }
            (Err(removed), capability) => NetworkEvent::NoCandidates { call, capability, removed },
        }));
    }

    /// What a call requires of the node that executes it.
    fn requirements(&self, operation: Operation) -> Requirements {
        let request = self.control.request();
        let started = operation.task().and_then(|task| request?.started(task));
        let version = started.and_then(|started| started.version.as_ref());
        let mut requirements =
            version.map_or_else(|| requirements_of_module(operation.module()), requirements_of);
        if let (Operation::UndoTask { .. }, Some(node)) =
            (operation, started.and_then(|started| started.node.clone()))
        {
            requirements.constraints.preferred_nodes.push(node);
        }
        requirements
    }

    /// The node from whose view a call is routed: the orchestrator; in a sequential plan the node that executed the task before.
    fn routing_node(
        &self,
        network: &NetworkState,
        operation: Operation,
        earlier: Option<&Assignment>,
    ) -> NodeId {
        if let Some(earlier) = earlier.filter(|earlier| is_member(network, &earlier.from)) {
            return earlier.from.clone();
        }
        let before = self.control.request().and_then(|request| node_of_task_before(request, operation));
        before.filter(|node| is_member(network, node)).unwrap_or_else(|| network.orchestrator().clone())
    }

    /// The node that a member of the plan was assigned when the run started.
    fn assigned_node(&self, operation: Operation) -> Option<NodeId> {
        let Operation::RunTask { task, .. } = operation else { return None };
        self.control.request()?.workflow.assigned_node(task).cloned()
    }

    /// Repeats a refused handoff with the next-best node; without one, the call cannot be made.
    pub(super) fn repeat_refused(&mut self, call: CallId) {
        let Some(assignment) = self.network.as_ref().and_then(|network| network.assignment(call)).cloned()
        else {
            return;
        };
        if self.repeat(&assignment, Failure::Error) {
            return;
        }
        let Some(operation) = self.control.pending_call(call).map(|pending| pending.operation) else {
            return;
        };
        let Some(network) = self.network.clone() else { return };
        let tried = assignment.nodes_after().collect::<Vec<_>>();
        let from = self.routing_node(&network, operation, Some(&assignment));
        let removed =
            find_node(&network, &from, &self.requirements(operation), &tried).err().unwrap_or_default();
        let capability = Some(assignment.capability);
        self.emit(Event::Network(NetworkEvent::NoCandidates { call, capability, removed }));
    }

    /// Repeats a failed attempt with the next-best node, if the step machine allows it. Returns whether it did.
    fn repeat(&mut self, assignment: &Assignment, failure: Failure) -> bool {
        let (Some(network), Some(pending)) =
            (self.network.clone(), self.control.pending_call(assignment.call))
        else {
            return false;
        };
        let operation = pending.operation;
        let tried: Vec<NodeId> = assignment.nodes_after().collect();
        let from = self.routing_node(&network, operation, Some(assignment));
        let is_running = assignment.is_running();
        let row =
            step_transition(assignment.status, step_trigger(failure, is_running), |guard| match guard {
                StepGuard::Always => true,
                // Its call was emitted, so every dependency succeeded.
                StepGuard::DependenciesMissing => false,
                StepGuard::RetriesLeft => {
                    assignment.attempt <= network.policy().workflow.max_retries
                        && self.can_start(operation)
                        && is_repeatable(operation, failure, is_running)
                        && find_node(&network, &from, &self.requirements(operation), &tried).is_ok()
                }
            });
        if row.is_none_or(|row| row.to != StepStatus::Ready) {
            return false;
        }
        let (module, call) = (operation.module(), assignment.call);
        self.emit(Event::Network(NetworkEvent::AttemptFailed { module, call, failure }));
        if is_running {
            self.exchange(assignment, operation, Some(failure), None);
        }
        self.emit_attempt(operation, Some(assignment));
        true
    }

    /// Whether a call with this operation can start now: no task does after the outcome of another one is unknown, or while the plan
    /// is outdated (decision 0040).
    fn can_start(&self, operation: Operation) -> bool {
        let Operation::RunTask { .. } = operation else { return true };
        self.control.request().is_some_and(|request| {
            let is_outdated = self.policy.rules.current_facts && request.debate.outdated;
            !request.has_unknown_outcome() && !is_outdated
        })
    }

    /// Emits the interaction of a call that ended, if a node executed it.
    pub(super) fn end_attempt(
        &mut self,
        call: CallId,
        operation: Operation,
        failure: Option<Failure>,
        reply: Option<(&Report, &InteractionReport)>,
    ) {
        if let Some(assignment) = self.state.network().and_then(|network| network.assignment(call)) {
            self.exchange(assignment, operation, failure, reply);
        }
    }

    /// Emits the interaction of a call that its node executed: with the reply's judgement, or that of a failure. Then the signals
    /// that follow.
    pub(super) fn exchange(
        &mut self,
        assignment: &Assignment,
        operation: Operation,
        failure: Option<Failure>,
        reply: Option<(&Report, &InteractionReport)>,
    ) {
        let counts = match failure {
            None | Some(Failure::Error | Failure::Timeout | Failure::Malformed) => true,
            Some(
                Failure::NoCandidates | Failure::OverBudget | Failure::OutcomeUnknown | Failure::Forbidden,
            ) => false,
        };
        let Some(network) = self.network.clone().filter(|_| counts && assignment.is_running()) else {
            return;
        };
        let policy = network.policy();
        let quality = |feedback: &Feedback| feedback.quality(&policy.feedback);
        let unrated_task = Score::from_millionths(500_000).unwrap_or(Score::ZERO);
        let (judged, result_tokens) = match reply {
            Some((report, judged)) => (*judged, report_tokens(report)),
            None => (InteractionReport::default(), 0),
        };
        let task_tokens = self.task_tokens(operation);
        let exchange = Exchange {
            at: self.state.now(),
            sender: assignment.from.clone(),
            receiver: assignment.to.clone(),
            capability: assignment.capability.clone(),
            task: Contribution {
                quality: judged.task_feedback.as_ref().map_or(unrated_task, quality),
                is_rated: judged.task_feedback.is_some(),
                tone: judged.task_tone,
                tokens: whole(task_tokens),
            },
            result: Contribution {
                quality: match failure {
                    Some(_) => Score::ZERO,
                    None => quality(&judged.feedback.unwrap_or_default()),
                },
                is_rated: failure.is_some() || judged.feedback.is_some(),
                tone: judged.tone,
                tokens: whole(result_tokens),
            },
            volume: thousandths(task_tokens.saturating_add(result_tokens)),
        };
        let outcome = network.nodes().clone().record_exchange(policy, &exchange);
        self.emit(Event::Network(NetworkEvent::Exchanged(Box::new(exchange))));
        let ends = [
            (outcome.sender, &assignment.from, &assignment.to),
            (outcome.receiver, &assignment.to, &assignment.from),
        ];
        let mut signals = VecDeque::new();
        for (effects, node, partner) in ends {
            let Some(NodeInteraction { connection, signal, .. }) = effects else { continue };
            if connection.is_affirmation {
                let (node, partner) = (node.clone(), partner.clone());
                self.emit(Event::Network(NetworkEvent::Affirmed { node, partner }));
            }
            signals.extend(signal.iter().flat_map(|signal| self.address_signal(signal)));
        }
        self.deliver_signals(signals);
    }

    /// The tokens of a call: those of its payload, else of the message.
    fn task_tokens(&self, operation: Operation) -> u64 {
        let Some(request) = self.control.request() else { return 0 };
        let payload = request.payload_text(operation);
        tokens(payload.as_deref().unwrap_or(request.text.as_str()))
    }
}

impl Assignment {
    /// The nodes that the next attempt excludes.
    fn nodes_after(&self) -> impl Iterator<Item = NodeId> {
        self.tried.iter().chain([&self.to]).cloned()
    }
}

/// Routes from a node, without the nodes of earlier attempts.
pub(super) fn find_node(
    network: &NetworkState,
    from: &NodeId,
    requirements: &Requirements,
    tried: &[NodeId],
) -> Result<NodeId, crate::network::routing::NoCandidates> {
    let mut requirements = requirements.clone();
    requirements.constraints.excluded_nodes.extend(tried.iter().cloned());
    let capability = requirements.required_capabilities.first().cloned();
    match route(network.policy(), network.nodes(), from, &requirements) {
        RoutingResult::Local if can_get(network, from, from, capability.as_ref()) => Ok(from.clone()),
        // It competes with the others and is overloaded: it refuses, as another node would at the handoff.
        RoutingResult::Local => {
            let refused: Vec<NodeId> = tried.iter().chain([from]).cloned().collect();
            find_node(network, from, &requirements, &refused)
        }
        RoutingResult::Selected(candidate) => Ok(candidate.node),
        RoutingResult::NoCandidates(removed) => Err(removed),
    }
}

/// Whether a node can get a call now. The routing node starts its own call at once, so it must offer the capability and not be
/// overloaded; another node checks this at the handoff.
fn can_get(network: &NetworkState, from: &NodeId, node: &NodeId, capability: Option<&CapabilityId>) -> bool {
    network.node(node).is_some_and(|state| {
        let is_accepted = |capability| state.check_handoff(&network.policy().routing, capability).is_ok();
        node != from || capability.is_some_and(is_accepted)
    })
}

/// What a call of a module requires of the node that executes it.
pub(super) fn requirements_of_module(module: Module) -> Requirements {
    Requirements { required_capabilities: Vec::from([module.capability()]), ..Requirements::default() }
}

fn is_member(network: &NetworkState, node: &NodeId) -> bool {
    network.node(node).is_some_and(|node| node.status != NodeStatus::Expelled)
}

/// The node that executed the task before, in a sequential plan.
fn node_of_task_before(request: &Request, operation: Operation) -> Option<NodeId> {
    let Operation::RunTask { task, .. } = operation else { return None };
    let plan = &request.plan.as_ref()?.plan;
    if plan.workflow_type() != WorkflowType::Sequential {
        return None;
    }
    let before = plan.tasks().get(plan.position(task)?.checked_sub(1)?)?;
    request.started(before.id)?.node.clone()
}

fn tokens(text: &str) -> u64 {
    u64::try_from(compaction::estimate_tokens(text)).unwrap_or(u64::MAX)
}

/// The tokens of the texts of a report.
fn report_tokens(report: &Report) -> u64 {
    let plan_tokens =
        |tasks: &[Task]| tasks.iter().map(|task| tokens(task.text.as_str())).fold(0, u64::saturating_add);
    let plan = report.plan().map_or(0, |plan| plan_tokens(plan.tasks()));
    let text = |text: &Text| tokens(text.as_str());
    let other = match report {
        Report::Identity { .. } | Report::Plan(_) | Report::Stored { .. } | Report::Delivered => 0,
        Report::Context { traces, .. } => {
            traces.iter().map(|past| text(&past.text)).fold(0, u64::saturating_add)
        }
        Report::Classification { tags, .. } => tags.iter().map(text).fold(0, u64::saturating_add),
        Report::Summary { text: summary, .. } => text(summary),
        Report::Argument { text: argument, .. } => text(argument),
        Report::Approval { text: reason, .. } => text(reason),
        Report::Repaired { text: diagnosis, .. } | Report::NoRepair { text: diagnosis } => text(diagnosis),
        Report::Exit { text: output, .. } => text(output),
    };
    plan.saturating_add(other)
}

/// A whole number as millionths.
fn whole(number: u64) -> Millionths {
    Millionths::new(i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(1_000_000))
}

/// A thousandth of a number, in millionths.
fn thousandths(number: u64) -> Millionths {
    Millionths::new(i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(1_000))
}
