//! Entry points for model checkers, claims and tests. An application does not need them.

use crate::control::table::Transition;
use crate::event::{BaseEvent, Event, Events, ForgetCause};
use crate::ids::{ItemId, Timestamp};
use crate::input::{Input, TimedInput};
use crate::item::{ItemKey, Layer};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::semantic::SemanticState;
use crate::state::State;
use core::fmt;

/// Decides as [`decide`](crate::decide) does, along the transition that `choose` returns in the state at this time. A model checker uses it to run
/// mutants of the table.
///
/// # Errors
/// A [`Refusal`] if the input is invalid, or if `choose` returns `None`.
pub fn decide_with_row(
    policy: &Policy,
    state: &State,
    now: Timestamp,
    input: &Input,
    choose: impl FnOnce(&State) -> Option<&'static Transition>,
) -> Result<Events, Refusal> {
    crate::decide::decide_with_row(policy, state, now, input, choose)
}

/// Returns whether [`decide_with_row`] accepts an input, in less time.
#[must_use]
pub fn accepts_with_row(
    policy: &Policy,
    state: &State,
    now: Timestamp,
    input: &Input,
    choose: impl FnOnce(&State) -> Option<&'static Transition>,
) -> bool {
    crate::decide::accepts_with_row(policy, state, now, input, choose)
}

/// Returns whether [`decide`](crate::decide) accepts an input, in less time.
#[must_use]
pub fn accepts(policy: &Policy, state: &State, now: Timestamp, input: &Input) -> bool {
    accepts_with_row(policy, state, now, input, |state| crate::decide::select_row(policy, state, input))
}

impl TimedInput {
    /// Creates the input at its [`input_time`] in this state.
    #[must_use]
    pub fn in_state(state: &State, input: Input) -> Self {
        Self { at: input_time(state, &input), input }
    }
}

/// Returns the time of an input for a caller without a clock: of a tick the next expiry, of other inputs the kernel's time.
#[must_use]
pub fn input_time(state: &State, input: &Input) -> Timestamp {
    match input {
        Input::Tick => state.semantic().next_expiry(state.now()).unwrap_or_else(|| state.now()),
        Input::SessionStart { .. }
        | Input::SessionEnd
        | Input::UserMessage { .. }
        | Input::Reply { .. }
        | Input::CallFailed { .. }
        | Input::Step
        | Input::Cancel
        | Input::Write(_)
        | Input::Network(_)
        | Input::Resume => state.now(),
    }
}

/// A semantic event that does not fit the semantic state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventError {
    /// `AddItem` with an id that was already used.
    DuplicateId(ItemId),
    /// `UpdateItem` or `ForgetItems` of an item that does not exist.
    UnknownItem(ItemId),
    /// A dependency that does not exist.
    DanglingDependency(ItemId),
    /// `ForgetItems` of an item on which a remaining item depends.
    HasDependents {
        /// The forgotten item.
        id: ItemId,
        /// The dependent.
        by: ItemId,
    },
    /// `ForgetItems` with a cause that does not apply to the item.
    InvalidForgetCause(ItemId),
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId(id) => write!(f, "duplicate id: expected an unused id, found {id}"),
            Self::UnknownItem(id) => write!(f, "unknown item: expected an existing item, found {id}"),
            Self::DanglingDependency(id) => {
                write!(f, "dangling dependency: expected an existing item, found {id}")
            }
            Self::HasDependents { id, by } => {
                write!(f, "item {id} has a dependent: expected that item {by} is forgotten too")
            }
            Self::InvalidForgetCause(id) => write!(f, "invalid cause to forget item {id}"),
        }
    }
}

impl core::error::Error for EventError {}

/// Checks that an event fits the semantic state. Events that are not semantic always fit.
///
/// # Errors
/// [`EventError`] for an `AddItem`, `UpdateItem` or `ForgetItems` event that violates an invariant of 000 §2.2.
pub fn validate_event(semantic: &SemanticState, event: &Event) -> Result<(), EventError> {
    let closed = |deps: &[ItemId]| match deps.iter().find(|dep| semantic.get(**dep).is_none()) {
        Some(dep) => Err(EventError::DanglingDependency(*dep)),
        None => Ok(()),
    };
    if let Event::ForgetItems { ids, cause } = event {
        return ids.iter().try_for_each(|id| validate_forget(semantic, ids, *id, *cause));
    }
    match event.base() {
        Some(BaseEvent::AddItem(item, _)) if item.id < semantic.next_id() => {
            Err(EventError::DuplicateId(item.id))
        }
        Some(BaseEvent::UpdateItem(item, _)) if semantic.get(item.id).is_none() => {
            Err(EventError::UnknownItem(item.id))
        }
        Some(BaseEvent::AddItem(_, deps) | BaseEvent::UpdateItem(_, deps)) => closed(deps),
        Some(
            BaseEvent::ForgetItems(_)
            | BaseEvent::UserMsg(..)
            | BaseEvent::ToolCall(..)
            | BaseEvent::ToolResult(..)
            | BaseEvent::FinalAnswer(_),
        )
        | None => Ok(()),
    }
}

fn validate_forget(
    semantic: &SemanticState,
    ids: &[ItemId],
    id: ItemId,
    cause: ForgetCause,
) -> Result<(), EventError> {
    let item = &semantic.get(id).ok_or(EventError::UnknownItem(id))?.item;
    let has_cause = match cause {
        ForgetCause::SessionEnd | ForgetCause::Capacity => !item.is_persistent(),
        ForgetCause::Compaction { into } => semantic.get(into).is_some() && !ids.contains(&into),
        ForgetCause::RequestEnd => matches!(item.key, ItemKey::Situation(_)),
        ForgetCause::Expiry => matches!(item.layer, Layer::Working { expires_at: Some(_), .. }),
    };
    if !has_cause {
        return Err(EventError::InvalidForgetCause(id));
    }
    match semantic.dependents(id).find(|by| !ids.contains(by)) {
        Some(by) => Err(EventError::HasDependents { id, by }),
        None => Ok(()),
    }
}
