//! Faults in items: ids, dependencies, records and validity.

use orchestrion_kernel::event::ForgetCause;
use orchestrion_kernel::item::{Audience, FactRecord, Item, ItemKey, ItemKind, Layer, Rank, Scope, Validity};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::situation::SummaryField;
use orchestrion_kernel::{Event, Events, ItemId, State, Timestamp, UserId};
use std::sync::Arc;

type Spoil = fn(&State, &mut Events);

/// Changes every item that is added, or updated, or both.
macro_rules! items {
    ($events:ident, $($event:ident)|+, $item:pat => $change:expr) => {
        for event in $events {
            if let $(Event::$event { item: $item, .. })|+ = event {
                $change;
            }
        }
    };
}

fn fact(item: &mut Item) -> Option<&mut FactRecord> {
    match &mut item.layer {
        Layer::Fact(fact) => Some(Arc::make_mut(fact)),
        _ => None,
    }
}

fn facts(events: &mut Events, spoil: impl Fn(&mut FactRecord)) {
    items!(events, AddItem, item => if let Some(fact) = fact(item) { spoil(fact) });
}

fn advance_to(events: &mut Events, spoil: impl Fn(Timestamp) -> Timestamp) {
    for event in events {
        if let Event::TimeAdvanced { now } = event {
            *now = spoil(*now);
        }
    }
}

