//! Report of `check` as JSON.

use super::coverage::{Coverage, LimitReached, resource_name};
use super::result::{CheckedClaim, PolicyResult, WaiverStatus};
use super::save::SavedEvidence;
use super::user_claims::UserClaimReport;
use crate::cli::exit_status::ExitStatus;
use crate::cli::test_report::write_json;
use orchestrion_explorer::Termination;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, Input};
use orchestrion_model::check::{Counterexample, ModelRun, Verdict};
use orchestrion_model::coverage::Observation;
use orchestrion_model::induction::{InductionCounterexample, Start};
use orchestrion_project::Waiver;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct Report<'a> {
    /// `holds`, `fails`, `inconclusive`, `vacuous`, or `expired` for a waiver.
    verdict: &'static str,
    runs: Vec<RunReport<'a>>,
    coverage: Vec<CoverageReport<'a>>,
    claims: Vec<ClaimReport<'a>>,
    /// The claims of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    user_claims: Vec<UserClaimReport<'a>>,
    waivers: Vec<WaiverReport<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct RunReport<'a> {
    model: &'a str,
    scope: &'a str,
    policy: &'a str,
    states: usize,
    product_states: usize,
    steps: u64,
    depth: usize,
    /// Distinct states in which the context of the pending call is not proven optimal.
    unproven_contexts: usize,
    limit_reached: Option<LimitReport>,
}

/// How far an exploration came that stopped at a resource limit.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct LimitReport {
    /// memory, time or states.
    resource: &'static str,
    /// Product states that were not expanded.
    frontier: usize,
    /// Every path of at most this many steps was explored.
    explored_steps: usize,
}

impl LimitReport {
    pub(in crate::cli) fn from_termination(termination: Termination, depth: usize) -> Option<Self> {
        let LimitReached { resource, frontier, explored_steps } =
            LimitReached::from_termination(termination, depth)?;
        Some(Self { resource: resource_name(resource).0, frontier, explored_steps })
    }
}

/// Coverage of all runs under one policy.
#[derive(Serialize, JsonSchema)]
pub(super) struct CoverageReport<'a> {
    policy: &'a str,
    /// An upper bound of the probability that a hash collision hid a state; 0 where whole states were compared.
    collision_probability: f64,
    /// Whether every model was explored exhaustively; false for random runs.
    exhaustive: bool,
    expected: usize,
    reached: usize,
    unreached: Vec<ObservationReport>,
}

#[derive(Serialize, JsonSchema)]
struct ObservationReport {
    kind: &'static str,
    name: String,
    description: String,
}

impl From<Observation> for ObservationReport {
    fn from(observation: Observation) -> Self {
        let (name, description) = (observation.name(), observation.description());
        Self { kind: observation.kind(), name, description }
    }
}

#[derive(Serialize, JsonSchema)]
struct ClaimReport<'a> {
    id: &'a str,
    policy: &'a str,
    statement: &'a str,
    clause: &'a str,
    finding: Option<&'a str>,
    kind: &'a str,
    verdict: &'a str,
    /// The model of the counterexample.
    model: Option<&'a str>,
    counterexample: Option<CounterexampleReport<'a>>,
    /// The shortest counterexamples in other models, if --counterexamples asks for several.
    other_counterexamples: Vec<CounterexampleReport<'a>>,
    /// A step from a state that satisfies the claims to one that does not.
    counterexample_to_induction: Option<InductionReport<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct InductionReport<'a> {
    /// The items at the start, if the state is semantic.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    items: Option<&'a [Entry]>,
    /// The events of which the state and its history are folds, if the state is of control.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    events: Option<&'a [Event]>,
    /// The inputs; the last one violates the claim.
    #[schemars(with = "Vec<serde_json::Value>")]
    inputs: &'a [Input],
}

impl<'a> InductionReport<'a> {
    fn new(found: &'a InductionCounterexample) -> Self {
        let (items, events) = match &found.start {
            Start::Items(items) => (Some(items.as_slice()), None),
            Start::Events(events) => (None, Some(events.as_slice())),
        };
        Self { items, events, inputs: &found.inputs }
    }
}

#[derive(Serialize, JsonSchema)]
struct CounterexampleReport<'a> {
    model: &'a str,
    steps: usize,
    trace: &'a Path,
    /// The same steps in the Informal Trace Format.
    itf: &'a Path,
    /// The steps that an infinite counterexample repeats.
    cycle: Option<CycleReport>,
}

impl<'a> CounterexampleReport<'a> {
    fn new(model: &'a str, counterexample: &Counterexample, saved: &'a SavedEvidence) -> Self {
        Self {
            model,
            steps: counterexample.inputs.len(),
            trace: &saved.trace,
            itf: &saved.itf,
            cycle: CycleReport::from_counterexample(counterexample),
        }
    }
}

#[derive(Serialize, JsonSchema)]
struct CycleReport {
    first_step: usize,
    last_step: usize,
}

