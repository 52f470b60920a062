//! One batch: the events that the documents require and the events of the kernel, compared as multisets.

use super::capacity::{apply_capacity, capacity_events};
use super::conversation::PendingCall;
use super::fold::{Entry, Fold, ObservedItemEvent};
use super::items::{Change, ExpectedItems, FINAL_ANSWER_PREFIX};
use super::policy::OraclePolicy;
use super::workflow::{ExpectedAggregate, compare_aggregate};
use serde_json::Value;
use std::collections::BTreeSet;

/// The batch that a step must return.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// All events except transitions, item events and over-budget events.
    pub(super) events: Vec<Value>,
    /// The changes of the items of requests.
    pub(super) changes: Vec<Change>,
    /// The changes of written and compacted items, each as a whole event.
    pub(super) item_events: Vec<Value>,
    /// The keys of the forgotten items of requests.
    pub(super) forgotten_keys: BTreeSet<String>,
    /// The ids of the forgotten written items.
    pub(super) forgotten_ids: BTreeSet<u64>,
    /// The cause of both.
    pub(super) forget_cause: Value,
    /// The ids of the expired items, which leave before the input (decision 0036).
    pub(super) expired_ids: BTreeSet<u64>,
    /// The number of transitions: one, but none for a resume (000-4.12), a write (decision 0019) and a tick (decision 0036).
    pub(super) transitions: usize,
    /// The aggregate of the members' results (decision 0042).
    pub(super) aggregate: Option<ExpectedAggregate>,
    /// The call that the batch makes, if it makes one.
    pub(super) call: Option<PendingCall>,
}

impl Batch {
    /// Compares the kernel's batch with this one, and returns the over-budget events of the kernel.
    ///
    /// `items` records the texts that the kernel composes, `answer` the text that the user receives. If no request runs after the
    /// batch, S may not exceed the capacity of this policy.
    pub(super) fn compare(
        mut self,
        observed: &[Value],
        fold: &mut Fold,
        items: &mut ExpectedItems,
        answer: &mut Option<String>,
        capacity: Option<&OraclePolicy>,
    ) -> Result<Vec<Value>, String> {
        let excess = |fold: &Fold| capacity.map_or_else(Vec::new, |policy| capacity_events(fold, policy));
        let mut transitions = 0;
        let mut over_budget = Vec::new();
        let (mut forgotten_keys, mut forgotten_ids) = (BTreeSet::new(), BTreeSet::new());
        let mut composed: Vec<(String, String)> = Vec::new();
        let mut answered = None;
        let mut remaining = observed;
        while let [event, after @ ..] = remaining {
            // Decision 0021: the oldest items over the capacity are forgotten, after all other changes of S.
            let expected = excess(fold);
            if !expected.is_empty() && remaining.starts_with(&expected) {
                apply_capacity(&expected, fold, items)?;
                remaining = &remaining[expected.len()..];
                continue;
            }
            remaining = after;
            if event.get("transitioned").is_some() {
                transitions += 1;
            } else if event.get("over_budget").is_some() {
                over_budget.push(event.clone());
            } else if let Some(item_event) = fold.apply(event)? {
                // Decision 0021: dependents of forgotten items are compared as whole events, also those of requests.
                if item_event.is_written || self.item_events.contains(event) {
                    remove_expected(&mut self.item_events, event.clone())?;
                } else {
                    self.remove_change(&item_event, items, &mut composed)?;
                    if item_event.key.starts_with(FINAL_ANSWER_PREFIX) {
                        record_answer(answer, &item_event.text)?; // decision 0016
                    }
                }
            } else if let Some(found) = event.get("network").filter(|event| is_aggregate(event)) {
                let expected =
                    self.aggregate.take().ok_or_else(|| format!("unexpected aggregate: {found}"))?;
                answered = compare_aggregate(&expected, found)?;
            } else if let Some(time) = event.pointer("/time_advanced/now").and_then(Value::as_u64) {
                remove_expected(&mut self.events, event.clone())?;
                fold.now = time;
            } else if let Some(body) = event.get("forget_items").filter(|body| body["cause"] == "expiry") {
                let forgotten: BTreeSet<u64> =
                    fold.forget(&body["ids"])?.into_iter().map(|(id, _)| id).collect();
                if forgotten != self.expired_ids || forgotten.is_empty() {
                    return Err(format!(
                        "wrong expired items: expected {:?}, found {forgotten:?} (003-3.5)",
                        self.expired_ids
                    ));
                }
                self.expired_ids.clear();
            } else if let Some(body) = event.get("forget_items") {
                // 000-0.4: every loss has a cause.
                if body["cause"] != self.forget_cause {
                    return Err(format!(
                        "wrong cause of forgotten items: expected {}, found {} (000-0.4)",
                        self.forget_cause, body["cause"]
                    ));
                }
                let forgotten = fold.forget(&body["ids"])?;
                if forgotten.is_empty() {
                    return Err("an event forgets no item: expected no event (0004)".to_owned());
                }
                for (id, entry) in forgotten {
                    if entry.is_written() {
                        forgotten_ids.insert(id);
                    } else {
                        forgotten_keys.insert(entry.key);
                    }
                }
            } else {
                remove_expected(&mut self.events, without_composed_text(event, answer)?)?;
            }
        }
        if let Some(missing) = self.aggregate {
            return Err(format!("missing aggregate: {missing:?}"));
        }
        // Decision 0042: the aggregate is an item that later tasks read.
        let is_aggregate = |entry: &Entry| entry.item["key"].get("aggregate").is_some();
        if let Some(answer) = answered
            && !fold.entries().any(|(_, entry)| is_aggregate(entry) && entry.text == answer)
        {
            return Err(format!("missing item of the aggregate {answer:?}"));
        }
        if let Some(missing) = self.events.iter().chain(&self.item_events).chain(&excess(fold)).next() {
            return Err(format!("missing event: {missing}"));
        }
        let is_missing = |change: &&Change| {
            change.is_required
                || composed
                    .iter()
                    .any(|(key, text)| *key == change.key && change.old_text.as_ref() != Some(text))
        };
        if let Some(missing) = self.changes.iter().find(is_missing) {
            return Err(format!(
                "missing change of S: {} {} with the kind {}, the text {:?}, the dependencies {:?}",
                missing.event, missing.key, missing.item.kind, missing.item.text, missing.item.deps
            ));
        }
        if !self.expired_ids.is_empty() {
            return Err(format!("expired items remain: {:?} (003-3.5)", self.expired_ids));
        }
        if forgotten_keys != self.forgotten_keys {
            return Err(format!(
                "wrong forgotten items: expected {:?}, found {forgotten_keys:?}",
                self.forgotten_keys
            ));
        }
        if forgotten_ids != self.forgotten_ids {
            return Err(format!(
                "wrong forgotten items: expected {:?}, found {forgotten_ids:?}",
                self.forgotten_ids
            ));
        }
        if transitions != self.transitions {
            return Err(format!(
                "wrong number of transitions: expected {}, found {transitions} (000-4.12)",
                self.transitions
            ));
        }
        Ok(over_budget)
    }

