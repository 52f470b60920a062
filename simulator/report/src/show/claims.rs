//! The claims of the catalogue, checked on one trace.

use super::step_view::StepView;
use orchestrion_claims::{
    CLAIMS, Claim, ClaimCheck, History, has_unproven_context, state_violations, step_violations,
};
use orchestrion_kernel::{Policy, State};

/// The verdict of a trace on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// First violated in this step.
    Violated(u64),
    /// Holds in every step; the premise is first reached in this step.
    Holds(u64),
    /// Not violated, but the context of this step is the first that is not proven optimal.
    Inconclusive(u64),
    /// No step reaches the premise.
    Vacuous,
    /// Excluded by the policy, for this reason.
    NotApplicable(&'static str),
    /// A single trace has no verdict, for this reason.
    NotCheckable(&'static str),
}

/// The steps in which a claim was first violated, and in which its premise was first reached.
#[derive(Clone, Copy, Default)]
struct Observed {
    violation: Option<u64>,
    premise: Option<u64>,
}

/// Checks the claims during a trace.
pub(super) struct ClaimMonitor {
    history: History,
    /// In the order of the catalogue.
    observed: Vec<Observed>,
    /// The first step whose context is not proven optimal.
    unproven_context: Option<u64>,
}

impl ClaimMonitor {
    /// Starts at the initial state, which may already satisfy premises.
    pub(super) fn new(policy: &Policy, state: &State) -> Self {
        let observed = vec![Observed::default(); CLAIMS.len()];
        let mut monitor = Self { history: History::default(), observed, unproven_context: None };
        monitor.check_premises(policy, state, 0);
        monitor
    }

    /// Checks a step and the state after it.
    pub(super) fn check_step(&mut self, view: &StepView<'_>) {
        let StepView { policy, before, after, .. } = *view;
        let events = &view.step.events;
        if events.is_empty() {
            return;
        }
        let violations = step_violations(policy, before, &view.step.input, events, after, &mut self.history);
        for claim in violations.chain(state_violations(policy, after)) {
            self.observed[claim].violation.get_or_insert(view.step.n);
        }
        if self.unproven_context.is_none() && has_unproven_context(policy, after) {
            self.unproven_context = Some(view.step.n);
        }
        self.check_premises(policy, after, view.step.n);
    }

    fn check_premises(&mut self, policy: &Policy, state: &State, n: u64) {
        for (claim, observed) in CLAIMS.iter().zip(&mut self.observed) {
            if observed.premise.is_none() && claim.premise.holds(policy, state) {
                observed.premise = Some(n);
            }
        }
    }

    /// Returns the verdict on every claim.
    pub(super) fn verdicts(&self, policy: &Policy) -> Vec<(&'static Claim, Verdict)> {
        let verdict = |(claim, observed): (&'static Claim, &Observed)| match (
            observed.verdict(policy, claim),
            self.unproven_context,
        ) {
            (Verdict::Holds(_) | Verdict::Vacuous, Some(n)) if claim.needs_proven_contexts => {
                (claim, Verdict::Inconclusive(n))
            }
            (verdict, _) => (claim, verdict),
        };
        CLAIMS.iter().zip(&self.observed).map(verdict).collect()
    }
}

impl Observed {
    fn verdict(self, policy: &Policy, claim: &Claim) -> Verdict {
        if let Some(reason) = (claim.not_applicable)(policy) {
            return Verdict::NotApplicable(reason);
        }
        match claim.check {
            ClaimCheck::LeadsTo { .. } => return Verdict::NotCheckable("liveness: needs all infinite runs"),
            ClaimCheck::Contract(_) => return Verdict::NotCheckable("contract: needs all inputs"),
            ClaimCheck::StateInvariant(_)
            | ClaimCheck::ResponseInvariant(_)
            | ClaimCheck::StepInvariant(_)
            | ClaimCheck::InputInvariant(_)
            | ClaimCheck::BatchInvariant(_)
            | ClaimCheck::SemanticInvariant(_)
            | ClaimCheck::SemanticStepInvariant(_)
            | ClaimCheck::AcceptanceInvariant(_)
            | ClaimCheck::NetworkInvariant(_)
            | ClaimCheck::NetworkEventInvariant(_)
            | ClaimCheck::NodeInvariant(_)
            | ClaimCheck::WriteInvariant(_)
            | ClaimCheck::BudgetInvariant(_)
            | ClaimCheck::ContextInvariant(_)
            | ClaimCheck::TraceInvariant(_)
            | ClaimCheck::HistoryConsistency(_) => {}
        }
        match (self.violation, self.premise) {
            (Some(n), _) => Verdict::Violated(n),
            (None, Some(n)) => Verdict::Holds(n),
            (None, None) => Verdict::Vacuous,
        }
    }
}
