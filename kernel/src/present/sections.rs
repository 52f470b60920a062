//! `ser_M`: the sections of a context and their order (003, context building algorithm), and an item as a line.

use crate::ids::RequestId;
use crate::item::{Item, Key, Layer, Standing, Variant};
use alloc::format;
use alloc::string::String;

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
            (_, Key::Situation(_)) if reasons => Self::Situation,
            (Layer::Request, key) if item.persists() && (running.is_none() || key.request() != running) => {
                Self::Facts
            }
            (Layer::Request | Layer::Working { .. }, _) => Self::WorkingSet,
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
    let Item { id, key, text, variant, standing, .. } = item;
    let review = if *standing == Standing::NeedsReview { " (needs review)" } else { "" };
    match variant {
        Variant::Subtask(status) => format!("[{id}] {key} ({status}){review}: {text}\n"),
        Variant::Fact => format!("[{id}] {key}{review}: {text}\n"),
        Variant::Constraint(None) => format!("[{id}] constraint, {key}{review}: {text}\n"),
        Variant::Constraint(Some(limits)) => format!("[{id}] {limits} constraint, {key}{review}: {text}\n"),
    }
}
