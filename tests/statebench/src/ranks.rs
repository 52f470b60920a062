//! Whose word counts how much: words to ranks, by tables (003 rule 3).

use super::stems::pattern;
use orchestrion_kernel::item::{MemoryType, Rank};
use regex::Regex;
use std::sync::LazyLock;

/// Words of authority, titles and tags alike, in small letters: the first that fits. Whoever is called both an intern and a manager
/// has the lower rank, for nobody can say which of them is meant. An account executive is no executive, an executive chef neither,
/// and who designs board games is not of the board. What somebody was, or is not, counts no more than a guest.
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
    .map(|(word, rank)| (pattern(word), rank))
    .into()
});

/// What a title begins with that is not, or no longer, one's own.
const PAST: &str = r"\b(former(ly)?|ex|retired|past|not|no longer)\b";

/// Which memory a source belongs to (003 memory type classification); by default the user's.
const MEMORIES: &[(&str, MemoryType)] = &[
    ("policy", MemoryType::Organizational),
    ("system", MemoryType::Organizational),
    ("finance_system", MemoryType::Organizational),
    ("hr_system", MemoryType::Organizational),
    ("document", MemoryType::Organizational),
    ("observation", MemoryType::Capability),
    ("pattern", MemoryType::Capability),
    ("heuristic", MemoryType::Capability),
];

fn look<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, found)| *found)
}

/// The rank of a word of authority, a title or a tag, if the table has it.
pub(super) fn of_word(word: &str) -> Option<Rank> {
    let word = word.trim().to_lowercase().replace('_', " ");
    RANKS.iter().find(|(pattern, _)| pattern.is_match(&word)).map(|(_, rank)| *rank)
}

/// The rank of what a source says of its authority. Anything can call itself anything there, so what the table does not have is
/// unverified.
pub(super) fn of_authority(word: &str) -> Rank {
    of_word(word).unwrap_or(Rank::Unverified)
}

/// Whether a word of authority names none but that of whoever asks: what users say, decide and prefer (003 memory types).
pub(super) fn is_users_own(word: &str) -> bool {
    ["user", "decision", "preference"].contains(&word)
}

/// The rank of a title. There are more jobs than any table has, and somebody with a job is an employee; with none, nobody knows.
pub(super) fn of_title(title: &str) -> Rank {
    let other = if title.trim().is_empty() { Rank::Unverified } else { Rank::Employee };
    of_word(title).unwrap_or(other)
}

/// Whether somebody only was what the title says, or is not.
pub(super) fn is_past(title: &str) -> bool {
    static IS_PAST: LazyLock<Regex> = LazyLock::new(|| pattern(PAST));
    IS_PAST.is_match(&title.to_lowercase())
}

/// Whether the title is of those who lead the house.
pub(super) fn is_chief(title: &str) -> bool {
    static CHIEF: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(c[a-z]o|chro|chief)\b"));
    of_title(title) >= Rank::Executive && CHIEF.is_match(&title.to_lowercase())
}

/// The memory of a source.
pub(super) fn memory_of(source: &str) -> MemoryType {
    look(MEMORIES, source).unwrap_or(MemoryType::User)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_ranks() {
        let ranks = [
            "CFO",
            "VP Sales",
            "Board member",
            "HR Director",
            "Team Lead",
            "Account Executive",
            "Executive Chef",
        ];
        let expected = [
            Rank::Executive,
            Rank::Executive,
            Rank::Executive,
            Rank::Manager,
            Rank::Manager,
            Rank::Employee,
            Rank::Employee,
        ];
        assert_eq!(ranks.map(of_title), expected);
        assert_eq!(of_title("Board Game Designer"), Rank::Employee);
        assert!(is_chief("CFO") && is_chief("Chief of staff") && !is_chief("VP Sales"));
    }

    #[test]
    fn titles_authorities_and_tags_are_of_one_table() {
        let ranks = [
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
        ];
        for (word, rank) in ranks {
            assert_eq!(
                (of_authority(word), of_title(word), of_word(word)),
                (rank, rank, Some(rank)),
                "{word}"
            );
        }
    }

    #[test]
    fn what_is_in_no_table_is_unverified_and_the_users() {
        assert_eq!(of_authority("wizard"), Rank::Unverified);
        assert_eq!((of_word("WIZARD"), of_title("wizard")), (None, Rank::Employee), "wizards work somewhere");
        assert_eq!((of_title(""), of_title(" ")), (Rank::Unverified, Rank::Unverified));
        assert_eq!(memory_of("decision"), MemoryType::User);
        assert_eq!(memory_of("hr_system"), MemoryType::Organizational);
        assert_eq!(memory_of("heuristic"), MemoryType::Capability);
    }
}
