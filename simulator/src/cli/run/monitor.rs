//! The claims of the project, while a conversation runs.

use crate::cli::files::open_segment_with;
use crate::cli::output;
use orchestrion_kernel::{Event, Policy};
use orchestrion_runtime::Observer;
use orchestrion_trace::{TraceError, TraceErrorKind};
use orchestrion_user_claims::{Finding, MonitorStates, Monitors, UserClaim};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Checks the claims of the project at each step, and reports a violation at once. It keeps a few values of each claim, however long
/// the conversation is.
#[derive(Debug)]
pub(super) struct ClaimMonitor {
    claims: Vec<UserClaim>,
    policy: Policy,
    states: MonitorStates,
    violations: Arc<AtomicUsize>,
}

impl ClaimMonitor {
    pub(super) fn new(claims: Vec<UserClaim>, policy: Policy) -> Self {
        let states = Monitors::new(&claims).start();
        Self { claims, policy, states, violations: Arc::default() }
    }

    /// Takes the steps that a journal already has. Their violations were reported when they happened.
    pub(super) fn read_journal(&mut self, journal: &Path) -> Result<(), TraceError> {
        for step in open_segment_with(journal, |file| file)? {
            let step = match step {
                Ok(step) => step,
                // The conversation has not ended.
                Err(TraceError { kind: TraceErrorKind::MissingEnd, .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            step.events.iter().for_each(|event| self.step(event, |_, _| {}));
        }
        Ok(())
    }

    /// The number of violations so far.
    pub(super) fn violations(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.violations)
    }

    fn step(&mut self, event: &Event, mut violated: impl FnMut(&UserClaim, String)) {
        let Self { claims, policy, states, .. } = self;
        let monitors = Monitors::new(claims);
        monitors.step(states, policy, event, |finding| {
            if let Finding::Violated(claim, reason) = finding
                && let Some(of_claim) = claims.get(claim)
            {
                violated(of_claim, monitors.reason(claim, reason));
            }
        });
    }
}

impl Observer for ClaimMonitor {
    fn observe(&mut self, step: u64, events: &[Event]) {
        let violations = self.violations();
        for event in events {
            self.step(event, |UserClaim { id, sentence, place, .. }, reason| {
                violations.fetch_add(1, Ordering::Relaxed);
                output::print_error(&format!(
                    "the claim `{id}` ({place}) is VIOLATED at step {step}: {reason}: {sentence}"
                ));
            });
        }
    }
}
