//! The kernel of Orchestrion: everything that decides, pure and deterministic.
//!
//! A conversation is a [`State`]. [`decide`] says what an [`Input`] means in it, as [`Events`] or as a
//! [`Refusal`]; [`State::apply`] writes the events; [`present()`] says what a module is shown. The same three
//! run in a program, under a model checker, in a simulator and against recorded logs.
//!
//! ```
//! use orchestrion_kernel::{ConversationId, Input, Policy, State, UserId, decide};
//!
//! let policy = Policy::hardened();
//! let mut state = State::new(ConversationId::new("demo"));
//! let events = decide(&policy, &state, &Input::SessionStart { user: UserId::new("ada") })?;
//! for event in &events {
//!     state.apply(event);
//! }
//! let refusal = decide(&policy, &state, &Input::Step).unwrap_err();
//! assert_eq!(
//!     refusal.to_string(),
//!     "a step came while Idle; expected a user message, or the start or end of a session",
//! );
//! # Ok::<(), crate::Refusal>(())
//! ```
//!
//! Deliberately absent: I/O, clocks, randomness, hashing order, floats, unsafe code, and panics that input
//! could reach.

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

/// The version of the kernel, which stands in the header of every trace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod context;
pub mod control;
mod decide;
pub mod event;
pub mod ids;
pub mod input;
pub mod item;
pub mod knowledge;
pub mod module;
pub mod plan;
pub mod policy;
pub mod refusal;
pub mod score;
pub mod selection;
pub mod semantic;
pub mod situation;
pub mod state;

pub use context::{ModuleContext, build_context};
pub use control::phase::Phase;
pub use decide::{decide, decide_with_row};
pub use event::{Event, Events};
pub use ids::{
    CallId, ConversationId, ItemId, RequestId, Revision, TaskId, Text, Timestamp, TraceId, UserId,
};
pub use input::{Input, Trigger};
pub use policy::Policy;
pub use refusal::Refusal;
pub use score::{Score, Weight};
pub use state::State;
