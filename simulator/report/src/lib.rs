//! Reports for readers: traces as terminal output or HTML pages, reference pages, counterexamples as traces, and ITF.
//!
//! - [`show`]: the steps of a trace, one step in full, the history of one item, its base events, or an HTML page.
//! - [`pages`]: the transition table, its diagram, the claims and the state fields as Markdown.
//! - [`evidence`]: counterexamples as traces.
//! - [`itf`]: traces in the Informal Trace Format.
//! - [`text`]: text that is safe to print on a terminal.
//!
//! Deliberately absent: replay and claim checking, which `orchestrion-trace` and `orchestrion-claims` do.

pub mod evidence;
pub mod itf;
pub mod pages;
pub mod show;
pub mod text;
