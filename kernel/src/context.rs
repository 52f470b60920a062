//! `present`: what a module is shown (000 §5, `Ctx_M`). Reads the state, changes nothing.
//!
//! Of everything that the speaker may see, the set is chosen that is worth most to the module, closed under dependencies
//! and within its budget; it is then written in the sections of 003. What a text costs, and how much it has to do with the
//! request, the border measures.

mod problem;
mod sections;
mod text_measure;

pub(crate) use problem::pinned_fit;
pub use problem::{BudgetError, ContextProblem, context_problem};
pub use text_measure::{ByteMeasure, TextMeasure};

use crate::ids::ItemId;
use crate::module::Operation;
use crate::optimizer::{SearchLimits, solve};
use crate::policy::Policy;
use crate::state::State;
use alloc::string::String;
use alloc::vec::Vec;

/// How far the search for a context goes: a conversation waits for it. What is cut short says how much better another set
/// might be.
const LIMITS: SearchLimits = SearchLimits { nodes: 2_000 };

/// A module's context: which items, how many tokens, and the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ModuleContext {
    /// The items shown, in id order.
    pub ids: Vec<ItemId>,
    /// The tokens of the text.
    pub cost_tokens: u64,
    /// What the module reads.
    pub text: String,
    /// What the items are worth to it together.
    pub utility: u64,
    /// No set of items that fits is worth more; the same as the utility, unless the search was cut short.
    pub bound: u64,
}

/// The context of a call that asks this: what was superseded, has expired, is restricted or counts elsewhere is not in it
/// (003). The summarizer is shown what it is to summarize, and nothing else.
///
/// # Errors
/// [`OverBudget`] if what must be shown does not fit.
pub fn build_context(
    policy: &Policy,
    state: &State,
    ask: Operation,
    measure: &impl TextMeasure,
) -> Result<ModuleContext, BudgetError> {
    build_context_with_problem(policy, state, ask, measure).map(|(_, context)| context)
}

/// [`present`], with the question that the context answers.
///
/// Texts that are joined may cost another number of tokens than they cost one by one. Where they come to more than fits, the
/// set is chosen anew for so much less.
///
/// # Errors
/// As [`present`].
pub fn build_context_with_problem(
    policy: &Policy,
    state: &State,
    ask: Operation,
    measure: &impl TextMeasure,
) -> Result<(ContextProblem, ModuleContext), BudgetError> {
    let room = policy.contexts.token_limit(ask.module());
    let mut budget = room;
    loop {
        let question = context_problem(policy, state, ask, budget, measure)
            // What joining the lines adds is needed too.
            .map_err(|over| BudgetError {
                required_tokens: over.required_tokens.saturating_add(room.saturating_sub(budget)),
                budget_tokens: room,
            })?;
        let answer = solve(&question.problem, LIMITS);
        let (ids, text) = question.render(&answer.selection);
        let cost_tokens = measure.tokens(&text);
        let excess = cost_tokens.saturating_sub(room);
        if excess == 0 {
            let (utility, bound) = (answer.selection.utility, answer.bound);
            return Ok((question, ModuleContext { ids, cost_tokens, text, utility, bound }));
        }
        budget = answer.selection.cost.saturating_sub(excess);
    }
}
