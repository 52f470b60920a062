//! `check --simulate`: random runs, with every claim about states and steps checked in each step.

use super::coverage::Coverage;
use super::json::CoverageReport;
use super::options::Args;
use super::plan::CheckPlan;
use super::report::{steps_text, write_coverage, write_evidence, write_statement};
use super::save::{SavedEvidence, save};
use crate::cli::args::{Format, GlobalArgs, positive_number};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle, write_hanging, write_summary};
use crate::cli::progress::ProgressLine;
use anstyle::{AnsiColor, Style};
use miette::{IntoDiagnostic, Result};
use orchestrion_claims::{CLAIMS, Claim, ClaimCheck};
use orchestrion_kernel::Policy;
use orchestrion_model::coverage::Observation;
use orchestrion_model::kernel_under_test::KernelUnderTest;
use orchestrion_model::scopes::Model;
use orchestrion_model::simulate::{SimulatedViolation, SimulationOptions, SimulationResult, simulate};
use orchestrion_report::text::{count, grouped, sanitize};
use orchestrion_user_claims::UserClaim;
use serde::Serialize;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

/// Options of `check --simulate`.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SimulationArgs {
    /// Take random runs of a model instead of exploring it, and check every built-in claim about states and steps in each step. The
    /// model is composed unless --model is given; --timeout ends the simulation early. Waivers are not applied.
    #[arg(long, conflicts_with_all = ["reach", "sweep", "mutants", "dot", "checkpoint", "exact", "max_states", "max_memory", "files"])]
    pub(super) simulate: bool,
    /// Take this many runs.
    #[arg(long, value_name = "NUMBER", default_value = "500", value_parser = positive_number)]
    runs: NonZeroUsize,
    /// End each run after this many steps.
    #[arg(long, value_name = "NUMBER", default_value = "500", value_parser = positive_number)]
    depth: NonZeroUsize,
    /// Seed of the random choices. The same seed takes the same runs.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

/// The simulated models under one policy.
struct PolicySimulation<'a> {
    policy: &'a Policy,
    results: Vec<SimulationResult>,
    /// The violations by claim, those with the shortest counterexamples first.
    violations: Vec<Violation>,
    /// The claims of the project, which random runs do not check.
    own_claims: &'a [UserClaim],
}

struct Violation {
    model: &'static str,
    found: SimulatedViolation,
    evidence: SavedEvidence,
}

impl PolicySimulation<'_> {
    /// Returns the number of violated claims.
    fn violated_count(&self) -> usize {
        self.violations.chunk_by(|a, b| a.found.claim == b.found.claim).count()
    }

    /// Returns the applicable claims that no run violates.
    fn claims_not_violated(&self) -> impl Iterator<Item = (usize, &'static Claim)> {
        let is_violated = |claim| self.violations.iter().any(|violation| violation.found.claim == claim);
        CLAIMS
            .iter()
            .enumerate()
            .filter(move |(at, claim)| (claim.not_applicable)(self.policy).is_none() && !is_violated(*at))
    }

    /// Returns the claims that random runs cannot violate.
    fn liveness_claims(&self) -> Vec<&'static str> {
        let claims = self.claims_not_violated().filter(|(_, claim)| is_liveness(claim));
        claims.map(|(_, claim)| claim.id).collect()
    }

    /// Returns the claims that need an exploration: those that random runs cannot violate, and those of the project.
    fn not_checked(&self) -> Vec<&str> {
        let own = self.own_claims.iter().map(|claim| claim.id.as_str());
        self.liveness_claims().into_iter().chain(own).collect()
    }

    /// Returns the claims whose premise no run reached.
    fn vacuous_claims(&self) -> Vec<&'static str> {
        let is_reached =
            |claim| self.results.iter().any(|result| result.is_reached(Observation::Premise(claim)));
        let claims = self.claims_not_violated().filter(|(at, claim)| !is_liveness(claim) && !is_reached(*at));
        claims.map(|(_, claim)| claim.id).collect()
    }

    /// Returns the number of claims that were checked and not violated.
    fn checked_count(&self) -> usize {
        self.claims_not_violated().count() - self.liveness_claims().len() - self.vacuous_claims().len()
    }
}

const fn is_liveness(claim: &Claim) -> bool {
    matches!(claim.check, ClaimCheck::LeadsTo { .. })
}

