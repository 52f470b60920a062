//! StateBench: a public benchmark of what a context says after facts were superseded, restricted, scoped or interrupted.
//!
//! [`Reader`](read::Reader) parts each line into a [`Timeline`](timeline::Timeline) and its [`Answers`](answers::Answers). A
//! [`Session`](session::Session) replays the timeline as writes that the kernel decides, [`Contexts`](context::Contexts) builds
//! the context of each question from the kernel's state, and only then do the answers judge it. No language model is asked:
//! what is measured is what the state gives to one.

pub mod context;
pub mod conversation;
pub mod detect;
pub mod diagnostic;
pub mod ground_truth;
pub mod import;
mod order;
mod present;
mod ranks;
pub mod read;
pub mod relevance;
pub mod report;
pub mod score;
pub mod session;
pub mod show;
pub mod stems;
mod tags;
pub mod timeline;
mod values;

pub use present::Presentation;

#[cfg(test)]
mod tests;
