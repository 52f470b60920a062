//! `present`: what a module is shown (000 §5, `Ctx_M`). Reads the state, changes nothing.
//!
//! For now everything that the speaker may see is shown, in id order, without a budget; the exact selection takes this place.

use crate::ids::ItemId;
use crate::item::{Item, Standing, Variant};
use crate::knowledge::compaction;
use crate::module::Ask;
use crate::policy::Policy;
use crate::situation::{Mode, build_reasoning_context};
use crate::state::{Call, State};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

/// A module's context: which items, how many tokens, and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Context {
    /// The items shown, in the order in which they are shown.
    pub ids: Vec<ItemId>,
    /// The tokens of the text, estimated as bytes / 4, rounded up.
    pub cost_tokens: usize,
    /// What the module reads.
    pub text: String,
}

/// The context of a call that the state waits for: what was superseded, has expired, is restricted or counts elsewhere is not
/// in it (003). The summarizer is shown what it is to summarize, and nothing else.
#[must_use]
pub fn present(policy: &Policy, state: &State) -> Context {
    let known = &state.semantic;
    let cluster = match state.control.waiting() {
        Some(Call { ask: Ask::Summarize, .. }) => Some(compaction::cluster(policy, state)),
        _ => None,
    };
    let reader = known.speaker();
    let mut ids = Vec::with_capacity(known.len());
    let mut text = String::new();
    let asked = |item: &Item| cluster.as_ref().is_none_or(|cluster| cluster.binary_search(&item.id).is_ok());
    for entry in known.selectable(&reader).filter(|entry| asked(&entry.item)) {
        let Item { id, key, text: says, .. } = &entry.item;
        ids.push(*id);
        // Writing to a String cannot fail.
        let _ = match entry.item.variant {
            Variant::Subtask(status) => write!(text, "[{id}] {key} ({status})"),
            Variant::Fact => write!(text, "[{id}] {key}"),
            Variant::Constraint(None) => write!(text, "[{id}] constraint, {key}"),
            Variant::Constraint(Some(limits)) => write!(text, "[{id}] {limits} constraint, {key}"),
        };
        let review = if entry.item.standing == Standing::NeedsReview { " (needs review)" } else { "" };
        let _ = writeln!(text, "{review}: {says}");
    }
    Context { ids, cost_tokens: compaction::tokens(&text), text }
}

/// What a module that reasons in this mode is shown of the situation (002 `build_reasoning_context`): what the session's
/// summary says, or else what the running request tried; in deep mode what came of its latest action as well.
#[must_use]
pub fn reason(state: &State, mode: Mode) -> String {
    let actions = state.control.request().map(|request| request.actions.as_slice()).unwrap_or_default();
    build_reasoning_context(mode, &state.semantic.situation(), actions)
}
