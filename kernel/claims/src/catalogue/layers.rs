//! Claims on the layers of 003: what supersedes what, what must be looked at again, and what may be shown to whom.

use super::compaction::summarized;
use super::*;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use orchestrion_kernel::ids::{ItemId, Text, UserId};
use orchestrion_kernel::item::{Audience, FactSource, Item, Layer, Rank, Scope, SupersessionRule, Validity};
use orchestrion_kernel::knowledge::{NewFact, Principal, Write, validate_event};
use orchestrion_kernel::semantic::{Entry, SemanticState};
use orchestrion_kernel::state::Request;

pub(super) const LAYERS: &[Claim] = &[
    Claim {
        id: "C-50",
        clause: "000-4.9",
        statement: "Every semantic event fits what is known: no id is given twice, nothing is changed that is not there, \
                    nothing dangles, nothing is forgotten without its cause.",
        formula: "□ (e ∈ σ semantic ⇒ admitted(S, e))",
        check: StepInvariant(|_, before, events, _| {
            if !events.iter().any(is_semantic) {
                return true;
            }
            let mut known = before.semantic.clone();
            events.iter().all(|event| {
                let fits = validate_event(&known, event).is_ok();
                known.apply(event);
                fits
            })
        }),
        premise: |_, state| !state.semantic.is_empty(),
        ..CLAIM
    },
    Claim {
        id: "C-51",
        clause: "003-2.19",
        statement: "Every link of supersession leads to an item, and every chain of them ends in one that was not \
                    superseded.",
        formula: "□ (supersedes(x) ∈ I) ∧ □ (superseded(x) ⇒ ∃ y: by*(x) = y ∧ ¬superseded(y))",
        check: ClaimCheck::StateInvariant(|_, state| {
            let superseded = |entry: &&Entry| superseded_by(&entry.item).is_some();
            let known = &state.semantic;
            let mut links = known.entries().filter_map(|entry| entry.item.fact()?.supersedes);
            links.all(|id| known.get(id).is_some())
                && known
                    .entries()
                    .filter(superseded)
                    .all(|entry| known.current_version(entry.item.id).is_some())
        }),
        premise: |_, state| state.semantic.entries().any(|entry| superseded_by(&entry.item).is_some()),
        ..CLAIM
    },
    Claim {
        id: "C-52",
        clause: "003-6.3",
        statement: "A lower rank never takes the place of a higher one.",
        formula: "□ (x becomes superseded by y ⇒ rank(x) ≤ rank(y))",
        check: StepInvariant(|_, before, events, after| {
            if !events.iter().any(is_semantic) {
                return true;
            }
            newly_superseded(before, after)
                .all(|(old, by)| rank(old) <= after.semantic.get(by).and_then(|by| rank(&by.item)))
        }),
        premise: |_, state| {
            let by_authority = Some(SupersessionRule::Authority);
            state.semantic.entries().any(|entry| rule(&entry.item) == by_authority)
        },
        ..CLAIM
    },
    Claim {
        id: "C-53",
        clause: "003-2.17",
        statement: "Of the facts of one name at most one in each scope is valid; a summary counts as one of each name that \
                    it stands for.",
        formula: "□ (valid(x) ∧ valid(y) ∧ names(x) ∩ names(y) ≠ ∅ ∧ scope(x) = scope(y) ⇒ x = y)",
        check: ClaimCheck::StateInvariant(|_, state| {
            let mut seen = BTreeSet::new();
            let facts =
                state.semantic.read_valid_facts().filter_map(|item| Some((item, &item.fact()?.scope)));
            facts
                .flat_map(|(item, scope)| item.covered_keys().map(move |name| (name, scope)))
                .all(|one| seen.insert(one))
        }),
        premise: |_, state| {
            let facts = state.semantic.entries().filter(|entry| entry.item.fact().is_some());
            facts.into_iter().any(|entry| state.semantic.by_key(&entry.item.key).count() > 1)
        },
        ..CLAIM
    },
    Claim {
        id: "C-54",
        clause: "003-9.1",
        statement: "What was superseded, or never might be written, is shown to nobody.",
        formula: "□ (∃ y valid: supersedes(y) = x ∨ denied(x) ⇒ x ∉ shown)",
        check: ClaimCheck::StateInvariant(|_, state| {
            // By what the successors say, and not by what the item says of itself.
            let valid = state.semantic.read_valid_facts().filter_map(Item::fact);
            let named: Vec<_> = valid.filter_map(|fact| Some((fact.supersedes?, &fact.scope))).collect();
            is_hidden_from_all(state, |item, _| {
                item.validity == Validity::Denied
                    || item.fact().is_some_and(|fact| named.contains(&(item.id, &fact.scope)))
                    || superseded_by(item).is_some()
            })
        }),
        premise: |_, state| state.semantic.entries().any(|entry| !entry.item.is_valid()),
        ..CLAIM
    },
    Claim {
        id: "C-55",
        clause: "003-2.21",
        statement: "What counts in one task, supposition or draft is shown nowhere else.",
        formula: "□ (scope(x) ∉ {global, session, scope(reader)} ⇒ x ∉ shown(reader))",
        check: ClaimCheck::StateInvariant(|_, state| {
            is_hidden_from_all(state, |item, here| scoped(item).is_some_and(|scope| scope != here))
        }),
        premise: |_, state| state.semantic.entries().any(|entry| scoped(&entry.item).is_some()),
        ..CLAIM
    },
    Claim {
        id: "C-56",
        clause: "003-8.4",
        statement: "What is restricted is shown only to whom it is for.",
        formula: "□ (x for a rank ∨ x for a permission ⇒ x ∉ shown(reader without it))",
        check: ClaimCheck::StateInvariant(|_, state| {
            let restricted = state.semantic.entries().filter(|entry| restricted(&entry.item));
            let mut shut_out =
                restricted.filter_map(|entry| Some((entry.item.id, excluded_principal(state, &entry.item)?)));
            shut_out.all(|(id, reader)| state.semantic.selectable(&reader).all(|entry| entry.item.id != id))
        }),
        premise: |_, state| state.semantic.entries().any(|entry| restricted(&entry.item)),
        ..CLAIM
    },
    Claim {
        id: "C-98",
        clause: "003-8.4",
        statement: "Whom a fact is for is said by who writes it, and saying it again gives it to nobody else.",
        formula: "□ (written(x) for some ⇒ audience(x) = they) ∧ □ (x for some ∧ said again ⇒ audience'(x) = audience(x))",
        check: ResponseInvariant(|decide, state| {
            let facts = state.semantic.entries().map(|entry| &entry.item);
            let again = facts.filter(|item| restricted(item)).filter_map(rewrite_without_audience);
            let fresh = (state.control.phase() == Phase::Idle).then(restricted_fact);
            again.chain(fresh).all(|(fact, audience)| {
                let told =
                    decide(state, &Input::Write(Box::new(Write::Fact(fact.clone())))).unwrap_or_default();
                let key = ItemKey::Fact(fact.key);
                told.iter().all(|event| match event {
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
        premise: |_, state| state.semantic.entries().any(|entry| restricted(&entry.item)),
        ..CLAIM
    },
    Claim {
        id: "C-57",
        clause: "003-3.5",
        statement: "What has expired is shown to nobody.",
        formula: "□ (expires_at(x) ≤ now ⇒ x ∉ shown)",
        check: ClaimCheck::StateInvariant(|_, state| {
            let now = state.semantic.now();
            is_hidden_from_all(
                state,
                |item, _| matches!(item.layer, Layer::Working { expires_at: Some(at), .. } if at <= now),
            )
        }),
        premise: |_, state| {
            let expires = |item: &Item| matches!(item.layer, Layer::Working { expires_at: Some(_), .. });
            state.semantic.entries().any(|entry| expires(&entry.item))
        },
        ..CLAIM
    },
    Claim {
        id: "C-58",
        clause: "003-2.20",
        statement: "Exactly the facts that rest on what says something else now, however far, are marked to be reviewed; \
                    only what is said again loses the mark. So is a summary that stands for less than before.",
        formula: "□ (marked' \\ marked = shaken ∪ derived*(superseded ∪ overwritten ∪ shaken)) ∧ □ (unmarked(x) ⇒ text'(x) = \
                  text(x))",
        check: StepInvariant(|_, before, events, after| {
            if !events.iter().any(is_semantic) {
                return true;
            }
            let shaken = || summaries_losing_keys(before, after);
            let changed: BTreeSet<ItemId> = newly_superseded(before, after)
                .map(|(old, _)| old.id)
                .chain(overwritten(before, after))
                .chain(shaken())
                .collect();
            let mut derived = transitive_dependents(&before.semantic, &changed);
            derived.extend(shaken());
            before.semantic.entries().all(|Entry { item: old, .. }| {
                let Some(Entry { item: new, .. }) = after.semantic.get(old.id) else { return true };
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
        premise: |_, state| {
            state.semantic.entries().any(|entry| entry.item.validity == Validity::NeedsReview)
        },
        ..CLAIM
    },
    Claim {
        id: "C-59",
        clause: "003-1.4",
        statement: "Who speaks does not change while the session lasts.",
        formula: "□ (identity set ∧ ¬session ends ⇒ identity' = identity)",
        check: StepInvariant(|_, before, events, after| {
            let identity = |state: &State| state.semantic.latest_by_key(&ItemKey::Identity).cloned();
            before.semantic.identity().is_none()
                || events.contains(&Event::SessionEnded)
                || identity(before) == identity(after)
        }),
        premise: |_, state| state.semantic.identity().is_some(),
        ..CLAIM
    },
    Claim {
        id: "C-84",
        clause: "000-2.11",
        statement: "Items leave only as the session's working set when it ends, when they expire, or when a summary stands \
                    for them.",
        formula: "□ (x ∈ I \\ I' ⇒ session ends ∧ ¬persists(x) ∨ expires_at(x) ≤ now' ∨ x ∈ F)",
        check: StepInvariant(|_, before, events, after| {
            if !events.iter().any(is_semantic) {
                return true;
            }
            let ends = events.contains(&Event::SessionEnded);
            let now = after.semantic.now();
            let gone = before.semantic.entries().filter(|entry| after.semantic.get(entry.item.id).is_none());
            gone.into_iter().all(|Entry { item, .. }| {
                ends && !item.persists()
                    || matches!(item.layer, Layer::Working { expires_at: Some(at), .. } if at <= now)
                    || summarized(events).is_some_and(|(_, ids)| ids.contains(&item.id))
            })
        }),
        premise: |_, state| {
            state.semantic.entries().any(|entry| matches!(entry.item.layer, Layer::Working { .. }))
        },
        ..CLAIM
    },
    Claim {
        id: "C-85",
        clause: "003-2.21",
        statement: "What takes the place of something counts where that counted.",
        formula: "□ (by(x) = y ⇒ scope(x) = scope(y))",
        check: ClaimCheck::StateInvariant(|_, state| {
            state.semantic.entries().all(|Entry { item, .. }| match (item.fact(), superseded_by(item)) {
                (Some(fact), Some(by)) => {
                    let by = state.semantic.get(by).and_then(|by| by.item.fact());
                    by.is_some_and(|by| by.scope == fact.scope)
                }
                _ => true,
            })
        }),
        premise: |_, state| {
            let names_another = |item: &Item| item.fact().is_some_and(|fact| fact.supersedes.is_some());
            state.semantic.entries().any(|entry| scoped(&entry.item).is_some() && names_another(&entry.item))
        },
        ..CLAIM
    },
    Claim {
        id: "C-86",
        clause: "decision 0019",
        statement: "A write moves no control; it only makes a summary that is asked for out of date.",
        formula: "□ (no row in σ ⇒ C' = C, but for what is out of date)",
        check: StepInvariant(|_, before, events, after| {
            let moves = |event: &Event| matches!(event, Event::Transitioned { .. });
            let request = |state: &State| {
                state.control.request().map(|request| Request { outdated: false, ..request.clone() })
            };
            let stands = |state: &State| {
                let control = &state.control;
                (control.phase(), control.pending_call(), control.session().cloned(), control.next_request())
            };
            events.iter().any(moves) || stands(before) == stands(after) && request(before) == request(after)
        }),
        premise: |_, state| state.semantic.entries().any(|entry| entry.item.user().is_none()),
        ..CLAIM
    },
    Claim {
        id: "C-87",
        clause: "003-2.11",
        statement: "What is believed rests on nothing that was superseded, but on what took its place.",
        formula: "□ (valid(x) ∧ y ∈ deps(x) ⇒ ¬superseded(y))",
        check: ClaimCheck::StateInvariant(|_, state| {
            let superseded = |id: &ItemId| {
                state.semantic.get(*id).is_some_and(|entry| superseded_by(&entry.item).is_some())
            };
            let valid = state.semantic.entries().filter(|entry| entry.item.is_valid());
            valid.into_iter().all(|entry| !entry.deps.iter().any(superseded))
        }),
        premise: |_, state| {
            state.semantic.entries().any(|entry| entry.item.validity == Validity::NeedsReview)
        },
        ..CLAIM
    },
    Claim {
        id: "C-99",
        clause: "003-8.4",
        statement: "What a request leaves is of the user whose session it is, and remains so; nobody else is shown it.",
        formula: "□ (x ∈ I' \\ I of a request ⇒ user(x) = session) ∧ □ (user'(x) = user(x)) ∧ \
                  □ (user(x) ≠ reader ⇒ x ∉ shown(reader))",
        check: StepInvariant(|_, before, events, after| {
            if !events.iter().any(is_semantic) {
                return true;
            }
            let session = before.control.session();
            let is_kept = |Entry { item, .. }: &Entry| match before.semantic.get(item.id) {
                Some(old) => old.item.user() == item.user(),
                None => item.user().is_none_or(|user| Some(user) == session),
            };
            after.semantic.entries().all(is_kept)
                && other_principals(after).iter().all(|reader| {
                    let is_for = |user: &UserId| reader.user.as_ref() == Some(user);
                    after.semantic.selectable(reader).all(|entry| entry.item.user().is_none_or(is_for))
                })
        }),
        premise: |_, state| state.semantic.entries().any(|entry| entry.item.user().is_some()),
        ..CLAIM
    },
];

fn is_semantic(event: &Event) -> bool {
    matches!(event, Event::AddItem { .. } | Event::UpdateItem { .. } | Event::ForgetItems { .. })
}

/// What took the place of an item.
const fn superseded_by(item: &Item) -> Option<ItemId> {
    match item.validity {
        Validity::Superseded { superseded_by: by, .. } => by,
        _ => None,
    }
}

const fn rule(item: &Item) -> Option<SupersessionRule> {
    match item.validity {
        Validity::Superseded { rule, .. } => Some(rule),
        _ => None,
    }
}

fn rank(item: &Item) -> Option<Rank> {
    item.fact().map(|fact| fact.source.rank)
}

/// The scope of a fact that does not count everywhere in its session.
fn scoped(item: &Item) -> Option<&Scope> {
    item.fact().map(|fact| &fact.scope).filter(|scope| !matches!(scope, Scope::Global | Scope::Session))
}

fn restricted(item: &Item) -> bool {
    item.fact().is_some_and(|fact| fact.audience != Audience::Everybody)
}

/// A restricted fact as somebody of the highest rank says it again, of whom it is for saying nothing; and whom it is for.
fn rewrite_without_audience(item: &Item) -> Option<(NewFact, Audience)> {
    let (ItemKey::Fact(key), fact) = (&item.key, item.fact()?) else { return None };
    let said = NewFact {
        text: item.text.clone(),
        scope: fact.scope.clone(),
        established_at: fact.established_at,
        ..plain(key.clone())
    };
    item.is_valid().then(|| (said, fact.audience.clone()))
}

/// A fact for the eyes of some, of a name that nothing else has.
fn restricted_fact() -> (NewFact, Audience) {
    let audience = Audience::AtLeast(Rank::Policy);
    (NewFact { audience: audience.clone(), ..plain("a name of its own".into()) }, audience)
}

fn plain(key: Text) -> NewFact {
    NewFact::global(key, "1".into(), FactSource { name: "claim".into(), rank: Rank::Policy })
}

/// Items that were valid and are superseded now, with what superseded them.
fn newly_superseded<'a>(before: &'a State, after: &'a State) -> impl Iterator<Item = (&'a Item, ItemId)> {
    before.semantic.entries().filter(|entry| entry.item.is_valid()).filter_map(|Entry { item, .. }| {
        let by = superseded_by(&after.semantic.get(item.id)?.item)?;
        Some((item, by))
    })
}

/// Items that say something else than before.
fn overwritten<'a>(before: &'a State, after: &'a State) -> impl Iterator<Item = ItemId> {
    before.semantic.entries().filter_map(|Entry { item, .. }| {
        let now = &after.semantic.get(item.id)?.item;
        (now.text != item.text && matches!(now.layer, Layer::Environment | Layer::Working { .. }))
            .then_some(item.id)
    })
}

/// Summaries that stand for other names than before, and are believed.
fn summaries_losing_keys<'a>(before: &'a State, after: &'a State) -> impl Iterator<Item = ItemId> {
    before.semantic.read_valid_facts().filter_map(|item| {
        let now = &after.semantic.get(item.id)?.item;
        (now.is_valid() && !now.covered_keys().eq(item.covered_keys())).then_some(item.id)
    })
}

/// What rests on one of these, however far, without these; by the dependencies, not by an index of them.
fn transitive_dependents(known: &SemanticState, changed: &BTreeSet<ItemId>) -> BTreeSet<ItemId> {
    let mut reached = changed.clone();
    loop {
        let before = reached.len();
        let rests = |entry: &&Entry| entry.deps.iter().any(|dep| reached.contains(dep));
        let more: Vec<ItemId> = known.entries().filter(rests).map(|entry| entry.item.id).collect();
        reached.extend(more);
        if reached.len() == before {
            return reached.difference(changed).copied().collect();
        }
    }
}

/// Whether no item of a kind may stand in the context even of those who may see everything that is for somebody, wherever they
/// stand: in no scope of its own, and in each that something counts in.
fn is_hidden_from_all(state: &State, kind: impl Fn(&Item, &Scope) -> bool) -> bool {
    let known = &state.semantic;
    let scopes = known.entries().filter_map(|entry| scoped(&entry.item));
    let scopes: BTreeSet<&Scope> = scopes.chain([&Scope::Global]).collect();
    scopes.into_iter().all(|scope| {
        let is_of_kind = |entry: &Entry| kind(&entry.item, scope);
        // Most states have none; asking who sees what takes longer.
        !known.entries().any(is_of_kind) || {
            let reader = Principal { scope: scope.clone(), ..unrestricted_principal(state) };
            !known.selectable(&reader).any(is_of_kind)
        }
    })
}

/// Whoever speaks, with the highest rank, and every permission that anything asks for.
fn unrestricted_principal(state: &State) -> Principal {
    let asks = |entry: &Entry| match &entry.item.fact()?.audience {
        Audience::Permitted(name) => Some(name.clone()),
        _ => None,
    };
    let permissions = state.semantic.entries().filter_map(asks).collect();
    Principal { rank: Rank::Policy, permissions, ..state.session_principal() }
}

/// Somebody else than all whose requests left something, and where these are several, each of them; with all that may be granted.
fn other_principals(state: &State) -> Vec<Principal> {
    let users: BTreeSet<&UserId> = state.semantic.entries().filter_map(|entry| entry.item.user()).collect();
    let several = users.len() > 1;
    let each = users.into_iter().filter(|_| several).cloned();
    let all = unrestricted_principal(state);
    let of = |user| Principal { user: Some(user), ..all.clone() };
    each.chain([UserId::new("somebody else")]).map(of).collect()
}

/// Who just fails to be of those whom an item is for, where it counts: next below in rank, or with every other permission.
fn excluded_principal(state: &State, item: &Item) -> Option<Principal> {
    let fact = item.fact()?;
    let reader = Principal { scope: fact.scope.clone(), ..unrestricted_principal(state) };
    match &fact.audience {
        Audience::Everybody => None,
        Audience::AtLeast(rank) => {
            let below = Rank::ALL.into_iter().filter(|lower| lower < rank).max()?;
            Some(Principal { rank: below, ..reader })
        }
        Audience::Permitted(name) => {
            let others = reader.permissions.into_iter().filter(|other| other != name).collect();
            Some(Principal { permissions: others, ..reader })
        }
    }
}
