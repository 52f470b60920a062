//! Plans of three tasks: every graph of dependencies, every order of starts that it permits, and every outcome; and one with a validation.

use super::log::{Log, TaskEnd, each, plan};
use super::running::{cleared, in_execution, in_rollback, run};
use crate::scopes::steps::plan_of;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::plan::{EffectKind, Plan};
use orchestrion_kernel::{Event, Policy, TaskId};

/// The dependencies of the second and the third task.
const GRAPHS: [[&[u32]; 2]; 8] = [
    [&[], &[]],
    [&[1], &[]],
    [&[], &[1]],
    [&[], &[2]],
    [&[], &[1, 2]],
    [&[1], &[1]],
    [&[1], &[2]],
    [&[1], &[1, 2]],
];

const ORDERS: [[u32; 3]; 6] = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]];

/// How far a task is; `None` if it did not start.
const ENDS: [Option<TaskEnd>; 5] = [
    None,
    Some(TaskEnd::Running),
    Some(TaskEnd::Exit(0)),
    Some(TaskEnd::Exit(1)),
    Some(TaskEnd::Failure(Failure::OutcomeUnknown)),
];

/// How a task ended before a rollback.
const ENDED: [Option<TaskEnd>; 3] =
    [None, Some(TaskEnd::Exit(0)), Some(TaskEnd::Failure(Failure::OutcomeUnknown))];

/// The exit codes of the compensations so far, the latest start first. None follows one that failed.
const UNDONE: [&[i32]; 7] = [&[], &[0], &[1], &[0, 0], &[0, 1], &[0, 0, 0], &[0, 0, 1]];

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let mut logs = Vec::new();
    for depends_on in GRAPHS {
        let [second, third] = depends_on;
        let tasks = [&[], second, third].map(|depends_on| (EffectKind::Undoable, Some(depends_on)));
        let log = cleared(policy, &plan(&tasks));
        for order in ORDERS.iter().filter(|order| is_permitted(depends_on, order)) {
            logs.extend(in_execution(with_ends(&log, order, &ENDS)));
            let latest_first: Vec<u32> = order.iter().rev().copied().collect();
            logs.extend(in_rollback(with_ends(&log, order, &ENDED), &latest_first, &UNDONE));
        }
    }
    let log = cleared(policy, &with_validation());
    for order in ORDERS.iter().filter(|order| is_permitted([&[1], &[1]], order)) {
        logs.extend(in_execution(with_ends(&log, order, &ENDS)));
    }
    logs.into_iter().map(Log::into_events).collect()
}

/// Pure tasks, of which the second validates the first. The third one would be repeated with it.
fn with_validation() -> Plan {
    let pure = |depends_on: &'static [u32]| (EffectKind::Pure, Some(depends_on));
    let mut tasks = plan(&[pure(&[]), pure(&[1]), pure(&[1])]).tasks().to_vec();
    tasks[1].step.validates = Some(TaskId::FIRST);
    plan_of(tasks)
}

/// Whether each task starts after those that it depends on.
fn is_permitted(depends_on: [&[u32]; 2], order: &[u32; 3]) -> bool {
    let place = |task: u32| order.iter().position(|started| *started == task);
    (2..).zip(depends_on).all(|(task, earlier)| earlier.iter().all(|earlier| place(*earlier) < place(task)))
}

/// The log with each end of each task, in this order.
fn with_ends(log: &Log, order: &[u32; 3], ends: &[Option<TaskEnd>]) -> Vec<Log> {
    order.iter().fold(vec![log.clone()], |logs, task| each(logs, ends, |log, end| run(log, *task, *end)))
}
