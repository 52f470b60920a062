//! Sources of facts (003 `determine_source`).

use crate::ranks::{is_session_user, rank_of_authority};
use crate::tagged_text::TaggedText;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::WriteSource;

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

/// The source of a text, with its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name.
    pub name: Text,
    /// The rank.
    pub rank: Rank,
    /// Whether the host declares the source. Otherwise it is derived from the text.
    pub is_declared: bool,
}

impl Source {
    /// Returns the source for a write. The policy's rank table must contain a declared source.
    #[must_use]
    pub fn to_write(&self) -> WriteSource {
        WriteSource { name: Some(self.name.clone()), rank: Some(self.rank), is_derived: !self.is_declared }
    }
}

/// Returns the source of a text: the person that the text names, otherwise the authority or the kind of its label. The rank is that of the label's
/// authority; the session user's own authority has the user's rank. A person in the text has a rank of its own, but the text
/// raises no rank above that of the label and of the user (decision 0028), unless the host declares the speakers of its texts.
#[must_use]
pub fn determine_source(
    text: &TaggedText,
    label: &SourceLabel,
    user_rank: Rank,
    has_declared_speakers: bool,
) -> Source {
    let authority = label.authority.as_str();
    let has_authority = !is_session_user(authority);
    let limit = if has_authority { rank_of_authority(authority) } else { user_rank };
    let is_declared = has_authority || text.source.is_some() && has_declared_speakers;
    let (name, rank) = match &text.source {
        Some(named) if has_declared_speakers => (named.name.as_str(), named.rank.unwrap_or(limit)),
        Some(named) => (named.name.as_str(), named.rank.unwrap_or(limit).min(limit.max(user_rank))),
        // A kind such as `user` has no rank of its own, so a declared authority names the source.
        None => (if has_authority { authority } else { label.kind.as_str() }, limit),
    };
    Source { name: Text::from(name), rank, is_declared }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, kind: &str, authority: &str) -> (String, Rank) {
        let label = SourceLabel { kind: kind.to_string(), authority: authority.to_string() };
        let source = determine_source(&TaggedText::parse(text), &label, Rank::Guest, false);
        (source.name.to_string(), source.rank)
    }

    #[test]
    fn named_person_precedes_the_label() {
        assert_eq!(source("[BOARD] Bo (Board): Stop", "user", "executive"), ("Bo".into(), Rank::Executive));
        let label = SourceLabel::from_word("user");
        let board = TaggedText::parse("[BOARD] Bo (Board): Stop");
        assert_eq!(determine_source(&board, &label, Rank::Guest, true).rank, Rank::Policy);
        assert_eq!(source("[INTERN] Bo (Intern): Stop", "user", "executive"), ("Bo".into(), Rank::Guest));
        assert_eq!(source("[BOARD] Bo (Board): Stop", "user", "user"), ("Bo".into(), Rank::Guest));
        assert_eq!(source("[ODD] Bo (Baker): Stop", "user", "executive"), ("Bo".into(), Rank::Executive));
        assert_eq!(source("Stop", "user", "executive"), ("executive".into(), Rank::Executive));
        for own in ["user", "decision", "preference"] {
            assert_eq!(source("Stop", own, own), (own.into(), Rank::Guest));
        }
    }
}
