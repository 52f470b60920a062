//! `check`: explore every model and hold every claim against it.

mod coverage;
mod dot;
mod json;
mod machine;
mod mutants;
mod reach;
mod report;
mod save;
mod search;
mod sweep;
mod waivers;

use super::{ExitStatus, Format, GlobalArgs, files, targets};
use crate::project::Waiver;
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_kernel::Policy;
use orchestrion_model::check::{ModelRun, Verdict, explore, explore_counting, merge_verdicts};
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::{SCOPES, Scope};
use orchestrion_model::transition_counts::TransitionCounts;
use orchestrion_report::show::sanitize;
use orchestrion_scenario::policy_file;
use report::ReportStyle;
use save::{SavedEvidence, save};
use search::SearchArgs;
use std::path::{Path, PathBuf};
use waivers::{WaiverStatus, standings};

/// Explore the kernel against every adversary of the models, and hold every claim against what is reached.
/// Without --policy, under the policies of the project file, if there is one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion check                          the project's policies, or the built-in `hardened`: nothing fails
  orchestrion check --policy as-drawn        004 as drawn: the findings, each with a trace
  orchestrion check --policy mine.yaml --format json

  orchestrion check --reach T18              a shortest way to a row of the table, here a veto
  orchestrion check --reach Blocked          ... to a control state
  orchestrion check --reach 'wrong user'     ... to a refusal, or an input, such as 'user message'
  orchestrion check --reach C-26             ... to where a claim has something to say
  orchestrion check --reach 'not T19'        ... to where the guard of a row does not hold

  orchestrion check --sweep passes=1..6      one check for each number of passes, as a table
  orchestrion check --sweep max_repairs=0..2,unbounded --sweep rules.cancel=true,false
  orchestrion check --sweep proceed_from=0.5,0.6,0.7 --policy mine.yaml

  orchestrion check --mutants                are faults in the kernel noticed? Those that are not want a new claim
  orchestrion check --mutants --scope tiny   ... sooner, and of fewer states

  orchestrion check --machine drawing.md     a machine of somebody else's: a table, or a Mermaid state diagram
  orchestrion check --dot explored.dot       what was explored, drawn by control state: dot -Tsvg -O explored.dot

  orchestrion check --memory 2GiB --time 5m  what is not seen to its end is inconclusive, never held
  orchestrion check --model debate --exact   one model, by whole states instead of fingerprints
  orchestrion check --scope tiny --jobs 1    quickly, on one core

Every trace that is written is written in the Informal Trace Format too, for viewers and other checkers: beside
it, as .itf.json.

A setting is called by its path in a policy file (bounds.passes), by its last part where that says which
(passes), and a bound also with max_ before it (max_passes). Its values are a list, in which a range of
whole numbers counts with both ends; several --sweep are combined.

Exit codes: 1 a claim fails, a mutant survives, or nothing is reached; 3 nothing fails, but something is inconclusive or vacuous,
or a waiver is over; else 0; 2 if nothing could be judged. A sweep takes the worst of its rows. With --model, a claim that has
nothing to say in the chosen models is told as outside of them, and counts for nothing.")]
pub(super) struct Args {
    /// The policy: `hardened`, `as-drawn`, or a file. The project file is not read then.
    #[arg(long, value_name = "POLICY", conflicts_with = "config")]
    policy: Option<String>,
    /// How large the models grow; without it, as the project file says, or `small`.
    #[arg(long, value_name = "SCOPE", value_parser = SCOPES.map(|scope| scope.name))]
    scope: Option<String>,
    /// Look for a shortest way to this instead: a row, a control state, an input, a refusal, or a claim's premise.
    #[arg(long, value_name = "WHAT")]
    reach: Option<String>,
    /// Check the policy with each of these values instead; may be repeated. Waivers are not applied.
    #[arg(long, value_name = "SETTING=VALUES", conflicts_with = "reach")]
    sweep: Vec<String>,
    /// Put faults into the kernel instead, one at a time, and see whether the claims notice: rows, numbers, rules, events and
    /// memories. Waivers are not applied. Takes minutes.
    #[arg(long, conflicts_with_all = ["reach", "sweep", "dot", "models", "exact", "states", "memory", "time"])]
    mutants: bool,
    /// Criticise this machine instead: a YAML table, or the Mermaid state diagrams in a text.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "scope", "config", "reach", "sweep", "dot", "mutants", "Search"])]
    machine: Option<PathBuf>,
    /// Draw what was explored, in the language of Graphviz: how many states and steps, by control state; with the run that
    /// breaks the first failing claim, if one fails. Takes about twice the time.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reach", "sweep"])]
    dot: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// How the report is printed.
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
}

/// What is to be checked.
struct CheckPlan {
    policies: Vec<Policy>,
    scope: Scope,
    waivers: Vec<Waiver>,
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    if let Some(file) = &args.machine {
        return machine::run(file, args.format, global.quiet);
    }
    if global.out_dir.exists() && !global.out_dir.is_dir() {
        return Err(miette!(
            help = "name a folder with --out",
            "evidence cannot be written into {}: it is no folder",
            global.out_dir.display()
        ));
    }
    let look = ReportStyle { quiet: global.quiet, columns: files::columns() };
    if let Some(what) = &args.reach {
        let mark = reach::named(what)?;
        return reach::run(mark, &order(args, global)?, args, global, look);
    }
    if args.mutants {
        let order = order(args, global)?;
        return mutants::run(&order.policies, &order.scope, &args.search, args.format, global.quiet);
    }
    if !args.sweep.is_empty() {
        let sweeps = sweep::read(&args.sweep)?;
        return sweep::run(&sweeps, &order(args, global)?, args, global, look);
    }
    let order = order(args, global)?;
    if let Some(path) = &args.dot {
        refuse_several(&order.policies)?;
        dot::refuse_other(path)?;
    }
    let mut checked = Vec::new();
    for policy in &order.policies {
        let (one, tally) = check(policy, &order.scope, args, global)?;
        if let Some(path) = &args.dot {
            dot::draw(&one, &tally, path)?;
        }
        checked.push(one);
    }
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    print_report(checked, &order.waivers, today, args.format, look)
}

