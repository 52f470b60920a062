//! The items that the session user may read, and the others.

use orchestrion_ingest::Session;
use orchestrion_ingest::stems::Stems;
use orchestrion_kernel::item::{Item, Layer};
use std::collections::BTreeSet;

/// An item with the stems of its text.
#[derive(Clone, Copy)]
pub(crate) struct KnownItem<'a> {
    pub(crate) item: &'a Item,
    pub(crate) stems: &'a Stems,
}

/// The facts, signals and notes of a session, split by visibility to the session user. Statements of turns are in neither part.
pub(crate) struct VisibleItems<'a> {
    pub(crate) visible: Vec<KnownItem<'a>>,
    /// Invalid or unreadable items, and the former texts of signals.
    pub(crate) hidden: Vec<KnownItem<'a>>,
}

impl<'a> VisibleItems<'a> {
    /// Splits the items of a session.
    pub(crate) fn new(session: &'a Session<'_>) -> Self {
        let state = session.state();
        let principal = session.principal();
        let selectable: BTreeSet<_> = state.selectable(&principal).map(|entry| entry.item.id).collect();
        let (mut visible, mut hidden) = (Vec::new(), Vec::new());
        for item in state.entries().map(|entry| &entry.item) {
            let counts = matches!(item.layer, Layer::Fact(_) | Layer::Environment) || session.is_note(item);
            let Some(origin) = session.origin(item.id).filter(|_| counts) else { continue };
            let known = KnownItem { item, stems: &origin.stems };
            if selectable.contains(&item.id) { visible.push(known) } else { hidden.push(known) }
        }
        let former = session.overwritten_signals().iter();
        hidden.extend(former.map(|old| KnownItem { item: &old.item, stems: &old.stems }));
        Self { visible, hidden }
    }

    /// The visible facts.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &KnownItem<'a>> {
        self.visible.iter().filter(|known| known.item.fact().is_some())
    }
}
