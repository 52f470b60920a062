//! `check`: explore every model and hold every claim against it.

mod json;
mod report;
mod search;
mod waivers;

use super::{Format, Global, Outcome, files, named};
use crate::evidence::{Evidence, record};
use crate::policy_file;
use crate::project::Waiver;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_kernel::claims::{CLAIMS, Claim};
use orchestrion_model::check::{Run, Verdict, verdicts};
use orchestrion_model::scopes::{SCOPES, Scope};
use orchestrion_model::subject::Subject;
use search::Search;
use std::path::{Path, PathBuf};
use waivers::{Standing, standings};

/// Explore the kernel against every adversary of the models, and hold every claim against what is reached.
/// Without --policy, under the policies of the project file, if there is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion check                          the project's policies, or the built-in `hardened`: nothing fails
  orchestrion check --policy as-drawn        004 as drawn: the findings, each with a trace
  orchestrion check --policy mine.yaml --format json")]
pub(super) struct Args {
    /// The policy: `hardened`, `as-drawn`, or a file. The project file is not read then.
    #[arg(long, value_name = "POLICY", conflicts_with = "config")]
    policy: Option<String>,
    /// How large the models grow; without it, as the project file says, or `small`.
    #[arg(long, value_name = "SCOPE", value_parser = SCOPES.map(|scope| scope.name))]
    scope: Option<String>,
    #[command(flatten)]
    search: Search,
    /// How the report is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What is to be checked.
struct Order {
    policies: Vec<Policy>,
    scope: Scope,
    waivers: Vec<Waiver>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<Outcome> {
    let order = order(args, global)?;
    let checked = order
        .policies
        .iter()
        .map(|policy| check(policy, &order.scope, &args.search, &global.out))
        .collect::<Result<Vec<Checked>>>()?;
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    tell(checked, &order.waivers, today, args.format, global.quiet)
}

fn order(args: &Args, global: &Global) -> Result<Order> {
    let scope = |otherwise: Option<Scope>| {
        let named = args.scope.as_deref().and_then(Scope::by_name);
        named.or(otherwise).unwrap_or(SCOPES[0])
    };
    if let Some(policy) = &args.policy {
        let policy = policy_file::resolve(policy, Path::new("."))?;
        return Ok(Order { policies: vec![policy], scope: scope(None), waivers: Vec::new() });
    }
    Ok(match named::project(global)? {
        None => Order { policies: vec![Policy::hardened()], scope: scope(None), waivers: Vec::new() },
        Some(project) => {
            Order { policies: project.policies()?, scope: scope(project.scope()), waivers: project.waivers() }
        }
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

fn check(policy: &Policy, scope: &Scope, search: &Search, out: &Path) -> Result<Checked> {
    let runs = search.every_model(&Subject::real(policy.clone()), scope)?;
    let found = CLAIMS.iter().zip(verdicts(policy, &runs)).map(|(claim, verdict)| {
        let evidence = match &verdict {
            Verdict::Fails { counterexample, .. } => {
                let evidence = record(claim.id, policy, &counterexample.inputs).into_diagnostic()?;
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

#[cfg(test)]
mod tests;
