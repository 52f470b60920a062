//! `check --sweep`: one check for each combination of settings.

mod rates;
mod report;
mod settings;

pub(super) use settings::parse;

use super::options::Args;
use super::plan::CheckPlan;
use super::result::check_policy;
use crate::cli::args::{Format, GlobalArgs};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, ReportStyle};
use miette::{IntoDiagnostic, Result};
use orchestrion_kernel::Policy;
use orchestrion_scenario::policy_file;
use rates::RandomRates;
use report::{Row, Table};
use settings::{Sweep, combined_settings};
use std::io::Write;
use std::time::Instant;

/// Checks every combination under every policy of the plan, and prints each row when it is checked.
pub(super) fn run(
    sweeps: &[Sweep],
    plan: &CheckPlan,
    args: &Args,
    global: &GlobalArgs,
    format: Format,
    style: ReportStyle,
) -> Result<ExitStatus> {
    // Errors in settings are reported before anything is explored.
    let swept = plan.policies.iter().map(|policy| Ok((policy, rows(policy, sweeps)?)));
    let swept = swept.collect::<Result<Vec<(&Policy, Vec<Row>)>>>()?;
    let table = Table::new(sweeps, style.width);
    let random = RandomRates { models: plan.simulated_models(args)? };
    let mut out = output::stdout();
    let mut all = Vec::new();
    for (policy, rows) in swept {
        if format == Format::Human {
            table.write_heading(policy, &plan.scope.name, &mut out).into_diagnostic()?;
        }
        let from = all.len();
        for mut row in rows {
            if let Ok(policy) = &row.policy {
                let start = Instant::now();
                let (result, _) = check_policy(policy, plan, None, args, global)?;
                row.result = Some((result, start.elapsed()));
                row.rates = Some(random.take(policy, &plan.scope, args.search.jobs(), global.quiet));
            }
            if format == Format::Human {
                table.write_row(&row, &mut out).and_then(|()| out.flush()).into_diagnostic()?;
            }
            all.push(row);
        }
        if format == Format::Human {
            table.write_rates(&all[from..], &random, &mut out).into_diagnostic()?;
        }
    }
    let status = ExitStatus::combine(&all.iter().map(Row::status).collect::<Vec<_>>());
    match format {
        Format::Human => table.write_summary(&all, &plan.scope.name, status, &mut out),
        Format::Json => report::json(&all, &plan.scope.name, &random, status, &mut out),
    }
    .into_diagnostic()?;
    Ok(status)
}

/// Returns the unchecked rows of one policy.
fn rows(policy: &Policy, sweeps: &[Sweep]) -> Result<Vec<Row>> {
    let row = |settings: Vec<(String, String)>| {
        let assignments: Vec<String> =
            settings.iter().map(|(path, value)| format!("{path}={value}")).collect();
        let name = format!("{} with {}", policy.name, assignments.join(", "));
        let policy = policy_file::set(policy, &name, &settings)?;
        Ok(Row { settings, policy, result: None, rates: None })
    };
    combined_settings(sweeps).into_iter().map(row).collect()
}
