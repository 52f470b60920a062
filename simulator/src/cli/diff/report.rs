//! Report of `diff` for readers.

use super::{Compared, SIDES};
use crate::cli::differences::{excerpts, write_decision, write_network, write_settings};
use crate::cli::output::{ReportStyle, quoted, text_width, write_command, write_hanging};
use orchestrion_report::show::StepDescription;
use orchestrion_report::text::count;
use orchestrion_trace::RequestEnding;
use orchestrion_trace::diff::{Cause, CauseKind, ChangedPart, EDITS_MAX, Remainder, StepChange, TraceDiff};
use std::io::{self, Write};

/// The steps that the report lists, and the requests whose endings it lists.
const LISTED_MAX: usize = 20;
/// The columns of the text of a labelled line, and of a step.
const TEXT_AT: usize = 11;
const STEP_TEXT_AT: usize = 32;
const NARROW_STEP_TEXT_AT: usize = 16;
/// Narrower reports write the text of a step below its actor.
const WIDE_COLUMNS_MIN: usize = 72;

pub(super) fn write(compared: &Compared<'_>, style: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let (diff, width) = (&compared.diff, style.width);
    let [a, b] = compared.files;
    let [steps_a, steps_b] = diff.steps.map(|steps| count(steps, "step"));
    let is_incomplete = diff.errors.iter().any(Option::is_some);
    let has_equal_steps = diff.has_equal_steps();
    let verdict = match (is_incomplete, has_equal_steps && diff.has_equal_headers()) {
        (true, true) => "INCOMPLETE, equal as far as both are readable",
        (true, false) => "INCOMPLETE, DIFFER",
        (false, true) => "equal",
        (false, false) if has_equal_steps => "DIFFER in the header only",
        (false, false) => "DIFFER",
    };
    if verdict == "equal" {
        let text = format!("{} and {}: equal, {steps_a}", a.display(), b.display());
        return if style.quiet { Ok(()) } else { write_hanging(0, "", &text, width, out) };
    }
    write_hanging(0, "", &format!("{} and {}: {verdict}", a.display(), b.display()), width, out)?;
    write_hanging(TEXT_AT, "  steps", &format!("A {steps_a}, B {steps_b}"), width, out)?;
    for (name, [of_a, of_b]) in compared.header_differences() {
        let text = format!("{name}: A {of_a}, B {of_b}");
        write_hanging(TEXT_AT, "  header", &text, width, out)?;
    }
    write_settings(&diff.headers[0].policy, &diff.headers[1].policy, SIDES, width, out)?;
    if let Some(cause) = &diff.cause {
        write_cause(compared, cause, width, out)?;
    }
    if style.quiet {
        return Ok(());
    }
    write_consequences(compared, width, out)?;
    if diff.cause.as_ref().is_some_and(|cause| cause.kind != CauseKind::UnusedPolicy) {
        write_endings(diff, width, out)?;
    }
    Ok(())
}

/// Returns what a cause means.
pub(super) const fn sentence(kind: CauseKind) -> &'static str {
    match kind {
        CauseKind::Input => "another input: the cause is outside of the kernel",
        CauseKind::Time => {
            "the same input at another time, and another decision: the cause is outside of the kernel"
        }
        CauseKind::Policy => "the same input, and another decision: the cause is the policy",
        CauseKind::Kernel => "the same input, and another decision: the cause is the version of the kernel",
        CauseKind::Recording => {
            "the same input, and another decision under the same policy and kernel: one of the traces is not what \
             this kernel decides; `orchestrion replay` shows which"
        }
        CauseKind::UnusedPolicy => "the policies differ, and no step does: no decision reads what changed",
    }
}

fn write_cause(compared: &Compared<'_>, cause: &Cause, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "cause")?;
    write_hanging(2, "", sentence(cause.kind), width, out)?;
    let Some(from) = cause.from else { return Ok(()) };
    let place = |(side, step): (&str, Option<u64>)| match step {
        Some(step) => format!("step {step} of {side}"),
        None => format!("the end of {side}"),
    };
    let places: Vec<String> = ["A", "B"].into_iter().zip(cause.steps).map(place).collect();
    write_hanging(2, "", &format!("at {}, in {from}", places.join(" and ")), width, out)?;
    if cause.kind == CauseKind::Input {
        for (side, step) in cause.steps.into_iter().enumerate() {
            let Some((n, step)) = step.and_then(|n| Some((n, compared.steps[side].get(&n)?))) else {
                continue;
            };
            write_step(['A', 'B'][side], n, step, width, out)?;
        }
        write_network(cause.networks.as_deref(), SIDES, width, out)?;
    } else if let Some(decision) = &cause.decision {
        write_decision(decision, SIDES, width, out)?;
    } else if let Some(difference) = &cause.difference {
        let (a, b) = excerpts(&difference.recorded, &difference.replayed);
        write_hanging(TEXT_AT, "  decision", &difference.subject, width, out)?;
        SIDES.write(&a, &b, width, out)?;
    }
    for (side, step) in cause.steps.into_iter().enumerate() {
        if let Some(step) = step {
            let command = format!("orchestrion show {} --step {step}", quoted(compared.files[side]));
            write_command("show", &command, width, out)?;
        }
    }
    Ok(())
}

