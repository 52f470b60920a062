//! Reads: current facts, the successor of an item, and the items that a principal can read (003).

use crate::ids::{ItemId, Text, Timestamp, UserId};
use crate::item::{Audience, FactRecord, Identity, Item, ItemKey, Layer, Rank, Scope, Validity};
use crate::semantic::{Entry, SemanticState};
use crate::situation::SituationSummary;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// A reader: who reads, in which scope, at which time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The user, if any. Items of a request are readable only by the user of that request.
    pub user: Option<UserId>,
    /// The reader's rank.
    pub rank: Rank,
    /// The permissions granted to the reader.
    pub permissions: Vec<Text>,
    /// The scope in which the reader works. Items of wider scopes are readable in it.
    pub scope: Scope,
    /// The time of the read.
    pub now: Timestamp,
}

impl Principal {
    /// Returns whether the reader belongs to the audience.
    #[must_use]
    pub fn is_in_audience(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody => true,
            Audience::AtLeast(rank) => self.rank >= *rank,
            Audience::Permitted(name) => self.permissions.contains(name),
        }
    }

    /// Returns whether facts of this scope are valid in the reader's scope.
    #[must_use]
    pub fn is_in_scope(&self, scope: &Scope) -> bool {
        scope.contains(&self.scope)
    }

    /// Returns whether the item is valid, not expired, in scope, and permitted. It does not consider shadowing; see
    /// [`SemanticState::selectable`].
    #[must_use]
    pub fn can_read(&self, item: &Item) -> bool {
        item.is_valid()
            && match &item.layer {
                Layer::Fact(fact) => self.is_in_scope(&fact.scope) && self.is_in_audience(&fact.audience),
                Layer::Working { expires_at, .. } => expires_at.is_none_or(|at| self.now < at),
                Layer::Request { user, scope } => self.user.as_ref() == Some(user) && self.is_in_scope(scope),
                Layer::Identity(_) | Layer::Environment => true,
            }
    }
}

