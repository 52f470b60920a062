//! Report of `compare` as JSON: `orchestrion export schema --schema compare-report`.

use super::Compared;
use super::report::{decisions_text, ending_text};
use crate::cli::check::json::LimitReport;
use crate::cli::exit_status::ExitStatus;
use crate::cli::statistics::{DifferenceReport, DistributionReport, ShareReport};
use crate::cli::test_report::write_json;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The report of `compare`.
#[derive(Serialize, JsonSchema)]
pub(in crate::cli) struct Report<'a> {
    /// `different`, `no_difference` or `inconclusive`.
    verdict: &'static str,
    policies: Sides<&'a str>,
    scope: &'a str,
    settings: Vec<SettingReport<'a>>,
    /// The settings that the scope replaces in every model: no difference of them can show.
    replaced_settings: &'a [String],
    models: Vec<ModelReport>,
    /// The shortest difference of all models.
    difference: Option<StepReport<'a>>,
    outcomes: OutcomesReport<'a>,
}

/// A value of each policy.
#[derive(Serialize, JsonSchema)]
struct Sides<T> {
    a: T,
    b: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    fn from([a, b]: [T; 2]) -> Self {
        Self { a, b }
    }
}

#[derive(Serialize, JsonSchema)]
struct SettingReport<'a> {
    path: &'a str,
    #[serde(flatten)]
    values: Sides<Option<&'a str>>,
}

#[derive(Serialize, JsonSchema)]
struct ModelReport {
    model: &'static str,
    /// The states that both policies reach by the same decisions.
    states: usize,
    /// The step at which the decisions differ first, on shortest inputs.
    differs_at_step: Option<usize>,
    limit_reached: Option<LimitReport>,
}

#[derive(Serialize, JsonSchema)]
struct StepReport<'a> {
    model: &'static str,
    /// The number of the step, from 1.
    step: usize,
    phase: String,
    /// The input, as in a trace.
    input: serde_json::Value,
    decided: Sides<String>,
    /// How the request ends when every later call gets the same agreeing reply.
    endings: Sides<String>,
    traces: Sides<&'a Path>,
}

/// Random runs with the same random numbers under both policies.
#[derive(Serialize, JsonSchema)]
struct OutcomesReport<'a> {
    models: Vec<&'static str>,
    runs: u64,
    seed: u64,
    /// The runs whose results differ.
    differing_runs: u64,
    first_differing_run: Option<RunReport<'a>>,
    /// Pairs of outcomes that occur.
    matrix: Vec<CellReport>,
    rates: Vec<RateReport>,
    passes: Sides<Option<DistributionReport>>,
    calls: Sides<Option<DistributionReport>>,
}

/// A random run whose results differ.
#[derive(Serialize, JsonSchema)]
struct RunReport<'a> {
    /// The number of the run, from 0.
    run: u64,
    model: &'static str,
    /// How its first request ends.
    endings: Sides<&'a str>,
    traces: Sides<&'a Path>,
}

#[derive(Serialize, JsonSchema)]
struct CellReport {
    a: &'static str,
    b: &'static str,
    runs: u64,
}

#[derive(Serialize, JsonSchema)]
struct RateReport {
    outcome: &'static str,
    rates: Sides<ShareReport>,
    difference: DifferenceReport,
}

pub(super) fn write(compared: &Compared<'_>, out: &mut impl Write) -> io::Result<()> {
    let verdict = match compared.status() {
        ExitStatus::Success => "no_difference",
        ExitStatus::Failure => "different",
        ExitStatus::Incomplete | ExitStatus::Error => "inconclusive",
    };
    let settings = compared.settings.iter().map(|setting| SettingReport {
        path: &setting.path,
        values: [setting.before.as_deref(), setting.after.as_deref()].into(),
    });
    let models = compared.models.iter().map(|model| ModelReport {
        model: model.model,
        states: model.states,
        differs_at_step: model.difference.as_ref().map(|difference| difference.step),
        limit_reached: LimitReport::from_termination(model.ended, model.depth),
    });
    let [a, b] = compared.policies;
    let report = Report {
        verdict,
        policies: [&*a.name, &*b.name].into(),
        scope: &compared.scope.name,
        settings: settings.collect(),
        replaced_settings: &compared.replaced,
        models: models.collect(),
        difference: step_report(compared)?,
        outcomes: outcomes_report(compared),
    };
    write_json(&report, out)
}

fn step_report<'a>(compared: &'a Compared<'_>) -> io::Result<Option<StepReport<'a>>> {
    let (Some((model, difference)), Some((_, [a, b]))) = (compared.difference(), &compared.shortest) else {
        return Ok(None);
    };
    Ok(Some(StepReport {
        model,
        step: difference.step,
        phase: difference.from.to_string(),
        input: serde_json::to_value(&difference.input)?,
        decided: decisions_text(&difference.sides, difference.step).into(),
        endings: [&difference.sides[0], &difference.sides[1]]
            .map(|side| ending_text(side.ending, side.label))
            .into(),
        traces: [a.trace.as_path(), b.trace.as_path()].into(),
    }))
}

fn outcomes_report<'a>(compared: &'a Compared<'_>) -> OutcomesReport<'a> {
    let (random, matrix) = (&compared.random, &compared.matrix);
    let outcomes = matrix.outcomes();
    let pairs = outcomes.iter().flat_map(|a| outcomes.iter().map(move |b| (*a, *b)));
    let cells = pairs.map(|(a, b)| CellReport { a: a.name(), b: b.name(), runs: matrix.count(a, b) });
    let rates = outcomes.iter().map(|outcome| {
        let pairs = matrix.pairs(*outcome);
        RateReport {
            outcome: outcome.name(),
            rates: [pairs.share_a().report(), pairs.share_b().report()].into(),
            difference: pairs.report(),
        }
    });
    OutcomesReport {
        models: random.models.iter().map(|model| model.name).collect(),
        runs: random.runs,
        seed: random.seed,
        differing_runs: matrix.differing_runs(),
        first_differing_run: compared.differing.as_ref().map(|run| RunReport {
            run: run.number,
            model: run.model,
            endings: [run.endings[0].as_str(), run.endings[1].as_str()].into(),
            traces: [run.traces[0].as_path(), run.traces[1].as_path()].into(),
        }),
        matrix: cells.filter(|cell| cell.runs > 0).collect(),
        rates: rates.collect(),
        passes: [matrix.passes[0].report(), matrix.passes[1].report()].into(),
        calls: [matrix.calls[0].report(), matrix.calls[1].report()].into(),
    }
}
