//! Differences between a trace and this build.

use crate::format::{Header, table_digest};
use orchestrion_kernel::Policy;

/// A difference between the trace and the replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The step.
    pub step: u64,
    /// The differing part, as a noun phrase.
    pub subject: String,
    /// The value in the trace.
    pub recorded: String,
    /// The value from this kernel.
    pub replayed: String,
}

/// Returns the differences between a header and this build, as sentences.
#[must_use]
pub fn header_differences(header: &Header, policy: Option<&Policy>) -> Vec<String> {
    let mut differences = Vec::new();
    let mut differ = |what: &str, recorded: &str, here: &str| {
        if recorded != here {
            differences.push(format!("{what}: recorded {recorded}, here {here}"));
        }
    };
    differ("kernel version", &header.kernel, orchestrion_kernel::VERSION);
    differ("transition table", &header.table, table_digest());
    match policy {
        Some(policy) => {
            differ("policy", &header.policy.name, &policy.name);
            if header.policy != *policy && header.policy.name == policy.name {
                differences
                    .push(format!("policy {}: the settings differ from the recorded ones", policy.name));
            }
        }
        None => {
            if Policy::built_in(&header.policy.name).is_some_and(|now| now != header.policy) {
                let name = &header.policy.name;
                differences.push(format!(
                    "policy {name}: the built-in policy changed since the recording; replayed with the recorded policy"
                ));
            }
        }
    }
    differences
}
