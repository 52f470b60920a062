//! Compactions of three items that differ in one field each (000-6; decision 0021).

use super::shapes::{
    at, entry, fact, id, identity, pairs, record, session, source, superseded, supposed, user, verified,
    with_validity,
};
use orchestrion_kernel::ids::Text;
use orchestrion_kernel::item::{
    Audience, ConstraintType, FactRecord, ItemKey, ItemKind, Layer, MemoryType, Rank, Scope, SubtaskStatus,
    Validity,
};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::semantic::Entry;
use orchestrion_kernel::{CallId, Input, ItemId, RequestId, State, TaskId};

/// In what an item differs from a global fact of an employee.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    None,
    Audience,
    Permission,
    Memory,
    Rank,
    Scope,
    Constraint,
    Review,
    Later,
    TimeSensitive,
    DependsOnFourth,
    DependsOnFifth,
    DependsOnFirst,
    /// Of the last item: it depends on an item outside of the cluster, which depends on the first one.
    DependsOnOutside,
    Summary,
    Working,
    /// Of the first item, beside a working item.
    Subtask,
    Superseding,
    Shadowing,
    /// A fact of the supposition named it, and was superseded there.
    Named,
    /// Of the session. One of the first item's predecessors remains.
    OfSession,
    /// The message of an earlier request in the supposition.
    Past,
    /// The tags of an earlier request in the supposition, with a text of as many tokens as make a compaction due.
    PastTags,
    /// As `Past`, with a short text, in a state without the third item: with the message of the request it would make a compaction due.
    PastBrief,
    /// Of the first item: a fact with the key of the third lost against it.
    Lost,
    /// Of the first item: a fact with the key of the second was denied.
    Denied,
    /// Of the first item: its predecessor has a predecessor.
    Descended,
    /// Of the first item: what depends on all three also depends on a signal.
    Kept,
    /// Of the last item: a fourth one has the audience of the second, so that two groups have equal sizes.
    Even,
    /// Of the last item: the user does not read it, and its text alone has as many tokens as make a compaction due.
    Unreadable,
}

use Difference as D;

const ALL: [D; 19] = [
    D::None,
    D::Audience,
    D::Permission,
    D::Memory,
    D::Rank,
    D::Scope,
    D::Constraint,
    D::Review,
    D::Later,
    D::TimeSensitive,
    D::DependsOnFourth,
    D::DependsOnFifth,
    D::DependsOnFirst,
    D::DependsOnOutside,
    D::Summary,
    D::Working,
    D::Subtask,
    D::Superseding,
    D::Shadowing,
];

/// The length of a text of as many tokens as make a compaction due.
const LONG_CHARS: usize = 32;

/// What differs from every other start.
pub(super) const ALONE: [[Difference; 3]; 11] = [
    [D::Named, D::None, D::None],
    [D::OfSession, D::OfSession, D::OfSession],
    [D::Past, D::Past, D::Past],
    [D::PastTags, D::PastTags, D::None],
    [D::PastBrief, D::PastBrief, D::PastBrief],
    [D::Lost, D::None, D::None],
    [D::Denied, D::None, D::None],
    [D::Descended, D::None, D::None],
    [D::Kept, D::None, D::None],
    [D::None, D::Audience, D::Even],
    [D::None, D::None, D::Unreadable],
];

/// The items that are summarized come first; then two signals on which they may depend, an item that depends on each of them, and a fact
/// that the third may have superseded.
pub(super) fn starts() -> Vec<Vec<Entry>> {
    let mut starts = Vec::new();
    let is_in_place = |(first, (second, third)): &(D, (D, D))| {
        let depends_outside = [first, second].contains(&&D::DependsOnOutside);
        let is_subtask =
            ![second, third].contains(&&D::Subtask) && (*first != D::Subtask || *second == D::Working);
        !depends_outside && is_subtask
    };
    let alone = ALONE.map(|[first, second, third]| (first, (second, third)));
    let triples = pairs(&ALL, &pairs(&ALL, &ALL)).into_iter().filter(is_in_place);
    for (first, (second, third)) in triples.chain(alone) {
        let mut items: Vec<Entry> =
            [(1, first), (2, second), (3, third)].map(|(number, difference)| item(number, difference)).into();
        let signal = |number: u64, key: &str| {
            entry(id(number), ItemKey::Environment(key.into()), "1", Layer::Environment)
        };
        if third == D::PastBrief {
            items.truncate(2);
            items.push(opening());
        }
        if [D::Unreadable, D::PastBrief].contains(&third) {
            starts.push(items);
            continue;
        }
        items.extend([signal(4, "s"), signal(5, "t")]);
        let working = Layer::Working { created_at: at(0), expires_at: Some(at(9)) };
        let mut dependent = entry(id(6), ItemKey::Working("w".into()), "1", working);
        dependent.deps = vec![id(1), id(2), id(3)];
        dependent.deps.extend((first == D::Kept).then(|| id(4)));
        // The session keeps two items.
        items.extend((![D::Subtask, D::PastTags].contains(&first)).then_some(dependent));
        if third == D::DependsOnOutside {
            let layer = Layer::Working { created_at: at(0), expires_at: Some(at(9)) };
            let mut outside = entry(id(8), ItemKey::Working("v".into()), "1", layer);
            outside.deps = vec![id(1)];
            items.push(outside);
        }
        match (first, third) {
            (D::Named, _) => {
                let narrow = |supersedes| FactRecord {
                    scope: supposed(),
                    supersedes: Some(id(supersedes)),
                    ..record()
                };
                let naming = fact(id(9), "k9", "0", narrow(1));
                items.extend([with_validity(naming, superseded(id(10))), fact(id(10), "k9", "1", narrow(9))]);
            }
            (D::OfSession, _) => {
                let old = fact(id(7), "k1", "0", FactRecord { scope: Scope::Session, ..record() });
                items.push(with_validity(old, superseded(id(1))));
            }
            (D::Past | D::PastTags, _) => items.push(opening()),
            (D::Lost, _) => {
                items.push(with_validity(fact(id(7), "k3", "0", record()), superseded(id(1))));
            }
            (D::Denied, _) => items.push(with_validity(fact(id(7), "k2", "0", record()), Validity::Denied)),
            (D::Descended, _) => {
                let old = |number, successor| {
                    with_validity(fact(id(number), "k1", "0", record()), superseded(id(successor)))
                };
                items.extend([old(7, 9), old(9, 1)]);
            }
            (_, D::Even) => items.push(item(9, D::Audience)),
            _ => {}
        }
        let superseding = [first, second, third].iter().position(|one| *one == D::Superseding);
        if let Some(at) = superseding {
            let old = fact(id(7), "old", "0", record());
            items.push(with_validity(old, superseded(id(at as u64 + 1))));
        }
        starts.push(items);
    }
    starts
}

