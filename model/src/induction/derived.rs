//! Graphs of dependencies, and the writes that change an item or depend on one (003-2.11, 003-2.20).

use super::shapes::{
    at, declared, entry, fact, id, new_fact, pairs, record, superseded, supposed, with_validity, write,
};
use crate::adversary::knowledge::tick;
use orchestrion_kernel::item::{FactRecord, ItemKey, Layer, Rank, Scope, SupersessionRule, Validity};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Input, ItemId, State};

const ITEMS: u64 = 4;
/// The layers of the other items, a bit for each.
const LAYERS: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// The layer of the first item.
#[derive(Clone, Copy)]
enum First {
    Fact,
    Working,
    Signal,
}

/// Every acyclic graph of four items: the first is a fact, a working item or a signal, each other one a fact of the session, a global fact
/// or a working item; where the first is a fact, the second may also have superseded it, or the third the second. Then facts of each
/// pair of scopes, two facts of the session, of which one superseded the other, two signals, and a supposed fact that depends on two
/// others.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let edges: Vec<(u64, u64)> = (1..=ITEMS).flat_map(|from| (1..from).map(move |to| (from, to))).collect();
    let mut starts = Vec::new();
    for (first, layers) in pairs(&[First::Fact, First::Working, First::Signal], &LAYERS) {
        for graph in 0..1_u32 << edges.len() {
            let is_drawn = |edge: usize, from: u64, number: u64| from == number && graph >> edge & 1 == 1;
            let deps_of = |number: u64| {
                let drawn =
                    edges.iter().enumerate().filter(|(edge, (from, _))| is_drawn(*edge, *from, number));
                drawn.map(|(_, (_, to))| id(*to)).collect()
            };
            let with_deps = |number| Entry { deps: deps_of(number), ..item(number, first, layers) };
            let start: Vec<Entry> = (1..=ITEMS).map(with_deps).collect();
            starts.push(start.clone());
            // The place of the superseded item, its successor, and the bits of the layers of both: they are facts.
            for (at, successor, facts) in [(1, 3, 0b11), (0, 2, 0b01)] {
                if matches!(first, First::Fact) && layers & facts == 0 {
                    let mut start = start.clone();
                    start[at] = with_validity(start[at].clone(), superseded(id(successor)));
                    starts.push(start);
                }
            }
        }
    }
    starts.extend(scoped());
    starts.push(of_session());
    starts.push(signals());
    starts.push(supposed_on_two());
    starts
}

/// A fact of the session that another one superseded.
fn of_session() -> Vec<Entry> {
    let record = |supersedes| FactRecord { scope: Scope::Session, supersedes, ..record() };
    let old = with_validity(fact(id(1), "a", "1", record(None)), superseded(id(2)));
    vec![old, fact(id(2), "a", "2", record(Some(id(1))))]
}

/// A signal that another one superseded.
fn signals() -> Vec<Entry> {
    let signal =
        |number: u64, key: &str| entry(id(number), ItemKey::Environment(key.into()), "1", Layer::Environment);
    let validity = Validity::Superseded { superseded_by: Some(id(2)), rule: SupersessionRule::Temporal };
    vec![with_validity(signal(1, "a"), validity), signal(2, "b")]
}

/// A supposed fact that depends on two others.
fn supposed_on_two() -> Vec<Entry> {
    let mut last = fact(id(3), "c", "1", FactRecord { scope: supposed(), ..record() });
    last.deps = vec![id(1), id(2)];
    vec![fact(id(1), "a", "1", record()), fact(id(2), "b", "1", record()), last]
}

/// Two facts of each pair of scopes, with one key or two.
fn scoped() -> Vec<Vec<Entry>> {
    let scopes =
        [Scope::Global, Scope::Session, supposed(), Scope::Task("t".into()), Scope::Draft("d".into())];
    let start = |((first, second), key): ((Scope, Scope), &str)| {
        let record = |scope| FactRecord { scope, ..record() };
        vec![fact(id(1), "a", "1", record(first)), fact(id(2), key, "1", record(second))]
    };
    pairs(&pairs(&scopes, &scopes), &["a", "b"]).into_iter().map(start).collect()
}

