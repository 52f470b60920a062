//! Plans: dependencies, members, scope, effects of operations (decisions 0037, 0040, 0042; 001 §5).

use super::items::reads;
use alloc::vec::Vec;
use orchestrion_kernel::event::{EffectOutcome, StoreStatus, TaskRecord};
use orchestrion_kernel::ids::{NodeId, TaskId};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Operation};
use orchestrion_kernel::network::aggregation::AggregationStrategy;
use orchestrion_kernel::plan::{Aggregation, EffectKind, Plan, Task};
use orchestrion_kernel::state::{Request, StartedTask, State};

/// The tasks with their dependencies: those that a task declares, else the task before it.
pub(crate) fn dependencies(plan: &Plan) -> Vec<(&Task, Vec<TaskId>)> {
    let mut before = None;
    let mut tasks = Vec::new();
    for task in plan.tasks() {
        tasks.push((task, task.depends_on.clone().unwrap_or_else(|| before.into_iter().collect())));
        before = Some(task.id);
    }
    tasks
}

/// The dependencies of a task that are readable in its scope: of those that it declares, else the last task before it. A task without
/// a scope runs in that of the request (decision 0037).
pub(crate) fn readable_dependencies(plan: &Plan, task: &Task, of_request: &Scope) -> Vec<TaskId> {
    fn scope<'a>(task: &'a Task, of_request: &'a Scope) -> &'a Scope {
        task.scope.as_ref().unwrap_or(of_request)
    }
    let own = scope(task, of_request);
    let is_readable = |other: &Task| reads(own, scope(other, of_request));
    let before = plan.tasks().iter().take_while(|other| other.id != task.id);
    let readable: Vec<TaskId> = before.filter(|other| is_readable(other)).map(|other| other.id).collect();
    match &task.depends_on {
        Some(declared) => declared.iter().copied().filter(|id| readable.contains(id)).collect(),
        None => readable.last().copied().into_iter().collect(),
    }
}

/// The tasks whose results become one: those without dependencies, in a plan with an aggregation.
pub(crate) fn members(plan: &Plan) -> Vec<&Task> {
    if plan.aggregation().is_none() {
        return Vec::new();
    }
    let all = dependencies(plan).into_iter();
    all.filter(|(_, dependencies)| dependencies.is_empty()).map(|(task, _)| task).collect()
}

/// Whether a task is a member.
pub(crate) fn is_member(plan: &Plan, task: TaskId) -> bool {
    members(plan).iter().any(|member| member.id == task)
}

/// The task with this number.
pub(crate) fn task(plan: &Plan, id: TaskId) -> Option<&Task> {
    plan.tasks().iter().find(|task| task.id == id)
}

/// Whether the run succeeds although members failed: those of an ensemble, and with the strategy of best effort.
pub(crate) const fn allows_failures(aggregation: &Aggregation) -> bool {
    aggregation.is_ensemble
        || match aggregation.strategy {
            AggregationStrategy::BestEffort => true,
            AggregationStrategy::Voting | AggregationStrategy::Averaging | AggregationStrategy::Consensus => {
                false
            }
        }
}

/// The scope that every task declares; none if a task declares another one or none.
pub(crate) fn plan_scope(plan: &Plan) -> Option<&Scope> {
    let mut scopes = plan.tasks().iter().map(|task| task.scope.as_ref());
    let first = scopes.next()??;
    scopes.all(|scope| scope == Some(first)).then_some(first)
}

/// The scope in which a call runs: that which the started version of its task declares, else that of its request.
pub(crate) fn call_scope(state: &State, operation: Operation) -> &Scope {
    let Some(request) = state.control().request() else { return &Scope::Global };
    let task = match operation {
        Operation::RunTask { task, .. } | Operation::UndoTask { task } => Some(task),
        _ => None,
    };
    let started = request.ledger.iter().filter(|started| Some(started.task) == task);
    let mut versions = started.filter_map(|started| started.version.as_ref());
    versions.find_map(|version| version.scope.as_ref()).unwrap_or(&request.scope)
}

/// Whether a repetition of an operation could double an effect outside: a task with an effect and a compensation.
/// Stores and the audit sink are idempotent (decision 0015).
pub(crate) const fn has_effect(operation: Operation) -> bool {
    match operation {
        Operation::RunTask { effect, .. } => !matches!(effect, EffectKind::Pure),
        Operation::UndoTask { .. } => true,
        _ => false,
    }
}

/// The record of a started task: the outcome of its effect, if it has one.
pub(crate) fn task_record(started: &StartedTask) -> TaskRecord {
    let effect: Option<EffectOutcome> = match started.effect {
        EffectKind::Pure => None,
        EffectKind::Undoable | EffectKind::Irreversible => Some(started.outcome),
    };
    TaskRecord { task: started.task, effect }
}

/// The store status after a failed call: a store that reports an error, or was not called, holds no record; after a timeout, a
/// malformed reply or a crash it may hold one (decision 0008).
pub(crate) const fn status_after_failure(failure: Failure) -> StoreStatus {
    match failure {
        Failure::Error | Failure::NoCandidates | Failure::OverBudget | Failure::Forbidden => {
            StoreStatus::Missing
        }
        Failure::Timeout | Failure::Malformed | Failure::OutcomeUnknown => StoreStatus::Unknown,
    }
}

/// The node that executed the task before, in a sequence of at least two tasks.
pub(crate) fn node_of_step_before(state: &State, operation: Operation) -> Option<NodeId> {
    let Operation::RunTask { task, .. } = operation else { return None };
    let request = state.control().request()?;
    let plan = &request.plan.as_ref()?.plan;
    let at = plan.tasks().iter().position(|step| step.id == task)?;
    let before = plan.tasks().get(at.checked_sub(1)?).filter(|_| is_sequence(plan))?;
    started(request, before.id)?.node.clone()
}

/// Whether each task depends on the task before it and on no other one, of at least two.
pub(crate) fn is_sequence(plan: &Plan) -> bool {
    let steps = dependencies(plan);
    let is_chain = steps.iter().zip(steps.iter().skip(1));
    plan.aggregation().is_none()
        && steps.len() > 1
        && steps.first().is_some_and(|(_, first)| first.is_empty())
        && is_chain
            .into_iter()
            .all(|((before, _), (_, next))| !next.is_empty() && next.iter().all(|id| *id == before.id))
}

/// The started version of a task.
pub(crate) fn started(request: &Request, task: TaskId) -> Option<&StartedTask> {
    request.ledger.iter().find(|started| started.task == task)
}

/// The task and every one that depends on it, in plan order.
pub(crate) fn dependents_of(plan: &Plan, task: TaskId) -> Vec<TaskId> {
    let mut found = Vec::from([task]);
    for (step, dependencies) in dependencies(plan) {
        if step.id != task && dependencies.iter().any(|dependency| found.contains(dependency)) {
            found.push(step.id);
        }
    }
    found
}
