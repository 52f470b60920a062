//! Conversion of replies to the kernel's reports, and back.

use crate::action::{ActionFile, summary_update, summary_update_file};
use crate::replies::{
    ApproverReply, ArgumentFile, ArgumentReply, AuditorReply, ClassificationFile, ClassifierReply,
    ContextFile, DiagnosisReply, ExitFile, IdentityReply, LocksFile, MemoryReply, NoRepairFile, PlanFile,
    PlannerReply, RatingFile, RatingsFile, RepairFile, ReplyKind, RevisionFile, RevisionReply, StoreReply,
    SummarizerReply, SummaryFile, TaskFile, TaskReply, TraceFile,
};
use crate::reply::{ExtendedReplyFile, ReplyFile};
use crate::script::ScriptedReply;
use crate::time::DelayFile;
use orchestrion_kernel::module::{Argument, Failure, PastRequest, Rating, Ratings, Report, Stance};
use orchestrion_kernel::plan::{Effect, Plan, PlanError, Task};
use orchestrion_kernel::{ConversationId, ItemId, RequestId, TaskId, TraceId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{Decimal, LabeledError, Spanned, StrictText};

/// Implements [`ReplyKind`]: for each reply its report, and for each report its reply.
macro_rules! conversions {
    ($($name:ident { $($reply:pat => $report:expr;)* } from { $($kernel:pat => $file:expr;)* })*) => {$(
        impl ReplyKind for $name {
            const KEYS: &'static [(&'static str, bool)] = Self::TAGS;

            fn to_kernel(&self) -> Result<Result<Report, Failure>, LabeledError> {
                Ok(Ok(match self {
                    $($reply => $report,)*
                    Self::Fail(failure) => return Ok(Err(*failure)),
                }))
            }

            fn from_kernel(outcome: Result<&Report, Failure>) -> Option<Self> {
                Some(match outcome {
                    Err(failure) => Self::Fail(failure),
                    $(Ok($kernel) => $file,)*
                    Ok(_) => return None,
                })
            }
        }
    )*};
}

conversions! {
    IdentityReply {
        Self::Locks(LocksFile { gcp, mongodb }) => Report::Identity { gcp: *gcp, mongodb: *mongodb };
    } from {
        Report::Identity { gcp, mongodb } => Self::Locks(LocksFile { gcp: *gcp, mongodb: *mongodb });
    }
    MemoryReply {
        Self::Context(ContextFile { ratings, traces }) => Report::Context {
            ratings: ratings.to_kernel(),
            traces: traces.iter().map(past_request).collect(),
        };
    } from {
        Report::Context { ratings, traces } => Self::Context(ContextFile {
            ratings: RatingsFile::from_kernel(ratings),
            traces: traces.iter().map(trace_file).collect(),
        });
    }
    ClassifierReply {
        Self::Classification(ClassificationFile { tags, similarity }) => Report::Classification {
            tags: tags.iter().map(StrictText::text).collect(),
            similarity: similarity.0,
        };
    } from {
        Report::Classification { tags, similarity } => Self::Classification(ClassificationFile {
            tags: tags.iter().cloned().map(StrictText::from).collect(),
            similarity: Decimal(*similarity),
        });
    }
    SummarizerReply {
        Self::Summary(SummaryFile { text, forgets }) => Report::Summary {
            text: text.text(),
            forgets: forgets.as_ref().map(|ids| ids.iter().copied().map(ItemId::new).collect()),
        };
    } from {
        Report::Summary { text, forgets } => Self::Summary(SummaryFile {
            text: text.clone().into(),
            forgets: forgets.as_ref().map(|ids| ids.iter().map(|id| id.number()).collect()),
        });
    }
    PlannerReply {
        Self::Plan(plan) => Report::Plan(parse_plan(plan)?);
    } from {
        Report::Plan(plan) => Self::Plan(plan_file(plan));
    }
    ArgumentReply {
        Self::Pro(file) => argument(Stance::Pro, file.confidence, &file.text, None);
        Self::Con(file) => argument(Stance::Con, file.confidence, &file.text, None);
    } from {
        Report::Argument { argument: Argument { stance, confidence }, text, plan: None } => {
            let file = ArgumentFile { confidence: Decimal(*confidence), text: text.clone().into() };
            match stance {
                Stance::Pro => Self::Pro(file),
                Stance::Con => Self::Con(file),
            }
        };
    }
    RevisionReply {
        Self::Pro(file) => argument(Stance::Pro, file.confidence, &file.text, revised(file)?);
        Self::Con(file) => argument(Stance::Con, file.confidence, &file.text, revised(file)?);
    } from {
        Report::Argument { argument: Argument { stance, confidence }, text, plan } => {
            let plan = plan.as_ref().map(plan_file);
            let file = RevisionFile { confidence: Decimal(*confidence), text: text.clone().into(), plan };
            match stance {
                Stance::Pro => Self::Pro(file),
                Stance::Con => Self::Con(file),
            }
        };
    }
    ApproverReply {
        Self::Approved(text) => Report::Approval { approved: true, text: text.text() };
        Self::Denied(text) => Report::Approval { approved: false, text: text.text() };
    } from {
        Report::Approval { approved: true, text } => Self::Approved(text.clone().into());
        Report::Approval { approved: false, text } => Self::Denied(text.clone().into());
    }
    DiagnosisReply {
        Self::Repair(file) => Report::Repaired { text: file.text.text(), plan: parse_plan(&file.plan)? };
        Self::NoRepair(file) => Report::NoRepair { text: file.text.text() };
    } from {
        Report::Repaired { text, plan } => {
            Self::Repair(RepairFile { text: text.clone().into(), plan: plan_file(plan) })
        };
        Report::NoRepair { text } => Self::NoRepair(NoRepairFile { text: text.clone().into() });
    }
    TaskReply {
        Self::Ok(text) => Report::Exit { code: 0, text: text.text() };
        Self::Exit(ExitFile { code, text }) => Report::Exit { code: *code, text: text.text() };
    } from {
        Report::Exit { code: 0, text } => Self::Ok(text.clone().into());
        Report::Exit { code, text } => Self::Exit(ExitFile { code: *code, text: text.clone().into() });
    }
    StoreReply {
        Self::Stored => Report::Stored { held: true };
        Self::Refused => Report::Stored { held: false };
    } from {
        Report::Stored { held: true } => Self::Stored;
        Report::Stored { held: false } => Self::Refused;
    }
    AuditorReply {
        Self::Delivered => Report::Delivered;
    } from {
        Report::Delivered => Self::Delivered;
    }
}

