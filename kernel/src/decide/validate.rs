//! Refuses inputs that are invalid independently of the transition table.

use crate::control::phase::Phase;
use crate::ids::CallId;
use crate::input::Input;
use crate::item::Scope;
use crate::knowledge::{compaction, decide_identity};
use crate::module::Report;
use crate::plan::Task;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::state::{Call, Control, Request, State};
use alloc::collections::BTreeSet;

/// The refusal of an input for which no row matches.
pub(super) fn unexpected_input(state: &State, input: &Input) -> Refusal {
    let control = state.control();
    Refusal::UnexpectedInput {
        phase: control.phase(),
        found: input.trigger(),
        pending: control.pending_calls().first().map(|call| call.operation),
    }
}

/// Refuses replies to other calls, reports of another type, inputs of other users, and inputs that the phase does not admit.
pub(super) fn validate_input(policy: &Policy, state: &State, input: &Input) -> Result<(), Refusal> {
    let control = state.control();
    match input {
        Input::Reply { call, report, .. } => {
            let call = pending_call(control, *call)?;
            validate_reply(policy, state, call, report)?;
            validate_acceptance(state, call)
        }
        Input::CallFailed { call, .. } => pending_call(control, *call).map(|_| ()),
        // RollbackActive has rows for replies and for a step; the step is for the case that no effect is left to undo. Only while
        // tasks run can a step start a call beside the pending ones.
        Input::Step if !control.pending_calls().is_empty() && control.phase() != Phase::RunningTasks => {
            Err(unexpected_input(state, input))
        }
        // Outside Idle the phase is refused first, before session and user are compared.
        Input::SessionStart { .. } | Input::SessionEnd | Input::UserMessage { .. }
            if control.phase() != Phase::Idle =>
        {
            Err(unexpected_input(state, input))
        }
        Input::SessionStart { identity, .. } => match (control.session(), identity) {
            (Some(user), _) => Err(Refusal::SessionAlreadyOpen { user: user.clone() }),
            (None, Some(new)) => Ok(decide_identity(policy, state.semantic(), new).map(drop)?),
            (None, None) => Ok(()),
        },
        Input::SessionEnd => control.session().map(|_| ()).ok_or(Refusal::NoSession),
        Input::UserMessage { user, scope, .. } => match control.session() {
            None => Err(Refusal::NoSession),
            Some(session) if session != user => {
                Err(Refusal::WrongUser { expected: session.clone(), found: user.clone() })
            }
            Some(_) => validate_scope(state, scope),
        },
        Input::Write(write) if write.requires_session() && control.session().is_none() => {
            Err(Refusal::NoSession)
        }
        Input::Resume => control.request().map(|_| ()).ok_or(Refusal::NothingToResume),
        Input::Step | Input::Cancel | Input::Write(_) | Input::Network(_) | Input::Tick => Ok(()),
    }
}

/// The pending call with this id.
fn pending_call(control: &Control, found: CallId) -> Result<Call, Refusal> {
    let expected = || control.pending_calls().iter().map(|call| call.id).collect();
    control.pending_call(found).ok_or_else(|| Refusal::WrongCall { found, expected: expected() })
}

fn validate_reply(
    policy: &Policy,
    state: &State,
    Call { operation, not_made, .. }: Call,
    report: &Report,
) -> Result<(), Refusal> {
    let request = state.control().request();
    if !report.is_reply_to(operation) {
        return Err(Refusal::WrongReport { operation, found: report.label() });
    }
    if let Some(failure) = not_made {
        return Err(Refusal::CallNotMade { operation, failure });
    }
    let outdated = request.is_some_and(|request| request.outdated);
    if let Report::Summary { forgets: Some(forgets), .. } = report
        && !outdated
    {
        compaction::validate_summary(policy, state, forgets)?;
    }
    validate_effects(request, report)?;
    validate_task_scopes(state, report)
}

/// Refuses a reply of a node that has not accepted the handoff: nothing unsigned runs (001 §6.3).
fn validate_acceptance(state: &State, call: Call) -> Result<(), Refusal> {
    let assignment = state.network().and_then(|network| network.assignment(call.id));
    match assignment.filter(|assignment| !assignment.is_running()) {
        Some(assignment) => Err(Refusal::HandoffNotAccepted { call: call.id, node: assignment.to.clone() }),
        None => Ok(()),
    }
}

/// Refuses a scope in which nothing can run: a session, or a scope that no write opened.
fn validate_scope(state: &State, scope: &Scope) -> Result<(), Refusal> {
    if scope.is_global() || scope.name().is_some() && state.semantic().is_open(scope) {
        return Ok(());
    }
    Err(Refusal::UnknownScope { scope: scope.clone() })
}

/// Refuses a plan with a task in an unknown scope, or in another scope than that of a request in one: scopes do not nest. A member
/// in a narrower scope is refused too, because the aggregate of the members belongs to the scope of the request.
fn validate_task_scopes(state: &State, report: &Report) -> Result<(), Refusal> {
    let (Some(request), Some(plan)) = (state.control().request(), report.plan()) else { return Ok(()) };
    let mut validated = BTreeSet::new();
    for Task { id, scope, .. } in plan.tasks() {
        let Some(scope) = scope else { continue };
        if !request.scope.is_global() && *scope != request.scope {
            let (expected, found) = (request.scope.clone(), scope.clone());
            return Err(Refusal::OtherScope { task: *id, expected, found });
        }
        if validated.insert(scope) {
            validate_scope(state, scope)?;
        }
    }
    let adopted = if request.scope.is_global() { plan.scope() } else { None };
    let expected = adopted.unwrap_or(&request.scope);
    for Task { id, scope, .. } in plan.members() {
        if let Some(found) = scope.as_ref().filter(|scope| *scope != expected) {
            return Err(Refusal::OtherScope { task: *id, expected: expected.clone(), found: found.clone() });
        }
    }
    Ok(())
}

/// Refuses a plan that changes the effect kind of a started task: its compensation would be lost.
fn validate_effects(request: Option<&Request>, report: &Report) -> Result<(), Refusal> {
    let (Some(request), Some(plan)) = (request, report.plan()) else { return Ok(()) };
    for started in request.ledger.iter() {
        let planned = plan.task(started.task);
        if let Some(task) = planned.filter(|task| task.effect.kind() != started.effect) {
            return Err(Refusal::EffectChanged {
                task: task.id,
                expected: started.effect,
                found: task.effect.kind(),
            });
        }
    }
    Ok(())
}
