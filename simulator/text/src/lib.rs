//! Token counts and relevance of texts, for a kernel that reads no text.
//!
//! Entry points: [`StandardContexts`] builds the contexts of a conversation, [`build_context_with_selector`] those of another
//! selector; [`PolicyMeasure`] measures texts; [`relevance`] scores texts against a request. Contexts depend on these numbers and a replay computes them again, so they are equal on
//! every machine.

mod bm25;
mod incremental;
mod known_problem;
mod tokens;

pub use bm25::relevance;

use incremental::StandardIncremental;
use orchestrion_kernel::context::{
    ByteMeasure, ContextBuilder, ContextError, IncrementalContexts, Selector, TextMeasure,
    TokenizerUnavailable, build_context, context_problem,
};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Tokenizer;
use orchestrion_kernel::{ModuleContext, Policy, Score, State};
use orchestrion_optimizer::ExactSelector;
use tokens::TokenCounter;

/// The measure for context selection: a tokenizer for costs, BM25 for relevance.
#[derive(Clone, Copy)]
pub struct PolicyMeasure {
    tokenizer: Tokenizer,
    counter: TokenCounter,
}

impl PolicyMeasure {
    /// Creates the measure of a policy.
    ///
    /// # Errors
    /// [`TokenizerUnavailable`] if this build does not contain the tokenizer.
    pub fn from_policy(policy: &Policy) -> Result<Self, TokenizerUnavailable> {
        Self::from_tokenizer(policy.contexts.tokenizer)
    }

    /// Creates the measure with this tokenizer.
    ///
    /// # Errors
    /// [`TokenizerUnavailable`] if this build does not contain the tokenizer.
    pub fn from_tokenizer(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
        Ok(Self { tokenizer, counter: TokenCounter::new(tokenizer)? })
    }
}

impl std::fmt::Debug for PolicyMeasure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyMeasure").field("tokenizer", &self.tokenizer).finish_non_exhaustive()
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
        PolicyMeasure::from_policy(policy).map(|_| ())
    }

    fn build(
        &self,
        policy: &Policy,
        state: &State,
        operation: Operation,
    ) -> Result<ModuleContext, ContextError> {
        build_context_with_selector(policy, state, operation, &ExactSelector::from_policy(policy))
    }

    fn create_incremental(&self) -> Option<Box<dyn IncrementalContexts>> {
        Some(Box::<StandardIncremental>::default())
    }
}

/// Builds a context as [`StandardContexts`] does, with another selector.
///
/// # Errors
/// As [`ContextBuilder::build`].
pub fn build_context_with_selector(
    policy: &Policy,
    state: &State,
    operation: Operation,
    selector: &impl Selector,
) -> Result<ModuleContext, ContextError> {
    let measure = checked_measure(policy, state, operation)?;
    build_context(policy, state, operation, &measure, selector)
}

/// Returns the measure of the policy, after the check that the kernel does not find the call over budget.
fn checked_measure(
    policy: &Policy,
    state: &State,
    operation: Operation,
) -> Result<PolicyMeasure, ContextError> {
    let measure = PolicyMeasure::from_policy(policy)?;
    if policy.contexts.tokenizer != Tokenizer::Bytes {
        // The kernel counts pinned items in bytes, and refuses the reply to a call that it finds over budget.
        let limit = policy.contexts.token_limit(operation.module());
        context_problem(policy, state, operation, limit, &ByteMeasure)?;
    }
    Ok(measure)
}
