//! `check`: explore every model and hold every claim against it.

mod json;
mod machine;
mod report;
mod waivers;

use super::{Format, Global, Outcome, files, named};
use crate::evidence::{Evidence, record};
use crate::policy_file;
use crate::project::Waiver;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::{CLAIMS, Claim};
use orchestrion_model::check::{LIMIT, Run, Verdict, explore, verdicts};
use orchestrion_model::scopes::{MODELS, SCOPES, Scope};
use std::path::{Path, PathBuf};
use waivers::{Standing, standings};

/// Explore the kernel against every adversary of the models, and hold every claim against what is reached.
/// Without --policy, under the policies of the project file, if there is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion check                          the project's policies, or the built-in `hardened`: nothing fails
  orchestrion check --policy as-drawn        004 as drawn: the findings, each with a trace
  orchestrion check --policy mine.yaml --format json
  orchestrion check --machine drawing.md     a machine of somebody else's: a table, or a Mermaid state diagram")]
pub(super) struct Args {
    /// The policy: `hardened`, `as-drawn`, or a file. The project file is not read then.
    #[arg(long, value_name = "POLICY", conflicts_with = "config")]
    policy: Option<String>,
    /// How large the models grow; without it, as the project file says, or `small`.
    #[arg(long, value_name = "SCOPE", value_parser = SCOPES.map(|scope| scope.name))]
    scope: Option<String>,
    /// Inputs tried in each model before its exploration is given up as inconclusive.
    #[arg(long, value_name = "INPUTS", default_value_t = LIMIT)]
    limit: usize,
    /// Criticise this machine instead: a YAML table, or the Mermaid state diagrams in a text.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "scope", "limit", "config"])]
    machine: Option<PathBuf>,
    /// How the report is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What is to be checked.
struct Subject {
    policies: Vec<Policy>,
    scope: Scope,
    waivers: Vec<Waiver>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<Outcome> {
    if let Some(file) = &args.machine {
        return machine::run(file, args.format, global.quiet);
    }
    let subject = subject(args, global)?;
    let checked = subject
        .policies
        .iter()
        .map(|policy| check(policy, &subject.scope, args.limit, &global.out))
        .collect::<Result<Vec<Checked>>>()?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    tell(checked, &subject.waivers, today, args.format, global.quiet)
}

fn subject(args: &Args, global: &Global) -> Result<Subject> {
    let scope = |otherwise: Option<Scope>| {
        let named = args.scope.as_deref().and_then(Scope::by_name);
        named.or(otherwise).unwrap_or(SCOPES[0])
    };
    if let Some(policy) = &args.policy {
        let policy = policy_file::resolve(policy, Path::new("."))?;
        return Ok(Subject { policies: vec![policy], scope: scope(None), waivers: Vec::new() });
    }
    Ok(match named::project(global)? {
        None => Subject { policies: vec![Policy::hardened()], scope: scope(None), waivers: Vec::new() },
        Some(project) => Subject {
            policies: project.policies()?,
            scope: scope(project.scope()),
            waivers: project.waivers(),
        },
    })
}

/// One policy, checked.
struct Checked {
    policy: Policy,
    runs: Vec<Run>,
    found: Vec<Found>,
}

/// A claim, its verdict, and the evidence where it fails.
struct Found {
    claim: &'static Claim,
    verdict: Verdict,
    evidence: Option<(PathBuf, Evidence)>,
    /// The waiver by which it may fail.
    waived: Option<Waiver>,
}

impl Found {
    fn fails(&self) -> bool {
        matches!(self.verdict, Verdict::Fails { .. }) && self.waived.is_none()
    }

    /// The verdict in one word, with the waiver seen.
    fn word(&self) -> &'static str {
        if self.waived.is_some() { "waived" } else { self.verdict.word() }
    }
}

fn check(policy: &Policy, scope: &Scope, limit: usize, out: &Path) -> Result<Checked> {
    let runs = explore_all(policy, scope, limit);
    let found = CLAIMS.iter().zip(verdicts(policy, &runs)).map(|(claim, verdict)| {
        let evidence = match &verdict {
            Verdict::Fails { inputs, .. } => {
                let evidence = record(claim.id, policy, inputs).into_diagnostic()?;
                let file = out.join(&evidence.file);
                files::replace_trace(&file, &evidence.trace)?;
                Some((file, evidence))
            }
            _ => None,
        };
        Ok(Found { claim, verdict, evidence, waived: None })
    });
    let found = found.collect::<Result<Vec<Found>>>()?;
    Ok(Checked { policy: policy.clone(), runs, found })
}

/// Reports on what was checked, and says what it comes to on a day.
fn tell(
    mut checked: Vec<Checked>,
    waivers: &[Waiver],
    today: Date,
    format: Format,
    quiet: bool,
) -> Result<Outcome> {
    waivers::apply(&mut checked, waivers, today);
    let standings = standings(&checked, waivers, today);
    let outcome = outcome(&checked, &standings);
    let mut out = files::out();
    match format {
        Format::Human => report::human(&checked, &standings, quiet, outcome, &mut out),
        Format::Json => json::json(&checked, &standings, outcome, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

fn outcome(checked: &[Checked], standings: &[(&Waiver, Standing)]) -> Outcome {
    let found = || checked.iter().flat_map(|checked| &checked.found);
    let unread = |found: &Found| matches!(found.verdict, Verdict::Vacuous | Verdict::Inconclusive);
    if found().any(Found::fails) {
        Outcome::Failure
    } else if found().any(unread) || standings.iter().any(|(_, standing)| *standing == Standing::Expired) {
        Outcome::Unread
    } else {
        Outcome::Fine
    }
}

/// Explores the models side by side, telling how far each is while somebody watches.
fn explore_all(policy: &Policy, scope: &Scope, limit: usize) -> Vec<Run> {
    let bars = MultiProgress::new();
    std::thread::scope(|threads| {
        let explorers: Vec<_> = MODELS
            .into_iter()
            .map(|model| {
                let bar = bars.add(ProgressBar::new_spinner());
                if let Ok(style) =
                    ProgressStyle::with_template("{spinner} {prefix:<10} {human_pos:>9} products  {elapsed}")
                {
                    bar.set_style(style);
                }
                bar.set_prefix(model.name);
                threads.spawn(move || {
                    let run =
                        explore(policy, model, scope, limit, &|products| bar.set_position(products as u64));
                    bar.finish_and_clear();
                    run
                })
            })
            .collect();
        explorers
            .into_iter()
            .map(|explorer| match explorer.join() {
                Ok(run) => run,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

#[cfg(test)]
mod tests;
