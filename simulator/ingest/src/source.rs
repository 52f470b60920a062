//! Sources of facts (003 `determine_source`).

use crate::ranks::{is_session_user, rank_of_authority};
use crate::tagged_text::TaggedText;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::{FactSource, Rank};

/// A source in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLabel {
    /// The kind of the source, such as `user` or `policy`.
    pub kind: String,
    /// The authority that the source claims.
    pub authority: String,
}

impl SourceLabel {
    /// Creates a source whose kind is its authority (003 `source: string`).
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self { kind: word.to_string(), authority: word.to_string() }
    }
}

/// Returns the source of a text: the person that the text names, otherwise the kind of its source. The rank is that of the named
/// person, otherwise of the authority; the session user's own authority has the user's rank.
#[must_use]
pub fn determine_source(text: &TaggedText, label: &SourceLabel, user_rank: Rank) -> FactSource {
    let authority = label.authority.as_str();
    let rank = if is_session_user(authority) { user_rank } else { rank_of_authority(authority) };
    match &text.source {
        Some(named) => FactSource { name: Text::from(named.name.as_str()), rank: named.rank.unwrap_or(rank) },
        None => FactSource { name: Text::from(label.kind.as_str()), rank },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, kind: &str, authority: &str) -> (String, Rank) {
        let label = SourceLabel { kind: kind.to_string(), authority: authority.to_string() };
        let source = determine_source(&TaggedText::parse(text), &label, Rank::Guest);
        (source.name.to_string(), source.rank)
    }

    #[test]
    fn named_person_precedes_the_label() {
        assert_eq!(source("[BOARD] Bo (Board): Stop", "user", "executive"), ("Bo".into(), Rank::Policy));
        assert_eq!(source("[ODD] Bo (Baker): Stop", "user", "executive"), ("Bo".into(), Rank::Executive));
        assert_eq!(source("Stop", "user", "executive"), ("user".into(), Rank::Executive));
        for own in ["user", "decision", "preference"] {
            assert_eq!(source("Stop", own, own), (own.into(), Rank::Guest));
        }
    }
}
