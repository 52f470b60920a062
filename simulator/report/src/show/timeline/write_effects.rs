//! What became of what was written: what it takes the place of, what stands against it, what must be looked at again, and
//! what is forgotten for it.

use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::count;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, MemoryType, Validity};
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::{Input, ItemId, Text};
use std::io;

/// The most items that are named in a line.
const NAMED_MAX: usize = 3;

/// Tells it under the step.
pub(super) fn told(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    let written = matches!(scene.step.input, Input::Write(_)).then(|| written(scene));
    let lines = written.into_iter().flatten().chain(forgotten(scene));
    lines.into_iter().try_for_each(|line| page.more("", line))
}

/// The items that the step adds or changes, in order. The first one is what was written.
fn changed<'a>(scene: &'a StepView<'_>) -> impl Iterator<Item = &'a Item> {
    scene.step.events.iter().filter_map(|event| match event {
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => Some(item),
        _ => None,
    })
}

fn written(scene: &StepView<'_>) -> Vec<Line> {
    let Some(own) = changed(scene).next() else {
        return vec![Line::faint("→ was known already, and changes nothing")];
    };
    let superseded = changed(scene).skip(1).filter_map(|item| match item.validity {
        Validity::Superseded { superseded_by: Some(by), rule } if by == own.id => Some(
            arrow(TextStyle::Warn, "supersedes ")
                .join(name(item))
                .and(format_args!(" ({rule}): "))
                .quote(item.text.as_str()),
        ),
        _ => None,
    });
    let taken = changed(scene).skip(1).filter_map(|item| {
        let lost: Vec<&str> = before(scene, item.id)?
            .covered_keys()
            .filter(|name| item.covered_keys().all(|left| left != *name))
            .map(Text::as_str)
            .collect();
        let line = || {
            arrow(TextStyle::Warn, "takes ").and(lost.join(" and ")).and(" from ").join(name(item)).and(": ")
        };
        (!lost.is_empty()).then(|| line().quote(item.text.as_str()))
    });
    let doubted = changed(scene).skip(1).filter(|item| {
        item.validity == Validity::NeedsReview
            && before(scene, item.id).is_some_and(|before| before.validity != Validity::NeedsReview)
    });
    let doubted: Vec<&Item> = doubted.collect();
    let review = (!doubted.is_empty()).then(|| {
        let facts = count(doubted.len(), "fact");
        arrow(TextStyle::Warn, "")
            .ink(TextStyle::Warn, format_args!("{facts} to be reviewed: "))
            .and(names(&doubted))
    });
    stands(scene, own).into_iter().chain(superseded).chain(taken).chain(review).collect()
}

/// How the written item itself stands, where there is something to say of it.
fn stands(scene: &StepView<'_>, own: &Item) -> Option<Line> {
    match own.validity {
        Validity::Denied => Some(arrow(TextStyle::Bad, "denied").and(barred(scene.policy, own))),
        Validity::Superseded { superseded_by: by, rule } => {
            let line = arrow(TextStyle::Bad, "overruled");
            let Some(by) = by.and_then(|id| before(scene, id)) else { return Some(line) };
            Some(line.and(" by ").join(name(by)).and(format_args!(" ({rule}): ")).quote(by.text.as_str()))
        }
        Validity::Current | Validity::NeedsReview => match before(scene, own.id) {
            Some(before) => again(before, own),
            None => hides(scene, own),
        },
    }
}

/// What was written over something of its own key.
fn again(before: &Item, own: &Item) -> Option<Line> {
    match own.key {
        ItemKey::Fact(_) if before.validity == Validity::NeedsReview => {
            Some(arrow(TextStyle::Good, "is said again, and no longer to be reviewed"))
        }
        ItemKey::Fact(_) => Some(Line::faint("→ is said again")),
        ItemKey::Working(_) | ItemKey::Environment(_) if before.text != own.text => {
            Some(arrow(TextStyle::Warn, "overwrites ").quote(before.text.as_str()))
        }
        _ => None,
    }
}

/// A fact of a narrower scope hides there what it names, or what has its key, and still counts elsewhere; but nothing of a higher
/// rank, and no summary that says more.
fn hides(scene: &StepView<'_>, own: &Item) -> Option<Line> {
    let fact = own.fact()?;
    let known = &scene.after.semantic;
    let named = fact.supersedes.and_then(|id| known.get(id));
    let wider = |item: &&Item| {
        let other = item.fact().filter(|other| other.scope.specificity() < fact.scope.specificity());
        item.is_valid() && other.is_some()
    };
    let other = named.into_iter().chain(known.by_key(&own.key)).map(|entry| &entry.item).find(wider)?;
    let is_whole = named.is_some_and(|named| named.item.id == other.id) || own.shadows(other);
    let (word, why) = match other.fact().is_some_and(|wider| fact.can_shadow(wider)) {
        true if is_whole => ("hides ", " there: "),
        true => ("stands beside ", ", which says more: "),
        false => ("stands beside ", ", which has a higher rank: "),
    };
    Some(arrow(TextStyle::Warn, word).join(name(other)).and(why).quote(other.text.as_str()))
}

/// What it takes to write such a thing.
fn barred(policy: &Policy, own: &Item) -> String {
    let Some(fact) = own.fact() else { return String::new() };
    let constraint = matches!(own.kind, ItemKind::Constraint(_))
        .then_some(("a constraint", policy.writes.constraint_from));
    let organizational = (fact.memory == MemoryType::Organizational)
        .then_some(("the organization's memory", policy.writes.organizational_from));
    let asked = [constraint, organizational].into_iter().flatten().max_by_key(|(_, from)| *from);
    asked.map_or_else(String::new, |(what, from)| format!(": {what} takes {from} or above"))
}

/// What gives way to a summary, and what has expired. What a session forgets is told at its end.
fn forgotten(scene: &StepView<'_>) -> Vec<Line> {
    let told = scene.step.events.iter().filter_map(|event| {
        let Event::ForgetItems { ids, cause } = event else { return None };
        let what = match cause {
            ForgetCause::SessionEnd => return None,
            ForgetCause::Expiry => "expired and forgotten: ",
            ForgetCause::Compaction { .. } => "forgotten for the summary: ",
        };
        let gone: Vec<&Item> = ids.iter().filter_map(|id| before(scene, *id)).collect();
        let items = count(ids.len(), "item");
        Some(
            arrow(TextStyle::Warn, "").ink(TextStyle::Warn, format_args!("{items} {what}")).and(names(&gone)),
        )
    });
    told.collect()
}

fn before<'a>(scene: &'a StepView<'_>, id: ItemId) -> Option<&'a Item> {
    scene.before.semantic.get(id).map(|entry| &entry.item)
}

fn arrow(ink: TextStyle, word: &str) -> Line {
    let line = Line::text("→ ");
    if word.is_empty() { line } else { line.ink(ink, word) }
}

fn name(item: &Item) -> Line {
    Line::new().ink(TextStyle::Who, called(item))
}

/// What an item is called by whoever wrote it.
fn called(item: &Item) -> String {
    match &item.key {
        ItemKey::Fact(name) | ItemKey::Working(name) | ItemKey::Environment(name) => name.to_string(),
        key => key.to_string(),
    }
}

/// The names of the first of them, each once.
fn names(items: &[&Item]) -> String {
    let mut names: Vec<String> = items.iter().map(|item| called(item)).collect();
    names.dedup();
    let more = names.len().saturating_sub(NAMED_MAX);
    names.truncate(NAMED_MAX);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
