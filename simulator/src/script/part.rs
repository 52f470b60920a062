//! Whose answers those are: one part of a script for each thing that may be asked.

use super::Answer;
use orchestrion_kernel::module::{Ask, Failure, Ratings, Report, Role, Store};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{Score, TaskId, Text};
use std::fmt;

/// Whose answers those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Identity,
    Summarizer,
    Memory,
    Classifier,
    Planner,
    Voice(Role),
    Reread,
    Approver,
    Diagnosis,
    Task(TaskId),
    Undo(TaskId),
    Store(Store),
    Auditor,
}

impl Part {
    pub(crate) const fn of(ask: Ask) -> Self {
        match ask {
            Ask::VerifyIdentity => Self::Identity,
            Ask::LoadContext => Self::Memory,
            Ask::Summarize => Self::Summarizer,
            Ask::Classify => Self::Classifier,
            Ask::DraftPlan => Self::Planner,
            Ask::Argue(role) => Self::Voice(role),
            Ask::Reread => Self::Reread,
            Ask::Approve => Self::Approver,
            Ask::Diagnose => Self::Diagnosis,
            Ask::RunTask { task, .. } => Self::Task(task),
            Ask::UndoTask { task } => Self::Undo(task),
            Ask::Remember { store, .. } => Self::Store(store),
            Ask::DeliverAudit => Self::Auditor,
        }
    }

    /// The key under `modules` in a scenario file.
    pub(super) fn key(self) -> String {
        match self {
            Self::Identity => "identity".into(),
            Self::Memory => "memory".into(),
            Self::Summarizer => "summarizer".into(),
            Self::Classifier => "classifier".into(),
            Self::Planner => "planner".into(),
            Self::Voice(role) => role.to_string().to_lowercase(),
            Self::Reread => "reread".into(),
            Self::Approver => "approver".into(),
            Self::Diagnosis => "diagnosis".into(),
            Self::Task(task) => format!("tasks.{task}"),
            Self::Undo(task) => format!("undo.{task}"),
            Self::Store(Store::Local) => "local_store".into(),
            Self::Store(Store::Cloud) => "cloud_store".into(),
            Self::Auditor => "auditor".into(),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("the identity guard was asked"),
            Self::Memory => f.write_str("the memory was asked"),
            Self::Summarizer => f.write_str("the summarizer was asked"),
            Self::Classifier => f.write_str("the classifier was asked"),
            Self::Planner => f.write_str("the planner was asked"),
            Self::Voice(role) => write!(f, "the {} was asked", role.to_string().to_lowercase()),
            Self::Reread => f.write_str("security was asked to reread"),
            Self::Approver => f.write_str("the approver was asked"),
            Self::Diagnosis => f.write_str("the critic was asked for a diagnosis"),
            Self::Task(task) => write!(f, "task {task} was run"),
            Self::Undo(task) => write!(f, "task {task} was undone"),
            Self::Store(store) => write!(f, "the {store} was asked"),
            Self::Auditor => f.write_str("the auditor was asked"),
        }
    }
}

/// How a call to a module that the scenario leaves out ends: as [`unscripted`], or, as nobody is there to summarize, without an
/// answer; then everything stays known.
pub(crate) fn left_out(ask: Ask, request_text: &Text) -> Option<Answer> {
    match ask {
        Ask::Summarize => Some(Answer::Fail(Failure::NoCandidates)),
        ask => unscripted(ask, request_text).map(|report| Answer::Reply(report.into())),
    }
}

/// What a module that the scenario leaves out answers: that all went well. `None` for the voices of the debate and the
/// summarizer, since nobody can agree in their place or say what something comes to.
///
/// A [host](crate::drive::Host) may answer the same for whatever it does not care about.
#[must_use]
pub fn unscripted(ask: Ask, request_text: &Text) -> Option<Report> {
    let nothing = || Text::from("");
    Some(match ask {
        Ask::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Ask::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Ask::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Ask::DraftPlan => {
            let task = Task { id: TaskId::FIRST, text: request_text.clone(), effect: Effect::Pure };
            Report::Plan(Plan::new(vec![task]).ok()?)
        }
        Ask::Argue(_) | Ask::Reread | Ask::Summarize => return None,
        Ask::Approve => Report::Approval { approved: true, text: nothing() },
        Ask::RunTask { .. } | Ask::UndoTask { .. } => Report::Exit { code: 0, text: nothing() },
        Ask::Diagnose => Report::NoRepair { text: nothing() },
        Ask::Remember { .. } => Report::Stored { held: true },
        Ask::DeliverAudit => Report::Delivered,
    })
}
