//! Why a certificate is not believed.

use super::SLOPES_MAX;
use super::table::{CELLS_MAX, ROW_MAX};
use crate::selection::SelectionError;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// What a certificate does not prove, and in which step; reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The step, from 0 on; none if it is the certificate as a whole.
    pub step: Option<usize>,
    /// What is missing.
    pub gap: VerifyErrorKind,
}

/// What is missing in a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyErrorKind {
    /// What it is to be a proof of is no answer.
    InvalidSelection(SelectionError),
    /// More slopes than are tried.
    TooManySlopes,
    /// A position that is not in the list.
    Unknown {
        /// The position.
        item: usize,
    },
    /// A candidate that is decided already.
    AlreadyFixed {
        /// The candidate.
        item: usize,
    },
    /// A candidate is dropped that there is room for, with all that it needs.
    FitsBudget {
        /// The candidate.
        item: usize,
    },
    /// A candidate is decided, and the prices allow the other way.
    FixingNotProven {
        /// The candidate.
        item: usize,
    },
    /// Weight is handed to what is not needed.
    FlowWithoutDependency {
        /// Who hands it on.
        item: usize,
        /// To whom.
        dep: usize,
    },
    /// A scale, a price or an amount that flows is below zero.
    Negative,
    /// A toll in a case that says nothing of how many counted ones there are.
    CountPriceWithoutBranch,
    /// Numbers whose products do not fit 128 bits.
    Overflow,
    /// A case is closed, and there is room for a better set.
    BoundTooWeak,
    /// A table, and a candidate that needs two open ones, or itself through others.
    NotAForest {
        /// The candidate.
        item: usize,
    },
    /// Tables that are too large.
    TableTooLarge,
    /// A step after the last case was closed.
    TrailingStep,
    /// No more steps, and cases are open.
    OpenNodes,
}

impl VerifyError {
    /// The sentence, with these names for the candidates.
    pub fn told(&self, name: impl Fn(usize) -> String) -> String {
        let gap = match &self.gap {
            VerifyErrorKind::InvalidSelection(fault) => {
                format!("the answer is none: {}", fault.describe(&name))
            }
            VerifyErrorKind::TooManySlopes => {
                format!("there are more than {SLOPES_MAX} slopes; expected no more")
            }
            VerifyErrorKind::Unknown { item } => {
                format!("{item} is not in the list; expected positions of the list")
            }
            VerifyErrorKind::AlreadyFixed { item } => {
                format!("{} is decided already; expected one that is open", name(*item))
            }
            VerifyErrorKind::FitsBudget { item } => {
                format!("{} is dropped, and there is room for it with all that it needs", name(*item))
            }
            VerifyErrorKind::FixingNotProven { item } => format!(
                "{} is decided, and the prices do not exclude that a better choice decides otherwise",
                name(*item)
            ),
            VerifyErrorKind::FlowWithoutDependency { item, dep } => {
                format!("weight flows from {} to {}, which it does not need", name(*item), name(*dep))
            }
            VerifyErrorKind::Negative => {
                "a scale, a price or a flow is below zero; expected none that is".into()
            }
            VerifyErrorKind::CountPriceWithoutBranch => {
                "there is a toll, and no split says how many are counted".into()
            }
            VerifyErrorKind::Overflow => {
                "the numbers are too large; expected products of less than 127 bits".into()
            }
            VerifyErrorKind::BoundTooWeak => {
                "the case is closed, and a better choice in it is not excluded".into()
            }
            VerifyErrorKind::NotAForest { item } => format!(
                "{} needs two open ones, or itself through others; expected a table of a forest",
                name(*item)
            ),
            VerifyErrorKind::TableTooLarge => format!(
                "the tables are too large; expected rows of {ROW_MAX} values, and {CELLS_MAX} in all, at most"
            ),
            VerifyErrorKind::TrailingStep => "every case is closed already; expected no more steps".into(),
            VerifyErrorKind::OpenNodes => {
                "after the last step, cases are open; expected steps that close them".into()
            }
        };
        self.step.map_or_else(|| gap.clone(), |step| format!("step {}: {gap}", step.saturating_add(1)))
    }
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(|item| item.to_string()))
    }
}

impl core::error::Error for VerifyError {}
