//! Writes to the semantic state by key, and reads from it (003).
//!
//! [`decide_write`] decides which items a [`Write`] adds, overwrites or supersedes, and which dependents need review. Like
//! `decide`, it returns events and changes nothing. A [`Principal`] describes the reader; reads skip items outside its
//! scope and audience.

mod authority;
mod capacity;
pub mod compaction;
mod error;
mod fact;
mod propagate;
mod read;
mod references;
pub(crate) mod types;
mod write;

pub use authority::decide_identity;
pub(crate) use capacity::forget_excess;
pub use error::KnowledgeError;
pub use read::Principal;
pub use types::{FactKind, NewFact, NewIdentity, Reference, Write, WriteSource};
pub use write::decide_write;
