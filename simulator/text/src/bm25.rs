//! How much texts have to do with a request: Okapi BM25 (Robertson and Walker 1994; Robertson and others 1995), in integers, so
//! that every machine gives the same numbers.
//!
//! For each word of the request, however often it stands there, a text gets
//! `ln(1 + (N − n + ½) / (n + ½)) · f · (k + 1) / (f + k · (1 − b + b · l / L))` with `k` = 1.2 and `b` = 0.75: the word stands
//! `f` times in the text and in `n` of the `N` texts, and the text has `l` words where a text has `L` on average. Without the one
//! that is added within the logarithm, a word that stands in most texts would count against them. The sums are then divided by the
//! largest. Words are runs of letters and digits in small letters; nothing is left out or cut off, for a word that stands everywhere
//! weighs little.
//!
//! Deliberately absent: floats, and words of scripts that are written without spaces, where a run is as long as a sentence.

use orchestrion_kernel::Score;
use std::collections::{BTreeMap, BTreeSet};

/// Binary places of a word's weight.
const WEIGHT_PLACES: u32 = 48;

/// Binary places of what a text makes of that weight.
const SHARE_PLACES: u32 = 40;

/// How much each of the texts has to do with the request: one for the one that has most, zero for those that have no word of it. No
/// other score is zero, however little a text has to do with the request.
///
/// Scores are rounded up, and within two millionths of what the formula gives.
#[must_use]
pub fn relevance(request: &str, texts: &[&str]) -> Vec<Score> {
    let asked: BTreeSet<String> = words(request).collect();
    let asked: BTreeMap<String, usize> = asked.into_iter().zip(0..).collect();
    let found: Vec<Found> = texts.iter().map(|text| Found::of(text, &asked)).collect();
    let words_total = found.iter().map(|found| found.words).sum();
    let mut holders = vec![0; asked.len()];
    for word in found.iter().flat_map(|found| found.often.keys()) {
        holders[*word] += 1;
    }
    let weights: Vec<u64> = holders.iter().map(|holders| weight(*holders, texts.len() as u64)).collect();
    let sum = |found: &Found| -> u128 {
        let part = |(word, often): (&usize, &u64)| {
            let share = share(*often, found.words, words_total, texts.len() as u64);
            (u128::from(weights[*word]) * share).div_ceil(1 << SHARE_PLACES)
        };
        found.often.iter().map(part).sum()
    };
    let sums: Vec<u128> = found.iter().map(sum).collect();
    let largest = sums.iter().copied().max().unwrap_or_default().max(1);
    let score = |sum: u128| {
        let millionths = (sum * u128::from(Score::ONE.millionths())).div_ceil(largest);
        u32::try_from(millionths).ok().and_then(Score::from_millionths).unwrap_or(Score::ONE)
    };
    sums.into_iter().map(score).collect()
}

/// The words of a text.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// What was found in a text.
struct Found {
    /// How many words it has.
    words: u64,
    /// How often it has which of the words that were asked for, if it has them.
    often: BTreeMap<usize, u64>,
}

impl Found {
    fn of(text: &str, asked: &BTreeMap<String, usize>) -> Self {
        let mut found = Self { words: 0, often: BTreeMap::new() };
        for word in words(text) {
            found.words += 1;
            if let Some(word) = asked.get(&word) {
                *found.often.entry(*word).or_default() += 1;
            }
        }
        found
    }
}

/// The weight of a word that stands in so many of the texts. The base of the logarithm is 2, which the division by the largest sum
/// takes away again; `1 + (N − n + ½) / (n + ½)` is `(2N + 2) / (2n + 1)`.
fn weight(holders: u64, texts: u64) -> u64 {
    log2(2 * texts + 2, 2 * holders + 1)
}

/// The binary logarithm of `above / below`, which is at least 1, bit by bit: each is whether the square is 2 or more (Knuth 1968,
/// The Art of Computer Programming, 1.2.2).
///
/// It is too small, by less than 2⁻⁴⁷: all is rounded down, with 62 places, so that one bit is less than 2⁻⁶¹ too small, the
/// next half as much, and so on; and 2⁻⁴⁸ is the place that is given last.
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

