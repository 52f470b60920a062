//! Orchestrion's simulator: scenarios, traces, replay, and the command.

pub mod conversation;
pub mod replay;
pub mod show;
pub mod trace;
