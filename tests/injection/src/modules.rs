//! The replies of the simulated modules: what a request leads to follows from its text alone.

use orchestrion_kernel::module::{Argument, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::{Score, TaskId};
use orchestrion_runtime::{Call, CallPayload};

/// The course of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// Four tasks in a sequence succeed.
    Sequence,
    /// More tasks than may run at once depend on none, and the last one on all of them.
    Parallel,
    /// The last task fails, and the effects are undone.
    RolledBack,
    /// The last task fails, and another one repairs the plan.
    Repaired,
    /// Security vetoes the plan.
    Vetoed,
}

/// The tasks of [`Course::Parallel`].
const PARALLEL: [u32; 8] = [1, 2, 3, 5, 6, 7, 8, 4];

fn course(request: &str) -> Course {
    const COURSES: [Course; 6] = [
        Course::Sequence,
        Course::Parallel,
        Course::Parallel,
        Course::RolledBack,
        Course::Repaired,
        Course::Vetoed,
    ];
    let sum: usize = request.bytes().map(usize::from).sum();
    COURSES[sum % COURSES.len()]
}

/// Returns the report of a call that succeeds.
pub(crate) fn report(call: &Call) -> Report {
    let course = course(call.request.as_str());
    let argue = |stance, millionths| Report::Argument {
        argument: Argument { stance, confidence: Score::from_millionths(millionths).unwrap_or_default() },
        text: "so".into(),
        plan: None,
    };
    let exit = |code, text: &str| Report::Exit { code, text: text.into(), number: None };
    match call.operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Summarize => Report::Summary { text: "summary".into(), forgets: None },
        Operation::Classify => {
            Report::Classification { tags: vec!["office".into()], similarity: Score::ZERO }
        }
        Operation::DraftPlan if course == Course::Parallel => Report::Plan(plan(call, &PARALLEL, true)),
        Operation::DraftPlan => Report::Plan(plan(call, &[1, 2, 3, 4], false)),
        Operation::ReviewRevision | Operation::Argue(Role::Security) if course == Course::Vetoed => {
            argue(Stance::Con, 950_000)
        }
        Operation::Argue(_) | Operation::ArgueAdditional { .. } | Operation::ReviewRevision => {
            argue(Stance::Pro, 900_000)
        }
        Operation::Approve => Report::Approval { approved: true, text: "yes".into() },
        Operation::RunTask { task, .. }
            if task.number() == 4 && matches!(course, Course::RolledBack | Course::Repaired) =>
        {
            exit(1, "no")
        }
        Operation::RunTask { .. } | Operation::UndoTask { .. } => match &call.payload {
            Some(CallPayload::Task(task)) => exit(0, task.text.as_str()),
            _ => exit(7, "expected a task"),
        },
        Operation::Diagnose if course == Course::Repaired => {
            // A repair after a repair is another task.
            let last = match &call.payload {
                Some(CallPayload::Plan(plan)) => plan.tasks().iter().map(|task| task.id.number()).max(),
                _ => None,
            };
            let next = last.unwrap_or(0).max(4) + 1;
            Report::Repaired { text: "try another".into(), plan: plan(call, &[next], false) }
        }
        Operation::Diagnose => Report::NoRepair { text: "no repair".into() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    }
}

/// Returns a plan: task 1 is pure, tasks 3 and 4 cannot be undone, and the others can.
fn plan(call: &Call, tasks: &[u32], is_parallel: bool) -> Plan {
    let task = |id: &u32| Task {
        id: TaskId::new(*id),
        text: format!("do {id} of {}", call.request).into(),
        effect: match id {
            1 => Effect::Pure,
            3 | 4 => Effect::Irreversible,
            _ => Effect::Undoable { compensation: format!("undo {id} of {}", call.request).into() },
        },
        depends_on: is_parallel.then(|| match id {
            4 => PARALLEL[..7].iter().copied().map(TaskId::new).collect(),
            _ => Vec::new(),
        }),
        scope: None,
        step: StepOptions::default(),
    };
    match Plan::new(tasks.iter().map(task).collect()) {
        Ok(plan) => plan,
        Err(error) => unreachable!("{error}"),
    }
}
