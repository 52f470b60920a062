//! `check --mutants`: faults put into the kernel, to see whether the claims notice.

use super::search::{ProgressTimer, SearchArgs};
use crate::cli::{ExitStatus, Format, files};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::Policy;
use orchestrion_model::mutants::{KillReason, MutantStatus, MutationReport, run_mutants};
use orchestrion_model::scopes::Scope;
use orchestrion_report::show::sanitize;
use serde::Serialize;
use std::io::{self, Write};
use std::time::Instant;

/// The mutants of one policy, and what became of them.
struct PolicyMutants {
    policy: String,
    study: MutationReport,
}

/// Tries the mutants of every policy.
pub(super) fn run(
    policies: &[Policy],
    scope: &Scope,
    search: &SearchArgs,
    format: Format,
    quiet: bool,
) -> Result<ExitStatus> {
    let mut studies = Vec::new();
    for policy in policies {
        let (name, begun) = (sanitize(&policy.name), Instant::now());
        let (bar, mut pulse) = (bar(&name), ProgressTimer::default());
        let study = run_mutants(policy, scope, search.jobs(), |tried, of| {
            bar.set_length(of as u64);
            bar.set_position(tried as u64);
            if bar.is_hidden() && !quiet && (tried == 0 || pulse.is_due(begun.elapsed())) {
                let far = match tried {
                    0 => format!("{of} mutants; before them, the kernel itself is explored"),
                    _ => format!("{tried} of {of} mutants, {} s", begun.elapsed().as_secs()),
                };
                files::print_error(&format!("{name}: {far}"));
            }
        });
        bar.finish_and_clear();
        let study = study.map_err(|error| {
            miette!(
                help = "this is a fault of the kernel or its model, not of your policy: please report it",
                "the kernel itself cannot be judged under the policy {}: {error}",
                sanitize(&policy.name)
            )
        })?;
        studies.push(PolicyMutants { policy: sanitize(&policy.name), study });
    }
    let outcome = outcome(&studies);
    let mut out = files::out();
    match format {
        Format::Human => studies.iter().try_for_each(|study| human(study, scope, quiet, &mut out)),
        Format::Json => json(&studies, scope, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

fn outcome(studies: &[PolicyMutants]) -> ExitStatus {
    let any = |is: fn(&MutantStatus) -> bool| studies.iter().any(|study| study.count(is) > 0);
    if any(|fate| *fate == MutantStatus::Survived) {
        ExitStatus::Failure
    } else if any(|fate| *fate == MutantStatus::Inconclusive) {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}

impl PolicyMutants {
    fn count(&self, is: impl Fn(&MutantStatus) -> bool) -> usize {
        self.study.mutants.iter().filter(|(_, fate)| is(fate)).count()
    }
}

/// What became of a mutant, in a word.
const fn word(fate: &MutantStatus) -> &'static str {
    match fate {
        MutantStatus::Killed { .. } | MutantStatus::Panicked => "killed",
        MutantStatus::Survived => "survived",
        MutantStatus::Equivalent => "scope-equivalent",
        MutantStatus::Inconclusive => "inconclusive",
    }
}

fn human(study: &PolicyMutants, scope: &Scope, quiet: bool, out: &mut impl Write) -> io::Result<()> {
    let killed = study.count(|fate| word(fate) == "killed");
    if !quiet {
        writeln!(out, "mutants of the policy {}, scope {}", study.policy, scope.name)?;
        writeln!(out, "\n  claim   kills  at once  by a run  what it says")?;
        for (place, claim) in CLAIMS.iter().enumerate() {
            let by = |wanted: fn(&KillReason) -> bool| {
                study.count(
                    |fate| matches!(fate, MutantStatus::Killed { claim, by, .. } if *claim == place && wanted(by)),
                )
            };
            let (all, broken, runs) = (
                by(|_| true),
                by(|by| matches!(by, KillReason::Broken(_))),
                by(|by| *by == KillReason::Liveness),
            );
            if all > 0 {
                writeln!(out, "  {:<6} {all:>6} {broken:>8} {runs:>9}  {}", claim.id, claim.statement)?;
            }
        }
        let idle: Vec<&str> = (0..CLAIMS.len())
            .filter(|place| {
                study.count(|fate| matches!(fate, MutantStatus::Killed { claim, .. } if claim == place)) == 0
            })
            .map(|place| CLAIMS[place].id)
            .collect();
        writeln!(out, "  never the first to notice: {}", idle.join(" "))?;
        let left_out: Vec<&str> = study.study.left_out.iter().map(|place| CLAIMS[*place].id).collect();
        if !left_out.is_empty() {
            writeln!(out, "  left out, for they fail without a fault: {}", left_out.join(" "))?;
        }
        writeln!(out)?;
    }
    for (mutant, fate) in &study.study.mutants {
        let (colour, what) = match fate {
            MutantStatus::Survived => (AnsiColor::Red, "no claim notices; state one that does"),
            MutantStatus::Inconclusive => {
                (AnsiColor::Yellow, "it grows without end, and no claim noticed so far")
            }
            MutantStatus::Equivalent if !quiet => {
                (AnsiColor::BrightBlack, "does at this scope what the kernel does")
            }
            _ => continue,
        };
        let style = Style::new().fg_color(Some(colour.into()));
        let word = word(fate).to_uppercase();
        writeln!(out, "  {style}{word:<16}{style:#}  {} {}\n{:20}{what}", mutant.location, mutant.fault, "")?;
    }
    let all = study.study.mutants.len();
    let [survived, equivalent, inconclusive] =
        ["survived", "scope-equivalent", "inconclusive"].map(|is| study.count(|fate| word(fate) == is));
    let (title, colour) = match (survived, inconclusive) {
        (0, 0) => ("NOTICED", AnsiColor::Green),
        (0, _) => ("NOT SHOWN", AnsiColor::Yellow),
        _ => ("MISSED", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let told = all - equivalent;
    write!(out, "{style}{title}{style:#}: {killed} of {told} mutants killed")?;
    for (count, what) in [(survived, "survived"), (inconclusive, "inconclusive")] {
        if count > 0 {
            write!(out, "; {count} {what}")?;
        }
    }
    writeln!(out, "; {equivalent} more change nothing at this scope")
}

#[derive(Serialize)]
struct Report<'a> {
    scope: &'a str,
    mutants: Vec<MutantReport<'a>>,
}

#[derive(Serialize)]
struct MutantReport<'a> {
    policy: &'a str,
    place: &'a str,
    fault: &'a str,
    fate: &'a str,
    /// The claim that noticed first.
    claim: Option<&'a str>,
    /// How it noticed.
    by: Option<&'a str>,
    /// In how many steps, where it is broken by a step.
    steps: Option<usize>,
    model: Option<&'a str>,
}

fn json(studies: &[PolicyMutants], scope: &Scope, out: &mut impl Write) -> io::Result<()> {
    let mutants = studies.iter().flat_map(|study| {
        study.study.mutants.iter().map(|(mutant, fate)| {
            let (claim, by, steps, model) = match fate {
                MutantStatus::Killed { claim, by: KillReason::Broken(steps), model } => {
                    (Some(CLAIMS[*claim].id), Some("broken"), Some(*steps), Some(*model))
                }
                MutantStatus::Killed { claim, by: KillReason::Liveness, model } => {
                    (Some(CLAIMS[*claim].id), Some("broken by a run"), None, Some(*model))
                }
                MutantStatus::Killed { claim, by: KillReason::Vacuous, .. } => {
                    (Some(CLAIMS[*claim].id), Some("vacuous"), None, None)
                }
                MutantStatus::Panicked => (None, Some("panicked"), None, None),
                _ => (None, None, None, None),
            };
            let (policy, place, fault) =
                (study.policy.as_str(), mutant.location.as_str(), mutant.fault.as_str());
            MutantReport { policy, place, fault, fate: word(fate), claim, by, steps, model }
        })
    });
    serde_json::to_writer_pretty(&mut *out, &Report { scope: scope.name, mutants: mutants.collect() })?;
    writeln!(out)
}

fn bar(policy: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:30} {pos} of {len} mutants  {elapsed}") {
        bar.set_style(style);
    }
    bar.set_prefix(policy.to_owned());
    bar
}
