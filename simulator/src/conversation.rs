//! A conversation that is recorded: every input that comes, with what `decide` made of it.

use crate::trace::{Contexts, Header, Made, Reader, Stamp, TraceError, TraceErrorKind, Writer};
use orchestrion_kernel::{Input, Policy, Refusal, State, decide};
use std::io;

/// The kernel at work, with a trace of everything that it accepts or refuses.
#[derive(Debug)]
pub struct Conversation<W> {
    policy: Policy,
    state: State,
    contexts: Contexts,
    trace: Writer<W>,
}

impl<W: io::Write> Conversation<W> {
    /// Opens a conversation and writes the header of its trace.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn open(out: W, header: &Header) -> io::Result<Self> {
        let trace = Writer::new(out, header)?;
        let state = State::new(header.conversation.clone());
        Ok(Self { policy: header.policy.clone(), state, contexts: Contexts::default(), trace })
    }

    /// The state as it is now.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Submits an input and writes down what became of it, whether it was accepted or refused.
    ///
    /// # Errors
    /// Whatever the trace's writer gives; the conversation is then ahead of its trace and must not go on. A
    /// refusal is not an error: it is the inner result.
    pub fn submit(&mut self, input: Input) -> io::Result<Result<(), Refusal>> {
        match decide(&self.policy, &self.state, &input) {
            Ok(events) => {
                events.iter().for_each(|event| self.state.apply(event));
                let shown = self.contexts.after(&self.state, &events);
                self.trace.step(&Stamp::default(), &input, Made::accepted(&events, shown.as_ref()))?;
                Ok(Ok(()))
            }
            Err(refusal) => {
                self.trace.step(&Stamp::default(), &input, Made::refused(&refusal.to_string()))?;
                Ok(Err(refusal))
            }
        }
    }

    /// Ends the trace and gives back what it was written to.
    ///
    /// # Errors
    /// Whatever the trace's writer gives.
    pub fn close(self) -> io::Result<W> {
        self.trace.end()
    }
}

impl Conversation<Vec<u8>> {
    /// Loses everything but the trace, and goes on from there, as after a crash of the runtime.
    ///
    /// # Errors
    /// [`TraceError`] if the trace cannot be read.
    pub fn crash(&mut self) -> Result<(), TraceError> {
        let written = std::mem::take(self.trace.written());
        let mut reader = Reader::new(written.as_slice(), "the trace so far")?;
        let mut state = State::new(reader.header().conversation.clone());
        for step in &mut reader {
            match step {
                Ok(step) => step.events.iter().for_each(|event| state.apply(event)),
                // It is still running, so nothing ends it.
                Err(TraceError { kind: TraceErrorKind::NoEnd, .. }) => break,
                Err(error) => return Err(error),
            }
        }
        let policy = reader.header().policy.clone();
        let place = reader.place();
        *self = Self { policy, state, contexts: Contexts::default(), trace: Writer::resume(written, place) };
        Ok(())
    }
}
