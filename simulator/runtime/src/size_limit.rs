//! Size limits of inputs.

use orchestrion_kernel::Input;
use orchestrion_trace::{RequestFacts, json_len_bytes};
use std::fmt;

/// The maximum size of one input in bytes of JSON.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

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
    /// Its size in bytes of JSON.
    pub bytes: usize,
    /// The limit in bytes of JSON.
    pub bytes_max: usize,
}

impl fmt::Display for SizeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, bytes, bytes_max } = self;
        write!(f, "{subject} too large: expected at most {bytes_max} bytes of JSON, found {bytes}")
    }
}

impl std::error::Error for SizeLimitError {}

/// Returns the size of an input in bytes of JSON, or an error if it exceeds [`INPUT_BYTES_MAX`].
pub(crate) fn check_input_size(input: &Input) -> Result<usize, SizeLimitError> {
    let bytes = json_len_bytes(input);
    let subject = if matches!(input, Input::Reply { .. }) { "reply" } else { "message" };
    if bytes <= INPUT_BYTES_MAX {
        Ok(bytes)
    } else {
        Err(SizeLimitError { subject, bytes, bytes_max: INPUT_BYTES_MAX })
    }
}

/// Checks that a reply is within the limits of an input and of the request.
pub(crate) fn check_reply_size(reply: &Input, facts: Option<&RequestFacts>) -> Result<(), SizeLimitError> {
    let bytes = check_input_size(reply)?;
    let bytes_max = REQUEST_BYTES_MAX.saturating_sub(facts.map_or(0, |facts| facts.reply_bytes));
    if bytes <= bytes_max.max(SMALL_REPLY_BYTES) {
        Ok(())
    } else {
        Err(SizeLimitError { subject: "reply", bytes, bytes_max })
    }
}
