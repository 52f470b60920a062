//! Report of `lint`.

use super::verdict::{LintedMachine, Verdict};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{text_width, write_hanging, write_summary};
use anstyle::{AnsiColor, Style};
use orchestrion_lint::parse::ParsedMachine;
use orchestrion_lint::{LintDiagnostic, LintResult, SourceLocation};
use orchestrion_report::text::{sanitize, wrap};
use std::io::{self, Write};

pub(super) fn human(
    machines: &[LintedMachine],
    quiet: bool,
    status: ExitStatus,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for LintedMachine { file, parsed, results } in machines {
        let file = sanitize(&file.display().to_string());
        if !quiet {
            write_machine(&file, parsed, width, out)?;
        }
        let names = results.iter().map(|result| result.rule.name.len());
        let name_width = names.max().unwrap_or_default();
        for result in results {
            if !quiet || Verdict::from_result(result) == Verdict::Fails {
                write_result(&file, result, name_width, width, out)?;
            }
        }
        if !quiet {
            writeln!(out)?;
        }
    }
    write_last_line(machines, status, width, out)
}

fn write_machine(file: &str, parsed: &ParsedMachine, width: usize, out: &mut impl Write) -> io::Result<()> {
    let ParsedMachine { format: kind, name, lines: (from, to), machine, assumptions } = parsed;
    let name = name.as_ref().map_or_else(String::new, |name| format!(" `{}`", sanitize(name)));
    let starts: Vec<_> = machine.starts.iter().map(|start| sanitize(&machine.states[*start].name)).collect();
    let text = format!(
        "{file}:{from}: {kind}{name}, lines {from} to {to}: {} states, {} edges, initial {}",
        machine.states.len(),
        machine.edges.len(),
        starts.join(", "),
    );
    write_hanging(0, "", &text, width, out)?;
    if let Some(assumptions) = assumptions {
        write_hanging(11, "  assumed", assumptions, width, out)?;
    }
    writeln!(out)
}

fn write_result(
    file: &str,
    result: &LintResult,
    name_width: usize,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    const LABEL_WIDTH: usize = 14;
    let column = name_width + LABEL_WIDTH + 4;
    let verdict = Verdict::from_result(result);
    let (style, label) = (verdict.style(), verdict.label());
    let mut lines = wrap(result.rule.statement, text_width(width, column)).into_iter();
    writeln!(
        out,
        "{:<name_width$}  {style}{label:<LABEL_WIDTH$}{style:#}  {}",
        result.rule.name,
        lines.next().unwrap_or_default()
    )?;
    lines.try_for_each(|line| writeln!(out, "{:column$}{line}", ""))?;
    for diagnostic in &result.diagnostics {
        write_diagnostic(file, diagnostic, width, out)?;
    }
    if !result.diagnostics.is_empty() {
        write_hanging(11, "    reason", result.rule.reason, width, out)?;
    }
    Ok(())
}

fn write_diagnostic(
    file: &str,
    diagnostic: &LintDiagnostic,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut locations = diagnostic.locations.iter();
    let first = locations.next().map_or_else(String::new, |location| format!(":{location}"));
    write_hanging(2, "", &format!("{file}{first}: {}", diagnostic.message), width, out)?;
    let others: Vec<String> = locations.map(SourceLocation::to_string).collect();
    if !others.is_empty() {
        write_hanging(11, "    also", &others.join(", "), width, out)?;
    }
    write_hanging(11, "    help", &diagnostic.help, width, out)
}

fn write_last_line(
    machines: &[LintedMachine],
    status: ExitStatus,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let count = |verdict: Verdict| {
        let results = machines.iter().flat_map(|machine| &machine.results);
        results.filter(|result| Verdict::from_result(result) == verdict).count()
    };
    let (word, color) = match status {
        ExitStatus::Failure => ("FAILS", AnsiColor::Red),
        ExitStatus::Success => ("HOLDS", AnsiColor::Green),
        ExitStatus::Error | ExitStatus::Incomplete => ("INCOMPLETE", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(color.into())).bold();
    let counts = [
        (Verdict::Fails, "fail"),
        (Verdict::Warning, "with warnings"),
        (Verdict::Holds, "hold"),
        (Verdict::NotApplicable, "not applicable"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(verdict, label)| (count(verdict), label))
        .filter(|(count, _)| *count > 0)
        .map(|(count, label)| format!("{count} {label}"))
        .collect();
    let of_machines = match machines.len() {
        1 => String::new(),
        count => format!(" of {count} machines"),
    };
    let rest = format!(": rules{of_machines}: {}. exit {}", counts.join(", "), status.code());
    write_summary(style, word, &rest, width, out)
}
