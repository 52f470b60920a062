//! `journal upgrade`: continues a conversation under another policy or under this kernel (decision 0069).

use super::write_rotated;
use crate::cli::args::GlobalArgs;
use crate::cli::confirmation::is_confirmed;
use crate::cli::differences::{Sides, TEXT_COLUMN, write_decision, write_settings};
use crate::cli::exit_status::ExitStatus;
use crate::cli::output::{self, quoted, write_hanging};
use crate::cli::targets::ProjectPolicies;
use miette::{IntoDiagnostic, Result};
use orchestrion_claims::{CLAIMS, Claim, state_violations};
use orchestrion_kernel::{Policy, State};
use orchestrion_report::text::count;
use orchestrion_runtime::Upgrade;
use orchestrion_scenario::policy_file;
use orchestrion_text::StandardContexts;
use orchestrion_trace::{ChangedDecision, Header, Reader};
use std::collections::BTreeSet;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

/// Continue a conversation under another policy or a newer kernel.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion journal upgrade office.ndjson --policy stricter.yaml
                            show, ask, continue under this policy
  orchestrion journal upgrade office.ndjson --yes
                            without asking, under the policy of the project with
                            the recorded name, or the first one; outside a
                            project under the recorded policy and this kernel

A program that opens a journal under another kernel or policy is refused; this is
the explicit step. No program may have the journal open, and no request may run.
This kernel must decide the recorded steps as before; if a newer one does not,
rotate the journal with the old version first: the state is then stored.

The report has the changed settings, the first recorded step whose transition
would be another one under the new policy, and the claims that hold in the state
now and would not hold under the new policy. With such a claim the upgrade is
refused. The steps so far stay as they were decided: they move to a segment, as
`journal rotate` does, and the header of the journal records the upgrade.

Example: of a threshold that was raised, the report has the lines
  policy   thresholds.veto_from: before 0.90, after 0.95
  path     as before in each of 42 steps
  claims   as before

Exit codes: 0 upgraded, or nothing changes; 1 a claim would not hold, or not
confirmed; 2 error, for example a running request. Unless the exit code is 0, the
journal is unchanged; but an error of standard output, or of the disk, can follow
the rename. A second run then reports that nothing changes.")]
pub(super) struct Args {
    /// Upgrade this journal.
    #[arg(value_name = "JOURNAL")]
    journal: PathBuf,
    /// Continue under this policy (a built-in name or a file) instead of that of the project.
    #[arg(long, value_name = "POLICY")]
    policy: Option<String>,
    /// Move the lines to this file [default: JOURNAL with the number of steps before its extension].
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Upgrade without confirmation.
    #[arg(long)]
    yes: bool,
}

/// The policies before and after an upgrade.
const UPGRADE: Sides = Sides { recorded: "before", current: "after" };

pub(super) fn run(args: &Args, global: &GlobalArgs) -> Result<ExitStatus> {
    let Args { journal, to, .. } = args;
    let upgrade = Upgrade::prepare(journal, &StandardContexts).into_diagnostic()?;
    let policy = policy_of(args, upgrade.recorded(), global)?;
    let mut out = output::plain_stdout();
    let (width, file) = (output::width(), journal.display());
    let steps = count(upgrade.steps(), "step");
    let Some(next) = upgrade.next_header(&policy) else {
        let text = format!("{file}: current, {steps}; the kernel and the policy are those of its header");
        write_hanging(0, "", &text, width, &mut out).into_diagnostic()?;
        return Ok(ExitStatus::Success);
    };
    write_hanging(0, "", &format!("{file}: {steps}, no request runs"), width, &mut out).into_diagnostic()?;
    write_changes(&upgrade, &next, width, &mut out).into_diagnostic()?;
    write_path(journal, &upgrade, &policy, width, &mut out)?;
    let lost = lost_claims(&upgrade.recorded().policy, &policy, upgrade.state());
    write_claims(&lost, width, &mut out).into_diagnostic()?;
    if !lost.is_empty() {
        let advice = "continue under the recorded policy until these claims hold, for example end the session, or choose another policy";
        write_hanging(TEXT_COLUMN, "  refused", advice, width, &mut out).into_diagnostic()?;
        return Ok(ExitStatus::Failure);
    }
    if !args.yes && !is_confirmed(journal, &command(args), width, &mut out)? {
        return Ok(ExitStatus::Failure);
    }
    let upgraded = upgrade.apply(next, to.as_deref()).into_diagnostic()?;
    write_rotated(journal, &upgraded, &mut out).into_diagnostic()?;
    Ok(ExitStatus::Success)
}

