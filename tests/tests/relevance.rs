//! Relevance of texts to a request, against the published formula in floating point.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use orchestrion_kernel::Score;
use orchestrion_text::relevance;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The maximum deviation from the formula, in millionths.
const TOLERANCE_MILLIONTHS: f64 = 2.0;

/// Okapi BM25 over words that are numbers, in millionths of the maximum.
fn formula(request: &[u8], texts: &[Vec<u8>]) -> Vec<f64> {
    let (k, b) = (1.2, 0.75);
    let count = texts.len() as f64;
    let mean = texts.iter().map(Vec::len).sum::<usize>() as f64 / count;
    let request_words: BTreeSet<u8> = request.iter().copied().collect();
    let score = |text: &Vec<u8>| {
        let mut score = 0.0;
        for word in &request_words {
            let often = text.iter().filter(|own| *own == word).count() as f64;
            if often == 0.0 {
                continue;
            }
            let holders = texts.iter().filter(|text| text.contains(word)).count() as f64;
            let rare = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            let long = 1.0 - b + b * text.len() as f64 / mean;
            score += rare * often * (k + 1.0) / (often + k * long);
        }
        score
    };
    let scores: Vec<f64> = texts.iter().map(score).collect();
    let largest = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    scores.into_iter().map(|score| score / largest * 1e6).collect()
}

/// Returns the words as a text; separators and letter case must not matter.
fn text(words: &[u8]) -> String {
    let word = |(at, word): (usize, &u8)| match (at + usize::from(*word)) % 4 {
        0 => format!("W{word}: "),
        1 => format!("w{word}\n"),
        2 => format!("«w{word}», "),
        _ => format!("w{word} "),
    };
    words.iter().enumerate().map(word).collect()
}

fn scores(request: &[u8], texts: &[Vec<u8>]) -> Vec<Score> {
    let texts: Vec<String> = texts.iter().map(|words| text(words)).collect();
    relevance(&text(request), &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Generates a request and texts, with few or many words, of equal or very different lengths.
fn requests_and_texts() -> impl Strategy<Value = (Vec<u8>, Vec<Vec<u8>>)> {
    let word = || prop_oneof![3 => 0..6_u8, 1 => any::<u8>()];
    let text = prop_oneof![
        6 => prop::collection::vec(word(), 0..12),
        1 => prop::collection::vec(word(), 0..400),
        1 => (word(), 0..300_usize).prop_map(|(word, often)| vec![word; often]),
    ];
    (prop::collection::vec(word(), 0..8), prop::collection::vec(text, 0..40))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scores_match_formula((request, texts) in requests_and_texts()) {
        let (found, expected) = (scores(&request, &texts), formula(&request, &texts));
        prop_assert_eq!(found.len(), expected.len());
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let found = f64::from(found.millionths());
            prop_assert!((found - expected).abs() <= TOLERANCE_MILLIONTHS, "text {at}: expected {expected}, found {found}");
        }
    }

    #[test]
    fn relevance_is_one_for_best_text((request, texts) in requests_and_texts()) {
        let found = scores(&request, &texts);
        let meets = |text: &Vec<u8>| text.iter().any(|word| request.contains(word));
        for (score, text) in found.iter().zip(&texts) {
            prop_assert_eq!(*score > Score::ZERO, meets(text));
        }
        let best = if texts.iter().any(meets) { Score::ONE } else { Score::ZERO };
        prop_assert_eq!(found.into_iter().max().unwrap_or_default(), best);
    }

    #[test]
    fn relevance_is_independent_of_order((request, mut texts) in requests_and_texts()) {
        let mut found = scores(&request, &texts);
        texts.reverse();
        found.reverse();
        prop_assert_eq!(scores(&request, &texts), found);
    }
}
