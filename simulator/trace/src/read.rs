//! Reading a trace line by line, in memory that does not grow with it.

use super::{CALL, EndLine, FORMAT, Header, ResumePoint, Step, chain};
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_kernel::policy::PolicyError;
use std::fmt;
use std::io::{self, BufRead, Read};

/// A line longer than this is no line of a trace.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads the steps of a trace. Iteration ends at the first error.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    file: String,
    header: Header,
    /// The chain of the line that was read last.
    chain: String,
    /// The chain before the line that was read last, and what the line says; one buffer for all lines.
    linked: String,
    /// Where in it the line begins.
    from: usize,
    line: u64,
    read_bytes: u64,
    /// How much was read up to the end of the last line whose chain holds.
    sound_bytes: u64,
    steps: u64,
    ended: bool,
}

/// Why a trace could not be read, and at which line.
#[derive(Debug)]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if the file could not be read at all.
    pub line: u64,
    /// What is wrong.
    pub kind: TraceErrorKind,
}

/// What is wrong with a trace.
#[derive(Debug)]
pub enum TraceErrorKind {
    /// It could not be read.
    Io(io::Error),
    /// It has no line.
    Empty,
    /// The last line is cut off.
    Torn,
    /// A line is not UTF-8 text, or too long.
    NotText,
    /// A line does not end in a chain, so it is no line of a trace.
    NotChained,
    /// The chain does not hold.
    ChainMismatch {
        /// What the line says.
        found: String,
        /// What it should say after the lines above.
        expected: String,
    },
    /// Another format, or another version of it.
    Version(String),
    /// The chain holds, but the line does not say what a trace says.
    Malformed(String),
    /// There is no line that ends the trace.
    MissingEnd,
    /// Something follows the line that ends the trace.
    AfterEnd,
    /// The policy in the header contradicts itself.
    Policy(PolicyError),
    /// The policy in the header wants a tokenizer that this program was built without.
    Tokenizer(TokenizerUnavailable),
    /// A step out of order, or missing.
    StepOutOfOrder {
        /// The number that the line carries.
        found: u64,
        /// The number that was due.
        expected: u64,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: ", self.file)?;
        } else {
            write!(f, "{}:{}: ", self.file, self.line)?;
        }
        match &self.kind {
            TraceErrorKind::Io(error) => write!(f, "cannot be read: {error}"),
            TraceErrorKind::Empty => {
                f.write_str("empty; expected a trace header. Record one with: orchestrion run SCENARIO")
            }
            TraceErrorKind::Torn => f.write_str(
                "torn: the line is cut off; expected it to end in its chain and a newline. The lines above still \
                 replay; record the trace again, or remove this line",
            ),
            TraceErrorKind::NotText => f.write_str("not UTF-8 text of a sensible length; expected one line of JSON"),
            TraceErrorKind::NotChained => f.write_str(
                "no chain at the end of the line; expected `,\"chain\":\"<32 hex digits>\"}`. Is this a trace?",
            ),
            TraceErrorKind::ChainMismatch { found, expected } => write!(
                f,
                "edited: the chain says {found}, the text gives {expected}. This line, or the order of the lines \
                 above, was changed after it was written; take the original, or record the trace again",
            ),
            TraceErrorKind::Version(found) => write!(
                f,
                "format {found}; this version reads {FORMAT}. Record the trace again, or use the version that wrote it",
            ),
            TraceErrorKind::Malformed(why) => {
                write!(f, "the chain holds, but this is no line of {FORMAT}: {why}")
            }
            TraceErrorKind::MissingEnd => f.write_str(
                "this is the last line, and it does not end the trace: lines were cut off after it, or the \
                 conversation is still running. The lines to here are whole",
            ),
            TraceErrorKind::AfterEnd => f.write_str("this line follows the one that ends the trace; expected nothing"),
            TraceErrorKind::Policy(contradiction) => {
                write!(f, "the recorded policy contradicts itself: {contradiction}")
            }
            TraceErrorKind::Tokenizer(not_built_in) => not_built_in.fmt(f),
            TraceErrorKind::StepOutOfOrder { found, expected } => {
                write!(f, "step {found} stands where step {expected} was due")
            }
        }
    }
}

