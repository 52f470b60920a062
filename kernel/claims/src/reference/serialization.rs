//! The text of a context (000 §5.3, 003 §7; decisions 0024, 0029, 0037): its sections, and the lines of the items.

use super::items::{is_shared, item_scope, persists};
use super::situation::{reasoning_mode, situation, situation_text};
use crate::context_view::ContextView;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use orchestrion_kernel::Timestamp;
use orchestrion_kernel::ids::ItemId;
use orchestrion_kernel::item::{Item, ItemKey, ItemKind, Layer, Validity};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Policy;
use orchestrion_kernel::state::State;

/// The sections in their order.
const SECTIONS: [&str; 5] = ["Identity", "Environment", "Facts", "Working set", "Situation"];

/// The position of the situation in [`SECTIONS`].
pub(crate) const SITUATION: usize = 4;

/// The position of an item's section in [`SECTIONS`].
pub(crate) fn section(policy: &Policy, state: &State, operation: Operation, item: &Item) -> usize {
    let running = state.control().request().map(|request| request.id);
    let is_earlier = || running.is_none() || item.key.request() != running;
    match (&item.layer, &item.key) {
        (Layer::Identity(_), _) => 0,
        (Layer::Environment, _) => 1,
        (Layer::Fact(_), _) => 2,
        (_, ItemKey::Situation(_)) if reasoning_mode(&policy.situation, operation).is_some() => SITUATION,
        (Layer::Request { .. }, _) if persists(item) && is_earlier() => 2,
        (Layer::Request { .. } | Layer::Working { .. }, _) => 3,
    }
}

/// The headings, each after an empty line, and whether the context always contains them: the time follows one, the situation another.
pub(crate) fn headings(policy: &Policy, state: &State, operation: Operation) -> Vec<(String, bool)> {
    let has_time =
        policy.contexts.provenance && operation != Operation::Summarize && state.now() > Timestamp::default();
    let time = has_time.then(|| format!("time: {}\n", state.now()));
    let situation = reasoning_mode(&policy.situation, operation).and_then(|mode| {
        let actions = state.control().request().map_or(&[][..], |request| &request.actions);
        situation_text(&policy.situation, mode, &situation(state.semantic()), actions)
    });
    let situation = situation.map(|text| text + "\n");
    let preambles = [None, time, None, None, situation];
    let heading = |(name, preamble): (&str, Option<String>)| {
        let is_shown = preamble.is_some();
        (format!("\n# {name}\n{}", preamble.unwrap_or_default()), is_shown)
    };
    SECTIONS.into_iter().zip(preambles).map(heading).collect()
}

/// The line of an item. With provenance it names ranks, sources, times and scopes.
pub(crate) fn line(policy: &Policy, item: &Item) -> String {
    let provenance = policy.contexts.provenance;
    let mut details = Vec::new();
    if let ItemKind::Subtask(status) = item.kind {
        details.push(status.to_string());
    }
    // A name that is the word of the rank stands once.
    let name_rank = |details: &mut Vec<String>, name: &str, rank: &str| {
        details.extend(Some(name).filter(|name| !name.is_empty() && *name != rank).map(ToString::to_string));
        details.push(rank.to_string());
    };
    match &item.layer {
        Layer::Identity(identity) if provenance => {
            name_rank(&mut details, identity.authority.as_str(), identity.rank.name());
            let texts = [&identity.department, &identity.organization].map(|text| text.as_str());
            details.extend(texts.into_iter().filter(|text| !text.is_empty()).map(ToString::to_string));
            details.extend(identity.permissions.iter().map(|permission| format!("may {permission}")));
        }
        Layer::Fact(fact) if provenance => {
            name_rank(&mut details, fact.source.name.as_str(), fact.source.rank.name());
            if fact.established_at > Timestamp::default() {
                details.push(fact.established_at.to_string());
            }
        }
        Layer::Identity(_)
        | Layer::Fact(_)
        | Layer::Request { .. }
        | Layer::Working { .. }
        | Layer::Environment => {}
    }
    let scope = item_scope(item);
    if provenance && !is_shared(scope) {
        details.push(scope.to_string());
    }
    if item.validity == Validity::NeedsReview {
        details.push("needs review".to_string());
    }
    let constraint = match item.kind {
        ItemKind::Constraint(Some(constraint)) => format!("{constraint} constraint, "),
        ItemKind::Constraint(None) => "constraint, ".to_string(),
        ItemKind::Fact | ItemKind::Subtask(_) => String::new(),
    };
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("[{}] {constraint}{}{details}: {}\n", item.id, item.key, item.text)
}

/// The text of a context with these items: the sections that have a line or a text of their own, separated by an empty line.
pub(crate) fn expected_text(view: &ContextView<'_>, shown: &[ItemId]) -> String {
    let ContextView { policy, state, operation, .. } = *view;
    let items: Vec<&Item> = shown.iter().filter_map(|id| Some(&state.semantic().get(*id)?.item)).collect();
    let mut text = String::new();
    for (at, (heading, is_shown)) in view.problem.headings.iter().enumerate() {
        let own = items.iter().filter(|item| section(policy, state, operation, item) == at);
        let lines: Vec<Cow<'_, str>> = own.map(|item| view.line(item)).collect();
        if *is_shown || !lines.is_empty() {
            text.push_str(heading);
        }
        // The summary is one text, which follows the heading.
        if at != SITUATION {
            text.push_str(&lines.concat());
        }
    }
    // An empty line separates two sections, so none precedes the first.
    text.strip_prefix('\n').map(String::from).unwrap_or(text)
}
