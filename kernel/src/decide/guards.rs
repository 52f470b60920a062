//! Evaluates the guards of the transition table.

use super::workflow::request_after;
use crate::control::consensus;
use crate::control::guard::Guard;
use crate::event::{TaskOutcome, TaskResult};
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
            Self::OutdatedMoreTasks => {
                policy.rules.current_facts && request.debate.outdated && has_ready_task(state, request, input)
            }
            Self::MoreTasks => has_ready_task(state, request, input),
            Self::TasksRunning => is_other_pending(state),
            Self::TaskCanStart => {
                let running = u32::try_from(state.control().pending_calls().len()).unwrap_or(u32::MAX);
                running < policy.bounds.parallel_tasks
                    && !request.has_unknown_outcome()
                    && !(policy.rules.current_facts && request.debate.outdated)
                    && has_ready_task(state, request, input)
            }
            Self::AllSucceeded => request.is_completed(),
            Self::RepairsExhausted => match policy.bounds.repairs {
                Bound::AtMost(most) => request.repairs >= most,
                Bound::Unbounded => false,
            },
            Self::RepairCleared => {
                !is_vetoed(policy, request)
                    && request.debate.security_reviewed == request.plan.as_ref().map(|plan| plan.revision)
                    && consensus_score(policy, request) >= policy.thresholds.proceed_from
            }
            Self::OutcomeUnknown => is_outcome_unknown(request, input),
            Self::MoreStores => state.control().answered_call(input).is_some_and(|call| {
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

/// [`Guard::MoreTasks`]
fn has_ready_task(state: &State, request: &Request, input: &Input) -> bool {
    if let Some((after, pending)) = request_after(state, request, input) {
        return after.ready_tasks(&pending, None).next().is_some();
    }
    let pending = state.control().pending_calls();
    request.ready_tasks(pending, ended_task(state, input)).next().is_some()
}

/// [`Guard::TasksRunning`], for an input that answers a pending call.
fn is_other_pending(state: &State) -> bool {
    state.control().pending_calls().len() > 1
}

/// [`Guard::OutcomeUnknown`]
fn is_outcome_unknown(request: &Request, input: &Input) -> bool {
    matches!(input, Input::CallFailed { failure: Failure::OutcomeUnknown, .. })
        || request.has_unknown_outcome()
}

/// The task that ends with this input.
pub(super) fn ended_task(state: &State, input: &Input) -> Option<TaskResult> {
    let task = state.control().answered_call(input)?.running_task()?;
    let outcome = match input {
        Input::Reply { report: Report::Exit { code, .. }, .. } => TaskOutcome::from_exit_code(*code),
        Input::CallFailed { failure, .. } => TaskOutcome::NoResult(*failure),
        Input::Reply { .. }
        | Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Step
        | Input::Cancel
        | Input::Write(_)
        | Input::Network(_)
        | Input::Tick
        | Input::Resume => return None,
    };
    Some(TaskResult { task, outcome })
}