pub(super) fn run(
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    format: Format,
    style: ReportStyle,
) -> Result<ExitStatus> {
    let models = plan.simulated_models(args)?;
    let mut simulations = Vec::new();
    for policy in &plan.policies {
        simulations.push(simulate_policy(policy, &models, plan, args, global)?);
    }
    let is_violated = simulations.iter().any(|simulation| !simulation.violations.is_empty());
    let status = if is_violated { ExitStatus::Failure } else { ExitStatus::Success };
    let (seed, scope, mut out) = (args.simulation.seed, &*plan.scope.name, output::stdout());
    match format {
        Format::Human => human(&simulations, (scope, seed), style, status, &mut out),
        Format::Json => json(&simulations, (scope, seed), &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
}

fn simulate_policy<'a>(
    policy: &'a Policy,
    models: &[Model],
    plan: &'a CheckPlan,
    args: &Args,
    global: &GlobalArgs,
) -> Result<PolicySimulation<'a>> {
    let kernel = KernelUnderTest::unmodified(policy.clone());
    let SimulationArgs { runs, depth, seed, .. } = args.simulation;
    let options = SimulationOptions {
        seed,
        runs: runs.get() as u64,
        steps: depth.get(),
        counterexamples: args.counterexamples,
        threads: args.search.jobs(),
        time: args.search.timeout(),
    };
    let simulated = models.iter().map(|model| {
        let mut line = ProgressLine::new(model.name, global.quiet);
        let result = simulate(&kernel, *model, &plan.scope, &options, &mut |progress| {
            let (runs, all) = (grouped(progress.runs), grouped(options.runs));
            let seconds = progress.time.as_secs();
            let text = format!("{seconds} s, {runs} of {all} runs, {} steps", grouped(progress.steps));
            line.show(progress.time, text);
        });
        line.finish();
        result
    });
    let results: Vec<SimulationResult> = simulated.collect();
    let all = results.iter().flat_map(|result| result.violations.iter().map(|found| (result.model, found)));
    let mut all: Vec<(&'static str, &SimulatedViolation)> = all.collect();
    all.sort_by_key(|(_, found)| (found.claim, found.counterexample.inputs.len()));
    let of_claim = all.chunk_by(|(_, a), (_, b)| a.claim == b.claim);
    let shortest = of_claim.flat_map(|all| all.iter().take(options.counterexamples.get()));
    let violations = shortest.map(|(model, found)| {
        let evidence = save(CLAIMS[found.claim].id, &found.counterexample, &global.out_dir)?;
        Ok(Violation { model, found: (*found).clone(), evidence })
    });
    let violations = violations.collect::<Result<_>>()?;
    Ok(PolicySimulation { policy, results, violations, own_claims: &plan.claims })
}

fn human(
    simulations: &[PolicySimulation<'_>],
    (scope, seed): (&str, u64),
    style: ReportStyle,
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let width = style.width;
    for simulation in simulations {
        if !style.quiet {
            let policy = sanitize(&simulation.policy.name);
            write_hanging(0, "", &format!("policy {policy}, scope {scope}, seed {seed}"), width, out)?;
            write_models(&simulation.results, width, out)?;
            write_coverage(&Coverage::of_simulation(simulation.policy, &simulation.results), width, out)?;
            writeln!(out)?;
        }
        let mut last = None;
        for Violation { model, found, evidence } in &simulation.violations {
            let claim = &CLAIMS[found.claim];
            if last.replace(claim.id) != Some(claim.id) {
                write_statement(claim, "FAILS", AnsiColor::Red, width, out)?;
            }
            let SimulatedViolation { run, steps, counterexample, .. } = found;
            let len = counterexample.inputs.len();
            let text = format!(
                "counterexample of {}, shrunk from the {} of run {run} of {model}",
                steps_text(len),
                grouped(*steps as u64)
            );
            write_evidence(evidence, &text, (len as u64, None), Some(claim.id), width, out)?;
        }
        if !style.quiet {
            write_claim_list("premise not reached", &simulation.vacuous_claims(), width, out)?;
            write_claim_list("need an exploration", &simulation.not_checked(), width, out)?;
            writeln!(out)?;
        }
    }
    write_last_line(simulations, status, width, out)
}

fn write_models(results: &[SimulationResult], width: usize, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "  {:<10}  {:>11} {:>11} {:>11} {:>11}",
        "model", "runs", "steps", "longest run", "states"
    )?;
    for result in results {
        let SimulationResult { model, runs, steps, states, longest, .. } = result;
        writeln!(
            out,
            "  {model:<10}  {:>11} {:>11} {:>11} {:>11}",
            grouped(*runs),
            grouped(*steps),
            grouped(*longest as u64),
            grouped(*states as u64)
        )?;
        let about = Model::from_name(model).map_or("", |model| model.about);
        write_hanging(14, "", about, width, out)?;
        if result.unproven_contexts > 0 {
            let states = grouped(result.unproven_contexts as u64);
            let text = format!("NOT PROVEN: the context of the call in {states} of these states");
            write_hanging(14, "", &text, width, out)?;
        }
    }
    Ok(())
}

fn write_claim_list(head: &str, claims: &[&str], width: usize, out: &mut impl Write) -> io::Result<()> {
    if claims.is_empty() {
        return Ok(());
    }
    write_hanging(2, "", &format!("{head}: {}", claims.join(", ")), width, out)
}

fn write_last_line(
    simulations: &[PolicySimulation<'_>],
    status: ExitStatus,
    width: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    let violated: usize = simulations.iter().map(PolicySimulation::violated_count).sum();
    let checked: usize = simulations.iter().map(PolicySimulation::checked_count).sum();
    let results = || simulations.iter().flat_map(|simulation| &simulation.results);
    let runs: u64 = results().map(|result| result.runs).sum();
    let steps: u64 = results().map(|result| result.steps).sum();
    let (word, color, text) = if violated > 0 {
        ("FAILS", AnsiColor::Red, format!(": {}", count(violated, "claim")))
    } else {
        ("NO VIOLATION", AnsiColor::Green, format!(" of {}", count(checked, "claim")))
    };
    let text = format!(
        "{text} in {} steps of {} random runs. exit {}",
        grouped(steps),
        grouped(runs),
        status.code()
    );
    write_summary(Style::new().fg_color(Some(color.into())).bold(), word, &text, width, out)
}

#[derive(Serialize)]
struct Report<'a> {
    /// `fails` or `no_violation`.
    verdict: &'static str,
    scope: &'a str,
    seed: u64,
    policies: Vec<PolicyReport<'a>>,
}

#[derive(Serialize)]
struct PolicyReport<'a> {
    policy: &'a str,
    runs: Vec<RunReport>,
    coverage: CoverageReport<'a>,
    violations: Vec<ViolationReport<'a>>,
    /// The claims whose premise no run reached.
    vacuous: Vec<&'static str>,
    /// The claims that need an exploration: those about infinite runs, and those of the project.
    not_checked: Vec<&'a str>,
}

