//! `run --runs`: runs scenarios many times with successive seeds, and counts what the runs give.

mod json;
mod report;
mod summary;

pub(in crate::cli) use json::Report;

use super::Args;
use super::monitor::facts_with_claims;
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle};
use crate::cli::parallel::{fold_runs, jobs};
use crate::cli::progress::ProgressLine;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_scenario::Scenario;
use orchestrion_user_claims::UserClaim;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use summary::RunsSummary;

/// Options of runs with random choices.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct RunsArgs {
    /// Run each scenario this many times, with successive seeds, and print how often each ending, decision and label occurs. No trace is
    /// written.
    #[arg(long, value_name = "NUMBER", value_parser = positive_runs)]
    pub(super) runs: Option<NonZeroU64>,
    /// Use this seed for the random choices; with --runs, for those of the first run [default: the seed of the scenario; with --runs, 0].
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Run with this many threads [default: the number of processors]. The result does not depend on it.
    #[arg(long, value_name = "NUMBER", value_parser = crate::cli::args::positive_number)]
    jobs: Option<NonZeroUsize>,
}

/// Parses a number of runs.
pub(in crate::cli) fn positive_runs(text: &str) -> Result<NonZeroU64, String> {
    text.parse().map_err(|_| "expected a whole number of at least 1".to_owned())
}

/// The seeds of the runs.
#[derive(Clone, Copy, Debug)]
struct Seeds {
    first: u64,
    runs: u64,
}

impl Seeds {
    const fn last(self) -> u64 {
        self.first + (self.runs - 1)
    }
}

/// The runs of one scenario.
struct ScenarioRuns<'a> {
    path: &'a Path,
    scenario: Scenario,
    seeds: Seeds,
    /// The number of runs that were asked for, if the scenario has no random choice and is run once.
    equal_runs: Option<u64>,
    summary: RunsSummary,
}

impl RunsArgs {
    /// Returns an error if an option cannot be combined with these.
    pub(super) fn check(&self, args: &Args) -> Result<()> {
        let option = match (self.runs, self.seed) {
            (Some(_), _) => "--runs",
            (None, Some(_)) => "--seed",
            (None, None) => return Ok(()),
        };
        let golden = "a golden trace records the run with the seed of the scenario";
        let refused = [
            (args.check, "--check", golden, "change `seed` in the scenario, or check without the option"),
            (args.accept, "--accept", golden, "change `seed` in the scenario, and accept its trace then"),
            (
                args.stdio.is_some(),
                "--stdio",
                "the host gives the replies, so no choice is random",
                "remove one of both",
            ),
            (
                args.cross_check && self.runs.is_some(),
                "--cross-check",
                "it solves every context of a run a second time, which takes too long for many runs",
                "run one seed with it: --seed 4 --cross-check",
            ),
        ];
        match refused.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, other, reason, help)) => {
                Err(miette!(help = help, "{option} cannot be used with {other}: {reason}"))
            }
            None => Ok(()),
        }
    }

    fn seeds(&self, runs: NonZeroU64) -> Result<Seeds> {
        let seeds = Seeds { first: self.seed.unwrap_or_default(), runs: runs.get() };
        if seeds.first.checked_add(seeds.runs - 1).is_none() {
            return Err(miette!(
                help = format!("choose a smaller seed, at most {}", u64::MAX - (seeds.runs - 1)),
                "seed too large: the last of {runs} runs would have a seed of more than {}",
                u64::MAX
            ));
        }
        Ok(seeds)
    }
}

/// Runs the scenarios, and prints a summary of each.
pub(super) fn run(
    scenarios: &[PathBuf],
    runs: NonZeroU64,
    policy: &Policy,
    claims: &[UserClaim],
    args: &Args,
    global: &GlobalArgs,
) -> Result<ExitStatus> {
    let format = args.format.without_cases("--runs")?;
    let seeds = args.runs.seeds(runs)?;
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    let mut out = output::plain_stdout();
    let (mut statuses, mut all) = (Vec::new(), Vec::new());
    for path in scenarios {
        let status = match run_scenario(path, seeds, policy, claims, args, global) {
            Ok(runs) => {
                let status = runs.summary.status();
                if format == Format::Human {
                    report::write(&runs, claims, style, &mut out).into_diagnostic()?;
                }
                all.push(runs);
                status
            }
            Err(error) => {
                output::print_diagnostic(&error);
                ExitStatus::Error
            }
        };
        statuses.push(status);
        if args.fail_fast && status != ExitStatus::Success {
            break;
        }
    }
    let status = ExitStatus::combine(&statuses);
    if format == Format::Json {
        json::write(&all, claims, status, &mut output::stdout()).into_diagnostic()?;
    }
    Ok(status)
}

fn run_scenario<'a>(
    path: &'a Path,
    seeds: Seeds,
    policy: &Policy,
    claims: &[UserClaim],
    args: &Args,
    global: &GlobalArgs,
) -> Result<ScenarioRuns<'a>> {
    let scenario = Scenario::read_with_default(path, policy)?;
    let (is_random, expected_claims) = (scenario.has_random_choice(), scenario.project_claims());
    let (seeds, equal_runs) = match is_random {
        true => (seeds, None),
        false => (Seeds { runs: 1, ..seeds }, Some(seeds.runs)),
    };
    let mut line = ProgressLine::new(scenario.name.clone(), global.quiet);
    // A scenario keeps its read positions in the script, so each run takes a copy.
    let summary = fold_runs(
        seeds.runs,
        jobs(args.runs.jobs),
        &mut line,
        |summary: &mut RunsSummary, number| {
            let seed = seeds.first + number;
            let result = facts_with_claims(scenario.clone().with_seed(&seed.to_string()), claims);
            let result = result.map(|(facts, mut violated)| {
                // Over many runs, a claim that the scenario expects to fail is not judged.
                violated.retain(|claim| {
                    claims.get(*claim).is_none_or(|claim| !expected_claims.expects_failure(&claim.id))
                });
                (facts, violated)
            });
            summary.add(seed, result);
        },
        RunsSummary::merge,
    );
    line.finish();
    Ok(ScenarioRuns { path, scenario, seeds, equal_runs, summary })
}
