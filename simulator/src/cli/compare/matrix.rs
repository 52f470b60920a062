//! Outcomes of random runs under two policies, with common random numbers.

use crate::cli::parallel::fold_runs;
use crate::cli::progress::ProgressLine;
use crate::cli::statistics::{Distribution, PairedCounts};
use orchestrion_kernel::Policy;
use orchestrion_model::check::Counterexample;
use orchestrion_model::common_runs::{CommonRuns, RunOutcome, RunResult};
use orchestrion_model::scopes::{Model, Scope};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The random runs to take: those of these models in turn.
#[derive(Clone, Debug)]
pub(super) struct RandomRuns {
    pub(super) models: Vec<Model>,
    pub(super) runs: u64,
    pub(super) seed: u64,
}

/// How many runs have each outcome under A and under B.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunsMatrix {
    counts: BTreeMap<(RunOutcome, RunOutcome), u64>,
    /// The first run whose results differ.
    first_differing: Option<u64>,
    /// The runs whose results differ, in the outcome or its cause, the label, the passes or the calls.
    differing: u64,
    /// Under A and under B.
    pub(super) passes: [Distribution; 2],
    pub(super) calls: [Distribution; 2],
}

impl RandomRuns {
    /// Takes the runs under both policies.
    pub(super) fn take(
        &self,
        policies: [&Policy; 2],
        scope: &Scope,
        jobs: NonZeroUsize,
        quiet: bool,
    ) -> RunsMatrix {
        let common: Vec<CommonRuns> =
            self.models.iter().map(|model| CommonRuns::new(policies, *model, scope, self.seed)).collect();
        let mut line = ProgressLine::new("random runs", quiet);
        let take = |matrix: &mut RunsMatrix, number: u64| {
            let Some(runs) = common.get(self.model_index(number)) else { return };
            let results = [runs.run(0, number), runs.run(1, number)];
            let [a, b] = results.map(|result| result.ending.outcome());
            *matrix.counts.entry((a, b)).or_default() += 1;
            if results[0] != results[1] {
                matrix.differing += 1;
                matrix.first_differing =
                    Some(matrix.first_differing.map_or(number, |first| first.min(number)));
            }
            for (side, result) in results.iter().enumerate() {
                matrix.passes[side].add(result.passes.into());
                matrix.calls[side].add(result.calls.into());
            }
        };
        let matrix = fold_runs(self.runs, jobs, &mut line, take, RunsMatrix::merge);
        line.finish();
        matrix
    }

    /// Takes one run again, with its path under each policy. `None` without models.
    pub(super) fn take_one(&self, number: u64, policies: [&Policy; 2], scope: &Scope) -> Option<RandomRun> {
        let model = *self.models.get(self.model_index(number))?;
        let common = CommonRuns::new(policies, model, scope, self.seed);
        let sides = [0, 1].map(|policy| common.run_with_path(policy, number));
        Some(RandomRun { number, model: model.name, sides })
    }

    /// The position of the model of a run.
    fn model_index(&self, number: u64) -> usize {
        let models = self.models.len().max(1) as u64;
        usize::try_from(number % models).unwrap_or_default()
    }
}

/// A random run under both policies: its result, and its inputs.
pub(super) struct RandomRun {
    pub(super) number: u64,
    pub(super) model: &'static str,
    pub(super) sides: [(RunResult, Counterexample); 2],
}

impl RunsMatrix {
    fn merge(&mut self, other: Self) {
        for (outcomes, runs) in other.counts {
            *self.counts.entry(outcomes).or_default() += runs;
        }
        self.differing += other.differing;
        self.first_differing = self.first_differing.into_iter().chain(other.first_differing).min();
        for (mine, other) in self.passes.iter_mut().zip(other.passes) {
            mine.merge(other);
        }
        for (mine, other) in self.calls.iter_mut().zip(other.calls) {
            mine.merge(other);
        }
    }

    /// The number of runs whose results differ.
    pub(super) const fn differing_runs(&self) -> u64 {
        self.differing
    }

    /// The number of the first of these runs.
    pub(super) const fn first_differing(&self) -> Option<u64> {
        self.first_differing
    }

    /// Returns the outcomes that occur under either policy.
    pub(super) fn outcomes(&self) -> Vec<RunOutcome> {
        let occurs = |outcome: &RunOutcome| self.counts.keys().any(|(a, b)| a == outcome || b == outcome);
        RunOutcome::ALL.into_iter().filter(occurs).collect()
    }

    /// Returns the number of runs with these outcomes under A and under B.
    pub(super) fn count(&self, a: RunOutcome, b: RunOutcome) -> u64 {
        self.counts.get(&(a, b)).copied().unwrap_or_default()
    }

    /// Returns the runs that have an outcome under A, under B, under both and under neither.
    pub(super) fn pairs(&self, outcome: RunOutcome) -> PairedCounts {
        let mut pairs = PairedCounts::default();
        for ((a, b), runs) in &self.counts {
            match (*a == outcome, *b == outcome) {
                (true, true) => pairs.both += runs,
                (true, false) => pairs.only_a += runs,
                (false, true) => pairs.only_b += runs,
                (false, false) => pairs.neither += runs,
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_model::scopes::{COMPOSED, SCOPES};

    fn matrix(jobs: usize) -> RunsMatrix {
        let random = RandomRuns { models: vec![COMPOSED], runs: 80, seed: 3 };
        let policies = [&Policy::hardened(), &Policy::as_drawn()];
        random.take(policies, &SCOPES[0], NonZeroUsize::new(jobs).unwrap(), true)
    }

    #[test]
    fn matrix_is_equal_on_any_number_of_threads() {
        let one = matrix(1);
        assert_eq!(one, matrix(3));
        let total: u64 = one.counts.values().sum();
        assert_eq!(total, 80);
        assert!(one.differing > 0 && one.first_differing.is_some());
        for outcome in one.outcomes() {
            assert_eq!(one.pairs(outcome).runs(), 80);
        }
    }
}
