//! `ser_M`: the sections of a context and their order (003, context building algorithm), and the line of an item.

use crate::ids::{RequestId, Text, Timestamp};
use crate::item::{Identity, Item, ItemKey, ItemKind, Layer, Rank, Validity};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write;

/// The sections of a context, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// The identity of the session user (003 layer 1).
    Identity,
    /// Signals and the current time (003 layer 4).
    Environment,
    /// Persistent items (003 layer 2).
    Facts,
    /// Items of the session and the running request (003 layer 3).
    WorkingSet,
    /// The situation, in 002's format.
    Situation,
}

impl Section {
    pub(super) const ALL: [Self; 5] =
        [Self::Identity, Self::Environment, Self::Facts, Self::WorkingSet, Self::Situation];

    /// Returns the section of an item. `reasons`: the module receives the situation in 002's format.
    pub(super) fn from_item(item: &Item, running: Option<RequestId>, reasons: bool) -> Self {
        match (&item.layer, &item.key) {
            (Layer::Identity(_), _) => Self::Identity,
            (Layer::Environment, _) => Self::Environment,
            (Layer::Fact(_), _) => Self::Facts,
            (_, ItemKey::Situation(_)) if reasons => Self::Situation,
            (Layer::Request { .. }, key)
                if item.is_persistent() && (running.is_none() || key.request() != running) =>
            {
                Self::Facts
            }
            (Layer::Request { .. } | Layer::Working { .. }, _) => Self::WorkingSet,
        }
    }

    /// Returns the heading, with the preceding empty line.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Identity => "\n# Identity\n",
            Self::Environment => "\n# Environment\n",
            Self::Facts => "\n# Facts\n",
            Self::WorkingSet => "\n# Working set\n",
            Self::Situation => "\n# Situation\n",
        }
    }
}

/// Formats an item as a line of a context, of at most [`Item::line_bytes_max`] bytes. With `provenance`, the line contains what a
/// model needs to judge authority and freshness (003 layers 1 and 2).
pub(super) fn line(item: &Item, provenance: bool) -> String {
    /// The usual length of a line without its text.
    const OVERHEAD_BYTES: usize = 80;
    let Item { id, key, text, kind, .. } = item;
    let mut line = String::with_capacity(text.as_str().len().saturating_add(OVERHEAD_BYTES));
    // Writing to a string cannot fail.
    let _ = match kind {
        ItemKind::Fact | ItemKind::Subtask(_) => write!(line, "[{id}] {key}"),
        ItemKind::Constraint(None) => write!(line, "[{id}] constraint, {key}"),
        ItemKind::Constraint(Some(constraint)) => write!(line, "[{id}] {constraint} constraint, {key}"),
    };
    let details = details(item, provenance);
    if !details.is_empty() {
        let _ = write!(line, " ({})", details.join(", "));
    }
    let _ = writeln!(line, ": {text}");
    line
}

/// Returns the status of a subtask, the provenance of an identity or fact, the scope, and the review flag.
fn details(item: &Item, provenance: bool) -> Vec<String> {
    let mut details = Vec::new();
    if let ItemKind::Subtask(status) = item.kind {
        details.push(status.to_string());
    }
    match &item.layer {
        Layer::Identity(identity) if provenance => {
            let Identity { authority, rank, department, organization, permissions } = &**identity;
            push_authority(&mut details, authority, *rank);
            let texts = [department, organization].into_iter().filter(|text| !text.as_str().is_empty());
            details.extend(texts.map(ToString::to_string));
            details.extend(permissions.iter().map(|permission| format!("may {permission}")));
        }
        Layer::Fact(fact) if provenance => {
            push_authority(&mut details, &fact.source.name, fact.source.rank);
            // Time 0 means that the time is unknown.
            let time = Some(fact.established_at).filter(|time| *time > Timestamp::default());
            details.extend(time.map(|time| time.to_string()));
        }
        Layer::Identity(_)
        | Layer::Fact(_)
        | Layer::Request { .. }
        | Layer::Working { .. }
        | Layer::Environment => {}
    }
    details.extend(
        Some(item.scope()).filter(|scope| provenance && scope.name().is_some()).map(ToString::to_string),
    );
    if item.validity == Validity::NeedsReview {
        details.push("needs review".to_string());
    }
    details
}

/// Pushes an authority or source with its rank, once if both are the same word.
fn push_authority(details: &mut Vec<String>, name: &Text, rank: Rank) {
    let name = Some(name.as_str()).filter(|name| !name.is_empty() && *name != rank.name());
    details.extend(name.into_iter().chain([rank.name()]).map(ToString::to_string));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ConversationId, ItemId, RequestId, TraceId};
    use crate::item::{Audience, FactRecord, FactSource, ItemKey, MemoryType, Scope};
    use alloc::vec;

    /// Each text is longer than the fixed part of the bound, so a bound that omits one is too small.
    #[test]
    fn line_fits_its_bound() {
        let long = || Text::from("x".repeat(300));
        let request = RequestId::FIRST;
        let trace = TraceId { conversation: ConversationId::new("x".repeat(300)), request };
        let keys = [
            ItemKey::Fact(long()),
            ItemKey::Working(long()),
            ItemKey::Environment(long()),
            ItemKey::Trace(trace),
            ItemKey::AdditionalArgument(request, long()),
            ItemKey::Request(request),
        ];
        let fact = FactRecord {
            source: FactSource { name: long(), rank: Rank::Employee, derivation: None },
            established_at: Timestamp::from_millis(1),
            memory: MemoryType::User,
            scope: Scope::Task(long()),
            supersedes: None,
            time_sensitive: false,
            audience: Audience::Everybody,
            summarized_keys: vec![],
        };
        let identity = Identity {
            authority: long(),
            rank: Rank::Employee,
            department: long(),
            organization: long(),
            permissions: vec![long(); 100],
        };
        for key in keys {
            for layer in [
                Layer::Fact(fact.clone().into()),
                Layer::Identity(identity.clone().into()),
                Layer::Environment,
            ] {
                let (id, kind, validity) = (ItemId::FIRST, ItemKind::Fact, Validity::NeedsReview);
                let item = Item { id, kind, key: key.clone(), text: long(), layer, validity };
                assert!(line(&item, true).len() <= item.line_bytes_max(), "{item:?}");
            }
        }
    }
}
