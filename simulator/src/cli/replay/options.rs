//! Arguments of `replay`.

use super::judge::Judge;
use crate::cli::args::ReportFormat;
use crate::cli::user_claims::ClaimArgs;
use orchestrion_user_claims::UserClaim;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Replay recorded traces: decide their inputs again and report the first difference.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  orchestrion replay                                 traces of the project file
  orchestrion replay specs/scenarios/happy.ndjson
  orchestrion replay specs/scenarios --quiet         all *.ndjson in a folder
  orchestrion replay veto.ndjson --policy as-drawn   under another policy
  orchestrion replay veto.ndjson --recorded-policy   under its own policy
  orchestrion replay --format junit > replay.xml     for a CI server
  orchestrion replay --update veto.ndjson            show changes, ask, write
  orchestrion replay --update --yes traces           write without asking

In a project, a trace is judged under the policies that the project has now. A
golden trace, with its scenario beside it, is judged under the scenario's
policy; any other trace under the policy of the project file with its recorded
name, or the first one. Outside a project a trace is judged under the policy
that it carries. The report says which.

Example: after `init`, add `redebate_below: 0.99` below `thresholds:` in
policies/team.yaml. `orchestrion replay` then fails, and prints:
  policy   thresholds.redebate_below: recorded 0.80, replayed 0.99
  decision first at step 13, event 2 of 3
  path     first at step 13, from Multi_Pass_Check
    recorded T14 to Aggregating, on step
    replayed T13 to Round_2_Solution, on step if consensus below threshold, …
  ending   of request 1
    recorded PROCEED, consensus reached, outcome: every task succeeded
    replayed PROCEED below the threshold, outcome: every task succeeded
The last line is the ending of the scenario, played under the new policy. To
keep the new decisions: orchestrion run --accept.

The hash chain proves integrity, not origin: it shows a line that was changed or
lost after the trace was written. It has no key, so that a person who can write
a trace can also write a valid chain; sign the file to prove where it is from.

Exit codes: 0 every trace is equal or was updated; 1 a trace differs; 2 no trace
could be opened; 3 a trace could not be read to its end.")]
pub(in super::super) struct Args {
    /// Replay these traces, and every *.ndjson file in or below these folders [default: those of the project file].
    #[arg(value_name = "TRACE", conflicts_with = "config")]
    pub(super) traces: Vec<PathBuf>,
    /// Decide under this policy (a built-in name or a file) instead of that of the project.
    #[arg(long, value_name = "POLICY")]
    pub(super) policy: Option<String>,
    /// Decide under the policy that each trace carries, instead of that of the project.
    #[arg(long, conflicts_with = "policy")]
    pub(super) recorded_policy: bool,
    #[command(flatten)]
    pub(super) claims: ClaimArgs,
    /// Stop at the first trace that is not equal.
    #[arg(long)]
    pub(super) fail_fast: bool,
    /// Replay this many traces in parallel [default: the number of processors].
    #[arg(long, value_name = "NUMBER")]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Print the report in this format.
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "update")]
    pub(super) format: ReportFormat,
    /// Show how the recorded decisions would change, and write them after confirmation.
    #[arg(long)]
    pub(super) update: bool,
    /// Write updates without confirmation.
    #[arg(long)]
    pub(super) yes: bool,
}

/// Arguments with the policies read and the output configured.
pub(super) struct Settings<'a> {
    pub(super) args: &'a Args,
    pub(super) judge: Judge,
    pub(super) claims: &'a [UserClaim],
    pub(super) quiet: bool,
    /// Columns of the report.
    pub(super) width: usize,
}
