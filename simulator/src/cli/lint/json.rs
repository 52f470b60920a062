//! Report of `lint` as JSON.

use super::verdict::{LintedMachine, Verdict};
use crate::cli::exit_status::ExitStatus;
use crate::cli::test_report::{TestCase, write_json};
use orchestrion_lint::{LintDiagnostic, LintResult, SourceLocation};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct Report<'a> {
    /// `fails`, `incomplete` if a file cannot be read and no rule fails, or `holds`.
    verdict: &'static str,
    machines: Vec<MachineReport<'a>>,
    /// The files that cannot be read, as cases of a test report.
    unreadable: &'a [TestCase],
}

#[derive(Serialize, JsonSchema)]
struct MachineReport<'a> {
    file: String,
    format: &'static str,
    name: Option<&'a str>,
    first_line: usize,
    last_line: usize,
    states: usize,
    edges: usize,
    initial: Vec<&'a str>,
    assumptions: Option<&'a str>,
    rules: Vec<RuleReport<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct RuleReport<'a> {
    name: &'static str,
    statement: &'static str,
    reason: &'static str,
    verdict: &'static str,
    /// The number of checked states or edges.
    checked: usize,
    diagnostics: Vec<DiagnosticReport<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct DiagnosticReport<'a> {
    message: &'a str,
    help: &'a str,
    /// Whether it is a warning even if the rule fails.
    is_doubt: bool,
    locations: Vec<LocationReport>,
}

#[derive(Serialize, JsonSchema)]
struct LocationReport {
    line: usize,
    column: usize,
}

pub(super) fn json(
    machines: &[LintedMachine],
    unreadable: &[TestCase],
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let verdict = match status {
        ExitStatus::Success => "holds",
        ExitStatus::Failure => "fails",
        ExitStatus::Error | ExitStatus::Incomplete => "incomplete",
    };
    let report = Report { verdict, machines: machines.iter().map(machine_report).collect(), unreadable };
    write_json(&report, out)
}

fn machine_report(LintedMachine { file, parsed, results }: &LintedMachine) -> MachineReport<'_> {
    let machine = &parsed.machine;
    MachineReport {
        file: file.display().to_string(),
        format: parsed.format,
        name: parsed.name.as_deref(),
        first_line: parsed.lines.0,
        last_line: parsed.lines.1,
        states: machine.states.len(),
        edges: machine.edges.len(),
        initial: machine.starts.iter().map(|start| &machine.states[*start].name[..]).collect(),
        assumptions: parsed.assumptions.as_deref(),
        rules: results.iter().map(rule_report).collect(),
    }
}

fn rule_report(result: &LintResult) -> RuleReport<'_> {
    RuleReport {
        name: result.rule.name,
        statement: result.rule.statement,
        reason: result.rule.reason,
        verdict: Verdict::from_result(result).name(),
        checked: result.checked,
        diagnostics: result.diagnostics.iter().map(diagnostic_report).collect(),
    }
}

fn diagnostic_report(diagnostic: &LintDiagnostic) -> DiagnosticReport<'_> {
    let location =
        |location: &SourceLocation| LocationReport { line: location.line, column: location.column };
    DiagnosticReport {
        message: &diagnostic.message,
        help: &diagnostic.help,
        is_doubt: diagnostic.is_doubt,
        locations: diagnostic.locations.iter().map(location).collect(),
    }
}
