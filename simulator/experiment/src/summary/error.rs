//! Why two results do not merge.

use thiserror::Error;

/// Why two results do not merge.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// They are of different experiments.
    #[error("different experiment: expected {expected}, found {found}")]
    OtherExperiment {
        /// The digest of the first result.
        expected: String,
        /// The digest of the other result.
        found: String,
    },
    /// They have the digest of one experiment, but other names, settings or policies, so one of them was edited.
    #[error("different names, settings or policies in results of one experiment")]
    OtherPolicies,
    /// Their reports have different metrics: the experiment file changed between their runs.
    #[error("different metrics of the report: expected {expected}, found {found}")]
    OtherMetrics {
        /// The metrics of the first result.
        expected: String,
        /// The metrics of the other result.
        found: String,
    },
    /// Both contain a run.
    #[error("repeated runs: expected disjoint runs, found run {run} in both results")]
    RepeatedRun {
        /// The first run that both contain.
        run: u64,
    },
}

impl MergeError {
    /// What the reader can do.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::OtherMetrics { .. } => {
                "run one part again with the metrics of the other; `explore run --resume` keeps its runs"
            }
            Self::OtherExperiment { .. } | Self::OtherPolicies | Self::RepeatedRun { .. } => {
                "merge parts of one experiment, each once"
            }
        }
    }
}
