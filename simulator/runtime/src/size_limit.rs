//! Size limits of inputs.

use orchestrion_kernel::Input;
use serde::Serialize;
use std::{fmt, io};

/// The maximum size of one input in bytes of JSON.
pub const INPUT_BYTES_MAX: usize = 1 << 20;

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

/// Returns the length of a value as JSON, without keeping the JSON.
pub(crate) fn json_len_bytes(value: &impl Serialize) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // A value that cannot be serialized cannot be recorded either.
    serde_json::to_writer(&mut counter, value).map_or(usize::MAX, |()| counter.0)
}
