//! What calls are about, followed event by event beside the state: the kernel forgets what it needs no more, but a call
//! that is asked again after a crash must say the same.

use super::call::{Call, CallPayload};
use super::host::Deadlines;
use orchestrion_kernel::context::ContextError;
use orchestrion_kernel::event::{AuditRecord, Conclusion, MemoryRecord};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::{Event, Input, State, TaskId, Text, TraceId, UserId, state};
use orchestrion_trace::recorder::Recorder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::{fmt, io};

/// More than this of a single input, as JSON, is not taken in.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// All answers of one request together, as JSON. The final text has all outputs in it, and a line of a trace must stay
/// readable.
const REQUEST_BYTES_MAX: usize = 8 << 20;

/// An answer that is taken in whatever came before.
const SMALL_BYTES: usize = 4096;

/// More came than is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimitError {
    /// What is too long, as a noun phrase.
    pub what: &'static str,
    /// How long it is.
    pub bytes: usize,
    /// How long it may be.
    pub bytes_max: usize,
}

impl fmt::Display for SizeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, bytes, bytes_max } = self;
        write!(f, "{what} has {bytes} bytes as JSON; expected at most {bytes_max}")
    }
}

impl std::error::Error for SizeLimitError {}

/// How long an input is, unless it is too long.
pub(super) fn check_input_size(input: &Input) -> Result<usize, SizeLimitError> {
    let bytes = json_bytes(input);
    let what = if matches!(input, Input::Reply { .. }) { "the answer" } else { "the message" };
    if bytes <= INPUT_BYTES_MAX {
        Ok(bytes)
    } else {
        Err(SizeLimitError { what, bytes, bytes_max: INPUT_BYTES_MAX })
    }
}

fn json_bytes(value: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // What has no JSON could not be written down either.
    serde_json::to_writer(&mut count, value).map_or(usize::MAX, |()| count.0)
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResult {
    /// The request.
    pub trace: TraceId,
    /// As what and why it ended; `None` where the policy settles that of no request.
    pub ending: Option<Conclusion>,
    /// What the user reads.
    pub text: Text,
}

/// What the calls of the running request are about.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestTracker {
    asked: Option<(UserId, Text)>,
    /// Every task that was started, as it was when it was started last.
    started: BTreeMap<TaskId, Task>,
    record: Option<MemoryRecord>,
    audit: Option<AuditRecord>,
    /// What was answered so far, as JSON.
    taken_bytes: usize,
    ending: Option<Conclusion>,
    answered: Option<RequestResult>,
}

impl RequestTracker {
    /// Follows a batch that was applied to the state.
    pub(super) fn apply(&mut self, state: &State, events: &[Event]) {
        for event in events {
            match event {
                Event::UserMsg { user, text, .. } => {
                    *self = Self { asked: Some((user.clone(), text.clone())), ..Self::default() };
                }
                Event::ToolCall { operation: Operation::RunTask { task, .. }, .. } => {
                    let plan = state.control.request().and_then(|request| request.plan.as_ref());
                    let tasks = plan.map_or(&[][..], |revised| revised.plan.tasks());
                    if let Some(started) = tasks.iter().find(|planned| planned.id == *task) {
                        self.started.insert(*task, started.clone());
                    }
                }
                Event::ToolResult { report, .. } => self.taken_bytes += json_bytes(report),
                Event::ActionRecorded { record } => self.taken_bytes += json_bytes(record),
                Event::MemoryRecorded { record } => self.record = Some(record.clone()),
                Event::AuditRecorded { record } => self.audit = Some(record.clone()),
                Event::Concluded { conclusion: ending } => self.ending = Some(*ending),
                Event::FinalAnswer { trace, text } => {
                    self.answered =
                        Some(RequestResult { trace: trace.clone(), ending: self.ending, text: text.clone() });
                }
                _ => {}
            }
        }
    }

    /// How the latest request was answered, if it was.
    pub(super) const fn answered(&self) -> Option<&RequestResult> {
        self.answered.as_ref()
    }

    /// Whether this much can still be taken in.
    pub(super) fn check_size(&self, reply: &Input) -> Result<(), SizeLimitError> {
        let bytes = check_input_size(reply)?;
        match REQUEST_BYTES_MAX.checked_sub(self.taken_bytes) {
            Some(left) if bytes <= left => Ok(()),
            // Whatever was taken in before, that something is done must be heard.
            _ if bytes <= SMALL_BYTES => Ok(()),
            left => Err(SizeLimitError { what: "the answer", bytes, bytes_max: left.unwrap_or(0) }),
        }
    }

    /// The call that the state waits for, as the host is asked it.
    ///
    /// # Errors
    /// [`NotShown`] if what must be shown does not fit.
    pub(super) fn call(
        &self,
        recorder: &Recorder<Vec<u8>>,
        waiting: state::Call,
        deadlines: &Deadlines,
    ) -> Result<Option<Call>, ContextError> {
        let state = recorder.state();
        let (Some(request), Some((user, says))) = (state.control.request(), self.asked.clone()) else {
            return Ok(None);
        };
        let plan = || request.plan.as_ref().map(|revised| CallPayload::Plan(revised.plan.clone()));
        let matter = match waiting.operation {
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan => None,
            Operation::Argue(_) | Operation::ReviewRevision | Operation::Approve | Operation::Diagnose => {
                plan()
            }
            Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
                self.started.get(&task).cloned().map(CallPayload::Task)
            }
            Operation::StoreMemory { .. } => self.record.clone().map(CallPayload::Record),
            Operation::DeliverAudit => self.audit.clone().map(CallPayload::Audit),
        };
        Ok(Some(Call {
            id: waiting.id,
            trace: state.control.trace_id(request.id),
            module: waiting.operation.module(),
            operation: waiting.operation,
            expects: waiting.operation.expected_reply(),
            deadline_ms: u64::try_from(deadlines.for_operation(waiting.operation).as_millis())
                .unwrap_or(u64::MAX),
            user,
            request: says,
            pass: request.debate.pass,
            payload: matter,
            context: recorder.build_context(waiting.operation)?,
        }))
    }
}
