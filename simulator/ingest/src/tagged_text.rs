//! Texts with typed tags.

use crate::audience::{intersect, parse_audience};
use crate::pattern::compile;
use crate::ranks::rank_from_table;
use crate::scope::{scope_from_name, tentative_scope};
use crate::tags::Tags;
use orchestrion_kernel::item::{Audience, Rank, Scope};
use regex::Regex;
use std::sync::LazyLock;

/// A text with the values of its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaggedText {
    /// The text without the tags that became fields.
    pub text: String,
    /// The permitted readers.
    pub audience: Audience,
    /// The scope that the text names; `None` for the global scope.
    pub scope: Option<Scope>,
    /// Whether the text is marked as retracted.
    pub is_retracted: bool,
    /// The person that the text names as its source.
    pub source: Option<NamedSource>,
}

/// A person that a text names as its source, as in `[VP] Ann (VP Sales): …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSource {
    /// The name.
    pub name: String,
    /// The lower of the ranks of tag and title, if the table contains any.
    pub rank: Option<Rank>,
}

impl TaggedText {
    /// Parses the tags of a text. Two restrictions without a common audience, and unreadable ones, permit no reader.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        static SOURCE: LazyLock<Regex> = LazyLock::new(|| compile(r"^\[(\w+)\]\s*(.+?) \((.+?)\):\s*"));
        let Tags { text, restrictions, scopes, tentative, is_retracted } = Tags::parse(text);
        let named = || scopes.first().and_then(|name| scope_from_name(name));
        let source = SOURCE.captures(&text).map(|found| NamedSource {
            name: found[2].to_string(),
            rank: lower_rank(rank_from_table(&found[1]), rank_from_table(&found[3])),
        });
        Self {
            audience: restrictions
                .iter()
                .map(|name| parse_audience(name))
                .reduce(intersect)
                .unwrap_or_default(),
            scope: tentative.map(tentative_scope).or_else(named),
            is_retracted,
            source,
            text,
        }
    }

    /// Whether every reader in every scope may read the text.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.audience == Audience::Everybody && self.scope.is_none()
    }
}

