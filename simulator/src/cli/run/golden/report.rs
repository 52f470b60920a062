//! Report on one scenario of `run --check` and `run --accept`.

use super::{GoldenMode, Verdict};
use crate::cli::differences::{
    GOLDEN, excerpts, write_decision, write_endings, write_network, write_settings,
};
use crate::cli::output::{ReportStyle, quoted, write_command, write_hanging};
use orchestrion_report::text::count;
use orchestrion_trace::replay::Difference;
use orchestrion_trace::{ComparedPart, ComparedStep, Comparison, Reader, endings};
use std::io::{self, Write};
use std::path::Path;

/// A scenario with its golden trace and the trace of its new run.
pub(super) struct Judged<'a> {
    pub(super) mode: GoldenMode,
    pub(super) path: &'a Path,
    pub(super) golden: &'a Path,
    pub(super) trace: &'a [u8],
}

/// Writes how the run of a scenario compares with its golden trace.
pub(super) fn write_verdict(
    judged: &Judged<'_>,
    verdict: &Verdict,
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    let Judged { mode, path, golden, trace } = judged;
    let (file, width) = (path.display(), style.width);
    match verdict {
        Verdict::Equal if style.quiet => Ok(()),
        Verdict::Equal => write_hanging(0, "", &format!("{file}: equal"), width, out),
        Verdict::NotKept if style.quiet => Ok(()),
        Verdict::NotKept => write_hanging(0, "", &format!("{file}: judged by its expectations"), width, out),
        Verdict::Unreadable(error) => {
            write_hanging(0, "", &format!("{file}: UNREADABLE golden trace"), width, out)?;
            write_hanging(11, "  error", &error.to_string(), width, out)
        }
        Verdict::Missing => {
            let text = match mode {
                GoldenMode::Check => format!("NO GOLDEN TRACE: expected {}", golden.display()),
                GoldenMode::Accept => "NEW".to_owned(),
            };
            write_hanging(0, "", &format!("{file}: {text}"), width, out)?;
            let endings = Reader::new(*trace, &golden.display().to_string()).and_then(endings);
            for ending in endings.unwrap_or_default() {
                write_hanging(11, "  ending", &ending.to_string(), width, out)?;
            }
            Ok(())
        }
        // The summary lists them together.
        Verdict::Changed(comparison) if comparison.first.is_none() && *mode == GoldenMode::Check => Ok(()),
        Verdict::Changed(comparison) => write_comparison(judged, comparison, width, out),
    }
}

fn write_comparison(
    Judged { mode, path, golden, .. }: &Judged<'_>,
    comparison: &Comparison,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let Comparison { golden: recorded, current, first, changed_steps, steps, decision, .. } = comparison;
    let verb = match mode {
        GoldenMode::Check => "DIFFERS from",
        GoldenMode::Accept => "CHANGES",
    };
    let extent = match first {
        Some(_) => format!("{changed_steps} of {}", count(*steps, "step")),
        None => "its policy only".to_owned(),
    };
    let text = format!("{}: {verb} {} in {extent}", path.display(), golden.display());
    write_hanging(0, "", &text, width, out)?;
    write_settings(&recorded.policy, &current.policy, GOLDEN, width, out)?;
    let Some(ComparedStep { part, difference, networks }) = first else { return Ok(()) };
    let label = match part {
        ComparedPart::Input => "  input",
        ComparedPart::Decision => "  decision",
        ComparedPart::Text => "  text",
    };
    let Difference { step, subject, recorded, replayed } = difference;
    let (recorded, replayed) = excerpts(recorded, replayed);
    write_hanging(11, label, &format!("first at step {step}, {subject}"), width, out)?;
    if !write_network(networks.as_deref(), GOLDEN, width, out)? {
        GOLDEN.write(&recorded, &replayed, width, out)?;
    }
    if let Some(decision) = decision {
        write_decision(decision, GOLDEN, width, out)?;
    }
    write_endings(&comparison.golden_endings, &comparison.current_endings, GOLDEN, width, out)
}

/// Writes the command that shows the first changed step of the new run.
pub(super) fn write_show(
    evidence: &Path,
    verdict: &Verdict,
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    let Verdict::Changed(comparison) = verdict else { return Ok(()) };
    let Some(ComparedStep { difference, .. }) = &comparison.first else { return Ok(()) };
    // The new run may be shorter.
    let step = difference.step.min(comparison.steps);
    let command = format!("orchestrion show {} --step {step}", quoted(evidence));
    write_command("show", &command, style.width, out)
}
