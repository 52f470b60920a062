//! Whose answers those are: one part of a script for each thing that may be asked.

use super::ScriptedReply;
use orchestrion_kernel::module::{Failure, Operation, Ratings, Report, Role, Store};
use orchestrion_kernel::plan::{Effect, Plan, Task};
use orchestrion_kernel::{Score, TaskId, Text};
use std::fmt;

/// Whose answers those are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ScriptKey {
    Identity,
    Summarizer,
    Memory,
    Classifier,
    Planner,
    Voice(Role),
    Review,
    Approver,
    Diagnosis,
    Task(TaskId),
    Undo(TaskId),
    Store(Store),
    Auditor,
}

impl ScriptKey {
    pub(crate) const fn of(ask: Operation) -> Self {
        match ask {
            Operation::VerifyIdentity => Self::Identity,
            Operation::LoadContext => Self::Memory,
            Operation::Summarize => Self::Summarizer,
            Operation::Classify => Self::Classifier,
            Operation::DraftPlan => Self::Planner,
            Operation::Argue(role) => Self::Voice(role),
            Operation::ReviewRevision => Self::Review,
            Operation::Approve => Self::Approver,
            Operation::Diagnose => Self::Diagnosis,
            Operation::RunTask { task, .. } => Self::Task(task),
            Operation::UndoTask { task } => Self::Undo(task),
            Operation::StoreMemory { store, .. } => Self::Store(store),
            Operation::DeliverAudit => Self::Auditor,
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
            Self::Review => "reread".into(),
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

impl fmt::Display for ScriptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("the identity guard was asked"),
            Self::Memory => f.write_str("the memory was asked"),
            Self::Summarizer => f.write_str("the summarizer was asked"),
            Self::Classifier => f.write_str("the classifier was asked"),
            Self::Planner => f.write_str("the planner was asked"),
            Self::Voice(role) => write!(f, "the {} was asked", role.to_string().to_lowercase()),
            Self::Review => f.write_str("security was asked to reread"),
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
pub(crate) fn default_reply(ask: Operation, request_text: &Text) -> Option<ScriptedReply> {
    match ask {
        Operation::Summarize => Some(ScriptedReply::Fail(Failure::NoCandidates)),
        ask => default_report(ask, request_text).map(|report| ScriptedReply::Reply(report.into())),
    }
}

/// What a module that the scenario leaves out answers: that all went well. `None` for the voices of the debate and the
/// summarizer, since nobody can agree in their place or say what something comes to.
///
/// A [host](orchestrion::drive::Host) may answer the same for whatever it does not care about.
#[must_use]
pub fn default_report(ask: Operation, request_text: &Text) -> Option<Report> {
    let nothing = || Text::from("");
    Some(match ask {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Operation::DraftPlan => {
            let task = Task { id: TaskId::FIRST, text: request_text.clone(), effect: Effect::Pure };
            Report::Plan(Plan::new(vec![task]).ok()?)
        }
        Operation::Argue(_) | Operation::ReviewRevision | Operation::Summarize => return None,
        Operation::Approve => Report::Approval { approved: true, text: nothing() },
        Operation::RunTask { .. } | Operation::UndoTask { .. } => Report::Exit { code: 0, text: nothing() },
        Operation::Diagnose => Report::NoRepair { text: nothing() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    })
}
