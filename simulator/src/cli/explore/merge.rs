//! `explore merge`: the result of all parts of an experiment.

use super::files::{file_name, read, write};
use super::parquet;
use super::text::{Files, print_report};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use miette::{Result, miette};
use orchestrion_experiment::{METRICS, Summary};
use orchestrion_report::text::sanitize;
use std::path::PathBuf;

/// Merge the results of the parts of an experiment, in any order.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore run redebate.yaml --shard 1/2 --out-dir first
  orchestrion explore run redebate.yaml --shard 2/2 --out-dir second
  orchestrion explore merge first/*.json second/*.json --result redebate.json
  orchestrion explore merge first/*.json second/*.json --parquet

The result has the same bytes as that of one run of the whole experiment. Parts of
different experiments, and parts that contain the same run, are refused. The rows
of the parts, one after the other, are the rows of the experiment; --parquet writes
them to redebate.parquet, and needs the rows of each part beside its result.

Exit codes: 0 success; 2 error; 3 some runs are in no part.")]
pub(super) struct Args {
    /// Merge these results.
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Write the result to this file [default: the name of the experiment in --out-dir].
    #[arg(long, value_name = "FILE")]
    result: Option<PathBuf>,
    /// Also write the rows of the parts as Parquet, beside the result.
    #[arg(long)]
    parquet: bool,
    /// Print the statistics in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let parts: Vec<(&PathBuf, Summary)> =
        args.results.iter().map(|path| Ok((path, read(path)?))).collect::<Result<_>>()?;
    let summary = merged(&parts)?;
    let default = || global.out_dir.join(format!("{}.json", file_name(&summary.experiment)));
    let path = args.result.clone().unwrap_or_else(default);
    let parquet = args.parquet.then(|| path.with_extension("parquet"));
    let target = parquet.as_deref().map(parquet::open).transpose()?;
    write(&path, &summary)?;
    if let Some(target) = target {
        parquet::write(target, &summary, &tables(parts))?;
    }
    let metrics: Vec<_> = METRICS.iter().collect();
    print_report(&summary, &metrics, &Files { result: path, rows: None, parquet }, args.format, global)
}

/// Returns the result of all parts.
fn merged(parts: &[(&PathBuf, Summary)]) -> Result<Summary> {
    let Some(((first, summary), others)) = parts.split_first() else { return Err(miette!("no result")) };
    let mut merged = summary.clone();
    for (path, summary) in others {
        merged.merge(summary).map_err(|error| {
            let (first, path) = (first.display().to_string(), path.display().to_string());
            miette!(
                help = "merge parts of one experiment, each once",
                "{} and {}: {error}",
                sanitize(&first),
                sanitize(&path)
            )
        })?;
    }
    Ok(merged)
}

/// Returns the files with the rows of the parts, in the order of their runs.
fn tables(mut parts: Vec<(&PathBuf, Summary)>) -> Vec<PathBuf> {
    parts.sort_by_key(|(_, summary)| summary.ranges.first().copied());
    // A part without runs has no rows.
    let with_runs = parts.into_iter().filter(|(_, summary)| summary.completed_runs() > 0);
    with_runs.map(|(path, _)| path.with_extension("csv")).collect()
}
