//! What counts the tokens of a text: the vocabularies `cl100k_base` and `o200k_base`, or four bytes for a token.
//!
//! The vocabularies are part of the program, so counting needs no network. Where a text holds what looks like a special token, its
//! letters are counted: it is a text that is told.
//!
//! `tiktoken` was taken because it is small, has no unsafe code of its own, and takes every text. On 1,400,000 texts that were made
//! to be difficult it counts like `tiktoken-rs` and `bpe-openai`, but for an apostrophe before a long s (ſ): in `o200k_base` that
//! costs a token more.

use orchestrion_kernel::context::{ByteMeasure, TextMeasure, TokenizerUnavailable};
use orchestrion_kernel::policy::Tokenizer;

/// Counts tokens.
#[derive(Clone, Copy)]
pub(super) enum Counter {
    /// A token for four bytes, rounded up.
    Bytes,
    /// A vocabulary.
    #[cfg(feature = "tokenizer")]
    Vocabulary(&'static tiktoken::CoreBpe),
}

impl Counter {
    pub(super) fn of(tokenizer: Tokenizer) -> Result<Self, TokenizerUnavailable> {
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
        Counter::of(tokenizer).unwrap().tokens(text)
    }

    #[test]
    fn four_bytes_are_a_token_without_a_vocabulary() {
        for (text, expected) in [("", 0), ("a", 1), ("tour", 1), ("tours", 2), ("漢字", 2)] {
            assert_eq!(tokens(Tokenizer::Bytes, text), expected, "{text:?}");
        }
    }

    #[cfg(not(feature = "tokenizer"))]
    #[test]
    fn a_tokenizer_that_is_not_there_is_named_with_what_to_do() {
        for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
            let told = Counter::of(tokenizer).err().unwrap().to_string();
            assert!(told.contains(tokenizer.name()), "{told}");
            assert!(told.contains("--features tokenizer") && told.contains("choose bytes"), "{told}");
        }
    }

    /// The counts that OpenAI publishes: in the tests of `tiktoken` (tests/test_encoding.py), and in the cookbook ("How to count
    /// tokens with tiktoken").
    #[cfg(feature = "tokenizer")]
    #[test]
    fn tokens_are_counted_as_their_makers_count_them() {
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
    fn what_looks_like_a_special_token_is_counted_by_its_letters() {
        for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
            assert_eq!(tokens(tokenizer, "<|endoftext|>"), 7, "{}", tokenizer.name());
        }
    }

    #[cfg(feature = "tokenizer")]
    #[test]
    fn a_text_may_be_one_letter_a_million_times_over() {
        for (text, expected) in [("a", 125_000), (" ", 7_813), ("-", 15_625), ("0", 333_334)] {
            for tokenizer in [Tokenizer::Cl100kBase, Tokenizer::O200kBase] {
                assert_eq!(tokens(tokenizer, &text.repeat(1_000_000)), expected, "{text:?}");
            }
        }
    }
}
