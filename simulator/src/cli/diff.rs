//! `diff`: compares two traces.

mod case;
pub(super) mod json;
mod report;

use super::args::{GlobalArgs, ReportFormat};
use super::differences::Sides;
use super::exit_status::ExitStatus;
use super::files::open_trace;
use super::output::{self, ReportStyle};
use super::test_report::{Diagnostic, TestCase, TestReport, text_output};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_report::show::{StepDescription, describe};
use orchestrion_trace::diff::{StepChange, TraceDiff, diff};
use orchestrion_trace::{Header, TraceError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Compare two traces: the first cause of their differences, the steps that follow from it, and both endings.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Compare this trace, A.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// With this trace, B.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: ReportFormat,
}

const EXAMPLES: &str = r#"Examples:
  orchestrion diff golden.ndjson .orchestrion/happy.trace.ndjson
  orchestrion diff monday.ndjson tuesday.ndjson --format sarif

Steps are aligned by their inputs and decisions, so that an inserted step
changes none of those after it. Numbers of calls, items and requests are
compared by what they name. The report has three parts:
  cause         the first step that differs. Another input: the cause is outside
                of the kernel. The same input and another decision: the cause is
                the policy, or the version of the kernel.
  consequences  the steps that only A or only B has, and those that changed, as
                `show` prints them
  endings       of each request in both traces

Example: after `init`,
  orchestrion fork scenarios/first-request.ndjson --step 11 --output veto.ndjson \
    --set 'call.reply={con: {confidence: 0.95, text: No}}'
  orchestrion diff scenarios/first-request.ndjson veto.ndjson
prints among others:
  another input: the cause is outside of the kernel
  at step 11 of A and step 11 of B, in Round_4_Security
    A    11  Security           PRO  █████████·  0.90  "No new data is read  T11
    B    11  Security           CON  █████████▌  0.95  "No"                  T11
  3 steps only in A, 9 steps changed
    A    13  consensus          0.881889 ≥ 0.80, no further pass             T14
    B    13  consensus          0.269889, but a veto ends the debate         H04
  only A
    A    18  task 1             ✓ exit 0   "3,120 rows copied"               T21
    A        PROCEED, consensus reached, outcome: every task succeeded
    B        VETO by Security, blocked: Security vetoed the plan

Alignment: at most 2,000 insertions and deletions beside a common start and end;
beyond, steps are paired in order, and the report says so.

Exit codes: 0 equal; 1 the traces differ; 2 a trace cannot be opened, or they
have two formats; 3 a trace is not readable to its end, and is compared as far as
it is."#;

/// What the two sides are called.
const SIDES: Sides = Sides { recorded: "A", current: "B" };

/// The most steps that a report lists.
const CHANGES_MAX: usize = 1000;

/// Two compared traces.
struct Compared<'a> {
    files: [&'a Path; 2],
    diff: TraceDiff,
    /// The steps of A and of B that the report lists.
    steps: [BTreeMap<u64, StepDescription>; 2],
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let files = [args.a.as_path(), args.b.as_path()];
    let compared = match compare(files)? {
        Ok(compared) => compared,
        Err(error) => {
            output::print_error(&error);
            let diagnostic = Diagnostic::of_trace_error(Path::new(&error.file), &error);
            let case = TestCase::of_file("diff", Path::new(&error.file), ExitStatus::Error, vec![diagnostic]);
            TestReport::new("diff", ExitStatus::Error, vec![case]).print(args.format)?;
            return Ok(ExitStatus::Error);
        }
    };
    let status = compared.status();
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = text_output(args.format, output::plain_stdout());
    report::write(&compared, style, &mut out).into_diagnostic()?;
    drop(out);
    match args.format {
        ReportFormat::Json => json::write(&compared, &mut output::stdout()).into_diagnostic()?,
        format => TestReport::new("diff", status, vec![compared.case()]).print(format)?,
    }
    for error in compared.diff.errors.iter().flatten() {
        output::print_error(error);
    }
    Ok(status)
}

/// Compares two traces. The inner error is that of a trace that cannot be opened.
fn compare(files: [&Path; 2]) -> Result<Result<Compared<'_>, TraceError>> {
    let [a, b] = files;
    let headers = match (open_trace(a), open_trace(b)) {
        (Ok(a), Ok(b)) => [a.header().clone(), b.header().clone()],
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    ensure_same_format(files, &headers)?;
    let diff = match diff(|| open_trace(a), || open_trace(b)) {
        Ok(diff) => diff,
        Err(error) => return Ok(Err(error)),
    };
    let mut listed = [BTreeSet::new(), BTreeSet::new()];
    let cause = diff.cause.as_ref().map_or([None, None], |cause| cause.steps);
    let changes = diff.changes.iter().take(CHANGES_MAX).map(|change| change.steps());
    for of_sides in changes.chain([cause]) {
        for (listed, step) in listed.iter_mut().zip(of_sides) {
            listed.extend(step);
        }
    }
    // The steps were read before.
    let describe = |path, listed| open_trace(path).and_then(|reader| describe(reader, listed));
    let steps = match (describe(a, &listed[0]), describe(b, &listed[1])) {
        (Ok(of_a), Ok(of_b)) => [of_a, of_b],
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    Ok(Ok(Compared { files, diff, steps }))
}

/// Returns an error for a trace and a journal: a journal has digests instead of events.
fn ensure_same_format(files: [&Path; 2], headers: &[Header; 2]) -> Result<()> {
    let [a, b] = headers;
    if a.format == b.format {
        return Ok(());
    }
    let journal = if a.is_journal() { files[0] } else { files[1] };
    Err(miette!(
        help = format!(
            "write the journal as a trace first: orchestrion journal join {} --output TRACE",
            output::quoted(journal)
        ),
        "{}:1: traces of two formats: expected {} as in {}, found {}",
        files[1].display(),
        a.format,
        files[0].display(),
        b.format
    ))
}

impl Compared<'_> {
    fn status(&self) -> ExitStatus {
        let diff = &self.diff;
        if diff.errors.iter().any(Option::is_some) {
            ExitStatus::Incomplete
        } else if diff.has_equal_steps() && diff.has_equal_headers() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        }
    }

    /// The parts of the headers that differ, except the settings of the policy: the key, and both values.
    fn header_differences(&self) -> Vec<(&'static str, [String; 2])> {
        let scenario = |header: &Header| match &header.scenario {
            Some(scenario) => format!("{} with the digest {}", scenario.name, scenario.digest),
            None => "none".to_owned(),
        };
        let [a, b] = &self.diff.headers;
        let parts = [
            ("kernel version", [a.kernel.clone(), b.kernel.clone()]),
            ("transition table", [a.table.clone(), b.table.clone()]),
            ("conversation", [a.conversation.to_string(), b.conversation.to_string()]),
            ("scenario", [scenario(a), scenario(b)]),
        ];
        parts.into_iter().filter(|(_, [a, b])| a != b).collect()
    }

    /// The description of a step of A (0) or B (1).
    fn step(&self, side: usize, change: &StepChange) -> Option<(u64, &StepDescription)> {
        let n = change.steps()[side]?;
        self.steps[side].get(&n).map(|step| (n, step))
    }
}
