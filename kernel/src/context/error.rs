//! Why a context cannot be built.

use crate::policy::Tokenizer;
use crate::selection::SelectionError;
use core::fmt;

/// The pinned items, their dependencies and the payload of the call exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetError {
    /// The tokens of the pinned items with all their dependencies, and of the payload.
    pub required_tokens: u64,
    /// The token budget of the module.
    pub budget_tokens: u64,
}

/// The policy's tokenizer is not part of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenizerUnavailable(pub Tokenizer);

impl TokenizerUnavailable {
    /// How to get the tokenizer, or do without it.
    pub const HELP: &'static str =
        "build the program with the feature `tokenizer`, or set `contexts.tokenizer: bytes`";
}

/// Why a context cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextError {
    /// The pinned items and the payload exceed the budget.
    OverBudget(BudgetError),
    /// The policy's tokenizer is not part of this program.
    TokenizerUnavailable(TokenizerUnavailable),
    /// The selector returned a selection that is not valid.
    InvalidSelection(SelectionError),
    /// The selector returned a bound below the utility of its own valid selection.
    InvalidBound {
        /// The utility of the selection.
        utility: u64,
        /// The bound.
        bound: u64,
    },
}

impl From<BudgetError> for ContextError {
    fn from(error: BudgetError) -> Self {
        Self::OverBudget(error)
    }
}

impl From<TokenizerUnavailable> for ContextError {
    fn from(error: TokenizerUnavailable) -> Self {
        Self::TokenizerUnavailable(error)
    }
}

impl From<SelectionError> for ContextError {
    fn from(error: SelectionError) -> Self {
        Self::InvalidSelection(error)
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { required_tokens, budget_tokens } = self;
        write!(
            f,
            "context over budget: expected at most {budget_tokens} tokens, found {required_tokens} in pinned items, their \
             dependencies and the payload; raise the budget"
        )
    }
}

impl fmt::Display for TokenizerUnavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tokenizer {} is not part of this program; {}", self.0.name(), Self::HELP)
    }
}

impl fmt::Display for ContextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverBudget(error) => error.fmt(f),
            Self::TokenizerUnavailable(error) => error.fmt(f),
            Self::InvalidSelection(error) => write!(f, "the selector returned an invalid selection: {error}"),
            Self::InvalidBound { utility, bound } => write!(
                f,
                "the selector returned an invalid bound: expected at least the utility {utility}, found {bound}"
            ),
        }
    }
}

impl core::error::Error for BudgetError {}

impl core::error::Error for TokenizerUnavailable {}

impl core::error::Error for ContextError {}
