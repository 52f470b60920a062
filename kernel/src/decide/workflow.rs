//! The run of a plan as a workflow: assignment of members, validation, aggregation (001 §5, §8, §9; decision 0042).

use super::batch::Batch;
use super::guards::ended_task;
use super::routing::{find_node, requirements_of_module};
use crate::control::phase::Phase;
use crate::control::transition::Transition;
use crate::control::trigger::Trigger;
use crate::event::{Event, TaskOutcome};
use crate::ids::{NodeId, TaskId, Text};
use crate::input::Input;
use crate::item::ItemKey;
use crate::module::Module;
use crate::network::aggregation::{Aggregate, AggregateAnswer, MemberResult, aggregate};
use crate::network::{
    AssignedStep, NetworkEvent, Requirements, TrustPolicy, WorkflowGuard, WorkflowStatus, WorkflowTrigger,
    route_ensemble, workflow_transition,
};
use crate::plan::{Aggregation, EffectKind, Plan, Task, WorkflowType};
use crate::score::Score;
use crate::state::{Call, NetworkState, Request, State};
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl Batch<'_> {
    /// Routes the members of the plan when its run starts. Returns the member that cannot be routed.
    pub(super) fn assign_members(&mut self) -> Option<TaskId> {
        let (network, request) = (self.network.clone()?, self.control.request()?);
        let plan = request.plan.as_ref()?.plan.clone();
        let aggregation = *plan.aggregation()?;
        let has_started = !request.outcomes.is_empty() || !request.workflow.assigned.is_empty();
        if has_started || !self.control.pending_calls().is_empty() {
            return None;
        }
        let (event, unroutable) = match assign(&network, &plan, &aggregation) {
            Ok((assigned, left_out)) => (NetworkEvent::StepsAssigned { assigned, left_out }, None),
            Err(task) => (NetworkEvent::StepsUnroutable { task }, Some(task)),
        };
        self.emit(Event::Network(event));
        unroutable
    }

    /// Emits what follows for the workflow when a task ended.
    pub(super) fn end_step(&mut self, task: TaskId) {
        let Some(request) = self.control.request() else { return };
        let events = workflow_events(request, self.network.as_deref(), self.control.pending_calls(), task);
        for event in events {
            let answer = if let NetworkEvent::ResultsAggregated { aggregate } = &event {
                Some(answer_text(aggregate))
            } else {
                None
            };
            self.emit(Event::Network(event));
            if let (Some(answer), Some(id)) = (answer, self.control.request().map(|request| request.id)) {
                self.upsert_request_item(ItemKey::Aggregate(id), answer);
            }
        }
    }

    /// Emits the end of a run, when a row leaves it.
    pub(super) fn end_workflow(&mut self, row: &Transition) {
        let (Some(network), Some(request)) = (&self.network, self.control.request()) else { return };
        let from = self.state.control().phase();
        let is_open = from == Phase::RunningTasks || is_review(from) && request.is_run_interrupted();
        if !is_open || row.to == Phase::RunningTasks || is_review(row.to) {
            return;
        }
        let trigger =
            if row.on == Trigger::Cancel { WorkflowTrigger::Cancel } else { WorkflowTrigger::StepsEnded };
        let taken = workflow_transition(WorkflowStatus::Running, trigger, |guard| match guard {
            WorkflowGuard::Always => true,
            // A run that is left for another phase is rolled back.
            WorkflowGuard::Succeeded => row.to == Phase::AssertingOutcomes && request.is_completed(),
        });
        let status = taken.map_or(WorkflowStatus::Failed, |row| row.to);
        let lineage: Vec<NodeId> = request.workflow.lineage.iter().cloned().collect();
        let is_sequential =
            request.plan.as_ref().is_some_and(|plan| plan.plan.workflow_type() == WorkflowType::Sequential);
        let mut return_path: Vec<NodeId> =
            if is_sequential { lineage.iter().rev().cloned().collect() } else { Vec::new() };
        return_path.push(network.orchestrator().clone());
        return_path.dedup();
        self.emit(Event::Network(NetworkEvent::WorkflowEnded { status, lineage, return_path }));
    }
}

