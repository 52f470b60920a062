//! Models that cannot be explored.

use std::any::Any;
use std::fmt::{self, Debug, Display};

/// Why nothing can be said of a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The same question, asked twice, was answered differently.
    #[error(
        "the model is not deterministic: asked twice, `{asked}` gave {first}, then {second}; {place}; \
         a model's functions must depend on nothing but their arguments"
    )]
    NotDeterministic {
        /// The function.
        asked: &'static str,
        /// The first answer, shortened.
        first: String,
        /// The second answer, shortened.
        second: String,
        /// Where.
        place: Box<ErrorLocation>,
    },
    /// A state was packed, and did not come out as it was.
    #[error(
        "the model's `unpack` gave {second} where `pack` was given {first}; {place}; \
         what is packed must be told from its bytes"
    )]
    PackMismatch {
        /// The state, shortened.
        first: String,
        /// What came out, shortened.
        second: String,
        /// Where.
        place: Box<ErrorLocation>,
    },
    /// A function of the model panicked.
    #[error("the model panicked in `{asked}`: {message}; {place}")]
    Panicked {
        /// The function.
        asked: &'static str,
        /// What it said.
        message: String,
        /// Where.
        place: Box<ErrorLocation>,
    },
    /// There is more of something than can be numbered.
    #[error("the model has too many {what}: at most {limit} can be told apart; {place}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: u64,
        /// Where.
        place: Box<ErrorLocation>,
    },
}

/// Where something went wrong; everything as `Debug` prints it, shortened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorLocation {
    /// The state; none before the first.
    pub state: Option<String>,
    /// The action, if it was about one.
    pub action: Option<String>,
    /// The actions from an initial state to the state; none if they could not be found again.
    pub way: Option<Vec<String>>,
}

impl Display for ErrorLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(state) = &self.state else { return f.write_str("before the first state") };
        if let Some(action) = &self.action {
            write!(f, "at the action {action} ")?;
        }
        write!(f, "in the state {state}, ")?;
        match &self.way {
            Some(way) if way.is_empty() => f.write_str("which is an initial one"),
            Some(way) => write!(f, "reached by {}", way.join(", ")),
            None => f.write_str("to which no way was found again"),
        }
    }
}

/// What went wrong in expanding a state, before it is told how that was reached.
#[derive(Debug)]
pub(super) struct ExpandError {
    pub(super) node: Option<u32>,
    /// The action, by its position among all of the state's.
    pub(super) action: Option<usize>,
    pub(super) what: ExpandErrorKind,
}

/// What went wrong.
#[derive(Debug)]
pub(super) enum ExpandErrorKind {
    NotDeterministic { asked: &'static str, first: String, second: String },
    Unpacked { first: String, second: String },
    Panicked { asked: &'static str, message: String },
    TooMany { what: &'static str, limit: u64 },
}

impl ExpandErrorKind {
    pub(super) fn at(self, place: ErrorLocation) -> ModelError {
        let place = Box::new(place);
        match self {
            Self::NotDeterministic { asked, first, second } => {
                ModelError::NotDeterministic { asked, first, second, place }
            }
            Self::Unpacked { first, second } => ModelError::PackMismatch { first, second, place },
            Self::Panicked { asked, message } => ModelError::Panicked { asked, message, place },
            Self::TooMany { what, limit } => ModelError::TooMany { what, limit, place },
        }
    }

    pub(super) fn panicked(asked: &'static str, payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panicked { asked, message: text.unwrap_or("it said nothing").to_owned() }
    }

    pub(super) fn unpacked<T: Debug>(packed: &impl Debug, unpacked: Option<&T>) -> Self {
        let second = unpacked.map_or("nothing".to_owned(), |state| short(state));
        Self::Unpacked { first: short(packed), second }
    }

    pub(super) fn differs(asked: &'static str, first: &impl Debug, second: &impl Debug) -> Self {
        Self::NotDeterministic { asked, first: short(first), second: short(second) }
    }
}

/// As `Debug` prints it, up to 300 characters.
pub(super) fn short(value: &impl Debug) -> String {
    const LENGTH: usize = 300;
    let text = format!("{value:?}");
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
