//! What texts cost, and how much they have to do with a request: measured here, for a kernel that reads no text.
//!
//! Numbers from here decide what a module is shown, and a replay works them out again; so they are the same on every machine.

mod bm25;
mod tokens;

pub use bm25::relevance;
pub use tokens::TokenizerUnavailable;

use orchestrion_kernel::context::{BudgetError, ByteMeasure, TextMeasure, context_problem};
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::policy::Tokenizer;
use orchestrion_kernel::{ModuleContext, Policy, Score, State, build_context};
use thiserror::Error;
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

/// Why a module is shown nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContextError {
    /// What must be shown does not fit.
    #[error(transparent)]
    OverBudget(#[from] BudgetError),
    /// Nobody here counts as the policy wants it.
    #[error(transparent)]
    NotBuiltIn(#[from] TokenizerUnavailable),
}

/// The context of a call that asks this, with costs and relevance as they are measured here.
///
/// # Errors
/// [`NotShown`]; also where what must be shown does not fit only as the kernel counts, for it takes no answer then.
pub fn measure_context(
    policy: &Policy,
    state: &State,
    ask: Operation,
) -> Result<ModuleContext, ContextError> {
    let border = PolicyMeasure::of(policy)?;
    if policy.contexts.tokenizer != Tokenizer::Bytes {
        let room = policy.contexts.token_limit(ask.module());
        context_problem(policy, state, ask, room, &ByteMeasure)?;
    }
    Ok(build_context(policy, state, ask, &border)?)
}

#[cfg(all(test, not(feature = "tokenizer")))]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_wants_a_tokenizer_which_is_not_there_is_refused_where_it_is_read() {
        for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
            let mut policy = Policy::hardened();
            policy.contexts.tokenizer = tokenizer;
            assert_eq!(Border::of(&policy).err(), Some(NotBuiltIn(tokenizer)));
            let file = format!("name: counted\ncontexts: {{tokenizer: {}}}\n", tokenizer.name());
            let read = crate::policy_file::parse("counted.yaml", &file, std::path::Path::new(""));
            let told = format!("{:?}", miette::Report::new(read.err().unwrap()));
            assert!(told.contains("is not part of this program"), "{told}");
            assert!(told.contains("--features tokenizer"), "{told}");
        }
    }
}
