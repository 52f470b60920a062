//! Why an input was not accepted. A refusal changes nothing; it says as a sentence what was expected and what
//! came.

use crate::control::phase::Phase;
use crate::ids::{CallId, TaskId, UserId};
use crate::input::Trigger;
use crate::knowledge::KnowledgeError;
use crate::module::Operation;
use crate::plan::EffectKind;
use core::fmt;

/// A refused input: `(o, ε)` of 000 §4.4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No row of the table takes this kind of input in this state now.
    UnexpectedInput {
        /// Where control stands.
        phase: Phase,
        /// What came.
        found: Trigger,
        /// The call that is waited for, if one is.
        pending: Option<Operation>,
    },
    /// A reply or a failure for another call than the one waited for: late, duplicate or made up.
    WrongCall {
        /// The call it was for.
        found: CallId,
        /// The call that is waited for.
        expected: Option<CallId>,
    },
    /// A report that does not answer the question.
    WrongReport {
        /// The question.
        operation: Operation,
        /// The report, as a noun phrase.
        found: &'static str,
    },
    /// A reply to a call that was never made, for what must be shown did not fit.
    CallNotMade {
        /// The question.
        operation: Operation,
    },
    /// A repaired plan that gives a started task another kind of effect.
    EffectChanged {
        /// The task.
        task: TaskId,
        /// The effect with which it was started.
        expected: EffectKind,
        /// The effect that the new plan declares.
        found: EffectKind,
    },
    /// A write that does not fit what is known.
    InvalidWrite(KnowledgeError),
    /// A resume while no request runs.
    NothingToResume,
    /// A message, or the end of a session, without a session.
    NoSession,
    /// A session is open already.
    SessionAlreadyOpen {
        /// Whose.
        user: UserId,
    },
    /// A message from somebody else than the user of the session.
    WrongUser {
        /// Whose session it is.
        expected: UserId,
        /// Who spoke.
        found: UserId,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedInput { phase, found: came, pending: waiting } => {
                write!(f, "a {came} came while {phase}; expected ")?;
                match (waiting, phase) {
                    (Some(ask), _) => f.write_str(ask.expected_reply()),
                    (None, Phase::Idle) => f.write_str("a user message, or the start or end of a session"),
                    (None, phase) if phase.is_quiescent() => {
                        f.write_str("nothing: the conversation has halted here")
                    }
                    (None, Phase::RollbackComplete) => f.write_str("nothing: no row leads on from here"),
                    (None, _) => f.write_str("a step"),
                }
            }
            Self::WrongCall { found: came, expected: Some(waiting) } => {
                write!(f, "an answer to call {came} came; expected one to call {waiting}")
            }
            Self::WrongCall { found: came, expected: None } => {
                write!(f, "an answer to call {came} came; no call is waited for")
            }
            Self::WrongReport { operation: ask, found: came } => write!(f, "{came} came; expected {}", ask.expected_reply()),
            Self::CallNotMade { operation: ask } => write!(
                f,
                "{} came, but nobody was asked, for what must be shown does not fit the budget; expected that the call fails",
                ask.expected_reply()
            ),
            Self::EffectChanged { task, expected: started, found: came } => {
                write!(
                    f,
                    "a plan came in which task {task} is {came}; it was started as {started}, expected that"
                )
            }
            Self::InvalidWrite(misuse) => misuse.fmt(f),
            Self::NothingToResume => f.write_str(
                "a resume came while no request runs; expected one only after a crash in the middle of a request",
            ),
            Self::NoSession => f.write_str("no session is open; expected a session start first"),
            Self::SessionAlreadyOpen { user } => {
                write!(f, "a session of {user} is open; expected its end before another starts")
            }
            Self::WrongUser { expected: session, found: came } => {
                write!(f, "{came} spoke in a session of {session}; expected {session}")
            }
        }
    }
}

impl From<KnowledgeError> for Refusal {
    fn from(misuse: KnowledgeError) -> Self {
        Self::InvalidWrite(misuse)
    }
}

impl core::error::Error for Refusal {}
