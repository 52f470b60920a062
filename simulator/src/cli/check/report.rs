//! Report of `check`.

use super::coverage::{Coverage, KINDS, LimitReached, format_probability, resource_name};
use super::result::{CheckedClaim, OtherCounterexample, PolicyResult, WaiverStatus};
use super::save::SavedEvidence;
use super::user_claims::{CheckedUserClaim, write_user_claim};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{ReportStyle, quoted, text_width, write_command, write_hanging, write_summary};
use anstyle::{AnsiColor, Style};
use orchestrion_claims::Claim;
use orchestrion_explorer::Termination;
use orchestrion_model::check::{Counterexample, ModelRun, Verdict};
use orchestrion_model::coverage::Observation;
use orchestrion_model::induction::{Enumeration, InductionCounterexample, Start};
use orchestrion_model::scopes::Model;
use orchestrion_project::Waiver;
use orchestrion_report::evidence::Highlight;
use orchestrion_report::text::{grouped, sanitize, wrap};
use serde::Serialize;
use std::io::{self, Write};

/// Column of a claim's statement.
const CLAIM_COLUMN: usize = 21;
/// Column of the items and inputs of a counterexample to induction.
const INPUT_COLUMN: usize = 11;
/// Column of the coverage texts.
const COVERAGE_COLUMN: usize = 14;
/// Unreached observations up to this number are listed one per line.
const UNREACHED_LINES_MAX: usize = 12;

pub(super) fn human(
    results: &[PolicyResult],
    waivers: &[(&Waiver, WaiverStatus)],
    style: ReportStyle,
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    for result in results {
        let is_shown = |claim: &&CheckedClaim| {
            !style.quiet || !matches!(claim.verdict_name(), "holds" | "not_checked" | "not_in_model")
        };
        let mut claims = result.claims.iter().filter(is_shown).peekable();
        let needs_heading = results.len() > 1 && claims.peek().is_some();
        if !style.quiet || needs_heading {
            let text = format!("policy {}, scope {}", sanitize(&result.policy.name), result.scope);
            write_hanging(0, "", &text, style.width, out)?;
        }
        if !style.quiet {
            write_runs(&result.runs, style.width, out)?;
            let coverage = Coverage::new(&result.policy, &result.runs);
            write_coverage(&coverage, style.width, out)?;
            write_compared(&coverage, style.width, out)?;
        }
        let has_unproven = result.unproven_contexts() > 0;
        claims.try_for_each(|claim| write_claim(claim, has_unproven, style.width, out))?;
        write_user_claims(result, style, out)?;
        if !style.quiet {
            write_not_in_model(result, style.width, out)?;
            writeln!(out)?;
        }
    }
    for (waiver, status) in waivers {
        write_waiver(waiver, *status, style.width, out)?;
    }
    write_last_line(results, waivers, status, style.width, out)
}

fn write_runs(runs: &[ModelRun], width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  {:<10}  {:>11} {:>11} {:>11} {:>7}", "model", "states", "products", "steps", "depth")?;
    for run in runs {
        writeln!(
            out,
            "  {:<10}  {:>11} {:>11} {:>11} {:>7}",
            run.model,
            grouped(run.states as u64),
            grouped(run.products as u64),
            grouped(run.steps),
            run.depth
        )?;
        let of_enumeration = || Enumeration::from_name(run.model).map(|enumeration| enumeration.model.about);
        let of_file = || (run.model == Model::CUSTOM).then_some(Model::CUSTOM_ABOUT);
        let about = Model::from_name(run.model)
            .map(|model| model.about)
            .or_else(of_enumeration)
            .or_else(of_file)
            .unwrap_or_default();
        write_hanging(COVERAGE_COLUMN, "", about, width, out)?;
        if run.unproven_contexts > 0 {
            let states = grouped(run.unproven_contexts as u64);
            let text = format!(
                "NOT PROVEN: the context of the call in {states} of these states; its search reached contexts.nodes_max"
            );
            write_hanging(COVERAGE_COLUMN, "", &text, width, out)?;
        }
        if let Some(text) = limit_text(run.ended, run.depth) {
            write_hanging(COVERAGE_COLUMN, "", &text, width, out)?;
        }
    }
    Ok(())
}

