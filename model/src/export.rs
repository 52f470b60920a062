//! For other people's tools: what was explored, and the control FSM in the languages of their checkers, so that they may
//! confirm ours.
//!
//! [`dot`] draws what was explored, [`itf`] writes a run through it.
//!
//! [`Control`] is made from the transition table and a policy: finite variables, and steps that guard and set them.
//! [`promela`] prints it for SPIN, [`tla`] for TLC; both walk the same data. What a row does is told here a second
//! time, from the meaning of the kernel's events and apart from its code: where the two differ, so do the verdicts.
//!
//! What does not fit finite control is left to choice. The consensus is a free choice among the cells that the
//! policy's lines cut, whatever was argued; a task that starts leaves something to undo, or does not. So the model may do
//! more than the kernel: a claim that holds in it holds of control, and one that fails in it may yet hold in the kernel.

pub mod ast;
pub mod claims;
pub mod control;
pub mod dot;
pub mod effects;
mod free_vars;
mod header;
pub mod itf;
pub mod promela;
pub mod tla;

pub use control::ControlModel;

#[cfg(test)]
mod tests;
