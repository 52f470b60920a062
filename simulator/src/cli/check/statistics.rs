//! `check --statistics`: where the premise of each claim holds, and where its check could fail.

use super::options::Args;
use super::plan::CheckPlan;
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle, write_hanging, write_summary};
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_claims::{CLAIMS, Claim};
use orchestrion_kernel::Policy;
use orchestrion_model::check::ModelRun;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::statistics::{ClaimStatistics, ModelStatistics, claim_statistics};
use orchestrion_report::text::{grouped, sanitize};
use serde::Serialize;
use std::io::{self, Write};

/// Column of the models of a claim.
const MODEL_COLUMN: usize = 45;

#[derive(Serialize)]
struct Report<'a> {
    scope: &'a str,
    policies: Vec<PolicyReport<'a>>,
}

#[derive(Serialize)]
struct PolicyReport<'a> {
    policy: &'a str,
    models: Vec<ModelReport>,
    claims: Vec<ClaimReport>,
}

#[derive(Serialize)]
struct ModelReport {
    model: &'static str,
    product_states: usize,
    exhaustive: bool,
}

#[derive(Serialize)]
struct ClaimReport {
    id: &'static str,
    /// decisive, hollow or vacuous.
    status: &'static str,
    /// Product states in which the premise holds.
    premise_states: u64,
    /// States from which the mutants took steps: the premise holds in them or after a step.
    sampled: u64,
    /// Of these, those in which a mutant violates the claim.
    decisive: u64,
    /// The models that reach the premise.
    models: Vec<&'static str>,
    /// The enumerations of states in which the premise holds and from which no step violates the claim.
    inductive_on: Vec<&'static str>,
}

impl ClaimReport {
    fn new(claim: &Claim, position: usize, models: &[ModelStatistics], enumerations: &[ModelRun]) -> Self {
        let of_models =
            || models.iter().filter_map(|of_model| Some((of_model.model, of_model.claims.get(position)?)));
        let sum = |number: fn(&ClaimStatistics) -> u64| of_models().map(|(_, claim)| number(claim)).sum();
        let premise_states = sum(|claim| claim.premise_states);
        let decisive = sum(|claim| claim.decisive);
        Self {
            id: claim.id,
            status: match (premise_states, decisive) {
                (0, _) => "vacuous",
                (_, 0) => "hollow",
                _ => "decisive",
            },
            premise_states,
            sampled: sum(|claim| claim.sampled),
            decisive,
            models: of_models()
                .filter(|(_, claim)| claim.premise_states > 0)
                .map(|(model, _)| model)
                .collect(),
            inductive_on: enumerations
                .iter()
                .filter(|run| {
                    run.found
                        .get(position)
                        .is_some_and(|found| found.premise_reached && found.induction.is_none())
                })
                .map(|run| run.model)
                .collect(),
        }
    }
}

pub(super) fn run(
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    format: Format,
    style: ReportStyle,
) -> Result<ExitStatus> {
    let policies = plan.policies.iter().map(|policy| policy_report(policy, plan, args, global));
    let report =
        Report { scope: &plan.scope.name, policies: policies.collect::<Result<Vec<PolicyReport<'_>>>>()? };
    let is_decisive = |claim: &ClaimReport| claim.status == "decisive";
    let is_complete = report.policies.iter().flat_map(|policy| &policy.claims).all(is_decisive);
    let status = if is_complete { ExitStatus::Success } else { ExitStatus::Incomplete };
    let mut out = output::stdout();
    match format {
        Format::Human => human(&report, style, status, &mut out),
        Format::Json => serde_json::to_writer_pretty(&mut out, &report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
    }
    .into_diagnostic()?;
    Ok(status)
}

fn policy_report<'a>(
    policy: &'a Policy,
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
) -> Result<PolicyReport<'a>> {
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let models = args.search.explore_models(
        &plan.models,
        &policy.name,
        global.quiet,
        |model, options, progress| claim_statistics(&kernel, model, &plan.scope, options, progress),
    )?;
    let enumerations = args.search.check_enumerations(&plan.enumerations, &kernel, &plan.scope);
    let claims = CLAIMS.iter().enumerate().filter(|(_, claim)| (claim.not_applicable)(policy).is_none());
    Ok(PolicyReport {
        policy: &policy.name,
        claims: claims
            .map(|(position, claim)| ClaimReport::new(claim, position, &models, &enumerations))
            .collect(),
        models: models
            .iter()
            .map(|of_model| ModelReport {
                model: of_model.model,
                product_states: of_model.products,
                exhaustive: of_model.is_exhaustive,
            })
            .collect(),
    })
}

fn human(
    report: &Report<'_>,
    style: ReportStyle,
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = style.width;
    for PolicyReport { policy, claims, models } in &report.policies {
        if !style.quiet {
            let text = format!("policy {}, scope {}", sanitize(policy), report.scope);
            write_hanging(0, "", &text, width, out)?;
            writeln!(
                out,
                "  {:<6} {:>14} {:>9} {:>9}  models",
                "claim", "premise states", "sampled", "decisive"
            )?;
            for claim in claims {
                write_claim(claim, models.len(), width, out)?;
            }
            writeln!(out)?;
        }
        for claim in claims.iter().filter(|claim| claim.status == "hollow") {
            let states = grouped(claim.premise_states);
            let text = format!(
                "its premise holds in {states} states, and no mutant violates it from the {} sampled",
                claim.sampled
            );
            write_hanging(14, &format!("{:<6} HOLLOW", claim.id), &text, width, out)?;
        }
    }
    let claims = || report.policies.iter().flat_map(|policy| &policy.claims);
    let with = |status: &str| claims().filter(|claim| claim.status == status).count();
    let (word, color) = match status {
        ExitStatus::Success => ("DECISIVE", AnsiColor::Green),
        ExitStatus::Incomplete | ExitStatus::Failure | ExitStatus::Error => ("INCOMPLETE", AnsiColor::Yellow),
    };
    let text = format!(
        ": {} of {} claims are decisive; {} hollow, {} vacuous. exit {}",
        with("decisive"),
        claims().count(),
        with("hollow"),
        with("vacuous"),
        status.code()
    );
    write_summary(Style::new().fg_color(Some(color.into())).bold(), word, &text, width, out)
}

fn write_claim(claim: &ClaimReport, models: usize, width: usize, out: &mut impl Write) -> io::Result<()> {
    let head = format!(
        "  {:<6} {:>14} {:>9} {:>9}",
        claim.id,
        grouped(claim.premise_states),
        claim.sampled,
        claim.decisive
    );
    let names = match claim.models.len() {
        0 => "none".to_owned(),
        all if all == models => "all".to_owned(),
        _ => claim.models.join(", "),
    };
    write_hanging(MODEL_COLUMN, &head, &names, width, out)
}