#[derive(Serialize)]
struct RunReport {
    model: &'static str,
    runs: u64,
    steps: u64,
    longest_run: usize,
    states: usize,
    /// Distinct states in which the context of the pending call is not proven optimal.
    unproven_contexts: usize,
}

#[derive(Serialize)]
struct ViolationReport<'a> {
    id: &'static str,
    statement: &'static str,
    clause: &'static str,
    model: &'static str,
    /// The run, from 0, and the number of its steps up to the violation.
    run: u64,
    steps_of_run: usize,
    /// The steps after shrinking.
    steps: usize,
    trace: &'a Path,
    /// The same steps in the Informal Trace Format.
    itf: &'a Path,
}

fn json(
    simulations: &[PolicySimulation<'_>],
    (scope, seed): (&str, u64),
    out: &mut impl Write,
) -> io::Result<()> {
    let is_violated = simulations.iter().any(|simulation| !simulation.violations.is_empty());
    let verdict = if is_violated { "fails" } else { "no_violation" };
    let report = Report { verdict, scope, seed, policies: simulations.iter().map(policy_report).collect() };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn policy_report<'a>(simulation: &'a PolicySimulation<'_>) -> PolicyReport<'a> {
    let coverage = Coverage::of_simulation(simulation.policy, &simulation.results);
    PolicyReport {
        policy: &simulation.policy.name,
        runs: simulation.results.iter().map(run_report).collect(),
        coverage: CoverageReport::new(&simulation.policy.name, coverage),
        violations: simulation.violations.iter().map(violation_report).collect(),
        vacuous: simulation.vacuous_claims(),
        not_checked: simulation.not_checked(),
    }
}

const fn run_report(result: &SimulationResult) -> RunReport {
    let SimulationResult { model, runs, steps, longest, states, unproven_contexts, .. } = *result;
    RunReport { model, runs, steps, longest_run: longest, states, unproven_contexts }
}

fn violation_report(violation: &Violation) -> ViolationReport<'_> {
    let Violation { model, found, evidence } = violation;
    let claim = &CLAIMS[found.claim];
    ViolationReport {
        id: claim.id,
        statement: claim.statement,
        clause: claim.clause,
        model,
        run: found.run,
        steps_of_run: found.steps,
        steps: found.counterexample.inputs.len(),
        trace: &evidence.trace,
        itf: &evidence.itf,
    }
}
