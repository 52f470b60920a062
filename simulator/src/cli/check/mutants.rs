//! `check --mutants`: mutation testing of the claims.

use super::options::Args;
use super::plan::CheckPlan;
use crate::cli::args::Format;
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle, text_width, write_hanging, write_summary};
use crate::cli::progress::ProgressTimer;
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_experiment::Shard;
use orchestrion_kernel::Policy;
use orchestrion_model::mutants::{
    KillReason, Mutant, MutantStatus, MutationReport, all_mutants, run_mutants,
};
use orchestrion_model::scopes::Scope;
use orchestrion_report::text::{sanitize, wrap};
use serde::Serialize;
use std::io::{self, Write};
use std::time::Instant;

/// The mutants of one policy.
struct PolicyMutants {
    policy: String,
    report: MutationReport,
}

impl PolicyMutants {
    fn count(&self, matches: impl Fn(&MutantStatus) -> bool) -> usize {
        self.report.mutants.iter().filter(|(_, status)| matches(status)).count()
    }

    fn count_named(&self, name: &str) -> usize {
        self.count(|status| status_name(status) == name)
    }

    /// Returns how many mutants a claim killed, for a reason.
    fn kills(&self, claim_index: usize, matches: impl Fn(&KillReason) -> bool) -> usize {
        self.count(|status| {
            matches!(status, MutantStatus::Killed { claim, by, .. } if *claim == claim_index && matches(by))
        })
    }
}

/// Runs the mutants of every policy.
pub(super) fn run(plan: &CheckPlan, args: &Args, format: Format, style: ReportStyle) -> Result<ExitStatus> {
    let scope = &plan.scope;
    let mut results = Vec::new();
    for policy in &plan.policies {
        results.push(run_policy(policy, scope, args, style.quiet)?);
    }
    let status = exit_status(&results);
    let mut out = output::stdout();
    match format {
        Format::Human => {
            results.iter().try_for_each(|result| human(result, args.shard, scope, style, &mut out))
        }
        Format::Json => json(&results, scope, &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
}

fn run_policy(policy: &Policy, scope: &Scope, args: &Args, quiet: bool) -> Result<PolicyMutants> {
    let (name, start) = (sanitize(&policy.name), Instant::now());
    let mutants = mutants_of(args.shard.unwrap_or(Shard::WHOLE), policy)?;
    let (bar, mut timer) = (progress_bar(&name), ProgressTimer::default());
    let report = run_mutants(mutants, policy, scope, args.search.jobs(), |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        if bar.is_hidden() && !quiet && (done == 0 || timer.is_due(start.elapsed())) {
            let text = match done {
                0 => format!("{all} mutants; first, the unmodified kernel is explored"),
                _ => format!("{done} of {all} mutants, {} s", start.elapsed().as_secs()),
            };
            output::print_error(&format!("{name}: {text}"));
        }
    });
    bar.finish_and_clear();
    let report = report.map_err(|error| {
        miette!(
            help = "this is a bug of the kernel or its model, not of your policy; please report it",
            "cannot check the unmodified kernel under the policy {name}: {error}"
        )
    })?;
    Ok(PolicyMutants { policy: name, report })
}

/// Returns the mutants of a part. The mutants are listed by kind, and each part has its share of every kind.
fn mutants_of(shard: Shard, policy: &Policy) -> Result<Vec<Mutant>> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let (first, step) = (number(shard.index.saturating_sub(1)), number(shard.count.max(1)));
    let all = all_mutants(policy);
    if first >= all.len() {
        let help = format!("the policy has {} mutants; use at most as many parts", all.len());
        return Err(miette!(help = help, "--shard {}/{} has no mutants", shard.index, shard.count));
    }
    Ok(all.into_iter().skip(first).step_by(step).collect())
}

fn exit_status(results: &[PolicyMutants]) -> ExitStatus {
    let has_any = |name: &str| results.iter().any(|result| result.count_named(name) > 0);
    if has_any("survived") {
        ExitStatus::Failure
    } else if has_any("inconclusive") {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}

/// Returns the name of a status in reports.
const fn status_name(status: &MutantStatus) -> &'static str {
    match status {
        MutantStatus::Killed { .. } | MutantStatus::Panicked => "killed",
        MutantStatus::Survived => "survived",
        MutantStatus::Equivalent => "equivalent",
        MutantStatus::Inconclusive => "inconclusive",
    }
}

fn human(
    result: &PolicyMutants,
    shard: Option<Shard>,
    scope: &Scope,
    style: ReportStyle,
    out: &mut impl Write,
) -> io::Result<()> {
    if !style.quiet {
        let part = shard.map_or(String::new(), |Shard { index, count }| format!(", part {index} of {count}"));
        let heading = format!("mutants of the policy {}, scope {}{part}", result.policy, scope.name);
        write_hanging(0, "", &heading, style.width, out)?;
        write_kills(result, style.width, out)?;
    }
    write_mutants(result, style, out)?;
    write_last_line(result, style.width, out)
}

