//! Context references: a line stores the items of a context as their difference from an earlier context.
//!
//! Successive contexts of a conversation share most items. Writer and reader keep the same window of the latest contexts, at
//! most [`WINDOW_CONTEXTS_MAX`]. The writer refers to the context in the window that gives the shortest line, by its call; the
//! reader restores the complete list. So every record still names each item of its context, and a replay compares all of them.

use crate::context_record::ContextRecord;
use orchestrion_kernel::{CallId, ItemId};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::VecDeque;

/// Limit of the window. The summarizer's context differs from those around it, so more than one is needed.
const WINDOW_CONTEXTS_MAX: usize = 4;

/// The start of a recorded context in a line. Quotes within texts are escaped, so no text contains it.
const CONTEXT_KEY: &str = ",\"context\":{\"call\":";

const ITEMS_KEY: &str = ",\"items\":";

/// The latest contexts of a trace, latest last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextWindow {
    latest: VecDeque<(CallId, Vec<ItemId>)>,
}

/// The items of a context as their difference from those of an earlier one.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemDifference {
    /// The call of the earlier context.
    from: CallId,
    /// The items of the earlier context that this one lacks, in order.
    removed: Vec<ItemId>,
    /// The items that the earlier context lacks, in order.
    added: Vec<ItemId>,
}

/// A record as a line stores it.
pub(super) struct StoredContext<'a> {
    record: &'a ContextRecord,
    difference: Option<ItemDifference>,
}

/// A context reference is malformed, or refers to no context in the window.
#[derive(Debug)]
pub(super) struct ContextReferenceError {
    pub(super) found: String,
    pub(super) expected: String,
}

impl Serialize for StoredContext<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.difference {
            Some(difference) => self.record.serialize_with(difference, serializer),
            None => self.record.serialize(serializer),
        }
    }
}

impl ContextWindow {
    /// Returns the record as the next line stores it, and adds it to the window.
    pub(super) fn encode<'a>(&mut self, record: &'a ContextRecord) -> StoredContext<'a> {
        let differences = self.latest.iter().filter_map(|(from, items)| {
            let is_unambiguous = self.find(*from).is_some_and(|found| std::ptr::eq(found, items));
            (is_unambiguous && is_ascending(items) && is_ascending(&record.items))
                .then(|| ItemDifference::new(*from, items, &record.items))
        });
        let difference = differences
            .min_by_key(ItemDifference::len)
            .filter(|difference| difference.len() < record.items.len());
        self.push(record.call, record.items.clone());
        StoredContext { record, difference }
    }

    /// Replaces the context reference of a line, if it has one, by the complete list, and adds the context to the window.
    ///
    /// A line that does not begin its context as a writer does stays unchanged.
    pub(super) fn expand(&mut self, line: &mut String) -> Result<(), ContextReferenceError> {
        let Some((call, start)) = find_items(line) else { return Ok(()) };
        let text = &line[start..];
        if text.starts_with('[') {
            if let Some(Ok(items)) = serde_json::Deserializer::from_str(text).into_iter().next() {
                self.push(call, items);
            }
            return Ok(());
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<ItemDifference>();
        let difference = match values.next() {
            Some(Ok(difference)) => difference,
            Some(Err(error)) => {
                let expected = "`from`, `removed` and `added`".to_owned();
                return Err(ContextReferenceError { found: error.to_string(), expected });
            }
            None => return Ok(()),
        };
        let end = start + values.byte_offset();
        let from = difference.from;
        let earlier = self.find(from).ok_or_else(|| ContextReferenceError {
            found: format!("call {from}"),
            expected: format!("the call of one of the {WINDOW_CONTEXTS_MAX} contexts before"),
        })?;
        let items = difference.apply(earlier).ok_or_else(|| ContextReferenceError {
            found: format!("a difference that does not fit the context of call {from}"),
            expected: "`removed` to name items of that context, and `added` others".to_owned(),
        })?;
        // A list of numbers is always serialized.
        let list = serde_json::to_string(&items).unwrap_or_default();
        line.replace_range(start..end, &list);
        self.push(call, items);
        Ok(())
    }

    /// Returns the items of the latest context of a call.
    fn find(&self, call: CallId) -> Option<&Vec<ItemId>> {
        self.latest.iter().rev().find(|(of, _)| *of == call).map(|(_, items)| items)
    }

    fn push(&mut self, call: CallId, items: Vec<ItemId>) {
        if self.latest.len() == WINDOW_CONTEXTS_MAX {
            self.latest.pop_front();
        }
        self.latest.push_back((call, items));
    }
}

impl ItemDifference {
    fn new(from: CallId, earlier: &[ItemId], items: &[ItemId]) -> Self {
        let without = |items: &[ItemId], others: &[ItemId]| {
            let is_other = |id: &ItemId| others.binary_search(id).is_ok();
            items.iter().copied().filter(|id| !is_other(id)).collect()
        };
        Self { from, removed: without(earlier, items), added: without(items, earlier) }
    }

