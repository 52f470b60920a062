//! `context explain`: why each item is selected or not.

mod json;
mod report;

use super::problem::ProblemArgs;
use super::progress::SearchProgress;
use super::text::{search_status, solve_error};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_optimizer::SearchLimits;
use orchestrion_report::text::sanitize;
use orchestrion_selection::{Explainer, Explanation, NamedProblem};
use report::ExplainReport;
use std::io::{self, Write};

/// Explain why each item is selected or not, and which budget would change that.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context explain problem.json           one line per item
  orchestrion context explain problem.json note-9    one item in full: the
                                                     solution without it or with
                                                     it, and the required budget
  orchestrion context explain problem.json 7 --format json
  orchestrion context explain talk.ndjson --step 9 12

Nothing is estimated. For a named item, the problem is solved again with the
item forbidden or pinned, and at other budgets. The smallest budget with the
item is not always found: after 400 searches, only a lower bound is given.

Where a limit was hit, the result is a range: of a utility up to its bound, or
of a budget. A higher --max-work narrows it.

Exit codes: 0 success; 2 error; 3 a search hit a limit.")]
pub(super) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Explain these items in full [default: one line per item].
    #[arg(value_name = "ITEM")]
    items: Vec<String>,
    /// Print the explanation in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let problem = args.problem.read()?;
    let items = args.items.iter().map(|item| position(&problem, item)).collect::<Result<Vec<_>>>()?;
    let progress = SearchProgress::start("explaining");
    let mut explainer =
        Explainer::new(&problem, args.problem.limits(SearchLimits::WORK)).map_err(solve_error)?;
    let reasons = explainer.reasons();
    let explanations = if items.is_empty() {
        let summary = |(item, reason)| Explanation { item, reason, alternative: None, required_budget: None };
        reasons.into_iter().take(problem.ids.len()).enumerate().map(summary).collect()
    } else {
        let explain = items.iter().map(|item| explainer.explain(*item, reasons[*item].clone()));
        explain.collect::<Result<_, _>>().map_err(solve_error)?
    };
    let next_improvement = explainer.next_improvement().map_err(solve_error)?;
    drop(progress);
    let report = ExplainReport {
        problem: &problem,
        explanations,
        is_detailed: !items.is_empty(),
        next_improvement,
        solution: &explainer.solution,
        hit_limit: explainer.hit_limit,
    };
    let status = search_status(report.hit_limit);
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = io::BufWriter::new(output::stdout());
    match args.format {
        Format::Json => json::write(&report, &mut out),
        Format::Human => report.write(style, status, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(status)
}

fn position(problem: &NamedProblem, item: &str) -> Result<usize> {
    problem.position(item).ok_or_else(|| {
        miette!(
            help = "items are named by their `id`; omit the item to list all",
            "unknown item `{}`",
            sanitize(item)
        )
    })
}