/// Describes the resource limit that ended an exploration, if any.
pub(in crate::cli) fn limit_text(termination: Termination, depth: usize) -> Option<String> {
    let LimitReached { resource, frontier, explored_steps } =
        LimitReached::from_termination(termination, depth)?;
    let (name, flag) = resource_name(resource);
    Some(format!(
        "LIMIT REACHED: {name} ({flag}); every path of at most {} was explored, {} product states were not expanded",
        steps_text(explored_steps),
        grouped(frontier as u64)
    ))
}

/// Formats a number of steps.
pub(in crate::cli) fn steps_text(count: usize) -> String {
    format!("{count} {}", if count == 1 { "step" } else { "steps" })
}

pub(super) fn write_coverage(coverage: &Coverage, width: usize, out: &mut impl Write) -> io::Result<()> {
    let counts: Vec<String> = KINDS
        .iter()
        .map(|(kind, plural)| match coverage.count(kind) {
            (reached, expected) if reached == expected => format!("{expected} {plural}"),
            (reached, expected) => format!("{reached} of {expected} {plural}"),
        })
        .collect();
    let counts = counts.join(", ");
    if coverage.unreached.is_empty() {
        write_hanging(COVERAGE_COLUMN, "  reached", &format!("all expected: {counts}"), width, out)?;
    } else {
        write_hanging(COVERAGE_COLUMN, "  reached", &counts, width, out)?;
        write_unreached(coverage, width, out)?;
    }
    Ok(())
}

/// Writes how visited states were recognized.
fn write_compared(coverage: &Coverage, width: usize, out: &mut impl Write) -> io::Result<()> {
    let compared = if coverage.collision > 0.0 {
        let probability = format_probability(coverage.collision);
        format!("64-bit fingerprints; probability that a collision hid a state: below {probability}")
    } else {
        "whole states; no collision is possible".to_owned()
    };
    write_hanging(COVERAGE_COLUMN, "  compared", &compared, width, out)?;
    writeln!(out)
}

/// Lists the expected observations that no run reached.
fn write_unreached(coverage: &Coverage, width: usize, out: &mut impl Write) -> io::Result<()> {
    let style = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
    let reason = coverage.incomplete.as_ref().map_or_else(String::new, |reason| format!("; {reason}"));
    const WORD: &str = "not reached";
    for line in wrap(&format!("{WORD}{reason}:"), text_width(width, COVERAGE_COLUMN)) {
        match line.strip_prefix(WORD) {
            Some(rest) => writeln!(out, "{:COVERAGE_COLUMN$}{style}{WORD}{style:#}{rest}", "")?,
            None => writeln!(out, "{:COVERAGE_COLUMN$}{line}", "")?,
        }
    }
    if coverage.unreached.len() <= UNREACHED_LINES_MAX {
        for observation in &coverage.unreached {
            let text = observation_text(*observation);
            write_hanging(COVERAGE_COLUMN + 2, "", &text, width, out)?;
        }
        return Ok(());
    }
    for (kind, plural) in KINDS {
        let observations = coverage.unreached.iter().filter(|observation| observation.kind() == kind);
        let names: Vec<String> = observations.map(|observation| observation.name()).collect();
        if !names.is_empty() {
            let text = format!("{plural}: {}", names.join(", "));
            write_hanging(COVERAGE_COLUMN + 2, "", &text, width, out)?;
        }
    }
    Ok(())
}

/// Describes an observation by kind, name and meaning.
fn observation_text(observation: Observation) -> String {
    let kind = match observation {
        // The name of a guard is that of its transition, with `not`.
        Observation::Guard(_) | Observation::Row(_) => "transition",
        Observation::Violation(_)
        | Observation::Premise(_)
        | Observation::Phase(_)
        | Observation::Input(_)
        | Observation::Refusal(_) => observation.kind(),
    };
    let description = observation.description();
    let separator = if description.is_empty() { "" } else { "  " };
    format!("{kind} {}{separator}{description}", observation.name())
}

