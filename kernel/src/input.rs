//! Inputs: the closed list of what can happen to the orchestrator (000 §4.3).

use crate::control::trigger::Trigger;
use crate::ids::{CallId, Text, Timestamp, UserId};
use crate::item::Scope;
use crate::knowledge::types::{NewIdentity, Write};
use crate::module::{Failure, Report};
use crate::network::{InteractionReport, NetworkInput};
use crate::situation::{ActionRecord, SummaryUpdate};
use alloc::boxed::Box;

/// An external input, or the internal step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Input {
    /// A user opens a session in the conversation.
    SessionStart {
        /// The user.
        user: UserId,
        /// The identity of the user (003 layer 1), which no later input changes.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        identity: Option<Box<NewIdentity>>,
    },
    /// The session ends, and its working set is forgotten.
    SessionEnd,
    /// The session user sends a message, which starts a request.
    UserMessage {
        /// The sender; must be the session user.
        user: UserId,
        /// The message.
        text: Text,
        /// The scope in which the request runs: global, or one that a write opened (decision 0037).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Scope::is_global"))]
        scope: Scope,
    },
    /// A module replied to a call.
    Reply {
        /// The call.
        call: CallId,
        /// The typed payload.
        report: Report,
        /// The module's update of the situation summary (002).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        summary_update: Option<SummaryUpdate>,
        /// The module's action record (002).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        action: Option<Box<ActionRecord>>,
        /// How both ends judge the interaction, if a node of a network executed the call (decision 0042).
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        interaction: Option<Box<InteractionReport>>,
    },
    /// A call ended without a reply.
    CallFailed {
        /// The call.
        call: CallId,
        /// The failure.
        failure: Failure,
    },
    /// The orchestrator continues without external input (000 `InNone`).
    Step,
    /// The user cancels the running request.
    Cancel,
    /// A write to the semantic state. It does not change the phase.
    Write(Box<Write>),
    /// The network changes, or a handoff reaches its receiver (001; decision 0042). It does not change the phase.
    Network(Box<NetworkInput>),
    /// Time passed, and an item expires (003 layer 3). It does not change the phase.
    Tick,
    /// The runtime restarted after a crash and restored the conversation (decision 0015).
    Resume,
}

/// An input with its time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimedInput {
    /// The time.
    pub at: Timestamp,
    /// The input.
    pub input: Input,
}

/// The three kinds of input of 000, to which every [`Input`] projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaseInput {
    /// `InUserMsg`
    UserMsg,
    /// `InToolResult`
    ToolResult,
    /// `InNone`
    None,
}

impl Input {
    /// Creates a session start without an identity.
    #[must_use]
    pub const fn session_start(user: UserId) -> Self {
        Self::SessionStart { user, identity: None }
    }

    /// Creates a user message that starts a request in the global scope.
    #[must_use]
    pub const fn user_message(user: UserId, text: Text) -> Self {
        Self::UserMessage { user, text, scope: Scope::Global }
    }

    /// Creates a reply without summary update, action record and judgement.
    #[must_use]
    pub const fn reply(call: CallId, report: Report) -> Self {
        Self::Reply { call, report, summary_update: None, action: None, interaction: None }
    }

    /// Returns the kind of this input.
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
            Self::Network(_) => Trigger::Network,
            Self::Tick => Trigger::Tick,
            Self::Resume => Trigger::Resume,
        }
    }

    /// Returns the projection to 000's inputs. Session and cancel inputs are user messages in 000.
    #[must_use]
    pub const fn base(&self) -> BaseInput {
        match self {
            Self::SessionStart { .. } | Self::SessionEnd | Self::UserMessage { .. } | Self::Cancel => {
                BaseInput::UserMsg
            }
            Self::Reply { .. } | Self::CallFailed { .. } => BaseInput::ToolResult,
            Self::Step | Self::Write(_) | Self::Network(_) | Self::Tick | Self::Resume => BaseInput::None,
        }
    }
}
