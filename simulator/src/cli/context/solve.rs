//! `context solve`: the choice.

use super::{ProblemArgs, names, outcome, percent, status_name, style, tokens};
use crate::cli::{ExitStatus, Format, GlobalArgs, files};
use clap::ValueEnum;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::module::Module;
use orchestrion_optimizer::{CertifyError, SearchLimits, SolveStatus, certify};
use orchestrion_report::show::{grouped, wrap};
use orchestrion_selection::{
    Baseline, CERTIFICATE_BEGINS, ENGINE, Id, IlpError, NamedProblem, SolveError, Solved, Solver, compare,
    solve, write_certificate,
};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// So many chosen items are named to people.
const NAMED_MAX: usize = 200;

/// Choose the items of most utility that fit, each with what it needs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion context solve problem.json
  orchestrion context solve problem.json --format json      {\"status\": \"optimal\", \"utility\": …, \"selected\": [ids], …}
  orchestrion context solve problem.json --compare          beside it what simpler rules choose, and what that loses
  orchestrion context solve problem.json --solver ranked    by one of these rules alone
  orchestrion context solve problem.json --solver ilp       the same by a 0-1 program; for small problems
  orchestrion context solve talk.ndjson --step 9            what the module that is waited for after step 9 is shown
  orchestrion context solve talk.ndjson --step 9 --module critic --budget 1500 --tokenizer o200k_base
  orchestrion context solve problem.json --certify proof.json    beside it why none is better, for `context verify`

The rules are what contexts are often packed by. Each takes an item only with all that it still needs, after what is
pinned, and passes over what is forbidden:
  greedy   the most utility for a token first, counted with all it needs; what does not fit is passed over
  ranked   003: facts by utility, until one does not fit into 7/10 of what the pinned items leave, rounded down; then the
           items with \"layer\": \"working\", all or none
  recent   from the end of the list, until one does not fit; an older item comes with the newer one that needs it

In JSON, `bound` is proven: no choice has more utility. `status` is optimal if the choice is the best one, with ties decided.
`nodes` is null for solvers that count none.

A certificate proves that no choice has more utility, and that none of as much utility costs less; not which of those comes first.
It is looked for within as many nodes again. If that is too few, none is written, and the exit code is 3.")]
pub(super) struct Args {
    #[command(flatten)]
    about: ProblemArgs,
    /// Who chooses.
    #[arg(long, value_name = "SOLVER", default_value = "native")]
    solver: SolverName,
    /// Show what each rule loses against the exact choice, too.
    #[arg(long)]
    compare: bool,
    /// Write into this file what proves the choice the best, over an earlier certificate if there is one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["step", "budget"])]
    certify: Option<PathBuf>,
    /// How the choice is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SolverName {
    /// The kernel's own: exact.
    Native,
    /// The 0-1 program, by a solver of linear programs: exact, and slow on large problems.
    Ilp,
    /// By density.
    Greedy,
    /// 003's rule.
    Ranked,
    /// The newest.
    Recent,
}

impl SolverName {
    const fn solver(self) -> Solver {
        match self {
            Self::Native => Solver::Native,
            Self::Ilp => Solver::Ilp,
            Self::Greedy => Solver::Rule(Baseline::Greedy),
            Self::Ranked => Solver::Rule(Baseline::Ranked),
            Self::Recent => Solver::Rule(Baseline::Recent),
        }
    }
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let named = args.about.read()?;
    let limits = args.about.limits();
    let compared = if args.compare { compare(&named, limits).map_err(unsolved)? } else { Vec::new() };
    let solver = args.solver.solver();
    if let Some(path) = &args.certify {
        refuse_uncertified(solver)?;
        refuse_other(path)?;
    }
    let solved = match compared.iter().find(|solved| solved.solver == solver) {
        Some(solved) => solved.clone(),
        None => solve(&named, solver, limits).map_err(unsolved)?,
    };
    let proof = match &args.certify {
        Some(path) => Some(prove(&named, &solved, limits, path)?),
        None => None,
    };
    let is_unproven = matches!(proof, Some(Proof::Missing));
    let outcome = outcome(solved.is_cut || compared.iter().any(|solved| solved.is_cut) || is_unproven);
    let mut out = io::BufWriter::new(files::out());
    match args.format {
        Format::Json => json(&named, &solved, &compared, proof, &mut out),
        Format::Human => human(&named, &solved, &compared, proof.as_ref(), global.quiet, outcome, &mut out),
    }
    .and_then(|()| out.flush())
    .into_diagnostic()?;
    Ok(outcome)
}

/// What became of a certificate.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Proof {
    /// It was written, with so many steps.
    Steps(usize),
    /// There is none.
    Missing,
}

