//! Size limits of inputs.

use orchestrion_kernel::Input;
use orchestrion_trace::{RequestFacts, json_len_bytes, json_values};
use std::fmt;

/// The maximum size of one input in bytes of JSON.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

/// The maximum number of values and keys of one input. A line of a trace has a limit, too, and the events of a step can contain the values
/// of their input more than once.
pub const INPUT_VALUES_MAX: usize = 100_000;

/// The maximum size of all replies of one request in bytes of JSON. The final answer contains all outputs, and a line of a
/// trace has a maximum length.
const REQUEST_BYTES_MAX: usize = 8 << 20;

/// The size of a reply that is accepted even beyond [`REQUEST_BYTES_MAX`], so that a receipt never fails.
const SMALL_REPLY_BYTES: usize = 4096;

/// An input exceeds a size limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimitError {
    /// The input, as a noun phrase.
    pub subject: &'static str,
    /// What is counted, as a noun phrase.
    pub unit: &'static str,
    /// Its size.
    pub found: usize,
    /// The limit.
    pub max: usize,
}

impl fmt::Display for SizeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, unit, found, max } = self;
        write!(f, "{subject} too large: expected at most {max} {unit}, found {found}")
    }
}

impl std::error::Error for SizeLimitError {}

const BYTES: &str = "bytes of JSON";
const VALUES: &str = "values and keys of JSON";

/// Returns the size of an input in bytes of JSON, or an error if it exceeds [`INPUT_BYTES_MAX`] or [`INPUT_VALUES_MAX`].
pub(crate) fn check_input_size(input: &Input) -> Result<usize, SizeLimitError> {
    let bytes = json_len_bytes(input);
    let subject = if matches!(input, Input::Reply { .. }) { "reply" } else { "message" };
    check(subject, BYTES, bytes, INPUT_BYTES_MAX)?;
    // Each value has at least one byte.
    if bytes > INPUT_VALUES_MAX {
        let json = serde_json::to_vec(input).unwrap_or_default();
        check(subject, VALUES, json_values(&json), INPUT_VALUES_MAX)?;
    }
    Ok(bytes)
}

/// Checks that a reply is within the limits of an input and of the request.
pub(crate) fn check_reply_size(reply: &Input, facts: Option<&RequestFacts>) -> Result<(), SizeLimitError> {
    let bytes = check_input_size(reply)?;
    let bytes_max = REQUEST_BYTES_MAX.saturating_sub(facts.map_or(0, |facts| facts.reply_bytes));
    if bytes <= SMALL_REPLY_BYTES { Ok(()) } else { check("reply", BYTES, bytes, bytes_max) }
}

const fn check(
    subject: &'static str,
    unit: &'static str,
    found: usize,
    max: usize,
) -> Result<(), SizeLimitError> {
    if found <= max { Ok(()) } else { Err(SizeLimitError { subject, unit, found, max }) }
}
