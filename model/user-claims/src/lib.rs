//! Claims that a project states in YAML, without Rust, and checks event by event.
//!
//! A claim file lists [`UserClaim`]s: patterns over events (`never`, `precedes`, `responds`, …) with matchers on the fields of an
//! event and of the running request. [`Monitors`] evaluate them in one pass, in constant memory and time per event, so that the
//! model checker, scenario runs, replays and a running conversation use the same code.
//!
//! Entry points: [`ClaimFile`] reads a file, [`Monitors`] checks events, [`FIELDS`] and [`EventKind`] are what matchers can name.

mod claim;
mod claim_set;
mod condition;
mod enforcement;
mod event_kind;
mod fields;
mod file;
mod format;
mod letters;
mod matcher;
mod monitor;
mod monitors;
mod page;
mod pattern;
mod predicate;
mod request;
mod sentence;
#[cfg(test)]
mod tests;
mod value;

pub use claim::{MAX_CLAIMS, UserClaim, Window};
pub use claim_set::ClaimSet;
pub use enforcement::Enforcement;
pub use event_kind::EventKind;
pub use fields::{FIELDS, Field, FieldKind};
pub use file::{ClaimFile, claim_schema};
pub use letters::{ClaimState, EventFold, LetterId, LetterStep, Letters};
pub use monitor::Verdict;
pub use monitors::{Finding, MonitorStates, Monitors};
pub use page::fields_page;
pub use pattern::Reason;
