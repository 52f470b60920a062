//! `run --check` and `run --accept`: plays scenarios and compares them with their golden traces.

mod case;
mod report;
mod summary;

use super::Args;
use super::monitor::run_with_claims;
use super::traces::TraceFiles;

use crate::cli::args::GlobalArgs;
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::{self, open_trace};
use crate::cli::output::{self, ReportStyle};
use crate::cli::queue;
use crate::cli::test_report::{Diagnostic, Location, TestCase, TestReport, rules, text_output};
use crate::cli::user_claims::TraceVerdicts;
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::ScenarioResult;
use orchestrion_trace::{Comparison, Reader, TraceError, compare};
use orchestrion_user_claims::UserClaim;
use orchestrion_yaml::ReadError;
use report::Judged;
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use summary::GoldenSummary;

/// A scenario that was played, and how its golden trace compares with the run.
struct Played {
    result: ScenarioResult,
    golden: PathBuf,
    verdict: Verdict,
    of_claims: TraceVerdicts,
}

/// How a golden trace compares with a new run of its scenario.
enum Verdict {
    /// The same inputs, decisions and texts under the same policy.
    Equal,
    /// There is no golden trace.
    Missing,
    /// The scenario has no golden trace: its expectations alone judge the run.
    NotKept,
    /// A step or the policy differs.
    Changed(Box<Comparison>),
    /// The golden trace cannot be read.
    Unreadable(TraceError),
}

/// What happens with the golden traces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GoldenMode {
    /// They are compared.
    Check,
    /// They are written.
    Accept,
}

/// What is done with the golden traces, and how.
pub(super) struct Settings<'a> {
    pub(super) mode: GoldenMode,
    /// The policy of a scenario that names none.
    pub(super) policy: &'a Policy,
    /// The claims of the project.
    pub(super) claims: &'a [UserClaim],
    pub(super) traces: &'a TraceFiles<'a>,
    pub(super) global: &'a GlobalArgs,
}

impl Settings<'_> {
    fn style(&self) -> ReportStyle {
        ReportStyle { quiet: self.global.quiet, width: output::width() }
    }
}

