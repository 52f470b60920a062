//! Conversion of texts into typed writes (003).
//!
//! [`TaggedText::parse`] reads the tags of a text: audience, scope, retraction, named source. [`identity`], [`source`], [`memory`]
//! and [`ranks`] convert titles and source names. [`Session`] applies facts, signals, notes and turns to a semantic state through
//! the kernel. A [`SupersessionDetector`] finds in texts which fact a write or a turn supersedes.
//!
//! Detection is a boundary: the kernel receives each result with the write, records the rule, and may decide otherwise. Every rule
//! looks at the shape of a text.
//!
//! ```
//! use orchestrion_ingest::identity::identity_from_title;
//! use orchestrion_ingest::source::SourceLabel;
//! use orchestrion_ingest::{FactInput, KeywordDetector, Session, Speaker, TaggedText, TurnInput};
//! use orchestrion_kernel::{Policy, Timestamp};
//!
//! let mut session = Session::new(Policy::hardened(), &KeywordDetector);
//! session.set_identity(&identity_from_title("Ada", "Roof Manager", "Works", "Inn", &[]));
//! let at = Timestamp::default();
//! let turn = |text: &str| TurnInput { speaker: Speaker::User, text: TaggedText::parse(text), at };
//! session.add_turn(turn("The roof will be red."));
//! session.write_fact(&FactInput::new("roof", "red", SourceLabel::from_word("user"), at));
//! session.add_turn(turn("Actually, make the roof black."));
//! session.apply_detected();
//! let facts = session.state().entries().map(|entry| &entry.item).filter(|item| item.fact().is_some());
//! let current: Vec<_> = facts.filter(|item| item.is_valid()).map(|item| item.text.as_str()).collect();
//! assert_eq!(current, ["Actually, make the roof black."]);
//! ```
//!
//! Deliberately absent: file formats, the text form of times, context building, synonyms, grammar, and anything learned from data.

mod audience;
mod conversation;
mod derive;
mod diagnostic;
pub mod entity;
pub mod identity;
mod input;
mod keyword_detector;
pub mod memory;
mod pattern;
pub mod ranks;
mod scope;
mod session;
pub mod source;
pub mod stems;
mod supersession;
mod tagged_text;
mod tags;
mod time_sensitivity;
mod values;
mod wording;

pub use conversation::{Conversation, Speaker, Statement, TaskIndex, TurnRecord};
pub use derive::{SourceText, derive_writes};
pub use diagnostic::IngestDiagnostic;
pub use input::{FactInput, NoteInput, SignalInput, TurnInput};
pub use keyword_detector::KeywordDetector;
pub use session::{ItemOrigin, OverwrittenSignal, RESERVED_PREFIX, ReferenceCounts, Session};
pub use supersession::{Assertion, DetectedSupersession, KnownFact, SupersessionDetector};
pub use tagged_text::{NamedSource, TaggedText};
pub use time_sensitivity::is_time_sensitive;
