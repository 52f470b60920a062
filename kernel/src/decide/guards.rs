//! Evaluates the guards of the transition table.

use crate::control::consensus;
use crate::control::guard::Guard;
use crate::event::TaskOutcome;
use crate::input::Input;
use crate::knowledge::compaction;
use crate::module::{Failure, Operation, Report, Store};
use crate::policy::{Bound, Policy};
use crate::score::Score;
use crate::state::{Debate, Request, State};

impl Guard {
    /// Whether the condition holds in the state before the input. Without a running request, only [`Guard::Always`] does.
    #[must_use]
    pub fn is_satisfied(self, policy: &Policy, state: &State, input: &Input) -> bool {
        let Some(request) = state.control().request() else { return self == Self::Always };
        let report = if let Input::Reply { report, .. } = input { Some(report) } else { None };
        match self {
            Self::Always => true,
            Self::LocksMatch => matches!(report, Some(Report::Identity { gcp: true, mongodb: true })),
            Self::CompactionDue => compaction::is_due(policy, state),
            Self::PlanRevised => report.is_some_and(|report| report.plan().is_some()),
            Self::MoreDebaters => {
                policy.additional_debaters.len() > request.debate.additional.len().saturating_add(1)
            }
            Self::Approved => is_approved(report),
            Self::Vetoed => is_vetoed(policy, request),
            Self::AnotherPass => {
                has_passes_left(policy, request)
                    && consensus_score(policy, request) < policy.thresholds.redebate_below
            }
            Self::BelowProceed => is_below_proceed(policy, request),
            Self::Outdated => request.debate.outdated,
            Self::OutdatedPassesLeft => request.debate.outdated && has_passes_left(policy, request),
            Self::OutdatedApproved => request.debate.outdated && is_approved(report),
            Self::OutdatedMoreTasks => request.debate.outdated && has_more_tasks(request, report),
            Self::MoreTasks => has_more_tasks(request, report),
            Self::AllSucceeded => {
                task_count(request) == request.outcomes.len()
                    && request.outcomes.iter().all(|outcome| *outcome == TaskOutcome::Succeeded)
            }
            Self::RepairsExhausted => match policy.bounds.repairs {
                Bound::AtMost(most) => request.repairs >= most,
                Bound::Unbounded => false,
            },
            Self::RepairCleared => {
                !is_vetoed(policy, request)
                    && request.debate.security_reviewed == request.plan.as_ref().map(|plan| plan.revision)
                    && consensus_score(policy, request) >= policy.thresholds.proceed_from
            }
            Self::OutcomeUnknown => {
                matches!(input, Input::CallFailed { failure: Failure::OutcomeUnknown, .. })
            }
            Self::MoreStores => state.control().pending_call().is_some_and(|call| {
                matches!(call.operation, Operation::StoreMemory { store: Store::Local, .. })
            }),
            Self::AttemptsLeft => request.audit_attempts < policy.bounds.audit_attempts,
        }
    }
}

/// The consensus of the latest arguments.
pub(super) fn consensus_score(policy: &Policy, request: &Request) -> Score {
    let Debate { latest, additional, .. } = &request.debate;
    consensus::debate_consensus(policy, &request.ratings, latest, additional)
}

/// [`Guard::Vetoed`]
pub(super) fn is_vetoed(policy: &Policy, request: &Request) -> bool {
    if policy.rules.sticky_veto {
        request.debate.vetoed
    } else {
        let latest = request.debate.latest.security;
        latest.is_some_and(|argument| argument.is_objection_at_least(policy.thresholds.veto_from))
    }
}

/// [`Guard::BelowProceed`]
pub(super) fn is_below_proceed(policy: &Policy, request: &Request) -> bool {
    request.debate.scored.is_none_or(|scored| scored.score < policy.thresholds.proceed_from)
}

fn has_passes_left(policy: &Policy, request: &Request) -> bool {
    request.debate.pass < policy.bounds.passes
}

const fn is_approved(report: Option<&Report>) -> bool {
    matches!(report, Some(Report::Approval { approved: true, .. }))
}

fn has_more_tasks(request: &Request, report: Option<&Report>) -> bool {
    matches!(report, Some(Report::Exit { code: 0, .. }))
        && task_count(request) > request.outcomes.len().saturating_add(1)
}

fn task_count(request: &Request) -> usize {
    request.plan.as_ref().map_or(0, |plan| plan.plan.tasks().len())
}
