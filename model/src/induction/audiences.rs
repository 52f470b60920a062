//! Sources, ranks, memories and audiences of a write, and of the fact that it repeats (003-1, 003-8.4, 003-9.3; decisions 0028, 0032).

use super::shapes::{
    KINDS, RANKS, at, declared, fact, id, identity, new_fact, pairs, record, session, source, supposed,
    with_validity, write,
};
use orchestrion_kernel::item::{Audience, FactRecord, MemoryType, Rank, Scope, SupersessionRule, Validity};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Input, State};

const MEMORIES: [MemoryType; 3] = [MemoryType::User, MemoryType::Capability, MemoryType::Organizational];

fn audiences() -> [Audience; 4] {
    [
        Audience::Everybody,
        Audience::AtLeast(Rank::Employee),
        Audience::AtLeast(Rank::Manager),
        Audience::Permitted("p".into()),
    ]
}

/// No item, and every fact of one key and text.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let mut starts = vec![Vec::new()];
    for (audience, rank) in pairs(&audiences(), &RANKS) {
        for (kind, memory) in pairs(&KINDS, &MEMORIES) {
            for (scope, millis) in pairs(&[Scope::Global, supposed()], &[1, 2]) {
                let record = FactRecord {
                    source: source(rank),
                    established_at: at(millis),
                    audience: audience.clone(),
                    memory,
                    scope,
                    ..record()
                };
                let mut entry = fact(id(1), "a", "1", record);
                entry.item.kind = kind.into();
                starts.push(vec![entry.clone()]);
                starts.push(vec![with_validity(entry, Validity::NeedsReview)]);
            }
        }
    }
    starts
}

/// A session without an identity, with one of the table, with a lower rank, with a stated rank, and with permissions.
pub(super) fn sessions() -> Vec<Vec<Input>> {
    let identities = [
        None,
        Some(identity(Rank::Employee.name(), None, &[])),
        Some(identity(Rank::Manager.name(), Some(Rank::Employee), &["p"])),
        Some(identity("own title", Some(Rank::Manager), &["p", "q"])),
        Some(identity("own title", None, &[])),
        // Titles are compared without case.
        Some(identity("Manager", None, &[])),
        // Refused: the table limits the rank.
        Some(identity(Rank::Guest.name(), Some(Rank::Manager), &[])),
    ];
    identities.into_iter().map(|identity| vec![session(identity)]).collect()
}

/// Every source and rank where there is no item, for every identity; beside one, every repetition of it, facts of narrower scopes that name
/// it, and promotions, by an employee.
pub(super) fn writes(state: &State) -> Vec<Input> {
    let has_fact = state.semantic().entries().any(|entry| entry.item.fact().is_some());
    let writes = match state.semantic().identity() {
        _ if !has_fact => first_writes(),
        Some(identity) if identity.authority.as_str() == Rank::Employee.name() => repetitions(),
        Some(_) | None => Vec::new(),
    };
    writes.into_iter().map(write).collect()
}

fn first_writes() -> Vec<Write> {
    let derived = |rank: Rank| WriteSource { is_derived: true, ..declared(rank) };
    let unknown = WriteSource::declared("own source".into());
    let sources = [
        WriteSource::default(),
        declared(Rank::Guest),
        declared(Rank::Policy),
        WriteSource::declared("Policy".into()),
        derived(Rank::Guest),
        derived(Rank::Policy),
        WriteSource { is_derived: true, ..unknown.clone() },
        unknown,
    ];
    let stated = [None, Some(Rank::Unverified), Some(Rank::Employee), Some(Rank::Policy)];
    let texts = [(false, None), (true, None), (true, Some(SupersessionRule::Explicit))];
    let mut writes = Vec::new();
    for (named, rank) in pairs(&sources, &stated) {
        for (kind, memory) in pairs(&KINDS, &MEMORIES) {
            for (audience, (is_from_text, detected_rule)) in pairs(&audiences(), &texts) {
                let source = WriteSource { rank, ..named.clone() };
                let fact = new_fact("a", "1");
                writes.push(Write::Fact(NewFact {
                    source,
                    kind,
                    memory,
                    audience,
                    is_from_text,
                    detected_rule,
                    ..fact
                }));
            }
        }
    }
    writes
}

fn repetitions() -> Vec<Write> {
    let mut writes = Vec::new();
    for (audience, rank) in pairs(&audiences(), &RANKS) {
        for (kind, millis) in pairs(&KINDS, &[1, 2]) {
            for scope in [Scope::Global, supposed()] {
                let established_at = Some(at(millis));
                let (source, audience) = (declared(rank), audience.clone());
                writes.push(Write::Fact(NewFact {
                    source,
                    audience,
                    kind,
                    established_at,
                    scope,
                    ..new_fact("a", "1")
                }));
            }
        }
    }
    // A fact that names the item from a narrower scope.
    for (rank, scope) in pairs(&RANKS, &[Scope::Task("t".into()), Scope::Session]) {
        let (source, supersedes) = (declared(rank), Some(Reference::Key("a".into())));
        writes.push(Write::Fact(NewFact { source, scope, supersedes, ..new_fact("b", "1") }));
    }
    let promote = |scope, source| Write::Promote { key: "a".into(), scope, source };
    writes.extend([
        promote(supposed(), declared(Rank::Guest)),
        promote(supposed(), declared(Rank::Manager)),
        promote(supposed(), WriteSource::default()),
        // Refused: the fact is global already.
        promote(Scope::Global, declared(Rank::Manager)),
    ]);
    writes
}
