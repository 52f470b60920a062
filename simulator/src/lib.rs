//! The command `orchestrion`: one module per command in [`cli`].

pub mod cli;
