//! Token counters: the vocabularies `cl100k_base` and `o200k_base`, or one token for four bytes.
//!
//! The build contains the vocabularies, so counting needs no network. A special token within a text is counted as ordinary
//! text.
//!
//! `tiktoken` is small, has no unsafe code of its own and accepts every text. On 1,400,000 difficult texts it agrees with
//! `tiktoken-rs` and `bpe-openai`, with one exception: an apostrophe before a long s (ſ) costs one token more in
//! `o200k_base`.

use orchestrion_kernel::context::{ByteMeasure, TextMeasure, TokenizerUnavailable};
use orchestrion_kernel::policy::Tokenizer;

/// Counts the tokens of a text.
#[derive(Clone, Copy)]
pub(super) enum TokenCounter {
    /// One token for four bytes, rounded up.
    Bytes,
    /// The tokens of a vocabulary.
    #[cfg(feature = "tokenizer")]
    Vocabulary(&'static tiktoken::CoreBpe),
}

impl TokenCounter {
    pub(super) fn new(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
        match tokenizer {
            Tokenizer::Bytes => Ok(Self::Bytes),
            Tokenizer::Cl100kBase | Tokenizer::O200kBase => Self::vocabulary(tokenizer),
        }
    }

    #[cfg(feature = "tokenizer")]
    fn vocabulary(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
        tiktoken::get_encoding(tokenizer.name()).map(Self::Vocabulary).ok_or(TokenizerUnavailable(tokenizer))
    }

    #[cfg(not(feature = "tokenizer"))]
    const fn vocabulary(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
        Err(TokenizerUnavailable(tokenizer))
    }

    pub(super) fn tokens(self, text: &str) -> u64 {
        match self {
            Self::Bytes => ByteMeasure.tokens(text),
            #[cfg(feature = "tokenizer")]
            Self::Vocabulary(vocabulary) => vocabulary.count(text) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokenizer: Tokenizer, text: &str) -> u64 {
        TokenCounter::new(tokenizer).unwrap().tokens(text)
    }

    #[test]
    fn bytes_tokenizer_counts_four_bytes_per_token() {
        for (text, expected) in [("", 0), ("a", 1), ("tour", 1), ("tours", 2), ("漢字", 2)] {
            assert_eq!(tokens(Tokenizer::Bytes, text), expected, "{text:?}");
        }
    }

    #[cfg(not(feature = "tokenizer"))]
    #[test]
    fn unavailable_tokenizer_error_names_remedies() {
        for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
            let message = TokenCounter::new(tokenizer).err().unwrap().to_string();
            assert!(message.contains(tokenizer.name()), "{message}");
            for remedy in ["the feature `tokenizer`", "`contexts.tokenizer: bytes`"] {
                assert!(message.contains(remedy), "{message}");
            }
        }
    }

    /// Counts published by OpenAI: the tests of `tiktoken` (tests/test_encoding.py) and the cookbook ("How to count tokens with
    /// tiktoken").
    #[cfg(feature = "tokenizer")]
    #[test]
    fn counts_match_published_counts() {
        let both = [("", 0), ("hello world", 2), ("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7)];
        let cl100k_base = [
            ("tiktoken is great!", 6),
            ("お誕生日おめでとう", 9),
            ("rer", 1),
            ("'rer", 2),
            ("today\n ", 3),
            ("today\n \n", 2),
            ("today\n  \n", 2),
            (" \u{85}0", 4),
            ("👍", 3),
        ];
        let o200k_base = [("お誕生日おめでとう", 8)];
        for (tokenizer, own) in
            [(Tokenizer::Cl100kBase, &cl100k_base[..]), (Tokenizer::O200kBase, &o200k_base[..])]
        {
            for (text, expected) in both.iter().chain(own) {
                assert_eq!(tokens(tokenizer, text), *expected, "{text:?} in {}", tokenizer.name());
            }
        }
    }

    #[cfg(feature = "tokenizer")]
    #[test]
    fn special_tokens_are_counted_as_text() {
        for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
            assert_eq!(tokens(tokenizer, "<|endoftext|>"), 7, "{}", tokenizer.name());
        }
    }

    #[cfg(feature = "tokenizer")]
    #[test]
    fn repeated_characters_are_counted() {
        for (text, expected) in [("a", 125_000), (" ", 7_813), ("-", 15_625), ("0", 333_334)] {
            for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
                assert_eq!(tokens(tokenizer, &text.repeat(1_000_000)), expected, "{text:?}");
            }
        }
    }
}
