//! `explore exact`: the values that random runs estimate, computed.

mod report;

pub(in crate::cli) use report::JsonReport;

use super::files::{difference, file_name, read};
use crate::cli::args::{Format, GlobalArgs, MemoryBytes, memory_size};
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::to_report;
use crate::cli::output;
use crate::cli::progress::ProgressLine;
use indicatif::HumanCount;
use miette::{Result, miette};
use orchestrion_experiment::exact::{
    Dialect, ExactError, ExactResult, Limits, Progress, build, export, solve_chain,
};
use orchestrion_experiment::{Cell, Experiment, Summary};
use orchestrion_report::text::sanitize;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Compute the exact values of an experiment whose states are finite.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore exact specs/experiments/one-veto.yaml
  orchestrion explore exact one-veto.yaml --compare .orchestrion/one-veto.json
                                            beside the estimates of a run
  orchestrion explore exact one-veto.yaml --prism model    for PRISM and Storm

Every state is explored with the kernel that runs use, and with the probability of
every choice of a module. Up to 10,000 states the values are exact fractions,
beyond that bounds that include all rounding. With an `adversary`, each metric has
its least and its greatest value over all that adversaries can do.

Confidences need a finite distribution, `constant` or `values`; contexts and facts
are not part of the state. --compare exits with code 1 if more than 1 in 20 of the
exact values lie outside their intervals.

Exit codes: 0 success; 1 estimates disagree; 2 error.")]
pub(in crate::cli) struct Args {
    /// Compute this experiment.
    #[arg(value_name = "EXPERIMENT")]
    experiment: PathBuf,
    /// Compare with the result of random runs of the same experiment.
    #[arg(long, value_name = "RESULT")]
    compare: Option<PathBuf>,
    /// Write the chain of each policy to this folder, in the explicit format of PRISM.
    #[arg(long, value_name = "DIR")]
    prism: Option<PathBuf>,
    /// Write the chain in the variant of Storm.
    #[arg(long)]
    storm: bool,
    /// Refuse a policy with more states.
    #[arg(long, value_name = "NUMBER", default_value = "2000000")]
    max_states: NonZeroUsize,
    /// Refuse a policy that needs more memory for its exploration, for example 512MiB or 16GiB.
    #[arg(long, value_name = "SIZE", default_value = "8GiB", value_parser = memory_size)]
    max_memory: MemoryBytes,
    /// Stop an iteration after this time, with the bounds that it has.
    #[arg(long, value_name = "TIME", value_parser = crate::cli::args::duration, default_value = "60s")]
    timeout: Duration,
    /// Explore with this many threads [default: the number of processors]. The result does not depend on it.
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<NonZeroUsize>,
    /// Print the values in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let experiment = Experiment::read(&args.experiment)?;
    let estimates = args.compare.as_ref().map(|path| estimates(path, &experiment)).transpose()?;
    let limits = Limits {
        max_states: args.max_states.get(),
        memory_bytes: usize::try_from(args.max_memory.0).unwrap_or(usize::MAX),
        iteration: args.timeout,
        threads: args.jobs.unwrap_or(Limits::default().threads),
        ..Limits::default()
    };
    let mut results = Vec::new();
    for (position, cell) in experiment.policies.iter().enumerate() {
        results.push(solve(args, global, &experiment, cell, position, &limits)?);
    }
    report::print(&experiment, &results, estimates.as_ref(), args.format, output::width())
}

/// Reads the result of random runs of the same experiment.
fn estimates(path: &std::path::Path, experiment: &Experiment) -> Result<Summary> {
    let summary = read(path)?;
    if let Some(found) = difference(&summary, experiment) {
        return Err(miette!(
            help = "name the result of the same experiment; the numbers of runs may differ",
            "{}: not a result of {}: {}: expected {}, found {}",
            sanitize(&path.display().to_string()),
            sanitize(&experiment.name),
            found.subject,
            sanitize(&found.in_experiment),
            sanitize(&found.in_result)
        ));
    }
    Ok(summary)
}

fn solve(
    args: &Args,
    global: &GlobalArgs,
    experiment: &Experiment,
    cell: &Cell,
    position: usize,
    limits: &Limits,
) -> Result<ExactResult> {
    let (start, mut line) = (Instant::now(), ProgressLine::new(&*cell.policy.name, global.quiet));
    let mut show = |progress: Progress| match progress {
        Progress::Exploring { states, expanded, .. } => {
            let (found, left) = (HumanCount(states as u64), HumanCount((states - expanded) as u64));
            line.show(start.elapsed(), format!("{found} states, {left} left"));
        }
        Progress::Solving { states } => {
            line.show(start.elapsed(), format!("solving {} states", HumanCount(states as u64)));
        }
        _ => {}
    };
    let chain = build(experiment, cell, limits, &mut show)?;
    show(Progress::Solving { states: chain.states() });
    if let Some(folder) = &args.prism {
        let dialect = if args.storm { Dialect::Storm } else { Dialect::Prism };
        let name = format!("{}.{}", file_name(&experiment.name), position + 1);
        export(&chain, &experiment.metrics, dialect, folder, &name).map_err(to_report)?;
    }
    let result = solve_chain(&chain, &experiment.metrics, limits);
    line.finish();
    let seconds = limits.iteration.as_secs();
    Ok(result.ok_or_else(|| ExactError::NoBound { policy: sanitize(&cell.policy.name), seconds })?)
}
