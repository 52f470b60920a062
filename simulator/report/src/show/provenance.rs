//! What became of one item, step by step; and, if it is a summary, of everything that it stands for (000 §6).
//!
//! What was forgotten is in no state any more, but the log has it.

use super::ShowError;
use super::detail::events;
use super::renderer::{Line, Renderer, TextStyle};
use super::terminal::{Style, Terminal};
use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::{Event, ItemId};
use orchestrion_trace::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

/// What happened to an item in a step.
struct Change {
    step: u64,
    what: &'static str,
    line: Line,
}

/// The changes of every item, and what each summary stands for.
#[derive(Default)]
struct ItemLog {
    changes: BTreeMap<ItemId, Vec<Change>>,
    stands_for: BTreeMap<ItemId, Vec<ItemId>>,
}

impl ItemLog {
    fn take(&mut self, step: u64, event: &Event) {
        match event {
            Event::AddItem { item, deps } => {
                self.push(item.id, step, "added", events::item(item, deps, None))
            }
            Event::UpdateItem { item, deps } => {
                self.push(item.id, step, "changed", events::item(item, deps, None));
            }
            Event::ForgetItems { ids, cause } => {
                for id in ids {
                    self.push(*id, step, "forgotten", Line::text(events::because(*cause)));
                }
                if let ForgetCause::Compaction { into } = cause {
                    self.stands_for.insert(*into, ids.clone());
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, id: ItemId, step: u64, what: &'static str, line: Line) {
        self.changes.entry(id).or_default().push(Change { step, what, line });
    }

    /// An item, and under it, further in, what it stands for. No summary stands for an older one twice, unless somebody forged
    /// the log; then it is told once.
    fn tell(&self, page: &mut dyn Renderer, id: ItemId, told: &mut BTreeSet<ItemId>) -> io::Result<()> {
        let mut waiting = vec![(id, None)];
        while let Some((id, within)) = waiting.pop() {
            if !told.insert(id) {
                continue;
            }
            page.heading(match within {
                None => Line::new().ink(TextStyle::Heading, format_args!("item {id}")),
                Some(summary) => Line::new()
                    .ink(TextStyle::Heading, format_args!("item {id}"))
                    .and(format_args!(", in [{summary}]")),
            })?;
            for Change { step, what, line } in self.changes.get(&id).into_iter().flatten() {
                let name = format!("step {step}");
                page.section(&name, Line::text(format_args!("{what:<10}")).join(line.clone()))?;
            }
            let parts = self.stands_for.get(&id).into_iter().flatten();
            waiting.extend(parts.rev().map(|part| (*part, Some(id))));
        }
        Ok(())
    }
}

/// Shows what became of an item.
///
/// # Errors
/// [`ShowError`] if the trace cannot be read to its end, knows no such item, or `out` fails.
pub fn provenance<R: BufRead>(
    reader: Reader<R>,
    item: u64,
    style: Style,
    out: &mut impl io::Write,
) -> Result<(), ShowError> {
    let mut log = ItemLog::default();
    let mut broken = None;
    for step in reader {
        match step {
            Ok(step) => step.events.iter().for_each(|event| log.take(step.n, event)),
            Err(error) => {
                broken = Some(ShowError::Trace(error));
                break;
            }
        }
    }
    let id = ItemId::new(item);
    if !log.changes.contains_key(&id) {
        let items = log.changes.keys().next_back().map_or(0, |last| last.number());
        return Err(broken.unwrap_or(ShowError::NoSuchItem { item, items }));
    }
    let mut page = Terminal::new(out, style);
    log.tell(&mut page, id, &mut BTreeSet::new())?;
    broken.map_or(Ok(()), Err)
}