fn refuse_uncertified(solver: Solver) -> Result<()> {
    if solver == Solver::Native {
        return Ok(());
    }
    Err(miette!(
        help = "leave out --solver, or leave out --certify",
        "the solver `{}` gives no certificates; expected the native one",
        solver.name()
    ))
}

fn refuse_other(path: &Path) -> Result<()> {
    let help = "choose another file for it, or move this one away";
    files::ensure_overwritable(path, CERTIFICATE_BEGINS, "no certificate", help)
}

/// Writes a certificate, or says why there is none.
fn prove(named: &NamedProblem, solved: &Solved, limits: SearchLimits, path: &Path) -> Result<Proof> {
    if solved.status != SolveStatus::Optimal {
        files::print_error(&"no certificate is written: the search for the choice was cut short");
        return Ok(Proof::Missing);
    }
    match certify(&named.problem, &solved.selection, limits) {
        Ok(certificate) => {
            refuse_other(path)?;
            files::replace_by(path, |file| write_certificate(named, &certificate, file))?;
            Ok(Proof::Steps(certificate.steps.len()))
        }
        Err(unproven @ (CertifyError::NodeLimit | CertifyError::SizeLimit)) => {
            files::print_error(&format!("no certificate is written: {unproven}"));
            Ok(Proof::Missing)
        }
        Err(unproven) => Err(miette!(
            help = "this is a fault of ours; please report it with the problem",
            "no certificate is written: {unproven}"
        )),
    }
}

/// Why there is no answer, and what to do.
pub(super) fn unsolved(error: SolveError) -> miette::Report {
    match error {
        SolveError::Ilp(IlpError::TooLarge { .. }) => {
            miette!(help = "leave out --solver ilp: the native solver reckons in integers", "{error}")
        }
        SolveError::Ilp(_) => miette!(help = "leave out --solver ilp, and the native solver will", "{error}"),
        SolveError::Unsound { .. } => {
            miette!(help = "this is a fault of ours; please report it with the problem", "{error}")
        }
    }
}

#[derive(Serialize)]
struct Report<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'static str>,
    status: &'static str,
    utility: u64,
    cost: u64,
    bound: u64,
    selected: Vec<&'a Id<'static>>,
    nodes: Option<u64>,
    solver: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<Proof>,
}

#[derive(Serialize)]
struct Row {
    solver: &'static str,
    status: &'static str,
    utility: u64,
    loss: u64,
    cost: u64,
    items: usize,
}

fn json(
    named: &NamedProblem,
    solved: &Solved,
    compared: &[Solved],
    certificate: Option<Proof>,
    out: &mut impl Write,
) -> io::Result<()> {
    let row = |solved: &Solved| Row {
        solver: solved.solver.name(),
        status: status_name(solved.status),
        utility: solved.selection.utility,
        loss: solved.loss(),
        cost: solved.selection.cost,
        items: named.names(&solved.selection.selected).len(),
    };
    let report = Report {
        module: named.module.map(Module::name),
        status: status_name(solved.status),
        utility: solved.selection.utility,
        cost: solved.selection.cost,
        bound: solved.bound,
        selected: named.names(&solved.selection.selected),
        nodes: solved.nodes,
        solver: solved.solver.name(),
        compared: compared.iter().map(row).collect(),
        certificate,
    };
    serde_json::to_writer(&mut *out, &report)?;
    writeln!(out)
}

fn human(
    named: &NamedProblem,
    solved: &Solved,
    compared: &[Solved],
    proof: Option<&Proof>,
    quiet: bool,
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    if !quiet {
        chosen(named, solved, out)?;
    }
    if !compared.is_empty() {
        table(named, compared, out)?;
    }
    last_line(named, solved, outcome, out)?;
    match proof {
        Some(Proof::Steps(steps)) => {
            let steps =
                if *steps == 1 { "1 step".into() } else { format!("{} steps", grouped(*steps as u64)) };
            writeln!(out, "  certified  in {steps}; `orchestrion context verify` checks it")
        }
        Some(Proof::Missing) => writeln!(out, "  no certificate"),
        None => Ok(()),
    }
}

