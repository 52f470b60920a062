//! The effects of a write on other items: superseded, shadowed, flagged for review, forgotten.

use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use crate::text::count;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::item::{Item, ItemKey, Validity};
use orchestrion_kernel::{Input, ItemId, Text};
use orchestrion_trace::Denial;
use std::io;

/// The most keys listed in a line.
const LISTED_KEYS_MAX: usize = 3;

/// Writes the effects below the step.
pub(super) fn write(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let written = matches!(view.step.input, Input::Write(_)).then(|| write_effects(view));
    let lines = written.into_iter().flatten().chain(forgotten(view));
    lines.into_iter().try_for_each(|line| out.write_line("", line))
}

/// Returns the items that the step adds or changes, in order. The first one is the written item.
fn changed<'a>(view: &'a StepView<'_>) -> impl Iterator<Item = &'a Item> {
    view.step.events.iter().filter_map(|event| match event {
        Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => Some(item),
        _ => None,
    })
}

fn write_effects(view: &StepView<'_>) -> Vec<Line> {
    let Some(own) = changed(view).next() else {
        return vec![Line::dim("→ no change: the item has this value")];
    };
    let superseded = changed(view).skip(1).filter_map(|item| match item.validity {
        Validity::Superseded { superseded_by: Some(by), rule } if by == own.id => Some(
            effect(TextStyle::Warn, "supersedes ")
                .join(styled_key(item))
                .and(format_args!(" ({rule}): "))
                .quote(item.text.as_str()),
        ),
        _ => None,
    });
    let uncovered = changed(view).skip(1).filter_map(|item| {
        let lost: Vec<&str> = item_before(view, item.id)?
            .covered_keys()
            .filter(|key| item.covered_keys().all(|left| left != *key))
            .map(Text::as_str)
            .collect();
        let line = || {
            effect(TextStyle::Warn, "removes ")
                .and(lost.join(" and "))
                .and(" from ")
                .join(styled_key(item))
                .and(": ")
        };
        (!lost.is_empty()).then(|| line().quote(item.text.as_str()))
    });
    let flagged = changed(view).skip(1).filter(|item| {
        item.validity == Validity::NeedsReview
            && item_before(view, item.id).is_some_and(|before| before.validity != Validity::NeedsReview)
    });
    let flagged: Vec<&Item> = flagged.collect();
    let review = (!flagged.is_empty()).then(|| {
        let verb = if flagged.len() == 1 { "needs" } else { "need" };
        let text = format!("{} {verb} review: ", count(flagged.len(), "fact"));
        effect(TextStyle::Warn, &text).and(keys(&flagged))
    });
    own_effect(view, own).into_iter().chain(superseded).chain(uncovered).chain(review).collect()
}

/// Returns the result of the write for the written item itself.
fn own_effect(view: &StepView<'_>, own: &Item) -> Option<Line> {
    match own.validity {
        Validity::Denied => {
            let line = effect(TextStyle::Bad, "denied");
            Some(match Denial::from_item(view.policy, own) {
                Some(denial) => line.and(format_args!(": {denial}")),
                None => line,
            })
        }
        Validity::Superseded { superseded_by: by, rule } => {
            let line = effect(TextStyle::Bad, "superseded");
            let Some(by) = by.and_then(|id| item_before(view, id)) else { return Some(line) };
            Some(
                line.and(" by ")
                    .join(styled_key(by))
                    .and(format_args!(" ({rule}): "))
                    .quote(by.text.as_str()),
            )
        }
        Validity::Current | Validity::NeedsReview => match item_before(view, own.id) {
            Some(before) => overwrite_effect(before, own),
            None => shadow_effect(view, own),
        },
    }
}

/// Returns the effect on an earlier item with the same id.
fn overwrite_effect(before: &Item, own: &Item) -> Option<Line> {
    match own.key {
        ItemKey::Fact(_) if before.validity == Validity::NeedsReview => {
            Some(effect(TextStyle::Good, "reaffirmed, no longer needs review"))
        }
        ItemKey::Fact(_) => Some(Line::dim("→ reaffirmed")),
        ItemKey::Working(_) | ItemKey::Environment(_) if before.text != own.text => {
            Some(effect(TextStyle::Warn, "overwrites ").quote(before.text.as_str()))
        }
        _ => None,
    }
}

/// Returns whether the written fact shadows a fact of a wider scope, and the reason if it does not.
fn shadow_effect(view: &StepView<'_>, own: &Item) -> Option<Line> {
    let fact = own.fact()?;
    let semantic = view.after.semantic();
    let referenced = fact.supersedes.and_then(|id| semantic.get(id));
    let is_wider = |item: &&Item| {
        let other = item.fact().filter(|other| other.scope.specificity() < fact.scope.specificity());
        item.is_valid() && other.is_some()
    };
    let candidates = referenced.into_iter().chain(semantic.by_key(&own.key));
    let other = candidates.map(|entry| &entry.item).find(is_wider)?;
    let is_complete = referenced.is_some_and(|entry| entry.item.id == other.id) || own.can_shadow(other);
    let can_shadow = other.fact().is_some_and(|wider| fact.can_shadow(wider));
    let (verb, suffix) = match (can_shadow, is_complete) {
        (true, true) => ("shadows ", ": "),
        (true, false) => ("does not shadow ", ", which covers more keys: "),
        (false, _) => ("does not shadow ", ", which has a higher rank: "),
    };
    Some(effect(TextStyle::Warn, verb).join(styled_key(other)).and(suffix).quote(other.text.as_str()))
}

/// Returns the items that were compacted, have expired, or ended with the request. The line of a session end counts its forgotten items.
fn forgotten(view: &StepView<'_>) -> Vec<Line> {
    let lines = view.step.events.iter().filter_map(|event| {
        let Event::ForgetItems { ids, cause } = event else { return None };
        let reason = match cause {
            ForgetCause::SessionEnd => return None,
            ForgetCause::RequestEnd => "ended with the request",
            ForgetCause::Expiry => "expired and forgotten",
            ForgetCause::Compaction { .. } => "summarized and forgotten",
            ForgetCause::Capacity => "forgotten over the capacity of the session",
        };
        let items: Vec<&Item> = ids.iter().filter_map(|id| item_before(view, *id)).collect();
        let text = format!("{} {reason}: ", count(ids.len(), "item"));
        Some(effect(TextStyle::Warn, &text).and(keys(&items)))
    });
    lines.collect()
}

fn item_before<'a>(view: &'a StepView<'_>, id: ItemId) -> Option<&'a Item> {
    view.before.semantic().get(id).map(|entry| &entry.item)
}

fn effect(style: TextStyle, text: &str) -> Line {
    Line::text("→ ").styled(style, text)
}

fn styled_key(item: &Item) -> Line {
    Line::new().styled(TextStyle::Actor, key(item))
}

/// Returns the key as its writer spells it.
fn key(item: &Item) -> String {
    match &item.key {
        ItemKey::Fact(key) | ItemKey::Working(key) | ItemKey::Environment(key) => key.to_string(),
        key => key.to_string(),
    }
}

/// Returns the first distinct keys of the items.
fn keys(items: &[&Item]) -> String {
    let mut keys: Vec<String> = items.iter().map(|item| key(item)).collect();
    keys.dedup();
    let omitted = keys.len().saturating_sub(LISTED_KEYS_MAX);
    keys.truncate(LISTED_KEYS_MAX);
    match omitted {
        0 => keys.join(", "),
        omitted => format!("{} and {omitted} more", keys.join(", ")),
    }
}