impl std::error::Error for TraceError {}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TraceError`] with the file and the line.
    pub fn new(input: R, file: &str) -> Result<Self, TraceError> {
        let header = Header {
            format: String::new(),
            kernel: String::new(),
            table: String::new(),
            conversation: orchestrion_kernel::ConversationId::new(""),
            policy: orchestrion_kernel::Policy::hardened(),
            scenario: None,
        };
        let mut reader = Self {
            input,
            file: file.to_string(),
            header,
            chain: String::new(),
            linked: String::new(),
            from: 0,
            line: 0,
            read_bytes: 0,
            sound_bytes: 0,
            steps: 0,
            ended: false,
        };
        if !reader.line()? {
            return Err(reader.error(TraceErrorKind::Empty));
        }
        // Another version may chain its lines in another way, so its format is looked at before anything else.
        let format = serde_json::from_str::<serde_json::Value>(reader.text())
            .ok()
            .and_then(|header| header.get("format")?.as_str().map(str::to_string));
        if let Some(found) = format.filter(|format| format != FORMAT) {
            return Err(reader.error(TraceErrorKind::Version(found)));
        }
        reader.unchain()?;
        reader.header = reader.parse()?;
        if let Err(contradiction) = reader.header.policy.validate() {
            return Err(reader.error(TraceErrorKind::Policy(contradiction)));
        }
        Ok(reader)
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the trace is whole as far as it goes, but has no last line: its conversation could go on.
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

    /// Where the trace stands, for a writer that goes on with it.
    pub fn place(&self) -> ResumePoint {
        ResumePoint { chain: self.chain.clone(), next: self.steps + 1 }
    }

    /// How many bytes there are up to the end of the last line whose chain holds.
    pub const fn valid_bytes(&self) -> u64 {
        self.sound_bytes
    }

    /// How many bytes were read so far.
    pub const fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// How many calls stand in what follows the last line that is sound; reads to the end.
    pub fn count_remaining_calls(&mut self) -> io::Result<usize> {
        let mut calls = self.text().matches(CALL).count();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(calls);
            }
            self.read_bytes += read as u64;
            calls += String::from_utf8_lossy(&line).matches(CALL).count();
        }
    }

    /// Whether the line that was read last was never wholly written: it has no end, or zeros stand where a page of the
    /// file was lost. No line that was written has a zero byte in it.
    pub fn is_torn(&self, error: &TraceError) -> bool {
        match &error.kind {
            TraceErrorKind::Torn => true,
            TraceErrorKind::ChainMismatch { found, .. } if found.contains('\0') => true,
            _ => self.linked.contains('\0'),
        }
    }

    /// Moves to the next step, and says whether there is one. The chain holds up to there; what the step says
    /// is [`Self::text`], and [`Self::step`] once it is to be understood.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        if !self.body()? {
            return Err(self.error(TraceErrorKind::MissingEnd));
        }
        if !self.text().starts_with("{\"end\":") {
            self.steps += 1;
            return Ok(true);
        }
        let EndLine { end } = self.parse()?;
        if end.steps != self.steps {
            return Err(self.error(TraceErrorKind::StepOutOfOrder { found: end.steps, expected: self.steps }));
        }
        if self.body()? {
            return Err(self.error(TraceErrorKind::AfterEnd));
        }
        Ok(false)
    }

    /// What the line that was read last says, without its chain.
    pub fn text(&self) -> &str {
        &self.linked[self.from..]
    }

    /// The number that the step which was read last has to carry.
    pub const fn number(&self) -> u64 {
        self.steps
    }

    /// The step that was read last.
    pub fn step(&self) -> Result<Step, TraceError> {
        let step: Step = self.parse()?;
        if step.n != self.steps {
            return Err(self.error(TraceErrorKind::StepOutOfOrder { found: step.n, expected: self.steps }));
        }
        Ok(step)
    }

    /// Reads the next line, whole and without its end, if there is one.
    fn line(&mut self) -> Result<bool, TraceError> {
        let mut linked = std::mem::take(&mut self.linked).into_bytes();
        self.from = 0;
        linked.clear();
        linked.extend_from_slice(self.chain.as_bytes());
        let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut linked);
        let bytes = read.map_err(|error| self.error(TraceErrorKind::Io(error)))?;
        self.read_bytes += bytes as u64;
        if bytes == 0 {
            return Ok(false);
        }
        self.line += 1;
        self.from = self.chain.len();
        let ends = linked.pop_if(|byte| *byte == b'\n').is_some();
        let text = String::from_utf8(linked);
        let is_text = text.is_ok();
        // What is not text is kept as far as it is, to see whether it was torn.
        self.linked = text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        match (ends, is_text) {
            (false, _) if bytes as u64 == LINE_BYTES_MAX => Err(self.error(TraceErrorKind::NotText)),
            (false, _) => Err(self.error(TraceErrorKind::Torn)),
            (true, false) => Err(self.error(TraceErrorKind::NotText)),
            (true, true) => Ok(true),
        }
    }

    /// Leaves of a line what it says, once its chain was found to hold.
    fn unchain(&mut self) -> Result<(), TraceError> {
        let Some((body, found)) = chain::open(&self.linked[self.from..]) else {
            return Err(self.error(TraceErrorKind::NotChained));
        };
        let body_end = self.from + body.len();
        // What was found is kept where the chain before it stood, which is part of the line by now.
        self.chain.clear();
        self.chain.push_str(found);
        self.linked.truncate(body_end);
        self.linked.push('}');
        let expected = chain::link(&self.linked);
        if self.chain != expected {
            let before = self.linked[..self.from].to_string();
            let found = std::mem::replace(&mut self.chain, before);
            return Err(self.error(TraceErrorKind::ChainMismatch { found, expected }));
        }
        self.sound_bytes = self.read_bytes;
        Ok(())
    }

    /// Reads the next line and its chain, if there is one.
    fn body(&mut self) -> Result<bool, TraceError> {
        let is_there = self.line()?;
        if is_there {
            self.unchain()?;
        }
        Ok(is_there)
    }

    fn parse<T: serde::de::DeserializeOwned>(&self) -> Result<T, TraceError> {
        serde_json::from_str(self.text())
            .map_err(|error| self.error(TraceErrorKind::Malformed(error.to_string())))
    }

    /// An error at the line that was read last.
    pub fn error(&self, kind: TraceErrorKind) -> TraceError {
        TraceError { file: self.file.clone(), line: self.line, kind }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Step, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let step = match self.advance() {
            Ok(true) => Some(self.step()),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        self.ended = !matches!(step, Some(Ok(_)));
        step
    }
}
