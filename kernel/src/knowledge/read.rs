//! Reading what is known: what is current, and what somebody may see (003, state read and supersession check).

use crate::ids::{ItemId, Text, Timestamp, UserId};
use crate::item::{Audience, FactRecord, Item, ItemKey, Layer, Rank, Scope};
use crate::semantic::{Entry, SemanticState};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// Who reads, where and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Who it is, if anybody. What requests left is for their own users alone.
    pub user: Option<UserId>,
    /// The reader's rank.
    pub rank: Rank,
    /// What was granted to the reader by name.
    pub permissions: Vec<Text>,
    /// Where the reader stands. What counts everywhere counts there too.
    pub scope: Scope,
    /// What time it is.
    pub now: Timestamp,
}

impl Principal {
    /// Whether this is for the reader's eyes.
    #[must_use]
    pub fn is_in_audience(&self, audience: &Audience) -> bool {
        match audience {
            Audience::Everybody => true,
            Audience::AtLeast(rank) => self.rank >= *rank,
            Audience::Permitted(name) => self.permissions.contains(name),
        }
    }

    /// Whether what counts there counts where the reader stands.
    #[must_use]
    pub fn is_in_scope(&self, scope: &Scope) -> bool {
        scope.contains(&self.scope)
    }

    /// Whether the item is valid, not expired, and for this reader; but what a scope of the reader's own hides is told by
    /// [`Semantic::selectable`] alone.
    #[must_use]
    pub fn can_read(&self, item: &Item) -> bool {
        item.is_valid()
            && match &item.layer {
                Layer::Fact(fact) => self.is_in_scope(&fact.scope) && self.is_in_audience(&fact.audience),
                Layer::Working { expires_at, .. } => expires_at.is_none_or(|at| self.now < at),
                Layer::Request { user } => self.user.as_ref() == Some(user),
                Layer::Identity(_) | Layer::Environment | Layer::Clock { .. } => true,
            }
    }
}

impl SemanticState {
    /// Whoever speaks, in the session of this user, as a reader outside every task, supposition and draft. Who was never said to
    /// have a rank has none.
    #[must_use]
    pub fn session_principal(&self, user: Option<&UserId>) -> Principal {
        let identity = self.identity();
        Principal {
            user: user.cloned(),
            rank: identity.map_or(Rank::Unverified, |identity| identity.rank),
            permissions: identity.map(|identity| identity.permissions.clone()).unwrap_or_default(),
            scope: Scope::Global,
            now: self.now(),
        }
    }

    /// What may stand in a context for this reader, in id order: what is valid, in scope, permitted and not expired. A fact of
    /// a narrower scope hides the one of its key, and the one that it names, in a wider scope; but none of a higher rank, unless
    /// it is a supposition or a draft. A summary counts as a fact of each name that it stands for, and is hidden only by what
    /// speaks of them all.
    pub fn selectable<'a>(&'a self, reader: &'a Principal) -> impl Iterator<Item = &'a Entry> {
        let hidden = self.shadowed(|item| reader.can_read(item));
        self.entries().filter(move |entry| reader.can_read(&entry.item) && !hidden.contains(&entry.item.id))
    }

    /// What facts of a narrower scope take the place of, among those that are read.
    pub(super) fn shadowed(&self, reads: impl Fn(&Item) -> bool) -> BTreeSet<ItemId> {
        let narrow = self.entries().filter_map(|entry| {
            let fact = entry.item.fact().filter(|fact| fact.scope != Scope::Global)?;
            reads(&entry.item).then_some((&entry.item, fact))
        });
        let hides = |(item, fact): (&Item, &FactRecord)| {
            let named = fact.supersedes.and_then(|id| self.current_version(id));
            let named = named.map(|other| &other.item);
            let named = named.filter(|other| other.fact().is_some_and(|wider| fact.can_shadow(wider)));
            let namesakes = item.covered_keys().flat_map(|name| self.by_key(&ItemKey::Fact(name.clone())));
            let namesakes = namesakes.map(|other| &other.item).filter(|other| item.shadows(other));
            named.into_iter().chain(namesakes).map(|other| other.id).collect::<Vec<_>>()
        };
        narrow.flat_map(hides).collect()
    }

