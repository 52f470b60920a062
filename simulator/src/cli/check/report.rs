//! What was checked, as people read it.

use super::coverage::{Coverage, KINDS, at_most, cause, cut};
use super::{CheckedClaim, PolicyResult, WaiverStatus};
use crate::cli::{ExitStatus, files};
use crate::project::Waiver;
use anstyle::{AnsiColor, Style};
use orchestrion_explorer::Termination;
use orchestrion_model::check::{Counterexample, ModelRun, Verdict};
use orchestrion_model::coverage::Observation;
use orchestrion_model::scopes::Model;
use orchestrion_report::evidence::Highlight;
use orchestrion_report::show::{grouped, sanitize, wrap};
use std::io::{self, Write};

/// Where the words about a claim, and about what was searched, stand.
const CLAIM_AT: usize = 20;
const EXTENT_AT: usize = 14;
/// So many unreached marks are each told on a line of their own.
const LINES_MAX: usize = 12;

/// How a report is printed.
#[derive(Clone, Copy)]
pub(super) struct ReportStyle {
    /// Only what needs looking at, and the last line.
    pub(super) quiet: bool,
    /// As wide as it may be.
    pub(super) columns: usize,
}

pub(super) fn human(
    checked: &[PolicyResult],
    standings: &[(&Waiver, WaiverStatus)],
    look: ReportStyle,
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    for checked_one in checked {
        let PolicyResult { policy, runs, found, .. } = checked_one;
        let told = |found: &&CheckedClaim| {
            !look.quiet || !matches!(found.word(), "holds" | "not_checked" | "outside")
        };
        let mut found = found.iter().filter(told).peekable();
        let several = checked.len() > 1 && found.peek().is_some();
        if !look.quiet || several {
            writeln!(out, "policy {}, scope {}", sanitize(&policy.name), checked_one.scope)?;
        }
        if !look.quiet {
            of_runs(runs, look, out)?;
            of_extent(&Coverage::of(policy, runs), look, out)?;
        }
        found.try_for_each(|found| of_claim(found, look, out))?;
        if !look.quiet {
            of_outside(checked_one, look, out)?;
            writeln!(out)?;
        }
    }
    for (waiver, standing) in standings {
        of_waiver(waiver, *standing, out)?;
    }
    last_line(checked, standings, outcome, out)
}

fn of_runs(runs: &[ModelRun], look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  {:<10}  {:>11} {:>11} {:>11} {:>7}", "model", "states", "products", "steps", "depth")?;
    for run in runs {
        let ended = if run.is_exhaustive() { "exhausted" } else { "CUT SHORT" };
        writeln!(
            out,
            "  {:<10}  {:>11} {:>11} {:>11} {:>7}  {ended}",
            run.model,
            grouped(run.states as u64),
            grouped(run.products as u64),
            grouped(run.steps),
            run.depth
        )?;
        let about = Model::from_name(run.model).map_or("", |model| model.about);
        hanging(EXTENT_AT, "", about, look, out)?;
        if let Some(told) = cut_short(run.ended, run.depth) {
            hanging(EXTENT_AT, "", &told, look, out)?;
        }
    }
    Ok(())
}

/// What ran out, and what was covered.
pub(super) fn cut_short(ended: Termination, depth: usize) -> Option<String> {
    let (why, waiting, covered) = cut(ended, depth)?;
    let (what, flag) = cause(why);
    Some(format!(
        "cut short: out of {what} ({flag}); every run of up to {} was tried, {} products were not followed further",
        steps(covered),
        grouped(waiting as u64)
    ))
}

/// So many steps.
pub(super) fn steps(count: usize) -> String {
    format!("{count} {}", if count == 1 { "step" } else { "steps" })
}

fn of_extent(extent: &Coverage, look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let counts: Vec<String> = KINDS
        .iter()
        .map(|(kind, several)| match extent.count(kind) {
            (reached, expected) if reached == expected => format!("{expected} {several}"),
            (reached, expected) => format!("{reached} of {expected} {several}"),
        })
        .collect();
    let counts = counts.join(", ");
    if extent.unreached.is_empty() {
        hanging(EXTENT_AT, "  reached", &format!("everything expected: {counts}"), look, out)?;
    } else {
        hanging(EXTENT_AT, "  reached", &counts, look, out)?;
        unreached(extent, look, out)?;
    }
    let compared = if extent.collision > 0.0 {
        let chance = at_most(extent.collision);
        format!("64-bit fingerprints of products; chance that a collision hid something: below {chance}")
    } else {
        "whole products: no collision can have hidden anything".to_owned()
    };
    hanging(EXTENT_AT, "  compared", &compared, look, out)?;
    writeln!(out)
}