fn write_claim(
    checked: &CheckedClaim,
    has_unproven: bool,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let CheckedClaim { claim, verdict, evidence, others, waiver, is_not_in_model } = checked;
    let (word, color) = match verdict {
        Verdict::Holds => ("holds", AnsiColor::Green),
        Verdict::Fails { .. } | Verdict::NotInductive { .. } | Verdict::Vacuous if waiver.is_some() => {
            ("waived", AnsiColor::Yellow)
        }
        Verdict::Fails { .. } => ("FAILS", AnsiColor::Red),
        Verdict::NotInductive { .. } => ("NOT INDUCTIVE", AnsiColor::Red),
        Verdict::Vacuous if *is_not_in_model => ("not in model", AnsiColor::BrightBlack),
        Verdict::Vacuous => ("VACUOUS", AnsiColor::Yellow),
        Verdict::Inconclusive => ("INCONCLUSIVE", AnsiColor::Yellow),
        Verdict::NotChecked(_) => ("not checked", AnsiColor::BrightBlack),
    };
    write_statement(claim, word, color, width, out)?;
    match verdict {
        Verdict::NotChecked(reason) => write_hanging(CLAIM_COLUMN, "", reason, width, out)?,
        Verdict::Vacuous if !is_not_in_model => {
            write_hanging(CLAIM_COLUMN, "", "no explored path reaches its premise", width, out)?;
        }
        Verdict::Inconclusive if has_unproven && claim.needs_proven_contexts => {
            let text = "some contexts are not proven optimal; raise contexts.nodes_max in the policy";
            write_hanging(CLAIM_COLUMN, "", text, width, out)?;
        }
        Verdict::NotInductive { counterexample } => write_induction(counterexample, width, out)?,
        Verdict::Vacuous | Verdict::Holds | Verdict::Fails { .. } | Verdict::Inconclusive => {}
    }
    if let Some(waiver) = waiver {
        let verdict = if *verdict == Verdict::Vacuous { "is vacuous" } else { "fails" };
        let Waiver { reason, until, location, .. } = waiver;
        let text = format!("{verdict}, waived until {until}: {reason}  ({location})");
        write_hanging(2, "", &text, width, out)?;
    }
    if let (Verdict::Fails { counterexample, .. }, Some(saved)) = (verdict, evidence) {
        let (text, last_step, step) = counterexample_text(claim, counterexample);
        // A scenario ends, so it cannot represent an infinite counterexample.
        let name = counterexample.stem_len.is_none().then_some(claim.id);
        write_evidence(saved, &text, (last_step, step), name, width, out)?;
    }
    for OtherCounterexample { model, counterexample, evidence } in others {
        let (text, last_step, step) = counterexample_text(claim, counterexample);
        let name = counterexample.stem_len.is_none().then_some(claim.id);
        write_evidence(evidence, &format!("in {model}, {text}"), (last_step, step), name, width, out)?;
    }
    Ok(())
}

/// Writes a claim with its verdict in a word.
pub(super) fn write_statement(
    claim: &Claim,
    word: &str,
    color: AnsiColor,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let style = Style::new().fg_color(Some(color.into()));
    let finding = claim.finding.map_or(String::new(), |finding| format!(", finding {finding}"));
    let text = format!("{}  ({}{finding})", claim.statement, claim.clause);
    let mut lines = wrap(&text, text_width(width, CLAIM_COLUMN)).into_iter();
    writeln!(out, "{:<5}  {style}{word:<13}{style:#} {}", claim.id, lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "{:CLAIM_COLUMN$}{line}", ""))
}

/// Writes a counterexample that was saved: its relevant steps up to the last one, and the commands that show it and promote it under
/// this name. The step to show is the last relevant one unless it is given.
pub(super) fn write_evidence(
    saved: &SavedEvidence,
    text: &str,
    (last_step, step): (u64, Option<u64>),
    name: Option<&str>,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let highlights = saved.evidence.last_highlights(last_step);
    write_hanging(2, "", &format!("{text}{}", highlight_heading(highlights)), width, out)?;
    write_highlights(highlights, width, out)?;
    let step = step.or_else(|| highlights.last().map(|highlight| highlight.step)).unwrap_or(1);
    let file = quoted(&saved.trace);
    write_command("show", &format!("orchestrion show {file} --step {step}"), width, out)?;
    if let Some(name) = name {
        let command = format!("orchestrion promote {file} {}", name.to_lowercase());
        write_command("promote", &command, width, out)?;
    }
    writeln!(out)
}