/// Writes how many mutants each claim killed.
fn write_kills(result: &PolicyMutants, width: usize, out: &mut impl Write) -> io::Result<()> {
    const COLUMN: usize = 36;
    writeln!(out, "\n  claim   kills  by a step  by a cycle  statement")?;
    for (index, claim) in CLAIMS.iter().enumerate() {
        let all = result.kills(index, |_| true);
        let by_step = result.kills(index, |reason| matches!(reason, KillReason::Broken(_)));
        let by_cycle = result.kills(index, |reason| *reason == KillReason::Liveness);
        if all > 0 {
            let counts = format!("  {:<6} {all:>6}  {by_step:>9}  {by_cycle:>10}  ", claim.id);
            write_hanging(COLUMN + 2, &counts, claim.statement, width, out)?;
        }
    }
    let ids = |matches: &dyn Fn(usize) -> bool| {
        let claims = CLAIMS.iter().enumerate().filter(|(index, _)| matches(*index));
        claims.map(|(_, claim)| claim.id).collect::<Vec<_>>().join(" ")
    };
    let without_kills = ids(&|index| result.kills(index, |_| true) == 0);
    write_hanging(2, "", &format!("no kills: {without_kills}"), width, out)?;
    let left_out = ids(&|index| result.report.left_out.contains(&index));
    if !left_out.is_empty() {
        let text = format!("left out, because they fail for the unmodified kernel: {left_out}");
        write_hanging(2, "", &text, width, out)?;
    }
    writeln!(out)
}

/// Writes the mutants that were not killed.
fn write_mutants(result: &PolicyMutants, style: ReportStyle, out: &mut impl Write) -> io::Result<()> {
    const COLUMN: usize = 16;
    for (mutant, status) in &result.report.mutants {
        let (color, reason) = match status {
            MutantStatus::Survived => (AnsiColor::Red, "no claim detects it; add a claim that does"),
            MutantStatus::Inconclusive => {
                (AnsiColor::Yellow, "its state space exceeds the limit, and no claim failed within it")
            }
            MutantStatus::Equivalent if !style.quiet => {
                (AnsiColor::BrightBlack, "it has the same states and steps at this scope")
            }
            MutantStatus::Equivalent | MutantStatus::Killed { .. } | MutantStatus::Panicked => continue,
        };
        let color = Style::new().fg_color(Some(color.into()));
        let word = status_name(status).to_uppercase();
        let text = format!("{} {}", mutant.location, mutant.fault);
        let mut lines = wrap(&text, text_width(style.width, COLUMN)).into_iter();
        writeln!(out, "  {color}{word:<14}{color:#}{}", lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "{:COLUMN$}{line}", ""))?;
        write_hanging(COLUMN, "", reason, style.width, out)?;
    }
    Ok(())
}

fn write_last_line(result: &PolicyMutants, width: usize, out: &mut impl Write) -> io::Result<()> {
    let [killed, survived, equivalent, inconclusive] =
        ["killed", "survived", "equivalent", "inconclusive"].map(|name| result.count_named(name));
    let (word, color) = match (survived, inconclusive) {
        (0, 0) => ("KILLED", AnsiColor::Green),
        (0, _) => ("INCOMPLETE", AnsiColor::Yellow),
        _ => ("SURVIVED", AnsiColor::Red),
    };
    let not_equivalent = result.report.mutants.len() - equivalent;
    let mut text = format!(": {killed} of {not_equivalent} mutants killed");
    for (count, label) in [(survived, "survived"), (inconclusive, "inconclusive")] {
        if count > 0 {
            text.push_str(&format!("; {count} {label}"));
        }
    }
    text.push_str(&format!("; {equivalent} others are equivalent at this scope"));
    write_summary(Style::new().fg_color(Some(color.into())).bold(), word, &text, width, out)
}

#[derive(Serialize)]
struct Report<'a> {
    scope: &'a str,
    mutants: Vec<MutantReport<'a>>,
}

#[derive(Serialize)]
struct MutantReport<'a> {
    policy: &'a str,
    location: &'a str,
    fault: &'a str,
    status: &'a str,
    /// The claim that detected the fault first.
    claim: Option<&'a str>,
    /// step, cycle, vacuous or panic.
    killed_by: Option<&'a str>,
    /// The steps of the counterexample, if the mutant was killed by a step.
    steps: Option<usize>,
    model: Option<&'a str>,
}

fn json(results: &[PolicyMutants], scope: &Scope, out: &mut impl Write) -> io::Result<()> {
    let mutants = results.iter().flat_map(|result| {
        result.report.mutants.iter().map(|(mutant, status)| {
            let (claim, killed_by, steps, model) = match status {
                MutantStatus::Killed { claim, by: KillReason::Broken(steps), model } => {
                    (Some(CLAIMS[*claim].id), Some("step"), Some(*steps), Some(*model))
                }
                MutantStatus::Killed { claim, by: KillReason::Liveness, model } => {
                    (Some(CLAIMS[*claim].id), Some("cycle"), None, Some(*model))
                }
                MutantStatus::Killed { claim, by: KillReason::Vacuous, .. } => {
                    (Some(CLAIMS[*claim].id), Some("vacuous"), None, None)
                }
                MutantStatus::Panicked => (None, Some("panic"), None, None),
                MutantStatus::Survived | MutantStatus::Equivalent | MutantStatus::Inconclusive => {
                    (None, None, None, None)
                }
            };
            let (policy, location, fault) = (&result.policy[..], &mutant.location[..], &mutant.fault[..]);
            let status = status_name(status);
            MutantReport { policy, location, fault, status, claim, killed_by, steps, model }
        })
    });
    serde_json::to_writer_pretty(&mut *out, &Report { scope: &scope.name, mutants: mutants.collect() })?;
    writeln!(out)
}

fn progress_bar(policy: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos} of {len} mutants  {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(policy.to_owned());
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_each_mutant_once() {
        let policy = Policy::hardened();
        let name = |mutant: &Mutant| format!("{} {}", mutant.location, mutant.fault);
        let part = |index| mutants_of(Shard { index, count: 3 }, &policy).unwrap();
        let parts = [part(1), part(2), part(3)];
        let all: Vec<String> = all_mutants(&policy).iter().map(name).collect();
        for (position, expected) in all.iter().enumerate() {
            assert_eq!(name(&parts[position % 3][position / 3]), *expected);
        }
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), all.len());
    }
}
