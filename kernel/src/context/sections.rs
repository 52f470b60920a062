//! `ser_M`: the sections of a context and their order (003, context building algorithm), and the line of an item.

use crate::ids::RequestId;
use crate::item::{Item, ItemKey, ItemKind, Layer, Validity};
use alloc::string::String;
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
            (Layer::Environment | Layer::Clock { .. }, _) => Self::Environment,
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

/// Formats an item as a line of a context.
pub(super) fn line(item: &Item) -> String {
    /// The usual length of a line without its text.
    const OVERHEAD_BYTES: usize = 40;
    let Item { id, key, text, kind, validity, .. } = item;
    let review = if *validity == Validity::NeedsReview { " (needs review)" } else { "" };
    let mut line = String::with_capacity(text.as_str().len().saturating_add(OVERHEAD_BYTES));
    // Writing to a string cannot fail.
    let _ = match kind {
        ItemKind::Subtask(status) => writeln!(line, "[{id}] {key} ({status}){review}: {text}"),
        ItemKind::Fact => writeln!(line, "[{id}] {key}{review}: {text}"),
        ItemKind::Constraint(None) => writeln!(line, "[{id}] constraint, {key}{review}: {text}"),
        ItemKind::Constraint(Some(constraint)) => {
            writeln!(line, "[{id}] {constraint} constraint, {key}{review}: {text}")
        }
    };
    line
}
