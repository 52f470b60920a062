//! Confirmation before a file is replaced.

use super::output::write_command;
use miette::{IntoDiagnostic, Result};
use orchestrion_files::limits::TYPED_LINE_BYTES_MAX;
use orchestrion_report::text::sanitize;
use std::io::{self, BufRead as _, IsTerminal, Read as _, Write};
use std::path::Path;

/// Asks the user whether to write a file; without a terminal, prints the command that writes it.
pub(super) fn is_confirmed(path: &Path, command: &str, width: usize, out: &mut impl Write) -> Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        writeln!(out, "  not written: no terminal for confirmation").into_diagnostic()?;
        write_command("write", command, width, out).into_diagnostic()?;
        return Ok(false);
    }
    out.flush().into_diagnostic()?;
    eprint!("write {}? [y/N] ", sanitize(&path.display().to_string()));
    let mut reply = String::new();
    io::stdin().lock().take(TYPED_LINE_BYTES_MAX).read_line(&mut reply).into_diagnostic()?;
    let is_confirmed = ["y", "yes"].contains(&reply.trim().to_lowercase().as_str());
    if !is_confirmed {
        writeln!(out, "  not written").into_diagnostic()?;
    }
    Ok(is_confirmed)
}
