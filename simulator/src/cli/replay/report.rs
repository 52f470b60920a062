//! What a replay found, as people read it.

use super::Tally;
use crate::cli::Outcome;
use crate::cli::files::quoted;
use crate::replay::{Difference, Replay};
use std::io::{self, Write};
use std::path::Path;

/// Reports on one trace, and says what it came to.
pub(super) fn replayed(
    path: &Path,
    found: &Replay,
    quiet: bool,
    out: &mut impl Write,
) -> io::Result<Outcome> {
    let (verdict, outcome) = if found.is_equal() {
        ("equal", Outcome::Fine)
    } else if found.difference.is_some() {
        ("DIFFERS", Outcome::Failure)
    } else if found.texts.is_some() {
        ("DIFFERS in texts only", Outcome::Failure)
    } else {
        ("NOT READ to the end", Outcome::Unread)
    };
    if outcome == Outcome::Fine && quiet {
        return Ok(outcome);
    }
    writeln!(out, "{}: {verdict}, {} steps", path.display(), found.steps)?;
    for difference in &found.header {
        writeln!(out, "  header   {difference}")?;
    }
    for (name, difference) in [("decision", &found.difference), ("text", &found.texts)] {
        let Some(Difference { n, what, recorded, replayed }) = difference else { continue };
        writeln!(out, "  {name:<8} first at step {n}, {what}")?;
        writeln!(out, "    recorded {recorded}")?;
        writeln!(out, "    replayed {replayed}")?;
        writeln!(out, "  look     orchestrion show {} --at {n}", quoted(path))?;
    }
    if let Some(error) = &found.unread {
        writeln!(out, "  unread   {error}")?;
    }
    Ok(outcome)
}

/// The line that sums up.
pub(super) fn last_line(tally: &Tally, given: usize, out: &mut impl Write) -> io::Result<()> {
    let Tally { outcomes, updated } = tally;
    let count = |outcome| outcomes.iter().filter(|o| **o == outcome).count();
    let (equal, differ) = (count(Outcome::Fine) - updated, count(Outcome::Failure));
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
