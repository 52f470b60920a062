//! Update: rewrites a trace with this kernel's decisions and a new header.
//!
//! The recorded inputs do not change. An input that is refused now is recorded as refused, which may change all later steps.

use super::difference::{Difference, header_differences};
use super::replayer::{ReplayedStep, Replayer};
use crate::error::{TraceError, TraceErrorKind};
use crate::format::{Header, StepRecord};
use crate::layers::DifferenceKind;
use crate::read::Reader;
use crate::write::Writer;
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::ContextBuilder;
use std::io::{self, BufRead, Write};

/// The changes of an update.
#[derive(Debug, Default)]
pub struct Update {
    /// Whether the header changes.
    pub new_header: bool,
    /// Differences between the header and this build, as sentences.
    pub header_differences: Vec<String>,
    /// The number of steps.
    pub steps: u64,
    /// The first changed steps, at most [`Update::DIFFERENCES_MAX`].
    pub first_differences: Vec<Difference>,
    /// The number of changed steps.
    pub changed_steps: u64,
    /// The number of inputs that were accepted and are refused now.
    pub newly_refused: u64,
    /// The name of the scenario that the trace was recorded from.
    pub scenario: Option<String>,
    /// The error that ended reading; the update is then incomplete.
    pub read_error: Option<TraceError>,
    /// The chain of the last line. It covers all lines except the kernel version and table digest in the header.
    pub chain: String,
}

impl Update {
    /// The maximum of [`Update::first_differences`].
    pub const DIFFERENCES_MAX: usize = 5;

    /// Whether the updated trace differs and is complete.
    #[must_use]
    pub const fn is_needed(&self) -> bool {
        self.read_error.is_none() && (self.new_header || self.changed_steps > 0)
    }
}

/// Writes a trace to `out` as this kernel decides it, with the given policy or the recorded one, and returns the changes.
///
/// # Errors
/// Any I/O error of `out`.
pub fn update<R: BufRead, W: Write>(
    mut reader: Reader<R>,
    policy: Option<&Policy>,
    contexts: &'static dyn ContextBuilder,
    out: W,
) -> io::Result<Update> {
    let recorded = reader.header().clone();
    let policy_used = policy.unwrap_or(&recorded.policy).clone();
    let header = Header {
        format: recorded.format.clone(),
        lineage: recorded.lineage.clone(),
        ..Header::new(recorded.conversation.clone(), policy_used, recorded.scenario.clone())
    };
    let mut update = Update {
        new_header: header != recorded,
        header_differences: header_differences(&recorded, policy),
        scenario: recorded.scenario.as_ref().map(|scenario| scenario.name.clone()),
        ..Update::default()
    };
    if let Some(end) = &recorded.continues {
        let error = reader.error(TraceErrorKind::Segment { steps: end.steps });
        return Ok(Update { read_error: Some(error), ..update });
    }
    let mut writer = Writer::new(out, &header)?;
    let mut replayer = match Replayer::new(&reader, policy, contexts) {
        Ok(replayer) => replayer,
        Err(error) => return Ok(Update { read_error: Some(error), ..update }),
    };
    loop {
        let ReplayedStep { metadata, input, outcome, difference, changed: _, is_unverified: _ } =
            match replayer.next(&mut reader) {
                Ok(Some(step)) => step,
                Ok(None) => break,
                Err(error) => {
                    update.read_error = Some(error);
                    return Ok(update);
                }
            };
        update.steps += 1;
        if let Some((layer, difference)) = difference {
            update.changed_steps += 1;
            update.newly_refused += u64::from(layer == DifferenceKind::Decisions && outcome.result.is_err());
            if update.first_differences.len() < Update::DIFFERENCES_MAX {
                update.first_differences.push(difference);
            }
        }
        match outcome.result {
            Ok(events) => writer.write_step(
                &metadata,
                &input,
                StepRecord::accepted(&events, outcome.context.as_ref()),
            )?,
            Err(sentence) => writer.write_step(&metadata, &input, StepRecord::refused(&sentence))?,
        }
    }
    if reader.erased_texts() > 0 {
        let reason = format!("expected none in an update, found {}", reader.erased_texts());
        update.read_error = Some(reader.error(TraceErrorKind::ErasedText(reason)));
        return Ok(update);
    }
    update.chain = writer.end_with_chain()?;
    Ok(update)
}
