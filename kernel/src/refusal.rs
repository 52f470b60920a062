//! Refusals: why `decide` rejects an input. A refusal leaves the state unchanged.

use crate::control::phase::Phase;
use crate::control::trigger::Trigger;
use crate::ids::{CallId, NodeId, TaskId, Timestamp, UserId};
use crate::item::Scope;
use crate::knowledge::KnowledgeError;
use crate::module::{Failure, Operation};
use crate::network::NetworkError;
use crate::plan::EffectKind;
use alloc::vec::Vec;
use core::fmt;

/// A refused input: `(o, ε)` of 000 §4.4.
///
/// The variants are in order of precedence: if several refusals apply to an input, `decide` returns the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An input with an earlier time than the one before.
    TimeWentBack {
        /// The kernel's time.
        now: Timestamp,
        /// The time of the input.
        found: Timestamp,
    },
    /// A tick at which no item expires.
    NothingExpires {
        /// The time of the tick.
        now: Timestamp,
        /// The next expiry.
        next: Option<Timestamp>,
    },
    /// A reply to, or failure of, a call that is not pending: late, duplicate or invented.
    WrongCall {
        /// The call of the input.
        found: CallId,
        /// The pending calls, in id order.
        expected: Vec<CallId>,
    },
    /// A report of another type than the operation's.
    WrongReport {
        /// The pending operation.
        operation: Operation,
        /// The kind of the report, as a noun phrase.
        found: &'static str,
    },
    /// A reply to a call that was not made: its pinned items and its payload exceed the budget, or no node can execute it.
    CallNotMade {
        /// The pending operation.
        operation: Operation,
        /// The failure that the call must have.
        failure: Failure,
    },
    /// A reply to a call whose node has not accepted the handoff.
    HandoffNotAccepted {
        /// The call.
        call: CallId,
        /// The node.
        node: NodeId,
    },
    /// A repaired plan changes the effect kind of a started task.
    EffectChanged {
        /// The task.
        task: TaskId,
        /// The effect kind with which it was started.
        expected: EffectKind,
        /// The effect kind in the new plan.
        found: EffectKind,
    },
    /// A task of a plan declares another scope than that of its request, which is not global.
    OtherScope {
        /// The task.
        task: TaskId,
        /// The scope of the request.
        expected: Scope,
        /// The scope of the task.
        found: Scope,
    },
    /// A request or a task in a scope that no write opened.
    UnknownScope {
        /// The scope.
        scope: Scope,
    },
    /// No transition accepts this kind of input in this phase.
    UnexpectedInput {
        /// The current phase.
        phase: Phase,
        /// The kind of the input.
        found: Trigger,
        /// The operation of the first pending call.
        pending: Option<Operation>,
    },
    /// A resume while no request is running.
    NothingToResume,
    /// An input that requires a session, without a session.
    NoSession,
    /// A session start while a session is open.
    SessionAlreadyOpen {
        /// The session user.
        user: UserId,
    },
    /// A message of another user than the session user.
    WrongUser {
        /// The session user.
        expected: UserId,
        /// The sender.
        found: UserId,
    },
    /// A write, summary or identity that does not fit the semantic state or the policy.
    InvalidWrite(KnowledgeError),
    /// An input that does not fit the network.
    InvalidNetworkInput(NetworkError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeWentBack { now, found } => {
                write!(f, "time went back: expected {now} or later, found {found}")
            }
            Self::NothingExpires { now, next: Some(next) } => {
                write!(f, "nothing expires by {now}: expected a tick at {next} or later")
            }
            Self::NothingExpires { now, next: None } => {
                write!(f, "nothing expires after {now}: expected no tick")
            }
            Self::WrongCall { found, expected } => {
                f.write_str("reply to wrong call: expected ")?;
                match expected.split_last() {
                    None => f.write_str("no reply")?,
                    Some((last, others)) => {
                        f.write_str("call ")?;
                        for call in others {
                            write!(f, "{call} or ")?;
                        }
                        write!(f, "{last}")?;
                    }
                }
                write!(f, ", found call {found}")
            }
            Self::WrongReport { operation, found } => {
                write!(f, "wrong report: expected {}, found {found}", operation.expected_reply())
            }
            Self::CallNotMade { operation, failure } => {
                let reply = operation.expected_reply();
                write!(f, "call not made: expected the failure `{failure}`, found {reply}")
            }
            Self::HandoffNotAccepted { call, node } => write!(
                f,
                "reply to call {call} too early: expected that node {node} accepts the handoff, found no acceptance"
            ),
            Self::EffectChanged { task, expected, found } => {
                write!(f, "effect of started task {task} changed: expected {expected}, found {found}")
            }
            Self::OtherScope { task, expected, found } => write!(
                f,
                "scope of task {task} is not that of the request: expected `{expected}` or none, found `{found}`"
            ),
            Self::UnknownScope { scope: Scope::Session } => {
                f.write_str("scope `session`: expected global, or a task, hypothetical or draft scope")
            }
            Self::UnknownScope { scope } => {
                write!(f, "unknown scope `{scope}`: expected a scope with a fact; write a fact into it first")
            }
            Self::UnexpectedInput { phase, found, pending } => {
                write!(f, "unexpected input in {phase}: expected ")?;
                match (pending, phase) {
                    (Some(operation), _) => f.write_str(operation.expected_reply())?,
                    (None, Phase::Idle) => f.write_str("a user message, session start or session end")?,
                    (None, phase) if phase.is_quiescent() => f.write_str("no input after halting")?,
                    (None, Phase::RollbackComplete) => f.write_str("no input after the rollback")?,
                    (None, _) => f.write_str("a step")?,
                }
                write!(f, ", found a {found}")
            }
            Self::NothingToResume => f.write_str("nothing to resume: expected a running request, found none"),
            Self::NoSession => f.write_str("no session: expected an open session; start one first"),
            Self::SessionAlreadyOpen { user } => {
                write!(f, "session already open: expected no session, found one of {user}; end it first")
            }
            Self::WrongUser { expected, found } => {
                write!(f, "wrong user: expected {expected}, found {found}")
            }
            Self::InvalidWrite(error) => error.fmt(f),
            Self::InvalidNetworkInput(error) => error.fmt(f),
        }
    }
}

impl From<KnowledgeError> for Refusal {
    fn from(error: KnowledgeError) -> Self {
        Self::InvalidWrite(error)
    }
}

impl From<NetworkError> for Refusal {
    fn from(error: NetworkError) -> Self {
        Self::InvalidNetworkInput(error)
    }
}

impl core::error::Error for Refusal {}
