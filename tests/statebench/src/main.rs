//! The `statebench` program: its command line and its exit codes.
//!
//! Deliberately absent: color and progress output, because a full run takes about a second.

mod output;

use clap::{Parser, ValueEnum};
use orchestrion_statebench::diagnostic::{Diagnostic, DiagnosticKind};
use orchestrion_statebench::read::{Case, Reader};
use orchestrion_statebench::score::{Report, Scorer};
use orchestrion_statebench::timeline_report::render_timeline;
use output::{print, print_error};
use std::io::{self, BufReader};
use std::path::PathBuf;
use std::process::ExitCode;

/// Replay StateBench timelines into the semantic state, build a context for each query, and score the contexts by the rules of
/// the benchmark. No language model is called.
#[derive(Debug, Parser)]
#[command(name = "statebench", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Cli {
    /// Read timelines from these files, one JSON object per line.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Select the format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// Print only the timelines with this id: final state, supersessions with their rules, contexts, and forbidden or missing
    /// text.
    #[arg(long, value_name = "ID", conflicts_with = "format")]
    timeline: Option<String>,
    /// Print only diagnostics and the summary.
    #[arg(long, short)]
    quiet: bool,
}

const AFTER_HELP: &str = "\
Examples:
  statebench train.jsonl dev.jsonl              score two files
  statebench dev.jsonl --format json            print the report as JSON
  statebench train.jsonl --timeline S3-000218   print one timeline with its contexts

A context is *resurrected* if it contains text that the ground truth forbids. The context
builder has no access to the ground truth. Invalid lines and writes are reported on standard
error, and the rest is scored.

Exit codes: 0 success; 2 error, nothing was scored; 3 incomplete, some input was invalid.";

/// The format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for people.
    Human,
    /// One JSON object.
    Json,
}

/// The status that the process exits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    Success,
    /// Nothing was scored.
    Error,
    /// Some input was invalid.
    Incomplete,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Success => 0,
            ExitStatus::Error => 2,
            ExitStatus::Incomplete => 3,
        })
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let status = match &cli.timeline {
        Some(id) => print_timeline(&cli.files, id),
        None => print_report(&cli),
    };
    match status {
        Ok(status) => status.into(),
        Err(error) => {
            print_error(&format_args!("cannot write to standard output: {error}"));
            ExitStatus::Error.into()
        }
    }
}

/// Scores every timeline and prints the report.
fn print_report(cli: &Cli) -> io::Result<ExitStatus> {
    let scorer = Scorer::default();
    let mut report = Report::default();
    read_cases(&cli.files, |file, case| match case {
        Ok(case) => scorer.score(file, &case, &mut report),
        Err(diagnostic) => report.add_diagnostics([diagnostic]),
    });
    report.diagnostics.iter().for_each(print_error);
    if report.omitted_diagnostics > 0 {
        print_error(&format_args!("{} further diagnostics are not shown", report.omitted_diagnostics));
    }
    print(&match cli.format {
        Format::Json => format!("{:#}\n", report.to_json()),
        Format::Human if cli.quiet => format!("scored: {}\n", report.summary()),
        Format::Human => format!("{}\nscored: {}\n", report.to_table(), report.summary()),
    })?;
    Ok(match (report.timelines, report.diagnostics.is_empty()) {
        (0, _) => ExitStatus::Error,
        (_, true) => ExitStatus::Success,
        (_, false) => ExitStatus::Incomplete,
    })
}

/// Prints every timeline with this id.
fn print_timeline(files: &[PathBuf], id: &str) -> io::Result<ExitStatus> {
    let (scorer, mut text, mut is_complete) = (Scorer::default(), String::new(), true);
    read_cases(files, |file, case| match case {
        Ok(case) if case.ground_truth.id == id => {
            let (timeline, is_valid) = render_timeline(&scorer, file, &case);
            text.push_str(&timeline);
            is_complete &= is_valid;
        }
        Ok(_) => {}
        Err(diagnostic) => {
            print_error(&diagnostic);
            is_complete = false;
        }
    });
    if text.is_empty() {
        print_error(&format_args!(
            "unknown timeline `{id}`: expected the field `id` of a line in these files"
        ));
        return Ok(ExitStatus::Error);
    }
    print(&text)?;
    Ok(if is_complete { ExitStatus::Success } else { ExitStatus::Incomplete })
}

/// Reads every timeline of every file and passes each case or diagnostic to `visit`.
fn read_cases(paths: &[PathBuf], mut visit: impl FnMut(&str, Result<Case, Diagnostic>)) {
    for path in paths {
        let file = path.display().to_string();
        let mut report = |kind| visit(&file, Err(Diagnostic { file: file.clone(), line: 0, kind }));
        let input = match orchestrion_files::open(path) {
            Ok(input) => input,
            Err(error) => {
                report(DiagnosticKind::Io(error.to_string()));
                continue;
            }
        };
        let mut cases = Reader::new(BufReader::new(input), &file).peekable();
        if cases.peek().is_none() {
            report(DiagnosticKind::Empty);
        }
        for case in cases {
            visit(&file, case);
        }
    }
}