impl SemanticState {
    /// Returns the identity of the session user, if one was written.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        let Layer::Identity(identity) = &self.latest_by_key(&ItemKey::Identity)?.item.layer else {
            return None;
        };
        Some(identity)
    }

    /// Returns the situation summary (002 `situation_summary`).
    #[must_use]
    pub fn situation(&self) -> SituationSummary {
        self.situation_fields().collect()
    }

    /// Returns the end of an item's chain of successors: the item itself if it is not superseded (003
    /// `get_current_value`). `None` if an item of the chain was forgotten.
    #[must_use]
    pub fn current_version(&self, id: ItemId) -> Option<&Entry> {
        let mut entry = self.get(id)?;
        // A chain of `decide` has no cycle; the bound keeps this total for forged logs.
        for _ in 0..self.len() {
            match entry.item.validity {
                Validity::Superseded { superseded_by, .. } => entry = self.get(superseded_by?)?,
                Validity::Current | Validity::NeedsReview | Validity::Denied => return Some(entry),
            }
        }
        None
    }

    /// Returns the principal of this user's session in a scope at this time. Without an identity its rank is
    /// [`Rank::Unverified`].
    #[must_use]
    pub fn session_principal(&self, user: Option<&UserId>, scope: Scope, now: Timestamp) -> Principal {
        let identity = self.identity();
        Principal {
            user: user.cloned(),
            rank: identity.map_or(Rank::Unverified, |identity| identity.rank),
            permissions: identity.map(|identity| identity.permissions.clone()).unwrap_or_default(),
            scope,
            now,
        }
    }

    /// Returns the items that may enter a context of this principal, in id order: readable and not shadowed.
    ///
    /// A fact shadows the facts of its key, and the fact that it names, in wider scopes. A fact of a higher rank is shadowed
    /// only by a hypothetical or draft fact. A summary counts as a fact of each of its keys, and is shadowed only by an
    /// item that covers all of them.
    pub fn selectable<'a>(&'a self, principal: &'a Principal) -> impl Iterator<Item = &'a Entry> {
        let shadowed = self.shadowed(|item| principal.can_read(item));
        self.valid_entries()
            .filter(move |entry| principal.can_read(&entry.item) && !shadowed.contains(&entry.item.id))
    }

    /// Returns the facts and summaries that readable facts of narrower scopes shadow.
    pub(crate) fn shadowed(&self, can_read: impl Fn(&Item) -> bool) -> BTreeSet<ItemId> {
        let narrow = self.scoped_facts().filter_map(|entry| {
            let fact = entry.item.fact()?;
            can_read(&entry.item).then_some((&entry.item, fact))
        });
        let shadowed_by = |(item, fact): (&Item, &FactRecord)| {
            let named = fact.supersedes.and_then(|id| self.current_version(id));
            let named = named.map(|other| &other.item);
            let named = named.filter(|other| other.fact().is_some_and(|wider| fact.can_shadow(wider)));
            let same_key = item.covered_keys().flat_map(|key| self.by_key(&ItemKey::Fact(key.clone())));
            let same_key = same_key.map(|other| &other.item).filter(|other| item.can_shadow(other));
            named.into_iter().chain(same_key).map(|other| other.id).collect::<Vec<_>>()
        };
        narrow.flat_map(shadowed_by).collect()
    }

    /// Returns whether a write opened this scope: a fact of it exists that was not denied (decision 0037).
    #[must_use]
    pub fn is_open(&self, scope: &Scope) -> bool {
        let opens = |Entry { item, .. }: &Entry| {
            item.validity != Validity::Denied && item.fact().is_some_and(|fact| fact.scope == *scope)
        };
        if scope.is_global() { self.entries().any(opens) } else { self.scoped_facts().any(opens) }
    }

    /// Returns the valid facts for all readers, in id order (003 `read_valid_facts`).
    pub fn read_valid_facts(&self) -> impl Iterator<Item = &Item> {
        self.valid_entries().map(|entry| &entry.item).filter(|item| item.fact().is_some())
    }

    /// Returns whether the principal can read a valid fact of this key, or a summary that covers the key (003).
    #[must_use]
    pub fn is_fact_current(&self, key: &Text, principal: &Principal) -> bool {
        self.by_key(&ItemKey::Fact(key.clone())).any(|entry| principal.can_read(&entry.item))
    }

    /// Returns the current value of a key for this principal (003).
    ///
    /// This is the readable fact or summary of the key, else the readable successor of its latest fact, under any key. A
    /// fact of a narrower scope that names and shadows this value replaces it. Among several, hypothetical and draft facts
    /// come first, then the highest rank, the narrowest scope, and the latest.
    #[must_use]
    pub fn get_current_value(&self, key: &Text, principal: &Principal) -> Option<&Item> {
        let can_read = |entry: &&Entry| principal.can_read(&entry.item);
        let in_scope =
            |entry: &&Entry| entry.item.fact().is_some_and(|fact| principal.is_in_scope(&fact.scope));
        let precedence = |entry: &&Entry| {
            let of_fact =
                |fact: &FactRecord| (fact.scope.is_tentative(), fact.source.rank, fact.scope.specificity());
            (entry.item.fact().map(of_fact), entry.item.id)
        };
        let facts = || self.by_key(&ItemKey::Fact(key.clone()));
        let own = facts().filter(can_read).max_by_key(precedence);
        let successor = |entry: &Entry| self.current_version(entry.item.id).filter(can_read);
        let found = own.or_else(|| facts().filter(in_scope).find_map(successor))?;
        let shadows_found = |entry: &&Entry| {
            let both = entry.item.fact().zip(found.item.fact());
            both.is_some_and(|(fact, wider)| {
                fact.can_shadow(wider)
                    && fact.supersedes.and_then(|id| self.current_version(id)) == Some(found)
            })
        };
        let narrower = self.scoped_facts().filter(|entry| can_read(entry) && shadows_found(entry));
        Some(&narrower.max_by_key(precedence).unwrap_or(found).item)
    }

    /// Returns the working items that are expired and have no remaining dependents, in id order.
    #[must_use]
    pub fn expired_items(&self, now: Timestamp) -> Vec<ItemId> {
        let mut expired: BTreeSet<ItemId> = self.expiring_until(now).collect();
        loop {
            let has_dependents = |id: &ItemId| self.dependents(*id).any(|by| !expired.contains(&by));
            let needed: Vec<ItemId> = expired.iter().copied().filter(has_dependents).collect();
            if needed.is_empty() {
                return expired.into_iter().collect();
            }
            needed.iter().for_each(|id| {
                expired.remove(id);
            });
        }
    }

    /// Returns the direct and transitive dependents of some items, in id order, without these items.
    #[must_use]
    pub fn transitive_dependents(&self, items: &[ItemId]) -> BTreeSet<ItemId> {
        let (mut reached, mut open) = (BTreeSet::new(), items.to_vec());
        while let Some(id) = open.pop() {
            open.extend(self.dependents(id).filter(|dependent| reached.insert(*dependent)));
        }
        items.iter().for_each(|id| {
            reached.remove(id);
        });
        reached
    }
}
