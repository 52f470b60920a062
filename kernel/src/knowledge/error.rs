//! What cannot be written, and why.

use super::Reference;
use crate::event::{Event, ForgetCause};
use crate::ids::{ItemId, Timestamp};
use crate::item::Layer;
use crate::semantic::SemanticState;
use core::fmt;

/// A write, or a semantic event, that does not fit what is known. Reads as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnowledgeError {
    /// An item is added under an id that was given before.
    DuplicateId(ItemId),
    /// An item is updated, or forgotten, that is not there.
    UnknownItem(ItemId),
    /// Something rests on what is not there.
    DanglingDependency {
        /// What is not there.
        on: Reference,
    },
    /// Something is forgotten on which something rests that stays.
    HasDependents {
        /// What was to be forgotten.
        id: ItemId,
        /// What rests on it.
        by: ItemId,
    },
    /// Something is forgotten for a cause that it does not have.
    InvalidForgetCause(ItemId),
    /// Something is to supersede what is not there.
    UnknownSuperseded(Reference),
    /// Something is to rest on itself, or on what it supersedes, or on what rests on that.
    CyclicDependency(Reference),
    /// Something is to rest on what counts only elsewhere.
    OutOfScope(Reference),
    /// Something that lasts is to rest on what does not.
    OutlivesDependency(Reference),
    /// A summary forgets what it was not shown.
    NotInCluster(ItemId),
    /// A summary stands for nothing.
    EmptySummary,
    /// Who speaks is said twice in one session.
    IdentityAlreadySet,
    /// The clock is set back.
    ClockWentBack {
        /// What time it is.
        now: Timestamp,
        /// What time it was said to be.
        came: Timestamp,
    },
    /// Something has expired already.
    Expired {
        /// When.
        at: Timestamp,
        /// What time it is.
        now: Timestamp,
    },
}

impl fmt::Display for KnowledgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId(id) => {
                write!(f, "item {id} is added, but that id was given before; expected the next one")
            }
            Self::UnknownItem(id) => {
                write!(f, "item {id} is changed or forgotten, but nothing known has that id")
            }
            Self::DanglingDependency { on } => write!(
                f,
                "the write rests on {on}, which is not known; expected something that was written before"
            ),
            Self::HasDependents { id, by } => {
                write!(f, "item {id} is forgotten, but item {by} rests on it and stays")
            }
            Self::InvalidForgetCause(id) => {
                write!(f, "item {id} is forgotten for a cause that it does not have")
            }
            Self::UnknownSuperseded(what) => {
                write!(f, "the write supersedes {what}, which is not known; expected what was written before")
            }
            Self::CyclicDependency(what) => write!(
                f,
                "the write rests on {what}, and that on what the write takes the place of; expected that it rests on what \
                 stays without it"
            ),
            Self::OutOfScope(what) => write!(
                f,
                "the write rests on {what}, which counts only in another scope; expected something of its own scope, or \
                 that counts everywhere"
            ),
            Self::OutlivesDependency(what) => write!(
                f,
                "the write lasts longer than {what}, on which it rests; expected that it rests on what persists"
            ),
            Self::NotInCluster(id) => {
                write!(
                    f,
                    "the summary forgets item {id}, which was not to be summarized; expected ids that were shown"
                )
            }
            Self::EmptySummary => {
                f.write_str("the summary forgets nothing; expected one item at least that it stands for")
            }
            Self::IdentityAlreadySet => f.write_str(
                "who speaks is set for this session; expected the end of it before another identity",
            ),
            Self::ClockWentBack { now, came } => {
                write!(f, "the clock is set back from {now} to {came}; expected no earlier moment")
            }
            Self::Expired { at, now } => {
                write!(f, "the write expired at {at}, and it is {now}; expected a later moment")
            }
        }
    }
}

impl core::error::Error for KnowledgeError {}

/// Whether a semantic event fits what is known, for logs that somebody else wrote. Every other event does.
///
/// # Errors
/// The [`Misuse`] that applying it would be.
pub fn validate_event(known: &SemanticState, event: &Event) -> Result<(), KnowledgeError> {
    let closed = |deps: &[ItemId]| match deps.iter().find(|dep| known.get(**dep).is_none()) {
        Some(dep) => Err(KnowledgeError::DanglingDependency { on: Reference::Id(*dep) }),
        None => Ok(()),
    };
    match event {
        Event::AddItem { item, .. } if item.id < known.next_id() => Err(KnowledgeError::DuplicateId(item.id)),
        Event::UpdateItem { item, .. } if known.get(item.id).is_none() => {
            Err(KnowledgeError::UnknownItem(item.id))
        }
        Event::AddItem { deps, .. } | Event::UpdateItem { deps, .. } => closed(deps),
        Event::ForgetItems { ids, cause } => ids.iter().try_for_each(|id| {
            let entry = known.get(*id).ok_or(KnowledgeError::UnknownItem(*id))?;
            let has_cause = match cause {
                ForgetCause::SessionEnd => !entry.item.persists(),
                ForgetCause::Compaction { into } => known.get(*into).is_some() && !ids.contains(into),
                ForgetCause::Expiry => {
                    matches!(entry.item.layer, Layer::Working { expires_at: Some(_), .. })
                }
            };
            if !has_cause {
                return Err(KnowledgeError::InvalidForgetCause(*id));
            }
            match known.dependents(*id).find(|by| !ids.contains(by)) {
                Some(by) => Err(KnowledgeError::HasDependents { id: *id, by }),
                None => Ok(()),
            }
        }),
        _ => Ok(()),
    }
}
