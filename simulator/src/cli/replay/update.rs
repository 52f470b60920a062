//! `replay --update`: what would change is shown, and written once somebody says so.

use super::Args;
use crate::cli::ExitStatus;
use crate::cli::files::{open_trace, quoted, replace_by};
use miette::{Context, IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_text::StandardContexts;
use orchestrion_trace::replay::{Difference, Update, update};
use std::fs;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// So much of a difference is shown, and so much of what stands before it.
const SHOWN_CHARS: usize = 160;
const BEFORE_CHARS: usize = 40;

/// Shows what would change in a trace, and writes it if that is wanted. Says what it came to, and whether it
/// was written.
pub(super) fn settle(
    path: &Path,
    found: &Update,
    args: &Args,
    policy: Option<&Policy>,
    quiet: bool,
    out: &mut impl Write,
) -> Result<(ExitStatus, bool)> {
    if found.is_due() || found.unread.is_some() || !quiet {
        show(path, found, out).into_diagnostic()?;
    }
    if found.unread.is_some() {
        return Ok((ExitStatus::Incomplete, false));
    }
    if !found.is_due() {
        return Ok((ExitStatus::Success, false));
    }
    if !args.yes {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            let policy =
                args.policy.as_ref().map_or(String::new(), |p| format!("--policy {} ", quoted(Path::new(p))));
            writeln!(out, "  nothing was written: there is no terminal to ask at. To write it:")
                .into_diagnostic()?;
            writeln!(out, "  write    orchestrion replay --update --yes {policy}{}", quoted(path))
                .into_diagnostic()?;
            return Ok((ExitStatus::Failure, false));
        }
        out.flush().into_diagnostic()?;
        eprint!("write {}? [y/N] ", path.display());
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).into_diagnostic()?;
        if !["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
            writeln!(out, "  not written").into_diagnostic()?;
            return Ok((ExitStatus::Failure, false));
        }
    }
    if let Err(error) = write(path, found, policy) {
        crate::cli::files::complain_drawn(&error);
        return Ok((ExitStatus::Failure, false));
    }
    writeln!(out, "  written  {}", path.display()).into_diagnostic()?;
    Ok((ExitStatus::Success, true))
}

/// Writes the trace that was shown, or nothing.
fn write(path: &Path, shown: &Update, policy: Option<&Policy>) -> Result<()> {
    // A link stays a link to the trace.
    let file = fs::canonicalize(path).into_diagnostic()?;
    let metadata = file.metadata().into_diagnostic()?;
    if !metadata.is_file() {
        return Err(miette!(
            help = "keep it in a file, and update that one",
            "{} is no file that could be written anew",
            path.display()
        ));
    }
    let reader = open_trace(&file).into_diagnostic()?;
    replace_by(&file, |draft| {
        draft.set_permissions(metadata.permissions())?;
        let written = update(reader, policy, &StandardContexts, BufWriter::new(draft))?;
        if written.unread.is_some() || written.chain != shown.chain {
            return Err(io::Error::other("it was changed while you looked; nothing was written, try again"));
        }
        Ok(())
    })
    .wrap_err_with(|| format!("{} was not updated", path.display()))
}

fn show(path: &Path, found: &Update, out: &mut impl Write) -> io::Result<()> {
    let Update { steps, changed, .. } = found;
    write!(out, "{}: ", path.display())?;
    if let Some(error) = &found.unread {
        writeln!(out, "NOT READ to the end, and not updated, {steps} steps")?;
        return writeln!(out, "  unread   {error}");
    }
    match (found.is_due(), changed) {
        (false, _) => writeln!(out, "equal, {steps} steps")?,
        (true, 0) => writeln!(out, "WOULD CHANGE in its header only, {steps} steps")?,
        (true, changed) => writeln!(out, "WOULD CHANGE in {changed} of {steps} steps")?,
    }
    for difference in &found.header {
        writeln!(out, "  header   {difference}")?;
    }
    for Difference { step: n, what, recorded, replayed } in &found.first {
        let (recorded, replayed) = excerpts(recorded, replayed);
        writeln!(out, "  step {n}, {what}")?;
        writeln!(out, "    recorded {recorded}")?;
        writeln!(out, "    now      {replayed}")?;
    }
    match changed - found.first.len() as u64 {
        0 => {}
        1 => writeln!(out, "  and 1 further step")?,
        further => writeln!(out, "  and {further} further steps")?,
    }
    if found.refused_now > 0 {
        let inputs =
            if found.refused_now == 1 { "1 input" } else { &format!("{} inputs", found.refused_now) };
        writeln!(out, "  refused  {inputs} that had been accepted would be recorded as refused")?;
    }
    if let (true, Some(scenario)) = (found.is_due(), &found.scenario) {
        let beside = path.with_extension("yaml");
        let file = if beside.exists() { quoted(&beside) } else { "SCENARIO".to_string() };
        writeln!(
            out,
            "  scenario recorded from {scenario}; if its inputs no longer fit, play it again instead:"
        )?;
        writeln!(out, "           orchestrion run {file}")?;
    }
    Ok(())
}

/// Two texts from shortly before the place where they part, and not too much of them.
fn excerpts(a: &str, b: &str) -> (String, String) {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let skipped = common.saturating_sub(BEFORE_CHARS);
    let excerpt = |text: &str| {
        let mut chars = text.chars().skip(skipped);
        let mut shown: String = if skipped > 0 { "…".to_string() } else { String::new() };
        shown.extend(chars.by_ref().take(SHOWN_CHARS));
        if chars.next().is_some() {
            shown.push('…');
        }
        shown
    };
    (excerpt(a), excerpt(b))
}

#[cfg(test)]
mod tests {
    use super::excerpts;

    #[test]
    fn an_excerpt_shows_where_two_texts_part() {
        assert_eq!(excerpts("same", "sane"), ("same".to_string(), "sane".to_string()));
        let (long, longer) = ("é".repeat(500) + "a" + &"x".repeat(500), "é".repeat(500) + "b");
        let (a, b) = excerpts(&long, &longer);
        assert_eq!(a, format!("…{}a{}…", "é".repeat(40), "x".repeat(119)));
        assert_eq!(b, format!("…{}b", "é".repeat(40)));
    }
}
