//! Every phase with every pending call, in a request that is verified or not.

use super::log::{Log, TaskEnd, con, each, plan, pro};
use orchestrion_kernel::event::DecisionLabel;
use orchestrion_kernel::ids::TaskId;
use orchestrion_kernel::module::{ConclusionKind, Operation, Ratings, Role, Store};
use orchestrion_kernel::plan::EffectKind;
use orchestrion_kernel::{Event, Phase, Policy, Score};

const TASK: TaskId = TaskId::new(1);

/// The operations, and no call.
const CALLS: [Option<Operation>; 20] = [
    None,
    Some(Operation::VerifyIdentity),
    Some(Operation::LoadContext),
    Some(Operation::Summarize),
    Some(Operation::Classify),
    Some(Operation::DraftPlan),
    Some(Operation::Argue(Role::Analyst)),
    Some(Operation::Argue(Role::Solution)),
    Some(Operation::Argue(Role::Critic)),
    Some(Operation::Argue(Role::Security)),
    Some(Operation::Argue(Role::Optimizer)),
    Some(Operation::ArgueAdditional { debater: 0 }),
    Some(Operation::ReviewRevision),
    Some(Operation::Approve),
    Some(Operation::RunTask { task: TASK, effect: EffectKind::Undoable }),
    Some(Operation::Diagnose),
    Some(Operation::UndoTask { task: TASK }),
    Some(Operation::StoreMemory { store: Store::Local, kind: ConclusionKind::Aborted }),
    Some(Operation::StoreMemory { store: Store::Cloud, kind: ConclusionKind::Aborted }),
    Some(Operation::DeliverAudit),
];

/// Before the plan, with it, and after a task ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Started,
    Planned,
    Cleared,
    Ran,
}

pub(super) fn starts(policy: &Policy) -> Vec<Vec<Event>> {
    let requests = [None, Some(false), Some(true)].into_iter().map(Log::request).collect();
    let progress = [Progress::Started, Progress::Planned, Progress::Cleared, Progress::Ran];
    let logs = each(requests, &progress, |log, progress| advance(policy, log, *progress));
    let phases: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| !phase.is_quiescent()).collect();
    let logs = each(logs, &phases, |log, phase| log.enter(*phase));
    let logs = each(logs, &CALLS, |log, call| match call {
        Some(Operation::RunTask { task, .. }) => log.run(*task, TaskEnd::Running),
        Some(operation) => log.call(*operation),
        None => {}
    });
    logs.into_iter().map(Log::into_events).collect()
}

fn advance(policy: &Policy, log: &mut Log, progress: Progress) {
    if progress == Progress::Started {
        return;
    }
    log.enter(Phase::Planning);
    log.load(Ratings::default());
    log.adopt(&plan(&[(EffectKind::Undoable, None)]));
    if progress == Progress::Planned {
        return;
    }
    for role in Role::ALL {
        log.enter(Phase::Round(role));
        log.argue(policy, role, if role == Role::Critic { con(Score::ZERO) } else { pro() });
    }
    log.agree_additional(policy);
    log.score(Score::ONE);
    log.decide(DecisionLabel::ConsensusReached);
    if progress == Progress::Ran {
        log.enter(Phase::RunningTasks);
        log.run(TASK, TaskEnd::Exit(1));
    }
}
