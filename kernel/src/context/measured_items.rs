//! The lines of items with their measures. A caller may keep them between the contexts of a conversation.

use super::text_measure::TextMeasure;
use crate::item::Item;
use crate::score::Score;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The line of an item in a context, with its measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredItem {
    /// The line.
    pub line: Arc<str>,
    /// The tokens of the line.
    pub tokens: u64,
    /// The relevance of the item's text to the request, among the texts of all candidates.
    pub relevance: Score,
}

/// Measures the candidates of a context.
///
/// A line is a function of the item and the policy, so an implementation may keep what it measured while both stay equal. Its
/// results must equal those of [`MeasureAll`].
pub trait MeasuredItems {
    /// Returns the tokens of a text that is no line of an item.
    fn tokens(&mut self, text: &str) -> u64;

    /// Measures the candidates, in their order. `line` formats the line of an item.
    fn measure(
        &mut self,
        request: &str,
        items: &[&Item],
        line: &dyn Fn(&Item) -> String,
    ) -> Vec<MeasuredItem>;
}

/// Measures every candidate from scratch.
#[derive(Clone, Copy, Debug)]
pub struct MeasureAll<'a, M>(pub &'a M);

impl<M: TextMeasure> MeasuredItems for MeasureAll<'_, M> {
    fn tokens(&mut self, text: &str) -> u64 {
        self.0.tokens(text)
    }

    fn measure(
        &mut self,
        request: &str,
        items: &[&Item],
        line: &dyn Fn(&Item) -> String,
    ) -> Vec<MeasuredItem> {
        let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
        let relevance = self.0.relevance(request, &texts);
        let relevance = relevance.into_iter().chain(core::iter::repeat(Score::ZERO));
        let measured = |(item, relevance): (&&Item, Score)| {
            let line = line(item);
            MeasuredItem { tokens: self.0.tokens(&line), line: line.into(), relevance }
        };
        items.iter().zip(relevance).map(measured).collect()
    }
}
