//! References between facts by id or key, which are not unique.

use super::{Derivation, ItemOrigin, Session, Succession};
use crate::diagnostic::IngestDiagnostic;
use crate::input::FactInput;
use orchestrion_kernel::item::{ItemKey, Validity};
use orchestrion_kernel::knowledge::Reference;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Event, ItemId};
use std::collections::BTreeSet;

impl Session<'_> {
    /// Resolves `superseded_by` and `derived_facts` references to the facts so far. A successor must be written in the same event as
    /// its predecessor; without one, the predecessor is invalid by its own record. Dependents may be written later.
    pub fn resolve_references(&mut self) {
        for Succession { id, key, successor, is_valid } in std::mem::take(&mut self.successions) {
            let (diagnostic, is_kept) = match self.find(&successor) {
                None => {
                    let is_unnamed = successor.is_empty();
                    (IngestDiagnostic::UnknownSuccessor(successor), is_valid && is_unnamed)
                }
                Some(by) if self.is_successor(id, by) => {
                    (IngestDiagnostic::SupersessionCycle(successor), is_valid)
                }
                Some(by) => {
                    self.invalidate(id, Some(by));
                    continue;
                }
            };
            self.report(&key, diagnostic);
            if !is_kept {
                self.invalidate(id, None);
            }
        }
        for Derivation { key, dependency, dependent } in std::mem::take(&mut self.derivations) {
            let current = self.state.current_version(dependency).map_or(dependency, |entry| entry.item.id);
            match self.find(&dependent).map(|id| self.dependency_event(id, current)) {
                Some(Some(event)) => self.apply(&event, &ItemOrigin::default()),
                Some(None) => self.report(&key, IngestDiagnostic::InvalidDependent(dependent)),
                None => self.derivations.push(Derivation { key, dependency, dependent }),
            }
        }
    }

    /// Reports the `derived_facts` references without a fact. Call it after the last input.
    pub fn report_unresolved(&mut self) {
        for Derivation { key, dependent, .. } in std::mem::take(&mut self.derivations) {
            self.report(&key, IngestDiagnostic::UnknownDependent(dependent));
        }
    }

    /// Resolves the `supersedes` reference of the next fact.
    pub(super) fn resolve_superseded(&mut self, key: &str, input: &FactInput) -> Option<ItemId> {
        let name = input.supersedes.as_ref()?;
        self.reference_counts.total += 1;
        let is_own = |name: &str| name == key || name == input.id;
        let diagnostic = match self.find(name) {
            Some(found) if !self.closes_cycle(found, is_own) => {
                self.reference_counts.resolved += 1;
                return Some(found);
            }
            _ if name.is_empty() => {
                self.report(key, IngestDiagnostic::UnknownSuperseded(name.clone()));
                return None;
            }
            None if !is_own(name) => IngestDiagnostic::UnknownSuperseded(name.clone()),
            _ => IngestDiagnostic::SupersessionCycle(name.clone()),
        };
        self.unresolved.insert(self.state.next_id(), name.clone());
        self.report(key, diagnostic);
        None
    }

    /// Resolves the `depends_on` references of a fact.
    pub(super) fn resolve_dependencies(&mut self, key: &str, input: &FactInput) -> Vec<Reference> {
        let mut found = Vec::new();
        for name in &input.depends_on {
            match self.find(name) {
                Some(id) => found.push(Reference::Id(id)),
                None => self.report(key, IngestDiagnostic::UnknownDependency(name.clone())),
            }
        }
        found
    }

    /// Whether a fact, or one that it superseded, has an unresolved reference to the next fact.
    fn closes_cycle(&self, found: ItemId, is_own: impl Fn(&str) -> bool) -> bool {
        let predecessor = |id: &ItemId| self.state.get(*id)?.item.fact()?.supersedes;
        let mut chain = std::iter::successors(Some(found), predecessor);
        chain.any(|id| self.unresolved.get(&id).is_some_and(|name| is_own(name)))
    }

    /// Whether `id` is `of` or one of its successors.
    fn is_successor(&self, id: ItemId, of: ItemId) -> bool {
        let successor = |id: &ItemId| match self.state.get(*id)?.item.validity {
            Validity::Superseded { superseded_by, .. } => superseded_by,
            _ => None,
        };
        std::iter::successors(Some(of), successor).any(|successor| successor == id)
    }

    /// Returns the event that adds a dependency, or `None` if the kernel's rules for writes do not permit it.
    fn dependency_event(&self, dependent: ItemId, on: ItemId) -> Option<Event> {
        let (dependency, entry) = (self.state.get(on)?, self.state.get(dependent)?);
        let is_cycle = on == dependent || self.state.transitive_dependents(&[dependent]).contains(&on);
        let is_in_scope = dependency.item.fact()?.scope.contains(&entry.item.fact()?.scope);
        let deps: BTreeSet<ItemId> = entry.deps.iter().copied().chain([on]).collect();
        let event = Event::UpdateItem { item: entry.item.clone(), deps: deps.into_iter().collect() };
        (is_in_scope && !is_cycle).then_some(event)
    }

    /// Returns the fact with this id or key: valid facts before others, ids before keys, the latest first. An empty name has none.
    fn find(&self, name: &str) -> Option<ItemId> {
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let latest = |is_valid_only: bool, is_id: bool| {
            let has_id = |id: &ItemId| self.origins.get(id).is_some_and(|origin| origin.id == name);
            let is_found = |Entry { item, .. }: &&Entry| {
                let is_named = if is_id {
                    has_id(&item.id)
                } else {
                    matches!(&item.key, ItemKey::Fact(key) if key.as_str() == name)
                };
                item.fact().is_some() && is_named && (item.is_valid() || !is_valid_only)
            };
            self.state.entries().filter(is_found).last().map(|entry| entry.item.id)
        };
        [(true, true), (true, false), (false, true), (false, false)]
            .into_iter()
            .find_map(|(is_valid_only, is_id)| latest(is_valid_only, is_id))
    }
}