/// `f · (k + 1) / (f + k · (1 − b + b · l / L))`, times ten on both sides. Below 2⁴⁰ words in all, which nobody can hand in, no
/// product is beyond 2¹²⁶.
fn share(often: u64, words: u64, words_total: u64, texts: u64) -> u128 {
    let [often, words, words_total, texts] = [often, words, words_total, texts].map(u128::from);
    let above = 22 * often * words_total;
    let below = 10 * often * words_total + 3 * words_total + 9 * words * texts;
    (above << SHARE_PLACES).div_ceil(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(request: &str, texts: &[&str], expected: &[u32]) {
        let found: Vec<u32> = relevance(request, texts).into_iter().map(Score::millionths).collect();
        assert_eq!(found, expected, "{request:?} in {texts:?}");
    }

    #[test]
    fn the_most_relevant_text_has_one_and_a_text_without_a_common_word_has_nothing() {
        check("tour", &["a tour", "no trip"], &[1_000_000, 0]);
        check("", &["a tour", "no trip"], &[0, 0]);
        check("tour", &[], &[]);
        check("tour", &["", "?!", " \n"], &[0, 0, 0]);
        check("?!", &["?!"], &[0]);
    }

    /// `l / L` is 2 / 2 throughout, so `f = 2` gives 4.4 / 3.2 = 1.375 where `f = 1` gives 1: 8 / 11 of it.
    #[test]
    fn a_word_that_stands_twice_counts_less_than_twice() {
        check("tour", &["tour tour", "tour trip"], &[1_000_000, 727_273]);
    }

    /// `l / L` is 1 / 2 and 3 / 2: 2.2 / 1.75 and 2.2 / 2.65, of which the second is 35 / 53 of the first.
    #[test]
    fn a_word_counts_less_in_a_longer_text() {
        check("tour", &["tour", "tour of everything"], &[1_000_000, 660_378]);
    }

    /// One of three texts has the one word, and two have the other: their weights are ln(8 / 3) and ln(8 / 5).
    #[test]
    fn a_rare_word_counts_more_than_a_common_one() {
        let rare = f64::ln(8.0 / 5.0) / f64::ln(8.0 / 3.0) * 1e6;
        check("tour trip", &["tour", "trip", "trip"], &[1_000_000, rare.ceil() as u32, rare.ceil() as u32]);
    }

    #[test]
    fn a_word_in_every_text_counts_for_each_of_them() {
        check("the", &["the", "the", "the"], &[1_000_000; 3]);
        let many = vec!["the"; 100_000];
        assert!(relevance("the", &many).into_iter().all(|score| score == Score::ONE));
    }

    #[test]
    fn a_request_says_a_word_once_however_often_it_says_it() {
        let texts = ["a tour to the sea", "a trip", "the tour"];
        assert_eq!(relevance("tour tour TOUR trip", &texts), relevance("Trip, tour!", &texts));
    }

    #[test]
    fn words_are_the_same_in_capitals_and_in_every_script_that_parts_them() {
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
        // Letters alone are made small: ß stays what it is.
        check("STRASSE", &["straße", "strasse"], &[0, 1_000_000]);
    }

    #[test]
    fn a_text_may_be_long_and_say_one_thing_only() {
        let endless = "tour ".repeat(1_000_000);
        let wide: String = (0..200_000).map(|word| format!("w{word} ")).collect();
        let scores = relevance(&wide, &[&endless, &wide, "w7 tour", "tour"]);
        assert_eq!(scores[1], Score::ONE);
        assert_eq!([scores[0], scores[3]], [Score::ZERO; 2]);
        assert!(Score::ZERO < scores[2] && scores[2].millionths() < 1_000);
        // A word a million times over is worth 2.2 at most, and the long text of it a little less.
        let scores = relevance("tour", &[&endless, "tour"]);
        assert_eq!(scores[0], Score::ONE);
        assert!(scores[1].millionths() > 500_000);
    }

    #[test]
    fn the_logarithm_is_too_small_by_less_than_it_says() {
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
