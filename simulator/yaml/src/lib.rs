//! What every YAML file of the project has in common: how it is read, and how what is wrong in it is drawn.
//!
//! A file is bounded in size, checked for UTF-8 with a position, and read with the place of every value kept.
//! Deliberately absent: anchors and aliases. A file that is evidence says what it says where it says it, and
//! a file without aliases cannot grow while it is read.

mod error;
mod explain;
mod render;
mod scalar;
mod schema;
mod source;
mod spanned;

pub use error::ReadError;
pub use error::{LabeledError, nearest};
pub use explain::unknown_word;
pub use render::render_error;
pub use scalar::{Decimal, StrictText};
pub use schema::schema_of;
pub use source::FILE_BYTES_MAX;
pub use source::Source;
pub use spanned::Spanned;

/// Reads a field that, if it is there at all, must hold a value; an empty one is not the same as none.
pub fn required_value<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}
