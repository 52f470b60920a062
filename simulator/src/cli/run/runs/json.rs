//! Summary of many runs as JSON: `orchestrion export schema --schema runs-report`.

use super::ScenarioRuns;
use super::report::{decisions, ending_text, label_text};
use super::summary::{Counted, RequestSummary, RunProperty};
use crate::cli::exit_status::ExitStatus;
use crate::cli::statistics::{DistributionReport, Share, ShareReport};
use crate::cli::test_report::write_json;
use orchestrion_user_claims::UserClaim;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The report of `run --runs`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Report<'a> {
    command: &'static str,
    exit_code: u8,
    /// The scenarios that could be read, in order.
    scenarios: Vec<ScenarioReport<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ScenarioReport<'a> {
    scenario: String,
    policy: &'a str,
    /// The runs, with the seeds from `first_seed` on.
    runs: u64,
    first_seed: u64,
    /// Whether a reply or a delay is random. Without a random choice every run is equal, and one run is taken.
    is_random: bool,
    /// By the position of the request in the scenario.
    requests: Vec<RequestReport>,
    /// Of whole runs.
    calls: Option<DistributionReport>,
    /// Of the runs with a call of the module.
    calls_by_module: BTreeMap<&'static str, Option<DistributionReport>>,
    /// The tokens of all contexts, with the data of the calls.
    context_tokens: Option<DistributionReport>,
    steps: Option<DistributionReport>,
    /// The simulated time in milliseconds.
    simulated_time_ms: Option<DistributionReport>,
    halted: ShareReport,
    unmet_expectations: ShareReport,
    unused_script: ShareReport,
    violated_claims: Vec<CountedReport>,
    errors: Vec<ErrorReport<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RequestReport {
    /// The position in the scenario, from 1.
    request: usize,
    /// The runs in which the request started.
    runs: u64,
    endings: Vec<CountedReport>,
    decisions: Vec<CountedReport>,
    labels: Vec<CountedReport>,
    passes: Option<DistributionReport>,
    calls: Option<DistributionReport>,
}

/// The runs with a value.
#[derive(Debug, Serialize, JsonSchema)]
struct CountedReport {
    value: String,
    #[serde(flatten)]
    share: ShareReport,
    /// The first seed of a run with the value: run it with `--seed`.
    first_seed: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ErrorReport<'a> {
    error: &'a str,
    runs: u64,
    first_seed: u64,
}

pub(super) fn write(
    all: &[ScenarioRuns<'_>],
    claims: &[UserClaim],
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let scenarios = all.iter().map(|runs| scenario_report(runs, claims)).collect();
    write_json(&Report { command: "run", exit_code: status.code(), scenarios }, out)
}

fn counted_report(value: String, counted: Counted, runs: u64) -> CountedReport {
    let share = Share { count: counted.count, runs }.report();
    CountedReport { value, share, first_seed: counted.first_seed }
}

fn scenario_report<'a>(runs: &'a ScenarioRuns<'_>, claims: &[UserClaim]) -> ScenarioReport<'a> {
    let ScenarioRuns { path, scenario, seeds, equal_runs, summary } = runs;
    let share = |property| {
        let count = summary.counted(property).map_or(0, |counted| counted.count);
        Share { count, runs: summary.runs }.report()
    };
    let violated = summary.violated.by_count().into_iter().filter_map(|(claim, counted)| {
        Some(counted_report(claims.get(*claim)?.id.to_string(), counted, summary.runs))
    });
    let errors = summary.errors.by_count().into_iter().map(|(error, counted)| ErrorReport {
        error,
        runs: counted.count,
        first_seed: counted.first_seed,
    });
    let by_module = summary.calls_by_module.iter().map(|(module, calls)| (module.name(), calls.report()));
    ScenarioReport {
        scenario: path.display().to_string(),
        policy: &scenario.policy.name,
        runs: seeds.runs,
        first_seed: seeds.first,
        is_random: equal_runs.is_none(),
        requests: (1..)
            .zip(&summary.requests)
            .map(|(number, request)| request_report(number, request))
            .collect(),
        calls: summary.calls.report(),
        calls_by_module: by_module.collect(),
        context_tokens: summary.context_tokens.report(),
        steps: summary.steps.report(),
        simulated_time_ms: summary.time_ms.report(),
        halted: share(RunProperty::Halted),
        unmet_expectations: share(RunProperty::Unmet),
        unused_script: share(RunProperty::Unused),
        violated_claims: violated.collect(),
        errors: errors.collect(),
    }
}

fn request_report(number: usize, request: &RequestSummary) -> RequestReport {
    let RequestSummary { runs, endings, labels, passes, calls } = request;
    let of_endings = endings.by_count().into_iter();
    let of_labels = labels.by_count().into_iter();
    let of_decisions = decisions(request).into_iter();
    RequestReport {
        request: number,
        runs: *runs,
        endings: of_endings
            .map(|(ending, counted)| counted_report(ending_text(*ending), counted, *runs))
            .collect(),
        decisions: of_decisions
            .map(|(name, counted)| counted_report(name.to_owned(), counted, *runs))
            .collect(),
        labels: of_labels
            .map(|(label, counted)| counted_report(label_text(*label), counted, *runs))
            .collect(),
        passes: passes.report(),
        calls: calls.report(),
    }
}
