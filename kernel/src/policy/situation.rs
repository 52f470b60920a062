//! The limits of the situation, and the operations whose modules reason (002).

use super::PolicyError;
use crate::module::Operation;
use crate::situation::{Mode, SummarySchema};

/// The limits of the situation, and the reasoning mode of each operation. Without a mode the module does not reason: its context
/// has no situation, and its call does not ask for a summary update. Guard, memory, summarizer, stores and audit sink never reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct SituationPolicy {
    /// The maximum number of actions before the latest that a request keeps and a context contains (002: 3).
    pub max_history: u32,
    /// The maximum number of characters of a field of the summary.
    pub summary_chars_max: u32,
    /// The maximum number of characters of a stored result (002: about 1,000).
    pub result_chars_max: u32,
    /// The maximum number of characters of the arguments of a compressed call.
    pub compressed_args_chars_max: u32,
    /// The maximum number of characters of the result of a compressed call.
    pub compressed_result_chars_max: u32,
    /// The mode of the classifier.
    pub classify_mode: Option<Mode>,
    /// The mode of the planner.
    pub draft_plan_mode: Option<Mode>,
    /// The mode of the debaters in their rounds.
    pub argue_mode: Option<Mode>,
    /// The mode of Security when it reviews a revision.
    pub review_revision_mode: Option<Mode>,
    /// The mode of the approver.
    pub approve_mode: Option<Mode>,
    /// The mode of the executor when it runs a task.
    pub run_task_mode: Option<Mode>,
    /// The mode of the executor when it undoes a task.
    pub undo_task_mode: Option<Mode>,
    /// The mode of the Critic when it diagnoses a failure.
    pub diagnose_mode: Option<Mode>,
}

impl SituationPolicy {
    pub(super) const HARDENED: Self = Self {
        max_history: 3,
        summary_chars_max: 1_000,
        result_chars_max: 1_000,
        compressed_args_chars_max: 20,
        compressed_result_chars_max: 50,
        classify_mode: None,
        draft_plan_mode: Some(Mode::Deep),
        argue_mode: Some(Mode::Deep),
        review_revision_mode: Some(Mode::Deep),
        approve_mode: Some(Mode::Fast),
        run_task_mode: Some(Mode::Fast),
        undo_task_mode: Some(Mode::Fast),
        diagnose_mode: Some(Mode::Deep),
    };

    /// Returns the reasoning mode of an operation (002); `None` if its module does not reason.
    #[must_use]
    pub const fn mode(&self, operation: Operation) -> Option<Mode> {
        match operation {
            Operation::Classify => self.classify_mode,
            Operation::DraftPlan => self.draft_plan_mode,
            Operation::Argue(_) | Operation::ArgueAdditional { .. } => self.argue_mode,
            Operation::ReviewRevision => self.review_revision_mode,
            Operation::Approve => self.approve_mode,
            Operation::RunTask { .. } => self.run_task_mode,
            Operation::UndoTask { .. } => self.undo_task_mode,
            Operation::Diagnose => self.diagnose_mode,
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => None,
        }
    }

    /// Returns the summary update for which a call with this operation asks; `None` if its module does not reason.
    #[must_use]
    pub fn summary_schema(&self, operation: Operation) -> Option<SummarySchema> {
        self.mode(operation).map(|_| SummarySchema::new(self.summary_chars_max))
    }

    /// Checks that no limit is 0.
    pub(super) fn validate(&self) -> Result<(), PolicyError> {
        let limits = [
            (
                "situation.max_history",
                self.max_history,
                "without a summary a context needs an earlier action; expected at least 1",
            ),
            (
                "situation.summary_chars_max",
                self.summary_chars_max,
                "a summary field would always be empty; expected at least 1",
            ),
            (
                "situation.result_chars_max",
                self.result_chars_max,
                "a stored result would always be empty; expected at least 1",
            ),
            (
                "situation.compressed_args_chars_max",
                self.compressed_args_chars_max,
                "the arguments of a compressed call would always be empty; expected at least 1",
            ),
            (
                "situation.compressed_result_chars_max",
                self.compressed_result_chars_max,
                "the result of a compressed call would always be empty; expected at least 1",
            ),
        ];
        match limits.into_iter().find(|(_, limit, _)| *limit == 0) {
            Some((setting, _, reason)) => Err(PolicyError { setting, conflicts_with: None, reason }),
            None => Ok(()),
        }
    }
}
