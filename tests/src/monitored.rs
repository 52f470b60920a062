//! A monitored kernel. After every step it compares the oracle and checks the claims in force and the contracts of
//! `decide` and `apply`. At the end, folding the log must give the state.

use crate::oracle::Oracle;
use crate::random_walk::{Property, conversation};
use orchestrion_claims::{CLAIMS, Claim, History, state_violations, step_violations};
use orchestrion_kernel::policy::Rule;
use orchestrion_kernel::{Event, Events, Policy, State, TimedInput, decide};
use orchestrion_model::contracts;
use orchestrion_model::coverage::Observation;
use orchestrion_model::kernel_under_test::KernelUnderTest;

/// A conversation whose kernel is checked at every step.
#[derive(Debug)]
pub struct MonitoredKernel {
    policy: Policy,
    state: State,
    history: History,
    oracle: Oracle,
    /// Whether each claim is in force under this policy.
    in_force: Vec<bool>,
    /// All batches, decoded from their encoding.
    log: Vec<Events>,
}

/// Rules that a claim needs beside the one that closes its finding; random walks found them.
const REQUIRED_RULES: &[(&str, &[Rule])] = &[
    // Rollbacks are distinct only with a kind of their own, and reach Done only where no next request follows.
    ("C-02", &[Rule::TypedKinds, Rule::NextRequest]),
    // A revocable veto disappears when Security evaluates the Optimizer's revision.
    ("C-11", &[Rule::StickyVeto]),
    // The other dead ends of policy `as-drawn`.
    ("C-14", &[Rule::AuditedAbort, Rule::RollbackEnds]),
    ("C-16", &[Rule::AuditedAbort]),
];

/// Returns whether a claim is in force under a policy: its finding is closed, and its premise is reachable.
#[must_use]
pub fn in_force(claim: &Claim, policy: &Policy) -> bool {
    let closes_finding = |rule: &&Rule| {
        claim.finding.is_some_and(|finding| rule.findings().split(' ').any(|closed| closed == finding))
    };
    let required = REQUIRED_RULES.iter().filter(|(id, _)| *id == claim.id).flat_map(|(_, rules)| *rules);
    (claim.not_applicable)(policy).is_none()
        && Rule::ALL.iter().filter(closes_finding).chain(required).all(|rule| policy.rules.has(*rule))
}

impl MonitoredKernel {
    /// Returns the events of the latest accepted input.
    pub fn latest(&self) -> impl Iterator<Item = &Event> {
        self.log.last().into_iter().flatten()
    }

    /// Returns the current state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    fn apply_accepted(
        &mut self,
        TimedInput { at, input }: &TimedInput,
        events: &Events,
    ) -> Result<(), String> {
        let before = self.state.clone();
        events.iter().for_each(|event| self.state.apply(event));
        let mut violated: Vec<usize> =
            step_violations(&self.policy, &before, input, events, &self.state, &mut self.history).collect();
        violated.extend(state_violations(&self.policy, &self.state));
        let text =
            serde_json::to_string(events).map_err(|error| format!("cannot encode the events: {error}"))?;
        let decoded: Events = serde_json::from_str(&text)
            .map_err(|error| format!("cannot decode the events: {error}; {text}"))?;
        if decoded != *events {
            return Err(format!("the events differ after decoding: {text}"));
        }
        if decide(&self.policy, &before, *at, input).as_ref() != Ok(events) {
            return Err("decide returns two results for one input in one state".to_string());
        }
        self.log.push(decoded);
        self.check_violations(&violated)
    }

    fn check_violations(&self, violated: &[usize]) -> Result<(), String> {
        match violated.iter().find(|claim| self.in_force[**claim]) {
            Some(claim) => Err(format!("{} is violated: {}", CLAIMS[*claim].id, CLAIMS[*claim].statement)),
            None => Ok(()),
        }
    }
}

impl Property for MonitoredKernel {
    const STATEMENT: &'static str = "the kernel matches the oracle and satisfies every claim and contract";

    fn new(policy: &Policy) -> Self {
        Self {
            policy: policy.clone(),
            state: State::new(conversation()),
            history: History::default(),
            oracle: Oracle::new(policy, &conversation()),
            in_force: CLAIMS.iter().map(|claim| in_force(claim, policy)).collect(),
            log: Vec::new(),
        }
    }

    fn submit(&mut self, input: &TimedInput) -> Result<(), String> {
        let before = self.state.clone();
        let decided = decide(&self.policy, &self.state, input.at, &input.input);
        let checked = match &decided {
            Ok(events) => self.apply_accepted(input, events),
            Err(_) if self.state != before => Err("a refusal changed the state".to_string()),
            Err(refusal) if refusal.to_string().is_empty() => Err("a refusal has no message".to_string()),
            Err(_) => Ok(()),
        };
        // The oracle comes first: its message is the most specific.
        self.oracle.judge(input, decided.as_ref(), &self.state)?;
        checked
    }

    fn finish(self) -> Result<(), String> {
        let mut violated = Vec::new();
        contracts::check_state_contracts(
            &KernelUnderTest::unmodified(self.policy.clone()),
            &self.state,
            |observation| {
                if let Observation::Violation(claim) = observation {
                    violated.push(claim);
                }
            },
        );
        self.check_violations(&violated)?;
        let mut folded = State::new(conversation());
        self.log.iter().flatten().for_each(|event| folded.apply(event));
        if folded == self.state { Ok(()) } else { Err("folding the log does not give the state".to_string()) }
    }
}
