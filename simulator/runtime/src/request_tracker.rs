//! The data of calls, derived from events. The kernel forgets data that it no longer needs, but a call that is repeated after
//! a crash must be identical.

use crate::call::{Call, CallPayload};
use crate::host::Deadlines;
use crate::size_limit::{SizeLimitError, check_input_size, json_len_bytes};
use orchestrion_kernel::context::ContextError;
use orchestrion_kernel::event::{AuditRecord, Conclusion, MemoryRecord};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::{Event, Input, State, TaskId, Text, TraceId, UserId, state};
use orchestrion_trace::recorder::Recorder;
use std::collections::BTreeMap;

/// The maximum size of all replies of one request in bytes of JSON. The final answer contains all outputs, and a line of a
/// trace has a maximum length.
const REQUEST_BYTES_MAX: usize = 8 << 20;

/// The size of a reply that is accepted even beyond [`REQUEST_BYTES_MAX`], so that a receipt never fails.
const SMALL_REPLY_BYTES: usize = 4096;

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResult {
    /// The trace id of the request.
    pub trace: TraceId,
    /// The conclusion; `None` if the policy concludes no request.
    pub conclusion: Option<Conclusion>,
    /// The final answer.
    pub text: Text,
}

/// The data of the running request's calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestTracker {
    request: Option<(UserId, Text)>,
    /// Every started task in its latest started version.
    started_tasks: BTreeMap<TaskId, Task>,
    memory_record: Option<MemoryRecord>,
    audit_record: Option<AuditRecord>,
    /// The size of all replies so far in bytes of JSON.
    reply_bytes: usize,
    conclusion: Option<Conclusion>,
    last_result: Option<RequestResult>,
}

impl RequestTracker {
    /// Updates the data after a batch was applied to the state.
    pub(crate) fn apply(&mut self, state: &State, events: &[Event]) {
        for event in events {
            match event {
                Event::UserMsg { user, text, .. } => {
                    *self = Self { request: Some((user.clone(), text.clone())), ..Self::default() };
                }
                Event::ToolCall { operation: Operation::RunTask { task, .. }, .. } => {
                    let plan = state.control().request().and_then(|request| request.plan.as_ref());
                    let tasks = plan.map_or(&[][..], |revised| revised.plan.tasks());
                    if let Some(started) = tasks.iter().find(|planned| planned.id == *task) {
                        self.started_tasks.insert(*task, started.clone());
                    }
                }
                Event::ToolResult { report, .. } => self.reply_bytes += json_len_bytes(report),
                Event::ActionRecorded { record } => self.reply_bytes += json_len_bytes(record),
                Event::MemoryRecorded { record } => self.memory_record = Some(record.clone()),
                Event::AuditRecorded { record } => self.audit_record = Some(record.clone()),
                Event::Concluded { conclusion } => self.conclusion = Some(*conclusion),
                Event::FinalAnswer { trace, text } => {
                    self.last_result = Some(RequestResult {
                        trace: trace.clone(),
                        conclusion: self.conclusion,
                        text: text.clone(),
                    });
                }
                _ => {}
            }
        }
    }

    /// The result of the latest request, if it has ended.
    pub(crate) const fn last_result(&self) -> Option<&RequestResult> {
        self.last_result.as_ref()
    }

    /// Checks that a reply is within the limits of an input and of the request.
    pub(crate) fn check_size(&self, reply: &Input) -> Result<(), SizeLimitError> {
        let bytes = check_input_size(reply)?;
        let bytes_max = REQUEST_BYTES_MAX.saturating_sub(self.reply_bytes);
        if bytes <= bytes_max.max(SMALL_REPLY_BYTES) {
            Ok(())
        } else {
            Err(SizeLimitError { subject: "reply", bytes, bytes_max })
        }
    }

    /// Creates the call for the kernel's pending call. Returns `None` if no request runs.
    ///
    /// # Errors
    /// [`ContextError`] if the context cannot be built.
    pub(crate) fn call(
        &self,
        recorder: &Recorder<Vec<u8>>,
        pending: state::Call,
        deadlines: &Deadlines,
    ) -> Result<Option<Call>, ContextError> {
        let state = recorder.state();
        let (Some(request), Some((user, text))) = (state.control().request(), self.request.clone()) else {
            return Ok(None);
        };
        let operation = pending.operation;
        let payload = match operation {
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan => None,
            Operation::Argue(_) | Operation::ReviewRevision | Operation::Approve | Operation::Diagnose => {
                request.plan.as_ref().map(|revised| CallPayload::Plan(revised.plan.clone()))
            }
            Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
                self.started_tasks.get(&task).cloned().map(CallPayload::Task)
            }
            Operation::StoreMemory { .. } => self.memory_record.clone().map(CallPayload::Record),
            Operation::DeliverAudit => self.audit_record.clone().map(CallPayload::Audit),
        };
        let deadline_ms = deadlines.for_operation(operation).as_millis();
        Ok(Some(Call {
            id: pending.id,
            trace: state.control().trace_id(request.id),
            module: operation.module(),
            operation,
            expects: operation.expected_reply(),
            deadline_ms: u64::try_from(deadline_ms).unwrap_or(u64::MAX),
            user,
            request: text,
            pass: request.debate.pass,
            payload,
            context: recorder.build_context(operation)?,
        }))
    }
}
