//! Facts to write.

#![allow(dead_code, reason = "each test uses a part")]

use orchestrion_kernel::item::{FactSource, Rank};
use orchestrion_kernel::knowledge::{NewFact, Reference};

pub(crate) fn new(key: &str, text: &str, rank: Rank) -> NewFact {
    NewFact::global(key.into(), text.into(), FactSource { name: "author".into(), rank })
}

pub(crate) fn dependent(key: &str, text: &str, on: &str) -> NewFact {
    NewFact { depends_on: vec![Reference::Key(on.into())], ..new(key, text, Rank::Employee) }
}
