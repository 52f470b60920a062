//! What each answer of a scenario file means, in the kernel's words.

use super::answers::{
    ApproverAnswer, ArgumentFile, ArgumentReply, AuditorAnswer, ClassifierAnswer, DiagnosisAnswer,
    IdentityAnswer, MemoryAnswer, PlanFile, PlannerAnswer, RatingFile, RatingsFile, RevisionFile,
    RevisionReply, StoreAnswer, SummarizerAnswer, TaskAnswer, TaskFile,
};
use crate::script::ScriptedReply;
use orchestrion_kernel::module::{Argument, PastRequest, Rating, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, PlanError, Task};
use orchestrion_kernel::{ConversationId, ItemId, RequestId, TaskId, TraceId};
use orchestrion_yaml::{LabeledError, Spanned};

fn reply(report: Report) -> Result<ScriptedReply, LabeledError> {
    Ok(ScriptedReply::Reply(report.into()))
}

pub(super) fn identity(answer: &IdentityAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        IdentityAnswer::Locks(locks) => reply(Report::Identity { gcp: locks.gcp, mongodb: locks.mongodb }),
        IdentityAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn memory(answer: &MemoryAnswer) -> Result<ScriptedReply, LabeledError> {
    let context = match answer {
        MemoryAnswer::Context(context) => context,
        MemoryAnswer::Fail(failure) => return Ok(ScriptedReply::Fail(*failure)),
    };
    let trace = |trace: &super::TraceFile| PastRequest {
        trace: TraceId {
            conversation: ConversationId::new(trace.conversation.text()),
            request: RequestId::new(trace.request),
        },
        text: trace.text.text(),
    };
    let rating = |rating: &RatingFile| Rating {
        elo: rating.elo,
        successes: rating.successes,
        matches: rating.matches,
    };
    let RatingsFile { analyst, solution, critic, security, optimizer } = &context.ratings;
    let ratings = Ratings {
        analyst: rating(analyst),
        solution: rating(solution),
        critic: rating(critic),
        security: rating(security),
        optimizer: rating(optimizer),
    };
    reply(Report::Context { ratings, traces: context.traces.iter().map(trace).collect() })
}

pub(super) fn classifier(answer: &ClassifierAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        ClassifierAnswer::Classified(found) => reply(Report::Classification {
            tags: found.tags.iter().map(|tag| tag.text()).collect(),
            similarity: found.similarity.0,
        }),
        ClassifierAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn summarizer(answer: &SummarizerAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        SummarizerAnswer::Summary(file) => reply(Report::Summary {
            text: file.says.text(),
            forgets: file.forgets.as_ref().map(|ids| ids.iter().copied().map(ItemId::new).collect()),
        }),
        SummarizerAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn planner(answer: &PlannerAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        PlannerAnswer::Plan(file) => reply(Report::Plan(plan(file)?)),
        PlannerAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn voice(answer: &ArgumentReply) -> Result<ScriptedReply, LabeledError> {
    let (stance, ArgumentFile { confidence, says }) = match answer {
        ArgumentReply::Pro(file) => (Stance::Pro, file),
        ArgumentReply::Con(file) => (Stance::Con, file),
        ArgumentReply::Fail(failure) => return Ok(ScriptedReply::Fail(*failure)),
    };
    let argument = Argument { stance, confidence: confidence.0 };
    reply(Report::Argument { argument, text: says.text(), plan: None })
}

pub(super) fn reviser(answer: &RevisionReply) -> Result<ScriptedReply, LabeledError> {
    let (stance, RevisionFile { confidence, says, plan: revision }) = match answer {
        RevisionReply::Pro(file) => (Stance::Pro, file),
        RevisionReply::Con(file) => (Stance::Con, file),
        RevisionReply::Fail(failure) => return Ok(ScriptedReply::Fail(*failure)),
    };
    let argument = Argument { stance, confidence: confidence.0 };
    let plan = revision.as_ref().map(plan).transpose()?;
    reply(Report::Argument { argument, text: says.text(), plan })
}

pub(super) fn approver(answer: &ApproverAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        ApproverAnswer::Approved(says) => reply(Report::Approval { approved: true, text: says.text() }),
        ApproverAnswer::Denied(says) => reply(Report::Approval { approved: false, text: says.text() }),
        ApproverAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn diagnosis(answer: &DiagnosisAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        DiagnosisAnswer::Repaired(repair) => {
            reply(Report::Repaired { text: repair.says.text(), plan: plan(&repair.plan)? })
        }
        DiagnosisAnswer::NoRepair(file) => reply(Report::NoRepair { text: file.says.text() }),
        DiagnosisAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn task(answer: &TaskAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        TaskAnswer::Ok(says) => reply(Report::Exit { code: 0, text: says.text() }),
        TaskAnswer::Exit(exit) => reply(Report::Exit { code: exit.code, text: exit.says.text() }),
        TaskAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn store(answer: &StoreAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        StoreAnswer::Held => reply(Report::Stored { held: true }),
        StoreAnswer::Refused => reply(Report::Stored { held: false }),
        StoreAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

pub(super) fn auditor(answer: &AuditorAnswer) -> Result<ScriptedReply, LabeledError> {
    match answer {
        AuditorAnswer::Delivered => reply(Report::Delivered),
        AuditorAnswer::Fail(failure) => Ok(ScriptedReply::Fail(*failure)),
    }
}

/// The plan that a list of tasks is.
fn plan(file: &PlanFile) -> Result<Plan, LabeledError> {
    let tasks = file.value.iter().map(planned_task).collect::<Result<Vec<Task>, LabeledError>>()?;
    Plan::new(tasks).map_err(|error| match error {
        PlanError::Repeated { task } => {
            let same = |entry: &&Spanned<TaskFile>| entry.value.task == task.number();
            let mut places = file.value.iter().filter(same).map(Spanned::span);
            LabeledError::new(error.to_string(), "give every task of a plan a number of its own")
                .at(places.next().flatten(), "the first")
                .at(places.next().flatten(), "the second")
        }
        PlanError::Empty => {
            LabeledError::new(error.to_string(), "add a task, as in `- {task: 1, do: Run the tests}`")
                .at(file.span(), "no task")
        }
        PlanError::TooLong { .. } => {
            LabeledError::new(error.to_string(), "make the plan shorter").at(file.span(), "too long")
        }
    })
}

fn planned_task(entry: &Spanned<TaskFile>) -> Result<Task, LabeledError> {
    let TaskFile { task, action, undo, irreversible } = &entry.value;
    let effect = match (undo, irreversible) {
        (Some(_), true) => {
            return Err(LabeledError::new(
                format!("task {task} is irreversible and says how to undo it"),
                "keep `undo` if its effect can be taken back, else `irreversible`",
            )
            .at(entry.span(), "both at once"));
        }
        (Some(undo), false) => Effect::Undoable { compensation: undo.text() },
        (None, true) => Effect::Irreversible,
        (None, false) => Effect::Pure,
    };
    Ok(Task { id: TaskId::new(*task), text: action.text(), effect })
}
