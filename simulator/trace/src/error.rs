//! The errors of reading a trace.

use crate::format::FORMAT;
use crate::migrate::{CONVERTIBLE_FORMAT, unrecorded};
use orchestrion_kernel::context::TokenizerUnavailable;
use orchestrion_kernel::policy::PolicyError;
use std::{fmt, io};

/// The reason why a trace cannot be read, with its file and line.
#[derive(Debug)]
pub struct TraceError {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 if nothing was read.
    pub line: u64,
    /// The defect.
    pub kind: TraceErrorKind,
}

/// A defect of a trace.
#[derive(Debug)]
pub enum TraceErrorKind {
    /// The file cannot be read.
    Io(io::Error),
    /// The file is empty.
    Empty,
    /// The last line is incomplete.
    Torn,
    /// A line is not UTF-8 text.
    NotText,
    /// A line is too long.
    LineTooLong {
        /// The limit in bytes.
        bytes_max: usize,
    },
    /// A line has too many values.
    TooManyValues {
        /// The limit of its objects, lists, keys and single values.
        values_max: usize,
    },
    /// A line does not end in a chain.
    NotChained,
    /// The chain of a line does not match its text.
    ChainMismatch {
        /// The chain in the line.
        found: String,
        /// The chain computed from the text.
        expected: String,
    },
    /// The trace has another format or another version of it.
    Version(String),
    /// The header lacks settings that this version has.
    OlderHeader(String),
    /// An older trace lacks what the current format records.
    NotConvertible {
        /// The format of the trace.
        found: String,
        /// What it lacks, as a clause.
        reason: String,
    },
    /// A text reference is malformed, or refers to no text in the window.
    TextReference {
        /// The reference, or its number.
        found: String,
        /// The valid references.
        expected: String,
    },
    /// A context reference is malformed, or does not fit an earlier context.
    ContextReference {
        /// The reference.
        found: String,
        /// The valid references.
        expected: String,
    },
    /// An erased text is malformed.
    ErasedText(String),
    /// This kernel decides other events than a journal recorded.
    EventsDiffer {
        /// The digest in the line.
        found: String,
        /// The digest of the decided events, or the refusal.
        expected: String,
    },
    /// The segment of a journal continues another one, so it is no whole trace.
    Segment {
        /// The steps before it.
        steps: u64,
    },
    /// The state at the start of a segment was erased.
    StateErased,
    /// The chain matches, but the line is not a line of this format.
    Malformed(String),
    /// No line ends the trace.
    MissingEnd,
    /// A line follows the end of the trace.
    AfterEnd,
    /// The policy in the header is invalid.
    Policy(PolicyError),
    /// The policy in the header requires a tokenizer that this build does not contain.
    Tokenizer(TokenizerUnavailable),
    /// A step is missing or out of order.
    StepOutOfOrder {
        /// The number in the line.
        found: u64,
        /// The next number.
        expected: u64,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.kind)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.kind)
        }
    }
}

impl fmt::Display for TraceErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "unreadable trace: {error}"),
            Self::Empty => f.write_str(
                "empty trace: expected a header, found no line; record a trace with: orchestrion run SCENARIO",
            ),
            Self::Torn => f.write_str(
                "torn line: expected a chain and a newline at its end, found neither; record the trace again, or remove this \
                 line if there are steps above it, which still replay",
            ),
            Self::NotText => f.write_str(
                "invalid line: expected one line of JSON, found other bytes; check that the file is a trace",
            ),
            Self::LineTooLong { bytes_max } => write!(
                f,
                "line too long: expected at most {bytes_max} bytes, found more; check that the file is a trace",
            ),
            Self::TooManyValues { values_max } => write!(
                f,
                "line too large: expected at most {values_max} values and keys, found more; check that the file is a trace",
            ),
            Self::NotChained => f.write_str(
                "missing chain: expected `,\"chain\":\"<32 hex digits>\"}` at the end of the line, found other text; \
                 check that the file is a trace",
            ),
            Self::ChainMismatch { found, expected } => write!(
                f,
                "chain mismatch: expected {expected} (computed), found {found}; this line or the order of the lines above \
                 was edited, so restore the original or record the trace again",
            ),
            Self::Version(found) => {
                let (advice, reason) = match unrecorded(found) {
                    Some(reason) => ("run its scenario again: it cannot be converted, because ", reason),
                    None if found == CONVERTIBLE_FORMAT => {
                        ("convert it with: orchestrion migrate TRACE", "")
                    }
                    None => ("use the version that wrote it", ""),
                };
                write!(
                    f,
                    "unsupported trace format: expected {FORMAT}, found {found}; {advice}{reason}"
                )
            }
            Self::OlderHeader(reason) => write!(
                f,
                "header of an older version: expected all settings of this version, found an error: {reason}; convert a \
                 trace with `orchestrion migrate TRACE`, a journal with `orchestrion journal upgrade JOURNAL`",
            ),
            Self::NotConvertible { found, reason } => write!(
                f,
                "not convertible: expected what {FORMAT} records, found a trace of {found}: {reason}; run its scenario \
                 again with: orchestrion run SCENARIO",
            ),
            Self::TextReference { found, expected } => write!(
                f,
                "invalid text reference: expected {expected}, found {found}; restore the original or record the trace again",
            ),
            Self::ContextReference { found, expected } => write!(
                f,
                "invalid context reference: expected {expected}, found {found}; restore the original or record the trace again",
            ),
            Self::ErasedText(reason) => write!(f, "invalid erased text: {reason}; restore the original"),
            Self::EventsDiffer { found, expected } => write!(
                f,
                "events of another kernel: expected {expected} (decided), found {found}; show the difference with \
                 `orchestrion replay`, or use the version that recorded the journal",
            ),
            Self::Segment { steps } => write!(
                f,
                "segment of a journal: expected a conversation from its first step, found its steps after step {steps}; join the \
                 segments with `orchestrion journal join FIRST NEXT… --out TRACE`",
            ),
            Self::StateErased => f.write_str(
                "erased state: expected the state at the start of the segment, found erased texts; read it after the segments \
                 before it with `orchestrion journal join`",
            ),
            Self::Malformed(reason) => write!(
                f,
                "malformed line: expected a line of {FORMAT} (the chain matches), found an error: {reason}; record the \
                 trace again",
            ),
            Self::MissingEnd => f.write_str(
                "missing end: expected a line that ends the trace, found none after this line; lines were cut off, or the \
                 conversation is still running",
            ),
            Self::AfterEnd => {
                f.write_str("line after the end: expected no line, found this one; remove it")
            }
            Self::Policy(error) => write!(f, "invalid recorded policy: {error}"),
            Self::Tokenizer(error) => error.fmt(f),
            Self::StepOutOfOrder { found, expected } => write!(
                f,
                "step out of order: expected step {expected}, found step {found}; restore the original or record the trace \
                 again",
            ),
        }
    }
}

impl std::error::Error for TraceError {}
