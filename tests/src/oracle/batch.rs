//! One batch: what the documents call for, and what the kernel gave, as multisets.

use super::fold::{Fold, ObservedItemEvent};
use super::items::{Change, ExpectedItems};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a step should give.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// All events but moves and those of items.
    pub(super) events: Vec<Value>,
    /// The changes of S.
    pub(super) changes: Vec<Change>,
    /// The changes of what is written by name, and of what is compacted, each a whole event.
    pub(super) written: Vec<Value>,
    /// The keys of what requests left and is forgotten.
    pub(super) forgotten: BTreeSet<String>,
    /// The ids of what was written and is forgotten.
    pub(super) leaving: BTreeSet<u64>,
    /// Why it is.
    pub(super) because: Value,
    /// How many moves: one, but none for a resume (000-4.12) and for a write (decision 0019).
    pub(super) moves: usize,
}

impl Batch {
    /// Holds the kernel's batch against this one; `things` learns the words that the kernel composed, `read` what
    /// the user is to read.
    pub(super) fn compare(
        mut self,
        given: &[Value],
        fold: &mut Fold,
        things: &mut ExpectedItems,
        read: &mut Option<String>,
    ) -> Result<(), String> {
        let mut moves = 0;
        let (mut forgotten, mut leaving) = (BTreeSet::new(), BTreeSet::new());
        let mut composed: Vec<(String, String)> = Vec::new();
        for event in given {
            if event.get("moved").is_some() {
                moves += 1;
            } else if let Some(seen) = fold.apply(event)? {
                // Decision 0021: what rested on the forgotten is told by whole events, whoever left it.
                if seen.written || self.written.contains(event) {
                    strike(&mut self.written, event.clone())?;
                } else {
                    self.strike_change(&seen, things, &mut composed)?;
                    if seen.key.starts_with("{\"answer\"") {
                        agree(read, &seen.text)?; // decision 0016: what the user was answered
                    }
                }
            } else if let Some(body) = event.get("forget_items") {
                // 000-0.4: with a cause; they are the end of a session and that the time has come.
                if body["cause"] != self.because {
                    return Err(format!("items are forgotten because of {} (000-0.4)", body["cause"]));
                }
                let gone = fold.forget(&body["ids"])?;
                if gone.is_empty() {
                    return Err("nothing is forgotten, by an event (0004)".to_owned());
                }
                for (id, entry) in gone {
                    if entry.is_written() {
                        leaving.insert(id);
                    } else {
                        forgotten.insert(entry.key);
                    }
                }
            } else {
                strike(&mut self.events, without_composed(event, read)?)?;
            }
        }
        if let Some(missing) = self.events.iter().chain(&self.written).next() {
            return Err(format!("an event did not come: {missing}"));
        }
        let changed_words = |change: &&Change| {
            change.certain
                || composed.iter().any(|(key, text)| *key == change.key && change.said.as_ref() != Some(text))
        };
        if let Some(missing) = self.changes.iter().find(changed_words) {
            return Err(format!(
                "a change of S did not come: {} {} as {}, {:?}, resting on {:?}",
                missing.event, missing.key, missing.thing.variant, missing.thing.text, missing.thing.rests_on
            ));
        }
        if forgotten != self.forgotten {
            return Err(format!(
                "expected {:?} to be forgotten; forgotten were {forgotten:?}",
                self.forgotten
            ));
        }
        if leaving != self.leaving {
            return Err(format!(
                "expected the items {:?} to be forgotten; forgotten were {leaving:?}",
                self.leaving
            ));
        }
        if moves != self.moves {
            return Err(format!("expected {} moves in the batch; {moves} came (000-4.12)", self.moves));
        }
        Ok(())
    }

    fn strike_change(
        &mut self,
        seen: &ObservedItemEvent,
        things: &mut ExpectedItems,
        composed: &mut Vec<(String, String)>,
    ) -> Result<(), String> {
        let place = self.changes.iter().position(|change| {
            change.event == seen.event
                && change.key == seen.key
                && change.thing.variant == seen.variant
                && change.thing.rests_on == seen.rests_on
                && change.thing.user == seen.user
                && change.thing.text.as_ref().is_none_or(|text| *text == seen.text)
        });
        let Some(place) = place else {
            let expected: Vec<&Change> =
                self.changes.iter().filter(|change| change.key == seen.key).collect();
            return Err(format!("no such change of S was expected: {seen:?}; expected was {expected:?}"));
        };
        let change = self.changes.remove(place);
        if let Some(word) = change.saying.iter().find(|word| !seen.text.contains(word.as_str())) {
            return Err(format!("{} says {:?}, without {word:?}", seen.key, seen.text));
        }
        if change.thing.text.is_none() {
            // Two changes of one item in one batch compose the same words.
            if composed.iter().any(|(key, text)| *key == seen.key && *text != seen.text) {
                return Err(format!("{} says two things in one batch", seen.key));
            }
            composed.push((seen.key.clone(), seen.text.clone()));
            things.learn(&seen.key, &seen.text);
        }
        Ok(())
    }
}

/// Strikes an event off what was expected.
fn strike(events: &mut Vec<Value>, event: Value) -> Result<(), String> {
    match events.iter().position(|expected| *expected == event) {
        Some(place) => {
            events.remove(place);
            Ok(())
        }
        None if events.is_empty() => Err(format!("no such event was expected: {event}")),
        None => {
            let expected: Vec<String> = events.iter().map(Value::to_string).collect();
            Err(format!("no such event was expected: {event}; expected was {}", expected.join(" and ")))
        }
    }
}

/// The event without the text that no document fixes. But the record and the answer say the same: "what the user
/// will read".
fn without_composed(event: &Value, read: &mut Option<String>) -> Result<Value, String> {
    let mut event = event.clone();
    for path in ["/memorized/record", "/final_answer"] {
        if let Some(text) =
            event.pointer_mut(path).and_then(Value::as_object_mut).and_then(|body| body.remove("text"))
        {
            agree(read, text.as_str().unwrap_or_default())?;
        }
    }
    Ok(event)
}

fn agree(read: &mut Option<String>, text: &str) -> Result<(), String> {
    match read {
        Some(before) if before != text => {
            Err(format!("what the user reads was {before:?} before, and is {text:?} now"))
        }
        _ => {
            *read = Some(text.to_owned());
            Ok(())
        }
    }
}
