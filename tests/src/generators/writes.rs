//! Writes into few scopes, and the scopes of messages, plans and past requests (decision 0037).
//!
//! Few keys, texts and scopes: writes then compete, and a request often finds its scope open.

use super::RandomSource;
use orchestrion_kernel::item::{ItemKey, Scope, Validity};
use orchestrion_kernel::knowledge::{NewFact, Reference, Write, WriteSource};
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::{ItemId, State, Text};

/// The keys of facts.
const KEYS: [&str; 2] = ["price", "roof"];
/// The texts of facts.
const TEXTS: [&str; 2] = ["high", "red"];
/// Sources of different ranks; the last one is in no policy.
const SOURCES: [&str; 4] = ["manager", "employee", "admin", "bob"];

/// The scopes with a name that writes open. One is tentative, so its facts shadow facts of a higher rank.
fn named_scopes() -> [Scope; 2] {
    [Scope::Task(Text::from("x")), Scope::Hypothetical(Text::from("x"))]
}

/// Generates a fact of some scope, or a promotion.
pub(super) fn write(choice: &mut impl RandomSource) -> Write {
    let key = Text::from(choice.one_of(&KEYS));
    let source = WriteSource::declared(Text::from(choice.one_of(&SOURCES)));
    let [task, hypothesis] = named_scopes();
    if choice.percent(20) {
        let scope = choice.one_of(&[task.clone(), task, hypothesis, Scope::Global]);
        return Write::Promote { key, scope, source };
    }
    let scope = choice.one_of(&[task.clone(), hypothesis, Scope::Global, task]);
    let text = Text::from(choice.one_of(&TEXTS));
    // An id names any item, also one of a request.
    let depends_on =
        choice.percent(30).then(|| Reference::Id(ItemId::new(choice.below(24).into()))).into_iter().collect();
    Write::Fact(NewFact { scope, depends_on, ..NewFact::global(key, text, source) })
}

/// Generates a fact that every request reads.
pub(super) fn global_fact(choice: &mut impl RandomSource) -> Write {
    let (key, text) = (choice.one_of(&KEYS).into(), choice.one_of(&TEXTS).into());
    Write::Fact(NewFact::global(key, text, WriteSource::declared("employee".into())))
}

/// Generates another text of a valid fact, with a rank that supersedes it; none if there is no such fact.
pub(super) fn superseding_write(choice: &mut impl RandomSource, state: &State) -> Option<Write> {
    let facts = state.semantic().entries().filter(|entry| entry.item.is_valid()).filter_map(|entry| {
        let (ItemKey::Fact(key), Some(fact)) = (&entry.item.key, entry.item.fact()) else { return None };
        let text = TEXTS.into_iter().find(|text| entry.item.text.as_str() != *text)?;
        let source = WriteSource::declared(Text::from("admin"));
        Some(NewFact { scope: fact.scope.clone(), ..NewFact::global(key.clone(), text.into(), source) })
    });
    let facts: Vec<NewFact> = facts.collect();
    (!facts.is_empty()).then(|| Write::Fact(choice.one_of(&facts)))
}

/// Returns the scopes with a name that have a fact that was not denied.
pub(super) fn open_scopes(state: &State) -> Vec<Scope> {
    let opens = |scope: &Scope| {
        state.semantic().entries().any(|entry| {
            entry.item.validity != Validity::Denied
                && entry.item.fact().is_some_and(|fact| fact.scope == *scope)
        })
    };
    named_scopes().into_iter().filter(opens).collect()
}

/// Generates the scope of a message: mostly global, sometimes open, rarely one in which nothing runs.
pub(super) fn message_scope(choice: &mut impl RandomSource, open: &[Scope]) -> Scope {
    match choice.weighted(&[75, 22, 3]) {
        1 if !open.is_empty() => choice.one_of(open),
        2 => unusable_scope(choice),
        _ => Scope::Global,
    }
}

/// Generates the scope of a past request, which needs no open scope.
pub(super) fn past_scope(choice: &mut impl RandomSource) -> Scope {
    let [task, hypothesis] = named_scopes();
    choice.one_of(&[Scope::Global, Scope::Global, Scope::Global, task, hypothesis])
}

/// Declares the scopes of tasks: mostly of none, sometimes the same open one, sometimes different ones.
pub(super) fn declare_scopes(choice: &mut impl RandomSource, tasks: &mut [Task], open: &[Scope]) {
    match choice.weighted(&[50, 12, 36, 2]) {
        1 if !open.is_empty() => {
            let scope = choice.one_of(open);
            tasks.iter_mut().for_each(|task| task.scope = Some(scope.clone()));
        }
        2 if !open.is_empty() => {
            let [none, global] = [None, Some(Scope::Global)];
            let scopes: Vec<Option<Scope>> =
                open.iter().cloned().map(Some).chain([none.clone(), none, global]).collect();
            tasks.iter_mut().for_each(|task| task.scope = choice.one_of(&scopes));
        }
        3 => {
            let place = usize::try_from(choice.below(4)).unwrap_or(0) % tasks.len().max(1);
            if let Some(task) = tasks.get_mut(place) {
                task.scope = Some(unusable_scope(choice));
            }
        }
        _ => {}
    }
}

/// Generates a scope in which nothing runs: the session, one that no write opens, and one that may not be open yet.
fn unusable_scope(choice: &mut impl RandomSource) -> Scope {
    let [task, _] = named_scopes();
    choice.one_of(&[Scope::Task(Text::from("unknown")), Scope::Session, task])
}
