//! Readers of items: identities, permissions, users, scopes, expiry and shadowing (003-1.5, 003-2.21, 003-3.5, 003-8.4).

use super::shapes::{
    RANKS, at, entry, fact, id, identity, pairs, record, session, source, superseded, supposed, user,
    verified, with_validity,
};
use orchestrion_kernel::item::{Audience, FactRecord, ItemKey, Layer, Rank, Scope, Validity};
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{Input, RequestId, State, Text, UserId};

/// The scopes in which requests run.
fn scopes() -> [Scope; 4] {
    [Scope::Global, supposed(), Scope::Task("t".into()), Scope::Draft("d".into())]
}

/// One item, or two of which one may shadow the other or depend on it, beside the facts that open the scopes.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let single = facts().into_iter().chain(others()).map(|entry| vec![entry]);
    single.chain(shadowing()).chain(beside_summary()).chain(dependent()).map(with_open_scopes).collect()
}

fn with_open_scopes(mut items: Vec<Entry>) -> Vec<Entry> {
    for scope in scopes().into_iter().skip(1) {
        let number = id(items.len() as u64 + 1);
        let key = format!("in {scope}");
        items.push(fact(number, &key, "1", FactRecord { scope, ..record() }));
    }
    items
}

/// A fact of each audience, scope and validity.
fn facts() -> Vec<Entry> {
    let audiences = [
        Audience::Everybody,
        Audience::AtLeast(Rank::Guest),
        Audience::AtLeast(Rank::Employee),
        Audience::AtLeast(Rank::Manager),
        Audience::Permitted("p".into()),
        Audience::Permitted("q".into()),
    ];
    // The last one has the name of a supposition.
    let own = [Scope::Session, Scope::Hypothetical("other".into()), Scope::Task("h".into())];
    let scopes: Vec<Scope> = scopes().into_iter().chain(own).collect();
    let mut facts = Vec::new();
    for (audience, scope) in pairs(&audiences, &scopes) {
        for validity in [Validity::Current, Validity::NeedsReview, Validity::Denied] {
            let record = FactRecord { audience: audience.clone(), scope: scope.clone(), ..record() };
            facts.push(with_validity(fact(id(1), "a", "1", record), validity));
        }
    }
    facts
}

/// An item of an earlier request of each user in each scope, working items, and a signal.
fn others() -> Vec<Entry> {
    let request = RequestId::new(7);
    let mut others = Vec::new();
    for (user, scope) in pairs(&[user(), UserId::new("other")], &scopes()) {
        for key in [ItemKey::Request(request), ItemKey::Tags(request)] {
            let layer = Layer::Request { user: user.clone(), scope: scope.clone() };
            others.push(entry(id(1), key, "1", layer));
        }
    }
    others.extend([None, Some(0), Some(5)].map(|expires_at| {
        let layer = Layer::Working { created_at: at(0), expires_at: expires_at.map(at) };
        entry(id(1), ItemKey::Working("a".into()), "1", layer)
    }));
    others.push(entry(id(1), ItemKey::Environment("a".into()), "1", Layer::Environment));
    others
}

/// A fact, and one of a narrower scope with its key or with a link to it, of each rank. The linked fact may have a successor.
fn shadowing() -> Vec<Vec<Entry>> {
    let mut starts = Vec::new();
    for (wide, narrow) in pairs(&[Scope::Global, Scope::Session], &scopes()) {
        for (wide_rank, narrow_rank) in pairs(&RANKS, &RANKS) {
            for (audience, link) in
                pairs(&[Audience::Everybody, Audience::AtLeast(Rank::Manager)], &[false, true])
            {
                let wide = FactRecord { scope: wide.clone(), source: source(wide_rank), ..record() };
                let narrow = FactRecord {
                    scope: narrow.clone(),
                    source: source(narrow_rank),
                    audience: audience.clone(),
                    supersedes: link.then(|| id(1)),
                    ..record()
                };
                let key = if link { "b" } else { "a" };
                let (old, narrow) = (fact(id(1), "a", "1", wide.clone()), fact(id(2), key, "2", narrow));
                if link {
                    let next = fact(id(3), "a", "3", FactRecord { supersedes: Some(id(1)), ..wide });
                    let old = with_validity(old.clone(), superseded(id(3)));
                    starts.push(vec![old, narrow.clone(), next]);
                }
                starts.push(vec![old, narrow]);
            }
        }
    }
    starts
}

/// A summary, in review or not, and a fact of a narrower scope with one of its keys or with both.
fn beside_summary() -> Vec<Vec<Entry>> {
    let start = |((narrow, has_both), validity): ((Scope, bool), Validity)| {
        let keys = |names: &[&str]| names.iter().map(|name| Text::from(*name)).collect();
        let summary = FactRecord { summarized_keys: keys(&["a", "b"]), ..record() };
        let both = if has_both { keys(&["b"]) } else { Vec::new() };
        let narrow = FactRecord { scope: narrow, summarized_keys: both, ..record() };
        let mut wide = with_validity(fact(id(1), "", "1", summary), validity);
        wide.item.key = ItemKey::Summary;
        vec![wide, fact(id(2), "a", "2", narrow)]
    };
    let narrow = pairs(&scopes()[1..], &[false, true]);
    pairs(&narrow, &[Validity::Current, Validity::NeedsReview]).into_iter().map(start).collect()
}

/// An item that depends on one that its reader may not read, or that has expired.
fn dependent() -> Vec<Vec<Entry>> {
    let first = facts().into_iter().chain(others()).filter(|entry| entry.item.is_valid());
    let on = |first: Entry| {
        let working = Layer::Working { created_at: at(0), expires_at: None };
        let mut second = entry(id(2), ItemKey::Working("b".into()), "2", working);
        second.deps = vec![id(1)];
        vec![first, second]
    };
    first.map(on).collect()
}

/// A request in each scope, for each identity, up to the reply that verifies it.
pub(super) fn requests() -> Vec<Vec<Input>> {
    let identities = [
        None,
        Some(identity(Rank::Employee.name(), None, &[])),
        Some(identity(Rank::Guest.name(), None, &["q"])),
        Some(identity(Rank::Manager.name(), None, &["p"])),
    ];
    let request = |(identity, scope)| {
        let message = Input::UserMessage { user: user(), text: "text".into(), scope };
        vec![session(identity), message, verified()]
    };
    pairs(&identities, &scopes()).into_iter().map(request).collect()
}

/// The step that sends the first context of the request.
pub(super) fn steps(_: &State) -> Vec<Input> {
    vec![Input::Step]
}
