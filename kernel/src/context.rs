//! `build_context`: the items and the text that a module receives with a call (000 §5, `Ctx_M`).
//!
//! The candidates are the items that the session's principal can read. A [`Selector`] chooses a subset that is closed under
//! dependencies and within the module's token budget; the kernel verifies it, and renders it in the sections of document 003.
//! The budget also covers the payload of the call (000 §5.3, decision 0033).
//! A [`TextMeasure`] supplies token counts and relevance.
//!
//! Deliberately absent: the search for the subset, tokenizers, and relevance. They are outside the kernel.

mod error;
mod measured_items;
mod module_context;
mod problem;
mod sections;
mod selection_status;
mod text_measure;

pub use error::{BudgetError, ContextError, TokenizerUnavailable};
pub use measured_items::{MeasureAll, MeasuredItem, MeasuredItems};
pub use module_context::ModuleContext;
pub use problem::{ContextProblem, context_problem};
pub(crate) use problem::{certainly_fits, pinned_fit};
pub use selection_status::SelectionStatus;
pub use text_measure::{ByteMeasure, TextMeasure};

use crate::module::Operation;
use crate::policy::Policy;
use crate::selection::{Problem, Selection, check_selection};
use crate::state::State;
use alloc::boxed::Box;
use core::fmt;

/// Chooses the candidates of a context. It is not trusted: the kernel verifies each selection.
pub trait Selector {
    /// Returns a valid selection of the problem, the better the larger its utility.
    fn select(&self, problem: &Problem) -> Selected;
}

/// A selector's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The chosen candidates.
    pub selection: Selection,
    /// What the selector proved. The kernel cannot verify it without a certificate, and refuses only a bound below the utility.
    pub status: SelectionStatus,
}

/// Builds the contexts of a conversation. Recording, replay and the runtime receive one, so that they depend on neither a
/// tokenizer nor an optimizer.
pub trait ContextBuilder: fmt::Debug + Send + Sync {
    /// Checks that contexts can be built under this policy.
    ///
    /// # Errors
    /// [`TokenizerUnavailable`] if the policy's tokenizer is not part of this program.
    fn check_policy(&self, policy: &Policy) -> Result<(), TokenizerUnavailable>;

    /// Builds the context of a call with this operation, which [takes one](Operation::takes_context).
    ///
    /// # Errors
    /// As [`build_context`], and as [`ContextBuilder::check_policy`].
    fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError>;

    /// Creates a builder for the successive contexts of one conversation, if there is a faster one than [`build`](Self::build).
    fn create_incremental(&self) -> Option<Box<dyn IncrementalContexts>> {
        None
    }
}

/// Builds the successive contexts of one conversation, and keeps what it computed. Each context equals that of
/// [`ContextBuilder::build`].
pub trait IncrementalContexts: fmt::Debug + Send + Sync {
    /// Builds a context, as [`ContextBuilder::build`] does.
    ///
    /// # Errors
    /// As [`ContextBuilder::build`].
    fn build(
        &mut self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError>;
}

/// Builds the context of a call with this operation, which [takes one](Operation::takes_context). Superseded, expired, restricted and out-of-scope items are never
/// candidates (003). The summarizer's context is the cluster, and nothing else.
///
/// ```
/// use orchestrion_kernel::context::{
///     ByteMeasure, Selected, SelectionStatus, Selector, build_context,
/// };
/// use orchestrion_kernel::module::Operation;
/// use orchestrion_kernel::selection::{Problem, Selection};
/// use orchestrion_kernel::{ConversationId, Policy, State};
///
/// /// Selects nothing: valid as long as no candidate is pinned.
/// struct Nothing;
///
/// impl Selector for Nothing {
///     fn select(&self, _: &Problem) -> Selected {
///         Selected {
///             selection: Selection::default(),
///             status: SelectionStatus::NotProven { bound: u64::MAX },
///         }
///     }
/// }
///
/// let state = State::new(ConversationId::new("demo"));
/// let context =
///     build_context(&Policy::hardened(), &state, Operation::DraftPlan, &ByteMeasure, &Nothing).unwrap();
/// assert!(context.ids.is_empty() && context.text.is_empty());
/// ```
///
/// # Errors
/// [`ContextError::OverBudget`] if the pinned items and the payload exceed the budget; [`ContextError::InvalidSelection`] if the selector
/// returns a selection that is not valid; [`ContextError::InvalidBound`] if its bound is below the utility.
pub fn build_context(
    policy: &Policy,
    state: &State,
    operation: Operation,
    measure: &impl TextMeasure,
    selector: &impl Selector,
) -> Result<ModuleContext, ContextError> {
    build_context_with_problem(policy, state, operation, measure, selector).map(|(_, context)| context)
}

/// Builds a context as [`build_context`] does, and returns it with the problem that it solves.
///
/// Joined texts may cost more tokens than their parts. If the rendered text and the payload exceed the budget, the selection is repeated
/// with a budget that is lower by the excess. The first selection then determines the bound, because it alone used the whole
/// budget; and the status is [`SelectionStatus::NotProven`], because a larger selection may still fit as a text.
///
/// # Errors
/// As [`build_context`].
pub fn build_context_with_problem(
    policy: &Policy,
    state: &State,
    operation: Operation,
    measure: &impl TextMeasure,
    selector: &impl Selector,
) -> Result<(ContextProblem, ModuleContext), ContextError> {
    build_context_of_items(policy, state, operation, &mut MeasureAll(measure), selector)
}

/// Builds a context as [`build_context_with_problem`] does, from items that a caller measured.
///
/// # Errors
/// As [`build_context`].
pub fn build_context_of_items(
    policy: &Policy,
    state: &State,
    operation: Operation,
    items: &mut impl MeasuredItems,
    selector: &impl Selector,
) -> Result<(ContextProblem, ModuleContext), ContextError> {
    let limit = policy.contexts.token_limit(operation.module());
    let mut budget = limit;
    let mut whole_budget_bound = None;
    loop {
        let problem = problem::problem_of_items(policy, state, operation, budget, items)
            // The excess of the joined text is required too.
            .map_err(|over| BudgetError {
                required_tokens: over.required_tokens.saturating_add(limit.saturating_sub(budget)),
                budget_tokens: limit,
            })?;
        let Selected { selection, status } = selector.select(&problem.problem);
        check_selection(&problem.problem, &selection)?;
        let bound = status.bound(selection.utility);
        if bound < selection.utility {
            return Err(ContextError::InvalidBound { utility: selection.utility, bound });
        }
        let (ids, text) = problem.render(&selection);
        let cost_tokens = items.tokens(&text);
        let payload_tokens = problem.payload_tokens;
        let excess = cost_tokens.saturating_add(payload_tokens).saturating_sub(limit);
        if excess == 0 {
            let status = whole_budget_bound.map_or(status, |bound| SelectionStatus::NotProven { bound });
            let utility = selection.utility;
            let context = ModuleContext { ids, cost_tokens, payload_tokens, text, utility, status };
            return Ok((problem, context));
        }
        whole_budget_bound.get_or_insert(bound);
        budget = selection.cost.saturating_sub(excess);
    }
}
