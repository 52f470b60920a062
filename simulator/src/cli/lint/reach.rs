//! `lint --reach`: a shortest path to a state.

use super::verdict::LintedMachine;
use crate::cli::args::Format;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, write_hanging};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_lint::{edge_label, shortest_path};
use orchestrion_report::text::{count, sanitize};
use orchestrion_yaml::suggest_nearest;
use serde::Serialize;
use std::io::{self, Write};

/// The path to a state in one machine.
pub(super) struct FoundPath {
    /// The position of the machine.
    pub(super) machine: usize,
    /// The positions of its edges; `None` if no path exists.
    pub(super) edges: Option<Vec<usize>>,
}

/// Finds the state in every machine that has it.
pub(super) fn find(machines: &[LintedMachine], state: &str) -> Result<Vec<FoundPath>> {
    let mut found = Vec::new();
    for (position, linted) in machines.iter().enumerate() {
        let machine = &linted.parsed.machine;
        if let Some(target) = machine.states.iter().position(|known| known.name == state) {
            found.push(FoundPath { machine: position, edges: shortest_path(machine, target) });
        }
    }
    if found.is_empty() && !machines.is_empty() {
        let names = machines.iter().flat_map(|linted| &linted.parsed.machine.states);
        let suggestion = suggest_nearest(state, names.map(|state| state.name.as_str()));
        return Err(miette!(
            help = format!("{suggestion}expected the name of a state, as the file writes it"),
            "no machine has a state `{}`",
            sanitize(state)
        ));
    }
    Ok(found)
}

/// Prints the paths. A failure if the state cannot be reached in a machine that has it.
pub(super) fn print(
    machines: &[LintedMachine],
    paths: &[FoundPath],
    state: &str,
    format: Format,
) -> Result<ExitStatus> {
    match format {
        Format::Human => human(machines, paths, state, output::width(), &mut output::plain_stdout()),
        Format::Json => json(machines, paths, state, &mut output::stdout()),
    }
    .into_diagnostic()?;
    let is_reached = paths.iter().all(|path| path.edges.is_some());
    Ok(if is_reached { ExitStatus::Success } else { ExitStatus::Failure })
}

fn human(
    machines: &[LintedMachine],
    paths: &[FoundPath],
    state: &str,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for path in paths {
        let linted = &machines[path.machine];
        let machine = &linted.parsed.machine;
        let text = match &path.edges {
            None => format!("{state} NOT REACHED: no path leads to it from an initial state"),
            Some(edges) if edges.is_empty() => format!("{state} is an initial state"),
            Some(edges) => format!("{state} reached by {}", count(edges.len(), "edge")),
        };
        write_hanging(0, "", &format!("{}: {text}", linted.title()), width, out)?;
        for edge in path.edges.iter().flatten().map(|edge| &machine.edges[*edge]) {
            let (from, to) = (&machine.states[edge.from].name, &machine.states[edge.to].name);
            let label = match edge_label(edge) {
                label if label.is_empty() => label,
                label => format!(": {label}"),
            };
            let text = format!("{}:{}: {from} to {to}{label}", linted.file.display(), edge.location);
            write_hanging(2, "", &text, width, out)?;
        }
    }
    Ok(())
}

#[derive(Serialize)]
struct Report<'a> {
    state: &'a str,
    paths: Vec<PathReport<'a>>,
}

#[derive(Serialize)]
struct PathReport<'a> {
    file: String,
    machine: Option<&'a str>,
    reached: bool,
    edges: Vec<EdgeReport<'a>>,
}

#[derive(Serialize)]
struct EdgeReport<'a> {
    from: &'a str,
    to: &'a str,
    trigger: Option<&'a str>,
    guard: Option<&'a str>,
    line: usize,
    column: usize,
}

fn json(
    machines: &[LintedMachine],
    paths: &[FoundPath],
    state: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let path_report = |path: &FoundPath| {
        let linted = &machines[path.machine];
        let machine = &linted.parsed.machine;
        let edges = path.edges.iter().flatten().map(|edge| {
            let edge = &machine.edges[*edge];
            EdgeReport {
                from: &machine.states[edge.from].name,
                to: &machine.states[edge.to].name,
                trigger: edge.trigger.as_deref(),
                guard: edge.guard.as_deref(),
                line: edge.location.line,
                column: edge.location.column,
            }
        });
        PathReport {
            file: linted.file.display().to_string(),
            machine: linted.parsed.name.as_deref(),
            reached: path.edges.is_some(),
            edges: edges.collect(),
        }
    };
    // The paths borrow from the machines, not from `paths`.
    let paths = paths.iter().map(path_report).collect();
    serde_json::to_writer_pretty(&mut *out, &Report { state, paths })?;
    writeln!(out)
}
