//! Whose word counts how much: words to ranks, by tables (003 rule 3).

use super::words::pattern;
use orchestrion_kernel::item::{MemoryType, Rank};
use regex::Regex;
use std::sync::LazyLock;

/// What a source says of its authority. What is in no table is unverified.
const AUTHORITIES: &[(&str, Rank)] = &[
    ("policy", Rank::Policy),
    ("system", Rank::Policy),
    ("executive", Rank::Executive),
    ("manager", Rank::Manager),
    ("employee", Rank::Employee),
    ("peer", Rank::Employee),
    ("guest", Rank::Guest),
    ("subordinate", Rank::Guest),
];

/// Tags that stand before a speaker's name.
const TAGS: &[(&str, Rank)] = &[
    ("SYSTEM", Rank::Policy),
    ("BOARD", Rank::Policy),
    ("C_LEVEL", Rank::Executive),
    ("VP", Rank::Executive),
    ("DIRECTOR", Rank::Manager),
    ("MANAGER", Rank::Manager),
    ("INDIVIDUAL", Rank::Employee),
    ("CONTRACTOR", Rank::Guest),
];

/// Titles, the first that fits. An account executive is no executive.
static TITLES: LazyLock<Vec<(Regex, Rank)>> = LazyLock::new(|| {
    [
        (r"\baccount executive\b", Rank::Employee),
        (r"\b(chief|c[a-z]o|chro|vp|vice president|board|executive|president)\b", Rank::Executive),
        (r"\b(manager|director|lead|head)\b", Rank::Manager),
    ]
    .map(|(title, rank)| (pattern(title), rank))
    .into()
});

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

/// The rank of an authority in words.
pub(super) fn of_authority(word: &str) -> Rank {
    look(AUTHORITIES, word).unwrap_or(Rank::Unverified)
}

/// The rank of a tag, if it is one.
pub(super) fn of_tag(tag: &str) -> Option<Rank> {
    look(TAGS, tag)
}

/// The rank of a title; whoever has none that says more is an employee.
pub(super) fn of_title(title: &str) -> Rank {
    let title = title.to_lowercase();
    TITLES.iter().find(|(pattern, _)| pattern.is_match(&title)).map_or(Rank::Employee, |(_, rank)| *rank)
}

/// Whether the title is of those who lead the house.
pub(super) fn is_chief(title: &str) -> bool {
    static CHIEF: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(c[a-z]o|chro|chief)\b"));
    CHIEF.is_match(&title.to_lowercase())
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
        let ranks =
            ["CFO", "VP Sales", "Board member", "HR Director", "Team Lead", "Account Executive", "Cook"];
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
        assert!(is_chief("CFO") && is_chief("Chief of staff") && !is_chief("VP Sales"));
    }

    #[test]
    fn what_is_in_no_table_is_unverified_and_the_users() {
        assert_eq!(of_authority("wizard"), Rank::Unverified);
        assert_eq!(of_tag("WIZARD"), None);
        assert_eq!(memory_of("decision"), MemoryType::User);
        assert_eq!(memory_of("hr_system"), MemoryType::Organizational);
        assert_eq!(memory_of("heuristic"), MemoryType::Capability);
    }
}
