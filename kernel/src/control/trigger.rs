//! The kinds of input, by which the transition table selects rows.

use core::fmt;

/// The kind of an [`Input`](crate::Input); the column "on" of the transition table. No row has `Write`, `Network`, `Tick` or
/// `Resume`:
/// none changes the phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// [`Input::SessionStart`](crate::Input::SessionStart)
    SessionStart,
    /// [`Input::SessionEnd`](crate::Input::SessionEnd)
    SessionEnd,
    /// [`Input::UserMessage`](crate::Input::UserMessage)
    UserMessage,
    /// [`Input::Reply`](crate::Input::Reply)
    Reply,
    /// [`Input::CallFailed`](crate::Input::CallFailed)
    CallFailed,
    /// [`Input::Step`](crate::Input::Step)
    Step,
    /// [`Input::Cancel`](crate::Input::Cancel)
    Cancel,
    /// [`Input::Write`](crate::Input::Write)
    Write,
    /// [`Input::Network`](crate::Input::Network)
    Network,
    /// [`Input::Tick`](crate::Input::Tick)
    Tick,
    /// [`Input::Resume`](crate::Input::Resume)
    Resume,
}

impl Trigger {
    /// Every kind of input.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserMessage,
        Self::Reply,
        Self::CallFailed,
        Self::Step,
        Self::Cancel,
        Self::Write,
        Self::Network,
        Self::Tick,
        Self::Resume,
    ];

    /// Its name, as a noun.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session start",
            Self::SessionEnd => "session end",
            Self::UserMessage => "user message",
            Self::Reply => "reply",
            Self::CallFailed => "call failure",
            Self::Step => "step",
            Self::Cancel => "cancel",
            Self::Write => "write",
            Self::Network => "network change",
            Self::Tick => "tick",
            Self::Resume => "resume",
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