/// What was to be reached and was not.
fn unreached(extent: &Coverage, look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let why = match (&extent.only, extent.is_cut) {
        (_, true) => "; a model was cut short and may reach more".to_owned(),
        (Some(only), false) => format!("; other models than {} may", only.join(" and ")),
        (None, false) => String::new(),
    };
    writeln!(out, "{:EXTENT_AT$}{style}not reached{style:#}{why}:", "")?;
    if extent.unreached.len() <= LINES_MAX {
        for mark in &extent.unreached {
            let about = mark.description();
            let about = if about.is_empty() { about } else { format!("  {about}") };
            let kind = if matches!(mark, Observation::Guard(_)) { "row" } else { mark.kind() };
            hanging(EXTENT_AT + 4, "", &format!("{kind} {}{about}", mark.name()), look, out)?;
        }
        return Ok(());
    }
    for (kind, several) in KINDS {
        let marks = extent.unreached.iter().filter(|mark| mark.kind() == kind);
        let names: Vec<String> = marks.map(|mark| mark.name()).collect();
        if !names.is_empty() {
            hanging(EXTENT_AT + 4, "", &format!("{several}: {}", names.join(", ")), look, out)?;
        }
    }
    Ok(())
}

/// Words at a column, broken where they would be too wide; the first line begins with something else.
pub(super) fn hanging(
    at: usize,
    head: &str,
    text: &str,
    look: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    for (i, line) in wrap(text, look.columns.saturating_sub(at)).iter().enumerate() {
        writeln!(out, "{:at$}{line}", if i == 0 { head } else { "" })?;
    }
    Ok(())
}

