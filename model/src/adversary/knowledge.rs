//! The writes of the adversary: one for each effect that a write can have on the state.

use orchestrion_kernel::ids::Timestamp;
use orchestrion_kernel::item::{Audience, ConstraintType, FactSource, Identity, Rank, Scope};
use orchestrion_kernel::knowledge::{FactKind, NewFact, Reference, Write, compaction};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::situation::{ActionRecord, Mode, SummaryUpdate};
use orchestrion_kernel::{CallId, Input, ItemId, Policy, State, Text};

/// Every write to try. While there is room, new items; at any time, writes that add none.
pub(super) fn writes(policy: &Policy, room: usize, state: &State) -> Vec<Input> {
    let known = state.semantic();
    let room = known.entries().filter(|entry| entry.item.user().is_none()).count() < room;
    let mut writes = Vec::new();
    if room || known.now() > Timestamp::default() {
        writes.extend([clock(1), clock(2)]);
    }
    if room {
        // A second identity is refused.
        writes.push(if known.identity().is_none() {
            identity(Rank::Employee)
        } else {
            identity(Rank::Policy)
        });
        writes.extend(facts(policy).into_iter().map(Write::Fact));
        writes.extend([
            working("w", 2, None),
            working("x", 9, Some("a")),
            signal("e", "1"),
            signal("e", "2"),
        ]);
        writes.push(Write::Environment {
            key: "f".into(),
            text: "1".into(),
            supersedes: Some(Reference::Key("e".into())),
        });
    }
    writes.into_iter().map(|write| Input::Write(Box::new(write))).collect()
}

/// Writes while the summarizer runs; at most one.
pub(super) fn writes_while_summarizing(state: &State) -> Vec<Input> {
    let fresh = state.control().request().is_some_and(|request| !request.outdated);
    let writes = [Write::Fact(fact("a", "2")), signal("e", "2"), clock(2)];
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
    let says = [("goal", "1"), ("progress", " "), ("insights", "1")];
    let summary_update = says.into_iter().map(|(key, text)| (key.to_owned(), Text::from(text))).collect();
    let nothing = || Text::from("");
    let action = ActionRecord {
        iteration: 1,
        timestamp: nothing(),
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
        summary_update: Some(SummaryUpdate(summary_update)),
        action: Some(Box::new(action)),
    }
}

/// Facts under three keys: supersession by rank, scope and time, and dependencies.
fn facts(policy: &Policy) -> Vec<NewFact> {
    let a = || fact("a", "1");
    let timed = |text, at| NewFact {
        time_sensitive: true,
        established_at: Timestamp::from_millis(at),
        ..fact("a", text)
    };
    let on = |fact: NewFact, name: &str| NewFact { depends_on: vec![Reference::Key(name.into())], ..fact };
    let instead =
        |fact: NewFact, name: &str| NewFact { supersedes: Some(Reference::Key(name.into())), ..fact };
    let ranked = |fact: NewFact, rank| NewFact { source: FactSource { name: "s".into(), rank }, ..fact };
    let supposed = Scope::Hypothetical("h".into());
    let limit = ranked(fact("a", "3"), policy.writes.constraint_from);
    let limit = NewFact { kind: FactKind::Constraint(Some(ConstraintType::Budget)), ..limit };
    let unfounded = ranked(limit.clone(), below(policy.writes.constraint_from));
    vec![
        a(),
        fact("a", "2"),
        ranked(fact("a", "1"), Rank::Guest),
        ranked(fact("a", "2"), Rank::Guest),
        limit,
        unfounded,
        NewFact { scope: supposed, ..instead(fact("b", "2"), "a") },
        NewFact { scope: Scope::Session, ..fact("a", "4") },
        NewFact { audience: Audience::AtLeast(Rank::Manager), ..fact("c", "3") },
        timed("5", 1),
        NewFact { audience: Audience::Permitted("p".into()), ..timed("6", 2) },
        on(fact("b", "1"), "a"),
        on(fact("c", SEVEN_TOKEN_TEXT), "b"),
        instead(fact("b", "2"), "a"),
        on(instead(fact("c", "2"), "a"), "a"),
    ]
}

/// A text of seven tokens.
const SEVEN_TOKEN_TEXT: &str = "1111222233334444555566667777";

fn fact(key: &str, text: &str) -> NewFact {
    NewFact::global(key.into(), text.into(), FactSource { name: "s".into(), rank: Rank::Employee })
}

/// The next lower rank, if there is one.
fn below(rank: Rank) -> Rank {
    Rank::ALL.into_iter().rev().find(|lower| *lower < rank).unwrap_or(rank)
}

fn working(key: &str, expires_at: u64, on: Option<&str>) -> Write {
    Write::Working {
        key: key.into(),
        text: "1".into(),
        expires_at: Some(Timestamp::from_millis(expires_at)),
        depends_on: on.map(|key| Reference::Key(key.into())).into_iter().collect(),
    }
}

fn signal(key: &str, text: &str) -> Write {
    Write::Environment { key: key.into(), text: text.into(), supersedes: None }
}

fn clock(now: u64) -> Write {
    Write::Clock { now: Timestamp::from_millis(now), text: "now".into() }
}

fn identity(rank: Rank) -> Write {
    let (authority, department, organization) = ("peer".into(), "d".into(), "o".into());
    let identity = Identity { authority, rank, department, organization, permissions: Vec::new() };
    Write::Identity { name: "u".into(), identity }
}
