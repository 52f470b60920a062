//! What the claims of several topics share: types, the default claim, and predicates.

pub(super) use crate::history::ReviewStatus;
pub(super) use crate::{
    Actor, Claim, ClaimCheck, ContextView, Contract, Fairness, History, Premise, SemanticView,
};
pub(super) use orchestrion_kernel::control::phase::Phase;
pub(super) use orchestrion_kernel::event::{Cause, Decision, DecisionLabel, Event, TaskOutcome};
pub(super) use orchestrion_kernel::ids::{RequestId, Revision, TaskId, Text};
pub(super) use orchestrion_kernel::input::Input;
pub(super) use orchestrion_kernel::item::{ItemKey, ItemKind, SubtaskStatus};
pub(super) use orchestrion_kernel::module::{
    ConclusionKind, Failure, Module, Operation, Report, Role, Store,
};
pub(super) use orchestrion_kernel::policy::{Bound, Policy};
pub(super) use orchestrion_kernel::state::{Call, Request, StartedTask, State};

use alloc::vec::Vec;

pub(super) use ClaimCheck::{
    AcceptanceInvariant, BatchInvariant, BudgetInvariant, ContextInvariant, InputInvariant, LeadsTo,
    NetworkEventInvariant, NetworkInvariant, NodeInvariant, ResponseInvariant, SemanticInvariant,
    SemanticStepInvariant, StepInvariant, TraceInvariant, WriteInvariant,
};

/// Defaults: no finding, a premise that always holds, and every policy. A claim without a check fails everywhere.
pub(super) const CLAIM: Claim = Claim {
    id: "",
    clause: "",
    statement: "",
    formula: "",
    finding: None,
    finding_row: None,
    check: ClaimCheck::StateInvariant(|_, _| false),
    premise: Premise::State(|_, _| true),
    needs_proven_contexts: false,
    not_applicable: |_| None,
};

/// The fairness assumptions: the kernel takes its steps, every call gets a reply or times out, and crashes are finitely many. The
/// user is not obliged to act, and no module is obliged to succeed.
pub(super) const FAIR: &[Fairness] = &[
    Fairness::Weak(Actor::Kernel),
    Fairness::Weak(Actor::Module(Module::IdentityGuard)),
    Fairness::Weak(Actor::Module(Module::Memory)),
    Fairness::Weak(Actor::Module(Module::Summarizer)),
    Fairness::Weak(Actor::Module(Module::Classifier)),
    Fairness::Weak(Actor::Module(Module::Planner)),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Analyst))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Solution))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Critic))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Security))),
    Fairness::Weak(Actor::Module(Module::Debater(Role::Optimizer))),
    Fairness::Weak(Actor::Module(Module::AdditionalDebater)),
    Fairness::Weak(Actor::Module(Module::Approver)),
    Fairness::Weak(Actor::Module(Module::Executor)),
    Fairness::Weak(Actor::Module(Module::Store(Store::Local))),
    Fairness::Weak(Actor::Module(Module::Store(Store::Cloud))),
    Fairness::Weak(Actor::Module(Module::Auditor)),
    Fairness::FinitelyOften(Actor::Crash),
];

pub(crate) fn of_request(state: &State, holds: impl Fn(&Request) -> bool) -> bool {
    state.control().request().is_some_and(holds)
}

pub(super) fn running(_: &Policy, state: &State) -> bool {
    state.control().request().is_some()
}

pub(super) fn decided(state: &State, is: impl Fn(DecisionLabel) -> bool) -> bool {
    of_request(state, |request| request.decisions.iter().any(|decision| is(decision.label)))
}

pub(super) fn has_ended(_: &Policy, state: &State) -> bool {
    is_quiescent(state.control().phase()) && state.control().next_request() > RequestId::FIRST
}

/// Whether the plan is a later revision than the first.
pub(super) fn revised(state: &State) -> bool {
    of_request(state, |request| request.plan.as_ref().is_some_and(|plan| plan.revision > Revision::FIRST))
}

/// The expected status of each subtask whose task an event ends or undoes.
pub(super) fn ended_tasks(before: &State, event: &Event) -> Vec<(SubtaskStatus, TaskId)> {
    let control = before.control();
    let (ended, succeeded) = match event {
        Event::ToolResult { call, report, .. } => {
            (control.pending_call(*call), matches!(report, Report::Exit { code: 0, .. }))
        }
        Event::CallFailed { call, .. } => (control.pending_call(*call), false),
        Event::Cancelled => {
            let cancelled = control.pending_calls().iter().filter_map(Call::running_task);
            return cancelled.map(|task| (SubtaskStatus::Failed, task)).collect();
        }
        _ => return Vec::new(),
    };
    let ended = match ended.map(|call| call.operation) {
        Some(Operation::RunTask { task, .. }) if succeeded => Some((SubtaskStatus::Done, task)),
        Some(Operation::RunTask { task, .. }) => Some((SubtaskStatus::Failed, task)),
        Some(Operation::UndoTask { task }) if succeeded => Some((SubtaskStatus::Failed, task)),
        _ => None,
    };
    ended.into_iter().collect()
}

/// Whether a call is pending.
pub(super) fn is_pending(_: &Policy, state: &State) -> bool {
    !state.control().pending_calls().is_empty()
}

/// Whether the user cancelled the request.
pub(super) fn was_cancelled(_: &Policy, state: &State) -> bool {
    concluded_by(state, Cause::Cancelled)
}

/// Whether the outcome of a task of the run is unknown.
pub(super) fn has_lost_outcome(request: &Request) -> bool {
    let lost = TaskOutcome::NoResult(Failure::OutcomeUnknown);
    request.outcomes.iter().any(|ended| ended.outcome == lost)
}

/// Whether a crash lost a task of the request.
pub(super) fn has_lost_task(_: &Policy, state: &State) -> bool {
    concluded_by(state, Cause::CallFailed(Module::Executor, Failure::OutcomeUnknown))
}

fn concluded_by(state: &State, cause: Cause) -> bool {
    of_request(state, |request| request.conclusion.is_some_and(|ending| ending.cause == cause))
}

/// Whether no request runs in a phase.
pub(super) const fn is_quiescent(phase: Phase) -> bool {
    matches!(phase, Phase::Idle | Phase::Done | Phase::Aborted)
}

pub(super) fn starts_task(event: &Event) -> bool {
    matches!(event, Event::ToolCall { operation: Operation::RunTask { .. }, .. })
}

pub(super) fn ends_request(past: &History, event: &Event) -> bool {
    past.running && matches!(event, Event::Transitioned { row } if is_quiescent(row.transition().to))
}

pub(super) fn starts_another_pass(past: &History, event: &Event) -> bool {
    matches!(past.phase, Some(Phase::MultiPassCheck | Phase::ResolvingDecision))
        && matches!(event, Event::Transitioned { row } if matches!(row.transition().to, Phase::Round(_)))
}
