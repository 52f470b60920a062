//! The command `orchestrion`: one module per command in [`cli`], and the project file in [`project`].

pub mod cli;
pub mod project;
