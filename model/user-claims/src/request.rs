//! What the events say about the running request.
//!
//! A fold of its own: the history of the catalogue's claims drops what no later event of the kernel depends on, and a claim of a
//! project may still ask for it.

use crate::claim_set::ClaimSet;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::ids::CallId;
use orchestrion_kernel::module::{Failure, Operation, Report, Role, Stance};
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::policy::Bound;
use orchestrion_kernel::{Policy, Score};
use smallvec::SmallVec;

/// The running request, or the latest one. The default is the state before any request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    /// The phase after the latest transition.
    pub(crate) phase: Phase,
    /// The pending calls.
    pending: SmallVec<[PendingCall; 4]>,
    /// Both identity locks matched.
    pub(crate) verified: bool,
    /// The pass of the debate; saturates one above the policy's bound.
    pub(crate) pass: u32,
    /// Security vetoed a revision.
    pub(crate) vetoed: bool,
    /// The confidence of Security's objection to the current revision.
    pub(crate) objection: Option<Score>,
    /// The approver agreed to the current revision.
    pub(crate) approved: bool,
    /// The number of tasks of the current plan.
    pub(crate) tasks: u32,
    /// The number of started repairs; saturates one above the policy's bound, and is 0 without a bound.
    pub(crate) repairs: u32,
    /// A rollback was entered.
    pub(crate) rolled_back: bool,
    /// The user cancelled.
    pub(crate) cancelled: bool,
}

/// A pending call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PendingCall {
    id: CallId,
    operation: Operation,
    /// The enforced claims that forbid it.
    forbidden_by: ClaimSet,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            phase: Phase::Idle,
            pending: SmallVec::new(),
            verified: false,
            pass: 0,
            vetoed: false,
            objection: None,
            approved: false,
            tasks: 0,
            repairs: 0,
            rolled_back: false,
            cancelled: false,
        }
    }
}

impl Request {
    /// The operation that an event calls or answers, before the event is applied.
    pub(crate) fn operation(&self, event: &Event) -> Option<Operation> {
        match event {
            Event::ToolCall { operation, .. } => Some(*operation),
            Event::ToolResult { call, .. }
            | Event::CallFailed { call, .. }
            | Event::OverBudget { call, .. } => {
                self.pending.iter().find(|pending| pending.id == *call).map(|pending| pending.operation)
            }
            _ => None,
        }
    }

    /// The number of tasks that run.
    pub(crate) fn running_tasks(&self) -> usize {
        let runs = |pending: &&PendingCall| matches!(pending.operation, Operation::RunTask { .. });
        self.pending.iter().filter(runs).count()
    }

    /// The enforced claims that forbid a pending call.
    pub(crate) fn forbidden_by(&self, call: CallId) -> ClaimSet {
        let pending = self.pending.iter().find(|pending| pending.id == call);
        pending.map_or_else(ClaimSet::default, |pending| pending.forbidden_by)
    }

    /// The pending calls that an enforced claim forbids.
    pub(crate) fn forbidden_calls(&self) -> impl Iterator<Item = CallId> {
        self.pending.iter().filter(|pending| !pending.forbidden_by.is_empty()).map(|pending| pending.id)
    }

    /// Marks a pending call as forbidden by these claims.
    pub(crate) fn forbid(&mut self, call: CallId, claims: ClaimSet) {
        let called = self.pending.iter_mut().filter(|pending| pending.id == call);
        called.for_each(|pending| pending.forbidden_by = claims);
    }

    /// The claims that forbid the call that an event ends, if the event shows that the call was made: by a reply, or by a failure other than
    /// that of a call that is not made.
    pub(crate) fn made_although_forbidden(&self, event: &Event) -> ClaimSet {
        match event {
            Event::CallFailed { failure: Failure::Forbidden, .. } => ClaimSet::default(),
            Event::ToolResult { call, .. }
            | Event::CallFailed { call, .. }
            | Event::Network(NetworkEvent::AttemptFailed { call, .. }) => self.forbidden_by(*call),
            _ => ClaimSet::default(),
        }
    }

    /// Applies an event. `operation` is that of [`Self::operation`].
    pub(crate) fn apply(&mut self, policy: &Policy, event: &Event, operation: Option<Operation>) {
        match event {
            Event::UserMsg { .. } => *self = Self::default(),
            Event::ToolCall { call, operation } => self.pending.push(PendingCall {
                id: *call,
                operation: *operation,
                forbidden_by: ClaimSet::default(),
            }),
            // Such a call is not made, whatever a claim says.
            Event::OverBudget { call, .. } | Event::Network(NetworkEvent::NoCandidates { call, .. }) => {
                self.forbid(*call, ClaimSet::default());
            }
            Event::ToolResult { call, report, .. } => {
                self.end_call(*call);
                if let Some(operation) = operation {
                    self.apply_report(operation, report);
                }
            }
            Event::CallFailed { call, .. } | Event::Network(NetworkEvent::AttemptFailed { call, .. }) => {
                self.end_call(*call);
            }
            Event::Cancelled => {
                self.cancelled = true;
                self.pending.clear();
            }
            Event::VetoRaised { .. } => self.vetoed = true,
            Event::PlanAdopted { plan, .. } => {
                self.tasks = u32::try_from(plan.tasks().len()).unwrap_or(u32::MAX);
                self.objection = None;
                self.approved = false;
            }
            Event::RepairStarted => {
                let most = match policy.bounds.repairs {
                    Bound::AtMost(most) => most,
                    Bound::Unbounded => return,
                };
                self.repairs = self.repairs.saturating_add(1).min(most.saturating_add(1));
            }
            Event::Transitioned { row } => self.enter(policy, row.transition().to),
            _ => {}
        }
    }

    fn end_call(&mut self, call: CallId) {
        self.pending.retain(|pending| pending.id != call);
    }

    fn apply_report(&mut self, operation: Operation, report: &Report) {
        match report {
            Report::Identity { gcp, mongodb } => self.verified = *gcp && *mongodb,
            Report::Argument { argument, .. } if operation.arguing_role() == Some(Role::Security) => {
                self.objection = (argument.stance == Stance::Con).then_some(argument.confidence);
            }
            Report::Approval { approved, .. } => self.approved = *approved,
            _ => {}
        }
    }

    fn enter(&mut self, policy: &Policy, phase: Phase) {
        match phase {
            Phase::Round(Role::Analyst) => self.pass = 1,
            // A later pass starts at Solution.
            Phase::Round(Role::Solution) if self.phase != Phase::Round(Role::Analyst) => {
                self.pass = self.pass.saturating_add(1).min(policy.bounds.passes.saturating_add(1));
            }
            Phase::RollbackActive => self.rolled_back = true,
            _ => {}
        }
        self.phase = phase;
    }

    /// Numbers the pending calls 1, 2, 3 …, as a canonical state of the kernel does.
    pub(crate) fn canonicalize(&mut self) {
        let mut next = CallId::FIRST;
        for pending in &mut self.pending {
            pending.id = next;
            next = next.next();
        }
    }
}
