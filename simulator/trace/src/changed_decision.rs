//! The first transition in which two runs of a conversation differ.

use crate::error::{TraceError, TraceErrorKind};
use crate::format::Step;
use crate::read::Reader;
use crate::transition;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::table::TransitionId;
use orchestrion_kernel::{Event, Phase, Policy, Timestamp, decide};
use std::fmt;
use std::io::BufRead;

/// The first decision on the path of control that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedDecision {
    /// The phase in which both runs are.
    pub from: Phase,
    /// The recorded decision.
    pub recorded: PathStep,
    /// The decision now.
    pub current: PathStep,
}

impl ChangedDecision {
    /// Decides the steps of a trace again under another policy, until the path of control differs. The end may be missing, as in the journal
    /// of an open conversation.
    ///
    /// # Errors
    /// [`TraceError`]
    pub fn first_under<R: BufRead>(reader: Reader<R>, policy: &Policy) -> Result<Option<Self>, TraceError> {
        let mut state = reader.start()?.state().clone();
        for step in reader {
            let step = match step {
                Ok(step) => step,
                Err(error) if matches!(error.kind, TraceErrorKind::MissingEnd) => break,
                Err(error) => return Err(error),
            };
            let from = state.control().phase();
            let decided = decide(policy, &state, Timestamp::from_millis(step.at_ms), &step.input)
                .map_err(|refusal| refusal.to_string());
            let current = decided.as_deref().map_err(String::as_str);
            if let Some(changed) = Self::of_step(from, &step, current) {
                return Ok(Some(changed));
            }
            decided.iter().flatten().for_each(|event| state.apply(event));
        }
        Ok(None)
    }

    /// Returns the change, if a recorded step and another decision of its input differ on the path of control.
    pub(crate) fn of_step(from: Phase, step: &Step, decided: Result<&[Event], &str>) -> Option<Self> {
        let recorded = step.refused.as_deref().map_or(Ok(step.events.as_slice()), Err);
        let recorded = PathStep::from_step(step.n, recorded);
        let current = PathStep::from_step(step.n, decided);
        (!recorded.is_same(&current)).then_some(Self { from, recorded, current })
    }
}

/// What a step decides about the path of control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// It takes a transition.
    Transition {
        /// The step.
        step: u64,
        /// The transition.
        row: TransitionId,
    },
    /// It accepts its input and stays in its phase, as for a write.
    Accepted {
        /// The step.
        step: u64,
    },
    /// It refuses its input.
    Refused {
        /// The step.
        step: u64,
        /// The refusal.
        sentence: String,
    },
    /// There is no further step.
    End,
}

impl PathStep {
    /// Returns the decision of a step with these events, or with this refusal.
    #[must_use]
    pub fn from_step(step: u64, result: Result<&[Event], &str>) -> Self {
        match result.map(transition) {
            Ok(Some(row)) => Self::Transition { step, row: TransitionId::from_transition(row) },
            Ok(None) => Self::Accepted { step },
            Err(sentence) => Self::Refused { step, sentence: sentence.to_owned() },
        }
    }

    /// The step, if there is one.
    #[must_use]
    pub const fn step(&self) -> Option<u64> {
        match self {
            Self::Transition { step, .. } | Self::Accepted { step } | Self::Refused { step, .. } => {
                Some(*step)
            }
            Self::End => None,
        }
    }

    /// Whether both decide the same, in whatever step.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Transition { row: one, .. }, Self::Transition { row: other, .. }) => one == other,
            (Self::Accepted { .. }, Self::Accepted { .. })
            | (Self::Refused { .. }, Self::Refused { .. })
            | (Self::End, Self::End) => true,
            (Self::Transition { .. } | Self::Accepted { .. } | Self::Refused { .. } | Self::End, _) => false,
        }
    }
}

impl fmt::Display for PathStep {
    /// Formats the decision with the transition, its guard and the phase that it enters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transition { row, .. } => {
                let row = row.transition();
                write!(f, "{} to {}, on {}", row.id, row.to, row.on)?;
                match row.when {
                    Guard::Always => Ok(()),
                    guard => write!(f, " if {guard}"),
                }
            }
            Self::Accepted { .. } => f.write_str("accepted, without a transition"),
            Self::Refused { sentence, .. } => write!(f, "refused: {sentence}"),
            Self::End => f.write_str("no further step"),
        }
    }
}
