//! Claims about writes: after a write, the items are those that the rules of 003 give.
//!
//! Each claim compares one aspect of the items that a write leaves with those of the reference.

use super::prelude::*;
use crate::reference::items::{persists, superseded_by};
use crate::reference::writes::Items;
use orchestrion_kernel::item::{Audience, FactRecord, Item, Layer, MemoryType, SupersessionRule, Validity};
use orchestrion_kernel::semantic::Entry;

pub(super) const WRITES: &[Claim] = &[
    Claim {
        id: "C-200",
        clause: "003-9.3",
        statement: "A write is refused if and only if it needs a session that is not open, states a rank above its limit, names \
                    what does not exist, has expired, or depends on what it may not depend on.",
        formula: "□ (decide(o, write) is a refusal ⇔ rules(S, write) refuse it)",
        check: WriteInvariant(|expected, found| expected.is_some() == found.is_some()),
        premise: Premise::Semantic(|_, state| state.session().is_none()),
        ..CLAIM
    },
    Claim {
        id: "C-201",
        clause: "003-2.16",
        statement: "A write adds one item, or none if it overwrites the item of its key, reaffirms a fact, or repeats a \
                    superseded value. It removes none.",
        formula: "□ (write ⇒ ids(I') = ids(rules(S, write)))",
        check: WriteInvariant(|expected, found| {
            let (Some(expected), Some(found)) = (expected, found) else { return true };
            expected.keys().eq(found.keys())
        }),
        premise: Premise::Semantic(|_, state| !state.semantic().is_empty()),
        ..CLAIM
    },
    Claim {
        id: "C-202",
        clause: "003-6.1",
        statement: "A write supersedes exactly the items that the rules authority, explicit, temporal and implicit give, in this \
                    precedence, and records the rule. A fact that loses is superseded by the winner.",
        formula: "□ (write ⇒ ∀ x ∈ I': ⟨by(x), rule(x)⟩ = ⟨by(x), rule(x)⟩ of rules(S, write))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| succession(expected) == succession(found))
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().map(|entry| &entry.item).any(|item| {
                matches!(item.validity, Validity::Superseded { rule: SupersessionRule::Temporal, .. })
            })
        }),
        ..CLAIM
    },
    Claim {
        id: "C-203",
        clause: "003-9.3",
        statement: "The authority is checked before a write: a fact has the rank of its source, as the policy's table and the \
                    session's identity limit it, and is denied if this rank is too low for a constraint or organizational memory.",
        formula: "□ (write ⇒ ∀ x ∈ I': ⟨source(x), denied(x)⟩ = ⟨source(x), denied(x)⟩ of rules(S, write))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| {
                let is_denied = |entry: &Entry| entry.item.validity == Validity::Denied;
                is_denied(expected) == is_denied(found)
                    && same(expected, found, |one, other| one.source == other.source)
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state.semantic().entries().map(|entry| &entry.item).any(|item| item.validity == Validity::Denied)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-204",
        clause: "003-2.11",
        statement: "A written item depends on the current versions of what it names. What depended on a superseded item depends on \
                    the successor, and nothing else changes its dependencies.",
        formula: "□ (write ⇒ ∀ x ∈ I': deps(x) = deps(x) of rules(S, write))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| expected.deps == found.deps)
        }),
        premise: Premise::Semantic(|_, state| state.semantic().entries().any(|entry| !entry.deps.is_empty())),
        ..CLAIM
    },
    Claim {
        id: "C-205",
        clause: "003-2.13",
        statement: "A write marks for review exactly the facts that depend, directly or not, on what it supersedes or overwrites, and \
                    the summaries that lose a key. A repetition from a source of at least the fact's rank clears the mark.",
        formula: "□ (write ⇒ ∀ x ∈ I': needs_review(x) = needs_review(x) of rules(S, write))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| {
                let needs_review = |entry: &Entry| entry.item.validity == Validity::NeedsReview;
                needs_review(expected) == needs_review(found)
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state
                .semantic()
                .entries()
                .map(|entry| &entry.item)
                .any(|item| item.validity == Validity::NeedsReview)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-206",
        clause: "003-8.4",
        statement: "A write sets the audience of its fact. A repetition may restrict the audience of a fact, a promotion keeps it, and \
                    nothing widens it.",
        formula: "□ (write ⇒ ∀ x ∈ I': audience(x) = audience(x) of rules(S, write))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| {
                same(expected, found, |one, other| one.audience == other.audience)
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state
                .semantic()
                .entries()
                .filter_map(|entry| entry.item.fact())
                .any(|fact| fact.audience != Audience::Everybody)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-207",
        clause: "003-5.2",
        statement: "A written item has the key, the value, the kind, the times, the memory and the scope of the write, the link to the \
                    fact that it supersedes or shadows, and the keys that it takes from summaries. No other item changes in these.",
        formula: "□ (write ⇒ ∀ x ∈ I': content(x) = content(x) of rules(S, write))",
        check: WriteInvariant(|expected, found| agree(expected, found, content)),
        premise: Premise::Semantic(|_, state| {
            state
                .semantic()
                .entries()
                .filter_map(|entry| entry.item.fact())
                .any(|fact| fact.memory == MemoryType::Capability)
        }),
        ..CLAIM
    },
    Claim {
        id: "C-208",
        clause: "003-3.4",
        statement: "A working item or a signal overwrites the item of its key, with the time of the write and its expiry; a signal may \
                    supersede an older one under another key.",
        formula: "□ (write(w) of layer 3 or 4 ⇒ item(key(w)) = rules(S, w))",
        check: WriteInvariant(|expected, found| {
            agree(expected, found, |expected, found| {
                let is_fact = expected.item.fact().is_some() || found.item.fact().is_some();
                is_fact || expected.item == found.item
            })
        }),
        premise: Premise::Semantic(|_, state| {
            state
                .semantic()
                .entries()
                .map(|entry| &entry.item)
                .any(|item| matches!(item.layer, Layer::Environment) && persists(item))
        }),
        ..CLAIM
    },
    Claim {
        id: "C-209",
        clause: "003-2.8",
        statement: "A fact that names a fact of its own scope supersedes it. The links of both agree.",
        formula: "□ (supersedes(x) = y ∧ scope(x) = scope(y) ⇒ by(y) = x)",
        check: SemanticInvariant(|_, state| {
            let known = state.semantic();
            known.entries().all(|entry| {
                let link = entry.item.fact().and_then(|fact| Some((fact, known.get(fact.supersedes?)?)));
                link.is_none_or(|(fact, old)| {
                    let is_rival = old.item.fact().is_some_and(|old| old.scope == fact.scope);
                    !is_rival || superseded_by(&old.item) == Some(entry.item.id)
                })
            })
        }),
        premise: Premise::Semantic(|_, state| {
            let facts = state.semantic().entries().filter_map(|entry| entry.item.fact());
            facts.into_iter().any(|fact| fact.supersedes.is_some())
        }),
        ..CLAIM
    },
];

