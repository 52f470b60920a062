//! `explore run`: runs an experiment, or a part of it.

use super::files::{RESULT, read, stem, with_extension, write};
use super::parquet;
use super::rows::RowsFile;
use super::text::{self, Files};
use crate::cli::args::{Format, GlobalArgs, shard};
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::ensure_overwritable;
use crate::cli::output;
use crate::cli::progress::{ProgressLine, runs_text};
use miette::{Result, miette};
use orchestrion_experiment::{Experiment, Rows, RunError, Shard, Sink, Summary, run_range};
use orchestrion_report::text::sanitize;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Run an experiment, or a part of it, and print its statistics.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore run specs/experiments/redebate.yaml
  orchestrion explore run redebate.yaml --runs 1000    fewer runs, for a first look
  orchestrion explore run redebate.yaml --resume       after an interruption
  orchestrion explore run redebate.yaml --shard 1/3    the first of three parts
  orchestrion explore run redebate.yaml --parquet      the rows also as Parquet

Output, for an experiment redebate.yaml in --out-dir:
  redebate.json         sums and histograms of each metric and policy
  redebate.csv          one row for each run and policy, in their order
  redebate.parquet      the same rows, with --parquet, after the last run
A part has redebate.1-of-3.json and redebate.1-of-3.csv. `explore merge` makes the
result of all parts; it has the same bytes as that of one run.

A rate has a Wilson interval, a mean a Student t interval, a median a bootstrap
interval, each at 95 %; the mean of one run has none. Differences are from the
first policy, in the same runs; their p-values are corrected by Holm's method
for all policies and for the metrics that the experiment names.

The result is the same for any --jobs. It is written every five seconds, so that
--resume continues after the last runs that it contains.

Exit codes: 0 success; 2 error.")]
pub(super) struct Args {
    /// Run this experiment.
    #[arg(value_name = "EXPERIMENT")]
    experiment: PathBuf,
    /// Run this part of the experiment, such as 2/3.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Continue an interrupted run of the same experiment.
    #[arg(long)]
    resume: bool,
    /// Run this number of runs of each policy, instead of that of the file.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=orchestrion_experiment::RUNS_MAX))]
    runs: Option<u64>,
    /// Use this seed, instead of that of the file.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Write no rows.
    #[arg(long)]
    no_rows: bool,
    /// Also write the rows as Parquet.
    #[arg(long, conflicts_with = "no_rows")]
    parquet: bool,
    /// Run with this many threads [default: the number of processors]. The result does not depend on it.
    #[arg(long, value_name = "NUMBER")]
    jobs: Option<NonZeroUsize>,
    /// Print the statistics in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// The time between two checkpoints.
const CHECKPOINT: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let mut experiment = Experiment::read(&args.experiment)?;
    experiment.runs = args.runs.unwrap_or(experiment.runs);
    experiment.seed = args.seed.unwrap_or(experiment.seed);
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let stem = stem(&global.out_dir, &experiment.name, shard);
    let result_path = with_extension(&stem, "json");
    ensure_overwritable(&result_path, &RESULT)?;
    let parquet_path = args.parquet.then(|| with_extension(&stem, "parquet"));
    // A file that cannot be replaced is an error before the first run.
    parquet_path.as_deref().map(parquet::open).transpose()?;
    let (first, end) = shard.range(experiment.runs);
    let mut summary = start(&experiment, &result_path, (first, end), args.resume)?;
    let done = summary.completed_runs();
    let rows_path = with_extension(&stem, "csv");
    let rows = match args.no_rows {
        true => None,
        false => {
            let rows = done.saturating_mul(experiment.policies.len() as u64);
            Some(RowsFile::open(&rows_path, &Rows::heading(&experiment), rows)?)
        }
    };
    let threads =
        args.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let mut sink = Checkpoints {
        rows,
        path: &result_path,
        progress: ProgressLine::new(&*experiment.name, global.quiet),
        runs: end - first - done,
        done,
        start: Instant::now(),
        last: Instant::now(),
    };
    let with_rows = !args.no_rows;
    run_range(&experiment, (first + done, end), threads, with_rows, &mut summary, &mut sink)
        .map_err(run_error)?;
    sink.finish(&summary)?;
    sink.progress.finish();
    if args.no_rows && rows_path.exists() && !global.quiet {
        output::print_error(&format!(
            "note: {}: this run wrote no rows; the file has those of an earlier run",
            rows_path.display()
        ));
    }
    let rows = with_rows.then_some(rows_path);
    if let (Some(path), Some(rows)) = (&parquet_path, &rows) {
        parquet::write(parquet::open(path)?, &summary, std::slice::from_ref(rows))?;
    }
    let files = Files { result: result_path.clone(), rows, parquet: parquet_path };
    text::print(&experiment, &summary, &files, args.format, global)
}

/// Returns the result with which a run starts: an empty one, or that of the interrupted run.
fn start(experiment: &Experiment, path: &Path, (first, end): (u64, u64), resume: bool) -> Result<Summary> {
    let empty = Summary::empty(experiment);
    if !resume || !path.exists() {
        return Ok(empty);
    }
    let found = read(path)?;
    let shown = sanitize(&path.display().to_string());
    if found.digest != empty.digest {
        return Err(miette!(
            help = "restore the experiment file, or run it without --resume",
            "{shown}: result of another experiment: expected the digest {}, found {}",
            empty.digest,
            sanitize(&found.digest)
        ));
    }
    // The metrics of the report may have changed: the rows have every metric.
    let found = Summary { metrics: empty.metrics, ..found };
    match found.ranges.as_slice() {
        [] => Ok(found),
        [(start, stop)] if *start == first && *stop <= end => Ok(found),
        _ => Err(miette!(
            help = "name the same part with --shard, or run it without --resume",
            "{shown}: result of other runs: expected runs from {first} up to {end}"
        )),
    }
}

fn run_error(error: RunError) -> miette::Report {
    let help = match error {
        RunError::Refused { .. } => "correct the network or the facts of the experiment",
        RunError::Rows(_) => "free space, then continue with --resume",
        RunError::Merge(_) => "report this as a bug",
        _ => "see the message",
    };
    miette!(help = help, "{}", sanitize(&error.to_string()))
}

/// Writes rows as they come, and the result every few seconds.
struct Checkpoints<'a> {
    rows: Option<RowsFile>,
    path: &'a Path,
    progress: ProgressLine,
    /// The runs that this process makes.
    runs: u64,
    /// The runs that an interrupted process made.
    done: u64,
    start: Instant,
    last: Instant,
}

impl Checkpoints<'_> {
    /// Writes the result, after its rows.
    fn finish(&mut self, summary: &Summary) -> Result<()> {
        if let Some(rows) = &self.rows {
            rows.sync().map_err(|error| miette!("rows: {error}"))?;
        }
        write(self.path, summary)
    }
}

impl Sink for Checkpoints<'_> {
    fn receive(&mut self, rows: &[u8], summary: &Summary) -> io::Result<()> {
        if let Some(file) = &mut self.rows {
            file.append(rows)?;
        }
        let (ended, elapsed) = (summary.completed_runs() - self.done, self.start.elapsed());
        self.progress.show(elapsed, runs_text(ended, self.runs, elapsed));
        if self.last.elapsed() >= CHECKPOINT {
            self.finish(summary).map_err(|error| io::Error::other(error.to_string()))?;
            self.last = Instant::now();
        }
        Ok(())
    }
}
