//! `replay --update`: shows how a trace would change, and writes it after confirmation.

use super::judge::Judge;
use super::options::Settings;
use crate::cli::confirmation::is_confirmed;
use crate::cli::differences::excerpts;
use crate::cli::exit_status::ExitStatus;
use crate::cli::files::{open_target, open_trace, replace};
use crate::cli::output::{self, quoted, write_command, write_hanging};
use miette::{Context, IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_text::StandardContexts;
use orchestrion_trace::TRACE_FILE;
use orchestrion_trace::replay::{Difference, Update, update};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Shows how a trace would change, and writes it if the user confirms. Returns the status and whether it was written.
pub(super) fn apply(
    path: &Path,
    update: &Update,
    policy: Option<&Policy>,
    settings: &Settings<'_>,
    out: &mut impl Write,
) -> Result<(ExitStatus, bool)> {
    let width = settings.width;
    if update.is_needed() || update.read_error.is_some() || !settings.quiet {
        print_changes(path, update, width, out).into_diagnostic()?;
    }
    if update.read_error.is_some() {
        return Ok((ExitStatus::Incomplete, false));
    }
    if !update.is_needed() {
        return Ok((ExitStatus::Success, false));
    }
    if !settings.args.yes && !is_confirmed(path, &command(path, settings), width, out)? {
        return Ok((ExitStatus::Failure, false));
    }
    if let Err(error) = write_update(path, update, policy) {
        output::print_diagnostic(&error);
        return Ok((ExitStatus::Failure, false));
    }
    writeln!(out, "  wrote    {}", path.display()).into_diagnostic()?;
    Ok((ExitStatus::Success, true))
}

/// Returns the command that writes the update without asking.
fn command(path: &Path, settings: &Settings<'_>) -> String {
    let policy = match (&settings.args.policy, &settings.judge) {
        (Some(policy), _) => format!("--policy {} ", quoted(Path::new(policy))),
        (None, Judge::Recorded { is_chosen: true }) => "--recorded-policy ".to_owned(),
        (None, Judge::Recorded { is_chosen: false } | Judge::Named(_) | Judge::Project(_)) => String::new(),
    };
    format!("orchestrion replay --update --yes {policy}{}", quoted(path))
}

/// Writes the update that was shown, or nothing.
fn write_update(path: &Path, shown: &Update, policy: Option<&Policy>) -> Result<()> {
    // The trace is locked before it is read again.
    let target = open_target(path, &TRACE_FILE)?;
    let reader = open_trace(path).into_diagnostic()?;
    replace(target, |draft| {
        let written = update(reader, policy, &StandardContexts, BufWriter::new(draft))?;
        if written.read_error.is_some() || written.chain != shown.chain {
            return Err(io::Error::other("the trace changed meanwhile; no file was written, try again"));
        }
        Ok(())
    })
    .wrap_err_with(|| format!("{} was not updated", path.display()))
}

fn print_changes(path: &Path, update: &Update, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Update { steps, changed_steps: changed, .. } = update;
    let file = path.display();
    if let Some(error) = &update.read_error {
        write_hanging(0, "", &format!("{file}: INCOMPLETE, not updated, {steps} steps"), width, out)?;
        return write_hanging(11, "  error", &error.to_string(), width, out);
    }
    let verdict = match (update.is_needed(), changed) {
        (false, _) => format!("equal, {steps} steps"),
        (true, 0) => format!("WOULD CHANGE in its header only, {steps} steps"),
        (true, changed) => format!("WOULD CHANGE in {changed} of {steps} steps"),
    };
    write_hanging(0, "", &format!("{file}: {verdict}"), width, out)?;
    for difference in &update.header_differences {
        write_hanging(11, "  header", &difference.to_string(), width, out)?;
    }
    for Difference { step, subject, recorded, replayed } in &update.first_differences {
        let (recorded, replayed) = excerpts(recorded, replayed);
        write_hanging(2, "", &format!("step {step}, {subject}"), width, out)?;
        write_hanging(13, "    recorded", &recorded, width, out)?;
        write_hanging(13, "    new", &replayed, width, out)?;
    }
    match changed - update.first_differences.len() as u64 {
        0 => {}
        1 => writeln!(out, "  and 1 further step")?,
        further => writeln!(out, "  and {further} further steps")?,
    }
    if update.newly_refused > 0 {
        let inputs = if update.newly_refused == 1 { "input" } else { "inputs" };
        let text = format!("{} accepted {inputs} would be refused", update.newly_refused);
        write_hanging(11, "  refused", &text, width, out)?;
    }
    if let (true, Some(scenario)) = (update.is_needed(), &update.scenario) {
        let beside = path.with_extension("yaml");
        let file = if beside.exists() { quoted(&beside) } else { "SCENARIO".to_string() };
        let text = format!("recorded from {scenario}; if its inputs are outdated, play it again instead:");
        write_hanging(11, "  scenario", &text, width, out)?;
        write_command("accept", &format!("orchestrion run --accept {file}"), width, out)?;
    }
    Ok(())
}
