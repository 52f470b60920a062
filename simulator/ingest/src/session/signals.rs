//! Signals from the environment (003 layer 4).

use super::{ItemOrigin, RESERVED_PREFIX, Session, new_fact};
use crate::input::SignalInput;
use crate::stems::Stems;
use crate::supersession::Assertion;
use orchestrion_kernel::item::{ItemKey, Layer, MemoryType, Rank};
use orchestrion_kernel::knowledge::{Reference, Write, WriteSource};
use orchestrion_kernel::{ItemId, Text};

/// The prefix of the reserved keys of signals.
const SIGNAL: &str = "environment: ";

impl Session<'_> {
    /// Writes a signal. It replaces the signal with its key, and the current signal on its subject. A signal that is stored as a
    /// fact has the rank of the policy, because no statement changes the environment.
    pub fn write_signal(&mut self, input: &SignalInput) {
        let SignalInput { key, text, at, expires_at } = input;
        if let Err(diagnostic) = self.check_expiry(*expires_at) {
            return self.report(key, diagnostic);
        }
        let stems = Stems::from_text(&text.text);
        let fact_key = Text::from(format!("{RESERVED_PREFIX}{SIGNAL}{key}"));
        let (signal, fact) =
            (ItemKey::Environment(Text::from(key.as_str())), ItemKey::Fact(fact_key.clone()));
        let detected = self.signal_on_subject(key, &text.text, &stems);
        let replaced = [self.valid(&signal), self.valid(&fact), detected];
        let (item, write) = if text.is_public() {
            let is_signal =
                |id: &ItemId| self.state.get(*id).is_some_and(|entry| entry.item.layer == Layer::Environment);
            let supersedes = detected.filter(is_signal).map(Reference::Id);
            let (key, text) = (Text::from(key.as_str()), Text::from(text.text.as_str()));
            (signal, Write::Environment { key, text, supersedes })
        } else {
            let source = Text::from("environment");
            self.declare(&source, Rank::Policy);
            let source = WriteSource::declared(source);
            (fact, Write::Fact(new_fact(fact_key, text, source, MemoryType::Organizational, *at)))
        };
        self.write(key, &write, ItemOrigin { is_quoted: true, stems, ..ItemOrigin::default() });
        self.set_key_expiry(&item, *expires_at);
        self.replace(&replaced, &item, text.is_retracted);
    }

    /// Returns the current signal on the subject of a new one.
    fn signal_on_subject(&self, key: &str, text: &str, stems: &Stems) -> Option<ItemId> {
        let assertion =
            |key, text, stems| Assertion { key, text, stems, speaker: None, rank: Rank::Unverified };
        let valid = self.state.entries().map(|entry| &entry.item).filter(|item| item.is_valid());
        let signals = valid.filter_map(|item| {
            let key = match &item.key {
                ItemKey::Environment(key) => key.as_str(),
                ItemKey::Fact(key) => key.as_str().strip_prefix(RESERVED_PREFIX)?.strip_prefix(SIGNAL)?,
                _ => return None,
            };
            let stems = &self.origins.get(&item.id)?.stems;
            Some((item.id, assertion(key, item.text.as_str(), stems)))
        });
        let signals: Vec<_> = signals.collect();
        let detected = self.detector.detect_for_signal(&assertion(key, text, stems), &signals);
        detected.map(|detected| detected.superseded)
    }
}
