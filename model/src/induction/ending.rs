//! The end of a request: conclusions, memory records, stores, audit records and deliveries.

use super::log::{Log, TaskEnd, each, plan, pro};
use orchestrion_kernel::event::{AuditRecord, Cause, Conclusion, DecisionLabel, MemoryRecord, StoreStatuses};
use orchestrion_kernel::ids::TaskId;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{ConclusionKind, Failure, Operation, Ratings, Report, Role, Store};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{Event, Phase, Policy, Score};

const TASK: TaskId = TaskId::new(1);

/// How the request came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Refused,
    Aborted,
    Blocked,
    Succeeded,
    RolledBack,
}

const COURSES: [Course; 5] =
    [Course::Refused, Course::Aborted, Course::Blocked, Course::Succeeded, Course::RolledBack];

/// The conclusions, and none.
const CONCLUSIONS: [Option<Conclusion>; 6] = [
    None,
    Some(Conclusion { kind: ConclusionKind::Aborted, cause: Cause::IdentityMismatch }),
    Some(Conclusion { kind: ConclusionKind::Aborted, cause: Cause::Cancelled }),
    Some(Conclusion { kind: ConclusionKind::Blocked, cause: Cause::Rejected }),
    Some(Conclusion { kind: ConclusionKind::Outcome, cause: Cause::Completed }),
    Some(Conclusion { kind: ConclusionKind::RolledBack, cause: Cause::NoRepair }),
];

/// The end of a call of a store, and no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    NotCalled,
    Held,
    Refused,
    Failed,
}

const STORED: [Stored; 4] = [Stored::NotCalled, Stored::Held, Stored::Refused, Stored::Failed];

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let courses: Vec<Log> = COURSES.iter().map(|course| follow(policy, *course)).collect();
    let concluded = each(courses, &CONCLUSIONS, |log, conclusion| {
        conclusion.iter().for_each(|conclusion| log.emit(Event::Concluded { conclusion: *conclusion }));
    });
    let closing =
        each(concluded.clone(), &[Phase::Success, Phase::Blocked, Phase::RollbackActive], |log, phase| {
            log.enter(*phase);
        });
    let recorded = each(concluded, &[0, 1, 2], |log, records| {
        (0..*records).for_each(|_| log.emit(memory_record(log)));
        log.enter(Phase::StoringMemory);
    });
    let stored = each(recorded, &STORED, |log, stored| store(log, Store::Local, *stored));
    let stored = each(stored, &STORED, |log, stored| store(log, Store::Cloud, *stored));
    let storing = each(stored.clone(), &[Store::Local, Store::Cloud], |log, store| {
        let kind = log.kind();
        log.enter(Phase::StoringMemory);
        log.call(Operation::StoreMemory { store: *store, kind });
    });
    let audited = each(stored, &[0, 1, 2], |log, records| {
        (0..*records).for_each(|_| log.emit(audit_record(log)));
    });
    let attempts: Vec<u32> = (0..=policy.bounds.audit_attempts).collect();
    let attempted = each(audited, &attempts, |log, attempts| {
        (1..*attempts).for_each(|_| log.fail(Operation::DeliverAudit, Failure::Error));
        log.enter(Phase::Auditing);
        if *attempts > 0 {
            log.call(Operation::DeliverAudit);
        }
    });
    closing.into_iter().chain(storing).chain(attempted).map(Log::into_events).collect()
}

/// A request that took this course.
fn follow(policy: &Policy, course: Course) -> Log {
    if course == Course::Refused {
        return Log::request(Some(false));
    }
    let mut log = Log::planned(Ratings::default(), &plan(&[(EffectKind::Undoable, None)]));
    if course == Course::Aborted {
        return log;
    }
    for role in Role::ALL {
        log.enter(Phase::Round(role));
        log.argue(policy, role, pro());
    }
    let (score, label) = if course == Course::Blocked {
        (Score::ZERO, DecisionLabel::Rejected)
    } else {
        (Score::ONE, DecisionLabel::ConsensusReached)
    };
    log.score(score);
    log.emit(Event::RatingsUpdated { ratings: Ratings::default() });
    log.decide(label);
    if course == Course::Blocked {
        log.enter(Phase::Blocked);
        return log;
    }
    log.enter(Phase::RunningTasks);
    log.run(TASK, TaskEnd::Exit(if course == Course::Succeeded { 0 } else { 1 }));
    if course == Course::RolledBack {
        log.enter(Phase::RollbackActive);
        log.undo(TASK, 0);
    }
    log
}

fn store(log: &mut Log, store: Store, stored: Stored) {
    let operation = Operation::StoreMemory { store, kind: log.kind() };
    match stored {
        Stored::NotCalled => {}
        Stored::Held => log.reply(operation, Report::Stored { held: true }),
        Stored::Refused => log.reply(operation, Report::Stored { held: false }),
        Stored::Failed => log.fail(operation, Failure::Timeout),
    }
}

fn memory_record(log: &Log) -> Event {
    let trace = log.trace();
    let (kind, text) = (log.kind(), log.answer());
    Event::MemoryRecorded { record: MemoryRecord { trace, kind, text, scope: Scope::Global, ratings: None } }
}

fn audit_record(log: &Log) -> Event {
    let conclusion = Conclusion { kind: log.kind(), cause: Cause::Cancelled };
    let (trace, user) = (log.trace(), super::shapes::user());
    let (decisions, tasks) = (Vec::new(), Vec::new());
    Event::AuditRecorded {
        record: AuditRecord { trace, user, conclusion, decisions, stores: StoreStatuses::default(), tasks },
    }
}
