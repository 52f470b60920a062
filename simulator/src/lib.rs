//! The command `orchestrion`: one module per command in [`cli`], the project file in [`project`], and scope files in [`scope_file`].

pub mod cli;
pub mod project;
pub mod scope_file;
