//! `present`: what a module is shown (000 §5, `Ctx_M`). Reads the state, changes nothing.
//!
//! For now every item is shown, in id order, without a budget; the exact selection takes this place.

use crate::ids::ItemId;
use crate::item::Variant;
use crate::state::State;
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

/// The context of a call that the state waits for.
#[must_use]
pub fn present(state: &State) -> Context {
    let mut ids = Vec::with_capacity(state.semantic.len());
    let mut text = String::new();
    for entry in state.semantic.entries() {
        let item = &entry.item;
        ids.push(item.id);
        // Writing to a String cannot fail.
        let _ = match item.variant {
            Variant::Subtask(status) => {
                writeln!(text, "[{}] {} ({status}): {}", item.id, item.key, item.text)
            }
            Variant::Fact => writeln!(text, "[{}] {}: {}", item.id, item.key, item.text),
            Variant::Constraint(_) => writeln!(text, "[{}] constraint, {}: {}", item.id, item.key, item.text),
        };
    }
    Context { ids, cost_tokens: text.len().div_ceil(4), text }
}
