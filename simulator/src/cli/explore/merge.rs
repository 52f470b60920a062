//! `explore merge`: the result of all parts of an experiment.

use super::files::{file_name, read, write};
use super::text::print_report;
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use miette::{Result, miette};
use orchestrion_experiment::METRICS;
use orchestrion_report::text::sanitize;
use std::path::PathBuf;

/// Merge the results of the parts of an experiment, in any order.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore run redebate.yaml --shard 1/2 --out-dir first
  orchestrion explore run redebate.yaml --shard 2/2 --out-dir second
  orchestrion explore merge first/*.json second/*.json --result redebate.json

The result has the same bytes as that of one run of the whole experiment. Parts of
different experiments, and parts that contain the same run, are refused. The rows
of the parts, one after the other, are the rows of the experiment.

Exit codes: 0 success; 2 error; 3 some runs are in no part.")]
pub(super) struct Args {
    /// Merge these results.
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Write the result to this file [default: the name of the experiment in --out-dir].
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,
    /// Print the statistics in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let mut merged: Option<(PathBuf, orchestrion_experiment::Summary)> = None;
    for path in &args.results {
        let summary = read(path)?;
        match &mut merged {
            None => merged = Some((path.clone(), summary)),
            Some((first, merged)) => merged.merge(&summary).map_err(|error| {
                let (first, path) = (first.display().to_string(), path.display().to_string());
                miette!(
                    help = "merge parts of one experiment, each once",
                    "{} and {}: {error}",
                    sanitize(&first),
                    sanitize(&path)
                )
            })?,
        }
    }
    let Some((_, summary)) = merged else { return Err(miette!("no result")) };
    let default = || global.out_dir.join(format!("{}.json", file_name(&summary.experiment)));
    let path = args.result.clone().unwrap_or_else(default);
    write(&path, &summary)?;
    let metrics: Vec<_> = METRICS.iter().collect();
    print_report(&summary, &metrics, &path, None, args.format, global)
}
