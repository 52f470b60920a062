//! Links between writes: `supersedes`, `superseded_by` and `depends_on` name ids or keys of a timeline, which are not unique.

use super::{Origin, Session, Superseded};
use crate::diagnostic::WriteDiagnostic;
use crate::timeline::Write;
use orchestrion_kernel::item::{ItemKey, Validity};
use orchestrion_kernel::knowledge::Reference;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, ItemId};
use std::collections::BTreeSet;

/// How many links of supersession there are, and how many lead somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Writes that name what they supersede.
    pub all: usize,
    /// Those of them that name something known.
    pub resolved: usize,
}

impl Session<'_> {
    /// What a write supersedes by its own account; the write is the next to be added.
    pub(super) fn follow(&mut self, write: &Write) -> Option<ItemId> {
        let name = write.supersedes.as_ref()?;
        self.links.all += 1;
        let unfit = match self.named(name) {
            Some(found) if !self.closes_circle(write, found) => {
                self.links.resolved += 1;
                return Some(found);
            }
            _ if name.is_empty() => {
                self.unfit.push((write.key.clone(), WriteDiagnostic::SupersedesNothing(name.clone())));
                return None;
            }
            None if *name != write.key && *name != write.id => {
                WriteDiagnostic::SupersedesNothing(name.clone())
            }
            _ => WriteDiagnostic::Cyclic(name.clone()),
        };
        self.dangling.insert(self.known.next_id(), name.clone());
        self.unfit.push((write.key.clone(), unfit));
        None
    }

    /// Whether what is found was to supersede the write, itself or through what it superseded.
    fn closes_circle(&self, write: &Write, found: ItemId) -> bool {
        let older = |id: &ItemId| self.known.get(*id)?.item.fact()?.supersedes;
        let wanted = |id: ItemId| self.dangling.get(&id);
        std::iter::successors(Some(found), older)
            .filter_map(wanted)
            .any(|name| *name == write.key || *name == write.id)
    }

    /// Ends facts that were superseded, by their own account. What superseded them may stand after them in the same event. Without that
    /// they do not hold either, for they say so; but what has no name supersedes nothing.
    pub(super) fn end_superseded(&mut self) {
        for Superseded { id, key, by: name, is_valid } in std::mem::take(&mut self.superseded) {
            let by = self.named(&name);
            let (unfit, holds) = match by {
                None => (WriteDiagnostic::SupersededByNothing(name.clone()), is_valid && name.is_empty()),
                Some(by) if self.leads_to(by, id) => (WriteDiagnostic::Cyclic(name.clone()), is_valid),
                Some(_) => {
                    self.end(id, by);
                    continue;
                }
            };
            self.unfit.push((key, unfit));
            if !holds {
                self.end(id, None);
            }
        }
    }

    /// Notes what was derived from a fact (003 `derived_facts`); it may be written later.
    pub(super) fn expect_derived(&mut self, ground: ItemId, write: &Write) {
        self.derives.extend(write.derived_facts.iter().map(|name| (write.key.clone(), ground, name.clone())));
    }

    /// Lets what was derived from facts rest on them, as far as it was written.
    pub(super) fn derive(&mut self) {
        for (key, ground, name) in std::mem::take(&mut self.derives) {
            let on = self.known.current_version(ground).map_or(ground, |entry| entry.item.id);
            match self.named(&name).map(|derived| self.rested(derived, on)) {
                Some(Some(event)) => self.apply(&event, &Origin::default()),
                Some(None) => self.unfit.push((key, WriteDiagnostic::CannotDerive(name))),
                None => self.derives.push((key, ground, name)),
            }
        }
    }

    /// Names what was to be derived, and never written.
    pub(super) fn name_underived(&mut self) {
        let never = std::mem::take(&mut self.derives);
        self.unfit
            .extend(never.into_iter().map(|(key, _, name)| (key, WriteDiagnostic::DerivesNothing(name))));
    }

    /// The event that lets a fact rest on another one, where the kernel's own rules for writes allow that.
    fn rested(&self, derived: ItemId, on: ItemId) -> Option<Event> {
        let (ground, entry) = (self.known.get(on)?, self.known.get(derived)?);
        let is_circle = on == derived || self.known.transitive_dependents(&[derived]).contains(&on);
        let counts_there = ground.item.fact()?.scope.contains(&entry.item.fact()?.scope);
        let deps: BTreeSet<ItemId> = entry.deps.iter().copied().chain([on]).collect();
        let event = Event::UpdateItem { item: entry.item.clone(), deps: deps.into_iter().collect() };
        (counts_there && !is_circle).then_some(event)
    }

    /// Whether what stands in the place of an item, or comes to stand there, is this one.
    fn leads_to(&self, from: ItemId, to: ItemId) -> bool {
        let newer = |id: &ItemId| match self.known.get(*id)?.item.validity {
            Validity::Superseded { superseded_by: by, .. } => by,
            _ => None,
        };
        std::iter::successors(Some(from), newer).any(|id| id == to)
    }

    /// What a write rests on, as far as that was written before.
    pub(super) fn rested_on(&mut self, write: &Write) -> Vec<Reference> {
        let mut found = Vec::new();
        for name in &write.depends_on {
            match self.named(name) {
                Some(id) => found.push(Reference::Id(id)),
                None => self.unfit.push((write.key.clone(), WriteDiagnostic::RestsOnNothing(name.clone()))),
            }
        }
        found
    }

    /// The latest valid fact of this id, or of this key, or else the latest of this id, or of this key. What has no name is not
    /// named by none.
    fn named(&self, name: &str) -> Option<ItemId> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let facts = || self.known.entries().filter(|entry| entry.item.fact().is_some());
        let by_id = |id: &ItemId| self.origins.get(id).is_some_and(|origin| origin.name == name);
        let latest = |valid_only: bool, is_id: bool| {
            let fits = |entry: &&Entry| {
                let named = if is_id {
                    by_id(&entry.item.id)
                } else {
                    matches!(&entry.item.key, ItemKey::Fact(key) if key.as_str() == name)
                };
                named && (entry.item.is_valid() || !valid_only)
            };
            facts().filter(fits).last().map(|entry| entry.item.id)
        };
        [(true, true), (true, false), (false, true), (false, false)]
            .into_iter()
            .find_map(|(valid_only, is_id)| latest(valid_only, is_id))
    }
}
