//! Relevance of texts: Okapi BM25 (Robertson and Walker 1994; Robertson and others 1995), in integers, so that every machine
//! computes the same numbers.
//!
//! For each distinct word of the request, a text scores
//! `ln(1 + (N − n + ½) / (n + ½)) · f · (k + 1) / (f + k · (1 − b + b · l / L))` with `k` = 1.2 and `b` = 0.75. The word occurs
//! `f` times in the text and in `n` of the `N` texts. The text has `l` words; the average text has `L`. The added 1 within the
//! logarithm keeps the weight of frequent words positive. The sums are divided by the largest. Words are runs of letters and
//! digits in lower case. There are no stop words and no stemming, because a frequent word has a small weight.
//!
//! Deliberately absent: floats, and word segmentation for scripts without spaces.

use orchestrion_kernel::Score;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Binary places of a word's weight.
const WEIGHT_PLACES: u32 = 48;

/// Binary places of a text's share of that weight.
const SHARE_PLACES: u32 = 40;

/// Returns the relevance of each text: one for the most relevant text, zero exactly for texts without a word of the request.
///
/// Scores are rounded up and within two millionths of the formula.
#[must_use]
pub fn relevance(request: &str, texts: &[&str]) -> Vec<Score> {
    let request_words = request_words(request);
    let counts: Vec<WordCounts> =
        texts.iter().map(|text| TextWords::new(text).count(&request_words)).collect();
    let counts: Vec<&WordCounts> = counts.iter().collect();
    scores(request_words.len(), &counts, &mut Weights::default())
}

/// Returns the distinct words of a request, in order.
pub(super) fn request_words(request: &str) -> Vec<String> {
    words(request).collect::<BTreeSet<String>>().into_iter().collect()
}