/// The location, the fault, and the change.
pub(super) const ITEMS: &[(&str, &str, Spoil)] = &[
    ("AddItem", "comes under an id that was given", |_, events| {
        items!(events, AddItem, item => item.id = ItemId::FIRST);
    }),
    ("AddItem", "rests on what is not there", |_, events| {
        for event in events {
            if let Event::AddItem { item, deps } = event {
                deps.push(ItemId::new(item.id.number() + 1));
            }
        }
    }),
    ("AddItem", "rests on nothing", |_, events| {
        for event in events {
            if let Event::AddItem { deps, .. } = event {
                deps.clear();
            }
        }
    }),
    ("AddItem", "is always current", |_, events| {
        items!(events, AddItem, item => item.validity = Validity::Current);
    }),
    ("AddItem", "is for everybody", |_, events| facts(events, |fact| fact.audience = Audience::Everybody)),
    ("AddItem", "counts everywhere", |_, events| facts(events, |fact| fact.scope = Scope::Global)),
    ("AddItem", "has the highest rank", |_, events| facts(events, |fact| fact.source.rank = Rank::Policy)),
    ("AddItem", "names nothing as superseded", |_, events| facts(events, |fact| fact.supersedes = None)),
    ("AddItem", "names the first item as superseded", |_, events| {
        facts(events, |fact| fact.supersedes = Some(ItemId::FIRST));
    }),
    ("AddItem", "belongs to a request of another user", |_, events| {
        items!(events, AddItem, Item { layer: Layer::Request { user, .. }, .. } => *user = UserId::new("another user"));
    }),
    ("AddItem", "leaves the scope of its request", |_, events| {
        items!(events, AddItem | UpdateItem, Item { layer: Layer::Request { scope, .. }, .. } => *scope = Scope::Global);
    }),
    ("AddItem", "covers no key as a summary", |_, events| facts(events, |fact| fact.summarized_keys.clear())),
    ("UpdateItem", "keeps a covered key that a write superseded", |state, events| {
        items!(events, UpdateItem, item => {
            let old = state.semantic().get(item.id).and_then(|entry| entry.item.fact());
            if let (Some(old), Some(fact)) = (old, fact(item)) {
                fact.summarized_keys.clone_from(&old.summarized_keys);
            }
        });
    }),
    ("AddItem", "never expires", |_, events| {
        items!(events, AddItem | UpdateItem, Item { layer: Layer::Working { expires_at, .. }, .. } => *expires_at = None);
    }),
    ("UpdateItem", "marks nothing to be reviewed", |_, events| {
        items!(events, UpdateItem, item => if item.validity == Validity::NeedsReview { item.validity = Validity::Current });
    }),
    ("UpdateItem", "marks to be reviewed what is current", |_, events| {
        items!(events, UpdateItem, item => if item.validity == Validity::Current { item.validity = Validity::NeedsReview });
    }),
    ("UpdateItem", "leaves what rested on the superseded resting there", |state, events| {
        for event in events {
            if let Event::UpdateItem { item, deps } = event
                && let Some(old) = state.semantic().get(item.id)
            {
                deps.clone_from(&old.deps);
            }
        }
    }),
    ("UpdateItem", "keeps its link to a summarized item", |state, events| {
        items!(events, UpdateItem, item => {
            let link = state.semantic().get(item.id).and_then(|entry| entry.item.fact()).and_then(|fact| fact.supersedes);
            if let Some(fact) = fact(item) {
                fact.supersedes = link;
            }
        });
    }),
    ("UpdateItem", "only marks what is superseded", |_, events| {
        items!(events, UpdateItem, item => if !item.is_valid() { item.validity = Validity::NeedsReview });
    }),
    ("UpdateItem", "says that an item takes its own place", |_, events| {
        items!(events, AddItem | UpdateItem, Item { id, validity: Validity::Superseded { superseded_by, .. }, .. } => *superseded_by = Some(*id));
    }),
    ("UpdateItem", "supersedes what has the higher rank", |state, events| {
        let highest =
            state.semantic().read_valid_facts().max_by_key(|item| item.fact().map(|fact| fact.source.rank));
        let Some(Event::AddItem { item: new, .. }) = events.first() else { return };
        let Validity::Superseded { superseded_by: Some(by), rule } = new.validity else { return };
        let id = new.id;
        let Some(old) = highest.filter(|item| item.id == by) else { return };
        let Some(entry) = state.semantic().get(old.id) else { return };
        let item = Item { validity: Validity::Superseded { superseded_by: Some(id), rule }, ..old.clone() };
        events.push(Event::UpdateItem { item, deps: entry.deps.clone() });
        items!(events, AddItem, item => item.validity = Validity::Current);
    }),
    ("AddItem", "leaves where things stand blank", |_, events| {
        items!(events, AddItem | UpdateItem, item @ Item { key: ItemKey::Situation(_), .. } => item.text = " ".into());
    }),
    ("ActionRecorded", "becomes known", |state, events| {
        let recorded = events.iter().position(|event| matches!(event, Event::ActionRecorded { .. }));
        if let Some((place, user)) = recorded.zip(state.control().session().cloned()) {
            let item = Item::from_request(
                user,
                state.semantic().next_id(),
                ItemKind::Fact,
                ItemKey::Situation(SummaryField::Progress),
                "acted".into(),
            );
            events.insert(place, Event::AddItem { item, deps: Vec::new() });
        }
    }),
    ("ForgetItems", "forgets everything", |state, events| {
        for event in events {
            if let Event::ForgetItems { ids, .. } = event {
                *ids = state.semantic().entries().map(|entry| entry.item.id).collect();
            }
        }
    }),
    ("ForgetItems", "forgets for a summary one more that is like the others", |state, events| {
        for event in events {
            if let Event::ForgetItems { ids, cause: ForgetCause::Compaction { .. } } = event {
                let needed = |id: ItemId| state.semantic().dependents(id).next().is_some();
                let more = state.semantic().read_valid_facts().map(|item| item.id);
                ids.extend(more.filter(|id| !ids.contains(id) && !needed(*id)).take(1).collect::<Vec<_>>());
            }
        }
    }),
    ("ForgetItems", "keeps the situation of a request that ended", |_, events| {
        events.retain(|event| !matches!(event, Event::ForgetItems { cause: ForgetCause::RequestEnd, .. }));
    }),
    ("ForgetItems", "forgets the situation of a request that runs", |state, events| {
        let calls =
            |event: &Event| matches!(event, Event::ToolCall { operation: Operation::LoadContext, .. });
        let of_situation = |item: &Item| matches!(item.key, ItemKey::Situation(_));
        let items = state.semantic().entries().map(|entry| &entry.item);
        let ids: Vec<ItemId> = items.filter(|item| of_situation(item)).map(|item| item.id).collect();
        if events.iter().any(calls) && !ids.is_empty() {
            events.push(Event::ForgetItems { ids, cause: ForgetCause::RequestEnd });
        }
    }),
    ("AddItem", "gives the identity the highest rank", |_, events| {
        items!(events, AddItem, Item { layer: Layer::Identity(identity), .. } => identity.rank = Rank::Policy);
    }),
    ("AddItem", "gives the identity a permission", |_, events| {
        items!(events, AddItem, Item { layer: Layer::Identity(identity), .. } => identity.permissions.push("p".into()));
    }),
    ("UpdateItem", "changes the identity with a message", |state, events| {
        let identity =
            state.semantic().entries().find(|entry| matches!(entry.item.layer, Layer::Identity(_)));
        let starts = events.iter().any(|event| matches!(event, Event::UserMsg { .. }));
        if let (Some(entry), true) = (identity, starts) {
            let mut item = entry.item.clone();
            if let Layer::Identity(identity) = &mut item.layer {
                identity.rank = Rank::Policy;
            }
            events.push(Event::UpdateItem { item, deps: entry.deps.clone() });
        }
    }),
    ("TimeAdvanced", "goes back", |_, events| advance_to(events, |_| Timestamp::default())),
    ("TimeAdvanced", "is late", |_, events| {
        advance_to(events, |now| Timestamp::from_millis(now.millis().saturating_add(1)));
    }),
    ("ForgetItems", "keeps what expired", |_, events| {
        events.retain(|event| !matches!(event, Event::ForgetItems { cause: ForgetCause::Expiry, .. }));
    }),
    ("ForgetItems", "names another item as the summary", |_, events| {
        for event in events {
            if let Event::ForgetItems { cause: ForgetCause::Compaction { into }, .. } = event {
                *into = ItemId::FIRST;
            }
        }
    }),
    ("ForgetItems", "forgets one less", |_, events| {
        for event in events {
            if let Event::ForgetItems { ids, .. } = event {
                ids.pop();
            }
        }
    }),
];
