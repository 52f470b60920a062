//! Exports for other tools: explored graphs and runs, and the control FSM for other model checkers.
//!
//! [`dot`] draws an explored graph; [`itf`] writes a run.
//!
//! [`ControlModel`] is derived from the transition table and a policy: finite variables, and steps that guard and set them.
//! [`promela`] prints it for SPIN, [`tla`] for TLC. The effects of a step follow from the columns of its row; what
//! `State::apply` does with the events is stated again, over the variables. External checkers thereby confirm the table and
//! the explorer, not `apply`.
//!
//! The control model abstracts from the kernel. The consensus is chosen among the cells between the thresholds of the policy,
//! whatever the arguments; a started task may or may not have an effect. The model allows every behavior of the kernel's
//! control and more: a claim that holds in the model holds in the kernel, and one that fails in the model may hold in the
//! kernel.

pub mod ast;
pub mod claims;
pub mod control;
pub mod dot;
pub mod effects;
mod free_vars;
mod guards;
mod header;
pub mod input_class;
pub mod itf;
pub mod promela;
pub mod tla;

pub use control::ControlModel;

#[cfg(test)]
mod tests;
