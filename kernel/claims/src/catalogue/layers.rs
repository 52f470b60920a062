//! Claims about the layers of 003: supersession, review flags, scopes and audiences.

use super::capacity::over_capacity;
use super::compaction::summarized;
use super::prelude::*;
use crate::reference::events::are_admitted;
use crate::reference::items::{
    chain_end, changes_items, fact_keys, facts_in_force, identity, is_in_force, is_shared, item_scope,
    latest_with_key, persists, session_identity, superseded_by, table_rank, transitive_dependents,
};
use crate::reference::reading::has_expired;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text, UserId};
use orchestrion_kernel::item::{
    Audience, FactRecord, Identity, Item, Layer, Rank, Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, NewIdentity, Write, WriteSource};
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::state::{Debate, Request};

pub(super) const LAYERS: &[Claim] = &[
    Claim {
        id: "C-50",
        clause: "000-4.9",
        statement: "Every semantic event is valid: ids are unique, an update changes an existing item, dependencies and removed items \
                    exist and are listed once each in the order of ids, and every removal has a cause and leaves no dependent.",
        formula: "□ (e ∈ σ semantic ⇒ admitted(S, e))",
        check: SemanticStepInvariant(|_, before, events, _| {
            if !events.iter().any(|event| changes_items(event)) {
                return true;
            }
            are_admitted(before.semantic(), events)
        }),
        premise: Premise::Semantic(|_, state| !state.semantic().is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-51",
        clause: "003-2.19",
        statement: "Every supersession link refers to an item. Every chain of links ends in an item that \
                    is not superseded.",
        formula: "□ (supersedes(x) ∈ I) ∧ □ (superseded(x) ⇒ ∃ y: by*(x) = y ∧ ¬superseded(y))",
        check: SemanticInvariant(|_, state| {
            let superseded = |entry: &&Entry| superseded_by(&entry.item).is_some();
            let known = state.semantic();
            let mut links = known.entries().filter_map(|entry| entry.item.fact()?.supersedes);
            links.all(|id| known.get(id).is_some())
                && known.entries().filter(superseded).all(|entry| chain_end(known, entry.item.id).is_some())
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| superseded_by(&entry.item).is_some())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-52",
        clause: "003-6.3",
        statement: "A lower rank never supersedes a higher rank.",
        formula: "□ (x becomes superseded by y ⇒ rank(x) ≤ rank(y))",
        check: SemanticStepInvariant(|_, before, events, after| {
            if !events.iter().any(|event| changes_items(event)) {
                return true;
            }
            newly_superseded(before, after)
                .all(|(old, by)| rank(old) <= after.semantic().get(by).and_then(|by| rank(&by.item)))
        }),
        premise: Premise::Semantic(|_, state| {
            let by_authority = Some(SupersessionRule::Authority);
            state.semantic().entries().any(|entry| rule(&entry.item) == by_authority)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-102",
        clause: "decision 0028",
        statement: "A written fact has at most the rank of the session's identity, unless the policy gives its \
                    source a rank of its own.",
        formula: "□ (write(x) ⇒ rank(x) ≤ max(rank(identity), ranks(source(x))))",
        check: SemanticStepInvariant(|policy, before, events, _| {
            let session =
                session_identity(before.semantic()).map_or(Rank::Unverified, |identity| identity.rank);
            let is_permitted = |item: &Item, fact: &FactRecord| {
                let before = before.semantic().get(item.id).and_then(|entry| rank(&entry.item));
                let own = table_rank(&policy.ranks, fact.source.name.as_str()).unwrap_or(Rank::Unverified);
                before == Some(fact.source.rank) || fact.source.rank <= session.max(own)
            };
            events.iter().all(|event| match event {
                Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                    let written = item.fact().filter(|_| item.key != ItemKey::Summary);
                    written.is_none_or(|fact| is_permitted(item, fact))
                }
                _ => true,
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let of_user = |fact: &FactRecord| fact.source.rank > Rank::Unverified;
            facts_in_force(state.semantic()).filter_map(Item::fact).any(of_user)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-53",
        clause: "003-2.17",
        statement: "In each scope at most one fact with the same key is valid. A summary counts for every \
                    key that it covers.",
        formula: "□ (valid(x) ∧ valid(y) ∧ keys(x) ∩ keys(y) ≠ ∅ ∧ scope(x) = scope(y) ⇒ x = y)",
        check: SemanticInvariant(|_, state| {
            let mut seen = BTreeSet::new();
            let facts = facts_in_force(state.semantic()).filter_map(|item| Some((item, &item.fact()?.scope)));
            facts
                .flat_map(|(item, scope)| fact_keys(item).map(move |name| (name, scope)))
                .all(|one| seen.insert(one))
        }),
        premise: Premise::Semantic(|_, state| {
            let facts = state.semantic().entries().filter(|entry| entry.item.fact().is_some());
            let mut seen = BTreeSet::new();
            facts.flat_map(|entry| fact_keys(&entry.item)).any(|key| !seen.insert(key))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-101",
        clause: "decision 0027",
        statement: "In each scope at most one fact of a supersession family is valid.",
        formula: "□ (by*(x) = y ∧ valid(z) ∧ key(x) ∈ keys(z) ∧ scope(x) = scope(z) ⇒ y = z)",
        check: SemanticInvariant(|_, state| {
            if superseded_facts(state).next().is_none() {
                return true;
            }
            let mut rivals: BTreeMap<ItemKey, Vec<(&Item, &Scope)>> = BTreeMap::new();
            for item in facts_in_force(state.semantic()) {
                let covered = fact_keys(item).map(|key| ItemKey::Fact(key.clone()));
                let keys: BTreeSet<ItemKey> = covered.chain([item.key.clone()]).collect();
                for key in keys {
                    rivals.entry(key).or_default().push((item, item_scope(item)));
                }
            }
            superseded_facts(state).all(|(item, fact)| {
                let end = chain_end(state.semantic(), item.id);
                let mut of_key = rivals.get(&item.key).into_iter().flatten();
                of_key.all(|(other, scope)| **scope != fact.scope || end == Some(other.id))
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let has_other_key = |item: &Item| {
                let end = chain_end(state.semantic(), item.id).and_then(|id| state.semantic().get(id));
                end.is_some_and(|end| is_in_force(&end.item) && end.item.key != item.key)
            };
            superseded_facts(state).any(|(item, _)| has_other_key(item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-98",
        clause: "003-8.4",
        statement: "The writer of a fact sets its audience. A reaffirming write does not widen it.",
        formula: "□ (write(x, audience) ⇒ audience(x) = audience) ∧ □ (restricted(x) ∧ reaffirmed(x) ⇒ audience'(x) = audience(x))",
        check: ResponseInvariant(|_, decide, state| {
            let facts = state.semantic().entries().map(|entry| &entry.item);
            let again = facts.filter(|item| is_restricted(item)).filter_map(rewrite_without_audience);
            let fresh = (state.control().phase() == Phase::Idle).then(restricted_fact);
            again.chain(fresh).all(|(fact, audience)| {
                let emitted =
                    decide(state, &Input::Write(Box::new(Write::Fact(fact.clone())))).unwrap_or_default();
                let key = ItemKey::Fact(fact.key);
                emitted.iter().all(|event| match event {
                    Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                        item.fact().is_none_or(|now| {
                            let is_meant =
                                (&item.key, &item.text, &now.scope) == (&key, &fact.text, &fact.scope);
                            !is_meant || now.audience == audience
                        })
                    }
                    _ => true,
                })
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| is_restricted(&entry.item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-58",
        clause: "003-2.20",
        statement: "When an item is superseded or overwritten, its transitive dependents, and no other \
                    items, need review. Only a reaffirming write clears the flag. A summary that loses a \
                    key needs review too.",
        formula: "□ (needs_review' \\ marked = shaken ∪ derived*(superseded ∪ overwritten ∪ shaken)) ∧ □ (unmarked(x) ⇒ text'(x) = \
                  text(x))",
        check: SemanticStepInvariant(|_, before, events, after| {
            if !events.iter().any(|event| changes_items(event)) {
                return true;
            }
            let shaken = || summaries_losing_keys(before, after);
            let changed: BTreeSet<ItemId> = newly_superseded(before, after)
                .map(|(old, _)| old.id)
                .chain(overwritten_items(before, after))
                .chain(shaken())
                .collect();
            let mut derived = transitive_dependents(before.semantic(), &changed);
            derived.extend(shaken());
            before.semantic().entries().all(|Entry { item: old, .. }| {
                let Some(Entry { item: new, .. }) = after.semantic().get(old.id) else { return true };
                match (old.validity, new.validity) {
                    (Validity::Current, Validity::NeedsReview) => derived.contains(&old.id),
                    (Validity::Current, Validity::Current) => {
                        old.fact().is_none() || !derived.contains(&old.id)
                    }
                    (Validity::NeedsReview, Validity::Current) => old.text == new.text,
                    _ => true,
                }
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| entry.item.validity == Validity::NeedsReview)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-59",
        clause: "003-1.4",
        statement: "The identity does not change during a session.",
        formula: "□ (identity set ∧ ¬session ends ⇒ identity' = identity)",
        check: SemanticStepInvariant(|_, before, events, after| {
            let identity_of =
                |state: &SemanticView<'_>| latest_with_key(state.semantic(), &ItemKey::Identity).cloned();
            session_identity(before.semantic()).is_none()
                || events.contains(&&Event::SessionEnded)
                || identity_of(before) == identity_of(after)
        }),
        premise: Premise::Semantic(|_, state| session_identity(state.semantic()).is_some()),
        ..CLAIM
    },
    Claim {
        id: "C-113",
        clause: "decision 0028",
        statement: "The identity of a session has the rank that the host states, else that of its authority in the policy's table, \
                    else the lowest. It has at most the rank of the table.",
        formula: "□ (start(x) ∈ i ∧ accepted ⇒ rank(identity') = stated(x) or else ranks(authority(x)) or else 0) ∧ \
                  □ (authority ∈ dom(ranks) ⇒ rank(identity) ≤ ranks(authority))",
        check: InputInvariant(|policy, _, input, _, after| {
            let Input::SessionStart { identity: Some(new), .. } = input else { return true };
            let limit = table_rank(&policy.ranks, new.authority.as_str());
            let expected = new.rank.or(limit).unwrap_or(Rank::Unverified);
            let mut identities = after.semantic().entries().filter_map(|entry| identity(&entry.item));
            identities
                .any(|identity| identity.rank == expected && limit.is_none_or(|limit| identity.rank <= limit))
        }),
        premise: Premise::Semantic(|policy, state| {
            let is_limited = |identity: &Identity| {
                let limit = table_rank(&policy.ranks, identity.authority.as_str());
                limit.is_some_and(|limit| limit < Rank::Policy)
            };
            state.semantic().entries().filter_map(|entry| identity(&entry.item)).any(is_limited)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-114",
        clause: "003-1.4",
        statement: "A session start sets the identity that it states, with no other permissions.",
        formula: "□ (Idle ∧ ¬session ∧ authority ∉ dom(ranks) ⇒ start(identity) adds exactly this identity)",
        check: ResponseInvariant(|_, decide, state| {
            if state.control().session().is_some() || state.control().phase() != Phase::Idle {
                return true;
            }
            let stated = Identity {
                authority: "a title of its own".into(),
                rank: Rank::Employee,
                department: "d".into(),
                organization: "o".into(),
                permissions: Vec::from(["a permission of its own".into()]),
            };
            let new = NewIdentity {
                name: "u".into(),
                authority: stated.authority.clone(),
                rank: Some(stated.rank),
                department: stated.department.clone(),
                organization: stated.organization.clone(),
                permissions: stated.permissions.clone(),
            };
            let start = Input::SessionStart { user: UserId::new("u"), identity: Some(Box::new(new)) };
            decide(state, &start).is_ok_and(|events| {
                let set: Vec<&Identity> = events
                    .iter()
                    .filter_map(|event| match event {
                        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => identity(item),
                        _ => None,
                    })
                    .collect();
                set == [&stated]
            })
        }),
        premise: Premise::State(|_, state| {
            state.control().session().is_none() && state.control().phase() == Phase::Idle
        }),
        not_applicable: |policy| {
            policy.writes.strict_ranks.then_some("the policy refuses titles outside of its table")
        },
        ..CLAIM
    },
    Claim {
        id: "C-84",
        clause: "000-2.11",
        statement: "An item leaves the state only at the end of its session, when it expires, when a summary \
                    replaces it, over the capacity of its session, or, of the situation, at the end of its request.",
        formula: "□ (x ∈ I \\ I' ⇒ session ends ∧ ¬persists(x) ∨ expires_at(x) ≤ now' ∨ x ∈ F ∨ x over capacity ∨ situation(x) ∧ r ends)",
        check: SemanticStepInvariant(|_, before, events, after| {
            if !events.iter().any(|event| changes_items(event)) {
                return true;
            }
            let ends = events.contains(&&Event::SessionEnded);
            let now = after.now();
            let gone =
                before.semantic().entries().filter(|entry| after.semantic().get(entry.item.id).is_none());
            gone.into_iter().all(|Entry { item, .. }| {
                ends && !persists(item)
                    || has_expired(item, now)
                    || summarized(events.iter().copied()).is_some_and(|(_, ids)| ids.contains(&item.id))
                    || over_capacity(events.iter().copied()).is_some_and(|ids| ids.contains(&item.id))
                    || matches!(item.key, ItemKey::Situation(_)) && after.request_scope().is_none()
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| matches!(entry.item.layer, Layer::Working { .. }))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-85",
        clause: "003-2.21",
        statement: "A successor has the scope of the item that it supersedes.",
        formula: "□ (by(x) = y ⇒ scope(x) = scope(y))",
        check: SemanticInvariant(|_, state| {
            state.semantic().entries().all(|Entry { item, .. }| match (item.fact(), superseded_by(item)) {
                (Some(fact), Some(by)) => {
                    let by = state.semantic().get(by).and_then(|by| by.item.fact());
                    by.is_some_and(|by| by.scope == fact.scope)
                }
                _ => true,
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let names_another = |item: &Item| item.fact().is_some_and(|fact| fact.supersedes.is_some());
            state
                .semantic()
                .entries()
                .any(|entry| narrow_scope(&entry.item).is_some() && names_another(&entry.item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-86",
        clause: "decision 0019",
        statement: "A write does not change control, except that it marks a pending summary or the plan as outdated.",
        formula: "□ (no row in σ ⇒ C' = C, but for what is out of date)",
        check: StepInvariant(|_, before, events, after| {
            // A failed attempt and a refused handoff are no writes: the call is made again, or not made.
            let moves = |event: &Event| {
                matches!(
                    event,
                    Event::Transitioned { .. }
                        | Event::Network(
                            NetworkEvent::AttemptFailed { .. } | NetworkEvent::HandoffRefused { .. }
                        )
                )
            };
            let request = |state: &State| {
                let debate = |request: &Request| Debate { outdated: false, ..request.debate.clone() };
                let request = state.control().request();
                request.map(|request| Request { outdated: false, debate: debate(request), ..request.clone() })
            };
            let stands = |state: &State| {
                let control = state.control();
                (
                    control.phase(),
                    control.pending_calls().to_vec(),
                    control.session().cloned(),
                    control.next_request(),
                )
            };
            let is_same = || stands(before) == stands(after) && request(before) == request(after);
            events.iter().any(moves) || before.control() == after.control() || is_same()
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| entry.item.user().is_none())
        }),
        ..CLAIM
    },
    Claim {
        id: "C-87",
        clause: "003-2.11",
        statement: "A valid item depends on no superseded item, but on its current successor.",
        formula: "□ (valid(x) ∧ y ∈ deps(x) ⇒ ¬superseded(y))",
        check: SemanticInvariant(|_, state| {
            let superseded = |id: &ItemId| {
                state.semantic().get(*id).is_some_and(|entry| superseded_by(&entry.item).is_some())
            };
            let valid = state.semantic().entries().filter(|entry| is_in_force(&entry.item));
            valid.into_iter().all(|entry| !entry.deps.iter().any(superseded))
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| entry.item.validity == Validity::NeedsReview)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-99",
        clause: "003-8.4",
        statement: "An item of a request belongs to the session's user permanently.",
        formula: "□ (x ∈ I' \\ I of a request ⇒ user(x) = session) ∧ □ (user'(x) = user(x))",
        check: SemanticStepInvariant(|_, before, events, after| {
            if !events.iter().any(|event| changes_items(event)) {
                return true;
            }
            let session = before.session();
            let is_kept = |Entry { item, .. }: &Entry| match before.semantic().get(item.id) {
                Some(old) => old.item.user() == item.user(),
                None => item.user().is_none_or(|user| Some(user) == session),
            };
            after.semantic().entries().all(is_kept)
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().any(|entry| entry.item.user().is_some())
        }),
        ..CLAIM
    },
];

const fn rule(item: &Item) -> Option<SupersessionRule> {
    match item.validity {
        Validity::Superseded { rule, .. } => Some(rule),
        _ => None,
    }
}

fn rank(item: &Item) -> Option<Rank> {
    item.fact().map(|fact| fact.source.rank)
}

/// The scope of a fact, if it is narrower than the session.
fn narrow_scope(item: &Item) -> Option<&Scope> {
    item.fact().map(|fact| &fact.scope).filter(|scope| !is_shared(scope))
}

fn is_restricted(item: &Item) -> bool {
    item.fact().is_some_and(|fact| fact.audience != Audience::Everybody)
}

/// A write of the highest rank that reaffirms a restricted fact without an audience, and the audience of the fact.
fn rewrite_without_audience(item: &Item) -> Option<(NewFact, Audience)> {
    let (ItemKey::Fact(key), fact) = (&item.key, item.fact()?) else { return None };
    // A fact of another kind is no reaffirmation.
    let kind = match item.kind {
        ItemKind::Constraint(constraint) => FactKind::Constraint(constraint),
        ItemKind::Fact | ItemKind::Subtask(_) => FactKind::Fact,
    };
    let said = NewFact {
        kind,
        text: item.text.clone(),
        scope: fact.scope.clone(),
        established_at: Some(fact.established_at),
        ..global_fact(key.clone())
    };
    is_in_force(item).then(|| (said, fact.audience.clone()))
}

/// A fact with a restricted audience whose key no other item has.
fn restricted_fact() -> (NewFact, Audience) {
    let audience = Audience::AtLeast(Rank::Policy);
    (NewFact { audience: audience.clone(), ..global_fact("a name of its own".into()) }, audience)
}

fn global_fact(key: Text) -> NewFact {
    NewFact::global(key, "1".into(), WriteSource::declared(Rank::Policy.name().into()))
}

/// The items that this step superseded, each with its successor.
fn newly_superseded<'a>(
    before: &SemanticView<'a>,
    after: &SemanticView<'a>,
) -> impl Iterator<Item = (&'a Item, ItemId)> + use<'a> {
    let after = after.semantic();
    before.semantic().entries().filter(|entry| is_in_force(&entry.item)).filter_map(
        |Entry { item, .. }| {
            let by = superseded_by(&after.get(item.id)?.item)?;
            Some((item, by))
        },
    )
}

/// The items whose text this step changed.
fn overwritten_items<'a>(
    before: &SemanticView<'a>,
    after: &SemanticView<'a>,
) -> impl Iterator<Item = ItemId> + use<'a> {
    let after = after.semantic();
    before.semantic().entries().filter_map(|Entry { item, .. }| {
        let now = &after.get(item.id)?.item;
        (now.text != item.text && matches!(now.layer, Layer::Environment | Layer::Working { .. }))
            .then_some(item.id)
    })
}

/// The valid summaries that lost keys in this step.
fn summaries_losing_keys<'a>(
    before: &SemanticView<'a>,
    after: &SemanticView<'a>,
) -> impl Iterator<Item = ItemId> + use<'a> {
    let after = after.semantic();
    facts_in_force(before.semantic()).filter_map(|item| {
        let now = &after.get(item.id)?.item;
        (is_in_force(now) && !fact_keys(now).eq(fact_keys(item))).then_some(item.id)
    })
}

/// The facts that were valid and have a successor. A fact that lost against an older one was never valid.
fn superseded_facts<'a>(
    state: &SemanticView<'a>,
) -> impl Iterator<Item = (&'a Item, &'a FactRecord)> + use<'a> {
    let facts = state.semantic().entries().filter_map(|entry| Some((&entry.item, entry.item.fact()?)));
    facts.filter(|(item, _)| superseded_by(item).is_some_and(|by| by > item.id))
}
