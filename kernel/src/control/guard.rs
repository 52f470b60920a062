//! What must hold for a row of the transition table to be taken. A guard reads policy, state and input.

use super::consensus;
use crate::input::Input;
use crate::knowledge::compaction;
use crate::module::{Failure, Operation, Report, Store};
use crate::policy::{Bound, Policy};
use crate::score::Score;
use crate::state::{Request, State};
use core::fmt;

/// A condition on the policy, the state before the input, and the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// Nothing: the row is taken if no row above it was.
    Always,
    /// Both identity locks match.
    LocksMatch,
    /// So much is known that some of it is to be summarized.
    CompactionDue,
    /// The report brings a new plan.
    PlanRevised,
    /// The approver says yes.
    Approved,
    /// Security's veto stands: any pass's under `sticky_veto`, else that of its latest argument.
    Vetoed,
    /// The consensus is below the line and passes are left.
    AnotherPass,
    /// The consensus that was calculated is too low to proceed.
    BelowProceed,
    /// The task succeeded and was not the last.
    MoreTasks,
    /// Every task of the plan succeeded.
    AllSucceeded,
    /// The policy's repairs are used up.
    RepairsExhausted,
    /// No veto, and the consensus with Security's new argument is enough to proceed.
    RepairCleared,
    /// After a crash nobody can tell whether the call happened.
    OutcomeUnknown,
    /// It was the local store; the cloud comes next.
    MoreStores,
    /// The audit sink may be tried again.
    AttemptsLeft,
}

impl Guard {
    /// Whether the condition holds. Without a running request, only [`Guard::Always`] does.
    #[must_use]
    pub fn is_satisfied(self, policy: &Policy, state: &State, input: &Input) -> bool {
        let running = state.control.request();
        self == Self::Always || running.is_some_and(|request| self.evaluate(policy, state, request, input))
    }

    fn evaluate(self, policy: &Policy, state: &State, request: &Request, input: &Input) -> bool {
        let report = match input {
            Input::Reply { report, .. } => Some(report),
            _ => None,
        };
        match self {
            Self::Always => true,
            Self::LocksMatch => matches!(report, Some(Report::Identity { gcp: true, mongodb: true })),
            Self::CompactionDue => compaction::is_due(policy, state),
            Self::PlanRevised => report.is_some_and(|report| report.plan().is_some()),
            Self::Approved => matches!(report, Some(Report::Approval { approved: true, .. })),
            Self::Vetoed => vetoed(policy, request),
            Self::AnotherPass => {
                request.debate.pass < policy.bounds.passes
                    && score(policy, request) < policy.thresholds.redebate_below
            }
            Self::BelowProceed => {
                request.debate.scored.is_none_or(|scored| scored.score < policy.thresholds.proceed_from)
            }
            Self::MoreTasks => {
                matches!(report, Some(Report::Exit { code: 0, .. }))
                    && tasks(request) > request.outcomes.len().saturating_add(1)
            }
            Self::AllSucceeded => {
                tasks(request) == request.outcomes.len()
                    && request.outcomes.iter().all(|end| *end == crate::event::TaskOutcome::Succeeded)
            }
            Self::RepairsExhausted => match policy.bounds.repairs {
                Bound::AtMost(most) => request.repairs >= most,
                Bound::Unbounded => false,
            },
            Self::RepairCleared => {
                !vetoed(policy, request)
                    && request.debate.security_reviewed == request.plan.as_ref().map(|plan| plan.revision)
                    && score(policy, request) >= policy.thresholds.proceed_from
            }
            Self::OutcomeUnknown => {
                matches!(input, Input::CallFailed { failure: Failure::OutcomeUnknown, .. })
            }
            Self::MoreStores => state.control.pending_call().is_some_and(|call| {
                matches!(call.operation, Operation::StoreMemory { store: Store::Local, .. })
            }),
            Self::AttemptsLeft => request.audit_attempts < policy.bounds.audit_attempts,
        }
    }
}

/// The consensus of the debate as it stands.
pub(crate) fn score(policy: &Policy, request: &Request) -> Score {
    consensus::debate_consensus(policy, &request.ratings, &request.debate.latest)
}

fn vetoed(policy: &Policy, request: &Request) -> bool {
    if policy.rules.sticky_veto {
        request.debate.vetoed
    } else {
        request.debate.latest.security.is_some_and(|a| a.is_objection_at_least(policy.thresholds.veto_from))
    }
}

fn tasks(request: &Request) -> usize {
    request.plan.as_ref().map_or(0, |plan| plan.plan.tasks().len())
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Always => "otherwise",
            Self::LocksMatch => "both locks match",
            Self::CompactionDue => "what is known has grown",
            Self::PlanRevised => "the reply brings a new plan",
            Self::Approved => "the approver says yes",
            Self::Vetoed => "a veto stands",
            Self::AnotherPass => "consensus below the line, passes left",
            Self::BelowProceed => "consensus too low to proceed",
            Self::MoreTasks => "the task succeeded, more to run",
            Self::AllSucceeded => "every task succeeded",
            Self::RepairsExhausted => "repairs used up",
            Self::RepairCleared => "no veto, consensus enough",
            Self::OutcomeUnknown => "nobody knows whether it happened",
            Self::MoreStores => "it was the local store",
            Self::AttemptsLeft => "attempts left",
        })
    }
}
