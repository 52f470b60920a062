//! Compact JSON of the values that a call carries, as `serde_json` writes them with the feature `serde`.
//!
//! `decide` counts the payload of a call as this text (decision 0033), and the feature is optional. A test compares both texts.
//! Deliberately absent: parsing, and every type that no payload contains.

use crate::event::{
    AuditRecord, Cause, Conclusion, Decision, DecisionLabel, EffectOutcome, MemoryRecord, StoreStatus,
    StoreStatuses, TaskRecord,
};
use crate::ids::{ConversationId, RequestId, Revision, TaskId, Text, TraceId, UserId};
use crate::module::{ConclusionKind, Failure, Module, Rating, Ratings, Role, Store};
use crate::plan::{Effect, Plan, Task};
use crate::score::Score;
use alloc::vec::Vec;
use core::fmt::{Result, Write};

/// A value with a form in JSON.
pub(crate) trait WriteJson {
    /// Writes the value without spaces.
    fn write_json(&self, out: &mut dyn Write) -> Result;
}

/// Writes an object with one key.
pub(crate) fn write_tagged(out: &mut dyn Write, tag: &str, value: &dyn WriteJson) -> Result {
    write!(out, "{{\"{tag}\":")?;
    value.write_json(out)?;
    out.write_char('}')
}

/// Structs as objects, with their fields in order.
macro_rules! objects {
    ($($type:ident { $first:ident $(, $field:ident)* })*) => {$(
        impl WriteJson for $type {
            fn write_json(&self, out: &mut dyn Write) -> Result {
                let Self { $first $(, $field)* } = self;
                out.write_str(concat!("{\"", stringify!($first), "\":"))?;
                $first.write_json(out)?;
                $(
                    out.write_str(concat!(",\"", stringify!($field), "\":"))?;
                    $field.write_json(out)?;
                )*
                out.write_char('}')
            }
        }
    )*};
}

objects! {
    TraceId { conversation, request }
    Task { id, text, effect }
    Rating { elo, successes, matches }
    Ratings { analyst, solution, critic, security, optimizer }
    MemoryRecord { trace, kind, text, ratings }
    AuditRecord { trace, user, conclusion, decisions, stores, tasks }
    Conclusion { kind, cause }
    Decision { revision, label, score, objection }
    StoreStatuses { local, cloud }
    TaskRecord { task, effect }
}

/// Enums without data as the names of their variants, in snake case.
macro_rules! names {
    ($($type:ident { $($variant:ident),* })*) => {$(
        impl WriteJson for $type {
            fn write_json(&self, out: &mut dyn Write) -> Result {
                write_name(out, match self { $(Self::$variant => stringify!($variant)),* })
            }
        }
    )*};
}

names! {
    Role { Analyst, Solution, Critic, Security, Optimizer }
    Store { Local, Cloud }
    Failure { Error, Timeout, Malformed, NoCandidates, OverBudget, OutcomeUnknown }
    ConclusionKind { Outcome, Blocked, RolledBack, Aborted }
    DecisionLabel { ConsensusReached, ProceedBelowThreshold, Rejected, Vetoed }
    StoreStatus { Held, Missing, Unknown }
    EffectOutcome { Kept, Undone, UndoFailed }
}

/// Writes the name of a variant in snake case.
fn write_name(out: &mut dyn Write, variant: &str) -> Result {
    out.write_char('"')?;
    for (at, letter) in variant.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            out.write_char('_')?;
        }
        out.write_char(letter.to_ascii_lowercase())?;
    }
    out.write_char('"')
}

/// Types that have the form of a part or of another type.
macro_rules! as_inner {
    ($($type:ident => |$value:ident| $inner:expr;)*) => {$(
        impl WriteJson for $type {
            fn write_json(&self, out: &mut dyn Write) -> Result {
                let $value = self;
                $inner.write_json(out)
            }
        }
    )*};
}

as_inner! {
    Text => |text| text.as_str();
    UserId => |user| user.as_str();
    ConversationId => |conversation| conversation.as_str();
    RequestId => |request| request.number();
    TaskId => |task| task.number();
    Revision => |revision| revision.number();
    Score => |score| score.millionths();
    Plan => |plan| plan.tasks();
}

impl WriteJson for u32 {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        write!(out, "{self}")
    }
}

impl WriteJson for str {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        out.write_char('"')?;
        for letter in self.chars() {
            match letter {
                '"' => out.write_str("\\\"")?,
                '\\' => out.write_str("\\\\")?,
                '\n' => out.write_str("\\n")?,
                '\r' => out.write_str("\\r")?,
                '\t' => out.write_str("\\t")?,
                '\u{8}' => out.write_str("\\b")?,
                '\u{c}' => out.write_str("\\f")?,
                '\0'..='\u{1f}' => write!(out, "\\u{:04x}", u32::from(letter))?,
                _ => out.write_char(letter)?,
            }
        }
        out.write_char('"')
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        match self {
            Some(value) => value.write_json(out),
            None => out.write_str("null"),
        }
    }
}

impl<T: WriteJson> WriteJson for [T] {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        out.write_char('[')?;
        for (at, value) in self.iter().enumerate() {
            if at > 0 {
                out.write_char(',')?;
            }
            value.write_json(out)?;
        }
        out.write_char(']')
    }
}

impl<T: WriteJson> WriteJson for Vec<T> {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        self.as_slice().write_json(out)
    }
}

impl WriteJson for Effect {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        match self {
            Self::Pure => write_name(out, "Pure"),
            Self::Undoable { compensation } => {
                out.write_str("{\"undoable\":")?;
                write_tagged(out, "compensation", compensation)?;
                out.write_char('}')
            }
            Self::Irreversible => write_name(out, "Irreversible"),
        }
    }
}

impl WriteJson for Module {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        match self {
            Self::Debater(role) => write_tagged(out, "debater", role),
            Self::Store(store) => write_tagged(out, "store", store),
            Self::IdentityGuard
            | Self::Memory
            | Self::Summarizer
            | Self::Classifier
            | Self::Planner
            | Self::Approver
            | Self::Executor
            | Self::Auditor => self.name().write_json(out),
        }
    }
}

impl WriteJson for Cause {
    fn write_json(&self, out: &mut dyn Write) -> Result {
        let variant = match self {
            Self::CallFailed(module, failure) => {
                out.write_str("{\"call_failed\":[")?;
                module.write_json(out)?;
                out.write_char(',')?;
                failure.write_json(out)?;
                return out.write_str("]}");
            }
            Self::Completed => "Completed",
            Self::IdentityMismatch => "IdentityMismatch",
            Self::Vetoed => "Vetoed",
            Self::Rejected => "Rejected",
            Self::NoRepair => "NoRepair",
            Self::RepairsExhausted => "RepairsExhausted",
            Self::RepairRejected => "RepairRejected",
            Self::NotApproved => "NotApproved",
            Self::Cancelled => "Cancelled",
        };
        write_name(out, variant)
    }
}
