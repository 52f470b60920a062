//! A conversation that is recorded: every input that comes, with what `decide` made of it.

use crate::{ContextRecorder, Header, ResumePoint, StepMetadata, StepRecord, Writer};
use orchestrion_kernel::context::{ContextBuilder, ContextError};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::{Events, Input, ModuleContext, Policy, Refusal, State, decide};
use std::io;

/// The kernel at work, with a trace of everything that it accepts or refuses.
#[derive(Debug)]
pub struct Recorder<W> {
    policy: Policy,
    state: State,
    contexts: ContextRecorder,
    trace: Writer<W>,
}

impl<W: io::Write> Recorder<W> {
    /// Begins a conversation and writes the header of its trace.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn open(out: W, header: &Header, contexts: &'static dyn ContextBuilder) -> io::Result<Self> {
        let trace = Writer::new(out, header)?;
        let state = State::new(header.conversation.clone());
        Ok(Self { policy: header.policy.clone(), state, contexts: ContextRecorder::new(contexts), trace })
    }

    /// Goes on with a conversation that stands in this state, and whose trace is written up to this place.
    pub fn resume(
        out: W,
        policy: Policy,
        state: State,
        place: ResumePoint,
        contexts: &'static dyn ContextBuilder,
    ) -> Self {
        Self { policy, state, contexts: ContextRecorder::new(contexts), trace: Writer::resume(out, place) }
    }

    /// The policy in force.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The state as it is now.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Builds the context of a call with this operation in the current state.
    ///
    /// # Errors
    /// [`ContextError`] if the context cannot be built.
    pub fn build_context(&self, operation: Operation) -> Result<ModuleContext, ContextError> {
        self.contexts.build(&self.policy, &self.state, operation)
    }

    /// The steps in its trace.
    pub const fn steps(&self) -> u64 {
        self.trace.steps()
    }

    /// What the trace is written to.
    pub fn out(&mut self) -> &mut W {
        self.trace.out()
    }

    /// Submits an input and writes down what became of it, whether it was accepted or refused.
    ///
    /// # Errors
    /// Whatever the trace's writer gives; the conversation is then ahead of its trace and must not go on. A
    /// refusal is not an error: it is the inner result.
    pub fn submit(&mut self, input: &Input, stamp: &StepMetadata) -> io::Result<Result<Events, Refusal>> {
        let decided = decide(&self.policy, &self.state, input);
        match &decided {
            Ok(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                let shown = self.contexts.after(&self.policy, &self.state, events);
                self.trace.step(stamp, input, StepRecord::accepted(events, shown.as_ref()))?;
            }
            Err(refusal) => self.trace.step(stamp, input, StepRecord::refused(&refusal.to_string()))?,
        }
        Ok(decided)
    }

    /// Ends the trace and gives back what it was written to.
    ///
    /// # Errors
    /// Whatever the trace's writer gives.
    pub fn close(self) -> io::Result<W> {
        self.trace.end()
    }
}
