//! The key of a scripted module, and the replies of modules without a script.

use super::scripted_reply::ScriptedReply;
use super::simulated_memory::SimulatedMemory;
use orchestrion_kernel::module::{Failure, Operation, Ratings, Report, Role, Store};
use orchestrion_kernel::plan::{Effect, Plan, StepOptions, Task};
use orchestrion_kernel::policy::AdditionalDebater;
use orchestrion_kernel::{Score, TaskId, Text, UserId};
use std::fmt;

/// The module and operation of scripted replies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ScriptKey {
    Identity,
    Summarizer,
    Memory,
    Classifier,
    Planner,
    Debater(Role),
    /// An additional debater, by name.
    AdditionalDebater(Text),
    Review,
    Approver,
    Diagnosis,
    Task(TaskId),
    Undo(TaskId),
    Store(Store),
    Auditor,
}

impl ScriptKey {
    /// Returns the key of an operation under a policy with these additional debaters.
    pub(crate) fn from_operation(operation: Operation, debaters: &[AdditionalDebater]) -> Self {
        match operation {
            Operation::VerifyIdentity => Self::Identity,
            Operation::LoadContext => Self::Memory,
            Operation::Summarize => Self::Summarizer,
            Operation::Classify => Self::Classifier,
            Operation::DraftPlan => Self::Planner,
            Operation::Argue(role) => Self::Debater(role),
            Operation::ArgueAdditional { .. } => {
                let debater = AdditionalDebater::by_operation(debaters, operation);
                Self::AdditionalDebater(
                    debater.map_or_else(|| Text::from(""), |debater| debater.name.clone()),
                )
            }
            Operation::ReviewRevision => Self::Review,
            Operation::Approve => Self::Approver,
            Operation::Diagnose => Self::Diagnosis,
            Operation::RunTask { task, .. } => Self::Task(task),
            Operation::UndoTask { task } => Self::Undo(task),
            Operation::StoreMemory { store, .. } => Self::Store(store),
            Operation::DeliverAudit => Self::Auditor,
        }
    }
}

impl fmt::Display for ScriptKey {
    /// Formats the call as the subject of an error message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("call to the identity guard"),
            Self::Memory => f.write_str("call to the memory"),
            Self::Summarizer => f.write_str("call to the summarizer"),
            Self::Classifier => f.write_str("call to the classifier"),
            Self::Planner => f.write_str("call to the planner"),
            Self::Debater(role) => write!(f, "call to the {}", role.to_string().to_lowercase()),
            Self::AdditionalDebater(name) => write!(f, "call to the additional debater {name}"),
            Self::Review => f.write_str("call to security for a review"),
            Self::Approver => f.write_str("call to the approver"),
            Self::Diagnosis => f.write_str("call to the critic for a diagnosis"),
            Self::Task(task) => write!(f, "run of task {task}"),
            Self::Undo(task) => write!(f, "compensation of task {task}"),
            Self::Store(store) => write!(f, "call to the {store}"),
            Self::Auditor => f.write_str("call to the auditor"),
        }
    }
}

/// Returns the reply of a module without a script: what the simulated memory holds, no candidates for the summarizer, so that
/// compaction changes nothing, and the [`default_report`] of all others.
pub(crate) fn default_reply(
    memory: &SimulatedMemory,
    operation: Operation,
    user: &UserId,
    request_text: &Text,
) -> Option<ScriptedReply> {
    match operation {
        Operation::LoadContext => Some(ScriptedReply::Reply(memory.load_context(user).into())),
        Operation::Summarize => Some(ScriptedReply::Fail(Failure::NoCandidates)),
        operation => {
            default_report(operation, request_text).map(|report| ScriptedReply::Reply(report.into()))
        }
    }
}

/// Returns the report of success for an operation; `None` for arguments, reviews and summaries, which have no neutral
/// report. The memory is empty.
///
/// A [host](orchestrion_runtime::Host) can use it for the operations that it does not implement.
#[must_use]
pub fn default_report(operation: Operation, request_text: &Text) -> Option<Report> {
    let nothing = || Text::from("");
    Some(match operation {
        Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
        Operation::LoadContext => Report::Context { ratings: Ratings::default(), traces: Vec::new() },
        Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
        Operation::DraftPlan => {
            let task = Task {
                id: TaskId::FIRST,
                text: request_text.clone(),
                effect: Effect::Pure,
                depends_on: None,
                scope: None,
                step: StepOptions::default(),
            };
            Report::Plan(Plan::new(vec![task]).ok()?)
        }
        Operation::Argue(_)
        | Operation::ArgueAdditional { .. }
        | Operation::ReviewRevision
        | Operation::Summarize => return None,
        Operation::Approve => Report::Approval { approved: true, text: nothing() },
        Operation::RunTask { .. } | Operation::UndoTask { .. } => {
            Report::Exit { code: 0, text: nothing(), number: None }
        }
        Operation::Diagnose => Report::NoRepair { text: nothing() },
        Operation::StoreMemory { .. } => Report::Stored { held: true },
        Operation::DeliverAudit => Report::Delivered,
    })
}
