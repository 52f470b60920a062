//! Migration: writes an older trace in the current format, where it records all that the current format needs.
//!
//! The steps stay as they were recorded. Whether this kernel decides them equally is the question of a replay.

use crate::error::{TraceError, TraceErrorKind};
use crate::format::{FORMAT, Form, Header, StepRecord};
use crate::read::Reader;
use crate::write::Writer;
use serde_json::Value;
use std::fmt;
use std::io::{self, BufRead, Write};

/// The older format that can be converted.
pub const CONVERTIBLE_FORMAT: &str = "orchestrion-trace/4";

/// The formats that cannot be converted, each with what it does not record.
pub const UNRECORDED: [(&str, &str); 3] = [
    (
        "orchestrion-trace/1",
        "it records neither the times of its inputs, nor the ranks of users, nor how good its contexts are",
    ),
    (
        "orchestrion-trace/2",
        "it records neither the times of its inputs, nor how good its contexts are and where their search stopped",
    ),
    ("orchestrion-trace/3", "it does not record the times of its inputs, on which decisions depend"),
];

/// Settings that did not exist, with the values under which a policy decides as it did without them.
const NEW_SETTINGS: [(&str, &str, u32); 1] = [("compaction", "session_items_max", u32::MAX)];

/// Returns what a format does not record, as a clause, if it cannot be converted.
pub(crate) fn unrecorded(format: &str) -> Option<&'static str> {
    UNRECORDED.into_iter().find(|(other, _)| *other == format).map(|(_, reason)| reason)
}

/// The result of a migration.
#[derive(Debug, Default)]
pub struct Migration {
    /// The format of the older trace.
    pub from: String,
    /// What was converted, as sentences; empty if the trace is current.
    pub conversions: Vec<String>,
    /// The number of steps.
    pub steps: u64,
    /// The chain of the last line.
    pub chain: String,
}

/// A trace cannot be migrated.
#[derive(Debug)]
pub enum MigrateError {
    /// The trace cannot be read to its end, or lacks what the current format records.
    Trace(TraceError),
    /// The output cannot be written.
    Io(io::Error),
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Io(error) => write!(f, "unwritable output: {error}"),
        }
    }
}

impl std::error::Error for MigrateError {}

impl From<io::Error> for MigrateError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Writes a trace to `out` in the current format. A journal is current or is refused: it needs the kernel that wrote it.
///
/// # Errors
/// [`MigrateError`]; the output is then incomplete and must be discarded.
pub fn migrate<R: BufRead, W: Write>(input: R, file: &str, out: W) -> Result<Migration, MigrateError> {
    let mut conversions = Vec::new();
    let mut reader = Reader::new_older(input, file, &mut conversions).map_err(MigrateError::Trace)?;
    let from = reader.header().format.clone();
    if reader.header().form() == Form::Journal {
        while reader.advance().map_err(MigrateError::Trace)? {}
        return Ok(Migration { from, steps: reader.step_number(), ..Migration::default() });
    }
    let header = Header { format: FORMAT.to_owned(), ..reader.header().clone() };
    let mut writer = Writer::new(out, &header)?;
    for step in reader {
        let step = step.map_err(|error| MigrateError::Trace(unconvertible(error, &from)))?;
        let record = StepRecord {
            events: &step.events,
            refused: step.refused.as_deref(),
            context: step.context.as_ref(),
        };
        writer.write_step(&step.metadata(), &step.input, record)?;
    }
    let steps = writer.steps();
    Ok(Migration { from, conversions, steps, chain: writer.end_with_chain()? })
}

/// Returns the error of an older line that lacks something.
fn unconvertible(error: TraceError, from: &str) -> TraceError {
    match error.kind {
        TraceErrorKind::Malformed(reason) if from != FORMAT => {
            TraceError { kind: TraceErrorKind::NotConvertible { found: from.to_owned(), reason }, ..error }
        }
        kind => TraceError { kind, ..error },
    }
}

/// Parses the header of an older trace, and adds settings that did not exist.
pub(crate) fn older_header(body: &str, conversions: &mut Vec<String>) -> Result<Header, TraceErrorKind> {
    let malformed = |error: serde_json::Error| TraceErrorKind::Malformed(error.to_string());
    let mut value: Value = serde_json::from_str(body).map_err(malformed)?;
    let found = value["format"].as_str().unwrap_or_default().to_owned();
    if found == CONVERTIBLE_FORMAT {
        conversions.push(format!(
            "format {found} to {FORMAT}: the items of a context are stored as their difference from an earlier context"
        ));
    }
    for (section, name, before) in NEW_SETTINGS {
        let Some(settings) = value.pointer_mut(&format!("/policy/{section}")).and_then(Value::as_object_mut)
        else {
            continue;
        };
        if !settings.contains_key(name) {
            settings.insert(name.to_owned(), before.into());
            conversions.push(format!(
                "policy {section}.{name}: {before}, which limits nothing, as before the setting"
            ));
        }
    }
    serde_json::from_value(value).map_err(|error| {
        let reason = format!("the header does not record all settings of the policy: {error}");
        TraceErrorKind::NotConvertible { found, reason }
    })
}
