//! The claims of the kernel's catalogue, held against one trace. Deliberately absent: what no single trace can tell, which
//! is what `check` is for.

use super::step_view::StepView;
use orchestrion_claims::{CLAIMS, Claim, ClaimCheck, History, state_violations, step_violations};
use orchestrion_kernel::{Policy, State};

/// What a trace shows of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// It was broken first in this step.
    Broken(u64),
    /// It had something to say first in this step, and held to the end of the trace.
    Held(u64),
    /// Nothing came that it is about.
    Vacuous,
    /// It says nothing under the policy, for this reason.
    NotApplicable(&'static str),
    /// One trace cannot tell, for this reason.
    NotJudged(&'static str),
}

/// The claims as far as a trace was gone through.
pub(super) struct ClaimMonitor {
    history: History,
    /// For each claim the first step that broke it, and the first one after which it had something to say.
    found: Vec<(Option<u64>, Option<u64>)>,
}

impl ClaimMonitor {
    /// Nothing has happened yet; some claims are about that too.
    pub(super) fn new(policy: &Policy, state: &State) -> Self {
        let mut judge = Self { history: History::default(), found: vec![(None, None); CLAIMS.len()] };
        judge.met(policy, state, 0);
        judge
    }

    /// Moves on past a step.
    pub(super) fn step(&mut self, scene: &StepView<'_>, before: &State) {
        let (policy, events, after) = (scene.policy, &scene.step.events, scene.after);
        if events.is_empty() {
            return;
        }
        let broken = step_violations(policy, before, events, after, &mut self.history);
        for claim in broken.chain(state_violations(policy, after)) {
            self.found[claim].0.get_or_insert(scene.step.n);
        }
        self.met(policy, after, scene.step.n);
    }

    fn met(&mut self, policy: &Policy, state: &State, n: u64) {
        for (claim, (_, met)) in CLAIMS.iter().zip(&mut self.found) {
            if met.is_none() && (claim.premise)(policy, state) {
                *met = Some(n);
            }
        }
    }

    /// What the trace shows, claim by claim.
    pub(super) fn verdicts(&self, policy: &Policy) -> Vec<(&'static Claim, Verdict)> {
        let verdict = |(claim, found): (&'static Claim, &(Option<u64>, Option<u64>))| {
            (claim, Self::verdict(policy, claim, *found))
        };
        CLAIMS.iter().zip(&self.found).map(verdict).collect()
    }

    fn verdict(policy: &Policy, claim: &Claim, (broken, met): (Option<u64>, Option<u64>)) -> Verdict {
        if let Some(why) = (claim.not_applicable)(policy) {
            return Verdict::NotApplicable(why);
        }
        match claim.check {
            ClaimCheck::LeadsTo { .. } => return Verdict::NotJudged("what is not yet, may still come"),
            ClaimCheck::Contract(_) => {
                return Verdict::NotJudged("it is about every input, not only those that came");
            }
            ClaimCheck::StateInvariant(_)
            | ClaimCheck::ResponseInvariant(_)
            | ClaimCheck::StepInvariant(_)
            | ClaimCheck::TraceInvariant(_)
            | ClaimCheck::HistoryConsistency(_) => {}
        }
        match (broken, met) {
            (Some(n), _) => Verdict::Broken(n),
            (None, Some(n)) => Verdict::Held(n),
            (None, None) => Verdict::Vacuous,
        }
    }
}
