//! Time that passes between two inputs (003 layers 3 and 4).

use crate::event::{Event, Events, ForgetCause};
use crate::ids::Timestamp;
use crate::input::Input;
use crate::refusal::Refusal;
use crate::state::State;
use alloc::vec::Vec;

/// Returns the events of the time that passed before an input: the new time, and the expiry of items. Empty if no time passed.
///
/// # Errors
/// [`Refusal::TimeWentBack`] if the time is earlier than the kernel's; [`Refusal::NothingExpires`] for a tick at which no item
/// expires.
pub(super) fn advance(state: &State, now: Timestamp, input: &Input) -> Result<Events, Refusal> {
    if now < state.now() {
        return Err(Refusal::TimeWentBack { now: state.now(), found: now });
    }
    let next = state.semantic().next_expiry(state.now());
    if *input == Input::Tick && next.is_none_or(|next| next > now) {
        return Err(Refusal::NothingExpires { now, next });
    }
    if now == state.now() {
        return Ok(Vec::new());
    }
    let mut events = Vec::from([Event::TimeAdvanced { now }]);
    let ids = state.semantic().expired_items(now);
    if !ids.is_empty() {
        events.push(Event::ForgetItems { ids, cause: ForgetCause::Expiry });
    }
    Ok(events)
}
