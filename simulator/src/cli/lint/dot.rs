//! `lint --dot`: the machines for Graphviz.

use super::reach::FoundPath;
use super::verdict::LintedMachine;
use crate::cli::files;
use miette::Result;
use orchestrion_files::FileKind;
use orchestrion_lint::{DOT_START, Drawn, dot};
use std::io::Write;
use std::path::Path;

const DRAWING: FileKind = FileKind {
    name: "a drawing of state machines",
    is_start: |start| start.starts_with(DOT_START.as_bytes()),
    last_line: None,
};

/// Returns an error if the file exists and is not a drawing.
pub(super) fn ensure_overwritable(path: &Path) -> Result<()> {
    files::ensure_overwritable(path, &DRAWING)
}

/// Writes the drawing, with the paths that were found.
pub(super) fn write(machines: &[LintedMachine], paths: &[FoundPath], path: &Path) -> Result<()> {
    let titles: Vec<String> = machines.iter().map(LintedMachine::title).collect();
    let drawn = machines.iter().zip(&titles).enumerate().map(|(position, (linted, title))| {
        let path = paths.iter().find(|path| path.machine == position);
        let path = path.and_then(|path| path.edges.as_deref()).unwrap_or_default();
        Drawn { title, machine: &linted.parsed.machine, path }
    });
    let drawing = dot(&drawn.collect::<Vec<_>>());
    files::replace_with(path, &DRAWING, |file| file.write_all(drawing.as_bytes()))
}
