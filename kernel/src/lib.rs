//! The kernel of Orchestrion: a pure, deterministic state machine that orchestrates language-model modules.
//!
//! | function | purpose |
//! |---|---|
//! | [`decide`] | maps a [`State`] and an [`Input`] to [`Events`], or returns a [`Refusal`]; changes nothing |
//! | [`State::apply`] | applies an event; the only writer of a state |
//! | [`build_context`] | builds the context that a module receives with a call |
//!
//! The runtime, the simulator, replay and the model checker use the same three functions. A [`Policy`] configures them; the
//! [transition table](control::table) defines the control FSM.
//!
//! ```
//! use orchestrion_kernel::{ConversationId, Input, Policy, State, Timestamp, UserId, decide};
//!
//! let policy = Policy::hardened();
//! let mut state = State::new(ConversationId::new("demo"));
//! let now = Timestamp::from_millis(1_767_225_600_000);
//! let events = decide(&policy, &state, now, &Input::session_start(UserId::new("ada")))?;
//! for event in &events {
//!     state.apply(event);
//! }
//! let refusal = decide(&policy, &state, now, &Input::Step).unwrap_err();
//! assert_eq!(
//!     refusal.to_string(),
//!     "unexpected input in Idle: expected a user message, session start or session end, found a step",
//! );
//! # Ok::<(), orchestrion_kernel::Refusal>(())
//! ```
//!
//! Features: `serde` encodes inputs, events, policies and states. `checker` adds entry points for model checkers, claims and
//! tests, some of which mutate a state without `apply`; an application must not enable it.
//!
//! Deliberately absent: I/O, clocks, randomness, hash order, unsafe code, panics that an input can cause, and floats except in
//! one module, `numeric`, which rounds to fixed point at once.

#![no_std]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::as_conversions,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

extern crate alloc;

/// The kernel version, which each trace header contains.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(feature = "checker")]
pub mod checker;
pub mod context;
pub mod control;
mod decide;
pub mod digest;
pub mod event;
pub mod ids;
pub mod input;
pub mod item;
pub mod knowledge;
pub mod module;
pub mod network;
mod numeric;
pub mod plan;
pub mod policy;
pub mod refusal;
pub mod score;
pub mod selection;
pub mod semantic;
mod shared_map;
pub mod situation;
pub mod state;

pub use context::{ModuleContext, build_context};
pub use control::phase::Phase;
pub use control::trigger::Trigger;
pub use decide::{can_step, decide};
pub use event::{Event, Events};
pub use ids::{
    CallId, CapabilityId, ClusterId, ConversationId, ItemId, NodeId, RequestId, Revision, TaskId, Text,
    Timestamp, TraceId, UserId,
};
pub use input::{Input, TimedInput};
pub use policy::Policy;
pub use refusal::Refusal;
pub use score::{Score, Weight};
pub use state::State;
