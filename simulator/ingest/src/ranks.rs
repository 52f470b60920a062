//! Ranks of titles, authorities and tags (003 rule 3).
//!
//! One table serves all three. Titles outside the table are employees, because no table has every job. Authorities outside the
//! table are unverified, because a source can give itself any name.

use crate::pattern::compile;
use orchestrion_kernel::item::Rank;
use regex::Regex;
use std::sync::LazyLock;

/// Patterns of lowercase words with their ranks; the first match counts. The lower of two ranks comes first: an intern and a
/// manager in one title are an intern. Account executives, executive chefs and board game designers are employees. A former title
/// is a guest's.
static RANKS: LazyLock<Vec<(Regex, Rank)>> = LazyLock::new(|| {
    [
        (r"^(policy|board|(finance |hr )?system)$", Rank::Policy),
        (PAST, Rank::Guest),
        (r"\b(intern|trainee|apprentice|subordinate|guest|visitor|contractor)\b", Rank::Guest),
        (r"\b((account|sales|marketing|customer|non)[ -]executive|assistant|secretary)\b", Rank::Employee),
        (r"^admin(istrator)?$", Rank::Executive),
        (
            concat!(
                r"\b(chief|c[a-z]o|chro|c level|[es]?vp|vice president|president",
                r"|board( (member|chair\w*|of|director|observer)\b|$)",
                r"|executive( (officer|vice|director|board|team|committee|leadership)\b|\W*$))(\b|$)",
            ),
            Rank::Executive,
        ),
        (r"\b(manager|director|lead|head)\b", Rank::Manager),
        (r"^(employee|peer|individual)\b", Rank::Employee),
    ]
    .map(|(pattern, rank)| (compile(pattern), rank))
    .into()
});

/// Words before a title that is not, or no longer, held.
const PAST: &str = r"\b(former(ly)?|ex|retired|past|not|no longer)\b";

/// Returns the rank of an authority, a title or a tag, or `None` if the table does not contain it.
#[must_use]
pub fn rank_from_table(word: &str) -> Option<Rank> {
    let word = word.trim().to_lowercase().replace('_', " ");
    RANKS.iter().find(|(pattern, _)| pattern.is_match(&word)).map(|(_, rank)| *rank)
}

/// Returns the rank of the authority that a source claims; unverified outside the table.
#[must_use]
pub fn rank_of_authority(authority: &str) -> Rank {
    rank_from_table(authority).unwrap_or(Rank::Unverified)
}

/// Returns the rank of a title; outside the table an employee's, for an empty title unverified.
#[must_use]
pub fn rank_of_title(title: &str) -> Rank {
    let other = if title.trim().is_empty() { Rank::Unverified } else { Rank::Employee };
    rank_from_table(title).unwrap_or(other)
}

/// Whether an authority names only the session user: what users state, decide and prefer (003 memory types).
#[must_use]
pub fn is_session_user(authority: &str) -> bool {
    ["user", "decision", "preference"].contains(&authority)
}

/// Whether a title is not, or no longer, held.
pub(crate) fn is_past_title(title: &str) -> bool {
    static IS_PAST: LazyLock<Regex> = LazyLock::new(|| compile(PAST));
    IS_PAST.is_match(&title.to_lowercase())
}

/// Whether a title belongs to the C-suite.
pub(crate) fn is_chief_title(title: &str) -> bool {
    static CHIEF: LazyLock<Regex> = LazyLock::new(|| compile(r"\b(c[a-z]o|chro|chief)\b"));
    rank_of_title(title) >= Rank::Executive && CHIEF.is_match(&title.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_ranks() {
        for (title, rank) in [
            ("CFO", Rank::Executive),
            ("VP Sales", Rank::Executive),
            ("Board member", Rank::Executive),
            ("HR Director", Rank::Manager),
            ("Team Lead", Rank::Manager),
            ("Account Executive", Rank::Employee),
            ("Executive Chef", Rank::Employee),
            ("Board Game Designer", Rank::Employee),
        ] {
            assert_eq!(rank_of_title(title), rank, "{title}");
        }
        assert!(is_chief_title("CFO") && is_chief_title("Chief of staff") && !is_chief_title("VP Sales"));
    }

    #[test]
    fn titles_authorities_and_tags_share_one_table() {
        for (word, rank) in [
            ("CFO", Rank::Executive),
            ("executive", Rank::Executive),
            ("C_LEVEL", Rank::Executive),
            ("admin", Rank::Executive),
            ("Policy", Rank::Policy),
            ("hr_system", Rank::Policy),
            ("BOARD", Rank::Policy),
            ("manager", Rank::Manager),
            ("peer", Rank::Employee),
            ("INDIVIDUAL", Rank::Employee),
            ("intern", Rank::Guest),
            ("Sales Trainee", Rank::Guest),
            ("Intern to the CFO", Rank::Guest),
            ("subordinate", Rank::Guest),
            ("contractor", Rank::Guest),
            ("Former HR Manager", Rank::Guest),
            ("ex-CFO", Rank::Guest),
            ("Executive Director", Rank::Executive),
            ("Board of Directors", Rank::Executive),
        ] {
            let ranks = (rank_of_authority(word), rank_of_title(word), rank_from_table(word));
            assert_eq!(ranks, (rank, rank, Some(rank)), "{word}");
        }
    }

    #[test]
    fn unknown_authorities_are_unverified() {
        assert_eq!(rank_of_authority("wizard"), Rank::Unverified);
        assert_eq!((rank_from_table("WIZARD"), rank_of_title("wizard")), (None, Rank::Employee));
        assert_eq!((rank_of_title(""), rank_of_title(" ")), (Rank::Unverified, Rank::Unverified));
    }
}
