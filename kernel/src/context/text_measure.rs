//! Token counts and relevance of texts.

use crate::knowledge::compaction;
use crate::score::Score;
use alloc::vec;
use alloc::vec::Vec;

/// Counts tokens and measures relevance. Must be deterministic.
pub trait TextMeasure {
    /// Returns the number of tokens of a text.
    fn tokens(&self, text: &str) -> u64;

    /// Returns the relevance of each text to the request, in the order of `texts`.
    fn relevance(&self, request: &str, texts: &[&str]) -> Vec<Score>;
}

/// The kernel's own measure: four bytes per token, and relevance 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteMeasure;

impl TextMeasure for ByteMeasure {
    fn tokens(&self, text: &str) -> u64 {
        u64::try_from(compaction::estimate_tokens(text)).unwrap_or(u64::MAX)
    }

    fn relevance(&self, _request: &str, texts: &[&str]) -> Vec<Score> {
        vec![Score::ZERO; texts.len()]
    }
}