/// Writes a counterexample to induction: what the state at the start is made of, and the inputs, of which the last violates the claim.
fn write_induction(
    counterexample: &InductionCounterexample,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let InductionCounterexample { enumeration, start, inputs, .. } = counterexample;
    let (made_of, heading, parts) = match start {
        Start::Items(items) => ("with these items", "    item   ", json_lines(items)?),
        Start::Events(events) => ("after these events", "    event  ", json_lines(events)?),
    };
    let text = format!(
        "counterexample to induction, of the enumeration {enumeration}: the last input, from a state {made_of}"
    );
    write_hanging(2, "", &text, width, out)?;
    for part in parts {
        write_hanging(INPUT_COLUMN, heading, &sanitize(&part), width, out)?;
    }
    for input in inputs {
        write_hanging(INPUT_COLUMN, "    input  ", &sanitize(&json_line(input)?), width, out)?;
    }
    writeln!(out)
}

fn json_lines(values: &[impl Serialize]) -> io::Result<Vec<String>> {
    values.iter().map(json_line).collect()
}

/// Formats a value in one line, with a space after each field so that it wraps there.
fn json_line(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?.replace(",\"", ", \""))
}

/// Writes the claims of the project.
fn write_user_claims(result: &PolicyResult, style: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    let is_shown =
        |claim: &&CheckedUserClaim| !style.quiet || !matches!(claim.verdict_name(), "holds" | "not_in_model");
    let mut claims = result.user_claims.iter().filter(is_shown).peekable();
    if claims.peek().is_some() {
        writeln!(out, "\nclaims of the project")?;
    }
    claims.try_for_each(|claim| write_user_claim(claim, style.width, out))
}

/// Writes the number of claims that the chosen models do not cover.
fn write_not_in_model(result: &PolicyResult, width: usize, out: &mut impl Write) -> io::Result<()> {
    let models = if result.runs.len() == 1 { "this model does" } else { "these models do" };
    let (premises, them) =
        match result.claims.iter().filter(|claim| claim.verdict_name() == "not_in_model").count() {
            0 => return Ok(()),
            1 => ("the premise of 1 claim".to_owned(), "it"),
            count => (format!("the premises of {count} claims"), "them"),
        };
    let text = format!("{models} not reach {premises}; check {them} without --model");
    write_hanging(0, "", &text, width, out)
}

/// Describes a counterexample of a claim. Returns the text, the last step worth reading, and the step to show unless it is the last.
fn counterexample_text(claim: &Claim, counterexample: &Counterexample) -> (String, u64, Option<u64>) {
    let inputs = counterexample.inputs.len();
    match (counterexample.stem_len, counterexample.cycle_len()) {
        (Some(stem), Some(cycle)) => {
            let (first, last) = (stem + 1, stem + cycle);
            let text = match cycle {
                1 => format!("infinite counterexample: step {first} repeats"),
                _ => format!("infinite counterexample: steps {first} to {last} repeat"),
            };
            (text, last as u64, Some(first as u64))
        }
        _ => {
            let kind = match claim.finding_row.filter(|_| counterexample.is_of_finding(claim)) {
                Some(row) => format!("counterexample by {row}"),
                None => "shortest counterexample".to_owned(),
            };
            (format!("{kind}, {}", steps_text(inputs)), inputs as u64, None)
        }
    }
}

/// Returns the words that introduce the relevant steps.
pub(super) fn highlight_heading(highlights: &[Highlight]) -> String {
    match highlights.len() {
        0 => String::new(),
        1 => "; the relevant step:".to_owned(),
        count => format!("; the last {count} relevant steps:"),
    }
}

pub(super) fn write_highlights(
    highlights: &[Highlight],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    const COLUMN: usize = 9;
    const ROW_WIDTH: usize = 5;
    let texts = highlights.iter().map(|highlight| sanitize(&highlight.text).chars().count());
    let text_width = texts.max().unwrap_or_default().min(text_width(width, COLUMN + ROW_WIDTH));
    for Highlight { step, text, row } in highlights {
        let mut lines = wrap(text, text_width).into_iter();
        let first = lines.next().unwrap_or_default();
        let line = format!("    {step:>3}  {first:<text_width$}  {row}");
        writeln!(out, "{}", line.trim_end())?;
        lines.try_for_each(|line| writeln!(out, "{:COLUMN$}{line}", ""))?;
    }
    Ok(())
}