/// Whether the plan of an interrupted run, or a repaired plan, is reviewed in this phase.
const fn is_review(phase: Phase) -> bool {
    matches!(phase, Phase::RepairReview | Phase::RepairScoring | Phase::RepairApproval)
}

/// Returns the nodes of the members, and the members that are left out; or the member that cannot be routed.
fn assign(
    network: &NetworkState,
    plan: &Plan,
    aggregation: &Aggregation,
) -> Result<(Vec<AssignedStep>, Vec<TaskId>), TaskId> {
    let members: Vec<&Task> = plan.members().collect();
    let from = network.orchestrator();
    if !aggregation.is_ensemble {
        let assigned = members.iter().map(|task| {
            let node = find_node(network, from, &requirements_of(task), &[]).map_err(|_| task.id)?;
            Ok(AssignedStep { task: task.id, node })
        });
        return Ok((assigned.collect::<Result<_, _>>()?, Vec::new()));
    }
    let Some(first) = members.first() else { return Ok((Vec::new(), Vec::new())) };
    let size = u32::try_from(members.len()).unwrap_or(u32::MAX);
    let ensemble = route_ensemble(network.policy(), network.nodes(), from, &requirements_of(first), size)
        .map_err(|_| first.id)?;
    let nodes = ensemble.members.into_iter().map(|member| member.node);
    let assigned: Vec<AssignedStep> =
        members.iter().zip(nodes).map(|(task, node)| AssignedStep { task: task.id, node }).collect();
    let left_out = members.iter().skip(assigned.len()).map(|task| task.id).collect();
    Ok((assigned, left_out))
}

/// What a task requires of a node that executes it.
pub(super) fn requirements_of(task: &Task) -> Requirements {
    let declared = task.step.requirements.as_deref();
    declared.cloned().unwrap_or_else(|| requirements_of_module(Module::Executor))
}

/// Returns the request after an input that ends a task, if this has effects on other tasks; none if it has not.
pub(super) fn request_after(
    state: &State,
    request: &Request,
    input: &Input,
) -> Option<(Arc<Request>, Vec<Call>)> {
    let ended = ended_task(state, input)?;
    let plan = &request.plan.as_ref()?.plan;
    let task = plan.task(ended.task)?;
    if plan.aggregation().is_none() && task.step.validates.is_none() {
        return None;
    }
    let answered = state.control().answered_call(input)?;
    let (call, module) = (answered.id, answered.operation.module());
    let event = match input {
        Input::Reply { report, .. } => Event::ToolResult { module, call, report: report.clone() },
        Input::CallFailed { failure, .. } => Event::CallFailed { module, call, failure: *failure },
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Step
        | Input::Cancel
        | Input::Write(_)
        | Input::Network(_)
        | Input::Tick
        | Input::Resume => return None,
    };
    let mut after = Arc::new(request.clone());
    Request::apply(&mut after, &event, state.control().pending_calls());
    let pending: Vec<Call> =
        state.control().pending_calls().iter().filter(|pending| pending.id != call).copied().collect();
    for event in workflow_events(&after, state.network(), &pending, ended.task) {
        Request::apply(&mut after, &Event::Network(event), &pending);
    }
    Some((after, pending))
}

/// Returns the events that follow when a task ended, whose outcome the request has. `pending` has no call of the task.
fn workflow_events(
    request: &Request,
    network: Option<&NetworkState>,
    pending: &[Call],
    task: TaskId,
) -> Vec<NetworkEvent> {
    let validation = failed_validation(request, network, pending, task);
    let aggregation = if validation.is_none() { aggregate_members(request, network) } else { None };
    validation.into_iter().chain(aggregation).collect()
}

