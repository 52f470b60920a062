//! Writing a trace: fixed key order, one chained line per step.

use super::{ContextRecord, End, EndLine, Header, ResumePoint, StepMetadata, StepRecord, chain, is_zero};
use orchestrion_kernel::{Event, Input};
use serde::Serialize;
use std::io;

/// Writes a trace, line by line.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    chain: String,
    next: u64,
    /// The chain before the line, and the line; one buffer for all lines.
    text: String,
}

/// A [`Step`](super::Step), borrowed from where its parts are.
#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    #[serde(skip_serializing_if = "is_zero")]
    at_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    input: &'a Input,
    #[serde(skip_serializing_if = "<[Event]>::is_empty")]
    events: &'a [Event],
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a ContextRecord>,
}

impl<W: io::Write> Writer<W> {
    /// Starts a trace with its header.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self { out, chain: String::new(), next: 1, text: String::new() };
        writer.line(header)?;
        Ok(writer)
    }

    /// Goes on with a trace of which `out` has everything up to this place.
    pub fn resume(out: W, ResumePoint { chain, next }: ResumePoint) -> Self {
        Self { out, chain, next, text: String::new() }
    }

    /// The steps written so far.
    pub const fn steps(&self) -> u64 {
        self.next - 1
    }

    /// What was written to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    /// Appends an input with what came of it.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn step(&mut self, stamp: &StepMetadata, input: &Input, made: StepRecord<'_>) -> io::Result<()> {
        let StepMetadata { at_ms, note } = stamp;
        let StepRecord { events, refused, context } = made;
        let n = self.next;
        self.next += 1;
        self.line(&Line { n, at_ms: *at_ms, note: note.as_deref(), input, events, refused, context })
    }

    /// Ends the trace with a line that says how many steps it has, so that one cut off between two lines is
    /// noticed. Gives back what was written to.
    ///
    /// # Errors
    /// Whatever `out` gives.
    pub fn end(mut self) -> io::Result<W> {
        self.last_line()?;
        Ok(self.out)
    }

    /// Ends the trace, and gives back the chain of its last line, which stands for all that was written.
    pub fn finish(mut self) -> io::Result<String> {
        self.last_line()?;
        self.out.flush()?;
        Ok(self.chain)
    }

    fn last_line(&mut self) -> io::Result<()> {
        let end = End { steps: self.steps() };
        self.line(&EndLine { end })
    }

    fn line(&mut self, body: &impl Serialize) -> io::Result<()> {
        let mut linked = std::mem::take(&mut self.text).into_bytes();
        linked.clear();
        linked.extend_from_slice(self.chain.as_bytes());
        let from = linked.len();
        serde_json::to_writer(&mut linked, body)?;
        self.text = String::from_utf8(linked).map_err(io::Error::other)?;
        self.chain = chain::link(&self.text);
        chain::seal(&mut self.text, &self.chain);
        self.out.write_all(&self.text.as_bytes()[from..])
    }
}
