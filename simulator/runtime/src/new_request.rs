//! A request to start.

use crate::idempotency_key::IdempotencyKey;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::Scope;

/// The text of a request with the scope in which it runs. A text alone runs in the global scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// The text.
    pub text: Text,
    /// The scope. An earlier write opened it.
    pub scope: Scope,
    /// The key with which the request can be sent again. Without a key, a request that is sent again is another request.
    pub key: Option<IdempotencyKey>,
}

impl NewRequest {
    /// Sets the key with which the request can be sent again.
    #[must_use]
    pub fn with_key(self, key: IdempotencyKey) -> Self {
        Self { key: Some(key), ..self }
    }
}

impl From<Text> for NewRequest {
    fn from(text: Text) -> Self {
        Self { text, scope: Scope::Global, key: None }
    }
}

impl From<&str> for NewRequest {
    fn from(text: &str) -> Self {
        Text::from(text).into()
    }
}