fn of_claim(found: &CheckedClaim, look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let CheckedClaim { claim, verdict, evidence, waived, outside } = found;
    let finding = claim.finding.map_or(String::new(), |finding| format!(", finding {finding}"));
    let (word, colour) = match verdict {
        Verdict::Holds => ("holds", AnsiColor::Green),
        Verdict::Fails { .. } | Verdict::Vacuous if waived.is_some() => ("waived", AnsiColor::Yellow),
        Verdict::Fails { .. } => ("FAILS", AnsiColor::Red),
        Verdict::Vacuous if *outside => ("outside", AnsiColor::BrightBlack),
        Verdict::Vacuous => ("VACUOUS", AnsiColor::Yellow),
        Verdict::Inconclusive => ("INCONCLUSIVE", AnsiColor::Yellow),
        Verdict::NotChecked(_) => ("not checked", AnsiColor::BrightBlack),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    let told = format!("{}  ({}{finding})", claim.statement, claim.clause);
    let mut lines = wrap(&told, look.columns.saturating_sub(CLAIM_AT)).into_iter();
    writeln!(out, "{}  {style}{word:<12}{style:#}  {}", claim.id, lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "{:CLAIM_AT$}{line}", ""))?;
    let why = match verdict {
        Verdict::NotChecked(why) => why,
        Verdict::Vacuous if *outside => "",
        Verdict::Vacuous => "no run came to a state in which the claim has something to say",
        Verdict::Holds | Verdict::Fails { .. } | Verdict::Inconclusive => "",
    };
    if !why.is_empty() {
        hanging(CLAIM_AT, "", why, look, out)?;
    }
    if let Some(waiver) = waived {
        let what = if *verdict == Verdict::Vacuous { "is vacuous" } else { "fails" };
        let reason = sanitize(&waiver.reason);
        writeln!(out, "  {what}, and may until {}: {reason}  ({})", waiver.until, waiver.place)?;
    }
    if let (Verdict::Fails { counterexample, .. }, Some(kept)) = (verdict, evidence) {
        let (told, until, at) = of_counterexample(counterexample);
        let highlights = kept.evidence.last_highlights(until);
        writeln!(out, "  {told}{}", highlight_heading(highlights))?;
        of_highlights(highlights, look, out)?;
        let at = at.or_else(|| highlights.last().map(|highlight| highlight.step)).unwrap_or(1);
        writeln!(out, "  look   orchestrion show {} --at {at}", files::quoted(&kept.trace))?;
        // A scenario is played to its end, so it cannot hold a run that has none.
        if counterexample.stem_len.is_none() {
            writeln!(
                out,
                "  keep   orchestrion promote {} {}",
                files::quoted(&kept.trace),
                claim.id.to_lowercase()
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// How many claims are about models that were not to be explored.
fn of_outside(checked: &PolicyResult, look: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let models = match checked.runs.len() {
        1 => "this model",
        _ => "these models",
    };
    let (claims, they) = match checked.found.iter().filter(|found| found.word() == "outside").count() {
        0 => return Ok(()),
        1 => ("1 claim has".to_owned(), "it is"),
        several => (format!("{several} claims have"), "they are"),
    };
    let text = format!("{claims} nothing to say in {models}; without --model {they} checked too");
    hanging(0, "", &text, look, out)
}

/// What kind of counterexample it is, up to which step it is worth reading, and the step to look at, unless it is the last.
fn of_counterexample(counterexample: &Counterexample) -> (String, u64, Option<u64>) {
    let all = counterexample.inputs.len();
    match (counterexample.stem_len, counterexample.cycle_len()) {
        (Some(stem), Some(round)) => {
            let (first, last) = (stem + 1, stem + round);
            let told = match round {
                1 => format!("a run without end: for ever step {first}, again and again"),
                _ => format!("a run without end: for ever steps {first} to {last}, again and again"),
            };
            (told, last as u64, Some(first as u64))
        }
        _ => (format!("shortest counterexample, {}", steps(all)), all as u64, None),
    }
}

/// How the steps that matter are announced.
pub(super) fn highlight_heading(highlights: &[Highlight]) -> String {
    match highlights.len() {
        0 => String::new(),
        1 => "; the one that matters:".to_owned(),
        several => format!("; the last {several} that matter:"),
    }
}

pub(super) fn of_highlights(
    highlights: &[Highlight],
    look: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    const AT: usize = 9;
    const ROW: usize = 5;
    let width = look.columns.saturating_sub(AT + ROW).min(70);
    for Highlight { step, what, row } in highlights {
        let mut lines = wrap(what, width).into_iter();
        let first = lines.next().unwrap_or_default();
        let line = format!("    {step:>3}  {first:<width$}  {row}");
        writeln!(out, "{}", line.trim_end())?;
        lines.try_for_each(|line| writeln!(out, "{:AT$}{line}", ""))?;
    }
    Ok(())
}

/// What is to be done about a waiver, if anything is.
fn of_waiver(waiver: &Waiver, standing: WaiverStatus, out: &mut impl Write) -> io::Result<()> {
    let Waiver { claim, policy, reason, until, place } = waiver;
    let reason = sanitize(reason);
    let under = policy.as_ref().map_or_else(String::new, |policy| format!(" under {}", sanitize(policy)));
    match standing {
        WaiverStatus::Needed | WaiverStatus::Undetermined => Ok(()),
        WaiverStatus::NotNeeded => writeln!(
            out,
            "{place}: the waiver of {claim}{under} is not needed: the claim does not fail\n  \
             do     remove it, or it would hide that the claim fails again"
        ),
        WaiverStatus::Expired => writeln!(
            out,
            "{place}: the waiver of {claim}{under} EXPIRED, it was until {until}: {reason}\n  \
             do     remove it once the claim holds, or give it a later day"
        ),
    }
}

fn last_line(
    checked: &[PolicyResult],
    standings: &[(&Waiver, WaiverStatus)],
    outcome: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let found = || checked.iter().flat_map(|checked| &checked.found);
    let count = |word: &str| found().filter(|found| found.word() == word).count();
    let expired = standings.iter().filter(|(_, standing)| *standing == WaiverStatus::Expired).count();
    let unread = count("vacuous") + count("inconclusive");
    let (word, colour) = match outcome {
        ExitStatus::Success => ("HOLDS", AnsiColor::Green),
        ExitStatus::Failure => ("FAILS", AnsiColor::Red),
        ExitStatus::Incomplete | ExitStatus::Error if unread > 0 => ("NOT SHOWN", AnsiColor::Yellow),
        ExitStatus::Incomplete | ExitStatus::Error => ("EXPIRED", AnsiColor::Yellow),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let all = format!("{} claims", found().count());
    let whereabouts = scope_summary(checked);
    write!(out, "{style}{word}{style:#}: ")?;
    match outcome {
        ExitStatus::Success => write!(out, "{} of {all} hold {whereabouts}", count("holds"))?,
        ExitStatus::Failure => write!(out, "{} of {all} {whereabouts}", count("fails"))?,
        _ => write!(out, "none of {all} fails {whereabouts}")?,
    }
    for what in ["vacuous", "outside", "inconclusive", "waived"] {
        if count(what) > 0 {
            write!(out, "; {} {what}", count(what))?;
        }
    }
    if expired > 0 {
        write!(out, "; {expired} {} expired", if expired == 1 { "waiver" } else { "waivers" })?;
    }
    writeln!(out, "; {} not checked. exit {}", count("not_checked"), outcome.code())
}

/// Under how many policies, at which scope, and in which models where they are not all.
fn scope_summary(checked: &[PolicyResult]) -> String {
    let scope = checked.first().map_or("", |checked| checked.scope);
    let only = checked.first().and_then(|checked| super::coverage::only(&checked.models()));
    let only = only.map_or_else(String::new, |only| format!(", in {} only", only.join(" and ")));
    match checked.len() {
        1 => format!("at scope {scope}{only}"),
        policies => format!("under {policies} policies at scope {scope}{only}"),
    }
}