/// A validation that failed repeats its task and what depends on that, if this is allowed.
fn failed_validation(
    request: &Request,
    network: Option<&NetworkState>,
    pending: &[Call],
    task: TaskId,
) -> Option<NetworkEvent> {
    let plan = &request.plan.as_ref()?.plan;
    let validates = plan.task(task)?.step.validates?;
    let max_retries = trust_policy(network).workflow.max_retries;
    let Some(TaskOutcome::Exited(_)) = request.outcome(task) else { return None };
    // After an unknown outcome no task starts, so that none is repeated either (decision 0015).
    if request.workflow.failed_validations(task) >= max_retries || request.has_unknown_outcome() {
        return None;
    }
    let mut repeated = BTreeSet::from([validates]);
    for (task, dependencies) in plan.dependencies() {
        if dependencies.iter().any(|dependency| repeated.contains(dependency)) {
            repeated.insert(task.id);
        }
    }
    let repeated: Vec<&Task> = plan.tasks().iter().filter(|task| repeated.contains(&task.id)).collect();
    let is_pending = |task: &Task| pending.iter().any(|call| call.running_task() == Some(task.id));
    let is_left_out = |task: &Task| request.outcome(task.id) == Some(TaskOutcome::NotRun);
    let can_repeat =
        |task: &&Task| task.effect.kind() == EffectKind::Pure && !is_pending(task) && !is_left_out(task);
    repeated.iter().all(can_repeat).then(|| NetworkEvent::ValidationFailed {
        task,
        repeated: repeated.iter().map(|task| task.id).collect(),
    })
}

/// The members whose results were not aggregated become one answer once all have ended.
fn aggregate_members(request: &Request, network: Option<&NetworkState>) -> Option<NetworkEvent> {
    let plan = &request.plan.as_ref()?.plan;
    let aggregation = plan.aggregation()?;
    if request.workflow.is_aggregated.is_some() {
        return None;
    }
    let mut has_failures = false;
    for member in plan.members() {
        has_failures |= request.outcome(member.id)? != TaskOutcome::Succeeded;
    }
    if (has_failures && !aggregation.allows_failures()) || request.workflow.answers.is_empty() {
        return None;
    }
    let policy = trust_policy(network);
    let result = |answer: &crate::state::MemberAnswer| {
        let task = plan.task(answer.task);
        let id = request.started(answer.task).and_then(|started| started.node.as_ref());
        let node = id.and_then(|id| network?.node(id));
        // Without a network every answer weighs the same; a node that left is unknown.
        let unknown = match id {
            None => (Score::ONE, Score::ONE),
            Some(_) => (policy.convergence.unknown_trust, policy.start.capability_quality),
        };
        let capability = task.and_then(|task| requirements_of(task).required_capabilities.first().cloned());
        let state = node.zip(capability).and_then(|(node, capability)| node.capabilities.get(&capability));
        MemberResult {
            node: id.cloned().unwrap_or_else(|| NodeId::new("orchestrator")),
            answer: answer.text.clone(),
            number: answer.number,
            trust: node.map_or(unknown.0, |node| node.trust),
            quality: state.map_or(unknown.1, |state| state.quality),
        }
    };
    let results: Vec<MemberResult> = request.workflow.answers.iter().map(result).collect();
    let aggregate = aggregate(&policy.convergence, aggregation.strategy, &results, aggregation.criticality);
    Some(match aggregate {
        Ok(aggregate) => NetworkEvent::ResultsAggregated { aggregate },
        Err(error) => NetworkEvent::AggregationFailed { error },
    })
}

fn trust_policy(network: Option<&NetworkState>) -> TrustPolicy {
    network.map_or_else(TrustPolicy::default, |network| *network.policy())
}

/// The answer as a text.
fn answer_text(aggregate: &Aggregate) -> Text {
    match &aggregate.answer {
        AggregateAnswer::Text(text) => text.clone(),
        AggregateAnswer::Number(number) => number.to_string().into(),
    }
}