fn lower_rank(one: Option<Rank>, other: Option<Rank>) -> Option<Rank> {
    one.zip(other).map(|(one, other)| one.min(other)).or(one).or(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audience::no_reader;
    use orchestrion_kernel::Text;

    fn hr() -> Audience {
        Audience::Permitted(Text::from("hr"))
    }

    #[test]
    fn tags_become_fields() {
        let scoped = TaggedText::parse("[SCOPE: what-if discussion] price: 12");
        assert_eq!(scoped.text, "price: 12");
        assert_eq!(scoped.scope, Some(Scope::Hypothetical(Text::from("what-if discussion"))));
        let scoped = TaggedText::parse("[SCOPE: Draft of the letter] Dear all");
        assert!(matches!(scoped.scope, Some(Scope::Draft(_))));
        let scoped = TaggedText::parse("[SCOPE: Ann's errand] milk");
        assert!(matches!(scoped.scope, Some(Scope::Task(_))));
        let restricted = TaggedText::parse("[RESTRICTED: Pay restricted to HR] 12 a day");
        assert_eq!((restricted.text.as_str(), restricted.audience), ("12 a day", hr()));
    }

    #[test]
    fn tags_count_anywhere_and_in_any_case() {
        for text in [
            " [RESTRICTED: Pay restricted to HR] 12 a day",
            "[restricted: Pay restricted to HR] 12 a day",
            "12 [Restricted: HR only] a day",
            "12 a day [RESTRICTED to HR]",
            "[RESTRICTED_HR] 12 a day",
            "[RESTRICTED: HR]: 12 a day",
            "[INVALIDATED - old] [ RESTRICTED : HR ] 12 a day",
            "[SCOPE: x][RESTRICTED: HR] 12 a day",
            "[RESTRICTED: HR][SCOPE: x] 12 a day",
        ] {
            let parsed = TaggedText::parse(text);
            assert_eq!(parsed.audience, hr(), "{text}");
            assert!(parsed.text.ends_with("12 a day"), "{text}: {}", parsed.text);
        }
        for text in [
            " [SCOPE: what-if] 12",
            "12 [scope: What-if]",
            "[RESTRICTED: HR] [Scope: what-if] 12",
            "[SCOPE what-if] 12",
            "[SCOPE: what-if]: 12",
        ] {
            let parsed = TaggedText::parse(text);
            assert_eq!(parsed.scope, Some(Scope::Hypothetical(Text::from("what-if"))), "{text}");
            assert_eq!(parsed.text, "12");
        }
        let unnamed = TaggedText::parse("12 [SCOPE").scope;
        assert_eq!(unnamed, Some(Scope::Task(Text::from(""))), "a scope without a name has no reader");
        assert!(TaggedText::parse("Buy [Invalidated]").is_retracted);
        let public = TaggedText::parse("The restricted area; [SCOPED] and [restrictions]");
        assert_eq!(public.audience, Audience::Everybody);
    }

    #[test]
    fn unreadable_restriction_permits_no_reader() {
        for text in [
            "[RESTRICTED] 12",
            "[RESTRICTED: ] 12",
            "[RESTRICTED: HR 12",
            "12 [restricted",
            "[RESTRICTED]: 12",
            "[RESTRICTED_] 12",
        ] {
            assert_eq!(TaggedText::parse(text).audience, no_reader(), "{text}");
        }
        let twice = |one: &str, other: &str| {
            TaggedText::parse(&format!("[RESTRICTED: {one}] 12 [RESTRICTED: {other}]")).audience
        };
        assert_eq!(twice("HR", "HR"), hr());
        assert_eq!(twice("VP+", "Director+"), Audience::AtLeast(Rank::Executive));
        assert_eq!(twice("HR", "VP+"), no_reader());
    }

    #[test]
    fn restrictions_count_in_every_bracket_and_as_prefix() {
        for text in [
            "[HR RESTRICTED] 12 a day",
            "[Access RESTRICTED to HR] 12 a day",
            "(RESTRICTED: HR) 12 a day",
            "{RESTRICTED: HR} 12 a day",
            "[**RESTRICTED**: HR] 12 a day",
            "[CONFIDENTIAL: HR] 12 a day",
            "[STRICTLY RESTRICTED: HR] 12 a day",
            "[RESTRICTED-HR] 12 a day",
            "[R\u{200b}ESTRICTED: HR] 12 a day",
            "\u{ff3b}RESTRICTED: HR\u{ff3d} 12 a day",
            "RESTRICTED: HR only. 12 a day",
            "Confidential: HR. 12 a day",
        ] {
            assert_eq!(TaggedText::parse(text).audience, hr(), "{text}");
        }
        for text in
            ["RESTRICTED: 12 a day", "[RESTRICTED: 12 a day]", "(confidential) 12", "[top (restricted"]
        {
            let parsed = TaggedText::parse(text);
            assert!(matches!(parsed.audience, Audience::Permitted(_)), "{text}");
            assert!(!parsed.text.is_empty(), "{text}: repetitions are recognized by the words");
        }
        for text in
            ["The restricted area is (un)restricted", "Confidential matters: none", "[unrestricted] 12"]
        {
            assert_eq!(TaggedText::parse(text).audience, Audience::Everybody, "{text}");
        }
    }

    #[test]
    fn drafts_and_retractions_count_in_brackets() {
        let scope = |text: &str| TaggedText::parse(text).scope;
        for text in ["[DRAFT] 12", "12 (Draft v2)", "[Draft: x] 12", "[SCOPES: draft] 12", "[SCOPE=draft] 12"]
        {
            assert!(matches!(scope(text), Some(Scope::Draft(_))), "{text}: {:?}", scope(text));
        }
        for text in ["[HYPOTHETICAL] 12", "[WHAT-IF] 12", "(what if) 12"] {
            assert!(matches!(scope(text), Some(Scope::Hypothetical(_))), "{text}");
        }
        for text in ["[scope: global] 12", "12 (draft beer)", "a draft", "Budget 12"] {
            assert_eq!(scope(text), None, "{text}");
        }
        assert_eq!(scope("[TASK: Ann's errand] milk"), Some(Scope::Task(Text::from("ann's errand"))));
        assert_eq!(scope("Budget 12 (Tentative)"), Some(Scope::Draft(Text::from("tentative"))));
        let is_retracted = |text: &str| TaggedText::parse(text).is_retracted;
        for text in [
            "[INVALID] 12",
            "[NO LONGER VALID] 12",
            "[revoked: wrong] 12",
            "12 (withdrawn by Ann)",
            "[SUPERSEDED] 12",
            "[RETRACTED: wrong] 12",
            "(INVALIDATED) 12",
            "12 (superseded by 13)",
            "[INVALIDATED - was wrong] Buy",
        ] {
            assert!(is_retracted(text), "{text}");
        }
        assert!(!is_retracted("13 (superseded the 12 of May), not retracted") && !is_retracted("Buy"));
    }

    #[test]
    fn lower_rank_of_tag_and_title_counts() {
        let rank = |text: &str| TaggedText::parse(text).source.and_then(|source| source.rank);
        assert_eq!(rank("[BOARD] Dan (Intern): Stop"), Some(Rank::Guest));
        assert_eq!(rank("[INTERN] Dan (CEO): Stop"), Some(Rank::Guest));
        assert_eq!(rank("[VP] Dan (Baker): Stop"), Some(Rank::Executive));
    }
}
