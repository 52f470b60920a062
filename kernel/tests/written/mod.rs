//! Facts to write, and what is known of them then.

#![allow(clippy::unwrap_used, dead_code, reason = "each test uses a part")]

use orchestrion_kernel::ids::Time;
use orchestrion_kernel::item::{Key, Rank, Scope, Source, Standing};
use orchestrion_kernel::knowledge::{Misuse, NewFact, Reader, Reference, Write, admit, decide_write};
use orchestrion_kernel::semantic::Semantic;
use orchestrion_kernel::{Event, ItemId, Policy};

pub(crate) const NOW: Time = Time::from_millis(1_000);

pub(crate) fn new(key: &str, text: &str, rank: Rank) -> NewFact {
    let source = Source { name: "somebody".into(), rank };
    NewFact { at: NOW, ..NewFact::plain(key.into(), text.into(), source) }
}

pub(crate) fn superseding(key: &str, text: &str, rank: Rank, named: &str) -> NewFact {
    NewFact { supersedes: Some(Reference::Key(named.into())), ..new(key, text, rank) }
}

pub(crate) fn resting(key: &str, text: &str, on: &str) -> NewFact {
    NewFact { rests_on: vec![Reference::Key(on.into())], ..new(key, text, Rank::Employee) }
}

/// Writes, and holds every event against what it is written into.
pub(crate) fn write(known: &mut Semantic, write: &Write) -> Result<Vec<Event>, Misuse> {
    let events = decide_write(&Policy::hardened(), known, write)?;
    for event in &events {
        admit(known, event).unwrap();
        known.apply(event);
        assert!(known.is_closed());
    }
    Ok(events)
}

pub(crate) fn knowing(facts: impl IntoIterator<Item = NewFact>) -> Semantic {
    let mut known = Semantic::default();
    for fact in facts {
        write(&mut known, &Write::Fact(fact)).unwrap();
    }
    known
}

pub(crate) fn standing(known: &Semantic, key: &str) -> Standing {
    known.find(&Key::Fact(key.into())).unwrap().item.standing
}

pub(crate) fn id(known: &Semantic, key: &str) -> ItemId {
    known.find(&Key::Fact(key.into())).unwrap().item.id
}

pub(crate) fn anybody() -> Reader {
    Reader { user: None, rank: Rank::Employee, permissions: Vec::new(), scope: Scope::Global, now: NOW }
}

/// The texts that may stand in a context.
pub(crate) fn shown(known: &Semantic, reader: &Reader) -> Vec<String> {
    known.selectable(reader).map(|entry| entry.item.text.to_string()).collect()
}

pub(crate) fn current(known: &Semantic, key: &str) -> Option<String> {
    known.get_current_value(&key.into(), &anybody()).map(|item| item.text.to_string())
}
