//! `ser_M`: the sections of a context and their order (003, context building algorithm), and an item as a line.

use crate::ids::RequestId;
use crate::item::{Item, ItemKey, ItemKind, Layer, Validity};
use alloc::string::String;
use core::fmt::Write;

/// A part of a context, under a heading of its own; in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    /// Who speaks (003 layer 1).
    Identity,
    /// What comes from outside (003 layer 4).
    Environment,
    /// What lasts (003 layer 2).
    Facts,
    /// What serves the request in hand (003 layer 3).
    WorkingSet,
    /// Where things stand, as 002 writes it.
    Situation,
}

impl Section {
    pub(super) const ALL: [Self; 5] =
        [Self::Identity, Self::Environment, Self::Facts, Self::WorkingSet, Self::Situation];

    /// Where an item stands, for a module that is told the situation in 002's words, or not.
    pub(super) fn of(item: &Item, running: Option<RequestId>, reasons: bool) -> Self {
        match (&item.layer, &item.key) {
            (Layer::Identity(_), _) => Self::Identity,
            (Layer::Environment | Layer::Clock { .. }, _) => Self::Environment,
            (Layer::Fact(_), _) => Self::Facts,
            (_, ItemKey::Situation(_)) if reasons => Self::Situation,
            (Layer::Request { .. }, key)
                if item.persists() && (running.is_none() || key.request() != running) =>
            {
                Self::Facts
            }
            (Layer::Request { .. } | Layer::Working { .. }, _) => Self::WorkingSet,
        }
    }

    /// The heading; an empty line parts it from the section before it, and is counted with it.
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

/// An item as it is shown.
pub(super) fn line(item: &Item) -> String {
    /// A usual line without its text.
    const BESIDE: usize = 40;
    let Item { id, key, text, kind: variant, validity: standing, .. } = item;
    let review = if *standing == Validity::NeedsReview { " (needs review)" } else { "" };
    let mut line = String::with_capacity(text.as_str().len().saturating_add(BESIDE));
    // A string takes whatever is written.
    let _ = match variant {
        ItemKind::Subtask(status) => writeln!(line, "[{id}] {key} ({status}){review}: {text}"),
        ItemKind::Fact => writeln!(line, "[{id}] {key}{review}: {text}"),
        ItemKind::Constraint(None) => writeln!(line, "[{id}] constraint, {key}{review}: {text}"),
        ItemKind::Constraint(Some(limits)) => {
            writeln!(line, "[{id}] {limits} constraint, {key}{review}: {text}")
        }
    };
    line
}
