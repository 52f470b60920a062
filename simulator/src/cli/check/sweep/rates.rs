//! Outcome rates of a row of a sweep: random runs with the same random numbers in every row.

use crate::cli::parallel::fold_runs;
use crate::cli::progress::ProgressLine;
use crate::cli::statistics::{Interval, Share};
use orchestrion_kernel::Policy;
use orchestrion_model::common_runs::{CommonRuns, RunOutcome};
use orchestrion_model::scopes::{Model, Scope};
use orchestrion_report::text::grouped;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The random runs of each row.
pub(super) const RUNS: u64 = 1000;
/// The seed of the random runs.
pub(super) const SEED: u64 = 0;

/// Random runs of these models in turn.
pub(super) struct RandomRates {
    pub(super) models: Vec<Model>,
}

/// How many random runs of a row have each outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RowRates(BTreeMap<RunOutcome, u64>);

impl RandomRates {
    /// Takes the runs of a row.
    pub(super) fn take(&self, policy: &Policy, scope: &Scope, jobs: NonZeroUsize, quiet: bool) -> RowRates {
        let runs: Vec<CommonRuns> =
            self.models.iter().map(|model| CommonRuns::new([policy], *model, scope, SEED)).collect();
        let mut line = ProgressLine::new("random runs", quiet);
        let take = |rates: &mut RowRates, number: u64| {
            let at = usize::try_from(number % runs.len() as u64).unwrap_or_default();
            if let Some(runs) = runs.get(at) {
                *rates.0.entry(runs.run(0, number).ending.outcome()).or_default() += 1;
            }
        };
        let merge = |rates: &mut RowRates, other: RowRates| {
            other.0.into_iter().for_each(|(outcome, count)| *rates.0.entry(outcome).or_default() += count);
        };
        let rates = fold_runs(RUNS, jobs, &mut line, take, merge);
        line.finish();
        rates
    }

    /// Returns what the rates are.
    pub(super) fn heading(&self) -> String {
        let models: Vec<&str> = self.models.iter().map(|model| model.name).collect();
        format!(
            "outcomes of {} random runs in each row, in % with 95 % intervals; model {}, seed {SEED}, the same random numbers \
             in every row. The adversary is that of --simulate: the rates compare rows, and forecast nothing",
            grouped(RUNS),
            models.join(", ")
        )
    }
}

impl RowRates {
    /// Returns the share of the runs with an outcome.
    pub(super) fn share(&self, outcome: RunOutcome) -> Share {
        Share { count: self.0.get(&outcome).copied().unwrap_or_default(), runs: RUNS }
    }

    /// Returns the rate of an outcome with its interval, in percent.
    pub(super) fn text(&self, outcome: RunOutcome) -> String {
        let share = self.share(outcome);
        let Interval { lower, upper } = share.interval();
        format!("{:.1} [{:.1}, {:.1}]", share.rate() * 100.0, lower * 100.0, upper * 100.0)
    }
}

/// Returns the outcomes that occur in any of these rows.
pub(super) fn outcomes<'a>(rows: impl Iterator<Item = &'a RowRates> + Clone) -> Vec<RunOutcome> {
    let occurs = |outcome: &RunOutcome| rows.clone().any(|row| row.0.contains_key(outcome));
    RunOutcome::ALL.into_iter().filter(occurs).collect()
}
