//! Writing a trace: fixed key order, one chained line per step.

use super::{End, EndLine, Header, Place, Shown, Step, chain};
use orchestrion_kernel::{Events, Input};
use serde::Serialize;
use std::io;

/// Writes a trace, line by line.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    chain: String,
    next: u64,
}

impl<W: io::Write> Writer<W> {
    /// Starts a trace with its header.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out, chain: String::new(), next: 1 };
        writer.line(header)?;
        Ok(writer)
    }

    /// Goes on with a trace of which `out` has everything up to this place.
    pub(crate) fn resume(out: W, Place { chain, next }: Place) -> Self {
        Self { out, chain, next }
    }

    /// What was written to.
    pub(crate) fn written(&mut self) -> &mut W {
        &mut self.out
    }

    /// Appends an accepted input with its batch.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn accepted(&mut self, input: Input, events: Events, context: Option<Shown>) -> io::Result<()> {
        self.step(Step { n: self.next, input, events, refused: None, context })
    }

    /// Appends a refused input.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn refused(&mut self, input: Input, sentence: String) -> io::Result<()> {
        self.step(Step { n: self.next, input, events: Events::new(), refused: Some(sentence), context: None })
    }

    /// Ends the trace with a line that says how many steps it has, so that one cut off between two lines is
    /// noticed. Gives back what was written to.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn end(mut self) -> io::Result<W> {
        let end = End { steps: self.next - 1 };
        self.line(&EndLine { end })?;
        Ok(self.out)
    }

    fn step(&mut self, step: Step) -> io::Result<()> {
        self.next += 1;
        self.line(&step)
    }

    fn line(&mut self, body: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_string(body)?;
        self.chain = chain::link(&self.chain, &body);
        self.out.write_all(chain::seal(&body, &self.chain).as_bytes())
    }
}