/// A drawing is of one policy.
fn refuse_several(policies: &[Policy]) -> Result<()> {
    if policies.len() > 1 {
        let names: Vec<String> = policies.iter().map(|policy| sanitize(&policy.name)).collect();
        return Err(miette!(
            help = "name one of their files with --policy",
            "--dot draws one policy, and the project has several: {}",
            names.join(", ")
        ));
    }
    Ok(())
}

fn order(args: &Args, global: &GlobalArgs) -> Result<CheckPlan> {
    let scope = |otherwise: Option<Scope>| {
        let named = args.scope.as_deref().and_then(Scope::by_name);
        named.or(otherwise).unwrap_or(SCOPES[0])
    };
    if let Some(policy) = &args.policy {
        let policy = policy_file::resolve(policy, Path::new("."))?;
        return Ok(CheckPlan { policies: vec![policy], scope: scope(None), waivers: Vec::new() });
    }
    Ok(match targets::project(global)? {
        None => CheckPlan { policies: vec![Policy::hardened()], scope: scope(None), waivers: Vec::new() },
        Some(project) => CheckPlan {
            policies: project.policies()?,
            scope: scope(project.scope()),
            waivers: project.waivers(),
        },
    })
}

/// One policy, checked.
struct PolicyResult {
    policy: Policy,
    scope: &'static str,
    runs: Vec<ModelRun>,
    found: Vec<CheckedClaim>,
}

impl PolicyResult {
    /// The models that were explored.
    fn models(&self) -> Vec<&'static str> {
        self.runs.iter().map(|run| run.model).collect()
    }

    /// Marks the vacuous claims as outside if only some of the models were explored, for others may reach what they speak of.
    fn mark_not_in_model(mut self) -> Self {
        let is_partial = coverage::only(&self.models()).is_some();
        for found in &mut self.found {
            found.outside = is_partial && found.verdict == Verdict::Vacuous;
        }
        self
    }
}

/// A claim, its verdict, and the evidence where it fails.
struct CheckedClaim {
    claim: &'static Claim,
    verdict: Verdict,
    evidence: Option<SavedEvidence>,
    /// The waiver by which it may fail, or be vacuous.
    waived: Option<Waiver>,
    /// It is vacuous, but only some of the models were to be explored: it is about others.
    outside: bool,
}

impl CheckedClaim {
    /// The verdict in one word, with the waiver seen, and whether the claim was looked at in its models at all.
    fn word(&self) -> &'static str {
        match (&self.waived, self.outside) {
            (Some(_), _) => "waived",
            (None, true) => "outside",
            (None, false) => self.verdict.as_str(),
        }
    }
}

/// Checks one policy; the tally is empty where nobody wants a drawing.
fn check(
    policy: &Policy,
    scope: &Scope,
    args: &Args,
    global: &GlobalArgs,
) -> Result<(PolicyResult, TransitionCounts)> {
    let subject = KernelUnderTest::unmodified(policy.clone());
    let explored = args.search.explore_models(&policy.name, global.quiet, |model, options, progress| {
        match args.dot {
            Some(_) => explore_counting(&subject, model, scope, options, progress),
            None => explore(&subject, model, scope, options, progress)
                .map(|run| (run, TransitionCounts::default())),
        }
    })?;
    let mut tally = TransitionCounts::default();
    explored.iter().for_each(|(_, of_model)| tally.add(of_model));
    let runs: Vec<ModelRun> = explored.into_iter().map(|(run, _)| run).collect();
    let found = CLAIMS.iter().zip(merge_verdicts(policy, &runs)).map(|(claim, verdict)| {
        let evidence = match &verdict {
            Verdict::Fails { counterexample, .. } => Some(save(claim.id, counterexample, &global.out_dir)?),
            _ => None,
        };
        Ok(CheckedClaim { claim, verdict, evidence, waived: None, outside: false })
    });
    let found = found.collect::<Result<Vec<CheckedClaim>>>()?;
    Ok((PolicyResult { policy: policy.clone(), scope: scope.name, runs, found }.mark_not_in_model(), tally))
}

/// Reports on what was checked, and says what it comes to on a day.
fn print_report(
    mut checked: Vec<PolicyResult>,
    waivers: &[Waiver],
    today: Date,
    format: Format,
    look: ReportStyle,
) -> Result<ExitStatus> {
    waivers::apply(&mut checked, waivers, today);
    let standings = standings(&checked, waivers, today);
    let outcome = outcome(&checked, &standings);
    let mut out = files::out();
    match format {
        Format::Human => report::human(&checked, &standings, look, outcome, &mut out),
        Format::Json => json::json(&checked, &standings, outcome, &mut out),
    }
    .into_diagnostic()?;
    Ok(outcome)
}

fn outcome(checked: &[PolicyResult], standings: &[(&Waiver, WaiverStatus)]) -> ExitStatus {
    let any = |words: &[&str]| {
        checked.iter().flat_map(|checked| &checked.found).any(|found| words.contains(&found.word()))
    };
    if any(&["fails"]) {
        ExitStatus::Failure
    } else if any(&["vacuous", "inconclusive"])
        || standings.iter().any(|(_, standing)| *standing == WaiverStatus::Expired)
    {
        ExitStatus::Incomplete
    } else {
        ExitStatus::Success
    }
}

#[cfg(test)]
mod tests;
