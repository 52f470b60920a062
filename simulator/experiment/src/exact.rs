//! What random runs estimate, computed: the Markov chain of a finite experiment, or its decision process if it has adversaries.
//!
//! [`build`] explores every state with the real kernel and the same environment as random runs; [`solve`] computes the expected value of
//! each metric. Time stands still in the kernel; durations are summed. Deliberately absent: a limit of steps. A run that never ends
//! has no outcome here, while a random run is halted after 10,000 steps.

mod chain;
mod components;
mod decision;
mod eliminate;
mod end_components;
mod enumerate;
mod error;
mod explore;
mod iterate;
mod number;
mod play;
mod prism;
mod solve;
mod visits;

pub use chain::{Chain, Ending};
pub use error::ExactError;
pub use explore::build;
pub use number::Interval;
pub use prism::{Dialect, export};
pub use solve::solve_chain;

use crate::experiment::{Cell, Experiment};
use crate::metrics::Metric;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The limits of an exact computation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of states.
    pub max_states: usize,
    /// The memory of the chain and of the positions that wait, in bytes. Positions are estimated.
    pub memory_bytes: usize,
    /// The number of states up to which values are exact fractions.
    pub max_rational_states: usize,
    /// The time after which an iteration stops with the bounds that it has.
    pub iteration: Duration,
    /// The number of threads that explore.
    pub threads: NonZeroUsize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_states: 2_000_000,
            memory_bytes: 8 << 30,
            max_rational_states: 10_000,
            iteration: Duration::from_secs(60),
            threads: std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }
}

/// The progress of an exact computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// States are explored.
    Exploring {
        /// The states found so far.
        states: usize,
        /// The states whose choices are known.
        expanded: usize,
        /// The transitions found so far.
        transitions: usize,
    },
    /// The equations are solved.
    Solving {
        /// The number of states.
        states: usize,
    },
}

/// The value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub enum Exact {
    /// An exact fraction, and the nearest float.
    Rational(String, f64),
    /// Bounds, which include all rounding.
    Interval(Interval),
    /// The bounds of the least and of the greatest value, over everything that adversaries can do. A bound can be infinite.
    MinMax {
        /// The least value.
        min: Interval,
        /// The greatest value.
        max: Interval,
    },
    /// The expected value is infinite: with a positive probability a run does not end and counts for ever.
    Infinite,
}

impl Exact {
    /// Returns the bounds of the value; of a range, from the least to the greatest value.
    #[must_use]
    pub const fn bounds(&self) -> Interval {
        match self {
            Self::Rational(_, value) => Interval { low: *value, high: *value },
            Self::Interval(interval) => *interval,
            Self::MinMax { min, max } => Interval { low: min.low, high: max.high },
            Self::Infinite => Interval::INFINITE,
        }
    }
}

/// The exact value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactValue {
    /// The metric.
    pub metric: &'static Metric,
    /// Its expected value in a run.
    pub value: Exact,
}

/// The result of an exact computation.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactResult {
    /// The number of states.
    pub states: usize,
    /// The number of transitions.
    pub transitions: usize,
    /// Whether no state repeats in a run.
    pub is_acyclic: bool,
    /// The probability that a run never ends. Random runs count it as `halted`.
    pub endless: Exact,
    /// The metrics of the experiment.
    pub values: Vec<ExactValue>,
}

/// Computes the metrics of an experiment under the policy of a cell.
///
/// # Errors
/// [`ExactError`] if the experiment is not finite, is larger than the limits, or no bounds are found in time.
pub fn solve(
    experiment: &Experiment,
    cell: &Cell,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<ExactResult, ExactError> {
    let chain = build(experiment, cell, limits, progress)?;
    progress(Progress::Solving { states: chain.states() });
    solve_chain(&chain, &experiment.metrics, limits).ok_or_else(|| ExactError::NoBound {
        policy: cell.policy.name.clone(),
        seconds: limits.iteration.as_secs(),
    })
}
