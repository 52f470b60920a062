//! One or two facts, and the write of a fact that competes with them (003-6; decisions 0019, 0021, 0027).

use super::shapes::{
    RANKS, at, declared, fact, id, new_fact, pairs, record, source, superseded, supposed, with_validity,
    write,
};
use orchestrion_kernel::item::{
    ConstraintType, FactRecord, ItemKey, Layer, Rank, Scope, SupersessionRule, Validity,
};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Input, State, Text};
use std::sync::Arc;

/// Two texts that differ in upper and lower case only.
const ONE: &str = "v";
const OTHER: &str = "V";

/// No item; every fact, current, in need of review or denied, and every summary; and such a fact with another one, of which each may
/// have superseded the other. Then two renamed facts, and a summary in a supposition.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let mut starts = vec![Vec::new()];
    let first = facts(1, &[1, 2], &[false, true]);
    let all = first.iter().chain(&summaries(1)).cloned().collect::<Vec<_>>();
    for entry in &all {
        for validity in [Validity::Current, Validity::NeedsReview, Validity::Denied] {
            starts.push(vec![with_validity(entry.clone(), validity)]);
        }
    }
    for (first, second) in pairs(&all, &facts(2, &[1], &[false])) {
        starts.extend(successions(&first, &second));
    }
    starts.push(renamed_in_two_scopes());
    starts.push(renamed_and_denied());
    starts.push(vec![summary(1, &["a", "b"], FactRecord { scope: supposed(), ..record() })]);
    starts
}

/// A fact that was superseded under another key, and a later one of its own key that was denied.
fn renamed_and_denied() -> Vec<Entry> {
    vec![
        with_validity(fact(id(1), "a", ONE, record()), superseded(id(2))),
        fact(id(2), "b", OTHER, FactRecord { supersedes: Some(id(1)), ..record() }),
        with_validity(fact(id(3), "a", "w", record()), Validity::Denied),
    ]
}

/// A fact that was superseded under another key, beside a value of its key that was superseded in a supposition only.
fn renamed_in_two_scopes() -> Vec<Entry> {
    let in_scope = |number, key, text, scope: &Scope, supersedes: Option<u64>| {
        let supersedes = supersedes.map(id);
        fact(id(number), key, text, FactRecord { scope: scope.clone(), supersedes, ..record() })
    };
    let (global, supposed) = (Scope::Global, supposed());
    vec![
        with_validity(in_scope(1, "a", OTHER, &global, None), superseded(id(2))),
        in_scope(2, "b", OTHER, &global, Some(1)),
        with_validity(in_scope(3, "a", ONE, &supposed, None), superseded(id(4))),
        in_scope(4, "a", OTHER, &supposed, Some(3)),
    ]
}

/// Every fact with this id under two keys, with two texts, in two scopes, of three ranks, with these times.
fn facts(number: u64, times: &[u64], time_sensitive: &[bool]) -> Vec<Entry> {
    let mut facts = Vec::new();
    for (scope, rank) in pairs(&[Scope::Global, supposed()], &RANKS) {
        for (key, text) in pairs(&["a", "b"], &[ONE, OTHER]) {
            for (millis, time_sensitive) in pairs(times, time_sensitive) {
                let record = FactRecord {
                    source: source(rank),
                    established_at: at(millis),
                    scope: scope.clone(),
                    time_sensitive,
                    ..record()
                };
                facts.push(fact(id(number), key, text, record));
            }
        }
    }
    facts
}

/// Every summary of facts with these keys.
fn summaries(number: u64) -> Vec<Entry> {
    let mut summaries = Vec::new();
    let keys: [&[&str]; 4] = [&["a"], &["a", "b"], &["b", "c"], &["c"]];
    for (keys, rank) in pairs(&keys, &RANKS) {
        summaries.push(summary(number, keys, FactRecord { source: source(rank), ..record() }));
    }
    summaries
}

fn summary(number: u64, keys: &[&str], record: FactRecord) -> Entry {
    let summarized_keys = keys.iter().map(|key| Text::from(*key)).collect();
    let mut entry = fact(id(number), "", ONE, FactRecord { summarized_keys, ..record });
    entry.item.key = ItemKey::Summary;
    entry
}

/// Two facts: both current, one in need of review or denied, the first superseded by the second, the second lost against the first, and
/// the second with a link to the first, which it supersedes or shadows.
fn successions(first: &Entry, second: &Entry) -> Vec<Vec<Entry>> {
    let linked = || {
        let mut linked = second.clone();
        let record =
            linked.item.fact().cloned().map(|record| FactRecord { supersedes: Some(id(1)), ..record });
        if let Some(record) = record {
            linked.item.layer = Layer::Fact(Arc::new(record));
        }
        linked
    };
    vec![
        vec![first.clone(), second.clone()],
        vec![first.clone(), linked()],
        vec![with_validity(first.clone(), Validity::NeedsReview), second.clone()],
        vec![first.clone(), with_validity(second.clone(), Validity::Denied)],
        vec![with_validity(first.clone(), superseded(id(2))), linked()],
        vec![first.clone(), with_validity(second.clone(), superseded(id(1)))],
    ]
}

/// Every write of a fact by an employee, and every promotion; beside two facts of which one is not valid also a constraint. Beside two
/// facts, the times of the write do not vary: one fact has them all.
pub(super) fn writes(state: &State) -> Vec<Input> {
    let has_two = state.semantic().entries().filter(|entry| entry.item.fact().is_some()).count() > 1;
    let (times, sensitive): (&[u64], &[bool]) =
        if has_two { (&[1], &[false]) } else { (&[1, 2], &[false, true]) };
    let key = |key: &str| Some(Reference::Key(key.into()));
    let named = [None, key("a"), key("b"), Some(Reference::Id(id(1))), Some(Reference::Id(id(2)))];
    let detected = [None, Some(SupersessionRule::Implicit), Some(SupersessionRule::Temporal)];
    let mut writes = Vec::new();
    for (text, scope) in pairs(&[ONE, OTHER], &[Scope::Global, supposed()]) {
        for (millis, time_sensitive) in pairs(times, sensitive) {
            for (supersedes, detected_rule) in pairs(&named, &detected) {
                if detected_rule.is_some() && (supersedes.is_none() || has_two) {
                    continue;
                }
                writes.push(Write::Fact(NewFact {
                    scope: scope.clone(),
                    established_at: Some(at(millis)),
                    time_sensitive,
                    supersedes: supersedes.clone(),
                    detected_rule,
                    ..new_fact("a", text)
                }));
            }
        }
    }
    // A constraint repeats no fact.
    if has_two && state.semantic().entries().any(|entry| !entry.item.is_valid()) {
        let kind = FactKind::Constraint(Some(ConstraintType::Budget));
        writes.push(Write::Fact(NewFact { kind, ..new_fact("a", ONE) }));
    }
    for (key, rank) in pairs(&["a", "b"], &[Rank::Guest, Rank::Manager]) {
        writes.push(Write::Promote { key: key.into(), scope: supposed(), source: declared(rank) });
    }
    writes.into_iter().map(write).collect()
}
