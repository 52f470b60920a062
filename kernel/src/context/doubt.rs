//! Why a certificate is not believed.

use super::check::Fault;
use super::rows::{CELLS_MAX, ROW_MAX};
use super::verify::SLOPES_MAX;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// What a certificate does not prove, and in which step; reads as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The step, from 0 on; none if it is the certificate as a whole.
    pub step: Option<usize>,
    /// What is missing.
    pub gap: Gap,
}

/// What is missing in a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// What it is to be a proof of is no answer.
    Answer(Fault),
    /// More slopes than are tried.
    Slopes,
    /// A position that is not in the list.
    Unknown {
        /// The position.
        item: usize,
    },
    /// A candidate that is decided already.
    Settled {
        /// The candidate.
        item: usize,
    },
    /// A candidate is dropped that there is room for, with all that it needs.
    Affordable {
        /// The candidate.
        item: usize,
    },
    /// A candidate is decided, and the prices allow the other way.
    Undecided {
        /// The candidate.
        item: usize,
    },
    /// Weight is handed to what is not needed.
    NoNeed {
        /// Who hands it on.
        item: usize,
        /// To whom.
        dep: usize,
    },
    /// A scale, a price or an amount that flows is below zero.
    Negative,
    /// A toll in a case that says nothing of how many counted ones there are.
    Toll,
    /// Numbers whose products do not fit 128 bits.
    TooLarge,
    /// A case is closed, and there is room for a better set.
    Open,
    /// A table, and a candidate that needs two open ones, or itself through others.
    NoForest {
        /// The candidate.
        item: usize,
    },
    /// Tables that are too large.
    Work,
    /// A step after the last case was closed.
    Surplus,
    /// No more steps, and cases are open.
    Unfinished,
}

impl Doubt {
    /// The sentence, with these names for the candidates.
    pub fn told(&self, name: impl Fn(usize) -> String) -> String {
        let gap = match &self.gap {
            Gap::Answer(fault) => format!("the answer is none: {}", fault.told(&name)),
            Gap::Slopes => format!("there are more than {SLOPES_MAX} slopes; expected no more"),
            Gap::Unknown { item } => format!("{item} is not in the list; expected positions of the list"),
            Gap::Settled { item } => {
                format!("{} is decided already; expected one that is open", name(*item))
            }
            Gap::Affordable { item } => {
                format!("{} is dropped, and there is room for it with all that it needs", name(*item))
            }
            Gap::Undecided { item } => format!(
                "{} is decided, and the prices do not exclude that a better choice decides otherwise",
                name(*item)
            ),
            Gap::NoNeed { item, dep } => {
                format!("weight flows from {} to {}, which it does not need", name(*item), name(*dep))
            }
            Gap::Negative => "a scale, a price or a flow is below zero; expected none that is".into(),
            Gap::Toll => "there is a toll, and no split says how many are counted".into(),
            Gap::TooLarge => "the numbers are too large; expected products of less than 127 bits".into(),
            Gap::Open => "the case is closed, and a better choice in it is not excluded".into(),
            Gap::NoForest { item } => format!(
                "{} needs two open ones, or itself through others; expected a table of a forest",
                name(*item)
            ),
            Gap::Work => format!(
                "the tables are too large; expected rows of {ROW_MAX} values, and {CELLS_MAX} in all, at most"
            ),
            Gap::Surplus => "every case is closed already; expected no more steps".into(),
            Gap::Unfinished => "after the last step, cases are open; expected steps that close them".into(),
        };
        self.step.map_or_else(|| gap.clone(), |step| format!("step {}: {gap}", step.saturating_add(1)))
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(|item| item.to_string()))
    }
}

impl core::error::Error for Doubt {}
