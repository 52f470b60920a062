//! What a host is asked, and how it answers.

use orchestrion_kernel::event::{AuditRecord, MemoryRecord};
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::situation::{ActionRecord, SummaryUpdate};
use orchestrion_kernel::{CallId, Input, ModuleContext, Text, TraceId, UserId};
use serde::Serialize;
use std::fmt;

/// A call: what is asked of which module, with everything that it takes to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// Its id in the conversation. A call that is asked again after a crash keeps it, so it is an idempotency key.
    pub id: CallId,
    /// The request that it belongs to. Stores and the audit sink keep one record for each.
    pub trace: TraceId,
    /// Who is asked.
    pub module: Module,
    /// What is asked.
    pub operation: Operation,
    /// What a well-typed answer consists of, as a noun phrase.
    pub expects: &'static str,
    /// How long an answer is waited for, in milliseconds.
    pub deadline_ms: u64,
    /// Whose request it is.
    pub user: UserId,
    /// What the user asked for.
    pub request: Text,
    /// The pass of the debate that runs or ran last, from 1; 0 before the first.
    pub pass: u32,
    /// What the question is about, beside the request.
    #[serde(flatten)]
    pub payload: Option<CallPayload>,
    /// What is known, as the module is shown it.
    pub context: ModuleContext,
}

/// What a call is about, beside the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPayload {
    /// The plan as it stands: for the voices of the debate, the approver, and the diagnosis.
    Plan(Plan),
    /// The task to run or to undo, in the words with which it was last started.
    Task(Task),
    /// What a store is to keep.
    Record(MemoryRecord),
    /// What the audit sink is to take.
    Audit(AuditRecord),
}

/// How a call ends.
pub type CallResult = Result<Reply, CallError>;

/// What a module answers, and what it says beside that (002). A [`Report`] alone is a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The answer to the question.
    pub report: Report,
    /// What it says of the situation.
    pub summary_update: Option<SummaryUpdate>,
    /// What it thought and did.
    pub action: Option<Box<ActionRecord>>,
}

impl Reply {
    /// The input that it is, as an answer to this call.
    #[must_use]
    pub fn into_input(self, call: CallId) -> Input {
        let Self { report, summary_update, action } = self;
        Input::Reply { call, report, summary_update, action }
    }
}

impl From<Report> for Reply {
    fn from(report: Report) -> Self {
        Self { report, summary_update: None, action: None }
    }
}

/// A call ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// How, for the kernel.
    pub failure: Failure,
    /// Why, as a sentence, for whoever reads the trace.
    pub reason: Option<String>,
}

impl CallError {
    /// The module said that it cannot, or could not be reached.
    #[must_use]
    pub fn error(why: impl Into<String>) -> Self {
        Self { failure: Failure::Error, reason: Some(why.into()) }
    }

    /// It answered, but not what was asked.
    #[must_use]
    pub fn malformed(why: impl Into<String>) -> Self {
        Self { failure: Failure::Malformed, reason: Some(why.into()) }
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self { failure, reason: None }
    }
}

/// What became of an effectful call that was out when the runtime crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryResult {
    /// It happened, and ended like this.
    Completed(CallResult),
    /// It never started, so it may be asked again.
    NotStarted,
    /// Nobody can tell. The kernel rolls back (row E15).
    OutcomeUnknown,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} ({})", self.id, self.expects)
    }
}