fn argument(
    stance: Stance,
    confidence: Decimal<orchestrion_kernel::Score>,
    text: &StrictText,
    plan: Option<Plan>,
) -> Report {
    let argument = Argument { stance, confidence: confidence.0 };
    Report::Argument { argument, text: text.text(), plan }
}

fn revised(file: &RevisionFile) -> Result<Option<Plan>, LabeledError> {
    file.plan.as_ref().map(parse_plan).transpose()
}

impl RatingsFile {
    fn to_kernel(&self) -> Ratings {
        let Self { analyst, solution, critic, security, optimizer } = self;
        Ratings {
            analyst: analyst.to_kernel(),
            solution: solution.to_kernel(),
            critic: critic.to_kernel(),
            security: security.to_kernel(),
            optimizer: optimizer.to_kernel(),
        }
    }

    fn from_kernel(ratings: &Ratings) -> Self {
        let Ratings { analyst, solution, critic, security, optimizer } = ratings;
        Self {
            analyst: RatingFile::from(*analyst),
            solution: RatingFile::from(*solution),
            critic: RatingFile::from(*critic),
            security: RatingFile::from(*security),
            optimizer: RatingFile::from(*optimizer),
        }
    }
}

impl RatingFile {
    fn to_kernel(&self) -> Rating {
        Rating { elo: self.elo, successes: self.successes, matches: self.matches }
    }
}

impl From<Rating> for RatingFile {
    fn from(Rating { elo, successes, matches }: Rating) -> Self {
        Self { elo, successes, matches }
    }
}

impl Default for RatingFile {
    fn default() -> Self {
        Rating::START.into()
    }
}

fn past_request(TraceFile { conversation, request, text }: &TraceFile) -> PastRequest {
    let conversation = ConversationId::new(conversation.text());
    PastRequest { trace: TraceId { conversation, request: RequestId::new(*request) }, text: text.text() }
}

fn trace_file(past: &PastRequest) -> TraceFile {
    TraceFile {
        conversation: past.trace.conversation.as_str().into(),
        request: past.trace.request.number(),
        text: past.text.clone().into(),
    }
}

