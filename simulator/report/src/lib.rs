//! Reports: a trace as terminal output or an HTML page, the generated reference pages, counterexamples as traces, and ITF.

pub mod evidence;
pub mod itf;
pub mod pages;
pub mod show;
