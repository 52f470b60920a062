//! Summary of many runs as text.

use super::summary::{Counted, Ending, RequestSummary, RunProperty, RunsSummary};
use super::{ScenarioRuns, Seeds};
use crate::cli::output::{ReportStyle, quoted, write_command, write_hanging};
use crate::cli::statistics::{Distribution, Share, number_text, percent};
use orchestrion_kernel::event::DecisionLabel;
use orchestrion_report::text::{duration, grouped, sanitize};
use orchestrion_user_claims::UserClaim;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Column of the text of a labelled line.
const TEXT_COLUMN: usize = 11;
/// Columns right of the names of a table.
const NUMBER_COLUMNS: usize = 48;
/// Characters of a request that a heading shows.
const REQUEST_CHARS: usize = 60;
/// Errors and endings that are listed.
const LINES_MAX: usize = 12;

const NO_CHOICE: &str = "every run is equal: no reply and no delay of this scenario is random. Add a random reply under `modules`, \
                         such as critic: {random: {seed: critic, choices: [{weight: 3, reply: {pro: {confidence: 0.8}}}, \
                         {reply: {con: {confidence: 0.9}}}]}}";

pub(super) fn write(
    runs: &ScenarioRuns<'_>,
    claims: &[UserClaim],
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    let ScenarioRuns { path, scenario, seeds, equal_runs, summary } = runs;
    let Seeds { first, .. } = *seeds;
    let of_seeds = match equal_runs {
        Some(asked) => format!("1 run instead of {}, seed {first}", grouped(*asked)),
        None if seeds.runs == 1 => format!("1 run, seed {first}"),
        None => format!("{} runs, seeds {first} to {}", grouped(seeds.runs), seeds.last()),
    };
    let heading = format!("{}: {of_seeds}, policy {}", path.display(), scenario.policy.name);
    write_hanging(0, "", &heading, style.width, out)?;
    if equal_runs.is_some() {
        write_hanging(2, "", NO_CHOICE, style.width, out)?;
    } else if !style.quiet {
        let note = "Rates have 95 % intervals by Wilson, means by Student. Times are simulated.";
        write_hanging(2, "", note, style.width, out)?;
    }
    if !style.quiet {
        for (number, request) in (1..).zip(&summary.requests) {
            let text = scenario.requests.get(number - 1).map_or("", |request| request.request.text.as_str());
            write_request(number, text, request, summary.runs, style.width, out)?;
        }
        write_whole_runs(summary, style.width, out)?;
    }
    write_properties(summary, claims, style.width, out)?;
    write_errors(summary, style.width, out)?;
    if !style.quiet {
        write_commands(runs, style.width, out)?;
    }
    let text = format!(
        "{}: {} of {} runs ended. exit {}",
        path.display(),
        grouped(summary.runs - summary.counted(RunProperty::Halted).map_or(0, |halted| halted.count)),
        grouped(seeds.runs),
        summary.status().code()
    );
    write_hanging(0, "", &text, style.width, out)
}

fn write_request(
    number: usize,
    text: &str,
    request: &RequestSummary,
    runs: u64,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out)?;
    let mut excerpt: String = text.chars().take(REQUEST_CHARS).collect();
    if excerpt.len() < text.len() {
        excerpt.push('…');
    }
    let mut heading = format!("request {number}: {}", sanitize(&excerpt));
    if request.runs < runs {
        heading.push_str(&format!(" (started in {} of {} runs)", grouped(request.runs), grouped(runs)));
    }
    write_hanging(0, "", &heading, width, out)?;
    let endings = request.endings.by_count();
    let rows: Vec<_> = endings.into_iter().map(|(ending, counted)| (ending_text(*ending), counted)).collect();
    write_table("ending", &rows, request.runs, width, out)?;
    let decisions: Vec<_> =
        decisions(request).into_iter().map(|(name, counted)| (name.to_owned(), counted)).collect();
    write_table("decision", &decisions, request.runs, width, out)?;
    let labels = request.labels.by_count();
    let rows: Vec<_> = labels.into_iter().map(|(label, counted)| (label_text(*label), counted)).collect();
    write_table("label", &rows, request.runs, width, out)?;
    write_distribution("passes", &request.passes, number_text, width, out)?;
    write_distribution("calls", &request.calls, number_text, width, out)
}

/// Returns the decisions, the most frequent first.
pub(super) fn decisions(request: &RequestSummary) -> Vec<(&'static str, Counted)> {
    let mut decisions: BTreeMap<&'static str, Counted> = BTreeMap::new();
    for (label, counted) in &request.labels.0 {
        let entry = decisions.entry(decision_name(*label)).or_insert(Counted { count: 0, ..*counted });
        entry.count += counted.count;
        entry.first_seed = entry.first_seed.min(counted.first_seed);
    }
    let mut decisions: Vec<_> = decisions.into_iter().collect();
    decisions.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.count));
    decisions
}

