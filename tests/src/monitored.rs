//! A monitored kernel. After every step it compares the oracle and checks the claims in force and the contracts of
//! `decide` and `apply`. At the end, folding the log must give the state.

use crate::oracle::Oracle;
use crate::random_walk::{Property, conversation};
use orchestrion_claims::{CLAIMS, Claim, History, state_violations, step_violations};
use orchestrion_kernel::policy::Rule;
use orchestrion_kernel::{Event, Events, Input, Policy, State, decide};
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
    let closes = |rule: &&Rule| {
        claim.finding.is_some_and(|finding| rule.findings().split(' ').any(|closed| closed == finding))
    };
    let needs = REQUIRED_RULES.iter().filter(|(id, _)| *id == claim.id).flat_map(|(_, rules)| *rules);
    (claim.not_applicable)(policy).is_none()
        && Rule::ALL.iter().filter(closes).chain(needs).all(|rule| policy.rules.has(*rule))
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

    fn accepted(&mut self, input: &Input, events: &Events) -> Result<(), String> {
        let before = self.state.clone();
        events.iter().for_each(|event| self.state.apply(event));
        let mut broken: Vec<usize> =
            step_violations(&self.policy, &before, events, &self.state, &mut self.history).collect();
        broken.extend(state_violations(&self.policy, &self.state));
        let text =
            serde_json::to_string(events).map_err(|error| format!("events cannot be encoded: {error}"))?;
        let read: Events = serde_json::from_str(&text)
            .map_err(|error| format!("events cannot be read back: {error}; {text}"))?;
        if read != *events {
            return Err(format!("events read back from their encoding as others: {text}"));
        }
        if decide(&self.policy, &before, input).as_ref() != Ok(events) {
            return Err("the same input in the same state, decided twice, gave two answers".to_string());
        }
        self.log.push(read);
        self.hold(&broken)
    }

    fn hold(&self, broken: &[usize]) -> Result<(), String> {
        match broken.iter().find(|claim| self.in_force[**claim]) {
            Some(claim) => Err(format!("{} is broken: {}", CLAIMS[*claim].id, CLAIMS[*claim].statement)),
            None => Ok(()),
        }
    }
}

impl Property for MonitoredKernel {
    const STATEMENT: &'static str =
        "the kernel does what the oracle expects, keeps every claim and every promise";

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

    fn submit(&mut self, input: &Input) -> Result<(), String> {
        let before = self.state.clone();
        let decided = decide(&self.policy, &self.state, input);
        let checked = match &decided {
            Ok(events) => self.accepted(input, events),
            Err(_) if self.state != before => Err("a refusal changed the state".to_string()),
            Err(refusal) if refusal.to_string().is_empty() => Err("a refusal says nothing".to_string()),
            Err(_) => Ok(()),
        };
        // The oracle comes first: its message is the most specific.
        self.oracle.judge(input, decided.as_ref(), &self.state)?;
        checked
    }

    fn finish(self) -> Result<(), String> {
        let mut broken = Vec::new();
        contracts::check_state_contracts(
            &KernelUnderTest::unmodified(self.policy.clone()),
            &self.state,
            |mark| {
                if let Observation::Violation(claim) = mark {
                    broken.push(claim);
                }
            },
        );
        self.hold(&broken)?;
        let mut folded = State::new(conversation());
        self.log.iter().flatten().for_each(|event| folded.apply(event));
        if folded == self.state { Ok(()) } else { Err("the log does not fold to the state".to_string()) }
    }
}
