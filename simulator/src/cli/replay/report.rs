//! What a replay found, as people read it.

use super::ReplaySummary;
use crate::cli::ExitStatus;
use crate::cli::files::quoted;
use orchestrion_trace::replay::{Difference, Replay};
use std::io::{self, Write};
use std::path::Path;

/// Reports on one trace, and says what it came to.
pub(super) fn replayed(
    path: &Path,
    found: &Replay,
    quiet: bool,
    out: &mut impl Write,
) -> io::Result<ExitStatus> {
    let (verdict, outcome) = if found.is_equal() {
        ("equal", ExitStatus::Success)
    } else if found.difference.is_some() {
        ("DIFFERS", ExitStatus::Failure)
    } else if found.texts.is_some() {
        ("DIFFERS in texts only", ExitStatus::Failure)
    } else {
        ("NOT READ to the end", ExitStatus::Incomplete)
    };
    if outcome == ExitStatus::Success && quiet {
        return Ok(outcome);
    }
    writeln!(out, "{}: {verdict}, {} steps", path.display(), found.steps)?;
    for difference in &found.header {
        writeln!(out, "  header   {difference}")?;
    }
    for (name, difference) in [("decision", &found.difference), ("text", &found.texts)] {
        let Some(Difference { step: n, what, recorded, replayed }) = difference else { continue };
        writeln!(out, "  {name:<8} first at step {n}, {what}")?;
        writeln!(out, "    recorded {recorded}")?;
        writeln!(out, "    replayed {replayed}")?;
        writeln!(out, "  look     orchestrion show {} --at {n}", quoted(path))?;
    }
    if let Some(error) = &found.read_error {
        writeln!(out, "  unread   {error}")?;
    }
    Ok(outcome)
}

/// The line that sums up.
pub(super) fn last_line(tally: &ReplaySummary, given: usize, out: &mut impl Write) -> io::Result<()> {
    let ReplaySummary { outcomes, updated } = tally;
    let count = |outcome| outcomes.iter().filter(|o| **o == outcome).count();
    let (equal, differ) = (count(ExitStatus::Success) - updated, count(ExitStatus::Failure));
    let unread = outcomes.len() - equal - updated - differ;
    let not_tried = given - outcomes.len();
    write!(out, "replayed {} of {given}: {equal} equal", outcomes.len())?;
    let rest = [
        (*updated, "updated"),
        (differ, "differ"),
        (unread, "not read to the end"),
        (not_tried, "not tried"),
    ];
    for (count, what) in rest {
        if count > 0 {
            write!(out, ", {count} {what}")?;
        }
    }
    writeln!(out)
}
