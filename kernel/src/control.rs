//! Control: the phases of 004, the transition table, and the computations of the debate.
//!
//! Everything here is data or a pure computation. `decide` reads it; `State::apply` changes the phase.

mod checks;
pub mod consensus;
pub mod elo;
pub mod guard;
pub mod phase;
pub mod table;
pub mod transition;
pub mod trigger;
