//! The problem of a `context` command: a problem file, or the context of a call in a trace.

use super::trace::{self, TraceOptions};
use miette::{Result, miette};
use orchestrion_optimizer::SearchLimits;
use orchestrion_report::text::sanitize;
use orchestrion_selection::NamedProblem;
use std::path::PathBuf;

/// Problem and search limit.
#[derive(Debug, clap::Args)]
pub(super) struct ProblemArgs {
    /// Read the problem from this JSON file or trace.
    #[arg(value_name = "PROBLEM")]
    problem: PathBuf,
    #[command(flatten)]
    trace: TraceOptions,
    /// Use this budget instead of that of the problem; it includes the reserved tokens.
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(..=1 << 62))]
    budget: Option<u64>,
    /// Stop the search after this number of nodes and report the best solution with a proven bound.
    #[arg(long, value_name = "NUMBER", default_value_t = SearchLimits::default().nodes)]
    max_nodes: u64,
    /// Stop all searches after this work and report what is proven by then. A unit takes 10 to 15 ns [default: about one
    /// second for a solution and for each item, and three for a curve].
    #[arg(long, value_name = "NUMBER")]
    max_work: Option<u64>,
}

impl ProblemArgs {
    /// Reads the problem.
    pub(super) fn read(&self) -> Result<NamedProblem> {
        if trace::is_trace(&self.problem) {
            return trace::read(&self.problem, &self.trace, self.budget);
        }
        if let Some(option) = self.trace.first_option() {
            return Err(miette!(
                help = "omit the option, or name a trace written by `orchestrion run`",
                "--{option} is for traces, and {} is not a trace",
                sanitize(&self.problem.display().to_string())
            ));
        }
        Ok(NamedProblem::read(&self.problem, self.budget)?)
    }

    /// Returns the name of the problem's file.
    pub(super) fn file_name(&self) -> String {
        self.problem.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the limits of the search; `work` is the default work.
    pub(super) fn limits(&self, work: u64) -> SearchLimits {
        SearchLimits { nodes: self.max_nodes, work: self.max_work.unwrap_or(work) }
    }
}
