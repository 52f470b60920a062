//! `context solve`: selects the items.

mod report;

use super::problem::ProblemArgs;
use super::progress::SearchProgress;
use super::text::{search_status, solve_error};
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::files;
use crate::cli::output::{self, ReportStyle};
use clap::ValueEnum;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_files::FileKind;
use orchestrion_optimizer::{CertifyError, SearchLimits, SolveStatus, certify};
use orchestrion_selection::{
    Baseline, CERTIFICATE_PREFIX, NamedProblem, PROBLEM_BYTES_MAX, Solver, SolverResult, compare, solve,
    write_certificate,
};
use report::{CertificateStatus, SolveReport};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Select the items of maximum utility within the budget, with all their dependencies.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json
  orchestrion context solve problem.json --format json
  orchestrion context solve problem.json --compare         with the baselines
  orchestrion context solve problem.json --solver ranked   by one baseline
  orchestrion context solve problem.json --solver ilp      by a 0-1 program
  orchestrion context solve talk.ndjson --step 9
  orchestrion context solve talk.ndjson --step 9 --module critic \\
                            --budget 6000 --tokenizer o200k_base
  orchestrion context solve problem.json --certify proof.json

The baselines select items with their missing dependencies, after the pinned
items, and skip forbidden ones:
  greedy   by utility per token of the item with its dependencies
  ranked   003: facts by utility until one does not fit into 7/10 of the
           remaining budget; then all items with \"layer\": \"working\", or none
  recent   from the end of the list, until an item does not fit

In JSON, `bound` is proven: no selection has more utility. `status` is optimal
if the selection is the best one after tie-breaking. `nodes` is null for solvers
without a search.

The limits count nodes and work, not time: the same problem has the same
solution on every machine. A search that hits a limit reports its best solution
and the bound; a higher --max-work finds more. Only the 0-1 program has a limit of
time, 5 seconds, after which it has no solution.

A certificate proves maximum utility and minimum cost, not the tie-break by ids.
Its search has the same limits.

Exit codes: 0 solved; 2 error; 3 the search or the certificate hit a limit.")]
pub(super) struct Args {
    #[command(flatten)]
    problem: ProblemArgs,
    /// Select by this solver.
    #[arg(long, value_name = "SOLVER", default_value = "native")]
    solver: SolverName,
    /// Show the loss of each baseline against the exact solution.
    #[arg(long)]
    compare: bool,
    /// Write a certificate of optimality to this file; an earlier certificate is overwritten.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["step", "budget"])]
    certify: Option<PathBuf>,
    /// Print the solution in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SolverName {
    /// Exact branch and bound.
    Native,
    /// Exact 0-1 program, for small problems: gives up after 100 s divided by the items, 5 s at most.
    Ilp,
    /// Baseline: utility per token.
    Greedy,
    /// Baseline: rule of 003.
    Ranked,
    /// Baseline: newest items.
    Recent,
}

impl SolverName {
    const fn solver(self) -> Solver {
        match self {
            Self::Native => Solver::Native,
            Self::Ilp => Solver::Ilp,
            Self::Greedy => Solver::Baseline(Baseline::Greedy),
            Self::Ranked => Solver::Baseline(Baseline::Ranked),
            Self::Recent => Solver::Baseline(Baseline::Recent),
        }
    }
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let problem = args.problem.read()?;
    let limits = args.problem.limits(SearchLimits::WORK);
    let progress = SearchProgress::start("solving");
    let compared = if args.compare { compare(&problem, limits).map_err(solve_error)? } else { Vec::new() };
    let solver = args.solver.solver();
    if let Some(path) = &args.certify {
        ensure_certifying(solver)?;
        files::ensure_overwritable(path, &CERTIFICATE)?;
    }
    let result = match compared.iter().find(|result| result.solver == solver) {
        Some(result) => result.clone(),
        None => solve(&problem, solver, limits).map_err(solve_error)?,
    };
    let certificate = match &args.certify {
        Some(path) => Some(write_proof(&problem, &result, limits, path)?),
        None => None,
    };
    drop(progress);
    let is_unproven = matches!(certificate, Some(CertificateStatus::Missing));
    let hit_limit = compared.iter().chain([&result]).any(|result| result.hit_limit);
    let status = search_status(hit_limit || is_unproven);
    let report = SolveReport { problem: &problem, result: &result, compared: &compared, certificate };
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = io::BufWriter::new(output::stdout());
    match args.format {
        Format::Json => report.write_json(&mut out),
        Format::Human => report.write(style, status, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(status)
}

fn ensure_certifying(solver: Solver) -> Result<()> {
    if solver == Solver::Native {
        return Ok(());
    }
    Err(miette!(
        help = "omit --solver or --certify",
        "no certificate from this solver: expected native, found {}",
        solver.name()
    ))
}

const CERTIFICATE: FileKind = FileKind {
    name: "a certificate",
    is_start: |start| start.starts_with(CERTIFICATE_PREFIX.as_bytes()),
    last_line: None,
};

/// Writes a certificate, or prints why there is none.
fn write_proof(
    problem: &NamedProblem,
    result: &SolverResult,
    limits: SearchLimits,
    path: &Path,
) -> Result<CertificateStatus> {
    if result.status != SolveStatus::Optimal {
        output::print_error(
            &"no certificate was written: the solver hit a limit; raise --max-work or --max-nodes",
        );
        return Ok(CertificateStatus::Missing);
    }
    match certify(&problem.problem, &result.selection, limits) {
        Ok(certificate) => {
            files::replace_with(path, &CERTIFICATE, |file| {
                write_certificate(problem, &certificate, &mut *file)?;
                // `context verify` refuses a larger one.
                if file.metadata()?.len() > PROBLEM_BYTES_MAX as u64 {
                    return Err(io::Error::other(format!(
                        "certificate too large: expected at most {PROBLEM_BYTES_MAX} bytes, found more"
                    )));
                }
                Ok(())
            })?;
            Ok(CertificateStatus::Steps(certificate.steps.len()))
        }
        Err(error @ (CertifyError::NodeLimit | CertifyError::SizeLimit)) => {
            output::print_error(&format!("no certificate was written: {error}"));
            Ok(CertificateStatus::Missing)
        }
        Err(error) => Err(miette!(
            help = "this is a bug of orchestrion; please report it with the problem",
            "no certificate was written: {error}"
        )),
    }
}
