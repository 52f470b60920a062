//! `decide`: maps a state and an input to a batch of events (000 §4.4, `step_base`).
//!
//! It reads policy, state, time and input, and modifies nothing. The batch is atomic; `State::apply` writes its events. The
//! same policy, state, time and input give the same batch.
//!
//! Time passes before the input: first the kernel's time advances and expired items are forgotten, then the input is decided
//! in the state after these events.

mod actions;
mod batch;
mod conclude;
mod guards;
mod network;
mod record;
mod routing;
mod time;
mod validate;
mod workflow;

use crate::control::table::{Transition, TransitionId, enabled_transitions};
use crate::event::{Event, Events};
use crate::ids::Timestamp;
use crate::input::Input;
use crate::knowledge::{decide_write, forget_excess};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::state::State;
use alloc::vec;
use alloc::vec::Vec;
use batch::Batch;

/// Returns the events of an input at this time, which is not before that of the last accepted input.
///
/// # Errors
/// A [`Refusal`] if the input is not accepted in this state. The state does not change then.
pub fn decide(policy: &Policy, state: &State, now: Timestamp, input: &Input) -> Result<Events, Refusal> {
    decide_with_row(policy, state, now, input, |state| select_row(policy, state, input))
}

/// Returns whether the kernel accepts an internal step: it continues without a reply.
#[must_use]
pub fn can_step(policy: &Policy, state: &State) -> bool {
    validate::validate_input(policy, state, &Input::Step).is_ok()
        && select_row(policy, state, &Input::Step).is_some()
}

/// Returns the first row that the policy enables and that the input satisfies.
pub(crate) fn select_row(policy: &Policy, state: &State, input: &Input) -> Option<&'static Transition> {
    let mut rows = enabled_transitions(policy, state.control().phase(), input.trigger());
    rows.find(|row| row.when.is_satisfied(policy, state, input))
}

/// Returns the events of an input, along the row that `select` returns in the state at this time. A model checker thereby decides with the rows of a
/// mutant.
///
/// # Errors
/// A [`Refusal`] if the input is not accepted in this state, or `select` returns no row. The state does not change then.
pub(crate) fn decide_with_row(
    policy: &Policy,
    state: &State,
    now: Timestamp,
    input: &Input,
    select: impl FnOnce(&State) -> Option<&'static Transition>,
) -> Result<Events, Refusal> {
    let mut events = time::advance(state, now, input)?;
    if events.is_empty() {
        return decide_input(policy, state, input, select);
    }
    let mut later = state.clone();
    events.iter().for_each(|event| later.apply(event));
    events.append(&mut decide_input(policy, &later, input, select)?);
    Ok(events)
}

/// Returns whether [`decide_with_row`] accepts an input. An input that takes a row is accepted once its row is found: the batch
/// is not built.
#[cfg(feature = "checker")]
pub(crate) fn accepts_with_row(
    policy: &Policy,
    state: &State,
    now: Timestamp,
    input: &Input,
    select: impl FnOnce(&State) -> Option<&'static Transition>,
) -> bool {
    if now == state.now() {
        find_response(policy, state, input, select).is_ok()
    } else {
        decide_with_row(policy, state, now, input, select).is_ok()
    }
}

/// How the kernel responds to an input that it accepts.
enum Response {
    /// Along a row.
    Row(&'static Transition),
    /// Without a row: the phase does not change.
    Events(Events),
}

/// Returns the response to an input in a state whose time is that of the input.
fn find_response(
    policy: &Policy,
    state: &State,
    input: &Input,
    select: impl FnOnce(&State) -> Option<&'static Transition>,
) -> Result<Response, Refusal> {
    validate::validate_input(policy, state, input)?;
    // An attempt after which another node is tried does not end the call, so it has no row.
    if let Some(events) = routing::decide_next_best(policy, state, input) {
        return Ok(Response::Events(events));
    }
    match input {
        Input::Resume => Ok(Response::Events(vec![Event::Resumed])),
        Input::Tick => Ok(Response::Events(Vec::new())),
        Input::Write(write) => {
            let session = state.control().session();
            let mut events = decide_write(policy, state.semantic(), state.now(), session, write)?;
            if state.control().phase().is_quiescent() {
                events.append(&mut forget_excess(policy, state.semantic(), &events));
            }
            Ok(Response::Events(events))
        }
        Input::Network(input) => network::decide_network(policy, state, input).map(Response::Events),
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Reply { .. }
        | Input::CallFailed { .. }
        | Input::Step
        | Input::Cancel => {
            let row = select(state).ok_or_else(|| validate::unexpected_input(state, input))?;
            Ok(Response::Row(row))
        }
    }
}

/// Returns the events of an input in a state whose time is that of the input.
fn decide_input(
    policy: &Policy,
    state: &State,
    input: &Input,
    select: impl FnOnce(&State) -> Option<&'static Transition>,
) -> Result<Events, Refusal> {
    let row = match find_response(policy, state, input, select)? {
        Response::Events(events) => return Ok(events),
        Response::Row(row) => row,
    };
    let mut batch = Batch::new(policy, state);
    batch.record_input(input, row);
    batch.end_workflow(row);
    for action in row.exit {
        batch.run_exit_action(*action);
    }
    if let Some(rule) = row.conclusion {
        batch.conclude(rule, input);
    }
    // No request runs in such a phase.
    if row.to.is_quiescent() {
        batch.forget_situation();
        batch.forget_excess();
    }
    batch.emit(Event::Transitioned { row: TransitionId::from_transition(row) });
    for action in row.entry {
        batch.run_entry_action(*action);
    }
    Ok(batch.into_events())
}
