//! YAML files with exact source locations in every error.
//!
//! A text is parsed into a tree of values with their locations. File types deserialize from the tree.
//!
//! Entry points: [`Source`] reads a file and parses it into a type; [`Spanned`] keeps the location of a value;
//! [`LabeledError`] describes a defect at a location; [`ReadError`] is the printable error; [`schema_of`] returns the JSON Schema
//! of a type. A file has a maximum size and must be UTF-8. Deliberately absent: anchors and aliases, because a file
//! without aliases cannot grow during parsing.

mod deserializer;
mod error;
mod limits;
mod location;
mod node;
mod renamed;
mod render;
mod scalar;
mod schema;
mod source;
mod spanned;
mod syntax_error;
#[cfg(test)]
mod tests;
mod type_error;

pub use error::{LabeledError, ReadError, suggest_nearest};
pub use limits::{FILE_BYTES_MAX, FileLimits};
pub use render::render_error;
pub use scalar::{Decimal, MeasuredScore, StrictText, parse_scalar};
pub use schema::schema_of;
pub use source::Source;
pub use spanned::Spanned;
pub use type_error::unknown_value_error;

/// Deserializes an optional field that must have a value if its key is present.
///
/// # Errors
/// The value is missing or invalid.
pub fn required_value<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
