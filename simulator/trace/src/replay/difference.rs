//! Differences between a trace and this build.

use crate::format::{Header, table_digest};
use orchestrion_kernel::Policy;

/// Characters of a difference that are shown, and those before its first difference.
const EXCERPT_CHARS: usize = 160;
const PREFIX_CHARS: usize = 40;

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

/// Returns excerpts of two texts, from shortly before their first difference.
#[must_use]
pub fn excerpts(a: &str, b: &str) -> (String, String) {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let skipped = common.saturating_sub(PREFIX_CHARS);
    let excerpt = |text: &str| {
        let mut chars = text.chars().skip(skipped);
        let mut excerpt = if skipped > 0 { "…".to_string() } else { String::new() };
        excerpt.extend(chars.by_ref().take(EXCERPT_CHARS));
        if chars.next().is_some() {
            excerpt.push('…');
        }
        excerpt
    };
    (excerpt(a), excerpt(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_start_before_first_difference() {
        assert_eq!(excerpts("same", "sane"), ("same".to_string(), "sane".to_string()));
        let (long, longer) = ("é".repeat(500) + "a" + &"x".repeat(500), "é".repeat(500) + "b");
        let (a, b) = excerpts(&long, &longer);
        assert_eq!(a, format!("…{}a{}…", "é".repeat(40), "x".repeat(119)));
        assert_eq!(b, format!("…{}b", "é".repeat(40)));
    }
}
