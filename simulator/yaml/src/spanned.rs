//! Values with their source locations.

use miette::SourceSpan;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A value with its source location. Equality ignores the location, so that a built file equals a parsed one.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    span: Option<SourceSpan>,
}

impl<T> Spanned<T> {
    /// The location; `None` for a value that was not read from a file.
    #[must_use]
    pub const fn span(&self) -> Option<SourceSpan> {
        self.span
    }

    /// Creates a value with its location.
    pub const fn new(value: T, span: Option<SourceSpan>) -> Self {
        Self { value, span }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, span: None }
    }
}

impl<T: Default> Default for Spanned<T> {
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

/// Returns the byte range of a location. The library's plain offsets count characters; miette requires bytes.
fn byte_span(location: serde_saphyr::Location) -> Option<SourceSpan> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let len = usize::try_from(span.byte_len()?).ok()?;
    Some(SourceSpan::new(start.into(), len))
}

/// Returns the byte range of a location that may have only a line and a column, as for invalid YAML.
pub(crate) fn byte_span_in(text: &str, location: serde_saphyr::Location) -> Option<SourceSpan> {
    byte_span(location).or_else(|| {
        let before = usize::try_from(location.line()).ok()?.checked_sub(1)?;
        let column = usize::try_from(location.column()).ok()?.saturating_sub(1);
        let lines: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let line = text.get(lines..)?.lines().next().unwrap_or("");
        let start = line.char_indices().nth(column).map_or(line.len(), |(start, _)| start);
        Some(SourceSpan::new(lines.saturating_add(start).into(), 0))
    })
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_saphyr::Spanned::<T>::deserialize(deserializer)?;
        Ok(Self { span: byte_span(spanned.referenced), value: spanned.value })
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
