//! A trace as this kernel would write it: the recorded inputs decided again, and written down with a fresh
//! header.
//!
//! The inputs stay as they were recorded. One that is refused now is written down as refused; what came of the
//! inputs after it may then be something else, and the update says so step by step.

use super::replayer::{ReplayedStep, Replayer};
use super::{Difference, header_differences};
use crate::{DifferenceKind, Header, Reader, StepRecord, TraceError, Writer};
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::ContextBuilder;
use std::io::{self, BufRead, Write};

/// What would change in a trace.
#[derive(Debug, Default)]
pub struct Update {
    /// Whether the header would.
    pub new_header: bool,
    /// In what the header differs from this kernel, as sentences.
    pub header: Vec<String>,
    /// The steps of the trace.
    pub steps: u64,
    /// The first steps that would change, [`Update::FIRST_MAX`] at most.
    pub first: Vec<Difference>,
    /// How many steps would change.
    pub changed: u64,
    /// How many of them are inputs that were accepted and are refused now.
    pub refused_now: u64,
    /// The scenario from which the trace was recorded.
    pub scenario: Option<String>,
    /// Why the rest could not be read; there is no update then.
    pub unread: Option<TraceError>,
    /// The chain that the updated trace ends in. It stands for every byte of it.
    pub chain: String,
}

impl Update {
    /// So many steps are told of one by one.
    pub const FIRST_MAX: usize = 5;

    /// Whether there is something to write.
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.unread.is_none() && (self.new_header || self.changed > 0)
    }
}

/// Writes a trace anew to `out`, under its own policy unless another is given, and says what changed.
///
/// # Errors
/// Whatever `out` gives.
pub fn update<R: BufRead, W: Write>(
    mut reader: Reader<R>,
    policy: Option<&Policy>,
    contexts: &'static dyn ContextBuilder,
    out: W,
) -> io::Result<Update> {
    let recorded = reader.header().clone();
    let decided_under = policy.unwrap_or(&recorded.policy).clone();
    let header = Header::new(recorded.conversation.clone(), decided_under, recorded.scenario.clone());
    let mut found = Update {
        new_header: header != recorded,
        header: header_differences(&recorded, policy),
        scenario: recorded.scenario.as_ref().map(|scenario| scenario.name.clone()),
        ..Update::default()
    };
    let mut writer = Writer::new(out, &header)?;
    let mut again = match Replayer::new(&reader, policy, contexts) {
        Ok(replayer) => replayer,
        Err(error) => return Ok(Update { unread: Some(error), ..found }),
    };
    loop {
        let ReplayedStep { stamp, input, decided, difference } = match again.next(&mut reader) {
            Ok(Some(turn)) => turn,
            Ok(None) => break,
            Err(error) => {
                found.unread = Some(error);
                return Ok(found);
            }
        };
        found.steps += 1;
        if let Some((layer, difference)) = difference {
            found.changed += 1;
            found.refused_now += u64::from(layer == DifferenceKind::Decisions && decided.outcome.is_err());
            if found.first.len() < Update::FIRST_MAX {
                found.first.push(difference);
            }
        }
        match decided.outcome {
            Ok(events) => {
                writer.step(&stamp, &input, StepRecord::accepted(&events, decided.shown.as_ref()))?
            }
            Err(sentence) => writer.step(&stamp, &input, StepRecord::refused(&sentence))?,
        }
    }
    found.chain = writer.finish()?;
    Ok(found)
}