const fn decision_name(label: Option<DecisionLabel>) -> &'static str {
    match label {
        Some(DecisionLabel::ConsensusReached | DecisionLabel::ProceedBelowThreshold) => "PROCEED",
        Some(DecisionLabel::Rejected) => "REJECT",
        Some(DecisionLabel::Vetoed) => "VETO",
        Some(DecisionLabel::Outdated) => "OUTDATED",
        None => "no decision",
    }
}

pub(super) fn ending_text(ending: Ending) -> String {
    ending.map_or_else(|| "no conclusion".to_owned(), |(kind, cause)| format!("{kind}: {cause}"))
}

pub(super) fn label_text(label: Option<DecisionLabel>) -> String {
    label.map_or_else(|| "no decision".to_owned(), |label| label.to_string())
}

fn write_table(
    name: &str,
    rows: &[(String, Counted)],
    runs: u64,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let longest = rows.iter().map(|(text, _)| text.chars().count()).max().unwrap_or_default();
    let column = longest.max(name.len()).min(width.saturating_sub(NUMBER_COLUMNS + 2).max(16));
    writeln!(out, "  {name:<column$}{:>10}{:>9}{:>20}{:>9}", "runs", "rate", "interval", "seed")?;
    for (text, Counted { count, first_seed }) in rows {
        let share = Share { count: *count, runs };
        let interval = share.interval();
        let bounds = format!("{} to {}", percent(interval.lower), percent(interval.upper));
        let numbers =
            format!("{:>10}{:>9}{bounds:>20}{first_seed:>9}", grouped(*count), percent(share.rate()));
        let mut lines = orchestrion_report::text::wrap(text, column).into_iter();
        let first = lines.next().unwrap_or_default();
        let padding = column.saturating_sub(first.chars().count());
        writeln!(out, "  {first}{:padding$}{numbers}", "")?;
        lines.try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    Ok(())
}

fn time_text(ms: f64) -> String {
    duration(ms.round() as u64)
}

fn write_distribution(
    name: &str,
    distribution: &Distribution,
    text: fn(f64) -> String,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let Some(report) = distribution.report() else { return Ok(()) };
    write_hanging(TEXT_COLUMN, &format!("  {name}"), &report.text(text), width, out)
}

fn write_whole_runs(summary: &RunsSummary, width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\nwhole runs")?;
    write_distribution("calls", &summary.calls, number_text, width, out)?;
    write_distribution("tokens", &summary.context_tokens, number_text, width, out)?;
    write_distribution("steps", &summary.steps, number_text, width, out)?;
    write_distribution("time", &summary.time_ms, time_text, width, out)
}

fn write_properties(
    summary: &RunsSummary,
    claims: &[UserClaim],
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    for property in RunProperty::ALL {
        let (name, sentence) = match property {
            RunProperty::Halted => ("HALTED", "every next input is refused"),
            RunProperty::Unmet => ("UNMET", "an expectation of the scenario is not met"),
            RunProperty::Unused => ("unused", "a scripted reply or event did not occur"),
        };
        let Some(counted) = summary.counted(property) else { continue };
        let text =
            format!("{}; first seed {}: {sentence}", summary.share(counted).text(), counted.first_seed);
        write_hanging(TEXT_COLUMN, &format!("  {name}"), &text, width, out)?;
    }
    for (claim, counted) in summary.violated.by_count() {
        let Some(claim) = claims.get(*claim) else { continue };
        let text = format!(
            "the claim `{}` is VIOLATED in {}; first seed {}: {}",
            claim.id,
            summary.share(counted).text(),
            counted.first_seed,
            claim.sentence
        );
        write_hanging(TEXT_COLUMN, "  claim", &text, width, out)?;
    }
    Ok(())
}

fn write_errors(summary: &RunsSummary, width: usize, out: &mut impl Write) -> io::Result<()> {
    let errors = summary.errors.by_count();
    for (error, Counted { count, first_seed }) in errors.iter().take(LINES_MAX) {
        let text = format!("not possible in {} runs, first seed {first_seed}: {error}", grouped(*count));
        write_hanging(TEXT_COLUMN, "  ERROR", &text, width, out)?;
    }
    match errors.len().saturating_sub(LINES_MAX) {
        0 => Ok(()),
        further => writeln!(out, "  ERROR    and {further} further errors"),
    }
}

/// Writes the command that shows the first run of each ending.
fn write_commands(runs: &ScenarioRuns<'_>, width: usize, out: &mut impl Write) -> io::Result<()> {
    let mut first: BTreeMap<Ending, (u64, usize)> = BTreeMap::new();
    for (number, request) in (1..).zip(&runs.summary.requests) {
        for (ending, counted) in &request.endings.0 {
            let run = (counted.first_seed, number);
            let entry = first.entry(*ending).or_insert(run);
            *entry = run.min(*entry);
        }
    }
    writeln!(out)?;
    let scenario = quoted(runs.path);
    for (ending, (seed, request)) in first.iter().take(LINES_MAX) {
        let of_request =
            if runs.summary.requests.len() > 1 { format!(" (request {request})") } else { String::new() };
        write_hanging(2, "", &format!("{}{of_request}", ending_text(*ending)), width, out)?;
        write_command("show", &format!("orchestrion run {scenario} --seed {seed}"), width, out)?;
    }
    Ok(())
}
