//! Recording: decides the inputs of a conversation and writes each with its events or refusal.

use crate::contexts::ContextRecorder;
use crate::facts::{ConversationFold, RequestFacts};
use crate::format::{Header, PossibleLoss, StepMetadata, StepRecord};
use crate::recent_inputs::RecentInputs;
use crate::snapshot::Snapshot;
use crate::write::{ResumePoint, Writer};
use orchestrion_kernel::context::{ContextBuilder, ContextError};
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{Events, Input, ModuleContext, Policy, Refusal, State, decide};
use std::io;

/// A conversation that writes a trace of all accepted and refused inputs.
#[derive(Debug)]
pub struct Recorder<W> {
    policy: Policy,
    fold: ConversationFold,
    contexts: ContextRecorder,
    /// The step whose context was recorded latest.
    context_step: u64,
    trace: Writer<W>,
}

impl<W: io::Write> Recorder<W> {
    /// Starts a conversation and writes the header of its trace.
    ///
    /// # Errors
    /// Any I/O error of `out`.
    pub fn open(out: W, header: &Header, contexts: &'static dyn ContextBuilder) -> io::Result<Self> {
        let trace = Writer::new(out, header)?;
        let fold = ConversationFold::new(header.conversation.clone());
        Ok(Self {
            policy: header.policy.clone(),
            fold,
            contexts: ContextRecorder::new(contexts),
            context_step: 0,
            trace,
        })
    }

    /// Starts a conversation without a trace: `out` stays empty.
    pub fn unrecorded(out: W, header: &Header, contexts: &'static dyn ContextBuilder) -> Self {
        Self {
            policy: header.policy.clone(),
            fold: ConversationFold::new(header.conversation.clone()),
            contexts: ContextRecorder::new(contexts),
            context_step: 0,
            trace: Writer::silent(out, header),
        }
    }

    /// Continues a conversation. `out` already contains its trace before the resume point.
    pub fn resume(
        out: W,
        header: &Header,
        fold: ConversationFold,
        point: ResumePoint,
        contexts: &'static dyn ContextBuilder,
    ) -> Self {
        Self {
            policy: header.policy.clone(),
            fold,
            contexts: ContextRecorder::new(contexts),
            context_step: 0,
            trace: Writer::resume(out, header, point),
        }
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The current state.
    pub const fn state(&self) -> &State {
        self.fold.state()
    }

    /// The conversation so far.
    pub(crate) const fn fold(&self) -> &ConversationFold {
        &self.fold
    }

    /// The facts about the running or latest request.
    pub const fn facts(&self) -> Option<&RequestFacts> {
        self.fold.facts()
    }

    /// See [`ConversationFold::possible_loss`].
    pub const fn possible_loss(&self) -> Option<PossibleLoss> {
        self.fold.possible_loss()
    }

    /// The latest inputs that the host sent with a key.
    pub const fn inputs(&self) -> &RecentInputs {
        self.fold.inputs()
    }

    /// Returns the context of a pending call in the current state: the recorded one if no step followed, else a new one. Returns `None`
    /// if its module reads no context.
    ///
    /// # Errors
    /// [`ContextError`] if the context cannot be built.
    pub fn build_context(&self, call: Call) -> Result<Option<ModuleContext>, ContextError> {
        if !call.operation.takes_context() {
            return Ok(None);
        }
        let recorded =
            self.contexts.latest().filter(|(id, _)| *id == call.id && self.context_step == self.steps());
        match recorded {
            Some((_, context)) => Ok(Some(context.clone())),
            None => self.contexts.build(&self.policy, self.state(), call.operation).map(Some),
        }
    }

    /// The number of recorded steps.
    pub const fn steps(&self) -> u64 {
        self.trace.steps()
    }

    /// The output of the trace.
    pub fn output(&mut self) -> &mut W {
        self.trace.output()
    }

    /// Decides an input, applies its events, and records the events or the refusal. The inner result is the decision; a
    /// refusal is not an error.
    ///
    /// # Errors
    /// Any I/O error of the output. The state is then ahead of the trace, and the conversation must not continue.
    pub fn submit(&mut self, input: &Input, metadata: &StepMetadata) -> io::Result<Result<Events, Refusal>> {
        let decided = decide(&self.policy, self.state(), metadata.time(), input);
        self.fold.record_metadata(self.trace.steps() + 1, metadata, decided.as_deref().ok());
        match &decided {
            Ok(events) if self.trace.is_silent() => {
                self.fold.apply(self.trace.steps() + 1, events);
                if self.contexts.build_next(&self.policy, self.fold.state(), events) {
                    self.context_step = self.trace.steps() + 1;
                }
                self.trace.write_step(metadata, input, StepRecord::accepted(events, None))?;
            }
            Ok(events) => {
                self.fold.apply(self.trace.steps() + 1, events);
                let context = self.contexts.record(&self.policy, self.fold.state(), events);
                if context.is_some() {
                    self.context_step = self.trace.steps() + 1;
                }
                self.trace.write_step(metadata, input, StepRecord::accepted(events, context.as_ref()))?;
            }
            Err(refusal) => {
                self.trace.write_step(metadata, input, StepRecord::refused(&refusal.to_string()))?
            }
        }
        Ok(decided)
    }

    /// Takes a snapshot after the latest step. `header` is that of the trace, which has so many bytes.
    pub fn snapshot(&self, header: &Header, trace_bytes: u64) -> Snapshot {
        Snapshot::new(header.clone(), trace_bytes, self.trace.resume_point(), self.fold.clone())
    }

    /// Ends the segment of a journal. Returns the output, and the first lines of the next segment, whose header is `next` with this end.
    ///
    /// # Errors
    /// Any I/O error of the output.
    pub fn end_segment(self, next: Header) -> io::Result<(W, Vec<u8>)> {
        let Self { fold, trace, .. } = self;
        let (out, end) = trace.end_segment()?;
        let header = Header { continues: Some(end), ..next };
        let next = Writer::new_segment(Vec::new(), &header, &fold)?;
        Ok((out, next.into_output()))
    }

    /// Returns the output of a trace that another recorder continues.
    pub(crate) fn into_output(self) -> W {
        self.trace.into_output()
    }

    /// Ends the trace and returns its output.
    ///
    /// # Errors
    /// Any I/O error of the output.
    pub fn close(self) -> io::Result<W> {
        self.trace.end()
    }
}
