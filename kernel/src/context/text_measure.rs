//! What the border says of texts: what they cost, and what they have to do with each other.

use crate::knowledge::compaction;
use crate::score::Score;
use alloc::vec;
use alloc::vec::Vec;

/// What texts cost, and how much they have to do with a request. The same texts must give the same numbers each time.
pub trait TextMeasure {
    /// The tokens of a text.
    fn tokens(&self, text: &str) -> u64;

    /// How much each of the texts has to do with the request.
    fn relevance(&self, request: &str, texts: &[&str]) -> Vec<Score>;
}

/// The measure of the kernel itself: four bytes are a token, and no text has anything to do with another.
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