/// An item with a key of its own: the letter of its number.
fn item(number: u64, first: First, layers: u32) -> Entry {
    let key = key(number);
    let session = FactRecord { scope: Scope::Session, ..record() };
    let working = Layer::Working { created_at: at(0), expires_at: None };
    // A write without an expiry replaces the first. The second expires with it.
    let expiring = Layer::Working { created_at: at(0), expires_at: Some(at(9)) };
    let of_layer = |key: ItemKey, layer| entry(id(number), key, "1", layer);
    let is_second_layer = number > 1 && layers >> (number - 2) & 1 == 1;
    match (first, number) {
        (First::Working, 1) => of_layer(ItemKey::Working(key.into()), expiring),
        (First::Working, 2) if is_second_layer => of_layer(ItemKey::Working(key.into()), expiring),
        (First::Signal, 1) => of_layer(ItemKey::Environment(key.into()), Layer::Environment),
        // What persists depends on nothing that ends with the session.
        (First::Working, _) if is_second_layer => of_layer(ItemKey::Working(key.into()), working),
        (First::Working, _) => fact(id(number), key, "1", session),
        (First::Fact | First::Signal, _) if is_second_layer => {
            of_layer(ItemKey::Working(key.into()), working)
        }
        (First::Fact | First::Signal, _) => fact(id(number), key, "1", record()),
    }
}

fn key(number: u64) -> &'static str {
    ["a", "b", "c", "d"][usize::try_from(number - 1).unwrap_or_default()]
}

/// Every change of one item, with a dependency on each, and every new item that depends on one, by id or by key; a write that
/// supersedes two facts; the promotion of a supposed fact; the end of a session with a superseded fact; and the tick at the next expiry,
/// if an item expires.
pub(super) fn inputs(state: &State) -> Vec<Input> {
    let items: Vec<ItemId> =
        state.semantic().entries().map(|entry| entry.item.id).filter(|id| id.number() <= ITEMS).collect();
    let by_id = |item: &ItemId| vec![Reference::Id(*item)];
    let by_key = |number: u64| vec![Reference::Key(key(number).into())];
    let mut depends: Vec<Vec<Reference>> = vec![Vec::new()];
    depends.extend(items.iter().map(by_id));
    depends.extend([by_key(1), by_key(2)]);
    let mut writes = Vec::new();
    for depends_on in &depends {
        for (key, text, scope) in [
            ("a", "2", Scope::Global),
            ("b", "2", Scope::Session),
            ("b", "2", Scope::Global),
            ("e", "1", supposed()),
            ("e", "1", Scope::Global),
            ("e", "1", Scope::Session),
            // Repetitions.
            ("a", "1", Scope::Global),
            ("c", "1", Scope::Global),
        ] {
            let depends_on = depends_on.clone();
            writes.push(Write::Fact(NewFact { scope, depends_on, ..new_fact(key, text) }));
        }
        let (named, depends_on) = (Some(Reference::Key("a".into())), depends_on.clone());
        writes.push(Write::Fact(NewFact { supersedes: named, depends_on, ..new_fact("e", "2") }));
    }
    // Supersedes the fact that it names and the fact of its own key.
    writes.push(Write::Fact(NewFact { supersedes: Some(Reference::Key("a".into())), ..new_fact("b", "2") }));
    for (text, key) in pairs(&["1", "2"], &["a", "b"]) {
        for depends_on in &depends {
            let (key, text, depends_on) = (key.into(), text.into(), depends_on.clone());
            writes.push(Write::Working { key, text, expires_at: None, depends_on });
        }
    }
    writes.push(Write::Promote { key: "c".into(), scope: supposed(), source: declared(Rank::Employee) });
    let signal = |key: &str, text: &str, supersedes| Write::Environment {
        key: key.into(),
        text: text.into(),
        supersedes,
    };
    writes.extend([
        signal("a", "1", None),
        signal("a", "2", None),
        signal("s", "1", Some(Reference::Key("a".into()))),
        // An item of any layer; only a signal can be superseded.
        signal("s", "1", Some(Reference::Id(ItemId::FIRST))),
    ]);
    let is_old = |Entry { item, .. }: &Entry| !item.is_valid() && *item.scope() == Scope::Session;
    let end = state.semantic().entries().any(is_old).then_some(Input::SessionEnd);
    writes.into_iter().map(write).chain(end).chain(tick(state)).collect()
}
