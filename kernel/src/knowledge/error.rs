//! Why a write is rejected.

use super::types::Reference;
use crate::ids::{ItemId, Text, Timestamp};
use crate::item::{Rank, Scope};
use core::fmt;

/// A write that does not fit the semantic state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KnowledgeError {
    /// A dependency does not exist.
    DanglingDependency {
        /// The dependency.
        on: Reference,
    },
    /// The superseded item does not exist.
    UnknownSuperseded(Reference),
    /// A dependency is the item itself, the item that the write supersedes, or a dependent of either.
    CyclicDependency(Reference),
    /// A dependency is valid only in another scope.
    OutOfScope(Reference),
    /// A persistent fact depends on an item that ends with the session.
    OutlivesDependency(Reference),
    /// A dependency belongs to the situation, which ends with the request.
    SituationDependency(Reference),
    /// A summary forgets an item outside its cluster.
    NotInCluster(ItemId),
    /// A summary forgets no item.
    EmptySummary,
    /// The authority of an identity, or a source, is not in the rank table, and the policy requires it.
    UnknownTitle(Text),
    /// A rank above that of the writer.
    RankTooHigh {
        /// The source or authority.
        source: Text,
        /// Its highest rank in this session.
        limit: Rank,
        /// The stated rank.
        found: Rank,
    },
    /// A promotion from a scope in which the key has no valid fact.
    NothingToPromote {
        /// The key.
        key: Text,
        /// The scope.
        scope: Scope,
    },
    /// A working item is expired when it is written.
    Expired {
        /// Its expiry time.
        at: Timestamp,
        /// The current time.
        now: Timestamp,
    },
}

impl fmt::Display for KnowledgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DanglingDependency { on } => {
                write!(f, "unknown dependency {on}: expected an existing item; write it first")
            }
            Self::UnknownSuperseded(reference) => {
                write!(
                    f,
                    "unknown superseded item: expected one of the same layer, found {reference}; write it first"
                )
            }
            Self::CyclicDependency(reference) => write!(
                f,
                "cyclic dependency: {reference} depends on the item that this write supersedes; remove the dependency"
            ),
            Self::OutOfScope(reference) => write!(
                f,
                "dependency out of scope: {reference} is valid only in another scope; depend on an item of the write's scope or \
                 of global scope"
            ),
            Self::OutlivesDependency(reference) => write!(
                f,
                "dependency is not persistent: {reference} ends with the session; depend on a persistent item"
            ),
            Self::SituationDependency(reference) => write!(
                f,
                "dependency on the situation: {reference} ends with the request; depend on another item"
            ),
            Self::NotInCluster(id) => {
                write!(f, "item {id} is not in the cluster: expected ids from the summarizer's context")
            }
            Self::EmptySummary => {
                f.write_str("empty summary: expected at least one forgotten item, found none")
            }
            Self::UnknownTitle(title) => {
                write!(f, "unknown title `{title}`: expected a title of the policy's `ranks`; add it there")
            }
            Self::RankTooHigh { source, limit, found } => write!(
                f,
                "rank of `{source}` too high: expected at most {limit}, found {found}; the policy's `ranks` and the session's \
                 identity limit it"
            ),
            Self::NothingToPromote { key, scope: Scope::Global } => {
                write!(f, "nothing to promote: expected another scope than global for fact `{key}`")
            }
            Self::NothingToPromote { key, scope } => write!(
                f,
                "nothing to promote: expected a valid fact `{key}` in scope `{scope}`, found none; write it there first"
            ),
            Self::Expired { at, now } => {
                write!(f, "expired write: expected an expiry after {now}, found {at}")
            }
        }
    }
}

impl core::error::Error for KnowledgeError {}
