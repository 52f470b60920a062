//! The hash chain: each line ends in a digest over the line and the chain before it.
//!
//! The header's chain covers the whole header. The chain of the steps starts from a digest of the header without `kernel`
//! and `table`, so another kernel version or transition table changes one line of a trace.

use crate::digest::{HEX_LEN, digest};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const BEFORE: &str = ",\"chain\":\"";
const AFTER: &str = "\"}";

/// The bytes that a chain and the newline add to a body, at most.
pub(super) const SEAL_BYTES: usize = BEFORE.len() + HEX_LEN + AFTER.len() + 1;

/// Returns the chain of a line. `linked` is the chain of the line before ("" for the header) and the body, side by side.
pub(super) fn link(linked: &str) -> String {
    digest(linked.as_bytes())
}

/// The part of the header that the steps depend on, as it is written.
#[derive(Serialize, Deserialize)]
struct StepConditions<'a> {
    #[serde(borrow)]
    format: &'a RawValue,
    #[serde(borrow)]
    conversation: &'a RawValue,
    #[serde(borrow)]
    policy: &'a RawValue,
    #[serde(borrow)]
    scenario: &'a RawValue,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    continues: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    lineage: Option<&'a RawValue>,
}

/// Returns the chain before the first step.
///
/// # Errors
/// The body is not a header.
pub(super) fn seed_steps(header_body: &str) -> serde_json::Result<String> {
    let conditions: StepConditions<'_> = serde_json::from_str(header_body)?;
    serde_json::to_vec(&conditions).map(|bytes| digest(&bytes))
}

/// Turns a body, a JSON object, into a line with its chain.
pub(super) fn seal(body: &mut String, chain: &str) {
    body.pop();
    for part in [BEFORE, chain, AFTER, "\n"] {
        body.push_str(part);
    }
}

/// Returns the end of a line with this chain.
pub(super) fn line_end(chain: &str) -> String {
    [chain, AFTER, "\n"].concat()
}

/// Splits a line into its body without the last brace and its chain. Returns `None` if the line has no chain.
pub(super) fn open(line: &str) -> Option<(&str, &str)> {
    let sealed = line.strip_suffix(AFTER)?;
    let at = sealed.len().checked_sub(HEX_LEN)?;
    if !sealed.is_char_boundary(at) {
        return None;
    }
    let (rest, chain) = sealed.split_at(at);
    Some((rest.strip_suffix(BEFORE)?, chain))
}