/// Writes what to do about a waiver, if anything.
fn write_waiver(waiver: &Waiver, status: WaiverStatus, width: usize, out: &mut impl Write) -> io::Result<()> {
    let Waiver { claim, policy, reason, until, location } = waiver;
    let under = policy.as_ref().map_or_else(String::new, |policy| format!(" under {policy}"));
    let (text, help) = match status {
        WaiverStatus::Needed | WaiverStatus::Undetermined => return Ok(()),
        WaiverStatus::NotNeeded => (
            format!("{location}: the waiver of {claim}{under} is not needed: the claim holds"),
            "remove it; otherwise it conceals a later failure of the claim",
        ),
        WaiverStatus::Expired => (
            format!("{location}: the waiver of {claim}{under} EXPIRED on {until}: {reason}"),
            "remove it if the claim holds, or extend it",
        ),
    };
    write_hanging(0, "", &text, width, out)?;
    write_hanging(11, "  help", help, width, out)
}

fn write_last_line(
    results: &[PolicyResult],
    waivers: &[(&Waiver, WaiverStatus)],
    status: ExitStatus,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let of_claims = results.iter().flat_map(|result| &result.claims).map(CheckedClaim::verdict_name);
    let of_user_claims = results.iter().flat_map(|result| &result.user_claims);
    let names: Vec<&str> = of_claims.chain(of_user_claims.map(CheckedUserClaim::verdict_name)).collect();
    let count = |name: &str| names.iter().filter(|verdict| **verdict == name).count();
    let expired = waivers.iter().filter(|(_, status)| *status == WaiverStatus::Expired).count();
    let open = count("vacuous") + count("inconclusive");
    let (word, color) = match status {
        ExitStatus::Success => ("HOLDS", AnsiColor::Green),
        ExitStatus::Failure => ("FAILS", AnsiColor::Red),
        ExitStatus::Incomplete | ExitStatus::Error if open > 0 => ("INCOMPLETE", AnsiColor::Yellow),
        ExitStatus::Incomplete | ExitStatus::Error => ("EXPIRED", AnsiColor::Yellow),
    };
    let all = format!("{} claims", names.len());
    let scope = scope_summary(results);
    let mut text = match status {
        ExitStatus::Success => format!(": {} of {all} hold {scope}", count("holds")),
        ExitStatus::Failure => format!(": {} of {all} {scope}", count("fails") + count("not_inductive")),
        ExitStatus::Incomplete | ExitStatus::Error => format!(": 0 of {all} fail {scope}"),
    };
    for (name, label) in [
        ("vacuous", "vacuous"),
        ("not_in_model", "not in model"),
        ("inconclusive", "inconclusive"),
        ("waived", "waived"),
    ] {
        if count(name) > 0 {
            text.push_str(&format!("; {} {label}", count(name)));
        }
    }
    let unproven: usize = results.iter().map(PolicyResult::unproven_contexts).sum();
    if unproven > 0 {
        let noun = if unproven == 1 { "context" } else { "contexts" };
        text.push_str(&format!("; {} {noun} not proven optimal", grouped(unproven as u64)));
    }
    if expired > 0 {
        text.push_str(&format!("; {expired} {} expired", if expired == 1 { "waiver" } else { "waivers" }));
    }
    text.push_str(&format!("; {} not checked. exit {}", count("not_checked"), status.code()));
    write_summary(Style::new().fg_color(Some(color.into())).bold(), word, &text, width, out)
}

/// Describes policies, scope and models of a check.
fn scope_summary(results: &[PolicyResult]) -> String {
    let scope = results.first().map_or("", |result| &result.scope[..]);
    let models = results.first().and_then(|result| super::coverage::partial_models(&result.models()));
    let models = models.map_or_else(String::new, |models| format!(", in {} only", models.join(" and ")));
    match results.len() {
        1 => format!("at scope {scope}{models}"),
        policies => format!("under {policies} policies at scope {scope}{models}"),
    }
}
