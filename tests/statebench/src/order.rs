//! In which order the facts are written that are known at first: a snapshot has none of its own.

use super::timeline::{At, Write};
use orchestrion_kernel::Timestamp;

/// The facts by their time, where they have one; but one that names another only after that one, and what was superseded before
/// what superseded it. Of a circle the first is taken.
pub(super) fn in_order(facts: &[Write]) -> Vec<&Write> {
    let mut latest = Timestamp::default();
    let mut timed: Vec<(Timestamp, &Write)> = Vec::new();
    for fact in facts {
        latest = fact.ts.map_or(latest, |At(at)| at);
        timed.push((latest, fact));
    }
    timed.sort_by_key(|(at, _)| *at);
    let mut waiting: Vec<&Write> = timed.into_iter().map(|(_, fact)| fact).collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let next = (0..waiting.len()).find(|n| is_ready(*n, &waiting, &ordered)).unwrap_or_default();
        ordered.push(waiting.remove(next));
    }
    ordered
}

/// Whether nothing that waits must come before this one.
fn is_ready(n: usize, waiting: &[&Write], ordered: &[&Write]) -> bool {
    let fact = waiting[n];
    let others = || waiting.iter().enumerate().filter(|(other, _)| *other != n).map(|(_, other)| *other);
    let is_there = |name: &str| {
        ordered.iter().any(|done| is_called(done, name)) || !others().any(|other| is_called(other, name))
    };
    let mut names = fact.supersedes.iter().chain(&fact.depends_on);
    let is_superseded = |other: &Write| other.superseded_by.as_ref().is_some_and(|by| is_called(fact, by));
    names.all(|name| is_there(name)) && !others().any(is_superseded)
}

fn is_called(fact: &Write, name: &str) -> bool {
    !name.is_empty() && (fact.id == name || fact.key == name)
}
