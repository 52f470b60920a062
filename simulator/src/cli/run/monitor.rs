//! The claims of the project, while a conversation runs.

use crate::cli::files::open_segment_with;
use crate::cli::output;
use miette::{IntoDiagnostic, Result, miette};
use orchestrion_kernel::{CallId, Event, Policy};
use orchestrion_runtime::{Observer, lock_ignoring_poison};
use orchestrion_scenario::Scenario;
use orchestrion_scenario::run::{
    Progress, RunFacts, ScenarioResult, ScenarioRunError, continue_scenario, run_for_facts, run_observed,
    run_scenario,
};
use orchestrion_trace::fork::Fork;
use orchestrion_trace::{Header, Reader, TraceError, TraceErrorKind};
use orchestrion_user_claims::{Enforcement, Finding, MonitorStates, Monitors, UserClaim};
use std::collections::BTreeSet;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Checks the claims of the project at each step, and forbids calls that violate an enforced one. It keeps a few values of each claim,
/// however long the conversation is.
#[derive(Debug)]
pub(super) struct ClaimMonitor {
    monitors: Monitors,
    policy: Policy,
    states: MonitorStates,
    /// The pending calls that claims forbid, with the reason.
    forbidden: Vec<(CallId, String)>,
    violations: Arc<AtomicUsize>,
    /// The positions of the violated claims, if they are collected.
    violated: Option<Arc<Mutex<BTreeSet<usize>>>>,
    /// The text before a violation or a forbidden call, if they are printed at once.
    prints: Option<String>,
}

impl ClaimMonitor {
    pub(super) fn new(claims: &[UserClaim], policy: Policy) -> Self {
        let monitors = Monitors::new(claims);
        let states = monitors.start();
        Self {
            monitors,
            policy,
            states,
            forbidden: Vec::new(),
            violations: Arc::default(),
            violated: None,
            prints: None,
        }
    }

    /// Prints violations and forbidden calls when they happen.
    pub(super) fn printing(self) -> Self {
        Self { prints: Some(String::new()), ..self }
    }

    /// Prints violations and forbidden calls of this conversation when they happen.
    pub(super) fn printing_of(self, conversation: &str) -> Self {
        Self { prints: Some(format!("conversation {conversation}: ")), ..self }
    }

    /// Collects the positions of the violated claims here.
    fn collecting(self, violated: Arc<Mutex<BTreeSet<usize>>>) -> Self {
        Self { violated: Some(violated), ..self }
    }

    /// Checks that a journal has the events that enforced claims count. Called before the journal is opened.
    ///
    /// # Errors
    /// The journal cannot be read, or lacks events that an enforced claim counts.
    pub(super) fn check_journal(&self, journal: &Path) -> Result<()> {
        let reader = open_segment_with(journal, |file| file).into_diagnostic()?;
        if reader.header().continues.is_none() {
            return Ok(());
        }
        let is_idle = reader.start().is_ok_and(|start| start.state().control().phase().is_quiescent());
        let lacks_events = |claim: &&UserClaim| {
            claim.enforcement == Enforcement::Enforced && !(is_idle && claim.is_within_request())
        };
        let Some(claim) = self.monitors.claims().iter().find(lacks_events) else { return Ok(()) };
        Err(miette!(
            help = "state the claim within each request, and continue where no request runs; or join the segments: \
                    orchestrion journal join",
            "{}: the claim `{}` cannot be enforced: expected a journal with all events that it counts, found a \
             segment that continues another one",
            journal.display(),
            claim.id
        ))
    }