    /// The facts that are valid, in id order (003 `read_valid_facts`), whoever reads.
    pub fn read_valid_facts(&self) -> impl Iterator<Item = &Item> {
        self.entries().map(|entry| &entry.item).filter(|item| item.fact().is_some() && item.is_valid())
    }

    /// Whether a fact of this name, or a summary that stands for it, is valid where the reader stands, and for the reader (003).
    #[must_use]
    pub fn is_fact_current(&self, name: &Text, reader: &Principal) -> bool {
        self.by_key(&ItemKey::Fact(name.clone())).any(|entry| reader.can_read(&entry.item))
    }

    /// What holds now where this name is used (003): its own valid fact, or the summary that stands for it, that none of the
    /// same name hides; or else what superseded the latest one, under whichever name; and in the place of either a fact of a
    /// narrower scope that names and hides it. Of several, a supposed one, or else that of the highest rank, of the narrowest
    /// scope, the latest.
    #[must_use]
    pub fn get_current_value(&self, name: &Text, reader: &Principal) -> Option<&Item> {
        let reads = |entry: &&Entry| reader.can_read(&entry.item);
        let stands_here =
            |entry: &&Entry| entry.item.fact().is_some_and(|fact| reader.is_in_scope(&fact.scope));
        let weight = |entry: &&Entry| {
            let of_fact =
                |fact: &FactRecord| (fact.scope.is_tentative(), fact.source.rank, fact.scope.specificity());
            (entry.item.fact().map(of_fact), entry.item.id)
        };
        let named = || self.by_key(&ItemKey::Fact(name.clone()));
        let own = named().filter(reads).max_by_key(weight);
        let successor = |entry: &Entry| self.current_version(entry.item.id).filter(reads);
        let found = own.or_else(|| named().filter(stands_here).find_map(successor))?;
        let hides = |entry: &&Entry| {
            let both = entry.item.fact().zip(found.item.fact());
            both.is_some_and(|(fact, wider)| {
                fact.can_shadow(wider)
                    && fact.supersedes.and_then(|id| self.current_version(id)) == Some(found)
            })
        };
        let narrower = self.entries().filter(|entry| reads(entry) && hides(entry));
        Some(&narrower.max_by_key(weight).unwrap_or(found).item)
    }

    /// The items of the working set that have expired by now and on which nothing rests that stays, in id order.
    #[must_use]
    pub fn expired_items(&self, now: Timestamp) -> Vec<ItemId> {
        let expired = |entry: &&Entry| matches!(entry.item.layer, Layer::Working { expires_at: Some(at), .. } if at <= now);
        let mut leaves: BTreeSet<ItemId> =
            self.entries().filter(expired).map(|entry| entry.item.id).collect();
        loop {
            let before = leaves.len();
            let needed = |id: &ItemId| self.dependents(*id).any(|by| !leaves.contains(&by));
            let stays: Vec<ItemId> = leaves.iter().copied().filter(needed).collect();
            stays.iter().for_each(|id| {
                leaves.remove(id);
            });
            if leaves.len() == before {
                return leaves.into_iter().collect();
            }
        }
    }

    /// What rests on one of these, directly or through others, in id order, without these.
    #[must_use]
    pub fn transitive_dependents(&self, these: &[ItemId]) -> BTreeSet<ItemId> {
        let (mut reached, mut waiting) = (BTreeSet::new(), these.to_vec());
        while let Some(id) = waiting.pop() {
            waiting.extend(self.dependents(id).filter(|dependent| reached.insert(*dependent)));
        }
        these.iter().for_each(|id| {
            reached.remove(id);
        });
        reached
    }
}
