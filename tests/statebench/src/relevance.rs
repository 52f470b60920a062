//! What matters to a question (003 `is_relevant`, `rank_by_relevance`).

use super::stems::Stems;
use std::cmp::Reverse;

/// How many words a text shares with a question.
#[must_use]
pub fn relevance(question: &Stems, text: &Stems) -> usize {
    text.shared(question).count()
}

/// Whether a text shares a word with a question.
#[must_use]
pub fn is_relevant(question: &Stems, text: &Stems) -> bool {
    text.meet(question)
}

/// Something that a context may show: where it stands among its kind, how relevant it is, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its place.
    pub place: usize,
    /// How relevant it is.
    pub relevance: usize,
    /// Its line.
    pub line: String,
}

/// The most relevant first; of equals the latest.
pub fn rank_by_relevance(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| Reverse((candidate.relevance, candidate.place)));
}

/// Takes by relevance what fits into so many characters, each line with its end counted, and takes them off. What is taken
/// stands in its own order again.
pub fn take_what_fits(mut candidates: Vec<Candidate>, chars_left: &mut usize) -> Vec<Candidate> {
    rank_by_relevance(&mut candidates);
    candidates.retain(|candidate| {
        let left = chars_left.checked_sub(candidate.line.chars().count() + 1);
        left.inspect(|left| *chars_left = *left).is_some()
    });
    candidates.sort_by_key(|candidate| candidate.place);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(place: usize, relevance: usize, line: &str) -> Candidate {
        Candidate { place, relevance, line: line.to_string() }
    }

    #[test]
    fn what_shares_a_word_is_relevant() {
        let question = Stems::of("Which roofs are red?");
        assert!(is_relevant(&question, &Stems::of("The roof")));
        assert!(!is_relevant(&question, &Stems::of("Which are these?")), "function words are none");
        assert_eq!(relevance(&question, &Stems::of("red roof, red door")), 2);
    }

    #[test]
    fn the_most_relevant_comes_first_and_of_equals_the_latest() {
        let mut all = vec![candidate(1, 0, "a"), candidate(2, 1, "b"), candidate(3, 0, "c")];
        rank_by_relevance(&mut all);
        assert_eq!(all.iter().map(|one| one.place).collect::<Vec<_>>(), [2, 3, 1]);
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_what_is_shorter_still_taken() {
        let all = vec![candidate(1, 0, "four"), candidate(2, 2, "ü"), candidate(3, 1, "seventeen letters")];
        let mut left = 7;
        let taken = take_what_fits(all, &mut left);
        assert_eq!(taken.iter().map(|one| one.place).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(left, 0, "characters are counted, and the end of each line");
    }
}