/// The fact that opens the supposition.
fn opening() -> Entry {
    fact(id(9), "k9", "1", FactRecord { scope: supposed(), ..record() })
}

fn item(number: u64, difference: D) -> Entry {
    let mut record = record();
    match difference {
        D::Audience => record.audience = Audience::AtLeast(Rank::Guest),
        D::Permission => record.audience = Audience::Permitted("p".into()),
        D::Memory => record.memory = MemoryType::Capability,
        D::Rank => record.source = source(Rank::Guest),
        D::Scope | D::Shadowing => record.scope = supposed(),
        D::Later => record.established_at = at(2),
        D::TimeSensitive => record.time_sensitive = true,
        D::Superseding => record.supersedes = Some(id(7)),
        D::Summary => record.summarized_keys = vec![Text::from("s1"), Text::from("s2")],
        D::OfSession => {
            record.scope = Scope::Session;
            record.supersedes = (number == 1).then_some(id(7));
        }
        D::Unreadable => record.audience = Audience::AtLeast(Rank::Policy),
        D::None
        | D::Constraint
        | D::Review
        | D::DependsOnFourth
        | D::DependsOnFifth
        | D::DependsOnFirst
        | D::DependsOnOutside
        | D::Working
        | D::Subtask
        | D::Named
        | D::Past
        | D::PastTags
        | D::PastBrief
        | D::Lost
        | D::Denied
        | D::Descended
        | D::Kept
        | D::Even => {}
    }
    // One that shadows has the key of the item before it.
    let key = if difference == D::Shadowing { number.saturating_sub(1) } else { number };
    let mut entry = fact(id(number), &format!("k{key}"), "12345", record);
    match difference {
        D::Constraint => entry.item.kind = ItemKind::Constraint(Some(ConstraintType::Budget)),
        D::Review => entry.item.validity = Validity::NeedsReview,
        D::DependsOnFourth => entry.deps = vec![id(4)],
        D::DependsOnFifth => entry.deps = vec![id(5)],
        D::DependsOnFirst if number > 1 => entry.deps = vec![id(1)],
        D::DependsOnOutside => entry.deps = vec![id(8)],
        D::Summary => entry.item.key = ItemKey::Summary,
        D::Working => {
            entry.item.key = ItemKey::Working(format!("k{number}").into());
            entry.item.layer = Layer::Working { created_at: at(0), expires_at: None };
        }
        D::Subtask => {
            entry.item.key = ItemKey::Task(RequestId::FIRST.next(), TaskId::FIRST);
            entry.item.kind = ItemKind::Subtask(SubtaskStatus::Done);
            entry.item.layer = Layer::Request { user: user(), scope: Scope::Global };
        }
        D::Past | D::PastTags | D::PastBrief => {
            let earlier = RequestId::new(u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1));
            entry.item.layer = Layer::Request { user: user(), scope: supposed() };
            entry.item.key = ItemKey::Request(earlier);
            if difference == D::PastTags {
                entry.item.key = ItemKey::Tags(earlier);
                entry.item.text = "1".repeat(LONG_CHARS).into();
            } else if difference == D::PastBrief {
                entry.item.text = "1".into();
            }
        }
        D::Unreadable => entry.item.text = "1".repeat(LONG_CHARS).into(),
        D::None
        | D::Audience
        | D::Permission
        | D::Memory
        | D::Rank
        | D::Scope
        | D::Later
        | D::TimeSensitive
        | D::DependsOnFirst
        | D::Superseding
        | D::Shadowing
        | D::Named
        | D::OfSession
        | D::Lost
        | D::Denied
        | D::Descended
        | D::Kept
        | D::Even => {}
    }
    entry
}

/// A request in the global scope and in that of some items, up to the call of the summarizer.
pub(super) fn requests() -> Vec<Vec<Input>> {
    let manager = || session(Some(identity(Rank::Manager.name(), None, &["p"])));
    let message = |scope| Input::UserMessage { user: user(), text: "text".into(), scope };
    [Scope::Global, supposed()].map(|scope| vec![manager(), message(scope), verified(), Input::Step]).into()
}

/// A summary of the whole cluster, of each item of it, and of an item outside of it, alone and beside one of it.
pub(super) fn replies(state: &State) -> Vec<Input> {
    let call = state.control().pending_calls().first().map_or(CallId::FIRST, |call| call.id);
    let of = |forgets: Option<Vec<ItemId>>| Input::reply(call, Report::Summary { text: "s".into(), forgets });
    let single = [1, 2, 3].map(|number| of(Some(vec![id(number)])));
    [of(None), of(Some(vec![id(1), id(3)]))].into_iter().chain(single).collect()
}
