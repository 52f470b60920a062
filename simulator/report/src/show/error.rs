//! Errors of reports about traces.

use crate::text::{count, sanitize};
use orchestrion_kernel::Text;
use orchestrion_trace::TraceError;
use std::collections::BTreeSet;
use std::{fmt, io};

/// A trace could not be shown in full.
#[derive(Debug)]
pub enum ShowError {
    /// The rest of the trace is unreadable. The steps before it were written.
    Trace(TraceError),
    /// The output could not be written.
    Io(io::Error),
    /// The trace has no such step.
    NoSuchStep {
        /// The requested step.
        found: u64,
        /// The number of steps.
        steps: u64,
    },
    /// The trace has no such item.
    NoSuchItem {
        /// The requested item.
        found: u64,
        /// The highest item number.
        items: u64,
    },
    /// The trace has no fact with this key.
    NoSuchKey {
        /// The requested key.
        found: Text,
        /// The keys of facts.
        keys: BTreeSet<Text>,
    },
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The message may quote the file.
            Self::Trace(error) => f.write_str(&sanitize(&error.to_string())),
            Self::Io(error) => write!(f, "cannot write the report: {error}"),
            Self::NoSuchItem { found, items: 0 } => write!(f, "no item {found}: the trace has no items"),
            Self::NoSuchItem { found, items } => {
                write!(
                    f,
                    "no item {found}: expected a number from 1 to {items}; --step lists the items with their numbers in []"
                )
            }
            Self::NoSuchKey { found, keys } if keys.is_empty() => {
                write!(f, "no fact {}: the trace has no facts", sanitize(found.as_str()))
            }
            Self::NoSuchKey { found, keys } => {
                let keys: Vec<&str> = keys.iter().map(Text::as_str).collect();
                let keys = sanitize(&keys.join(", "));
                write!(f, "no fact {}: expected one of {keys}", sanitize(found.as_str()))
            }
            Self::NoSuchStep { found, steps: 0 } => {
                write!(f, "no step {found}: the trace has no steps, only a header")
            }
            Self::NoSuchStep { found, steps } => {
                let steps_noun = count(usize::try_from(*steps).unwrap_or(usize::MAX), "step");
                write!(f, "no step {found}: the trace has {steps_noun}; expected a number from 1 to {steps}")
            }
        }
    }
}

impl std::error::Error for ShowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Trace(error) => Some(error),
            Self::Io(error) => Some(error),
            Self::NoSuchStep { .. } | Self::NoSuchItem { .. } | Self::NoSuchKey { .. } => None,
        }
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