fn parse_plan(file: &PlanFile) -> Result<Plan, LabeledError> {
    let tasks = file.value.iter().map(parse_task).collect::<Result<Vec<Task>, LabeledError>>()?;
    Plan::new(tasks).map_err(|error| match error {
        PlanError::DuplicateTask { task } => {
            let same = |entry: &&Spanned<TaskFile>| entry.value.task == task.number();
            let mut places = file.value.iter().filter(same).map(Spanned::span);
            LabeledError::new(error.to_string(), "give each task of the plan a distinct number")
                .with_label(places.next().flatten(), "first task")
                .with_label(places.next().flatten(), "second task")
        }
        PlanError::Empty => {
            LabeledError::new(error.to_string(), "add a task, as in `- {task: 1, do: Run the tests}`")
                .with_label(file.span(), "no task")
        }
        PlanError::TooLong { .. } => LabeledError::new(error.to_string(), "remove tasks from the plan")
            .with_label(file.span(), "too long"),
        _ => LabeledError::new(error.to_string(), "correct the plan").with_label(file.span(), "invalid plan"),
    })
}

fn parse_task(entry: &Spanned<TaskFile>) -> Result<Task, LabeledError> {
    let TaskFile { task, action, undo, irreversible } = &entry.value;
    let effect = match (undo, irreversible) {
        (Some(_), true) => {
            return Err(LabeledError::new(
                format!("task {task} has both `undo` and `irreversible`: expected at most one"),
                "keep `undo` if the effect can be undone, else keep `irreversible`",
            )
            .with_label(entry.span(), "both keys"));
        }
        (Some(undo), false) => Effect::Undoable { compensation: undo.text() },
        (None, true) => Effect::Irreversible,
        (None, false) => Effect::Pure,
    };
    Ok(Task { id: TaskId::new(*task), text: action.text(), effect })
}

fn plan_file(plan: &Plan) -> PlanFile {
    let tasks = plan.tasks().iter().map(|task| {
        let (undo, irreversible) = match &task.effect {
            Effect::Pure => (None, false),
            Effect::Undoable { compensation } => (Some(compensation.clone().into()), false),
            Effect::Irreversible => (None, true),
        };
        TaskFile { task: task.id.number(), action: task.text.clone().into(), undo, irreversible }
    });
    tasks.map(Spanned::from).collect::<Vec<_>>().into()
}

impl<T: ReplyKind> ReplyFile<T> {
    /// Returns the scripted reply and its delay.
    pub(crate) fn to_kernel(&self) -> Result<(ScriptedReply, Option<&Spanned<DelayFile>>), LabeledError> {
        let file = match self {
            Self::Short(reply) => return Ok((scripted(reply)?, None)),
            Self::Extended(file) => file,
        };
        let mut reply = scripted(&file.reply)?;
        match &mut reply {
            ScriptedReply::Reply(reply) => {
                reply.summary_update =
                    file.summary_update.as_ref().map(|update| summary_update(&update.value));
                reply.action = file.action.as_ref().map(|action| Box::new(action.value.to_kernel()));
            }
            ScriptedReply::Fail(_) => {
                let update = file.summary_update.as_ref().map(|update| ("summary_update", update.span()));
                let action = file.action.as_ref().map(|action| ("action", action.span()));
                if let Some((key, span)) = update.or(action) {
                    return Err(LabeledError::new(
                        format!("`{key}` beside `fail`: a failed call has no reply"),
                        format!("remove `{key}`, or write a reply"),
                    )
                    .with_label(span, "without a reply"));
                }
            }
        }
        Ok((reply, file.after.as_ref()))
    }

    /// Returns the file of a scripted reply; `None` for the report of another kind of module.
    pub(crate) fn from_kernel(reply: &ScriptedReply) -> Option<Self> {
        match reply {
            ScriptedReply::Fail(failure) => T::from_kernel(Err(*failure)).map(Self::Short),
            ScriptedReply::Reply(Reply { report, summary_update: None, action: None }) => {
                T::from_kernel(Ok(report)).map(Self::Short)
            }
            ScriptedReply::Reply(Reply { report, summary_update, action }) => {
                Some(Self::Extended(ExtendedReplyFile {
                    reply: T::from_kernel(Ok(report))?,
                    after: None,
                    summary_update: summary_update.as_ref().map(|update| summary_update_file(update).into()),
                    action: action.as_deref().map(|action| Box::new(ActionFile::from(action).into())),
                }))
            }
        }
    }
}

fn scripted<T: ReplyKind>(reply: &T) -> Result<ScriptedReply, LabeledError> {
    Ok(match reply.to_kernel()? {
        Ok(report) => ScriptedReply::Reply(report.into()),
        Err(failure) => ScriptedReply::Fail(failure),
    })
}
