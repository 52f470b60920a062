//! `explore`: experiments over policies.

mod exact;
mod files;
mod merge;
mod parquet;
mod report;
mod rows;
mod run;
mod text;

pub(in crate::cli) use exact::JsonReport as ExactReport;
pub(in crate::cli) use text::JsonReport;

use super::args::GlobalArgs;
use super::exit_status::ExitStatus;
use miette::Result;

/// Measure what policies do: random runs of experiment files, statistics, and exact values.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion explore run specs/experiments/redebate.yaml
  orchestrion explore run redebate.yaml --shard 2/3    the second of three parts
  orchestrion explore merge .orchestrion/redebate.*-of-3.json
                                                       the result of all parts
  orchestrion explore exact specs/experiments/one-veto.yaml    exact values
  orchestrion explore report .orchestrion/redebate.json    a page with figures

An experiment is YAML; only description and runs are required:
  description: Does another pass below 0.8 pay?
  runs: 10000
  grid:
    - {setting: bounds.passes, values: 1..3}
    - {setting: thresholds.redebate_below, values: 0.6..0.9:0.1}
  plans: {acceptable: 0.7, revision_acceptable: 0.8}
  debaters:
    all: {false_alarm: 0.1, miss: 0.3, confidence: {beta: {alpha: 8, beta: 2}}}
    solution: {revises: 0.5}
  executor: {success: 0.95}
  calls: {default: {timeout: 0.01, duration: {exponential: 2s}}}

A plan is acceptable or harmful. A debater argues against an acceptable plan with
the probability `false_alarm`, and for a harmful one with the probability `miss`.
Run n draws the same random numbers under every policy, so differences between
policies are differences of the policies. The schema:
`orchestrion export schema --schema experiment`.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
    Exact(exact::Args),
    Merge(merge::Args),
    Report(report::Args),
}

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    match &args.command {
        Command::Run(args) => run::run(args, global),
        Command::Exact(args) => exact::run(args, global),
        Command::Merge(args) => merge::run(args, global),
        Command::Report(args) => report::run(args, global),
    }
}
