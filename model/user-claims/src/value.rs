//! Values of fields.

use orchestrion_kernel::Text;

/// The value of a field at an event, borrowed from the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'e> {
    /// True or false.
    Flag(bool),
    /// A whole number, or millionths of a score.
    Number(i64),
    /// A name of a fixed list.
    Name(&'static str),
    /// A text.
    Text(&'e str),
}

/// A value that a monitor keeps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum KeptValue {
    /// The event has no such field, or it has no value.
    Absent,
    /// True or false.
    Flag(bool),
    /// A whole number, or millionths of a score.
    Number(i64),
    /// A name of a fixed list.
    Name(&'static str),
    /// A text.
    Text(Text),
}

impl From<Option<Value<'_>>> for KeptValue {
    fn from(value: Option<Value<'_>>) -> Self {
        match value {
            None => Self::Absent,
            Some(Value::Flag(flag)) => Self::Flag(flag),
            Some(Value::Number(number)) => Self::Number(number),
            Some(Value::Name(name)) => Self::Name(name),
            Some(Value::Text(text)) => Self::Text(Text::from(text)),
        }
    }
}
