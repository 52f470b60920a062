//! Control: the states of 004, the table of its transitions, and the parts that know how to judge.
//!
//! Each part only reads; `decide` asks them, `State::apply` writes.

pub mod consensus;
pub mod elo;
pub mod guard;
pub mod phase;
pub mod table;