    fn remove_change(
        &mut self,
        observed: &ObservedItemEvent,
        items: &mut ExpectedItems,
        composed: &mut Vec<(String, String)>,
    ) -> Result<(), String> {
        let position = self.changes.iter().position(|change| {
            change.event == observed.event
                && change.key == observed.key
                && change.item.kind == observed.kind
                && change.item.deps == observed.deps
                && change.item.user == observed.user
                && change.item.scope == observed.scope
                && change.item.text.as_ref().is_none_or(|text| *text == observed.text)
        });
        let Some(position) = position else {
            let expected: Vec<&Change> =
                self.changes.iter().filter(|change| change.key == observed.key).collect();
            return Err(format!("unexpected change of S: expected {expected:?}, found {observed:?}"));
        };
        let change = self.changes.remove(position);
        if let Some(part) = change.parts.iter().find(|part| !observed.text.contains(part.as_str())) {
            return Err(format!("the text of {} lacks {part:?}: found {:?}", observed.key, observed.text));
        }
        if change.item.text.is_none() {
            // Two changes of one item in one batch compose the same text.
            if composed.iter().any(|(key, text)| *key == observed.key && *text != observed.text) {
                return Err(format!("{} has two different texts in one batch", observed.key));
            }
            composed.push((observed.key.clone(), observed.text.clone()));
            items.record_text(&observed.key, &observed.text);
        }
        Ok(())
    }
}

/// Whether an event of the network is an aggregate or its absence.
fn is_aggregate(event: &Value) -> bool {
    event.get("results_aggregated").is_some() || event.get("aggregation_failed").is_some()
}

/// Removes an event from the expected ones.
fn remove_expected(events: &mut Vec<Value>, event: Value) -> Result<(), String> {
    match events.iter().position(|expected| *expected == event) {
        Some(position) => {
            events.remove(position);
            Ok(())
        }
        None if events.is_empty() => Err(format!("unexpected event: {event}")),
        None => {
            let expected: Vec<String> = events.iter().map(Value::to_string).collect();
            Err(format!("unexpected event: expected {}, found {event}", expected.join(" and ")))
        }
    }
}

/// Returns the event without the text that no document defines. The memory record and the final answer must have the
/// same text: the one that the user receives.
fn without_composed_text(event: &Value, answer: &mut Option<String>) -> Result<Value, String> {
    let mut event = event.clone();
    for path in ["/memory_recorded/record", "/final_answer"] {
        if let Some(text) =
            event.pointer_mut(path).and_then(Value::as_object_mut).and_then(|body| body.remove("text"))
        {
            record_answer(answer, text.as_str().unwrap_or_default())?;
        }
    }
    Ok(event)
}

fn record_answer(answer: &mut Option<String>, text: &str) -> Result<(), String> {
    match answer {
        Some(earlier) if earlier != text => {
            Err(format!("the final answer changes: expected {earlier:?}, found {text:?}"))
        }
        _ => {
            *answer = Some(text.to_owned());
            Ok(())
        }
    }
}
