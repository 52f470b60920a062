//! The monitors of all claims of a project.

use crate::claim::UserClaim;
use crate::claim_set::ClaimSet;
use crate::enforcement::Enforcement;
use crate::event_kind::EventKind;
use crate::fields::Moment;
use crate::monitor::{MonitorState, Step, Verdict, reason_text};
use crate::pattern::Reason;
use crate::request::Request;
use orchestrion_kernel::{CallId, Event, Policy};
use std::sync::Arc;

/// The monitors of a list of claims: what they keep is in [`MonitorStates`], so that a model checker can copy it.
#[derive(Clone, Debug)]
pub struct Monitors {
    claims: Arc<[UserClaim]>,
    /// For each kind of event the claims that it concerns.
    by_kind: [ClaimSet; EventKind::ALL.len()],
    /// The claims that forbid calls, or would.
    guards: ClaimSet,
    /// The claims that forbid calls.
    enforced: ClaimSet,
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

    /// The enforced claims that forbid this pending call.
    #[must_use]
    pub fn forbidden_by(&self, call: CallId) -> ClaimSet {
        self.request.forbidden_by(call)
    }

    /// The pending calls that an enforced claim forbids, in their order.
    pub fn forbidden_calls(&self) -> impl Iterator<Item = CallId> {
        self.request.forbidden_calls()
    }
}

/// What one event does to one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The claim at this position is violated.
    Violated(usize, Reason),
    /// The claim at this position forbids the call of this event; in its shadow mode, it would forbid it.
    Forbidden(usize, Reason),
    /// The event can decide the claim at this position.
    Premise(usize),
}

impl Monitors {
    /// Creates the monitors of these claims, at most [`MAX_CLAIMS`](crate::MAX_CLAIMS).
    #[must_use]
    pub fn new(claims: impl Into<Arc<[UserClaim]>>) -> Self {
        let claims = claims.into();
        let set = |of_set: &dyn Fn(&UserClaim) -> bool| {
            let mut set = ClaimSet::default();
            claims.iter().enumerate().filter(|(_, claim)| of_set(claim)).for_each(|(at, _)| set.insert(at));
            set
        };
        let mut by_kind = [ClaimSet::default(); EventKind::ALL.len()];
        for (claims, kind) in by_kind.iter_mut().zip(EventKind::ALL) {
            *claims = set(&|claim| claim.kinds.contains(*kind));
        }
        let guards = set(&|claim| claim.enforcement.is_guard());
        let enforced = set(&|claim| claim.enforcement == Enforcement::Enforced);
        Self { claims, by_kind, guards, enforced }
    }

    /// The claims, in their order.
    #[must_use]
    pub fn claims(&self) -> &[UserClaim] {
        &self.claims
    }

    /// The state before any event.
    #[must_use]
    pub fn start(&self) -> MonitorStates {
        let claims = self.claims.iter().map(MonitorState::new).collect();
        MonitorStates { request: Request::default(), claims }
    }

    /// Takes one event: applies it to the request, then steps every monitor that it concerns.
    pub fn step(
        &self,
        states: &mut MonitorStates,
        policy: &Policy,
        event: &Event,
        mut found: impl FnMut(Finding),
    ) {
        let MonitorStates { request, claims } = states;
        let operation = request.operation(event);
        for claim in request.made_although_forbidden(event).iter() {
            found(Finding::Violated(claim, Reason::Made));
        }
        request.apply(policy, event, operation);
        let kind = EventKind::of(event);
        let concerned = self.by_kind.get(kind as usize).copied().unwrap_or_default();
        let moment = Moment { event, operation, request };
        let guards = match event {
            Event::ToolCall { .. } => concerned.intersection(self.guards),
            _ => ClaimSet::default(),
        };
        for position in concerned.without(guards).iter() {
            let (Some(claim), Some(state)) = (self.claims.get(position), claims.get_mut(position)) else {
                continue;
            };
            let Step { is_premise, violated } = state.step(claim, kind, &moment);
            if is_premise {
                found(Finding::Premise(position));
            }
            if let Some(reason) = violated {
                found(Finding::Violated(position, reason));
            }
        }
        if let (Event::ToolCall { call, .. }, false) = (event, guards.is_empty()) {
            let forbidden = self.judge_call(guards, claims, kind, &moment, found);
            request.forbid(*call, forbidden);
        }
    }

    /// Steps the guards over a call. One that an enforced claim forbids is not made: then no guard takes it. Returns the enforced claims
    /// that forbid it.
    fn judge_call(
        &self,
        guards: ClaimSet,
        states: &mut [MonitorState],
        kind: EventKind,
        moment: &Moment<'_>,
        mut found: impl FnMut(Finding),
    ) -> ClaimSet {
        let mut after = Vec::new();
        let mut forbidden = ClaimSet::default();
        for position in guards.iter() {
            let (Some(claim), Some(state)) = (self.claims.get(position), states.get(position)) else {
                continue;
            };
            let mut next = state.clone();
            let Step { is_premise, violated } = next.step(claim, kind, moment);
            if is_premise {
                found(Finding::Premise(position));
            }
            match violated {
                Some(reason) => {
                    found(Finding::Forbidden(position, reason));
                    forbidden.insert(position);
                }
                None => after.push((position, next)),
            }
        }
        let forbidden = forbidden.intersection(self.enforced);
        if forbidden.is_empty() {
            for (position, next) in after {
                if let Some(state) = states.get_mut(position) {
                    *state = next;
                }
            }
        }
        forbidden
    }

    /// The verdicts if the run stops here, for claims that no event violated.
    #[must_use]
    pub fn verdicts(&self, states: &MonitorStates) -> Vec<Verdict> {
        self.claims.iter().zip(&states.claims).map(|(claim, state)| state.verdict(claim)).collect()
    }

    /// Why the claim at a position is violated, or forbids a call, as a clause.
    #[must_use]
    pub fn reason(&self, position: usize, reason: Reason) -> String {
        self.claims.get(position).map_or_else(String::new, |claim| reason_text(&claim.pattern, reason))
    }
}
