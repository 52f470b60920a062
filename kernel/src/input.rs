//! Everything that may happen to an orchestrator: a closed list (000 §4.3).

use crate::ids::{CallId, Text, UserId};
use crate::knowledge::Write;
use crate::module::{Failure, Report};
use crate::situation::{ActionRecord, SummaryUpdate};
use alloc::boxed::Box;
use core::fmt;

/// An external input, or the internal step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Input {
    /// A user opens a session in the conversation.
    SessionStart {
        /// Who.
        user: UserId,
    },
    /// The session ends; its working set is forgotten.
    SessionEnd,
    /// The user asks for something.
    UserMessage {
        /// Who asks; the one whose session it is.
        user: UserId,
        /// For what.
        text: Text,
    },
    /// A module answered.
    Reply {
        /// Which call.
        call: CallId,
        /// What, typed at the border.
        report: Report,
        /// What it says of the situation beside that, if anything (002).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        summary_update: Option<SummaryUpdate>,
        /// What it thought and did for that, if it tells (002, action record).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        action: Option<Box<ActionRecord>>,
    },
    /// A call ended without an answer.
    CallFailed {
        /// Which call.
        call: CallId,
        /// How.
        failure: Failure,
    },
    /// Nothing new came; the orchestrator goes on by itself (000 `InNone`).
    Step,
    /// The user wants the running request to stop.
    Cancel,
    /// Something is to be known that no module was asked for: a fact, a signal, what time it is. It moves no control.
    Write(Box<Write>),
    /// The runtime is back after a crash; nothing of the conversation was lost (decision 0015).
    Resume,
}

/// 000's three kinds of input, to which every [`Input`] projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaseInput {
    /// `InUserMsg`
    UserMsg,
    /// `InToolResult`
    ToolResult,
    /// `InNone`
    None,
}

/// What kind of input came; the column "on" of the transition table, where writes and resumes never stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trigger {
    /// [`Input::SessionStart`]
    SessionStart,
    /// [`Input::SessionEnd`]
    SessionEnd,
    /// [`Input::UserMessage`]
    UserMessage,
    /// [`Input::Reply`]
    Reply,
    /// [`Input::CallFailed`]
    CallFailed,
    /// [`Input::Step`]
    Step,
    /// [`Input::Cancel`]
    Cancel,
    /// [`Input::Write`]
    Write,
    /// [`Input::Resume`]
    Resume,
}

impl Trigger {
    /// Every kind of input.
    pub const ALL: [Self; 9] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserMessage,
        Self::Reply,
        Self::CallFailed,
        Self::Step,
        Self::Cancel,
        Self::Write,
        Self::Resume,
    ];
}

impl Input {
    /// An answer that says nothing beside the report.
    #[must_use]
    pub const fn reply(call: CallId, report: Report) -> Self {
        Self::Reply { call, report, summary_update: None, action: None }
    }

    /// The kind of this input.
    #[must_use]
    pub const fn trigger(&self) -> Trigger {
        match self {
            Self::SessionStart { .. } => Trigger::SessionStart,
            Self::SessionEnd => Trigger::SessionEnd,
            Self::UserMessage { .. } => Trigger::UserMessage,
            Self::Reply { .. } => Trigger::Reply,
            Self::CallFailed { .. } => Trigger::CallFailed,
            Self::Step => Trigger::Step,
            Self::Cancel => Trigger::Cancel,
            Self::Write(_) => Trigger::Write,
            Self::Resume => Trigger::Resume,
        }
    }

    /// The projection to 000's inputs. What the user does beside asking is a message in 000's terms.
    #[must_use]
    pub const fn base(&self) -> BaseInput {
        match self {
            Self::SessionStart { .. } | Self::SessionEnd | Self::UserMessage { .. } | Self::Cancel => {
                BaseInput::UserMsg
            }
            Self::Reply { .. } | Self::CallFailed { .. } => BaseInput::ToolResult,
            Self::Step | Self::Write(_) | Self::Resume => BaseInput::None,
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SessionStart => "session start",
            Self::SessionEnd => "session end",
            Self::UserMessage => "user message",
            Self::Reply => "reply",
            Self::CallFailed => "call failure",
            Self::Step => "step",
            Self::Cancel => "cancel",
            Self::Write => "write",
            Self::Resume => "resume",
        })
    }
}
