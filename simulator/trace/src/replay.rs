//! Replay: the recorded inputs go through the kernel again, and what it decides is held against the record.

mod replayer;
mod update;

pub use replayer::Replayer;
pub use update::{Update, update};

use crate::{DifferenceKind, Header, Reader, TraceError, table_digest};
use orchestrion_kernel::Policy;
use orchestrion_kernel::context::ContextBuilder;
use std::io::BufRead;

/// What a replay found.
#[derive(Debug, Default)]
pub struct Replay {
    /// In what the header differs from this kernel, as sentences. Looked at first: it explains the rest.
    pub header: Vec<String>,
    /// Steps that were replayed, the differing one included.
    pub steps: u64,
    /// The first step that differs.
    pub difference: Option<Difference>,
    /// The first step that differs only in texts.
    pub texts: Option<Difference>,
    /// Why the rest could not be read.
    pub read_error: Option<TraceError>,
}

/// Where and how a replay departs from the record.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The step.
    pub step: u64,
    /// What is different, as a noun phrase.
    pub what: String,
    /// What the record says.
    pub recorded: String,
    /// What this kernel decides.
    pub replayed: String,
}

impl Replay {
    /// Whether everything was read and decided as recorded, texts included.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.difference.is_none() && self.texts.is_none() && self.read_error.is_none()
    }
}

/// Replays a trace, under its own policy unless another is given. It stops at the first decision that
/// differs: after it, the record and the replay are two different conversations.
pub fn replay<R: BufRead>(
    mut reader: Reader<R>,
    policy: Option<&Policy>,
    contexts: &'static dyn ContextBuilder,
) -> Replay {
    let header = reader.header().clone();
    let mut found = Replay { header: header_differences(&header, policy), ..Replay::default() };
    let mut again = match Replayer::new(&reader, policy, contexts) {
        Ok(replayer) => replayer,
        Err(error) => return Replay { read_error: Some(error), ..found },
    };
    loop {
        let turn = match again.next(&mut reader) {
            Ok(Some(turn)) => turn,
            Ok(None) => return found,
            Err(error) => {
                found.read_error = Some(error);
                return found;
            }
        };
        found.steps += 1;
        match turn.difference {
            None => {}
            Some((DifferenceKind::Texts, difference)) => {
                found.texts.get_or_insert(difference);
            }
            Some((DifferenceKind::Decisions, difference)) => {
                found.difference = Some(difference);
                return found;
            }
        }
    }
}

/// In what a header differs from this build, as sentences.
pub fn header_differences(header: &Header, policy: Option<&Policy>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, recorded: &str, here: &str| {
        if recorded != here {
            differences.push(format!("{what}: recorded {recorded}, here {here}"));
        }
    };
    differ("kernel version", &header.kernel, orchestrion_kernel::VERSION);
    differ("transition table", &header.table, &table_digest());
    match policy {
        Some(policy) => {
            differ("policy", &header.policy.name, &policy.name);
            if header.policy != *policy && header.policy.name == policy.name {
                differences.push(format!("policy {}: its settings changed since the recording", policy.name));
            }
        }
        None => {
            if Policy::built_in(&header.policy.name).is_some_and(|now| now != header.policy) {
                let name = &header.policy.name;
                differences.push(format!(
                    "policy {name}: the built-in one changed since; replayed with the recorded one"
                ));
            }
        }
    }
    differences
}
