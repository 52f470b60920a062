//! `score`: recorded conversations of a benchmark replayed, and their contexts held against its answers.

use super::{ExitStatus, Format, GlobalArgs, files};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_statebench::diagnostic::{Diagnostic, DiagnosticKind};
use orchestrion_statebench::read::{Case, Reader};
use orchestrion_statebench::score::{Report, Scorer};
use orchestrion_statebench::show::show;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

/// Replay a benchmark's timelines into the semantic state, build the context of each question, and score it by the
/// benchmark's own rules. No language model is asked.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion score train.jsonl dev.jsonl --as statebench
  orchestrion score dev.jsonl --as statebench --format json     the same for programs
  orchestrion score dev.jsonl --as statebench --show S3-000218  one timeline: what was known, every context

A context *resurrects* if it has anything in it that the answer forbids. The answers are read apart, and
whatever builds contexts is never handed them. Lines and writes that do not fit are named, and the rest
is scored.")]
pub(super) struct Args {
    /// Files of timelines, one to a line.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The benchmark.
    #[arg(long = "as", value_name = "BENCHMARK")]
    benchmark: Benchmark,
    /// How the report is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Only the timeline of this id: what was known, what took the place of what by which rule, every context,
    /// and what of it is forbidden or missing.
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    timeline: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Benchmark {
    /// StateBench 1.0: timelines as JSON lines.
    Statebench,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let Benchmark::Statebench = args.benchmark;
    match &args.timeline {
        Some(id) => one(&args.files, id),
        None => all(&args.files, args.format, global),
    }
}

fn all(paths: &[PathBuf], format: Format, global: &GlobalArgs) -> Result<ExitStatus> {
    let scorer = Scorer::default();
    let mut report = Report::default();
    let bar = progress(paths);
    each(paths, &bar, |file, case| match case {
        Ok(case) => scorer.score(file, &case, &mut report),
        Err(fault) => report.faults.push(fault),
    });
    bar.finish_and_clear();
    report.faults.iter().for_each(files::print_error);
    let mut out = files::plain();
    match format {
        Format::Json => writeln!(out, "{:#}", report.json()).into_diagnostic()?,
        Format::Human => {
            if !global.quiet {
                writeln!(out, "{}", report.table()).into_diagnostic()?;
            }
            writeln!(out, "scored: {}", report.summary()).into_diagnostic()?;
        }
    }
    Ok(match (report.timelines, report.faults.is_empty()) {
        (0, _) => ExitStatus::Error,
        (_, true) => ExitStatus::Success,
        (_, false) => ExitStatus::Incomplete,
    })
}

/// Shows the timelines of this id.
fn one(paths: &[PathBuf], id: &str) -> Result<ExitStatus> {
    let (scorer, mut told, mut is_whole) = (Scorer::default(), String::new(), true);
    each(paths, &ProgressBar::hidden(), |file, case| match case {
        Ok(case) if case.answers.id == id => {
            let (shown, is_taken) = show(&scorer, file, &case);
            told.push_str(&shown);
            is_whole &= is_taken;
        }
        Ok(_) => {}
        Err(fault) => {
            files::print_error(&fault);
            is_whole = false;
        }
    });
    if told.is_empty() {
        return Err(miette!(
            help = "ids stand in the field `id` of each line",
            "no timeline has the id {id} in these files"
        ));
    }
    write!(files::plain(), "{told}").into_diagnostic()?;
    Ok(if is_whole { ExitStatus::Success } else { ExitStatus::Incomplete })
}

/// Reads every timeline of every file.
fn each(paths: &[PathBuf], bar: &ProgressBar, mut take: impl FnMut(&str, Result<Case, Diagnostic>)) {
    for path in paths {
        let file = path.display().to_string();
        let mut faulty = |kind| take(&file, Err(Diagnostic { file: file.clone(), line: 0, kind }));
        let input = match File::open(path) {
            Ok(input) => input,
            Err(error) => {
                faulty(DiagnosticKind::Io(error.to_string()));
                continue;
            }
        };
        if input.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            faulty(DiagnosticKind::Io("it is a folder; expected a file of timelines".to_string()));
            continue;
        }
        let mut cases = Reader::new(BufReader::new(bar.wrap_read(input)), &file).peekable();
        if cases.peek().is_none() {
            faulty(DiagnosticKind::Empty);
        }
        for case in cases {
            take(&file, case);
        }
    }
}

/// How far all of it is, in bytes, while somebody watches.
fn progress(paths: &[PathBuf]) -> ProgressBar {
    let size = |path: &PathBuf| Path::metadata(path).map_or(0, |metadata| metadata.len());
    let bar = ProgressBar::new(paths.iter().map(size).sum());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} of {total_bytes}  {elapsed}") {
        bar.set_style(style);
    }
    bar
}
