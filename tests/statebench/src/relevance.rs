//! Relevance of texts to a query (003 `is_relevant`, `rank_by_relevance`).

use orchestrion_ingest::stems::Stems;
use std::cmp::Reverse;

/// The number of stems that a text shares with a query.
#[must_use]
pub fn relevance(query: &Stems, text: &Stems) -> usize {
    text.intersection(query).count()
}

/// Whether a text shares a stem with a query.
#[must_use]
pub fn is_relevant(query: &Stems, text: &Stems) -> bool {
    text.intersects(query)
}

/// A line that a context may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The position among the candidates of its kind.
    pub position: usize,
    /// The relevance.
    pub relevance: usize,
    /// The line.
    pub line: String,
}

/// Sorts candidates by relevance, highest first; of equal relevance, the latest first.
pub fn rank_by_relevance(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| Reverse((candidate.relevance, candidate.position)));
}

/// Selects candidates by relevance while they fit into the characters left, each line with its end, and subtracts their length.
/// Returns the selection in order of position.
pub fn select_within_budget(mut candidates: Vec<Candidate>, chars_left: &mut usize) -> Vec<Candidate> {
    rank_by_relevance(&mut candidates);
    candidates.retain(|candidate| {
        let left = chars_left.checked_sub(candidate.line.chars().count() + 1);
        left.inspect(|left| *chars_left = *left).is_some()
    });
    candidates.sort_by_key(|candidate| candidate.position);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(position: usize, relevance: usize, line: &str) -> Candidate {
        Candidate { position, relevance, line: line.to_string() }
    }

    fn positions(candidates: &[Candidate]) -> Vec<usize> {
        candidates.iter().map(|candidate| candidate.position).collect()
    }

    #[test]
    fn shared_words_are_relevant() {
        let query = Stems::from_text("Which roofs are red?");
        assert!(is_relevant(&query, &Stems::from_text("The roof")));
        assert!(!is_relevant(&query, &Stems::from_text("Which are these?")), "function words do not count");
        assert_eq!(relevance(&query, &Stems::from_text("red roof, red door")), 2);
    }

    #[test]
    fn latest_of_equal_relevance_ranks_first() {
        let mut all = vec![candidate(1, 0, "a"), candidate(2, 1, "b"), candidate(3, 0, "c")];
        rank_by_relevance(&mut all);
        assert_eq!(positions(&all), [2, 3, 1]);
    }

    #[test]
    fn selection_skips_lines_over_budget() {
        let all = vec![candidate(1, 0, "four"), candidate(2, 2, "ü"), candidate(3, 1, "seventeen letters")];
        let mut left = 7;
        let selected = select_within_budget(all, &mut left);
        assert_eq!(positions(&selected), [1, 2]);
        assert_eq!(left, 0, "the budget counts characters and line ends");
    }
}
