//! A request to start.

use orchestrion_kernel::Text;
use orchestrion_kernel::item::Scope;

/// The text of a request with the scope in which it runs. A text alone runs in the global scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequest {
    /// The text.
    pub text: Text,
    /// The scope. An earlier write opened it.
    pub scope: Scope,
}

impl From<Text> for NewRequest {
    fn from(text: Text) -> Self {
        Self { text, scope: Scope::Global }
    }
}

impl From<&str> for NewRequest {
    fn from(text: &str) -> Self {
        Text::from(text).into()
    }
}
