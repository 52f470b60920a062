//! Redaction of writes and items.

use super::texts::Redactor;
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::item::{Audience, FactRecord, FactSource, Identity, Item, ItemKey, Layer, Scope};
use orchestrion_kernel::knowledge::{NewFact, NewIdentity, Reference, Write, WriteSource};
use std::sync::Arc;

impl Redactor {
    /// Redacts a write.
    pub(super) fn write(&self, write: &Write) -> Write {
        let references =
            |list: &[Reference]| list.iter().map(|reference| self.reference(reference)).collect();
        match write {
            Write::Fact(new) => Write::Fact(NewFact {
                key: self.text(&new.key),
                text: self.text(&new.text),
                source: self.write_source(&new.source),
                scope: self.scope(&new.scope),
                audience: self.audience(&new.audience),
                established_at: new.established_at.map(|time| self.time(time)),
                supersedes: new.supersedes.as_ref().map(|one| self.reference(one)),
                depends_on: references(&new.depends_on),
                ..new.clone()
            }),
            Write::Working { key, text, expires_at, depends_on } => Write::Working {
                key: self.text(key),
                text: self.text(text),
                expires_at: expires_at.map(|time| self.time(time)),
                depends_on: references(depends_on),
            },
            Write::Promote { key, scope, source } => Write::Promote {
                key: self.text(key),
                scope: self.scope(scope),
                source: self.write_source(source),
            },
            Write::Environment { key, text, supersedes } => Write::Environment {
                key: self.text(key),
                text: self.text(text),
                supersedes: supersedes.as_ref().map(|one| self.reference(one)),
            },
        }
    }

    fn write_source(&self, source: &WriteSource) -> WriteSource {
        let name = source.name.as_ref().map(|name| self.title(name.as_str()).into());
        WriteSource { name, ..source.clone() }
    }

    /// Redacts the key and the record of an item. The kernel creates its text.
    pub(super) fn item(&self, item: &Item) -> Item {
        let key = match &item.key {
            ItemKey::Trace(trace) => ItemKey::Trace(self.trace(trace)),
            ItemKey::AdditionalArgument(request, name) => {
                ItemKey::AdditionalArgument(*request, self.text(name))
            }
            ItemKey::Fact(name) => ItemKey::Fact(self.text(name)),
            ItemKey::Working(name) => ItemKey::Working(self.text(name)),
            ItemKey::Environment(name) => ItemKey::Environment(self.text(name)),
            key => key.clone(),
        };
        let layer = match &item.layer {
            Layer::Request { user, scope } => {
                Layer::Request { user: self.user(user), scope: self.scope(scope) }
            }
            Layer::Identity(identity) => Layer::Identity(Box::new(self.identity(identity))),
            Layer::Fact(fact) => Layer::Fact(Arc::new(FactRecord {
                // The kernel creates the source of a summary.
                source: if item.key == ItemKey::Summary {
                    fact.source.clone()
                } else {
                    self.source(&fact.source)
                },
                scope: self.scope(&fact.scope),
                audience: self.audience(&fact.audience),
                summarized_keys: self.sorted_keys(&fact.summarized_keys),
                ..(**fact).clone()
            })),
            layer => layer.clone(),
        };
        Item { key, layer, ..item.clone() }
    }

    /// Redacts the keys of a summary, in the order of the new keys.
    fn sorted_keys(&self, keys: &[Text]) -> Vec<Text> {
        let mut keys: Vec<Text> = keys.iter().map(|key| self.text(key)).collect();
        keys.sort_unstable();
        keys
    }

    /// Redacts the identity of a session start.
    pub(super) fn new_identity(&self, new: &NewIdentity) -> NewIdentity {
        NewIdentity {
            name: self.text(&new.name),
            authority: self.title(new.authority.as_str()).into(),
            rank: new.rank,
            department: self.text(&new.department),
            organization: self.text(&new.organization),
            permissions: new.permissions.iter().map(|name| self.text(name)).collect(),
        }
    }

    fn identity(&self, identity: &Identity) -> Identity {
        Identity {
            authority: self.title(identity.authority.as_str()).into(),
            rank: identity.rank,
            department: self.text(&identity.department),
            organization: self.text(&identity.organization),
            permissions: identity.permissions.iter().map(|name| self.text(name)).collect(),
        }
    }

    fn source(&self, source: &FactSource) -> FactSource {
        FactSource { name: self.title(source.name.as_str()).into(), ..source.clone() }
    }

    pub(super) fn scope(&self, scope: &Scope) -> Scope {
        match scope {
            Scope::Global | Scope::Session => scope.clone(),
            Scope::Task(name) => Scope::Task(self.text(name)),
            Scope::Hypothetical(name) => Scope::Hypothetical(self.text(name)),
            Scope::Draft(name) => Scope::Draft(self.text(name)),
        }
    }

    fn audience(&self, audience: &Audience) -> Audience {
        match audience {
            Audience::Permitted(name) => Audience::Permitted(self.text(name)),
            audience => audience.clone(),
        }
    }

    fn reference(&self, reference: &Reference) -> Reference {
        match reference {
            Reference::Id(id) => Reference::Id(*id),
            Reference::Key(key) => Reference::Key(self.text(key)),
        }
    }
}