impl CycleReport {
    fn from_counterexample(counterexample: &Counterexample) -> Option<Self> {
        let (stem, cycle) = counterexample.stem_len.zip(counterexample.cycle_len())?;
        Some(Self { first_step: stem + 1, last_step: stem + cycle })
    }
}

#[derive(Serialize, JsonSchema)]
struct WaiverReport<'a> {
    claim: &'a str,
    policy: Option<&'a str>,
    reason: &'a str,
    until: String,
    status: &'static str,
}

pub(super) fn json(
    results: &[PolicyResult],
    waivers: &[(&Waiver, WaiverStatus)],
    status: ExitStatus,
    out: &mut impl Write,
) -> io::Result<()> {
    let claims =
        results.iter().flat_map(|result| result.claims.iter().map(move |claim| claim_report(result, claim)));
    let user_claims = results.iter().flat_map(|result| {
        let name = &result.policy.name;
        result.user_claims.iter().map(move |claim| UserClaimReport::new(name, claim))
    });
    let report = Report {
        verdict: verdict_name(results, status),
        runs: results.iter().flat_map(|result| &result.runs).map(run_report).collect(),
        coverage: results.iter().map(coverage_report).collect(),
        claims: claims.collect(),
        user_claims: user_claims.collect(),
        waivers: waivers.iter().map(|(waiver, status)| waiver_report(waiver, *status)).collect(),
    };
    write_json(&report, out)
}

/// Returns the verdict of a whole check.
pub(super) fn verdict_name(results: &[PolicyResult], status: ExitStatus) -> &'static str {
    let has_any = |name: &str| results.iter().any(|result| result.has_verdict(&[name]));
    match status {
        ExitStatus::Success => "holds",
        ExitStatus::Failure => "fails",
        ExitStatus::Incomplete | ExitStatus::Error if has_any("inconclusive") => "inconclusive",
        ExitStatus::Incomplete | ExitStatus::Error if has_any("vacuous") => "vacuous",
        ExitStatus::Incomplete | ExitStatus::Error => "expired",
    }
}

fn coverage_report(result: &PolicyResult) -> CoverageReport<'_> {
    CoverageReport::new(&result.policy.name, Coverage::new(&result.policy, &result.runs))
}

impl<'a> CoverageReport<'a> {
    pub(super) fn new(policy: &'a str, coverage: Coverage) -> Self {
        Self {
            policy,
            collision_probability: coverage.collision,
            exhaustive: coverage.incomplete.is_none(),
            expected: coverage.expected.len(),
            reached: coverage.expected.len() - coverage.unreached.len(),
            unreached: coverage.unreached.into_iter().map(ObservationReport::from).collect(),
        }
    }
}

fn run_report(run: &ModelRun) -> RunReport<'_> {
    RunReport {
        model: run.model,
        scope: &run.scope,
        policy: &run.policy,
        states: run.states,
        product_states: run.products,
        steps: run.steps,
        depth: run.depth,
        unproven_contexts: run.unproven_contexts,
        limit_reached: LimitReport::from_termination(run.ended, run.depth),
    }
}

fn claim_report<'a>(result: &'a PolicyResult, checked: &'a CheckedClaim) -> ClaimReport<'a> {
    let (model, counterexample) = match &checked.verdict {
        Verdict::Fails { run, counterexample } => {
            (result.runs.get(*run).map(|run| run.model), Some(&**counterexample))
        }
        Verdict::NotInductive { counterexample } => (Some(counterexample.enumeration), None),
        Verdict::Holds | Verdict::Vacuous | Verdict::Inconclusive | Verdict::NotChecked(_) => (None, None),
    };
    let evidence = counterexample.zip(checked.evidence.as_ref());
    let of_induction = match &checked.verdict {
        Verdict::NotInductive { counterexample } => Some(&**counterexample),
        _ => None,
    };
    ClaimReport {
        id: checked.claim.id,
        policy: &result.policy.name,
        statement: checked.claim.statement,
        clause: checked.claim.clause,
        finding: checked.claim.finding,
        kind: checked.claim.check.kind(),
        verdict: checked.verdict_name(),
        model,
        counterexample: evidence.map(|(counterexample, saved)| {
            CounterexampleReport::new(model.unwrap_or_default(), counterexample, saved)
        }),
        other_counterexamples: checked
            .others
            .iter()
            .map(|other| CounterexampleReport::new(other.model, &other.counterexample, &other.evidence))
            .collect(),
        counterexample_to_induction: of_induction.map(InductionReport::new),
    }
}

fn waiver_report(waiver: &Waiver, status: WaiverStatus) -> WaiverReport<'_> {
    WaiverReport {
        claim: waiver.claim,
        policy: waiver.policy.as_deref(),
        reason: &waiver.reason,
        until: waiver.until.to_string(),
        status: status.name(),
    }
}
