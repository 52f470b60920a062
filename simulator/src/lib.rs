//! The command `orchestrion`: one module per command, and the project file.

pub mod cli;
pub mod project;
