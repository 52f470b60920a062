//! Expectations of claims.

use super::unmet;
use crate::expect::ScenarioExpectFile;
use orchestrion_claims::{CLAIMS, History, state_violations, step_violations};
use orchestrion_kernel::{Policy, State};
use orchestrion_trace::{Reader, Step, TraceError};
use orchestrion_yaml::LabeledError;
use std::collections::BTreeMap;
use std::io::BufRead;

/// Finds the claims that the steps of a conversation violate.
pub(crate) struct ViolationFold {
    policy: Policy,
    state: State,
    history: History,
    /// The first step that violates a claim, by the id of the claim.
    violated: BTreeMap<&'static str, u64>,
}

impl ViolationFold {
    /// Starts before the first step.
    pub(crate) fn new(policy: Policy, state: State) -> Self {
        Self { policy, state, history: History::default(), violated: BTreeMap::new() }
    }

    /// Adds a step.
    pub(crate) fn apply(&mut self, step: &Step) {
        if step.events.is_empty() {
            return;
        }
        let before = self.state.clone();
        step.events.iter().for_each(|event| self.state.apply(event));
        let (policy, after) = (&self.policy, &self.state);
        let in_step = step_violations(policy, &before, &step.input, &step.events, after, &mut self.history);
        for claim in in_step.chain(state_violations(policy, after)).filter_map(|at| CLAIMS.get(at)) {
            if (claim.not_applicable)(policy).is_none() {
                self.violated.entry(claim.id).or_insert(step.n);
            }
        }
    }

    /// Returns the violated claims, each with its first step.
    pub(crate) fn finish(self) -> BTreeMap<&'static str, u64> {
        self.violated
    }
}

/// Returns an error for each expectation of a claim that a run does not meet.
///
/// # Errors
/// [`TraceError`] for a trace that cannot be read.
pub(super) fn judge_claims<R: BufRead>(
    expect: &ScenarioExpectFile,
    reader: Reader<R>,
) -> Result<Vec<LabeledError>, TraceError> {
    if *expect == ScenarioExpectFile::default() {
        return Ok(Vec::new());
    }
    let header = reader.header();
    let policy = header.policy.clone();
    let mut fold = ViolationFold::new(policy.clone(), State::new(header.conversation.clone()));
    for step in reader {
        fold.apply(&step?);
    }
    let violated = fold.finish();
    let mut errors = Vec::new();
    for (claims, is_expected) in [(&expect.holds, true), (&expect.fails, false)] {
        for claim in claims {
            let Some(known) = CLAIMS.iter().find(|known| known.id == claim.value.id()) else { continue };
            let found = match ((known.not_applicable)(&policy), violated.get(known.id)) {
                (Some(reason), _) => format!("it not applicable under {}: {reason}", policy.name),
                (None, Some(_)) if !is_expected => continue,
                (None, None) if is_expected => continue,
                (None, Some(step)) => format!("it violated at step {step}: {}", known.statement),
                (None, None) => format!("it violated in no step: {}", known.statement),
            };
            let expected = if is_expected { "to hold" } else { "to fail" };
            errors.push(unmet(&format!("claim {}", known.id), expected, &found, claim.span()));
        }
    }
    Ok(errors)
}
