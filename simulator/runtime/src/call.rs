//! Calls to a host and their results.

use orchestrion_handoff::SignedHandoff;
use orchestrion_kernel::context::ContextError;
use orchestrion_kernel::event::{AuditRecord, MemoryRecord};
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::module::{Failure, Module, Operation, Report};
use orchestrion_kernel::network::InteractionReport;
use orchestrion_kernel::plan::{Plan, StepOptions, Task};
use orchestrion_kernel::situation::{ActionRecord, SummarySchema, SummaryUpdate};
use orchestrion_kernel::{CallId, Input, ModuleContext, NodeId, Text, TraceId, UserId, state};
use orchestrion_trace::recorder::Recorder;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

/// A call: one operation of one module, with all data to execute it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The id, unique in the conversation. A call that is repeated after a crash keeps its id, so it is an idempotency key.
    pub id: CallId,
    /// The durable steps of the conversation when the call is sent. A host stores the number before it executes a call with an effect,
    /// and passes the largest one to [`Conversation::open_acknowledged`](crate::Conversation::open_acknowledged).
    pub step: u64,
    /// The trace id of the request. Stores and the audit sink keep one record for each.
    pub trace: TraceId,
    /// The module.
    pub module: Module,
    /// The operation.
    pub operation: Operation,
    /// The name of the additional debater that argues; absent for all other operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debater: Option<Text>,
    /// The node that executes the call; absent without a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// The handoff that the node accepted; absent if the node that routed the call executes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoff: Option<Box<SignedHandoff>>,
    /// The expected reply, as a noun phrase.
    pub expects: &'static str,
    /// The deadline in milliseconds after the call is sent.
    pub deadline_ms: u64,
    /// The user of the request.
    pub user: UserId,
    /// The text of the request.
    pub request: Text,
    /// The scope in which the call runs; absent if it is global.
    #[serde(skip_serializing_if = "Scope::is_global")]
    pub scope: Scope,
    /// The summary update for which the call asks, if the module reasons (002). The reply carries the texts by field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_update: Option<SummarySchema>,
    /// The current or latest pass of the debate, from 1; 0 before the first.
    pub pass: u32,
    /// The data of the operation, if it has any. Beside a context, its JSON fits the budget together with the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<CallPayload>,
    /// The context for the module. Identity guard, stores and audit sink read none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ModuleContext>,
}

/// The data of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPayload {
    /// The current plan, for debaters, the approver and the diagnosis.
    Plan(Plan),
    /// The task to run or to undo in its latest started version.
    Task(Task),
    /// The record for a store.
    Record(MemoryRecord),
    /// The record for the audit sink.
    Audit(AuditRecord),
}

impl Call {
    /// Creates the call for the kernel's pending call. Returns `None` if no request runs. The data of a call that is repeated
    /// after a crash is identical except for the step, also if the kernel has forgotten it.
    ///
    /// # Errors
    /// [`ContextError`] if the context cannot be built.
    pub(crate) fn from_pending(
        recorder: &Recorder<Vec<u8>>,
        pending: state::Call,
        deadline: Duration,
        handoff: Option<&SignedHandoff>,
    ) -> Result<Option<Self>, ContextError> {
        let network = recorder.state().network();
        let control = recorder.state().control();
        let (Some(request), Some(facts)) = (control.request(), recorder.facts()) else { return Ok(None) };
        let operation = pending.operation;
        let payload = match operation {
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan => None,
            Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose => {
                request.plan.as_ref().map(|revised| CallPayload::Plan(without_steps(&revised.plan)))
            }
            Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
                request.started_task(task).map(|task| CallPayload::Task(without_step(task)))
            }
            Operation::StoreMemory { .. } => facts.memory_record.clone().map(CallPayload::Record),
            Operation::DeliverAudit => {
                facts.audit_record.as_ref().map(|(_, record)| CallPayload::Audit(record.clone()))
            }
        };
        Ok(Some(Self {
            id: pending.id,
            step: recorder.steps(),
            trace: control.trace_id(request.id),
            module: operation.module(),
            operation,
            debater: recorder.policy().debater_name(operation).cloned(),
            node: network
                .and_then(|network| network.assignment(pending.id))
                .map(|assigned| assigned.to.clone()),
            handoff: handoff.cloned().map(Box::new),
            expects: operation.expected_reply(),
            deadline_ms: u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX),
            user: facts.user.clone(),
            request: facts.text.clone(),
            scope: request.call_scope(operation).clone(),
            summary_update: recorder.policy().situation.summary_schema(operation),
            pass: request.debate.pass,
            payload,
            context: recorder.build_context(pending)?,
        }))
    }
}

/// Returns a task as a module receives it: its options concern routing, and a node gets its metadata with the handoff.
fn without_step(task: &Task) -> Task {
    Task { step: StepOptions::default(), ..task.clone() }
}

fn without_steps(plan: &Plan) -> Plan {
    if plan.tasks().iter().all(|task| task.step == StepOptions::default()) && plan.aggregation().is_none() {
        return plan.clone();
    }
    Plan::new(plan.tasks().iter().map(without_step).collect()).unwrap_or_else(|_| plan.clone())
}

/// The result of a call.
pub type CallResult = Result<Reply, CallError>;

/// A reply: a report, with the optional summary update and action record of 002, and the judgement of the interaction of 001. A [`Report`] converts into a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The report.
    pub report: Report,
    /// The update of the situation summary.
    pub summary_update: Option<SummaryUpdate>,
    /// The record of the module's reasoning and tool calls.
    pub action: Option<Box<ActionRecord>>,
    /// How the caller and the executing node judge the interaction, in a network (001 §10.2).
    pub interaction: Option<Box<InteractionReport>>,
}

impl Reply {
    /// Converts the reply into an input for this call.
    #[must_use]
    pub fn into_input(self, call: CallId) -> Input {
        let Self { report, summary_update, action, interaction } = self;
        Input::Reply { call, report, summary_update, action, interaction }
    }
}

impl From<Report> for Reply {
    fn from(report: Report) -> Self {
        Self { report, summary_update: None, action: None, interaction: None }
    }
}

/// A call ended without a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The failure for the kernel.
    pub failure: Failure,
    /// The reason for the trace, as a sentence.
    pub reason: Option<String>,
}

impl CallError {
    /// Creates an error of a module that failed or could not be reached.
    #[must_use]
    pub fn error(reason: impl Into<String>) -> Self {
        Self { failure: Failure::Error, reason: Some(reason.into()) }
    }

    /// Creates an error of a module whose reply is malformed.
    #[must_use]
    pub fn malformed(reason: impl Into<String>) -> Self {
        Self { failure: Failure::Malformed, reason: Some(reason.into()) }
    }
}

impl From<Failure> for CallError {
    fn from(failure: Failure) -> Self {
        Self { failure, reason: None }
    }
}

/// The recovered outcome of an effectful call that an earlier run of the conversation sent, or may have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryResult {
    /// The call completed with this result.
    Completed(CallResult),
    /// The call never started, so the runtime sends it.
    NotStarted,
    /// The outcome is unknown. The kernel rolls back (row E15).
    OutcomeUnknown,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} ({})", self.id, self.expects)
    }
}
