//! Report of `context solve`.

use crate::cli::context::text::{item_names, percent, status_name, style, tokens};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, write_hanging, write_summary};
use orchestrion_kernel::module::Module;
use orchestrion_optimizer::SolveStatus;
use orchestrion_report::text::grouped;
use orchestrion_selection::{ILP_ENGINE, Id, NamedProblem, Solver, SolverResult};
use serde::Serialize;
use std::io::{self, Write};

/// Selected items named in the report; more are counted.
const NAMES_MAX: usize = 200;

/// The result of one solver, with those of the baselines where requested.
pub(super) struct SolveReport<'a> {
    pub(super) problem: &'a NamedProblem,
    pub(super) result: &'a SolverResult,
    pub(super) compared: &'a [SolverResult],
    pub(super) certificate: Option<CertificateStatus>,
}

/// Whether a requested certificate was written.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CertificateStatus {
    /// It was written, with this number of steps.
    Steps(usize),
    /// A limit was reached.
    Missing,
}

impl SolveReport<'_> {
    pub(super) fn write(
        &self,
        style: ReportStyle,
        status: ExitStatus,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if !style.quiet {
            self.write_selection(style.width, out)?;
        }
        if !self.compared.is_empty() {
            self.write_table(style.width, out)?;
        }
        self.write_last_line(status, style.width, out)?;
        match self.certificate {
            Some(CertificateStatus::Steps(steps)) => {
                let steps = match steps {
                    1 => "1 step".to_owned(),
                    _ => format!("{} steps", grouped(steps as u64)),
                };
                let text = format!("certified in {steps}; verify it with `orchestrion context verify`");
                write_hanging(2, "", &text, style.width, out)
            }
            Some(CertificateStatus::Missing) => writeln!(out, "  no certificate"),
            None => Ok(()),
        }
    }

    fn selected_count(&self, result: &SolverResult) -> u64 {
        self.problem.names(&result.selection.selected).len() as u64
    }

    fn write_selection(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let (problem, selection) = (self.problem, &self.result.selection);
        let mut entry = |label: &str, text: &str| write_hanging(12, &format!("  {label}"), text, width, out);
        if let Some(module) = problem.module {
            entry("module", module.name())?;
        }
        let names = match item_names(problem, &selection.selected, NAMES_MAX) {
            names if names.is_empty() => "nothing".to_owned(),
            names => names,
        };
        entry("selected", &names)?;
        let budget = problem.problem.budget();
        let reserved = match problem.reserved {
            0 => String::new(),
            reserved => format!("; {} more are reserved", grouped(reserved)),
        };
        let unused = grouped(budget.saturating_sub(selection.cost));
        let cost = format!("{} of {}, {unused} unused{reserved}", grouped(selection.cost), tokens(budget));
        entry("cost", &cost)?;
        entry("utility", &grouped(selection.utility))?;
        entry("solver", &solver_text(self.result))?;
        writeln!(out)
    }

    /// Writes a row for each solver, in columns as wide as their values.
    fn write_table(&self, width: usize, out: &mut impl Write) -> io::Result<()> {
        let hit_limit = self.compared.iter().any(|result| result.hit_limit);
        let loss = if hit_limit { "loss up to" } else { "loss" };
        let mut rows = vec![["solver", "utility", loss, "", "cost", "items"].map(str::to_owned)];
        rows.extend(self.compared.iter().map(|result| {
            [
                result.solver.name().to_owned(),
                grouped(result.selection.utility),
                grouped(result.loss()),
                percent(result.loss(), result.bound),
                grouped(result.selection.cost),
                grouped(self.selected_count(result)),
            ]
        }));
        let column_width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
        let widths = [0, 1, 2, 3, 4, 5].map(column_width);
        let gap = if widths.iter().sum::<usize>() + 3 * widths.len() <= width { 3 } else { 1 };
        for (index, row) in rows.iter().enumerate() {
            let result = index.checked_sub(1).and_then(|index| self.compared.get(index));
            let style = result.map_or_else(anstyle::Style::new, |result| style(result.loss() == 0));
            let [name, numbers @ ..] = row;
            let name_width = widths[0];
            write!(out, "  {style}{name:<name_width$}{style:#}")?;
            for (number, width) in numbers.iter().zip(&widths[1..]) {
                write!(out, "{:gap$}{number:>width$}", "")?;
            }
            writeln!(out)?;
        }
        writeln!(out)
    }

    fn write_last_line(&self, status: ExitStatus, width: usize, out: &mut impl Write) -> io::Result<()> {
        let is_optimal = self.result.status == SolveStatus::Optimal;
        let word = match (is_optimal, self.result.hit_limit) {
            (true, _) => "OPTIMAL",
            (false, true) => "INCOMPLETE",
            (false, false) => "NOT OPTIMAL",
        };
        let text = format!(
            ": {} of {} items, utility {}, cost {} of {}. exit {}",
            grouped(self.selected_count(self.result)),
            grouped(self.problem.ids.len() as u64),
            grouped(self.result.selection.utility),
            grouped(self.result.selection.cost),
            tokens(self.problem.problem.budget()),
            status.code()
        );
        write_summary(style(is_optimal).bold(), word, &text, width, out)
    }

    pub(super) fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let (problem, result) = (self.problem, self.result);
        let row = |result: &SolverResult| Row {
            solver: result.solver.name(),
            status: status_name(result.status),
            utility: result.selection.utility,
            loss: result.loss(),
            cost: result.selection.cost,
            items: self.selected_count(result),
        };
        let json = Report {
            module: problem.module.map(Module::name),
            status: status_name(result.status),
            utility: result.selection.utility,
            cost: result.selection.cost,
            bound: result.bound,
            selected: problem.names(&result.selection.selected),
            nodes: result.nodes,
            solver: result.solver.name(),
            compared: self.compared.iter().map(row).collect(),
            certificate: self.certificate.as_ref(),
        };
        serde_json::to_writer(&mut *out, &json)?;
        writeln!(out)
    }
}

/// Describes the solver and the proven quality of its solution.
fn solver_text(result: &SolverResult) -> String {
    let loss = format!("{} ({})", grouped(result.loss()), percent(result.loss(), result.bound));
    let (name, bound) = (result.solver.name(), grouped(result.bound));
    let nodes = result.nodes.unwrap_or_default();
    let nodes = format!("{} {}", grouped(nodes), if nodes == 1 { "node" } else { "nodes" });
    match (result.solver, result.status) {
        (Solver::Native, SolveStatus::Optimal) => {
            format!("native, {nodes}; proven optimal: maximum utility, minimum cost, first ids")
        }
        (Solver::Native, SolveStatus::Bounded) => {
            format!("native, stopped after {nodes}: upper bound {bound}, loss at most {loss}")
        }
        (Solver::Ilp, _) => {
            format!("ilp, by {ILP_ENGINE}: optimal within floating-point accuracy, checked in integers")
        }
        (Solver::Baseline(_), SolveStatus::Optimal) => format!("{name}: optimal"),
        (Solver::Baseline(_), SolveStatus::Bounded) if result.hit_limit => {
            format!("{name}: upper bound {bound}, loss at most {loss}")
        }
        (Solver::Baseline(_), SolveStatus::Bounded) => {
            format!("{name}: optimal utility {bound}, loss {loss}")
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
    certificate: Option<&'a CertificateStatus>,
}

#[derive(Serialize)]
struct Row {
    solver: &'static str,
    status: &'static str,
    utility: u64,
    loss: u64,
    cost: u64,
    items: u64,
}
