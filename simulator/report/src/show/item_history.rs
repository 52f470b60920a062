//! The history of one item, step by step. For a summary, also the history of every item that it summarizes (000 §6).
//!
//! Forgotten items are no longer in the state, but their events are in the trace.

use super::detail::events::{self, ItemText};
use super::error::ShowError;
use super::renderer::{Line, Renderer, TextStyle};
use super::terminal::{Style, Terminal};
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::{Event, ItemId};
use orchestrion_trace::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

/// A change of an item in a step.
struct Change {
    step: u64,
    kind: &'static str,
    line: Line,
}

/// The changes of every item, and the items of each summary.
#[derive(Default)]
pub(super) struct ItemLog {
    changes: BTreeMap<ItemId, Vec<Change>>,
    clusters: BTreeMap<ItemId, Vec<ItemId>>,
}

impl ItemLog {
    pub(super) fn record(&mut self, step: u64, event: &Event) {
        match event {
            Event::AddItem { item, deps } => {
                self.push(item.id, step, "added", events::item(item, deps, ItemText::Full));
            }
            Event::UpdateItem { item, deps } => {
                self.push(item.id, step, "changed", events::item(item, deps, ItemText::Full));
            }
            Event::ForgetItems { ids, cause } => {
                for id in ids {
                    self.push(*id, step, "forgotten", Line::text(events::forget_cause(*cause)));
                }
                if let ForgetCause::Compaction { into } = cause {
                    self.clusters.insert(*into, ids.clone());
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, id: ItemId, step: u64, kind: &'static str, line: Line) {
        self.changes.entry(id).or_default().push(Change { step, kind, line });
    }

    /// Writes the history of an item and, transitively, of the items that it summarizes; each once, even if a forged trace
    /// contains a cycle of summaries.
    pub(super) fn write(&self, out: &mut dyn Renderer, id: ItemId) -> io::Result<()> {
        let mut written = BTreeSet::new();
        let mut stack = vec![(id, None)];
        while let Some((id, summary)) = stack.pop() {
            if !written.insert(id) {
                continue;
            }
            let title = Line::new().styled(TextStyle::Heading, format_args!("item {id}"));
            out.write_heading(match summary {
                None => title,
                Some(summary) => title.and(format_args!(", summarized by [{summary}]")),
            })?;
            for Change { step, kind, line } in self.changes.get(&id).into_iter().flatten() {
                let name = format!("step {step}");
                out.write_section(&name, Line::text(format_args!("{kind:<10}")).join(line.clone()))?;
            }
            let cluster = self.clusters.get(&id).into_iter().flatten();
            stack.extend(cluster.rev().map(|part| (*part, Some(id))));
        }
        Ok(())
    }
}

/// Writes the history of an item.
///
/// # Errors
/// [`ShowError`] if the trace is not readable to its end, has no such item, or `out` fails.
pub fn item_history<R: BufRead>(
    mut reader: Reader<R>,
    item: u64,
    style: Style,
    out: &mut impl io::Write,
) -> Result<(), ShowError> {
    let mut log = ItemLog::default();
    let result = reader.try_for_each(|step| {
        let step = step.map_err(ShowError::Trace)?;
        step.events.iter().for_each(|event| log.record(step.n, event));
        Ok(())
    });
    let id = ItemId::new(item);
    if !log.changes.contains_key(&id) {
        let items = log.changes.keys().next_back().map_or(0, |last| last.number());
        return result.and(Err(ShowError::NoSuchItem { found: item, items }));
    }
    log.write(&mut Terminal::new(out, style), id)?;
    result
}
