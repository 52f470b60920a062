//! Models that cannot be explored.

use std::any::Any;
use std::fmt::{self, Debug, Display};

/// Why an exploration stops without a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A function of the model returned two different values for the same arguments.
    #[error(
        "model is not deterministic: `{function}` returned {first}, then {second} for the same arguments; {location}; a model's \
         functions may depend on nothing but their arguments"
    )]
    NotDeterministic {
        /// The function.
        function: &'static str,
        /// The first value, shortened.
        first: String,
        /// The second value, shortened.
        second: String,
        /// The location.
        location: Box<ErrorLocation>,
    },
    /// A packed state does not unpack to the same state.
    #[error(
        "pack mismatch: expected `unpack` to return {first}, found {second}; {location}; the packed bytes must determine the \
         state"
    )]
    PackMismatch {
        /// The state, shortened.
        first: String,
        /// The unpacked state, shortened.
        second: String,
        /// The location.
        location: Box<ErrorLocation>,
    },
    /// A function of the model panicked.
    #[error("model panicked in `{function}`: {message}; {location}")]
    Panicked {
        /// The function.
        function: &'static str,
        /// The panic message.
        message: String,
        /// The location.
        location: Box<ErrorLocation>,
    },
    /// A number exceeds what the explorer can count.
    #[error("too many {what}: expected at most {limit}; {location}")]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// The maximum.
        limit: u64,
        /// The location.
        location: Box<ErrorLocation>,
    },
}

/// The location of an error. Values are printed by `Debug`, shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorLocation {
    /// The state; `None` before the first state.
    pub state: Option<String>,
    /// The action, if the error concerns one.
    pub action: Option<String>,
    /// The actions from an initial state to the state; `None` if the path could not be rebuilt.
    pub path: Option<Vec<String>>,
}

impl Display for ErrorLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(state) = &self.state else { return f.write_str("before the first state") };
        if let Some(action) = &self.action {
            write!(f, "at the action {action} ")?;
        }
        write!(f, "in the state {state}, ")?;
        match &self.path {
            Some(path) if path.is_empty() => f.write_str("which is an initial state"),
            Some(path) => write!(f, "reached by {}", path.join(", ")),
            None => f.write_str("whose path could not be rebuilt"),
        }
    }
}

/// An error while a state is expanded, before its path is known.
#[derive(Debug)]
pub(super) struct ExpandError {
    pub(super) node: Option<u32>,
    /// The position of the action among all actions of the state.
    pub(super) action: Option<usize>,
    pub(super) what: ExpandErrorKind,
    /// The state and the action in words, if the state was dropped since.
    pub(super) described: Option<Box<(String, Option<String>)>>,
}

/// The kind of error.
#[derive(Debug)]
pub(super) enum ExpandErrorKind {
    NotDeterministic { function: &'static str, first: String, second: String },
    Unpacked { first: String, second: String },
    Panicked { function: &'static str, message: String },
    TooMany { what: &'static str, limit: u64 },
}

impl ExpandErrorKind {
    pub(super) fn at(self, place: ErrorLocation) -> ModelError {
        let place = Box::new(place);
        match self {
            Self::NotDeterministic { function, first, second } => {
                ModelError::NotDeterministic { function, first, second, location: place }
            }
            Self::Unpacked { first, second } => ModelError::PackMismatch { first, second, location: place },
            Self::Panicked { function, message } => {
                ModelError::Panicked { function, message, location: place }
            }
            Self::TooMany { what, limit } => ModelError::TooMany { what, limit, location: place },
        }
    }

    pub(super) fn panicked(function: &'static str, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panicked { function, message: text.unwrap_or("no message").to_owned() }
    }

    pub(super) fn unpacked<T: Debug>(packed: &impl Debug, unpacked: Option<&T>) -> Self {
        let second = unpacked.map_or("none".to_owned(), |state| short(state));
        Self::Unpacked { first: short(packed), second }
    }

    pub(super) fn differs(function: &'static str, first: &impl Debug, second: &impl Debug) -> Self {
        Self::NotDeterministic { function, first: short(first), second: short(second) }
    }
}

/// Prints a value by `Debug`, at most 300 characters.
pub(super) fn short(value: &impl Debug) -> String {
    const LENGTH: usize = 300;
    let text = format!("{value:?}");
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
