//! S as the documents describe it: items by key, without ids (decision 0016: S has at most one item of a key).

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// An item as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpectedItem {
    /// Fact, constraint or subtask (000-2.1 to 000-2.4), in the published encoding.
    pub(super) variant: Value,
    /// What it says; nothing as long as the kernel has composed it and we have not seen it.
    pub(super) text: Option<String>,
    /// What a composed text is made from.
    pub(super) made_from: Value,
    /// What it rests on, by key (000-2.6).
    pub(super) rests_on: BTreeSet<String>,
    /// Whose request left it, if one did (decision 0004).
    pub(super) user: Option<String>,
}

/// What an item is to say.
#[derive(Clone, Debug)]
pub(super) enum ExpectedText {
    /// These words, as they came.
    Verbatim(String),
    /// Something that the kernel makes of this; the words given occur in it. No document says more.
    Composed { from: Value, saying: Vec<String> },
}

/// A change of S that the documents call for.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) event: &'static str,
    pub(super) key: String,
    pub(super) thing: ExpectedItem,
    /// Words that a composed text must have in it.
    pub(super) saying: Vec<String>,
    /// Whether the event must come. It may stay away if only what a text is composed from has changed: the text may
    /// have become what it was.
    pub(super) certain: bool,
    /// What the item said before.
    pub(super) said: Option<String>,
}

/// The items by key.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedItems(BTreeMap<String, ExpectedItem>);

/// A key in the published encoding, as one text.
pub(super) fn key(kind: &str, of: &Value) -> String {
    json!({ kind: of }).to_string()
}

impl ExpectedItems {
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Decision 0016: what becomes known under a key that S has already updates its item; if nothing about it
    /// changed, there is no event; otherwise a new item enters.
    pub(super) fn know(
        &mut self,
        key: String,
        variant: Value,
        words: ExpectedText,
        rests_on: BTreeSet<String>,
        user: Option<String>,
    ) -> Option<Change> {
        let old = self.0.get(&key).cloned();
        let (text, made_from, saying) = match words {
            ExpectedText::Verbatim(text) => (Some(text), Value::Null, Vec::new()),
            ExpectedText::Composed { from, saying } => match &old {
                // What is composed again from the same says the same again (000-4.10).
                Some(old) if old.made_from == from => (old.text.clone(), from, saying),
                _ => (None, from, saying),
            },
        };
        let thing = ExpectedItem { variant, text, made_from, rests_on, user };
        let said = old.as_ref().and_then(|old| old.text.clone());
        let same_words = |said: &String| match &thing.text {
            Some(text) => text == said,
            None => saying.iter().all(|word| said.contains(word.as_str())),
        };
        let certain = old.as_ref().is_none_or(|old| {
            old.variant != thing.variant
                || old.rests_on != thing.rests_on
                || !said.as_ref().is_none_or(same_words)
        });
        if old.as_ref() == Some(&thing) {
            return None;
        }
        let event = if old.is_some() { "update_item" } else { "add_item" };
        self.0.insert(key.clone(), thing.clone());
        Some(Change { event, key, thing, saying, certain, said })
    }

    /// The same item in another status (000-2.3).
    pub(super) fn mark(&mut self, key: &str, status: &str) -> Option<Change> {
        let old = self.0.get(key)?.clone();
        let thing = ExpectedItem { variant: json!({ "subtask": status }), ..old.clone() };
        if thing == old {
            return None; // decision 0016: nothing about it changed
        }
        self.0.insert(key.to_owned(), thing.clone());
        Some(Change {
            event: "update_item",
            key: key.to_owned(),
            thing,
            saying: Vec::new(),
            certain: true,
            said: None,
        })
    }

    /// The item of a key, which keeps the words that the kernel composed from now on.
    pub(super) fn learn(&mut self, key: &str, text: &str) -> Option<&ExpectedItem> {
        let thing = self.0.get_mut(key)?;
        thing.text.get_or_insert_with(|| text.to_owned());
        Some(thing)
    }

    /// Decision 0021: what is forgotten because a summary stands for it.
    pub(super) fn forget(&mut self, key: &str) -> bool {
        self.0.remove(key).is_some()
    }

    /// Decision 0021: what an item rests on from now on.
    pub(super) fn repoint(&mut self, key: &str, rests_on: BTreeSet<String>) {
        if let Some(thing) = self.0.get_mut(key) {
            thing.rests_on = rests_on;
        }
    }

    /// Decision 0004: what was asked and what was answered persists; everything else leaves with the session.
    pub(super) fn forget_working_set(&mut self) -> BTreeSet<String> {
        let persists = |key: &String| key.starts_with("{\"request\"") || key.starts_with("{\"answer\"");
        let gone = self.0.keys().filter(|key| !persists(key)).cloned().collect();
        self.0.retain(|key, _| persists(key));
        gone
    }
}