pub(super) fn run(scenarios: &[PathBuf], settings: &Settings<'_>, args: &Args) -> Result<ExitStatus> {
    let jobs = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut out = text_output(args.format, output::plain_stdout());
    let (mut summary, mut cases) = (GoldenSummary::default(), Vec::new());
    let stop = AtomicBool::new(false);
    let work = |path: &PathBuf| play(path, settings);
    queue::in_order(scenarios, jobs, &stop, work, |path, played| {
        let judged = match played {
            Ok(played) => judge(path, played, settings, &mut summary, &mut out),
            Err(error) => Err(error),
        };
        let (status, case) = match judged {
            Ok((status, diagnostics)) => (status, TestCase::of_file("run", path, status, diagnostics)),
            Err(error) => {
                output::print_diagnostic(&error);
                summary.unplayed += 1;
                (ExitStatus::Error, TestCase::of_error("run", path, &rules::INVALID_FILE, &error))
            }
        };
        summary.statuses.push(status);
        cases.push(case);
        Ok(if args.fail_fast && status != ExitStatus::Success {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    summary
        .write(settings.mode, &args.scenarios, scenarios.len(), settings.style(), &mut out)
        .into_diagnostic()?;
    drop(out);
    let status = ExitStatus::combine(&summary.statuses);
    TestReport::new("run", status, cases).print(args.format)?;
    Ok(status)
}

/// Plays a scenario, and compares the run with its golden trace and with the claims of the project.
fn play(path: &Path, settings: &Settings<'_>) -> Result<Played> {
    let scenario = Scenario::read_with_default(path, settings.policy)?;
    let (name, has_golden) = (scenario.name.clone(), scenario.has_golden);
    let expected_claims = scenario.project_claims();
    let mut result = run_with_claims(scenario, settings.claims)?;
    let golden = path.with_extension("ndjson");
    let verdict = if has_golden { compare_golden(&golden, &result.trace, &name) } else { Verdict::NotKept };
    let open = || Reader::new(result.trace.as_slice(), &name);
    let mut of_claims = TraceVerdicts::of_trace(open, settings.claims).into_diagnostic()?;
    let unmet = of_claims.expect(settings.claims, &expected_claims);
    result.unmet_expectations.extend(unmet);
    Ok(Played { result, golden, verdict, of_claims })
}

fn compare_golden(golden: &Path, trace: &[u8], name: &str) -> Verdict {
    // A dangling link is a golden trace that cannot be read.
    if golden.symlink_metadata().is_err() {
        return Verdict::Missing;
    }
    let compared = open_trace(golden).and_then(|golden| compare(golden, Reader::new(trace, name)?));
    match compared {
        Ok(comparison) if comparison.is_equal() => Verdict::Equal,
        Ok(comparison) => Verdict::Changed(Box::new(comparison)),
        Err(error) => Verdict::Unreadable(error),
    }
}

/// Reports on a scenario, and writes its golden trace where requested. Returns why it did not succeed, too.
fn judge(
    path: &Path,
    Played { result, golden, verdict, of_claims }: Played,
    settings: &Settings<'_>,
    summary: &mut GoldenSummary,
    out: &mut impl Write,
) -> Result<(ExitStatus, Vec<Diagnostic>)> {
    let (Settings { mode, claims, traces, .. }, style) = (settings, settings.style());
    let mode = *mode;
    let ScenarioResult { trace, unused_events, unexpected_writes, unmet_expectations, .. } = result;
    // A violation is shown in the trace of this run: another golden trace lacks it, and there may be none.
    let has_violation = of_claims.status() == ExitStatus::Failure;
    let is_evidence = (mode == GoldenMode::Check && verdict.has_changed_steps())
        || (has_violation && !matches!(verdict, Verdict::Equal));
    let evidence = is_evidence.then(|| traces.of(path, None));
    if let Some(evidence) = &evidence {
        files::replace_trace(evidence, &trace)?;
    }
    report::write_verdict(&Judged { mode, path, golden: &golden, trace: &trace }, &verdict, style, out)
        .into_diagnostic()?;
    if let Some(evidence) = &evidence {
        report::write_show(evidence, &verdict, style, out).into_diagnostic()?;
    }
    let mut statuses = Vec::new();
    let mut diagnostics: Vec<Diagnostic> = case::diagnostic(path, &golden, &verdict).into_iter().collect();
    // What an equal run does not use, that of the golden trace did not use either.
    let is_new = !matches!(verdict, Verdict::Equal);
    for unused in unused_events.iter().filter(|_| is_new) {
        let text = format!("{}: {unused}", path.display());
        output::write_hanging(0, "", &text, style.width, out).into_diagnostic()?;
        let place = Location::of_file(path);
        diagnostics.push(Diagnostic::warning(&rules::UNUSED_SCRIPT, unused.to_string(), place));
        statuses.push(ExitStatus::Incomplete);
    }
    let unexpected: Vec<ReadError> = unexpected_writes.into_iter().chain(unmet_expectations).collect();
    let shown = evidence.as_deref().unwrap_or(&golden);
    of_claims.report(claims, shown, true, style.width, out).into_diagnostic()?;
    diagnostics.extend(of_claims.diagnostics(claims, shown));
    statuses.push(of_claims.status());
    let is_failure = !unexpected.is_empty() || has_violation;
    for unexpected in unexpected {
        diagnostics.push(Diagnostic::of_error(&rules::UNMET_EXPECTATION, &unexpected, path));
        output::print_diagnostic(&unexpected.into());
        statuses.push(ExitStatus::Failure);
    }
    let status = match (&verdict, mode) {
        (Verdict::Equal | Verdict::NotKept, _) => ExitStatus::Success,
        (Verdict::Unreadable(_), GoldenMode::Check) => ExitStatus::Error,
        (Verdict::Missing | Verdict::Changed(_), GoldenMode::Check) => ExitStatus::Failure,
        // A run that is not what its scenario expects is no golden trace.
        (_, GoldenMode::Accept) if is_failure => {
            output::write_hanging(
                2,
                "",
                "not written: the run is not what its scenario expects",
                style.width,
                out,
            )
            .into_diagnostic()?;
            ExitStatus::Failure
        }
        (_, GoldenMode::Accept) => {
            files::replace_golden(&golden, &trace)?;
            writeln!(out, "  wrote    {}", golden.display()).into_diagnostic()?;
            ExitStatus::Success
        }
    };
    summary.add(path, &verdict, status);
    statuses.push(status);
    Ok((ExitStatus::combine(&statuses), diagnostics))
}

impl Verdict {
    /// Whether a step differs.
    fn has_changed_steps(&self) -> bool {
        matches!(self, Self::Changed(comparison) if comparison.first.is_some())
    }
}
