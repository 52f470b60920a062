//! Traces of conversations: recording, reading, replay and redaction.
//!
//! Entry points: [`recorder::Recorder`] decides inputs and writes their trace, [`Reader`] reads one step after the other,
//! [`replay::replay`] decides a trace again, [`compare`] compares a golden trace with a new run, [`redact::redact`] removes its texts, and [`base::BaseProjection`] projects it to
//! 000's base alphabet. [`ConversationFold`] derives the state and the facts about a request from events.
//!
//! # Format `orchestrion-trace/5`
//!
//! A trace is NDJSON. The first line is the [`Header`]. Each further line is a [`Step`]: an input with its batch of events or
//! its refusal. The last line, `{"end":{"steps":N}}`, contains the number of steps. Keys have a fixed order.
//!
//! - **Time.** `at_ms` is the time that the kernel received with the input, in milliseconds since 1970; absent at 0.
//! - **Idempotency keys.** `idempotency` contains the key under which the host sent the input, and the digest of what it sent.
//! - **Chain.** Each line ends in `"chain"`, the first 128 bits of a BLAKE3 digest over the chain before it and the line as it
//!   is stored. A torn or edited line is therefore detected at that line. The header's chain covers the whole header. The
//!   chain before the first step is the digest of the header without its keys `kernel` and `table`, so a new
//!   transition table changes one line.
//! - **Text references.** A string value of at least 35 bytes (with quotes and escapes) is a text. Texts in steps are
//!   numbered from 0, in order of appearance. A text that is among the most recent 1024 texts and 4 MiB is written as
//!   `{"$text":N}`; otherwise it is written in full and receives the next number. Keys are never replaced. The reader
//!   expands references before it parses a line; the chain covers the stored bytes.
//! - **Context references.** The `items` of a context are written as `{"from":C,"removed":[…],"added":[…]}`, their difference
//!   from the context of call `C` among the latest four, where this is shorter than the list. The reader restores the list before
//!   it parses a line.
//! - **Lineage.** A forked trace has the key `lineage` in its header: its parent, the step and what was set.
//! - **Reading another version** fails with [`TraceErrorKind::Version`].
//!
//! # Format `orchestrion-trace/5-journal`
//!
//! The runtime writes a shorter form. Its lines differ as follows; the last line is absent while the conversation is open.
//!
//! - **Events.** `events` is `{"digest":…,"tool_call":N}`: the digest of the events as a trace stores them, and the call that they
//!   emit. A reader decides the events again from the input, and compares the digest. So a journal needs the kernel that wrote it.
//! - **Contexts.** `context` is the digest of the context as a trace stores it. A replay builds the context again.
//! - **Texts** are written in full. The chain covers each text by its digest, so that a text can be erased: it is then
//!   `{"$erased":["<digest>",N]}`, the digest and the number of the bytes between its quotes.
//! - **Segments.** A journal can be rotated: it ends with the last line of a trace, and a new segment continues it. The header of that
//!   segment contains `continues`, the steps and the last chain of the segment before. Its second line is the conversation at
//!   its start, `{"state":…}`. The chain before that line is the digest of the header, which contains the chain before.

pub mod base;
mod chain;
mod changed_decision;
mod comparison;
mod context_record;
mod context_window;
mod contexts;
mod denial;
pub mod diff;
mod digest;
mod ending;
mod erased;
mod error;
mod events_digest;
mod facts;
pub mod fork;
mod format;
mod layers;
mod line_limits;
pub mod migrate;
mod read;
mod recent_inputs;
pub mod recorder;
pub mod redact;
pub mod replay;
pub mod schema;
pub mod segments;
mod snapshot;
mod texts;
mod write;

pub use changed_decision::{ChangedDecision, PathStep};
pub use comparison::{ComparedPart, ComparedStep, Comparison, compare};
pub use context_record::ContextRecord;
pub use contexts::record_context;
pub use denial::{Denial, denied_item};
pub use digest::{FileDigest, digest};
pub use ending::{RequestEnding, endings};
pub use error::{TraceError, TraceErrorKind};
pub use facts::{
    ConversationFold, RequestFacts, RequestResult, emitted_call, emitted_context_call, transition,
};
pub use format::{
    EVENT_TRACE_FILE, FORMAT, Header, JOURNAL_FORMAT, PolicyRef, PossibleLoss, ScenarioRef, SegmentEnd, Step,
    StepMetadata, StepRecord, TOOL_CALL_KEY, TRACE_FILE, TRACE_PREFIX, UpgradedFrom, table_digest,
};
pub use layers::{DifferenceKind, without_texts};
pub use line_limits::{json_len_bytes, json_values};
pub use read::Reader;
pub use recent_inputs::{Idempotency, RECENT_INPUTS_MAX, RecentInputs, RecordedInput};
pub use snapshot::{SNAPSHOT_FILE, Snapshot, SnapshotError};
pub use write::{ResumePoint, Writer};
