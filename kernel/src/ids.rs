//! Identifiers, texts and timestamps (000 §1).
//!
//! The kernel numbers items, calls and requests in order, and reuses no number within a conversation. The planner numbers
//! tasks; revisions start anew in each request. Deliberately absent: arithmetic on ids other than *next*.

mod timestamp;

pub use timestamp::Timestamp;

use alloc::sync::Arc;
use core::fmt;

/// A finite, immutable text (000 §1). A clone shares the allocation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Arc<str>);

impl Text {
    /// Returns the text as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Arc<str>>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "serde")]
mod encoding {
    use super::Text;
    use alloc::string::String;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Text {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str(self.as_str())
        }
    }

    impl<'de> Deserialize<'de> for Text {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            String::deserialize(deserializer).map(Self::from)
        }
    }
}

macro_rules! number {
    ($($(#[$doc:meta])* $name:ident($inner:ty)),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        pub struct $name($inner);

        impl $name {
            /// The first id of its kind.
            pub const FIRST: Self = Self(1);

            /// Creates the id with this number.
            #[must_use]
            pub const fn new(number: $inner) -> Self {
                Self(number)
            }

            /// Returns the number.
            #[must_use]
            pub const fn number(self) -> $inner {
                self.0
            }

            /// Returns the next id. It saturates, so that it is total.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

number! {
    /// An item of the semantic state (000 `ItemId`).
    ItemId(u64),
    /// A module call (000 `CallId`). Also the idempotency key of that call.
    CallId(u64),
    /// A request of one conversation, counted from 1.
    RequestId(u32),
    /// A task of a plan. The author of the plan numbers its tasks; in a later plan of the same request, an equal number
    /// identifies the same task.
    TaskId(u32),
    /// A revision of the plan of one request; the planner's baseline is revision 1.
    Revision(u32),
}

macro_rules! name {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(transparent))]
        pub struct $name(Text);

        impl $name {
            /// Creates an id from a string.
            pub fn new(name: impl Into<Text>) -> Self {
                Self(name.into())
            }

            /// Returns the id as a string slice.
            #[must_use]
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

name! {
    /// A user (000 `U`).
    UserId,
    /// A conversation (000 `Conv`): one state `O` and one log.
    ConversationId,
    /// A node of the trust network (001 §3.1 `NodeId`).
    NodeId,
    /// A capability of a node (001 §2.1 `CapabilityId`).
    CapabilityId,
    /// A declared cluster of nodes (001 §8.2).
    ClusterId,
}

/// A request's conversation and number, which the user receives (004 §1, "Output results & trace_id").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TraceId {
    /// The conversation.
    pub conversation: ConversationId,
    /// The request.
    pub request: RequestId,
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.conversation, self.request)
    }
}
