//! Replay: decides the recorded inputs again and compares the result with the trace.
//!
//! Entry points: [`replay`] finds the first divergence, [`update`] rewrites a trace with this kernel.

mod difference;
mod replayer;
mod update;

pub use difference::{Difference, excerpts, header_differences};
pub use update::{Update, update};

use crate::{ChangedDecision, DifferenceKind, Reader, TraceError};
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::ContextBuilder;
pub(crate) use replayer::{ReplayedStep, Replayer, compare_steps};
use std::io::BufRead;

/// The result of a replay.
#[derive(Debug, Default)]
pub struct Replay {
    /// Differences between the header and this build, as sentences. They often explain the other differences.
    pub header_differences: Vec<String>,
    /// The number of replayed steps, including the divergent one.
    pub steps: u64,
    /// The first divergence of a decision.
    pub difference: Option<Difference>,
    /// The first decision on the path of control that differs, in that step or a later one. Unknown for a journal, and where the recorded
    /// inputs end before.
    pub changed: Option<ChangedDecision>,
    /// The first step in which only texts differ.
    pub text_difference: Option<Difference>,
    /// The erased texts, and the steps whose events or context could not be compared because of them.
    pub erased_texts: u64,
    /// See [`Replay::erased_texts`].
    pub unverified_steps: u64,
    /// The error that ended reading, if any.
    pub read_error: Option<TraceError>,
}

impl Replay {
    /// Whether the whole trace was read and replayed without any difference.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.unverified_steps == 0
            && self.difference.is_none()
            && self.text_difference.is_none()
            && self.read_error.is_none()
    }
}

/// Replays a trace with the given policy, or with its recorded policy. Stops at the first divergence of a decision; after
/// it, the trace and the replay are different conversations.
pub fn replay<R: BufRead>(
    mut reader: Reader<R>,
    policy: Option<&Policy>,
    contexts: &'static dyn ContextBuilder,
) -> Replay {
    let header = reader.header().clone();
    let mut result = Replay { header_differences: header_differences(&header, policy), ..Replay::default() };
    let mut replayer = match Replayer::new(&reader, policy, contexts) {
        Ok(replayer) => replayer,
        Err(error) => return Replay { read_error: Some(error), ..result },
    };
    loop {
        let step = match replayer.next(&mut reader) {
            Ok(Some(step)) => step,
            Ok(None) => return result,
            Err(error) => {
                result.read_error = Some(error);
                return result;
            }
        };
        result.steps += 1;
        result.erased_texts = reader.erased_texts();
        result.unverified_steps += u64::from(step.is_unverified);
        match step.difference {
            None => {}
            Some((DifferenceKind::Texts, difference)) => {
                result.text_difference.get_or_insert(difference);
            }
            Some((DifferenceKind::Decisions, difference)) => {
                result.difference = Some(difference);
                result.changed = step.changed.or_else(|| first_changed_decision(&mut replayer, &mut reader));
                return result;
            }
        }
    }
}

/// Decides further recorded inputs until the path of control differs. An error of the trace is reported by a replay that reads as far.
fn first_changed_decision<R: BufRead>(
    replayer: &mut Replayer,
    reader: &mut Reader<R>,
) -> Option<ChangedDecision> {
    loop {
        let step = replayer.next(reader).ok()??;
        if step.changed.is_some() {
            return step.changed;
        }
    }
}
