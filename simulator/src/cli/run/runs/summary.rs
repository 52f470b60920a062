//! What many runs of a scenario give. Summaries are merged in any order.

use crate::cli::exit_status::ExitStatus;
use crate::cli::statistics::{Distribution, Share};
use orchestrion_kernel::event::{Cause, DecisionLabel};
use orchestrion_kernel::module::{ConclusionKind, Module};
use orchestrion_scenario::run::{RequestFacts, RunFacts, ScenarioRunError};
use std::collections::{BTreeMap, BTreeSet};

/// Kind and cause of a conclusion; `None` without a conclusion.
pub(super) type Ending = Option<(ConclusionKind, Cause)>;

/// The runs with a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) count: u64,
    pub(super) first_seed: u64,
}

/// Counts of values, with the first seed of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts<K>(pub(super) BTreeMap<K, Counted>);

impl<K> Default for Counts<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord> Counts<K> {
    fn add(&mut self, key: K, seed: u64) {
        self.add_counted(key, Counted { count: 1, first_seed: seed });
    }

    fn add_counted(&mut self, key: K, counted: Counted) {
        let entry = self.0.entry(key).or_insert(Counted { count: 0, ..counted });
        entry.count += counted.count;
        entry.first_seed = entry.first_seed.min(counted.first_seed);
    }

    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(key, counted)| self.add_counted(key, counted));
    }

    /// Returns the values, the most frequent first.
    pub(super) fn by_count(&self) -> Vec<(&K, Counted)> {
        let mut all: Vec<_> = self.0.iter().map(|(key, counted)| (key, *counted)).collect();
        all.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.count));
        all
    }
}

/// What one request gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestSummary {
    /// The runs in which the request started.
    pub(super) runs: u64,
    pub(super) endings: Counts<Ending>,
    pub(super) labels: Counts<Option<DecisionLabel>>,
    pub(super) passes: Distribution,
    pub(super) calls: Distribution,
}

/// What a property of a whole run is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunProperty {
    /// It halted: every next input is refused.
    Halted,
    /// It does not meet an expectation, or a write was refused or accepted against the script.
    Unmet,
    /// A scripted event or reply did not occur.
    Unused,
}

impl RunProperty {
    pub(super) const ALL: [Self; 3] = [Self::Halted, Self::Unmet, Self::Unused];
}

/// What the runs give so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunsSummary {
    /// The runs that ended or halted.
    pub(super) runs: u64,
    /// By the position of the request in the scenario.
    pub(super) requests: Vec<RequestSummary>,
    pub(super) properties: Counts<RunProperty>,
    /// The violated claims, by position.
    pub(super) violated: Counts<usize>,
    pub(super) calls: Distribution,
    pub(super) calls_by_module: BTreeMap<Module, Distribution>,
    pub(super) context_tokens: Distribution,
    pub(super) steps: Distribution,
    pub(super) time_ms: Distribution,
    /// The runs that were not possible, by error.
    pub(super) errors: Counts<String>,
}

impl RunsSummary {
    /// Adds the run with this seed.
    pub(super) fn add(&mut self, seed: u64, run: Result<(RunFacts, BTreeSet<usize>), ScenarioRunError>) {
        let (facts, violated) = match run {
            Ok(run) => run,
            Err(error) => return self.errors.add(error.to_string(), seed),
        };
        let RunFacts { requests, context_tokens, time, steps, halted, unmet_expectations, unused_events } =
            facts;
        let mut calls: BTreeMap<Module, u64> = BTreeMap::new();
        for (position, request) in requests.into_iter().enumerate() {
            if self.requests.len() <= position {
                self.requests.push(RequestSummary::default());
            }
            let of_modules = request.calls.iter().map(|(module, number)| (*module, u64::from(*number)));
            of_modules.for_each(|(module, number)| *calls.entry(module).or_default() += number);
            if let Some(summary) = self.requests.get_mut(position) {
                summary.add(seed, &request);
            }
        }
        self.calls.add(calls.values().sum());
        for (module, number) in calls {
            self.calls_by_module.entry(module).or_default().add(number);
        }
        self.context_tokens.add(context_tokens);
        self.steps.add(steps);
        self.time_ms.add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let has = |property| match property {
            RunProperty::Halted => halted.is_some(),
            RunProperty::Unmet => unmet_expectations > 0,
            RunProperty::Unused => unused_events > 0,
        };
        RunProperty::ALL.into_iter().filter(|property| has(*property)).for_each(|property| {
            self.properties.add(property, seed);
        });
        violated.into_iter().for_each(|claim| self.violated.add(claim, seed));
        self.runs += 1;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        for (position, request) in other.requests.into_iter().enumerate() {
            match self.requests.get_mut(position) {
                Some(summary) => summary.merge(request),
                None => self.requests.push(request),
            }
        }
        self.properties.merge(other.properties);
        self.violated.merge(other.violated);
        self.calls.merge(other.calls);
        for (module, calls) in other.calls_by_module {
            self.calls_by_module.entry(module).or_default().merge(calls);
        }
        self.context_tokens.merge(other.context_tokens);
        self.steps.merge(other.steps);
        self.time_ms.merge(other.time_ms);
        self.errors.merge(other.errors);
    }

