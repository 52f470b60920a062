//! StateBench: a public benchmark of contexts after facts were superseded, restricted, scoped or interrupted.
//!
//! [`Reader`](read::Reader) splits each line into a [`Timeline`](timeline::Timeline) and its
//! [`GroundTruth`](ground_truth::GroundTruth). A [`Replay`](replay::Replay) passes the timeline to `orchestrion-ingest`, which
//! writes it to a semantic state. A [`ContextBuilder`](context::ContextBuilder) builds the context of each query from that state.
//! Only then does the ground truth judge the context. No language model is called: the score measures what a model would receive.
//!
//! **Invariant.** The context builder receives a `Timeline`, which has no ground truth.
//!
//! Deliberately absent: general rules on texts, which `orchestrion-ingest` has.

pub mod context;
pub mod diagnostic;
mod fields;
pub mod ground_truth;
mod line;
mod order;
mod pattern;
mod presentation;
pub mod read;
pub mod relevance;
pub mod replay;
pub mod report;
pub mod score;
mod statements;
mod time;
pub mod timeline;
pub mod timeline_report;
mod visible_items;

pub use presentation::Presentation;
