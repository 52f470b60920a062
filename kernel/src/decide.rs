//! `decide`: maps a state and an input to a batch of events (000 §4.4, `step_base`).
//!
//! It reads policy, state and input, and modifies nothing. The batch is atomic; `State::apply` writes its events. The same
//! policy, state and input give the same batch.

mod actions;
mod batch;
mod conclude;
mod guards;
mod record;
mod validate;

use crate::control::table::{Transition, TransitionId, enabled_transitions};
use crate::event::{Event, Events};
use crate::input::Input;
use crate::knowledge::decide_write;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::state::State;
use alloc::vec;
use batch::Batch;

/// Returns the events of an input.
///
/// # Errors
/// A [`Refusal`] if the input is not accepted in this state. The state does not change then.
pub fn decide(policy: &Policy, state: &State, input: &Input) -> Result<Events, Refusal> {
    decide_with_row(policy, state, input, || {
        let mut rows = enabled_transitions(policy, state.control().phase(), input.trigger());
        rows.find(|row| row.when.is_satisfied(policy, state, input))
    })
}

/// Returns the events of an input, along the row that `select` returns. A model checker thereby decides with the rows of a
/// mutant.
///
/// # Errors
/// A [`Refusal`] if the input is not accepted in this state, or `select` returns no row. The state does not change then.
pub(crate) fn decide_with_row(
    policy: &Policy,
    state: &State,
    input: &Input,
    select: impl FnOnce() -> Option<&'static Transition>,
) -> Result<Events, Refusal> {
    validate::validate_input(policy, state, input)?;
    let row = match input {
        // Neither changes the phase, so neither has a row.
        Input::Resume => return Ok(vec![Event::Resumed]),
        Input::Write(write) => {
            return Ok(decide_write(policy, state.semantic(), state.control().session(), write)?);
        }
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Reply { .. }
        | Input::CallFailed { .. }
        | Input::Step
        | Input::Cancel => select().ok_or_else(|| validate::unexpected_input(state, input))?,
    };
    let mut batch = Batch::new(policy, state);
    batch.record_input(input, row);
    for action in row.exit {
        batch.run_exit_action(*action);
    }
    if let Some(rule) = row.conclusion {
        batch.conclude(rule, input);
    }
    batch.emit(Event::Transitioned { row: TransitionId::from_transition(row) });
    for action in row.entry {
        batch.run_entry_action(*action);
    }
    Ok(batch.into_events())
}