    /// Returns the runs that halted, did not meet an expectation, or did not use their script.
    pub(super) fn counted(&self, property: RunProperty) -> Option<Counted> {
        self.properties.0.get(&property).copied()
    }

    /// Returns the share of these runs among those that were possible.
    pub(super) const fn share(&self, counted: Counted) -> Share {
        Share { count: counted.count, runs: self.runs }
    }

    /// Failure if a run halted, did not meet an expectation, or violates a claim. Whether the script of a random run is used to its end
    /// depends on the choices, so that is no failure.
    pub(super) fn status(&self) -> ExitStatus {
        let is_failure = self.counted(RunProperty::Halted).is_some()
            || self.counted(RunProperty::Unmet).is_some()
            || !self.violated.0.is_empty();
        match (is_failure, self.errors.0.is_empty(), self.runs) {
            (true, ..) => ExitStatus::Failure,
            (false, true, _) => ExitStatus::Success,
            (false, false, 0) => ExitStatus::Error,
            (false, false, _) => ExitStatus::Incomplete,
        }
    }
}

impl RequestSummary {
    fn add(&mut self, seed: u64, request: &RequestFacts) {
        self.runs += 1;
        self.endings.add(request.conclusion.map(|conclusion| (conclusion.kind, conclusion.cause)), seed);
        self.labels.add(request.label, seed);
        self.passes.add(request.passes.into());
        self.calls.add(request.calls.values().map(|number| u64::from(*number)).sum());
    }

    fn merge(&mut self, other: Self) {
        self.runs += other.runs;
        self.endings.merge(other.endings);
        self.labels.merge(other.labels);
        self.passes.merge(other.passes);
        self.calls.merge(other.calls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn facts(seed: u64) -> RunFacts {
        let calls = BTreeMap::from([(Module::Planner, 1 + (seed % 3) as u32)]);
        let label = (!seed.is_multiple_of(4)).then_some(DecisionLabel::ConsensusReached);
        let request = RequestFacts { label, calls, passes: (seed % 2) as u32, ..RequestFacts::default() };
        RunFacts {
            requests: vec![request; 1 + (seed % 2) as usize],
            time: Duration::from_millis(seed * 7 % 11),
            unused_events: usize::from(seed.is_multiple_of(5)),
            ..RunFacts::default()
        }
    }

    #[test]
    fn summaries_merge_in_any_order() {
        let of = |seeds: &[u64]| {
            let mut summary = RunsSummary::default();
            seeds.iter().for_each(|seed| {
                summary.add(*seed, Ok((facts(*seed), BTreeSet::from([*seed as usize % 2]))))
            });
            summary
        };
        let whole = of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        for parts in [[&[0, 3, 9][..], &[1, 2], &[4, 5, 6, 7, 8]], [&[9, 8, 7], &[6, 5, 4, 3, 2, 1, 0], &[]]]
        {
            let mut merged = RunsSummary::default();
            parts.into_iter().for_each(|part| merged.merge(of(part)));
            assert_eq!(merged, whole);
        }
        assert_eq!(whole.counted(RunProperty::Unused), Some(Counted { count: 2, first_seed: 0 }));
        assert_eq!(whole.status(), ExitStatus::Failure);
    }
}
