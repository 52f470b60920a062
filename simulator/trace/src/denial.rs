//! Denied writes: the kernel accepts the input, records its item, and shows it to no call.

use orchestrion_kernel::item::{Item, ItemKind, MemoryType, Rank, Validity};
use orchestrion_kernel::{Event, Policy};
use std::fmt;

/// The reason why the kernel denied a write: the rank of its source is too low (003, "check authority before write").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    /// What was written, as a noun phrase.
    pub subject: &'static str,
    /// The minimum rank for it.
    pub required: Rank,
}

impl Denial {
    /// Returns why an item was denied, or `None` if it was not.
    #[must_use]
    pub fn from_item(policy: &Policy, item: &Item) -> Option<Self> {
        let fact = item.fact().filter(|_| item.validity == Validity::Denied)?;
        let is_constraint = matches!(item.kind, ItemKind::Constraint(_));
        let is_organizational = fact.memory == MemoryType::Organizational;
        let limits = [
            (is_constraint, "a constraint", policy.writes.constraint_from),
            (is_organizational, "organizational memory", policy.writes.organizational_from),
        ];
        let required = limits.into_iter().filter(|(applies, ..)| *applies).max_by_key(|(.., from)| *from);
        required.map(|(_, subject, required)| Self { subject, required })
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} requires rank {} or above", self.subject, self.required)
    }
}

/// Returns the item of a batch that the kernel denied, if any.
#[must_use]
pub fn denied_item(events: &[Event]) -> Option<&Item> {
    events.iter().find_map(|event| match event {
        Event::AddItem { item, .. } if item.validity == Validity::Denied => Some(item),
        _ => None,
    })
}
