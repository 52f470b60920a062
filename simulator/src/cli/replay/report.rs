//! Report of `replay`.

use super::endings::Endings;
use crate::cli::differences::{Sides, excerpts, write_decision, write_endings, write_settings};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{quoted, write_command, write_hanging};
use orchestrion_kernel::Policy;
use orchestrion_report::text::count;
use orchestrion_trace::replay::{Difference, Replay};
use std::io::{self, Write};
use std::path::Path;

/// Statuses of the replayed traces, in order.
#[derive(Default)]
pub(super) struct ReplaySummary {
    pub(super) statuses: Vec<ExitStatus>,
    pub(super) updated: usize,
    /// The traces whose decisions are equal, and that violate a claim.
    pub(super) violating: usize,
}

/// A replayed trace.
pub(super) struct ReplayedTrace {
    pub(super) replay: Replay,
    /// The recorded policy.
    pub(super) recorded: Policy,
    /// The policy under which the trace was judged.
    pub(super) policy: Policy,
    /// The endings, if a decision changed.
    pub(super) endings: Option<Endings>,
}

/// What the two sides of a replay are called.
pub(super) const REPLAY: Sides = Sides { recorded: "recorded", current: "replayed" };

/// Reports on one trace, and returns its status.
pub(super) fn replayed(
    path: &Path,
    ReplayedTrace { replay, recorded, policy, endings }: &ReplayedTrace,
    quiet: bool,
    width: usize,
    out: &mut impl Write,
) -> io::Result<ExitStatus> {
    let (verdict, status) = if replay.is_equal() {
        ("equal", ExitStatus::Success)
    } else if replay.difference.is_some() {
        ("DIFFERS", ExitStatus::Failure)
    } else if replay.text_difference.is_some() {
        ("DIFFERS in texts only", ExitStatus::Failure)
    } else if replay.read_error.is_none() {
        ("NOT VERIFIED where texts were erased", ExitStatus::Incomplete)
    } else {
        ("INCOMPLETE", ExitStatus::Incomplete)
    };
    if status == ExitStatus::Success && quiet {
        return Ok(status);
    }
    write_hanging(0, "", &format!("{}: {verdict}, {} steps", path.display(), replay.steps), width, out)?;
    for difference in &replay.header_differences {
        write_hanging(11, "  header", &difference.to_string(), width, out)?;
    }
    write_settings(recorded, policy, REPLAY, width, out)?;
    for (kind, difference) in [("decision", &replay.difference), ("text", &replay.text_difference)] {
        let Some(Difference { step, subject, recorded, replayed }) = difference else { continue };
        let (recorded, replayed) = excerpts(recorded, replayed);
        write_hanging(11, &format!("  {kind}"), &format!("first at step {step}, {subject}"), width, out)?;
        REPLAY.write(&recorded, &replayed, width, out)?;
        write_command("show", &format!("orchestrion show {} --step {step}", quoted(path)), width, out)?;
    }
    if let Some(changed) = &replay.changed {
        write_decision(changed, REPLAY, width, out)?;
    }
    match endings {
        None => {}
        Some(Endings { recorded, current: Ok(current) }) => {
            write_endings(recorded, current, REPLAY, width, out)?;
        }
        Some(Endings { recorded, current: Err(reason) }) => {
            let recorded: Vec<String> = recorded.iter().map(ToString::to_string).collect();
            write_hanging(11, "  ending", "of each request", width, out)?;
            REPLAY.write(&recorded.join("; "), reason, width, out)?;
        }
    }
    if replay.erased_texts > 0 {
        let Replay { erased_texts, unverified_steps, .. } = replay;
        let (texts, steps) = (count(*erased_texts, "text"), count(*unverified_steps, "step"));
        let erased = format!("{texts}; not verified: {steps}");
        write_hanging(11, "  erased", &erased, width, out)?;
    }
    if let Some(error) = &replay.read_error {
        write_hanging(11, "  error", &error.to_string(), width, out)?;
    }
    Ok(status)
}

/// Writes the last lines.
pub(super) fn summary(
    summary: &ReplaySummary,
    judged: &str,
    inputs: usize,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let ReplaySummary { statuses, updated, violating } = summary;
    let count = |status| statuses.iter().filter(|other| **other == status).count();
    let (equal, failed) = (count(ExitStatus::Success) - updated, count(ExitStatus::Failure));
    let differ = failed - violating;
    let incomplete = statuses.len() - equal - updated - failed;
    let mut text = format!("replayed {} of {inputs}: {equal} equal", statuses.len());
    let others = [
        (*updated, "updated"),
        (differ, "differ"),
        (*violating, if *violating == 1 { "violates a claim" } else { "violate a claim" }),
        (incomplete, "incomplete or unreadable"),
        (inputs - statuses.len(), "skipped"),
    ];
    for (count, kind) in others.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {count} {kind}"));
    }
    write_hanging(0, "", judged, width, out)?;
    write_hanging(0, "", &text, width, out)
}
