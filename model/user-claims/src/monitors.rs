//! The monitors of all claims of a project.

use crate::claim::UserClaim;
use crate::event_kind::EventKind;
use crate::fields::Moment;
use crate::monitor::{MonitorState, Verdict, reason_text};
use crate::pattern::Reason;
use crate::request::Request;
use orchestrion_kernel::{Event, Policy};

/// The monitors of a list of claims: what they keep is in [`MonitorStates`], so that a model checker can copy it.
#[derive(Clone, Copy, Debug)]
pub struct Monitors<'c> {
    claims: &'c [UserClaim],
}

/// What the monitors keep between events: the running request, which all of them read, and a state of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitorStates {
    request: Request,
    claims: Vec<MonitorState>,
}

impl MonitorStates {
    /// Numbers the pending calls 1, 2, 3 …, as a canonical state of the kernel does.
    pub fn canonicalize(&mut self) {
        self.request.canonicalize();
    }
}

/// What one event does to one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The claim at this position is violated.
    Violated(usize, Reason),
    /// The event can decide the claim at this position.
    Premise(usize),
}

impl<'c> Monitors<'c> {
    /// Creates the monitors of these claims.
    #[must_use]
    pub const fn new(claims: &'c [UserClaim]) -> Self {
        Self { claims }
    }

    /// The claims, in their order.
    #[must_use]
    pub const fn claims(&self) -> &'c [UserClaim] {
        self.claims
    }

    /// The state before any event.
    #[must_use]
    pub fn start(&self) -> MonitorStates {
        let claims = self.claims.iter().map(MonitorState::new).collect();
        MonitorStates { request: Request::default(), claims }
    }

    /// Takes one event: applies it to the request, then steps every monitor.
    pub fn step(
        &self,
        states: &mut MonitorStates,
        policy: &Policy,
        event: &Event,
        mut found: impl FnMut(Finding),
    ) {
        let MonitorStates { request, claims } = states;
        let operation = request.operation(event);
        request.apply(policy, event, operation);
        let (kind, moment) = (EventKind::of(event), Moment { event, operation, request });
        for (position, (claim, state)) in self.claims.iter().zip(claims).enumerate() {
            let step = state.step(claim, kind, &moment);
            if step.is_premise {
                found(Finding::Premise(position));
            }
            if let Some(reason) = step.violated {
                found(Finding::Violated(position, reason));
            }
        }
    }

    /// The verdicts if the run stops here, for claims that no event violated.
    #[must_use]
    pub fn verdicts(&self, states: &MonitorStates) -> Vec<Verdict> {
        self.claims.iter().zip(&states.claims).map(|(claim, state)| state.verdict(claim)).collect()
    }

    /// Why the claim at a position is violated, as a clause.
    #[must_use]
    pub fn reason(&self, position: usize, reason: Reason) -> String {
        self.claims.get(position).map_or_else(String::new, |claim| reason_text(&claim.pattern, reason))
    }
}
