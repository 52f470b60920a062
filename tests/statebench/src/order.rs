//! The order in which the facts of the initial state are written. A snapshot has none.

use crate::timeline::{Time, WriteRecord};
use orchestrion_kernel::Timestamp;

/// Returns the facts in the order of their times; a fact without one has the time of the fact before it. References precede the
/// times: a fact follows those that it names, and its predecessor. In a cycle the first fact comes first.
pub(crate) fn in_order(facts: &[WriteRecord]) -> Vec<&WriteRecord> {
    let mut latest = Timestamp::default();
    let mut timed: Vec<(Timestamp, &WriteRecord)> = Vec::new();
    for fact in facts {
        latest = fact.ts.map_or(latest, |Time(at)| at);
        timed.push((latest, fact));
    }
    timed.sort_by_key(|(at, _)| *at);
    let mut waiting: Vec<&WriteRecord> = timed.into_iter().map(|(_, fact)| fact).collect();
    let mut ordered = Vec::new();
    while !waiting.is_empty() {
        let next = (0..waiting.len()).find(|index| is_ready(*index, &waiting, &ordered)).unwrap_or_default();
        ordered.push(waiting.remove(next));
    }
    ordered
}

/// Whether no waiting fact must precede this one.
fn is_ready(index: usize, waiting: &[&WriteRecord], ordered: &[&WriteRecord]) -> bool {
    let fact = waiting[index];
    let others = || waiting.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| *other);
    let is_written = |name: &str| {
        ordered.iter().any(|done| has_name(done, name)) || !others().any(|other| has_name(other, name))
    };
    let mut names = fact.supersedes.iter().chain(&fact.depends_on);
    let is_predecessor =
        |other: &WriteRecord| other.superseded_by.as_ref().is_some_and(|by| has_name(fact, by));
    names.all(|name| is_written(name)) && !others().any(is_predecessor)
}

fn has_name(fact: &WriteRecord, name: &str) -> bool {
    !name.is_empty() && (fact.id == name || fact.key == name)
}
