//! Reading a trace line by line, in memory that does not grow with it.

use super::{FORMAT, Header, Step, chain};
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
    /// A step out of order.
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
        let Some(body) = reader.body()? else {
            return Err(reader.error(TraceErrorKind::Empty));
        };
        // Before anything else is understood of another version's header, its format is.
        let format = serde_json::from_str::<serde_json::Value>(&body)
            .ok()
            .and_then(|header| header.get("format")?.as_str().map(str::to_string));
        if let Some(found) = format.filter(|format| format != FORMAT) {
            return Err(reader.error(TraceErrorKind::Version(found)));
        }
        reader.header = reader.parse(&body)?;
        Ok(reader)
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    fn body(&mut self) -> Result<Option<String>, TraceError> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(|error| self.error(TraceErrorKind::Io(error)))? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let Ok(text) = str::from_utf8(&line) else { return Err(self.error(TraceErrorKind::NotText)) };
        let Some(text) = text.strip_suffix('\n') else { return Err(self.error(TraceErrorKind::Torn)) };
        let Some((body, found)) = chain::open(text) else {
            return Err(self.error(TraceErrorKind::NotChained));
        };
        let expected = chain::link(&self.chain, &body);
        if found != expected {
            let found = found.to_string();
            return Err(self.error(TraceErrorKind::Edited { found, expected }));
        }
        self.chain = expected;
        Ok(Some(body))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, body: &str) -> Result<T, TraceError> {
        serde_json::from_str(body).map_err(|error| self.error(TraceErrorKind::Malformed(error.to_string())))
    }

    fn step(&mut self) -> Result<Option<Step>, TraceError> {
        let Some(body) = self.body()? else { return Ok(None) };
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
