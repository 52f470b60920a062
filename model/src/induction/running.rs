//! Tasks of a cleared plan: how each ended, which effects are left, and how many repairs started.

use super::log::{Log, TaskEnd, each, plan};
use orchestrion_kernel::event::{Cause, Conclusion, DecisionLabel};
use orchestrion_kernel::ids::TaskId;
use orchestrion_kernel::module::{ConclusionKind, Failure, Operation, Ratings};
use orchestrion_kernel::plan::{EffectKind, Plan};
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Event, Phase, Policy, Score};

/// How far a task is in the latest run; `None` if it did not start.
const ENDS: [Option<TaskEnd>; 6] = [
    None,
    Some(TaskEnd::Running),
    Some(TaskEnd::Exit(0)),
    Some(TaskEnd::Exit(1)),
    Some(TaskEnd::Failure(Failure::Error)),
    Some(TaskEnd::Failure(Failure::OutcomeUnknown)),
];

/// What happened to the effects before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// Every task ran in an earlier run, and failed.
    Ran,
    /// The user cancelled the run.
    Cancelled,
}

/// The exit codes of the compensations so far, the latest start first.
const UNDONE: [&[i32]; 5] = [&[], &[0], &[1], &[0, 0], &[1, 0]];

const ROLLED_BACK: Conclusion = Conclusion { kind: ConclusionKind::RolledBack, cause: Cause::NoRepair };

fn plans() -> [Plan; 3] {
    use EffectKind::{Irreversible, Pure, Undoable};
    [
        plan(&[(Undoable, None), (Undoable, None)]),
        plan(&[(Undoable, Some(&[])), (Undoable, Some(&[]))]),
        plan(&[(Pure, Some(&[])), (Irreversible, Some(&[]))]),
    ]
}

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let cleared = plans().iter().map(|plan| cleared(policy, plan)).collect();
    let most = match policy.bounds.repairs {
        Bound::AtMost(most) => most,
        Bound::Unbounded => 0,
    };
    let repairs: Vec<u32> = (0..=most).collect();
    let repaired = each(cleared, &repairs, |log, repairs| {
        for _ in 0..*repairs {
            log.repair();
        }
    });
    let before =
        each(repaired, &[Before::Nothing, Before::Ran, Before::Cancelled], |log, before| match before {
            Before::Nothing => {}
            Before::Ran => {
                log.run(TaskId::new(1), TaskEnd::Exit(0));
                log.run(TaskId::new(2), TaskEnd::Exit(1));
                log.enter(Phase::Failure);
            }
            Before::Cancelled => {
                log.run(TaskId::new(1), TaskEnd::Running);
                log.emit(Event::Cancelled);
            }
        });
    let first = each(before, &ENDS, |log, end| run(log, 1, *end));
    let second = each(first, &ENDS, |log, end| run(log, 2, *end));
    let mut logs = in_execution(second.clone());
    logs.extend(in_rollback(second, &[2, 1], &UNDONE));
    logs.into_iter().map(Log::into_events).collect()
}

/// A request whose plan may run.
pub(super) fn cleared(policy: &Policy, plan: &Plan) -> Log {
    let mut log = Log::planned(Ratings::default(), plan);
    log.agree(policy);
    log.score(Score::ONE);
    log.decide(DecisionLabel::ConsensusReached);
    log.enter(Phase::RunningTasks);
    log
}

/// A task ends so, if it started.
pub(super) fn run(log: &mut Log, task: u32, end: Option<TaskEnd>) {
    end.into_iter().for_each(|end| log.run(TaskId::new(task), end));
}

/// Each list, in each phase of an execution before a rollback.
pub(super) fn in_execution(logs: Vec<Log>) -> Vec<Log> {
    let mut diagnosing = logs.clone();
    for log in &mut diagnosing {
        log.repair();
        log.call(Operation::Diagnose);
    }
    let phases = [Phase::RunningTasks, Phase::AssertingOutcomes, Phase::Failure];
    let mut logs = each(logs, &phases, |log, phase| log.enter(*phase));
    logs.append(&mut diagnosing);
    logs
}

/// Each list in a rollback: some compensations of these tasks ended with these codes, and one is pending or none is.
pub(super) fn in_rollback(logs: Vec<Log>, tasks: &[u32], undone: &[&[i32]]) -> Vec<Log> {
    let undone = each(logs, undone, |log, codes| {
        log.emit(Event::Concluded { conclusion: ROLLED_BACK });
        log.enter(Phase::RollbackActive);
        for (task, code) in tasks.iter().zip(*codes) {
            log.undo(TaskId::new(*task), *code);
        }
        log.enter(Phase::RollbackActive);
    });
    let pending: Vec<Option<u32>> = [None].into_iter().chain(tasks.iter().copied().map(Some)).collect();
    each(undone, &pending, |log, task| {
        task.iter().for_each(|task| log.call(Operation::UndoTask { task: TaskId::new(*task) }));
    })
}