/// Returns the relevance of each text to a request with so many distinct words.
pub(super) fn scores(request_words: usize, texts: &[&WordCounts], known: &mut Weights) -> Vec<Score> {
    let texts_total = texts.len() as u64;
    let words_total = texts.iter().map(|text| text.words).sum();
    let mut containing = vec![0; request_words];
    for (word, _) in texts.iter().flat_map(|text| &text.occurrences) {
        containing[*word] += 1;
    }
    let weights: Vec<u64> =
        containing.iter().map(|containing| known.weight(*containing, texts_total)).collect();
    let sum = |text: &&WordCounts| -> u128 {
        let part = |(word, occurrences): &(usize, u64)| {
            let share = share(*occurrences, text.words, words_total, texts_total);
            (u128::from(weights[*word]) * share).div_ceil(1 << SHARE_PLACES)
        };
        text.occurrences.iter().map(part).sum()
    };
    let sums: Vec<u128> = texts.iter().map(sum).collect();
    let largest = sums.iter().copied().max().unwrap_or_default().max(1);
    let score = |sum: u128| {
        let millionths = (sum * u128::from(Score::ONE.millionths())).div_ceil(largest);
        u32::try_from(millionths).ok().and_then(Score::from_millionths).unwrap_or(Score::ONE)
    };
    sums.into_iter().map(|sum| if sum == 0 { Score::ZERO } else { score(sum) }).collect()
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The words of a text, independent of a request.
#[derive(Debug)]
pub(super) struct TextWords {
    /// The number of words.
    words: u64,
    /// The distinct words in order, each with its occurrences.
    distinct: Box<[(Box<str>, u64)]>,
}

/// The occurrences of the words of a request in a text.
#[derive(Debug)]
pub(super) struct WordCounts {
    /// The number of words of the text.
    words: u64,
    /// The words of the request that occur, by their index, each with its occurrences.
    occurrences: Vec<(usize, u64)>,
}

impl TextWords {
    pub(super) fn new(text: &str) -> Self {
        let mut counts = BTreeMap::<String, u64>::new();
        for word in words(text) {
            *counts.entry(word).or_default() += 1;
        }
        let words = counts.values().sum();
        let distinct = counts.into_iter().map(|(word, count)| (word.into_boxed_str(), count)).collect();
        Self { words, distinct }
    }

    /// Counts the words of a request.
    pub(super) fn count(&self, request_words: &[String]) -> WordCounts {
        let find = |word: &String| {
            let at = self.distinct.binary_search_by(|(own, _)| (**own).cmp(word)).ok()?;
            self.distinct.get(at).map(|(_, count)| *count)
        };
        let found = request_words.iter().enumerate().filter_map(|(at, word)| Some((at, find(word)?)));
        WordCounts { words: self.words, occurrences: found.collect() }
    }
}

/// Weights of words that were computed before. A logarithm takes longer than all else for a word.
#[derive(Debug, Default)]
pub(super) struct Weights(HashMap<(u64, u64), u64>);

impl Weights {
    /// The maximum number of weights.
    const LEN_MAX: usize = 1024;

    fn weight(&mut self, containing: u64, texts: u64) -> u64 {
        if self.0.len() == Self::LEN_MAX {
            self.0.clear();
        }
        *self.0.entry((containing, texts)).or_insert_with(|| weight(containing, texts))
    }
}

/// Returns the weight of a word that occurs in `containing` of the texts. The base of the logarithm is 2; the division by the
/// largest sum cancels it. `1 + (N − n + ½) / (n + ½)` is `(2N + 2) / (2n + 1)`.
fn weight(containing: u64, texts: u64) -> u64 {
    log2(2 * texts + 2, 2 * containing + 1)
}

/// Returns the binary logarithm of `above / below`, which is at least 1. Each bit states whether the square is at least 2 (Knuth
/// 1968, The Art of Computer Programming, 1.2.2).
///
/// The result is too small by less than 2⁻⁴⁷: each operation rounds down at 62 places, so the errors of the bits sum to less
/// than 2⁻⁶⁰, and the last place is 2⁻⁴⁸.
fn log2(above: u64, below: u64) -> u64 {
    const ONE: u128 = 1 << 62;
    let whole = (above / below).ilog2();
    let mut rest = (u128::from(above) * ONE / u128::from(below)) >> whole;
    let mut logarithm = u64::from(whole);
    for _ in 0..WEIGHT_PLACES {
        rest = (rest * rest) / ONE;
        let is_twice = rest >= 2 * ONE;
        rest >>= u32::from(is_twice);
        logarithm = 2 * logarithm + u64::from(is_twice);
    }
    logarithm
}

/// Returns `f · (k + 1) / (f + k · (1 − b + b · l / L))`, with numerator and denominator times ten. Below 2⁴⁰ words in total, no
/// product exceeds 2¹²⁶.
fn share(occurrences: u64, words: u64, words_total: u64, texts: u64) -> u128 {
    let [occurrences, words, words_total, texts] = [occurrences, words, words_total, texts].map(u128::from);
    let above = 22 * occurrences * words_total;
    let below = 10 * occurrences * words_total + 3 * words_total + 9 * words * texts;
    let above = above << SHARE_PLACES;
    // A machine divides 64 bits far faster than 128.
    match (u64::try_from(above), u64::try_from(below)) {
        (Ok(above), Ok(below)) => u128::from(above.div_ceil(below)),
        _ => above.div_ceil(below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &str, texts: &[&str], expected: &[u32]) {
        let found: Vec<u32> = relevance(request, texts).into_iter().map(Score::millionths).collect();
        assert_eq!(found, expected, "{request:?} in {texts:?}");
    }

    #[test]
    fn scores_range_from_zero_to_one() {
        check("tour", &["a tour", "no trip"], &[1_000_000, 0]);
        check("", &["a tour", "no trip"], &[0, 0]);
        check("tour", &[], &[]);
        check("tour", &["", "?!", " \n"], &[0, 0, 0]);
        check("?!", &["?!"], &[0]);
    }

    /// `l / L` is 2 / 2 throughout, so `f = 2` gives 4.4 / 3.2 = 1.375 where `f = 1` gives 1: 8 / 11 of it.
    #[test]
    fn repeated_word_counts_less_than_twice() {
        check("tour", &["tour tour", "tour trip"], &[1_000_000, 727_273]);
    }

    /// `l / L` is 1 / 2 and 3 / 2: 2.2 / 1.75 and 2.2 / 2.65, of which the second is 35 / 53 of the first.
    #[test]
    fn word_counts_less_in_longer_text() {
        check("tour", &["tour", "tour of everything"], &[1_000_000, 660_378]);
    }

    /// One of three texts contains the first word, two contain the second: the weights are ln(8 / 3) and ln(8 / 5).
    #[test]
    fn rare_word_counts_more_than_common_word() {
        let rare = f64::ln(8.0 / 5.0) / f64::ln(8.0 / 3.0) * 1e6;
        check("tour trip", &["tour", "trip", "trip"], &[1_000_000, rare.ceil() as u32, rare.ceil() as u32]);
    }

    #[test]
    fn word_in_every_text_counts() {
        check("the", &["the", "the", "the"], &[1_000_000; 3]);
        let many = vec!["the"; 100_000];
        assert!(relevance("the", &many).into_iter().all(|score| score == Score::ONE));
    }

    #[test]
    fn repetition_in_request_changes_nothing() {
        let texts = ["a tour to the sea", "a trip", "the tour"];
        assert_eq!(relevance("tour tour TOUR trip", &texts), relevance("Trip, tour!", &texts));
    }

    #[test]
    fn words_are_case_insensitive_in_all_scripts() {
        for (request, text) in [
            ("ΟΔΟΣ", "η οδος"),
            ("МОСКВА", "из Москва-реки"),
            ("straße 7", "STRASSE, 7"),
            ("القاهرة", "إلى القاهرة."),
            ("서울 여행", "여행: 서울"),
            ("漢字", "これは、漢字。"),
            ("x2", "y1;X2"),
        ] {
            check(request, &[text, "–"], &[1_000_000, 0]);
        }
        // Lower case maps single characters: ß is unchanged.
        check("STRASSE", &["straße", "strasse"], &[0, 1_000_000]);
    }

    #[test]
    fn long_repetitive_texts_are_scored() {
        let repetitive = "tour ".repeat(1_000_000);
        let wide: String = (0..200_000).map(|word| format!("w{word} ")).collect();
        let scores = relevance(&wide, &[&repetitive, &wide, "w7 tour", "tour"]);
        assert_eq!(scores[1], Score::ONE);
        assert_eq!([scores[0], scores[3]], [Score::ZERO; 2]);
        assert!(Score::ZERO < scores[2] && scores[2].millionths() < 1_000);
        // A word repeated a million times scores at most 2.2, and a little less in a long text.
        let scores = relevance("tour", &[&repetitive, "tour"]);
        assert_eq!(scores[0], Score::ONE);
        assert!(scores[1].millionths() > 500_000);
    }

    #[test]
    fn logarithm_is_within_its_error_bound() {
        let places = f64::from(WEIGHT_PLACES).exp2();
        for exponent in 0..=62 {
            assert_eq!(log2(1 << exponent, 1), exponent << WEIGHT_PLACES);
        }
        for (above, below) in
            [(4, 3), (8, 3), (1_000_002, 1_000_001), (u64::MAX, 1), (u64::MAX, u64::MAX - 1)]
        {
            let exact = (above as f64 / below as f64).log2();
            let found = log2(above, below) as f64 / places;
            assert!((exact - found).abs() < 1e-13, "log2({above} / {below}) is {exact}, not {found}");
        }
    }
}
