//! Reading a trace line by line, in constant memory.

mod journal;

use crate::chain;
use crate::context_window::ContextWindow;
use crate::erased;
use crate::error::{TraceError, TraceErrorKind};
use crate::facts::ConversationFold;
use crate::format::{
    END_PREFIX, EndLine, FORMAT, Form, Header, JOURNAL_FORMAT, SegmentEnd, StateLine, Step, TOOL_CALL_KEY,
};
use crate::line_limits::LineLimits;
use crate::migrate::{CONVERTIBLE_FORMAT, older_header};
use crate::snapshot::Snapshot;
use crate::texts::TextWindow;
use crate::write::ResumePoint;
use orchestrion_kernel::State;
use serde::Deserialize;
use std::io::{BufRead, Read};

/// Bytes after a torn line that are read at once.
const PART_BYTES: u64 = 1 << 20;

/// A header of any version.
#[derive(Deserialize)]
struct VersionedHeader {
    format: String,
}

/// Reads the steps of a trace. Iteration ends at the first error.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    file: String,
    header: Header,
    /// The chain before the next line.
    chain: String,
    /// The chain before the latest line, and the line as it is stored; one buffer for all lines.
    linked: String,
    /// The offset of the line in `linked`.
    start_byte: usize,
    /// The latest line without its chain, with its references expanded; one buffer for all lines.
    body: String,
    texts: TextWindow,
    contexts: ContextWindow,
    line: u64,
    read_bytes: u64,
    /// The bytes up to the end of the last line with a matching chain.
    valid_bytes: u64,
    steps: u64,
    /// The erased texts of the latest line, and of the lines before.
    erased_texts: u64,
    erased_before: u64,
    /// The state after the latest step that the iterator returned; events of a journal are decided with it.
    state: State,
    /// The conversation before the first step; `None` if it was erased.
    start: Option<ConversationFold>,
    ended: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header of a whole trace or journal.
    ///
    /// # Errors
    /// [`TraceError`] with the file and the line; [`TraceErrorKind::Segment`] if the journal continues another segment.
    pub fn new(input: R, file: &str) -> Result<Self, TraceError> {
        let reader = Self::new_segment(input, file)?;
        match &reader.header.continues {
            None => Ok(reader),
            Some(end) => Err(reader.error(TraceErrorKind::Segment { steps: end.steps })),
        }
    }

    /// Reads the header of a trace or journal, or of a segment and the conversation at its start.
    ///
    /// # Errors
    /// [`TraceError`] with the file and the line.
    pub fn new_segment(input: R, file: &str) -> Result<Self, TraceError> {
        Self::open(input, file, None)
    }

    /// Reads the header of a trace or a segment that may be older. `conversions` receives what was converted.
    ///
    /// # Errors
    /// [`TraceError`] with the file and the line.
    pub fn new_older(input: R, file: &str, conversions: &mut Vec<String>) -> Result<Self, TraceError> {
        Self::open(input, file, Some(conversions))
    }

    fn open(input: R, file: &str, conversions: Option<&mut Vec<String>>) -> Result<Self, TraceError> {
        let header = Header {
            format: String::new(),
            kernel: String::new(),
            table: String::new(),
            conversation: orchestrion_kernel::ConversationId::new(""),
            policy: orchestrion_kernel::Policy::hardened(),
            scenario: None,
            continues: None,
            upgraded_from: None,
            lineage: None,
        };
        let mut reader = Self {
            input,
            file: file.to_string(),
            header,
            chain: String::new(),
            linked: String::new(),
            start_byte: 0,
            body: String::new(),
            texts: TextWindow::default(),
            contexts: ContextWindow::default(),
            line: 0,
            read_bytes: 0,
            valid_bytes: 0,
            steps: 0,
            erased_texts: 0,
            erased_before: 0,
            state: State::new(orchestrion_kernel::ConversationId::new("")),
            start: None,
            ended: false,
        };
        if !reader.read_line(LineLimits::HEADER)? {
            return Err(reader.error(TraceErrorKind::Empty));
        }
        // Another version may compute chains differently, so the format is checked first.
        let format = serde_json::from_str(&reader.linked).ok().map(|VersionedHeader { format }| format);
        let is_read = |format: &str| {
            format == FORMAT
                || format == JOURNAL_FORMAT
                || (conversions.is_some() && format == CONVERTIBLE_FORMAT)
        };
        if let Some(found) = format.filter(|format| !is_read(format)) {
            return Err(reader.error(TraceErrorKind::Version(found)));
        }
        // The chain covers the whole header as it is, in a journal too.
        reader.check_chain()?;
        reader.body.push_str(&reader.linked);
        reader.header = match conversions {
            Some(conversions) => {
                older_header(reader.text(), conversions).map_err(|kind| reader.error(kind))?
            }
            None => parse_header(reader.text()).map_err(|error| {
                let reason = error.to_string();
                reader.error(match reason.starts_with("missing field") {
                    true => TraceErrorKind::OlderHeader(reason),
                    false => TraceErrorKind::Malformed(reason),
                })
            })?,
        };
        reader.chain = chain::seed_steps(&reader.body).map_err(|error| reader.malformed(&error))?;
        if reader.header.upgraded_from.is_some() && reader.header.continues.is_none() {
            let reason =
                "expected `continues` beside `upgraded_from`, found none: an upgrade continues a segment";
            return Err(reader.error(TraceErrorKind::Malformed(reason.to_owned())));
        }
        if let Err(error) = reader.header.policy.validate() {
            return Err(reader.error(TraceErrorKind::Policy(error)));
        }
        let conversation = reader.header.conversation.clone();
        reader.start = match &reader.header.continues {
            None => Some(ConversationFold::new(conversation)),
            Some(end) => {
                reader.steps = end.steps;
                reader.read_start()?
            }
        };
        reader.state = match &reader.start {
            Some(start) => start.state().clone(),
            None => State::new(reader.header.conversation.clone()),
        };
        Ok(reader)
    }

    /// Reads the conversation at the start of a segment. Returns `None` if a text of it was erased.
    fn read_start(&mut self) -> Result<Option<ConversationFold>, TraceError> {
        if !self.read_body(LineLimits::STATE)? {
            return Err(self.error(TraceErrorKind::MissingEnd));
        }
        if self.is_erased() {
            return Ok(None);
        }
        self.parse(parse_state).map(|StateLine { state }| Some(state))
    }

    /// The name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The conversation before the first step.
    ///
    /// # Errors
    /// [`TraceErrorKind::StateErased`].
    pub fn start(&self) -> Result<&ConversationFold, TraceError> {
        self.start.as_ref().ok_or_else(|| self.error(TraceErrorKind::StateErased))
    }

    /// The latest line that was read, as the end of a segment.
    pub fn segment_end(&self) -> SegmentEnd {
        SegmentEnd { steps: self.steps, chain: self.chain.clone() }
    }

    /// The latest line as it is stored, without its chain and its newline.
    pub(crate) fn stored_line(&self) -> &str {
        &self.linked[self.start_byte..]
    }

    /// Continues after the step of a snapshot, whose state the caller passes to [`Self::step`]. `input` begins at [`Snapshot::journal_bytes`]; its header was read before.
    pub fn resume(input: R, file: &str, snapshot: &Snapshot) -> Self {
        let ResumePoint { chain, next, texts, contexts } = &snapshot.point;
        Self {
            input,
            file: file.to_string(),
            header: snapshot.header.clone(),
            chain: chain.clone(),
            linked: String::new(),
            start_byte: 0,
            body: String::new(),
            texts: texts.clone(),
            contexts: contexts.clone(),
            // The header and the steps before.
            line: *next,
            read_bytes: snapshot.journal_bytes,
            valid_bytes: snapshot.journal_bytes,
            steps: next - 1,
            erased_texts: 0,
            erased_before: 0,
            state: State::new(snapshot.header.conversation.clone()),
            start: None,
            ended: false,
        }
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the trace has no end but is otherwise whole, so that its conversation can continue. Reads to the end.
    pub fn is_incomplete(&mut self) -> bool {
        loop {
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    return matches!(error.kind, TraceErrorKind::MissingEnd) || self.is_torn(&error);
                }
            }
        }
    }

    /// The point at which a writer can continue the trace.
    pub fn resume_point(&self) -> ResumePoint {
        ResumePoint {
            chain: self.chain.clone(),
            next: self.steps + 1,
            texts: self.texts.clone(),
            contexts: self.contexts.clone(),
        }
    }

    /// The bytes up to the end of the last line with a matching chain.
    pub const fn valid_bytes(&self) -> u64 {
        self.valid_bytes
    }

    /// The bytes read so far.
    pub const fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Counts the calls in the latest line and all lines after it. Reads to the end.
    ///
    /// # Errors
    /// Any I/O error of the input.
    pub fn count_remaining_calls(&mut self) -> std::io::Result<usize> {
        let mut calls = self.linked[self.start_byte..].matches(TOOL_CALL_KEY).count();
        let mut part = Vec::new();
        loop {
            let read = self.input.by_ref().take(PART_BYTES).read_to_end(&mut part)?;
            if read == 0 {
                return Ok(calls);
            }
            self.read_bytes += read as u64;
            calls += memchr::memmem::find_iter(&part, TOOL_CALL_KEY.as_bytes()).count();
            // A key may continue in the next part.
            part.drain(..part.len().saturating_sub(TOOL_CALL_KEY.len() - 1));
        }
    }

    /// Whether the latest line was written incompletely: it has no end, or zero bytes replace a lost page of the file. No
    /// writer writes a zero byte. A line with a matching chain was written completely, whatever it contains.
    pub fn is_torn(&self, error: &TraceError) -> bool {
        match &error.kind {
            TraceErrorKind::Torn => true,
            TraceErrorKind::ChainMismatch { found, .. } if found.contains('\0') => true,
            _ => self.valid_bytes < self.read_bytes && self.linked.contains('\0'),
        }
    }

    /// Moves to the next step. Returns whether one exists. Checks the chain and expands the references; [`Self::text`]
    /// returns the line, [`Self::step`] parses it.
    ///
    /// # Errors
    /// [`TraceError`] with the file and the line.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        if !self.read_body(LineLimits::STEP)? {
            return Err(self.error(TraceErrorKind::MissingEnd));
        }
        if !self.text().starts_with(END_PREFIX) {
            self.steps += 1;
            return Ok(true);
        }
        let EndLine { end } = self.parse(parse_end)?;
        if end.steps != self.steps {
            return Err(self.error(TraceErrorKind::StepOutOfOrder { found: end.steps, expected: self.steps }));
        }
        if self.read_body(LineLimits::STEP)? {
            return Err(self.error(TraceErrorKind::AfterEnd));
        }
        Ok(false)
    }

    /// The latest line without its chain, with its references expanded.
    pub fn text(&self) -> &str {
        &self.body
    }

    /// The number that the latest step must have.
    pub const fn step_number(&self) -> u64 {
        self.steps
    }

    /// The number of erased texts so far.
    pub const fn erased_texts(&self) -> u64 {
        self.erased_before + self.erased_texts
    }

    /// Whether texts of the latest step were erased.
    pub const fn is_erased(&self) -> bool {
        self.erased_texts > 0
    }

    /// Parses the latest step. `state` is the state before it, with which the events of a journal are decided. Their digest is compared
    /// unless a text was erased before.
    ///
    /// # Errors
    /// [`TraceError`] if the line is malformed, its number is not the next one, or this kernel decides other events.
    pub fn step(&self, state: &State) -> Result<Step, TraceError> {
        match self.header.form() {
            Form::Trace => self.step_of_trace(),
            Form::Journal => self.decide_step(state),
        }
    }

    /// Parses the latest step of a trace, whose events are in the line.
    pub(crate) fn step_of_trace(&self) -> Result<Step, TraceError> {
        let step: Step = self.parse(parse_step)?;
        self.check_number(step.n).map(|()| step)
    }

    fn check_number(&self, found: u64) -> Result<(), TraceError> {
        if found == self.steps {
            Ok(())
        } else {
            Err(self.error(TraceErrorKind::StepOutOfOrder { found, expected: self.steps }))
        }
    }

    /// Reads the next line without its newline. Returns whether one exists.
    fn read_line(&mut self, limits: LineLimits) -> Result<bool, TraceError> {
        let bytes_max = limits.bytes_max;
        let mut linked = std::mem::take(&mut self.linked).into_bytes();
        self.start_byte = 0;
        linked.clear();
        linked.extend_from_slice(self.chain.as_bytes());
        let read = self.input.by_ref().take(bytes_max as u64).read_until(b'\n', &mut linked);
        let len_bytes = read.map_err(|error| self.error(TraceErrorKind::Io(error)))?;
        self.read_bytes += len_bytes as u64;
        if len_bytes == 0 {
            return Ok(false);
        }
        self.line += 1;
        self.start_byte = self.chain.len();
        let has_newline = linked.pop_if(|byte| *byte == b'\n').is_some();
        // Some programs end lines with both bytes. No line of JSON ends in this one.
        if has_newline {
            linked.pop_if(|byte| *byte == b'\r');
        }
        let text = String::from_utf8(linked);
        let is_text = text.is_ok();
        // Text that is not UTF-8 is kept: `is_torn` looks at it. It needs no more memory than its bytes.
        self.linked = text.unwrap_or_else(|error| {
            let ascii = |byte: u8| if byte.is_ascii() { char::from(byte) } else { '?' };
            error.into_bytes().into_iter().map(ascii).collect()
        });
        match (has_newline, is_text) {
            (false, _) if len_bytes == bytes_max => {
                Err(self.error(TraceErrorKind::LineTooLong { bytes_max }))
            }
            (false, _) => Err(self.error(TraceErrorKind::Torn)),
            (true, false) => Err(self.error(TraceErrorKind::NotText)),
            (true, true) => Ok(true),
        }
    }

    /// Checks the chain of the latest line and removes it from `linked`.
    fn check_chain(&mut self) -> Result<(), TraceError> {
        let Some((body, found)) = chain::open(&self.linked[self.start_byte..]) else {
            return Err(self.error(TraceErrorKind::NotChained));
        };
        let body_end = self.start_byte + body.len();
        // `linked` already contains the chain before the line.
        self.chain.clear();
        self.chain.push_str(found);
        self.linked.truncate(body_end);
        self.linked.push('}');
        let expected = match self.header.form() {
            Form::Trace => chain::link(&self.linked),
            Form::Journal => {
                self.body.clear();
                self.body.push_str(&self.linked[..self.start_byte]);
                erased::cover(&self.linked[self.start_byte..], &mut self.body);
                chain::link(&self.body)
            }
        };
        if self.chain != expected {
            let before = self.linked[..self.start_byte].to_string();
            let found = std::mem::replace(&mut self.chain, before);
            return Err(self.error(TraceErrorKind::ChainMismatch { found, expected }));
        }
        self.valid_bytes = self.read_bytes;
        Ok(())
    }

    /// Reads the next line, checks its chain and expands its references. Returns whether a line exists.
    fn read_body(&mut self, limits: LineLimits) -> Result<bool, TraceError> {
        if !self.read_line(limits)? {
            return Ok(false);
        }
        self.check_chain()?;
        let values = limits.check_values(self.stored_line().as_bytes(), 0);
        values.map_err(|kind| self.error(kind))?;
        self.body.clear();
        let line = &self.linked[self.start_byte..];
        match self.header.form() {
            Form::Trace => {
                let expanded = self.texts.expand(line, limits.bytes_max, &mut self.body);
                expanded.map_err(|error| {
                    self.error(TraceErrorKind::TextReference { found: error.found, expected: error.expected })
                })?;
                self.contexts.expand(&mut self.body).map_err(|error| {
                    self.error(TraceErrorKind::ContextReference {
                        found: error.found,
                        expected: error.expected,
                    })
                })?;
                let values = limits.check_values(self.body.as_bytes(), 0);
                values.map_err(|kind| self.error(kind))?;
            }
            Form::Journal => {
                let filled = erased::fill_placeholders(line, &mut self.body, limits.bytes_max);
                self.erased_before += self.erased_texts;
                self.erased_texts =
                    filled.map_err(|reason| self.error(TraceErrorKind::ErasedText(reason)))?;
            }
        }
        Ok(true)
    }

    fn parse<T>(&self, parse: fn(&str) -> serde_json::Result<T>) -> Result<T, TraceError> {
        parse(self.text()).map_err(|error| self.malformed(&error))
    }

    fn malformed(&self, error: &serde_json::Error) -> TraceError {
        self.error(TraceErrorKind::Malformed(error.to_string()))
    }

    /// Creates an error at the latest line.
    pub fn error(&self, kind: TraceErrorKind) -> TraceError {
        TraceError { file: self.file.clone(), line: self.line, kind }
    }
}

// Not generic over the input, so that other crates do not compile the deserialization again.

fn parse_header(text: &str) -> serde_json::Result<Header> {
    serde_json::from_str(text)
}

fn parse_step(text: &str) -> serde_json::Result<Step> {
    serde_json::from_str(text)
}

fn parse_state(text: &str) -> serde_json::Result<StateLine<ConversationFold>> {
    serde_json::from_str(text)
}

fn parse_end(text: &str) -> serde_json::Result<EndLine> {
    serde_json::from_str(text)
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Step, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let step = match self.advance() {
            Ok(true) => Some(self.step(&self.state)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        match &step {
            Some(Ok(step)) if self.header.form() == Form::Journal => {
                step.events.iter().for_each(|event| self.state.apply(event));
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => self.ended = true,
        }
        step
    }
}
