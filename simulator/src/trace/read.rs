//! Reading a trace line by line, in memory that does not grow with it.

use super::{EndLine, FORMAT, Header, Place, Step, chain};
use orchestrion_kernel::policy::Contradiction;
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
    chain: String,
    line: u64,
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
    Edited {
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
    NoEnd,
    /// Something follows the line that ends the trace.
    AfterEnd,
    /// The policy in the header contradicts itself.
    Policy(Contradiction),
    /// A step out of order, or missing.
    Number {
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
            TraceErrorKind::Edited { found, expected } => write!(
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
            TraceErrorKind::NoEnd => f.write_str(
                "this is the last line, and it does not end the trace: lines were cut off after it, or the \
                 conversation is still running. The lines to here are whole",
            ),
            TraceErrorKind::AfterEnd => f.write_str("this line follows the one that ends the trace; expected nothing"),
            TraceErrorKind::Policy(contradiction) => {
                write!(f, "the recorded policy contradicts itself: {contradiction}")
            }
            TraceErrorKind::Number { found, expected } => {
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
            line: 0,
            steps: 0,
            ended: false,
        };
        let line = reader.line()?;
        let Some(text) = line else {
            return Err(reader.error(TraceErrorKind::Empty));
        };
        // Another version may chain its lines in another way, so its format is looked at before anything else.
        let format = serde_json::from_str::<serde_json::Value>(&text)
            .ok()
            .and_then(|header| header.get("format")?.as_str().map(str::to_string));
        if let Some(found) = format.filter(|format| format != FORMAT) {
            return Err(reader.error(TraceErrorKind::Version(found)));
        }
        let body = reader.unchain(&text)?;
        reader.header = reader.parse(&body)?;
        if let Err(contradiction) = reader.header.policy.validate() {
            return Err(reader.error(TraceErrorKind::Policy(contradiction)));
        }
        Ok(reader)
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Where the trace stands, for a writer that goes on with it.
    pub(crate) fn place(&self) -> Place {
        Place { chain: self.chain.clone(), next: self.steps + 1 }
    }

    /// The next line, whole and without its end.
    fn line(&mut self) -> Result<Option<String>, TraceError> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| self.error(TraceErrorKind::Io(error)))? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let Ok(text) = String::from_utf8(line) else { return Err(self.error(TraceErrorKind::NotText)) };
        match text.strip_suffix('\n') {
            Some(text) => Ok(Some(text.to_string())),
            None => Err(self.error(TraceErrorKind::Torn)),
        }
    }

    /// What a line says, once its chain was found to hold.
    fn unchain(&mut self, line: &str) -> Result<String, TraceError> {
        let Some((body, found)) = chain::open(line) else {
            return Err(self.error(TraceErrorKind::NotChained));
        };
        let expected = chain::link(&self.chain, &body);
        if found != expected {
            let found = found.to_string();
            return Err(self.error(TraceErrorKind::Edited { found, expected }));
        }
        self.chain = expected;
        Ok(body)
    }

    fn body(&mut self) -> Result<Option<String>, TraceError> {
        let line = self.line()?;
        line.map(|line| self.unchain(&line)).transpose()
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, body: &str) -> Result<T, TraceError> {
        serde_json::from_str(body).map_err(|error| self.error(TraceErrorKind::Malformed(error.to_string())))
    }

    fn step(&mut self) -> Result<Option<Step>, TraceError> {
        let Some(body) = self.body()? else { return Err(self.error(TraceErrorKind::NoEnd)) };
        if body.starts_with("{\"end\":") {
            let EndLine { end } = self.parse(&body)?;
            if end.steps != self.steps {
                return Err(self.error(TraceErrorKind::Number { found: end.steps, expected: self.steps }));
            }
            return match self.body()? {
                None => Ok(None),
                Some(_) => Err(self.error(TraceErrorKind::AfterEnd)),
            };
        }
        let step: Step = self.parse(&body)?;
        self.steps += 1;
        if step.n != self.steps {
            return Err(self.error(TraceErrorKind::Number { found: step.n, expected: self.steps }));
        }
        Ok(Some(step))
    }

    fn error(&self, kind: TraceErrorKind) -> TraceError {
        TraceError { file: self.file.clone(), line: self.line, kind }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Step, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let step = self.step().transpose();
        self.ended = !matches!(step, Some(Ok(_)));
        step
    }
}
