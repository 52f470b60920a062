//! `explore merge`: the result of all parts of an experiment.

use super::files::{file_name, read, write};
use super::parquet;
use super::text::{Files, print_report};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use miette::{Result, miette};
use orchestrion_experiment::Summary;
use orchestrion_report::text::sanitize;
use std::path::{Path, PathBuf};

/// Merge the results of the parts of an experiment, in any order.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore run redebate.yaml --shard 1/2 --out-dir first
  orchestrion explore run redebate.yaml --shard 2/2 --out-dir second
  orchestrion explore merge first/*.json second/*.json --result redebate.json
  orchestrion explore merge first/*.json second/*.json --parquet

The result has the same bytes as that of one run of the whole experiment. Parts
of different experiments, and parts that contain the same run, are refused. A
result with runs that are in no part is not replaced. The statistics are those
of `explore run`, for the metrics that the experiment names. The rows of the
parts, one after the other, are the rows of the experiment; --parquet writes
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
    let (summary, parts) = merged(&args.results)?;
    let default = || global.out_dir.join(format!("{}.json", file_name(&summary.experiment)));
    let path = args.result.clone().unwrap_or_else(default);
    ensure_runs_are_kept(&path, &summary)?;
    let parquet = args.parquet.then(|| path.with_extension("parquet"));
    let target = parquet.as_deref().map(parquet::open).transpose()?;
    write(&path, &summary)?;
    if let Some(target) = target {
        parquet::write(target, &summary, &tables(parts))?;
    }
    let files = Files { result: path, rows: None, parquet };
    print_report(&summary, &files, ExitStatus::Incomplete, args.format, global)
}

/// Returns an error if the file is a result of the same experiment with runs that the merged one does not contain.
fn ensure_runs_are_kept(path: &Path, merged: &Summary) -> Result<()> {
    // A file that is no result is judged when it is written.
    let Ok(found) = read(path) else { return Ok(()) };
    if found.digest != merged.digest || merged.contains_runs_of(&found) {
        return Ok(());
    }
    Err(miette!(
        help = "merge all parts, or write to another file with --result",
        "{}: result is not replaced: expected at most the {} merged runs, found {} runs, of which some are in no part",
        sanitize(&path.display().to_string()),
        merged.completed_runs(),
        found.completed_runs()
    ))
}

/// A part of an experiment.
struct Part<'a> {
    path: &'a Path,
    /// Its first run. A part without runs has none, and no rows.
    first_run: Option<u64>,
}

/// Returns the result of all parts. Only one part is in memory beside it.
fn merged(paths: &[PathBuf]) -> Result<(Summary, Vec<Part<'_>>)> {
    let Some((first, others)) = paths.split_first() else { return Err(miette!("no result")) };
    let part =
        |path, summary: &Summary| Part { path, first_run: summary.ranges.first().map(|(run, _)| *run) };
    let mut merged = read(first)?;
    let mut parts = vec![part(first, &merged)];
    for path in others {
        let summary = read(path)?;
        merged.merge(&summary).map_err(|error| {
            let (first, path) = (first.display().to_string(), path.display().to_string());
            miette!(help = error.help(), "{} and {}: {error}", sanitize(&first), sanitize(&path))
        })?;
        parts.push(part(path, &summary));
    }
    Ok((merged, parts))
}

/// Returns the files with the rows of the parts, in the order of their runs.
fn tables(mut parts: Vec<Part<'_>>) -> Vec<PathBuf> {
    parts.retain(|part| part.first_run.is_some());
    parts.sort_by_key(|part| part.first_run);
    parts.into_iter().map(|part| part.path.with_extension("csv")).collect()
}