    /// The number of items that the line contains.
    const fn len(&self) -> usize {
        self.removed.len() + self.added.len()
    }

    /// Returns the items of the context. Returns `None` if the difference does not fit the earlier one.
    fn apply(self, earlier: &[ItemId]) -> Option<Vec<ItemId>> {
        let Self { from: _, removed, added } = self;
        let is_in = |items: &[ItemId], id: &ItemId| items.binary_search(id).is_ok();
        let fits = [earlier, &removed, &added].into_iter().all(is_ascending)
            && removed.iter().all(|id| is_in(earlier, id))
            && !added.iter().any(|id| is_in(earlier, id));
        if !fits {
            return None;
        }
        let mut items: Vec<ItemId> = earlier.iter().copied().filter(|id| !is_in(&removed, id)).collect();
        items.extend(added);
        items.sort_unstable();
        Some(items)
    }
}

fn is_ascending(items: &[ItemId]) -> bool {
    items.is_sorted_by(|a, b| a < b)
}

/// Returns the call of the context in a line, and the offset of its items.
fn find_items(line: &str) -> Option<(CallId, usize)> {
    let call = line.rfind(CONTEXT_KEY)? + CONTEXT_KEY.len();
    let digits = line[call..].find(|character: char| !character.is_ascii_digit())?;
    let start = call + digits + ITEMS_KEY.len();
    let is_context = line.get(call + digits..start) == Some(ITEMS_KEY);
    let call = serde_json::from_str(&line[call..call + digits]).ok()?;
    is_context.then_some((call, start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::context::SelectionStatus;

    fn record(call: u64, items: &[u64]) -> ContextRecord {
        ContextRecord {
            call: serde_json::from_str(&call.to_string()).unwrap(),
            items: items.iter().copied().map(ItemId::new).collect(),
            cost_tokens: 9,
            payload_tokens: 2,
            utility: 5,
            status: SelectionStatus::Optimal,
            digest: "d".to_owned(),
        }
    }

    fn line(context: &impl Serialize) -> String {
        format!("{{\"n\":1,\"context\":{}}}", serde_json::to_string(context).unwrap())
    }

    /// Contexts that gain, lose and repeat items, that return to an earlier one, and that are out of order.
    #[test]
    fn stored_contexts_are_restored() {
        let contexts: &[&[u64]] = &[
            &[],
            &[1, 2, 3, 4, 5],
            &[1, 2, 3, 4, 5, 6],
            &[7, 8],
            &[1, 2, 3, 5, 6, 9],
            &[1, 2, 3, 5, 6, 9],
            &[3, 2, 1, 5, 6, 9],
            &[2, 3, 5, 6, 9],
        ];
        let (mut written, mut read) = (ContextWindow::default(), ContextWindow::default());
        let mut references = 0;
        for (call, items) in (1..).zip(contexts) {
            let record = record(call, items);
            let mut stored = line(&written.encode(&record));
            references += usize::from(stored.contains("\"from\""));
            read.expand(&mut stored).unwrap();
            assert_eq!(stored, line(&record));
        }
        assert_eq!(references, 4);
    }

    #[test]
    fn reference_names_the_closest_context() {
        let mut window = ContextWindow::default();
        for (call, items) in [(1, &[1, 2, 3, 4][..]), (2, &[8, 9])] {
            window.encode(&record(call, items));
        }
        let stored = line(&window.encode(&record(3, &[1, 2, 4, 5])));
        assert!(stored.contains(r#""items":{"from":1,"removed":[3],"added":[5]},"#), "{stored}");
    }

    #[test]
    fn reference_that_does_not_fit_is_refused() {
        let mut window = ContextWindow::default();
        window.encode(&record(1, &[1, 2, 3]));
        let expand = |difference: &str| {
            let mut line =
                format!("{{\"n\":1,\"context\":{{\"call\":2,\"items\":{difference},\"digest\":\"d\"}}}}");
            window.clone().expand(&mut line).map(|()| line).map_err(|error| error.found)
        };
        assert!(expand(r#"{"from":1,"removed":[2],"added":[9]}"#).unwrap().contains("[1,3,9]"));
        assert_eq!(expand(r#"{"from":4,"removed":[],"added":[]}"#), Err("call 4".to_owned()));
        for wrong in [
            r#"{"from":1,"removed":[4],"added":[]}"#,
            r#"{"from":1,"removed":[],"added":[3]}"#,
            r#"{"from":1,"removed":[2,2],"added":[]}"#,
            r#"{"from":1,"removed":[],"added":[9,8]}"#,
            r#"{"from":1,"removed":[]}"#,
            r#"{"from":1,"removed":[],"added":[],"more":1}"#,
        ] {
            assert!(expand(wrong).is_err(), "{wrong}");
        }
    }
}
