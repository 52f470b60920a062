//! The current facts of a key, and the history of its supersession family: the facts that cover the key, and their successors.

use super::detail::events::{self, ItemText};
use super::error::ShowError;
use super::item_history::ItemLog;
use super::renderer::{Line, Renderer, TextStyle};
use super::terminal::{Style, Terminal};
use orchestrion_kernel::event::Event;
use orchestrion_kernel::item::{Item, ItemKey, Validity};
use orchestrion_kernel::semantic::SemanticState;
use orchestrion_kernel::{ItemId, Text};
use orchestrion_trace::Reader;
use std::collections::BTreeSet;
use std::io::{self, BufRead};

/// Writes the valid facts of a key at the end of the trace, one for each scope, for a reader of every audience; then the
/// history of the key's family.
///
/// # Errors
/// [`ShowError`] if the trace is not readable to its end, has no fact with this key, or `out` fails.
pub fn key_history<R: BufRead>(
    mut reader: Reader<R>,
    key: &str,
    style: Style,
    out: &mut impl io::Write,
) -> Result<(), ShowError> {
    let key = Text::from(key);
    let (mut log, mut semantic) = (ItemLog::default(), SemanticState::default());
    let (mut family, mut keys) = (BTreeSet::new(), BTreeSet::new());
    let result = reader.try_for_each(|step| {
        let step = step.map_err(ShowError::Trace)?;
        for event in &step.events {
            semantic.apply(event);
            log.record(step.n, event);
            if let Event::AddItem { item, .. } | Event::UpdateItem { item, .. } = event {
                keys.extend(item.covered_keys().cloned());
                family.extend(family_members(item, &key, &family));
            }
        }
        Ok(())
    });
    if !keys.contains(&key) {
        return result.and(Err(ShowError::NoSuchKey { found: key, keys }));
    }
    let mut out = Terminal::new(out, style);
    out.write_heading(Line::new().styled(TextStyle::Heading, ItemKey::Fact(key.clone())))?;
    let current = current_facts(&semantic, &key);
    if current.is_empty() {
        out.write_section("current", Line::text("no valid fact"))?;
    }
    for id in current {
        let Some(entry) = semantic.get(id) else { continue };
        out.write_section("current", events::item(&entry.item, &entry.deps, ItemText::Full))?;
    }
    for id in family {
        log.write(&mut out, id)?;
    }
    result
}

/// Returns the item, if it covers the key or is of the family, and its successor.
fn family_members(item: &Item, key: &Text, family: &BTreeSet<ItemId>) -> Vec<ItemId> {
    if item.covered_keys().all(|covered| covered != key) && !family.contains(&item.id) {
        return Vec::new();
    }
    let successor = match item.validity {
        Validity::Superseded { superseded_by, .. } => superseded_by,
        Validity::Current | Validity::NeedsReview | Validity::Denied => None,
    };
    successor.into_iter().chain([item.id]).collect()
}

/// Returns the valid facts that cover the key, and the valid successors of those that do not.
fn current_facts(semantic: &SemanticState, key: &Text) -> BTreeSet<ItemId> {
    let entries = semantic.by_key(&ItemKey::Fact(key.clone()));
    let current = entries.filter_map(|entry| semantic.current_version(entry.item.id));
    current.filter(|entry| entry.item.is_valid()).map(|entry| entry.item.id).collect()
}