fn write_consequences(compared: &Compared<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let diff = &compared.diff;
    let further = [
        ("their times", diff.times),
        ("the contexts of their calls", diff.contexts),
        ("a note or the key of the host", diff.notes),
    ];
    // The first change is the cause.
    let changes = diff.changes.get(1..).unwrap_or_default();
    if changes.is_empty() && further.iter().all(|(_, rest)| rest.count == 0) {
        return Ok(());
    }
    let only = |side: usize| changes.iter().filter(|change| change.steps()[1 - side].is_none()).count();
    let (of_a, of_b) = (only(0), only(1));
    let changed = changes.len() - of_a - of_b;
    writeln!(out, "consequences")?;
    let counts = [(of_a, "only in A"), (of_b, "only in B"), (changed, "changed")];
    let counts = counts.into_iter().filter(|(steps, _)| *steps > 0);
    let counts: Vec<String> =
        counts.map(|(steps, what)| format!("{} {what}", count(steps as u64, "step"))).collect();
    if !counts.is_empty() {
        write_hanging(2, "", &counts.join(", "), width, out)?;
    }
    if !diff.is_aligned {
        let text = format!(
            "not aligned: more than {EDITS_MAX} insertions and deletions; the steps are paired in order"
        );
        write_hanging(2, "", &text, width, out)?;
    }
    for change in changes.iter().take(LISTED_MAX) {
        write_change(compared, change, width, out)?;
    }
    if changes.len() > LISTED_MAX {
        let further = count((changes.len() - LISTED_MAX) as u64, "further step");
        write_hanging(2, "", &format!("and {further}; more of them: --format json"), width, out)?;
    }
    for (what, Remainder { count: steps, first }) in further {
        let Some([a, b]) = first else { continue };
        let steps = count(steps, "further step");
        let text = format!("only {what}: {steps}, from step {a} of A and step {b} of B on");
        write_hanging(2, "", &text, width, out)?;
    }
    Ok(())
}

fn write_change(
    compared: &Compared<'_>,
    change: &StepChange,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    match change {
        StepChange::OnlyA(_) => writeln!(out, "  only A")?,
        StepChange::OnlyB(_) => writeln!(out, "  only B")?,
        StepChange::Changed(_, _, part) => writeln!(out, "  changed: {}", part_text(*part))?,
    }
    for (side, name) in ['A', 'B'].into_iter().enumerate() {
        if let Some((n, step)) = compared.step(side, change) {
            write_step(name, n, step, width, out)?;
        }
    }
    Ok(())
}

/// Returns what a changed part is called.
pub(super) const fn part_text(part: ChangedPart) -> &'static str {
    match part {
        ChangedPart::Input => "another input",
        ChangedPart::Decision => "the same input, another decision",
        ChangedPart::Text => "texts only",
        ChangedPart::References => "the same, about other items, calls or requests",
    }
}

/// Writes a step: side, number, actor, text, transition, and below the names of its events.
fn write_step(
    side: char,
    n: u64,
    step: &StepDescription,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let transition = &step.transition;
    let head = format!("    {side} {n:>5}  {}", step.actor());
    let at = if width >= WIDE_COLUMNS_MIN { STEP_TEXT_AT } else { NARROW_STEP_TEXT_AT };
    let room = text_width(width, at).saturating_sub(transition.len() + 1);
    let lines = step.lines(room);
    let mut lines = lines.iter();
    let first = match head.chars().count() < at {
        true => lines.next().map_or("", String::as_str),
        false => "",
    };
    let line = if first.is_empty() { head } else { format!("{head:at$}{first}") };
    let pad = width.saturating_sub(transition.len());
    writeln!(out, "{}", format!("{line:pad$}{transition}").trim_end())?;
    for line in lines {
        writeln!(out, "{:at$}{line}", "")?;
    }
    if step.events.is_empty() {
        return Ok(());
    }
    write_hanging(at, "", &step.events.join(", "), width, out)
}

fn write_endings(diff: &TraceDiff, width: usize, out: &mut impl Write) -> io::Result<()> {
    let [a, b] = &diff.endings;
    let [is_cut_a, is_cut_b] = diff.errors.each_ref().map(Option::is_some);
    let requests = a.len().max(b.len());
    if requests == 0 {
        return Ok(());
    }
    writeln!(out, "endings")?;
    // A trace that is not readable to its end may conclude a request later.
    let text = |ending: Option<&RequestEnding>, is_cut: bool| {
        let is_final = ending.is_some_and(|ending| ending.conclusion.is_some());
        let text = ending.map_or_else(|| "there is no such request".to_owned(), ToString::to_string);
        if is_cut && !is_final { format!("{text}, as far as it is readable") } else { text }
    };
    for request in 0..requests.min(LISTED_MAX) {
        let (a, b) = (a.get(request), b.get(request));
        let number = request + 1;
        if a == b {
            let text = format!("of request {number}, in both: {}", text(a, is_cut_a || is_cut_b));
            write_hanging(2, "", &text, width, out)?;
        } else {
            write_hanging(2, "", &format!("of request {number}"), width, out)?;
            SIDES.write(&text(a, is_cut_a), &text(b, is_cut_b), width, out)?;
        }
    }
    match requests.saturating_sub(LISTED_MAX) {
        0 => Ok(()),
        further => writeln!(out, "  and of {}", count(further as u64, "further request")),
    }
}