    /// Takes the steps that an opened journal already has. Their violations were reported when they happened.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(super) fn read_journal(&mut self, journal: &Path) -> Result<()> {
        self.read(open_segment_with(journal, |file| file).into_diagnostic()?).into_diagnostic()
    }

    fn read(&mut self, reader: Reader<impl BufRead>) -> Result<(), TraceError> {
        for step in reader {
            let step = match step {
                Ok(step) => step,
                // The conversation has not ended.
                Err(TraceError { kind: TraceErrorKind::MissingEnd, .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            step.events.iter().for_each(|event| self.step(event, |_| {}));
        }
        Ok(())
    }

    /// Counts violations here.
    pub(super) fn counting(self, violations: Arc<AtomicUsize>) -> Self {
        Self { violations, ..self }
    }

    /// The number of violations so far.
    pub(super) fn violations(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.violations)
    }

    /// Takes an event. `report` gets a sentence about each violation and each forbidden call.
    fn step(&mut self, event: &Event, mut report: impl FnMut(Report<'_>)) {
        let Self { monitors, policy, states, forbidden, violated, .. } = self;
        monitors.step(states, policy, event, |finding| {
            let (position, reason, is_violation) = match finding {
                Finding::Violated(position, reason) => (position, reason, true),
                Finding::Forbidden(position, reason) => (position, reason, false),
                Finding::Premise(_) => return,
            };
            let Some(claim) = monitors.claims().get(position) else { return };
            if let (Some(violated), true) = (&violated, is_violation) {
                lock_ignoring_poison(violated).insert(position);
            }
            let reason = monitors.reason(position, reason);
            if let (Event::ToolCall { call, .. }, Enforcement::Enforced, false) =
                (event, claim.enforcement, is_violation)
            {
                forbidden.push((*call, format!("the claim `{}` forbids the call: {reason}", claim.id)));
            }
            report(Report { claim, reason, is_violation });
        });
        forbidden.retain(|(call, _)| !states.forbidden_by(*call).is_empty());
    }
}

/// What an event does to a claim.
struct Report<'c> {
    claim: &'c UserClaim,
    reason: String,
    is_violation: bool,
}

impl Observer for ClaimMonitor {
    fn observe(&mut self, step: u64, events: &[Event]) {
        let (violations, prints) = (self.violations(), self.prints.clone());
        for event in events {
            self.step(event, |Report { claim, reason, is_violation }| {
                let UserClaim { id, sentence, place, enforcement, .. } = claim;
                violations.fetch_add(usize::from(is_violation), Ordering::Relaxed);
                let effect = match (is_violation, enforcement) {
                    (true, _) => "is VIOLATED",
                    (false, Enforcement::Shadow) => "would forbid a call",
                    (false, Enforcement::None | Enforcement::Enforced) => "forbids a call",
                };
                if let Some(prefix) = &prints {
                    let text = format!(
                        "{prefix}the claim `{id}` ({place}) {effect} at step {step}: {reason}: {sentence}"
                    );
                    output::print_error(&text);
                }
            });
        }
    }

    fn forbids(&self, call: CallId) -> Option<String> {
        let reasons = self.forbidden.iter().filter(|(forbidden, _)| *forbidden == call);
        let reasons: Vec<&str> = reasons.map(|(_, reason)| reason.as_str()).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

/// Runs a scenario. Calls that an enforced claim forbids are not made.
pub(in crate::cli) fn run_with_claims(scenario: Scenario, claims: &[UserClaim]) -> Result<ScenarioResult> {
    if claims.iter().all(|claim| claim.enforcement != Enforcement::Enforced) {
        return Ok(run_scenario(scenario)?);
    }
    let name = scenario.name.clone();
    Ok(run_observed(scenario, &|policy, journal| {
        observer(ClaimMonitor::new(claims, policy.clone()), &name, journal)
    })?)
}

/// Continues a fork with the rest of a scenario. Calls that an enforced claim forbids are not made.
pub(in crate::cli) fn continue_with_claims(
    progress: Progress,
    header: &Header,
    fork: Fork,
    claims: &[UserClaim],
) -> Result<ScenarioResult> {
    let name = header.conversation.to_string();
    let observer =
        |policy: &Policy, journal: &[u8]| observer(ClaimMonitor::new(claims, policy.clone()), &name, journal);
    Ok(continue_scenario(progress, header, fork, Some(&observer))?)
}

/// Returns the observer of a run that has seen this journal.
fn observer(mut monitor: ClaimMonitor, name: &str, journal: &[u8]) -> Result<Box<dyn Observer>, TraceError> {
    if !journal.is_empty() {
        monitor.read(Reader::new(journal, name)?)?;
    }
    Ok(Box::new(monitor))
}

/// Runs a scenario for its facts alone, with the positions of the claims that it violates. Calls that an enforced claim forbids are not
/// made.
pub(super) fn facts_with_claims(
    scenario: Scenario,
    claims: &[UserClaim],
) -> Result<(RunFacts, BTreeSet<usize>), ScenarioRunError> {
    if claims.is_empty() {
        return Ok((run_for_facts(scenario, None)?, BTreeSet::new()));
    }
    let (name, violated) = (scenario.name.clone(), Arc::<Mutex<BTreeSet<usize>>>::default());
    let observer = |policy: &Policy, journal: &[u8]| {
        let monitor = ClaimMonitor::new(claims, policy.clone()).collecting(Arc::clone(&violated));
        observer(monitor, &name, journal)
    };
    let facts = run_for_facts(scenario, Some(&observer))?;
    let violated = std::mem::take(&mut *lock_ignoring_poison(&violated));
    Ok((facts, violated))
}
