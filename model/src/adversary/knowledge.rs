//! The writes of the adversary: one for each effect that a write can have on the state.

use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, ConstraintType, Item, ItemKey, Layer, Rank, Scope};
use orchestrion_kernel::knowledge::{
    FactKind, NewFact, NewIdentity, Reference, Write, WriteSource, compaction,
};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryUpdate};
use orchestrion_kernel::{CallId, Input, ItemId, Policy, State, Text};
use std::num::NonZeroU32;

/// Two texts of a signal. With the first, the pinned items reach the budget of a scope; with the second, they exceed it by one token.
const SHORT: &str = "light rain at sea";
const LONG: &str = "steady rain until six";

/// Every write to try. While there is room, new items; at any time, writes that add none.
pub(super) fn writes(policy: &Policy, room: usize, state: &State) -> Vec<Input> {
    let room = has_room(room, state);
    let mut writes = Vec::new();
    if room {
        writes.extend(facts(policy).into_iter().map(Write::Fact));
        writes.extend([working("w", "1", Some(2), None), signal("e", SHORT), signal("e", LONG)]);
        // It keeps `w` after its expiry.
        let on = state.semantic().by_key(&ItemKey::Working("w".into())).next().map(|entry| entry.item.id);
        writes.extend(on.map(|on| working("x", "1", None, Some(on))));
        writes.push(Write::Environment {
            key: "f".into(),
            text: "1".into(),
            supersedes: Some(Reference::Key("e".into())),
        });
    }
    writes.into_iter().map(|write| Input::Write(Box::new(write))).collect()
}

/// The tick at the next expiry, if an item expires.
pub(crate) fn tick(state: &State) -> Option<Input> {
    state.semantic().next_expiry(state.now()).map(|_| Input::Tick)
}

/// The write of an item that expires, then the tick at its expiry; none once time has passed.
pub(super) fn first_passage_of_time(state: &State) -> Option<Input> {
    if state.now() > Timestamp::default() {
        return None;
    }
    tick(state).or_else(|| Some(Input::Write(Box::new(working("note", "n", Some(1), None)))))
}

/// Whether an item remains after its expiry, because another one depends on it.
pub(super) fn has_expired_item(state: &State) -> bool {
    let has_expired =
        |item: &Item| matches!(item.layer, Layer::Working { expires_at: Some(at), .. } if at <= state.now());
    state.semantic().entries().any(|entry| has_expired(&entry.item))
}

/// Whether another item may be written.
pub(super) fn has_room(items: usize, state: &State) -> bool {
    state.semantic().entries().filter(|entry| entry.item.user().is_none()).count() < items
}

/// Every identity to try: of the table's rank, and of a rank above it, which is refused.
pub(super) fn identities() -> [NewIdentity; 2] {
    [identity("peer", None, &[]), identity("peer", Some(Rank::Policy), &[])]
}

/// Writes while the summarizer runs; at most one.
pub(super) fn writes_while_summarizing(state: &State) -> Vec<Input> {
    let fresh = state.control().request().is_some_and(|request| !request.outdated);
    let writes = [Write::Fact(fact("a", "2")), signal("e", LONG)];
    writes.into_iter().filter(|_| fresh).map(|write| Input::Write(Box::new(write))).collect()
}

/// Every summary to try: of the whole cluster, of one item, of none, and of an item outside of the cluster.
pub(super) fn summaries(policy: &Policy, state: &State) -> Vec<Report> {
    let cluster = compaction::cluster(policy, state);
    let stranger = state.semantic().entries().map(|entry| entry.item.id).find(|id| !cluster.contains(id));
    let first: Vec<ItemId> = cluster.first().copied().into_iter().collect();
    let of = |forgets| Report::Summary { text: "s".into(), forgets };
    let stranger = stranger.map(|stranger| of(Some(vec![stranger])));
    [of(Some(first)), of(None), of(Some(Vec::new()))].into_iter().chain(stranger).collect()
}

