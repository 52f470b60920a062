//! `check`: explores the models and checks every claim.

mod cases;
mod checkpoint;
pub(super) mod coverage;
mod dot;
pub(super) mod json;
mod mutants;
mod options;
mod plan;
mod reach;
pub(super) mod report;
mod result;
pub(super) mod save;
pub(super) mod search;
mod simulate;
pub(super) mod size;
mod statistics;
mod step;
mod sweep;
#[cfg(test)]
mod tests;
pub(in crate::cli) mod user_claims;
mod waivers;

pub(super) use options::Args;

use super::args::{Format, GlobalArgs, ReportFormat};
use super::exit_status::ExitStatus;
use super::output::{self, ReportStyle};
use super::test_report::{TestCase, TestReport, rules, text_output};
use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::Policy;
use orchestrion_report::text::sanitize;
use plan::CheckPlan;
use result::{PolicyResult, check_policy, exit_status};
use std::path::Path;
use waivers::waiver_statuses;

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    if global.out_dir.exists() && !global.out_dir.is_dir() {
        return Err(miette!(
            help = "name a folder with --out-dir",
            "cannot write evidence into {}: not a folder",
            global.out_dir.display()
        ));
    }
    let style = ReportStyle { quiet: global.quiet, width: output::width() };
    // What the command line says is refused before the models are estimated.
    let target = args.reach.as_deref().map(reach::parse_target).transpose()?;
    let sweeps = sweep::parse(&args.sweep)?;
    // A mode with a report of its own has no cases.
    let format = match args.mode() {
        Some(mode) => args.format.without_cases(mode)?,
        None => Format::Human,
    };
    let plan = match CheckPlan::new(args, global) {
        Ok(plan) => plan,
        Err(error) => {
            output::print_diagnostic(&error);
            let names = [args.scope.as_deref(), args.policy.as_deref()];
            // Built-in scopes and policies are no files.
            let mut files =
                names.into_iter().flatten().map(Path::new).filter(|path| path.extension().is_some());
            let file = files.next().or(global.config.as_deref());
            let file = file.unwrap_or_else(|| Path::new(orchestrion_project::FILE));
            let case = TestCase::of_error("check", file, &rules::INVALID_FILE, &error);
            TestReport::new("check", ExitStatus::Error, vec![case]).print(args.format)?;
            return Ok(ExitStatus::Error);
        }
    };
    if args.step {
        return step::run(&plan, args, global, style);
    }
    if args.simulation.simulate {
        return simulate::run(&plan, args, global, format, style);
    }
    if args.mutants {
        plan.ensure_standard_models()?;
    }
    if target.is_some() || args.statistics {
        plan.ensure_explored(args)?;
    }
    plan.ensure_enumerable(&args.search, global.quiet)?;
    if let Some(target) = target {
        return reach::run(&target, &plan, args, global, format, style);
    }
    if args.mutants {
        return mutants::run(&plan, args, format, style);
    }
    if args.statistics {
        return statistics::run(&plan, args, global, format, style);
    }
    if !sweeps.is_empty() {
        return sweep::run(&sweeps, &plan, args, global, format, style);
    }
    check_claims(&plan, args, global, style)
}

fn check_claims(
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    style: ReportStyle,
) -> Result<ExitStatus> {
    if let Some(path) = &args.dot {
        ensure_single_policy(&plan.policies, "--dot draws one policy")?;
        dot::ensure_overwritable(path)?;
    }
    let checkpoints =
        args.checkpoint.as_deref().map(|folder| checkpoint::Folder::open(folder, args)).transpose()?;
    let mut results = Vec::new();
    for (number, policy) in plan.policies.iter().enumerate() {
        let checkpoints =
            checkpoints.as_ref().map(|folder| folder.for_policy(number + 1, policy, &plan.scope));
        let (result, counts) = check_policy(policy, plan, checkpoints.as_ref(), args, global)?;
        if let Some(path) = &args.dot {
            dot::write(&result, &counts, path)?;
        }
        results.push(result);
    }
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    print_report(results, plan, today, args.format, style)
}

/// Returns an error unless there is exactly one policy.
fn ensure_single_policy(policies: &[Policy], reason: &str) -> Result<()> {
    if policies.len() > 1 {
        let names: Vec<String> = policies.iter().map(|policy| sanitize(&policy.name)).collect();
        return Err(miette!(
            help = "select one of their files with --policy",
            "{reason}: expected 1, found {} ({})",
            names.len(),
            names.join(", ")
        ));
    }
    Ok(())
}

/// Prints the report, with the waivers that are valid on a day, and returns the status.
fn print_report(
    mut results: Vec<PolicyResult>,
    plan: &CheckPlan,
    today: Date,
    format: ReportFormat,
    style: ReportStyle,
) -> Result<ExitStatus> {
    waivers::apply(&mut results, &plan.waivers, today);
    let waivers = waiver_statuses(&results, &plan.waivers, today);
    let status = exit_status(&results, &waivers);
    let mut out = text_output(format, output::stdout());
    report::human(&results, &waivers, style, status, &mut out).into_diagnostic()?;
    drop(out);
    match format {
        ReportFormat::Json => {
            json::json(&results, &waivers, status, &mut output::stdout()).into_diagnostic()?;
        }
        format => {
            let cases = cases::of_check(&plan.policy_files, &results, &waivers);
            TestReport::new("check", status, cases).print(format)?;
        }
    }
    Ok(status)
}
