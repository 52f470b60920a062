//! Idempotency keys of inputs, and what a host learns of an input with a key.

use crate::new_request::NewRequest;
use crate::session_user::SessionUser;
use orchestrion_kernel::Input;
use orchestrion_trace::{Idempotency, digest};
use serde::Serialize;
use std::fmt;
use thiserror::Error;

/// The maximum length of an idempotency key.
pub const KEY_BYTES_MAX: usize = 128;

/// A key that the host chooses for one input, so that it can send the input again. Another input needs another key.
///
/// A conversation remembers the latest [`RECENT_INPUTS_MAX`](orchestrion_trace::RECENT_INPUTS_MAX) inputs with a key, also after it was opened
/// again. A repetition of an older one is a new input. So a host repeats an input before it sends so many others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// A text is no idempotency key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyFormatError {
    /// The text is empty or too long.
    #[error(
        "idempotency key of {bytes} bytes: expected 1 to {KEY_BYTES_MAX} bytes, found {bytes}; choose another key"
    )]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// The text contains a character that no terminal shows.
    #[error("idempotency key with the control character {0:?}: expected none, found one; choose another key")]
    ControlCharacter(char),
}

impl IdempotencyKey {
    /// Creates a key.
    ///
    /// # Errors
    /// [`KeyFormatError`].
    pub fn new(key: impl Into<String>) -> Result<Self, KeyFormatError> {
        let key = key.into();
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return Err(KeyFormatError::Length { bytes: key.len() });
        }
        match key.chars().find(|character| character.is_control()) {
            Some(character) => Err(KeyFormatError::ControlCharacter(character)),
            None => Ok(Self(key)),
        }
    }

    /// The key as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Binds the key to an input.
    pub(crate) fn of_input(self, input: &Input) -> Idempotency {
        self.of_content(input)
    }

    /// Binds the key to a request. The session start is part of it, because the request may start a session.
    pub(crate) fn of_request(self, user: &SessionUser, request: &NewRequest) -> Idempotency {
        let SessionUser { user, identity } = user.clone();
        let NewRequest { text, scope, key: _ } = request.clone();
        let start = Input::SessionStart { user: user.clone(), identity: identity.map(Box::new) };
        self.of_content(&(start, Input::UserMessage { user, text, scope }))
    }

    fn of_content(self, content: &impl Serialize) -> Idempotency {
        // An input that cannot be serialized cannot be recorded either.
        let json = serde_json::to_vec(content).unwrap_or_default();
        Idempotency { key: self.0, digest: digest(&json) }
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What became of an input with a key. Its step is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The key.
    pub key: String,
    /// The step that the key has in the journal.
    pub step: u64,
    /// The result.
    pub result: KeyResult,
}

/// The result of an input with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyResult {
    /// The input is recorded.
    Recorded {
        /// Whether the kernel accepted it: it neither refused it nor denied its write. Otherwise the input keeps its key, and another
        /// attempt needs another key.
        is_accepted: bool,
        /// Whether an earlier input with this key and content was recorded, so that this one has no effect.
        is_repeated: bool,
    },
    /// The key belongs to another input, so this one was not recorded.
    KeyReused,
}

impl fmt::Display for Acknowledgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, step, result } = self;
        match result {
            KeyResult::Recorded { is_repeated: false, .. } => {
                write!(f, "the input with the key `{key}` is step {step}")
            }
            KeyResult::Recorded { is_repeated: true, .. } => {
                write!(
                    f,
                    "repeated idempotency key `{key}`: expected a new input, found that of step {step} again; it has no second effect"
                )
            }
            KeyResult::KeyReused => write!(
                f,
                "reused idempotency key `{key}`: expected the input of step {step}, found another; choose another key"
            ),
        }
    }
}