fn chosen(named: &NamedProblem, solved: &Solved, out: &mut impl Write) -> io::Result<()> {
    const AT: usize = 11;
    let columns = files::columns() - AT;
    let mut entry = |word: &str, told: &str| {
        let lines = wrap(told, columns);
        lines
            .iter()
            .enumerate()
            .try_for_each(|(n, line)| writeln!(out, "  {:<9}{line}", if n == 0 { word } else { "" }))
    };
    if let Some(module) = named.module {
        entry("module", module.name())?;
    }
    let names = match names(named, &solved.selection.selected, NAMED_MAX) {
        names if names.is_empty() => "nothing".to_owned(),
        names => names,
    };
    entry("chosen", &names)?;
    let budget = named.problem.budget();
    let reserved = if named.reserved > 0 {
        format!("; {} more are reserved", grouped(named.reserved))
    } else {
        String::new()
    };
    let spare = budget.saturating_sub(solved.selection.cost);
    entry(
        "cost",
        &format!(
            "{} of {}, {} to spare{reserved}",
            grouped(solved.selection.cost),
            tokens(budget),
            grouped(spare)
        ),
    )?;
    entry("utility", &grouped(solved.selection.utility))?;
    entry("solver", &told(solved))?;
    writeln!(out)
}

/// Who chose, and what is known of it.
fn told(solved: &Solved) -> String {
    let loss = format!("{} ({})", grouped(solved.loss()), percent(solved.loss(), solved.bound));
    let nodes = solved.nodes.unwrap_or_default();
    let nodes = format!("{} {}", grouped(nodes), if nodes == 1 { "node" } else { "nodes" });
    match (solved.solver, solved.status) {
        (Solver::Native, SolveStatus::Optimal) => {
            format!(
                "native, {nodes}; proven: none has more, none as good costs less, none of these comes first"
            )
        }
        (Solver::Native, SolveStatus::Bounded) => format!(
            "native, cut short after {nodes}: no choice has more than {}, so this one lacks at most {loss}",
            grouped(solved.bound)
        ),
        (Solver::Ilp, _) => {
            format!("ilp, by {ENGINE}: optimal as far as floating point can tell, and checked in integers")
        }
        (Solver::Rule(_), SolveStatus::Optimal) => {
            format!("{}, and there is no better choice", solved.solver.name())
        }
        (Solver::Rule(_), SolveStatus::Bounded) if solved.is_cut => {
            format!(
                "{}, which loses at most {loss}: no choice has more than {}",
                solved.solver.name(),
                grouped(solved.bound)
            )
        }
        (Solver::Rule(_), SolveStatus::Bounded) => {
            format!(
                "{}, which loses {loss} against the best choice, {}",
                solved.solver.name(),
                grouped(solved.bound)
            )
        }
    }
}

fn table(named: &NamedProblem, compared: &[Solved], out: &mut impl Write) -> io::Result<()> {
    let loss = if compared.iter().any(|solved| solved.is_cut) { "loss, at most" } else { "loss" };
    writeln!(out, "  {:<8} {:>17} {loss:>17} {:>10} {:>14} {:>9}", "solver", "utility", "", "cost", "items")?;
    for solved in compared {
        let (selection, style) = (&solved.selection, style(solved.loss() == 0));
        let name = solved.solver.name();
        write!(out, "  {style}{name:<8}{style:#} {:>17} ", grouped(selection.utility))?;
        write!(out, "{:>17} {:>10} ", grouped(solved.loss()), percent(solved.loss(), solved.bound))?;
        writeln!(
            out,
            "{:>14} {:>9}",
            grouped(selection.cost),
            grouped(named.names(&selection.selected).len() as u64)
        )?;
    }
    writeln!(out)
}

pub(super) fn last_line(
    named: &NamedProblem,
    solved: &Solved,
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let is_best = solved.status == SolveStatus::Optimal;
    let style = style(is_best).bold();
    let word = match (is_best, solved.is_cut) {
        (true, _) => "OPTIMAL",
        (false, true) => "CUT SHORT",
        (false, false) => "NOT OPTIMAL",
    };
    let (chosen, all) = (named.names(&solved.selection.selected).len() as u64, named.ids.len() as u64);
    writeln!(
        out,
        "{style}{word}{style:#}: {} of {} items, utility {} for {} of {}. exit {}",
        grouped(chosen),
        grouped(all),
        grouped(solved.selection.utility),
        grouped(solved.selection.cost),
        tokens(named.problem.budget()),
        outcome.code()
    )
}