/// Returns the policy under which the conversation continues.
fn policy_of(args: &Args, recorded: &Header, global: &GlobalArgs) -> Result<Policy> {
    if let Some(policy) = &args.policy {
        return Ok(policy_file::resolve(policy, Path::new(""))?);
    }
    let project = ProjectPolicies::read(global)?;
    Ok(project.map_or_else(
        || recorded.policy.clone(),
        |project| project.named_or_first(&recorded.policy.name).clone(),
    ))
}

/// Returns the command that upgrades without confirmation.
fn command(args: &Args) -> String {
    let mut command = format!("orchestrion journal upgrade --yes {}", quoted(&args.journal));
    let options = [("--policy", args.policy.as_deref().map(Path::new)), ("--to", args.to.as_deref())];
    for (option, value) in options {
        if let Some(value) = value {
            command.push_str(&format!(" {option} {}", quoted(value)));
        }
    }
    command
}

/// Writes what differs between the headers.
fn write_changes(upgrade: &Upgrade, next: &Header, width: usize, out: &mut impl Write) -> io::Result<()> {
    let recorded = upgrade.recorded();
    let versions = [("  kernel", &recorded.kernel, &next.kernel), ("  table", &recorded.table, &next.table)];
    for (label, before, after) in versions {
        if before != after {
            write_hanging(TEXT_COLUMN, label, &format!("before {before}, after {after}"), width, out)?;
        }
    }
    for conversion in upgrade.conversions() {
        write_hanging(TEXT_COLUMN, "  header", conversion, width, out)?;
    }
    write_settings(&recorded.policy, &next.policy, UPGRADE, width, out)
}

/// Writes the first recorded step that would take another path under the new policy.
fn write_path(
    journal: &Path,
    upgrade: &Upgrade,
    policy: &Policy,
    width: usize,
    out: &mut impl Write,
) -> Result<()> {
    let file = orchestrion_files::open(journal).into_diagnostic()?;
    let reader = Reader::new_older(BufReader::new(file), &journal.display().to_string(), &mut Vec::new())
        .into_diagnostic()?;
    let steps = upgrade.steps() - reader.header().continues.as_ref().map_or(0, |end| end.steps);
    match ChangedDecision::first_under(reader, policy).into_diagnostic()? {
        Some(changed) => write_decision(&changed, UPGRADE, width, out),
        None => {
            let text = match steps {
                0 => "no step in this journal".to_owned(),
                1 => "as before in 1 step".to_owned(),
                steps => format!("as before in each of {steps} steps"),
            };
            write_hanging(TEXT_COLUMN, "  path", &text, width, out)
        }
    }
    .into_diagnostic()
}

/// Returns the claims that a state satisfies under one policy and violates under the other.
fn lost_claims(before: &Policy, after: &Policy, state: &State) -> Vec<&'static Claim> {
    let violated = |policy: &Policy| state_violations(policy, state).collect::<BTreeSet<_>>();
    let lost = &violated(after) - &violated(before);
    let claims = lost.into_iter().filter_map(|at| CLAIMS.get(at));
    claims.filter(|claim| (claim.not_applicable)(after).is_none()).collect()
}

fn write_claims(lost: &[&Claim], width: usize, out: &mut impl Write) -> io::Result<()> {
    if lost.is_empty() {
        return write_hanging(TEXT_COLUMN, "  claims", "as before", width, out);
    }
    for Claim { id, statement, .. } in lost {
        write_hanging(TEXT_COLUMN, "  claims", &format!("{id} would not hold: {statement}"), width, out)?;
    }
    Ok(())
}
