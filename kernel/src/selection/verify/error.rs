//! Why a certificate is rejected.

use super::limits::{CELLS_MAX, ROW_MAX, SLOPES_MAX};
use crate::selection::check::SelectionError;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// The defect of a certificate, with the step that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyError {
    /// The index of the step; `None` for the certificate as a whole.
    pub step: Option<usize>,
    /// The defect.
    pub kind: VerifyErrorKind,
}

/// The kinds of defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyErrorKind {
    /// The certified selection is not valid.
    InvalidSelection(SelectionError),
    /// More than [`SLOPES_MAX`] slopes.
    TooManySlopes,
    /// A position is not in the list.
    UnknownPosition {
        /// The position.
        item: usize,
    },
    /// A candidate is already fixed.
    AlreadyFixed {
        /// The candidate.
        item: usize,
    },
    /// A dropped candidate fits the budget with its closure.
    FitsBudget {
        /// The candidate.
        item: usize,
    },
    /// The prices do not exclude the opposite choice.
    FixingNotProven {
        /// The candidate.
        item: usize,
    },
    /// A flow does not follow a dependency.
    FlowWithoutDependency {
        /// The source.
        item: usize,
        /// The target.
        dep: usize,
    },
    /// A scale, a price or a flow is negative.
    Negative,
    /// A count price in a node without a bound on the count.
    CountPriceWithoutBranch,
    /// A product overflows 128 bits.
    Overflow,
    /// A pruned node may contain a better selection.
    BoundTooWeak,
    /// The open candidates of a table do not form a forest.
    NotAForest {
        /// The candidate.
        item: usize,
    },
    /// A table exceeds [`ROW_MAX`] or [`CELLS_MAX`].
    TableTooLarge,
    /// A step follows although no node is open.
    TrailingStep,
    /// Nodes are open after the last step.
    OpenNodes,
}

impl VerifyError {
    /// Formats the error with a name for each candidate.
    pub fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let message = match &self.kind {
            VerifyErrorKind::InvalidSelection(error) => {
                format!("invalid selection: {}", error.describe(&name))
            }
            VerifyErrorKind::TooManySlopes => {
                format!("too many slopes: expected at most {SLOPES_MAX}")
            }
            VerifyErrorKind::UnknownPosition { item } => {
                format!("unknown position: expected a position of the list, found {item}")
            }
            VerifyErrorKind::AlreadyFixed { item } => {
                format!("{} is already fixed: expected an open candidate", name(*item))
            }
            VerifyErrorKind::FitsBudget { item } => {
                format!("{} is dropped although its closure fits the budget", name(*item))
            }
            VerifyErrorKind::FixingNotProven { item } => format!(
                "fixing of {} not proven: the prices allow a better selection with the opposite choice",
                name(*item)
            ),
            VerifyErrorKind::FlowWithoutDependency { item, dep } => {
                format!("flow without dependency: {} does not depend on {}", name(*item), name(*dep))
            }
            VerifyErrorKind::Negative => {
                "negative number: expected a scale, prices and flows of at least 0".into()
            }
            VerifyErrorKind::CountPriceWithoutBranch => {
                "count price without branch: expected a bound on the number of counted candidates".into()
            }
            VerifyErrorKind::Overflow => "overflow: expected products of less than 127 bits".into(),
            VerifyErrorKind::BoundTooWeak => {
                "bound too weak: the pruned node may contain a better selection".into()
            }
            VerifyErrorKind::NotAForest { item } => {
                format!("not a forest: {} has two open dependencies, or depends on itself", name(*item))
            }
            VerifyErrorKind::TableTooLarge => {
                format!("table too large: expected at most {ROW_MAX} cells in a row and {CELLS_MAX} in total")
            }
            VerifyErrorKind::TrailingStep => {
                "trailing step: expected no step after the last node is pruned".into()
            }
            VerifyErrorKind::OpenNodes => "open nodes: expected steps that prune every node".into(),
        };
        self.step
            .map_or_else(|| message.clone(), |step| format!("step {}: {message}", step.saturating_add(1)))
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|item| item.to_string()))
    }
}

impl core::error::Error for VerifyError {}
