//! Reading of a file line by line, in memory independent of the size of the file.

use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::ground_truth::GroundTruth;
use crate::line;
use crate::timeline::Timeline;
use std::io::{BufRead, Read};

pub use orchestrion_files::limits::TIMELINE_LINE_BYTES_MAX as LINE_BYTES_MAX;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number of the line, from 1.
    pub line: u64,
    /// The timeline.
    pub timeline: Timeline,
    /// The expected answers.
    pub ground_truth: GroundTruth,
    /// The parts that are invalid.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the timelines of a file. After an invalid line it continues with the next one.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    file: String,
    line: u64,
    buffer: Vec<u8>,
    has_failed: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; diagnostics name the file.
    pub fn new(input: R, file: &str) -> Self {
        Self { input, file: file.to_string(), line: 0, buffer: Vec::new(), has_failed: false }
    }

    /// The capacity of the line buffer in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    fn diagnostic(&self, kind: DiagnosticKind) -> Diagnostic {
        Diagnostic { file: self.file.clone(), line: self.line, kind }
    }

    /// Reads the next line into the buffer. Returns whether there is one.
    fn advance(&mut self) -> Result<bool, DiagnosticKind> {
        let io = |error: std::io::Error| DiagnosticKind::Io(error.to_string());
        self.buffer.clear();
        self.line += 1;
        let bytes_max = LINE_BYTES_MAX as u64 + 1;
        let read = self.input.by_ref().take(bytes_max).read_until(b'\n', &mut self.buffer).map_err(io)?;
        if self.buffer.pop_if(|byte| *byte == b'\n').is_none() && self.buffer.len() > LINE_BYTES_MAX {
            self.buffer.clear();
            self.input.skip_until(b'\n').map_err(io)?;
            return Err(DiagnosticKind::TooLong { bytes_max: LINE_BYTES_MAX });
        }
        if self.line == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.buffer.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(read > 0)
    }

    fn case(&self) -> Result<Case, DiagnosticKind> {
        let text = std::str::from_utf8(&self.buffer)
            .map_err(|error| DiagnosticKind::NotUtf8 { byte: error.valid_up_to() + 1 })?;
        let (timeline, ground_truth, invalid) = line::parse(text)?;
        let diagnostics = invalid.into_iter().map(|kind| self.diagnostic(kind)).collect();
        Ok(Case { line: self.line, timeline, ground_truth, diagnostics })
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Case, Diagnostic>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.has_failed {
                return None;
            }
            let case = match self.advance() {
                Ok(false) => return None,
                Ok(true) if self.buffer.iter().all(u8::is_ascii_whitespace) => continue,
                Ok(true) => self.case(),
                Err(kind) => {
                    self.has_failed = matches!(kind, DiagnosticKind::Io(_));
                    Err(kind)
                }
            };
            return Some(case.map_err(|kind| self.diagnostic(kind)));
        }
    }
}