/// A reply with a situation update and an action record.
pub(super) fn reply_with_situation(call: CallId) -> Input {
    let nothing = || Text::from("");
    let action = ActionRecord {
        iteration: NonZeroU32::MIN,
        timestamp: Timestamp::default(),
        mode: Mode::Fast,
        thinking: nothing(),
        planning: nothing(),
        reflection: nothing(),
        approach: nothing(),
        tool_calls: Vec::new(),
    };
    Input::Reply {
        call,
        report: Report::Identity { gcp: true, mongodb: true },
        summary_update: Some(summary_update(&[("goal", "1"), ("progress", " "), ("insights", "1")])),
        action: Some(Box::new(action)),
        interaction: None,
    }
}

/// An update of the situation with these fields.
pub(crate) fn summary_update(fields: &[(&str, &str)]) -> SummaryUpdate {
    SummaryUpdate(fields.iter().map(|(key, text)| ((*key).to_owned(), Text::from(*text))).collect())
}

/// Facts under three keys: supersession by rank, scope and time, and dependencies.
fn facts(policy: &Policy) -> Vec<NewFact> {
    let a = || fact("a", "1");
    let timed = |text, at: Option<u64>| NewFact {
        time_sensitive: true,
        established_at: at.map(Timestamp::from_millis),
        ..fact("a", text)
    };
    let on = |fact: NewFact, name: &str| NewFact { depends_on: vec![Reference::Key(name.into())], ..fact };
    let instead =
        |fact: NewFact, name: &str| NewFact { supersedes: Some(Reference::Key(name.into())), ..fact };
    let ranked = |fact: NewFact, rank: Rank| NewFact { source: declared(rank), ..fact };
    // Without an identity the user has the lowest rank, with one that of an employee.
    let by_user = |fact: NewFact| NewFact { source: WriteSource::default(), ..fact };
    let supposed = Scope::Hypothetical("h".into());
    let limit = ranked(fact("a", "3"), policy.writes.constraint_from);
    let limit = NewFact { kind: FactKind::Constraint(Some(ConstraintType::Budget)), ..limit };
    let unfounded = ranked(limit.clone(), below(policy.writes.constraint_from));
    vec![
        a(),
        fact("a", "2"),
        by_user(a()),
        by_user(fact("a", "2")),
        NewFact { source: WriteSource { rank: Some(Rank::Policy), ..WriteSource::default() }, ..a() },
        limit,
        unfounded,
        NewFact { scope: supposed, ..instead(fact("b", "2"), "a") },
        NewFact { scope: Scope::Session, ..fact("a", "4") },
        NewFact { audience: Audience::AtLeast(Rank::Manager), ..fact("c", "3") },
        timed("5", Some(1)),
        NewFact { audience: Audience::Permitted("p".into()), ..timed("6", None) },
        on(fact("b", "1"), "a"),
        on(fact("c", SEVEN_TOKEN_TEXT), "b"),
        instead(fact("b", "2"), "a"),
        on(instead(fact("c", "2"), "a"), "a"),
    ]
}

/// A text of seven tokens.
const SEVEN_TOKEN_TEXT: &str = "1111222233334444555566667777";

pub(super) fn fact(key: &str, text: &str) -> NewFact {
    let established_at = Some(Timestamp::default());
    NewFact { established_at, ..NewFact::global(key.into(), text.into(), declared(Rank::Employee)) }
}

/// A source that the policy's table names.
pub(crate) fn declared(rank: Rank) -> WriteSource {
    WriteSource::declared(rank.name().into())
}

/// The next lower rank, if there is one.
fn below(rank: Rank) -> Rank {
    Rank::ALL.into_iter().rev().find(|lower| *lower < rank).unwrap_or(rank)
}

fn working(key: &str, text: &str, expires_at: Option<u64>, on: Option<ItemId>) -> Write {
    Write::Working {
        key: key.into(),
        text: text.into(),
        expires_at: expires_at.map(Timestamp::from_millis),
        depends_on: on.map(Reference::Id).into_iter().collect(),
    }
}

fn signal(key: &str, text: &str) -> Write {
    Write::Environment { key: key.into(), text: text.into(), supersedes: None }
}

/// An identity of this authority with these permissions, for which the host may state a rank.
pub(crate) fn identity(authority: &str, rank: Option<Rank>, permissions: &[&str]) -> NewIdentity {
    NewIdentity {
        name: "u".into(),
        authority: authority.into(),
        rank,
        department: "d".into(),
        organization: "o".into(),
        permissions: permissions.iter().map(|name| Text::from(*name)).collect(),
    }
}
