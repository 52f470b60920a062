//! What texts cost, and how much they have to do with a request: measured here, for a kernel that reads no text.
//!
//! Numbers from here decide what a module is shown, and a replay works them out again; so they are the same on every machine.

mod bm25;
mod tokens;

pub use bm25::relevance;

use orchestrion_kernel::context::{
    ByteMeasure, ContextBuilder, ContextError, TextMeasure, TokenizerUnavailable, build_context,
    context_problem,
};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Tokenizer;
use orchestrion_kernel::{ModuleContext, Policy, Score, State};
use orchestrion_optimizer::ExactSelector;
use tokens::Counter;

/// The measure by which contexts are chosen: a tokenizer for what texts cost, BM25 for what they have to do with a request.
#[derive(Clone, Copy)]
pub struct PolicyMeasure {
    tokenizer: Tokenizer,
    counter: Counter,
}

impl PolicyMeasure {
    /// The measure that a policy asks for.
    ///
    /// # Errors
    /// [`NotBuiltIn`] if this program has no such tokenizer.
    pub fn of(policy: &Policy) -> Result<Self, TokenizerUnavailable> {
        Self::with(policy.contexts.tokenizer)
    }

    /// The measure with this tokenizer.
    ///
    /// # Errors
    /// As [`Border::of`].
    pub fn with(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
        Ok(Self { tokenizer, counter: Counter::of(tokenizer)? })
    }
}

impl std::fmt::Debug for PolicyMeasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Border").field("tokenizer", &self.tokenizer).finish_non_exhaustive()
    }
}

impl TextMeasure for PolicyMeasure {
    fn tokens(&self, text: &str) -> u64 {
        self.counter.tokens(text)
    }

    fn relevance(&self, request: &str, texts: &[&str]) -> Vec<Score> {
        relevance(request, texts)
    }
}

/// Builds contexts with a policy's tokenizer, BM25 relevance and the exact optimizer.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardContexts;

impl ContextBuilder for StandardContexts {
    fn check_policy(&self, policy: &Policy) -> Result<(), TokenizerUnavailable> {
        PolicyMeasure::of(policy).map(|_| ())
    }

    fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        let measure = PolicyMeasure::of(policy)?;
        if policy.contexts.tokenizer != Tokenizer::Bytes {
            // The kernel counts pinned items in bytes, and refuses the reply to a call that it finds over budget.
            let limit = policy.contexts.token_limit(operation.module());
            context_problem(policy, state, operation, limit, &ByteMeasure)?;
        }
        build_context(policy, state, operation, &measure, &ExactSelector::default())
    }
}
