//! Writing a trace: fixed key order, one chained line per step.

use crate::chain;
use crate::context_window::{ContextWindow, StoredContext};
use crate::erased;
use crate::events_digest::EventsDigest;
use crate::facts::ConversationFold;
use crate::format::{
    End, EndLine, Form, Header, PossibleLoss, SegmentEnd, StateLine, StepMetadata, StepRecord, is_zero,
    next_step,
};
use crate::line_limits::LineLimits;
use crate::recent_inputs::Idempotency;
use crate::texts::{TextEncoder, TextWindow};
use orchestrion_kernel::{Event, Input};
use serde::{Deserialize, Serialize};
use std::io;

/// A position in a trace at which a [`Writer`] can continue: the chain, the number of the next step, the recent texts and the
/// recent contexts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumePoint {
    pub(crate) chain: String,
    #[serde(deserialize_with = "next_step")]
    pub(crate) next: u64,
    pub(crate) texts: TextWindow,
    pub(crate) contexts: ContextWindow,
}

/// Writes a trace line by line.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    form: Form,
    /// Whether steps are only counted.
    is_silent: bool,
    chain: String,
    next: u64,
    texts: TextEncoder,
    contexts: ContextWindow,
    /// The serialized body; one buffer for all lines.
    body: String,
    /// The chain before the line, and what the chain covers of the line; one buffer for all lines.
    linked: String,
    /// The events as JSON, to digest them; one buffer for all lines.
    events: Vec<u8>,
}

/// The events of a line.
#[derive(Serialize)]
#[serde(untagged)]
enum StoredEvents<'a> {
    Full(&'a [Event]),
    Digest(Option<EventsDigest>),
}

impl StoredEvents<'_> {
    const fn is_empty(&self) -> bool {
        matches!(self, Self::Full([]) | Self::Digest(None))
    }
}

/// A [`Step`](crate::Step) that borrows its parts.
#[derive(Serialize)]
struct Line<'a> {
    n: u64,
    #[serde(skip_serializing_if = "is_zero")]
    at_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency: Option<&'a Idempotency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    possible_loss: Option<PossibleLoss>,
    input: &'a Input,
    #[serde(skip_serializing_if = "StoredEvents::is_empty")]
    events: StoredEvents<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<LineContext<'a>>,
}

/// The context of a line.
#[derive(Serialize)]
#[serde(untagged)]
enum LineContext<'a> {
    Stored(StoredContext<'a>),
    Digest(String),
}

impl<W: io::Write> Writer<W> {
    /// Starts a trace with its header.
    ///
    /// # Errors
    /// Any I/O error of `out`.
    pub fn new(out: W, header: &Header) -> io::Result<Self> {
        let mut writer = Self::resume(
            out,
            header,
            ResumePoint {
                chain: String::new(),
                next: 1,
                texts: TextWindow::default(),
                contexts: ContextWindow::default(),
            },
        );
        writer.serialize(header)?;
        let steps_chain = chain::seed_steps(&writer.body)?;
        // The whole header is covered as it is.
        writer.chain = chain::link(&writer.body);
        writer.write_sealed()?;
        writer.chain = steps_chain;
        Ok(writer)
    }

    /// Counts steps, and writes nothing.
    pub(crate) fn silent(out: W, header: &Header) -> Self {
        let (texts, contexts) = (TextWindow::default(), ContextWindow::default());
        let point = ResumePoint { chain: String::new(), next: 1, texts, contexts };
        Self { is_silent: true, ..Self::resume(out, header, point) }
    }

    /// Starts a segment that continues another one, with its header and the conversation at its start.
    ///
    /// # Errors
    /// Any I/O error of `out`.
    pub fn new_segment(out: W, header: &Header, start: &ConversationFold) -> io::Result<Self> {
        let mut writer = Self::new(out, header)?;
        writer.next += header.continues.as_ref().map_or(0, |end| end.steps);
        writer.serialize(&StateLine { state: start })?;
        writer.write_line(LineLimits::STATE, 0)?;
        Ok(writer)
    }

    /// Continues a trace with this header. `out` already contains everything before the resume point.
    pub fn resume(
        out: W,
        header: &Header,
        ResumePoint { chain, next, texts, contexts }: ResumePoint,
    ) -> Self {
        Self {
            out,
            form: header.form(),
            is_silent: false,
            chain,
            next,
            texts: texts.into(),
            contexts,
            body: String::new(),
            linked: String::new(),
            events: Vec::new(),
        }
    }