/// Whether the items that both have agree. A write that one of them refuses is the subject of C-200, a surplus item that of C-201.
fn agree(expected: Option<&Items>, found: Option<&Items>, is_same: impl Fn(&Entry, &Entry) -> bool) -> bool {
    let (Some(expected), Some(found)) = (expected, found) else { return true };
    expected.iter().all(|(id, expected)| found.get(id).is_none_or(|found| is_same(expected, found)))
}

/// Whether two facts agree. Other items do.
fn same(expected: &Entry, found: &Entry, is_same: impl Fn(&FactRecord, &FactRecord) -> bool) -> bool {
    match (expected.item.fact(), found.item.fact()) {
        (Some(expected), Some(found)) => is_same(expected, found),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The successor of an item, and the rule.
const fn succession(entry: &Entry) -> Option<(Option<orchestrion_kernel::ItemId>, SupersessionRule)> {
    match entry.item.validity {
        Validity::Superseded { superseded_by, rule } => Some((superseded_by, rule)),
        Validity::Current | Validity::NeedsReview | Validity::Denied => None,
    }
}

/// Whether two items have the same content, without source, audience and validity.
fn content(expected: &Entry, found: &Entry) -> bool {
    let fields = |item: &Item| (item.kind, item.key.clone(), item.text.clone());
    fields(&expected.item) == fields(&found.item)
        && same(expected, found, |expected, found| {
            let (source, audience) = (found.source.clone(), found.audience.clone());
            *found == FactRecord { source, audience, ..expected.clone() }
        })
}