    /// The point at which another writer can continue.
    pub fn resume_point(&self) -> ResumePoint {
        ResumePoint {
            chain: self.chain.clone(),
            next: self.next,
            texts: self.texts.window().clone(),
            contexts: self.contexts.clone(),
        }
    }

    /// Whether steps are only counted.
    pub(crate) const fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// The number of steps written so far.
    pub const fn steps(&self) -> u64 {
        self.next - 1
    }

    /// The output.
    pub fn output(&mut self) -> &mut W {
        &mut self.out
    }

    /// Appends an input with its batch or refusal.
    ///
    /// # Errors
    /// Any I/O error of the output; [`io::ErrorKind::FileTooLarge`] for a step that no reader accepts, of which nothing is written.
    pub fn write_step(
        &mut self,
        metadata: &StepMetadata,
        input: &Input,
        record: StepRecord<'_>,
    ) -> io::Result<()> {
        let &StepMetadata { at_ms, ref note, ref idempotency, possible_loss } = metadata;
        let StepRecord { events, refused, context } = record;
        let n = self.next;
        self.next += 1;
        if self.is_silent {
            return Ok(());
        }
        let context_items = context.map_or(0, |record| record.items.len());
        let context = context.map(|record| match self.form {
            Form::Trace => LineContext::Stored(self.contexts.encode(record)),
            Form::Journal => LineContext::Digest(record.record_digest()),
        });
        let events = match self.form {
            Form::Trace => StoredEvents::Full(events),
            Form::Journal => StoredEvents::Digest(EventsDigest::of_step(events, &mut self.events)?),
        };
        let (note, idempotency) = (note.as_deref(), idempotency.as_ref());
        self.serialize(&Line {
            n,
            at_ms,
            note,
            idempotency,
            possible_loss,
            input,
            events,
            refused,
            context,
        })?;
        self.write_line(LineLimits::STEP, context_items)
    }

    /// Ends the trace with a line that contains the number of steps, so that a missing end is detected. Returns the output.
    ///
    /// # Errors
    /// Any I/O error of the output.
    pub fn end(mut self) -> io::Result<W> {
        self.write_end()?;
        Ok(self.out)
    }

    /// Ends the segment of a journal. Returns the output, and the end that the next segment continues.
    pub(crate) fn end_segment(mut self) -> io::Result<(W, SegmentEnd)> {
        self.write_end()?;
        Ok((self.out, SegmentEnd { steps: self.next - 1, chain: self.chain }))
    }

    /// Returns the output without an end.
    pub(crate) fn into_output(self) -> W {
        self.out
    }

    /// Ends the trace, flushes the output and returns the chain of the last line.
    ///
    /// # Errors
    /// Any I/O error of the output.
    pub fn end_with_chain(mut self) -> io::Result<String> {
        self.write_end()?;
        self.out.flush()?;
        Ok(self.chain)
    }

    fn write_end(&mut self) -> io::Result<()> {
        if self.is_silent {
            return Ok(());
        }
        let end = End { steps: self.steps() };
        self.serialize(&EndLine { end })?;
        self.write_line(LineLimits::STEP, 0)
    }

    fn serialize(&mut self, body: &impl Serialize) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.body).into_bytes();
        bytes.clear();
        serde_json::to_writer(&mut bytes, body)?;
        self.body = String::from_utf8(bytes).map_err(io::Error::other)?;
        Ok(())
    }

    /// Writes the line in `body` with its chain. `more_values` are those that the references of the line add.
    fn write_line(&mut self, limits: LineLimits, more_values: usize) -> io::Result<()> {
        limits.check_written(&self.body, more_values)?;
        self.linked.clear();
        self.linked.push_str(&self.chain);
        match self.form {
            Form::Trace => {
                self.texts.encode(&self.body, &mut self.linked);
                let start = self.chain.len();
                self.chain = chain::link(&self.linked);
                chain::seal(&mut self.linked, &self.chain);
                self.out.write_all(&self.linked.as_bytes()[start..])
            }
            Form::Journal => {
                erased::cover(&self.body, &mut self.linked);
                self.chain = chain::link(&self.linked);
                self.write_sealed()
            }
        }
    }

    /// Writes the line in `body` with the chain of this writer.
    fn write_sealed(&mut self) -> io::Result<()> {
        chain::seal(&mut self.body, &self.chain);
        self.out.write_all(self.body.as_bytes())
    }
}
