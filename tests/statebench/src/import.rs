//! The border: what texts and words of a timeline mean as typed fields of the kernel.
//!
//! Every rule here looks at the shape of a text, none at an answer: a tag says who may see a fact, where it counts, whether
//! it was taken back, or who speaks.

use super::diagnostic::WriteDiagnostic;
use super::ranks;
use super::stems::{pattern, words};
use super::tags::Tags;
use super::timeline::{Identity, Source, ValidityFields, Write};
use orchestrion_kernel::Text;
use orchestrion_kernel::item::{self, Audience, ConstraintType, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::FactKind;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a text says once its tags are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The text without the tags that became fields.
    pub text: String,
    /// Who may see it.
    pub audience: Audience,
    /// Where the text says that it counts.
    pub scope: Option<Scope>,
    /// Whether it says that it does not hold.
    pub retracted: bool,
    /// Who says it, and with which rank.
    pub speaker: Option<(String, Option<Rank>)>,
}

impl Imported {
    /// Whether it counts everywhere, and everybody may see it.
    #[must_use]
    pub fn is_for_all(&self) -> bool {
        self.audience == Audience::Everybody && self.scope.is_none()
    }
}

/// Reads the tags of a text: wherever one stands, in any order, in capitals or not. A text that is restricted in two ways, or in a
/// way that nobody can read, is for nobody: what is shown by mistake cannot be taken back.
#[must_use]
pub fn import(text: &str) -> Imported {
    static SPEAKER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[(\w+)\]\s*(.+?) \((.+?)\):\s*"));
    let Tags { text, restrictions, scopes, supposed, retracted } = Tags::of(text);
    let scope = supposed.map(supposed_scope).or_else(|| scopes.first().and_then(|name| scope_of(name)));
    Imported {
        audience: restrictions.iter().map(|tag| audience_of(tag)).reduce(both).unwrap_or_default(),
        scope,
        retracted,
        speaker: SPEAKER.captures(&text).map(|found| (found[2].to_string(), rank_of(&found[1], &found[3]))),
        text,
    }
}

/// The rank of a speaker by tag and title: of two, the lower.
fn rank_of(tag: &str, title: &str) -> Option<Rank> {
    match (ranks::of_word(tag), ranks::of_word(title)) {
        (Some(tag), Some(title)) => Some(tag.min(title)),
        (tag, title) => tag.or(title),
    }
}

/// Whoever is meant by both of two restrictions.
fn both(one: Audience, other: Audience) -> Audience {
    match (one, other) {
        (Audience::AtLeast(one), Audience::AtLeast(other)) => Audience::AtLeast(one.max(other)),
        (one, other) if one == other => one,
        (Audience::AtLeast(rank), Audience::Permitted(name))
        | (Audience::Permitted(name), Audience::AtLeast(rank))
            if name.as_str() == DIRECTORS =>
        {
            if rank >= Rank::Executive {
                Audience::AtLeast(rank)
            } else {
                Audience::Permitted(name)
            }
        }
        // The kernel has no word for a group of a rank.
        _ => nobody(),
    }
}

/// Nobody is ever granted what has no name.
fn nobody() -> Audience {
    Audience::Permitted(Text::from(""))
}

/// Those who are called directors, and whoever is above them. The kernel has one rank for directors and managers.
const DIRECTORS: &str = "director and above";

/// Who is meant by a restriction: by the bare word of a level, whoever is of it or above it; by any other name, whoever was
/// granted that.
fn audience_of(restriction: &str) -> Audience {
    const LEVELS: &[(&str, Rank)] =
        &[("vp", Rank::Executive), ("executive", Rank::Executive), ("manager", Rank::Manager)];
    static ABOVE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)(\+|\s+(and|or)\s+(above|up|higher)|\s+only|\s+level)+\W*$"));
    let name = name_of_group(&ABOVE.replace(restriction.trim(), ""));
    let level = name.as_str().trim_end_matches('s');
    match LEVELS.iter().find(|(word, _)| *word == level) {
        Some((_, rank)) => Audience::AtLeast(*rank),
        None if level == "director" => Audience::Permitted(Text::from(DIRECTORS)),
        None => Audience::Permitted(name),
    }
}

/// A group's name without what does not tell it from others.
fn name_of_group(group: &str) -> Text {
    let tells = |word: &String| !["team", "only", "the"].contains(&word.as_str());
    Text::from(words(group).into_iter().filter(tells).collect::<Vec<_>>().join(" "))
}

/// A kind of scope, still without its name.
type ScopeKind = fn(Text) -> Scope;

/// Words of a scope's name that say of which kind it is. Any other is a task.
const SCOPES: &[(&str, ScopeKind)] = &[
    ("draft", Scope::Draft),
    ("brainstorm", Scope::Draft),
    ("sandbox", Scope::Draft),
    ("estimat", Scope::Draft),
    ("what-if", Scope::Hypothetical),
    ("what if", Scope::Hypothetical),
    ("scenario", Scope::Hypothetical),
    ("hypothe", Scope::Hypothetical),
];

/// The scope of this name, unless it is everywhere.
fn scope_of(name: &str) -> Option<Scope> {
    let lower = name.trim().to_lowercase();
    let kind = SCOPES.iter().find(|(word, _)| lower.contains(word));
    (lower != "global").then(|| kind.map_or(Scope::Task as ScopeKind, |(_, kind)| *kind)(Text::from(lower)))
}

/// The scope of what calls itself so.
fn supposed_scope(name: String) -> Scope {
    match scope_of(&name) {
        Some(scope @ Scope::Hypothetical(_)) => scope,
        _ => Scope::Draft(Text::from(name)),
    }
}

/// The scope of a write: what its text says, or else its field. Its id names it; without one it is the key's own.
pub(super) fn scope(
    imported: &Imported,
    terms: ValidityFields<'_>,
    key: &str,
) -> Result<Scope, WriteDiagnostic> {
    if let Some(scope) = &imported.scope {
        return Ok(scope.clone());
    }
    let own = || Text::from(terms.scope_id.unwrap_or(key));
    Ok(match terms.scope {
        "global" => Scope::Global,
        "session" => Scope::Session,
        "task" => Scope::Task(own()),
        "hypothetical" => Scope::Hypothetical(own()),
        "draft" => Scope::Draft(own()),
        other => return Err(WriteDiagnostic::UnknownScope(other.to_string())),
    })
}

/// What is no fact, by its tags and fields. The session is the only one, so what counts in it counts everywhere there.
pub(super) fn import_on(
    terms: ValidityFields<'_>,
    key: &str,
    text: &str,
) -> Result<Imported, WriteDiagnostic> {
    let imported = import(text);
    if terms.is_withdrawn() {
        return Err(WriteDiagnostic::Withdrawn);
    }
    let scope = scope(&imported, terms, key)?;
    Ok(Imported { scope: (!matches!(scope, Scope::Global | Scope::Session)).then_some(scope), ..imported })
}

/// The fields of what has none but these: unknown, and of those the first that may say for whom it is.
pub(super) fn unknown<'a>(
    others: &'a BTreeMap<String, Value>,
    known: &[&str],
) -> (Vec<&'a str>, Option<&'a str>) {
    let says = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
    let restricts = |name: &str| {
        ["restrict", "confidential", "secret", "audience"].iter().any(|word| name.contains(word))
    };
    let unknown = || others.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    let unread = unknown().find(|(name, value)| says(value) && restricts(&name.to_lowercase()));
    (unknown().map(|(name, _)| name.as_str()).collect(), unread.map(|(name, _)| name.as_str()))
}

/// Whether it is a constraint, and of which kind.
pub(super) fn kind(write: &Write) -> Result<FactKind, WriteDiagnostic> {
    const KINDS: &[(&str, ConstraintType)] = &[
        ("budget", ConstraintType::Budget),
        ("deadline", ConstraintType::Deadline),
        ("capacity", ConstraintType::Capacity),
        ("policy", ConstraintType::Policy),
    ];
    if !write.is_constraint {
        return Ok(FactKind::Fact);
    }
    let Some(name) = &write.constraint_type else { return Ok(FactKind::Constraint(None)) };
    let kind = KINDS.iter().find(|(known, _)| known == name);
    let (_, kind) = kind.ok_or_else(|| WriteDiagnostic::UnknownConstraint(name.clone()))?;
    Ok(FactKind::Constraint(Some(*kind)))
}

/// The memory of a write: the one that it names, or else that of its source.
pub(super) fn memory(write: &Write) -> Result<MemoryType, WriteDiagnostic> {
    const MEMORIES: &[(&str, MemoryType)] = &[
        ("user", MemoryType::User),
        ("capability", MemoryType::Capability),
        ("organizational", MemoryType::Organizational),
    ];
    let Some(name) = &write.memory_type else { return Ok(ranks::memory_of(&write.source.kind)) };
    let memory = MEMORIES.iter().find(|(known, _)| known == name);
    memory.map(|(_, memory)| *memory).ok_or_else(|| WriteDiagnostic::UnknownMemory(name.clone()))
}

/// Whether a text tells what changes by itself, so that its time says which of two is the later (003 rule 4): by saying that it
/// is only so now, or by what it measures.
#[must_use]
pub fn is_time_sensitive(text: &str) -> bool {
    static CHANGING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(as of|right now|at the moment|(stock|share)[ _]prices?|exchange[ _]rates?|temperatures?)\b",
        )
    });
    CHANGING.is_match(text)
}

/// Where a fact comes from (003 `determine_source`): the speaker that the text names, or else its source, and the
/// rank of the tag, or else of the authority. What the user says has the rank of whoever asks.
#[must_use]
pub fn determine_source(imported: &Imported, source: &Source, asks: Rank) -> item::FactSource {
    let authority = source.authority.as_str();
    let rank = if ranks::is_users_own(authority) { asks } else { ranks::of_authority(authority) };
    match &imported.speaker {
        Some((name, tagged)) => {
            item::FactSource { name: Text::from(name.as_str()), rank: tagged.unwrap_or(rank) }
        }
        None => item::FactSource { name: Text::from(source.kind.as_str()), rank },
    }
}

/// Who asks, with the rank and the grants that the title gives, and those that are told. The department is none: it says what is
/// talked about.
#[must_use]
pub fn identity(identity: &Identity) -> item::Identity {
    let title = identity.authority.as_str();
    let told = identity.permissions.iter().map(|group| name_of_group(group));
    item::Identity {
        authority: Text::from(title),
        rank: ranks::of_title(title),
        department: Text::from(identity.department.as_str()),
        organization: Text::from(identity.organization.as_str()),
        permissions: grants(title).into_iter().chain(told).filter(|name| !name.as_str().is_empty()).collect(),
    }
}

/// The groups that a title belongs to: every run of its words, but what ranks above it; to the leadership of each from manager on; to
/// the directors and to the C-suite. Whose intern or assistant somebody is says nothing of that, and what somebody was is none.
fn grants(title: &str) -> Vec<Text> {
    if ranks::is_past(title) {
        return Vec::new();
    }
    let lower = title.to_lowercase();
    let words = words(lower.split(" to ").next().unwrap_or_default());
    let rank = ranks::of_title(title);
    let outranks = |group: &str| ranks::of_word(group).is_some_and(|word| word.min(Rank::Executive) > rank);
    let mut grants = Vec::new();
    for from in 0..words.len() {
        for to in from + 1..=words.len() {
            let group = words[from..to].join(" ");
            if outranks(&group) {
                continue;
            }
            if rank >= Rank::Manager {
                grants.push(Text::from(format!("{group} leadership")));
            }
            grants.push(Text::from(group));
        }
    }
    let is_director = rank >= Rank::Manager && words.iter().any(|word| word == "director");
    if is_director || rank >= Rank::Executive {
        grants.push(Text::from(DIRECTORS));
    }
    if ranks::is_chief(title) {
        grants.push(Text::from("c-suite"));
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::Timestamp;
    use orchestrion_kernel::knowledge::Principal;

    /// Whether somebody with this title may see what is restricted to this audience.
    fn may_see(title: &str, audience: &str) -> bool {
        may_see_text(title, &format!("[RESTRICTED: Some data restricted to {audience}] value"))
    }

    fn may_see_text(title: &str, text: &str) -> bool {
        let who = Identity {
            user_name: "Ada".to_string(),
            authority: title.to_string(),
            department: "Security".to_string(),
            organization: String::new(),
            permissions: Vec::new(),
        };
        let item::Identity { rank, permissions, .. } = identity(&who);
        let reader =
            Principal { user: None, rank, permissions, scope: Scope::Global, now: Timestamp::default() };
        reader.is_in_audience(&import(text).audience)
    }

    #[test]
    fn restrict_restricts() {
        assert!(may_see_text("HR Manager", "[RESTRICT: HR] 12 a day"));
        assert!(!may_see_text("Cook", "[RESTRICT: HR] 12 a day"));
    }

    #[test]
    fn a_level_sees_what_is_restricted_to_it_and_to_lower_ones() {
        for (title, audience) in
            [("VP Sales", "VP+"), ("CFO", "VP+"), ("HR Director", "Director+"), ("CEO", "Director+")]
        {
            assert!(may_see(title, audience), "{title} and {audience}");
        }
        for (title, audience) in [
            ("HR Director", "VP+"),
            ("Account Executive", "VP+"),
            ("Executive Chef", "VP+"),
            ("Cook", "Director+"),
            ("Former HR Manager", "HR"),
            ("Not HR", "HR"),
        ] {
            assert!(!may_see(title, audience), "{title} and {audience}");
        }
    }

    #[test]
    fn a_team_sees_what_is_restricted_to_it_and_its_department_alone_is_no_grant() {
        assert!(may_see("Security Engineer", "Security team"));
        assert!(may_see("HR Manager", "HR"));
        assert!(may_see("Finance Director", "the Finance team only"));
        assert!(!may_see("Sales Rep", "Security team"), "everybody here talks about security");
    }

    #[test]
    fn a_leadership_is_a_team_and_a_rank() {
        assert!(may_see("CS Manager", "CS leadership"));
        assert!(!may_see("CS Agent", "CS leadership"));
        assert!(!may_see("HR Manager", "CS leadership"));
    }

    #[test]
    fn only_chiefs_are_of_the_c_suite() {
        assert!(may_see("CTO", "C-suite") && may_see("Chief of Staff", "C-suite"));
        assert!(!may_see("VP Sales", "C-suite"));
    }

    #[test]
    fn a_restriction_that_nobody_can_read_lets_nobody_see() {
        assert!(!may_see("CEO", ""));
        assert!(!may_see("CEO", "people with hats"));
        assert!(!may_see("CEO", "VPN keepers"), "that is no rank");
    }

    #[test]
    fn tags_become_fields_and_leave_the_text() {
        let scoped = import("[SCOPE: what-if discussion] price: 12");
        assert_eq!(scoped.text, "price: 12");
        assert_eq!(scoped.scope, Some(Scope::Hypothetical(Text::from("what-if discussion"))));
        let scoped = import("[SCOPE: Draft of the letter] Dear all");
        assert!(matches!(scoped.scope, Some(Scope::Draft(_))));
        let scoped = import("[SCOPE: Ann's errand] milk");
        assert!(matches!(scoped.scope, Some(Scope::Task(_))));
        let both = import("[RESTRICTED: Pay restricted to HR] 12 a day");
        assert_eq!((both.text.as_str(), both.audience), ("12 a day", Audience::Permitted(Text::from("hr"))));
    }

    #[test]
    fn a_tag_counts_wherever_it_stands_and_however_it_is_written() {
        let hr = Audience::Permitted(Text::from("hr"));
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
            let read = import(text);
            assert_eq!(read.audience, hr, "{text}");
            assert!(read.text.ends_with("12 a day"), "{text}: {}", read.text);
        }
        for text in [
            " [SCOPE: what-if] 12",
            "12 [scope: What-if]",
            "[RESTRICTED: HR] [Scope: what-if] 12",
            "[SCOPE what-if] 12",
            "[SCOPE: what-if]: 12",
        ] {
            let read = import(text);
            assert_eq!(read.scope, Some(Scope::Hypothetical(Text::from("what-if"))), "{text}");
            assert_eq!(read.text, "12");
        }
        assert_eq!(
            import("12 [SCOPE").scope,
            Some(Scope::Task(Text::from(""))),
            "nobody is in a scope of no name"
        );
        assert!(import("Buy [Invalidated]").retracted);
        assert_eq!(import("The restricted area; [SCOPED] and [restrictions]").audience, Audience::Everybody);
    }

    #[test]
    fn a_restriction_that_cannot_be_read_hides_the_text() {
        for text in [
            "[RESTRICTED] 12",
            "[RESTRICTED: ] 12",
            "[RESTRICTED: HR 12",
            "12 [restricted",
            "[RESTRICTED]: 12",
            "[RESTRICTED_] 12",
        ] {
            assert_eq!(import(text).audience, nobody(), "{text}");
        }
        let twice = |one: &str, other: &str| {
            import(&format!("[RESTRICTED: {one}] 12 [RESTRICTED: {other}]")).audience
        };
        assert_eq!(twice("HR", "HR"), Audience::Permitted(Text::from("hr")));
        assert_eq!(twice("VP+", "Director+"), Audience::AtLeast(Rank::Executive));
        assert_eq!(twice("HR", "VP+"), nobody());
    }

    #[test]
    fn a_restriction_counts_in_every_bracket_and_at_the_beginning() {
        let hr = Audience::Permitted(Text::from("hr"));
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
            assert_eq!(import(text).audience, hr, "{text}");
        }
        for text in
            ["RESTRICTED: 12 a day", "[RESTRICTED: 12 a day]", "(confidential) 12", "[top (restricted"]
        {
            assert!(!may_see_text("CEO", text), "{text}");
            assert!(!import(text).text.is_empty(), "{text}: what says it again is known by its words");
        }
        for text in
            ["The restricted area is (un)restricted", "Confidential matters: none", "[unrestricted] 12"]
        {
            assert_eq!(import(text).audience, Audience::Everybody, "{text}");
        }
    }

    #[test]
    fn words_of_a_draft_a_supposition_and_a_withdrawal_count_in_brackets() {
        for text in ["[DRAFT] 12", "12 (Draft v2)", "[Draft: x] 12", "[SCOPES: draft] 12", "[SCOPE=draft] 12"]
        {
            assert!(matches!(import(text).scope, Some(Scope::Draft(_))), "{text}: {:?}", import(text).scope);
        }
        for text in ["[HYPOTHETICAL] 12", "[WHAT-IF] 12", "(what if) 12"] {
            assert!(matches!(import(text).scope, Some(Scope::Hypothetical(_))), "{text}");
        }
        for text in ["[scope: global] 12", "12 (draft beer)", "a draft"] {
            assert_eq!(import(text).scope, None, "{text}");
        }
        let task = import("[TASK: Ann's errand] milk").scope;
        assert_eq!(task, Some(Scope::Task(Text::from("ann's errand"))));
        for text in ["[INVALID] 12", "[NO LONGER VALID] 12", "[revoked: wrong] 12", "12 (withdrawn by Ann)"] {
            assert!(import(text).retracted, "{text}");
        }
        for text in ["[SUPERSEDED] 12", "[RETRACTED: wrong] 12", "(INVALIDATED) 12", "12 (superseded by 13)"]
        {
            assert!(import(text).retracted, "{text}");
        }
        assert!(!import("13 (superseded the 12 of May), not retracted").retracted);
    }

    #[test]
    fn whoever_serves_a_chief_is_none() {
        for title in
            ["Intern to the CEO", "Assistant to the CEO", "CEO Assistant", "Executive Assistant to the CEO"]
        {
            for audience in ["C-suite", "CEO", "VP+", "the executives", "Director+"] {
                assert!(!may_see(title, audience), "{title} and {audience}");
            }
        }
        assert!(
            may_see("CEO", "CEO")
                && may_see("HR Assistant", "HR")
                && !may_see("Assistant Manager", "Manager+")
        );
    }

    #[test]
    fn only_the_bare_word_of_a_level_is_one() {
        for (title, audience) in [
            ("Project Manager", "Director+"),
            ("Tech Lead", "directors and above"),
            ("CTO", "VP Finance only"),
            ("Sales Director", "Directors of Finance"),
            ("Sales Manager", "Manager of HR"),
            ("Sales Executive", "VP+"),
        ] {
            assert!(!may_see(title, audience), "{title} and {audience}");
        }
        for (title, audience) in [
            ("Sales Director", "Director+"),
            ("VP Sales", "directors and above"),
            ("VP Finance", "VP Finance only"),
            ("SVP", "VP+"),
            ("EVP Sales", "VPs only"),
            ("Sales Manager", "Managers"),
        ] {
            assert!(may_see(title, audience), "{title} and {audience}");
        }
    }

    #[test]
    fn of_a_tag_and_a_title_the_lower_counts() {
        let rank = |text: &str| import(text).speaker.and_then(|(_, rank)| rank);
        assert_eq!(rank("[BOARD] Dan (Intern): Stop"), Some(Rank::Guest));
        assert_eq!(rank("[INTERN] Dan (CEO): Stop"), Some(Rank::Guest));
        assert_eq!(rank("[VP] Dan (Baker): Stop"), Some(Rank::Executive));
    }

    #[test]
    fn what_was_granted_by_name_may_be_seen() {
        let mut who = Identity {
            user_name: "Ada".to_string(),
            authority: "Cook".to_string(),
            department: String::new(),
            organization: String::new(),
            permissions: vec!["the Pay team".to_string(), String::new()],
        };
        assert!(identity(&who).permissions.contains(&Text::from("pay")));
        assert!(!identity(&who).permissions.contains(&Text::from("")));
        who.permissions.clear();
        assert!(!identity(&who).permissions.contains(&Text::from("pay")));
    }

    #[test]
    fn what_calls_itself_tentative_is_a_draft() {
        assert_eq!(import("Budget 12 (Tentative)").scope, Some(Scope::Draft(Text::from("tentative"))));
        assert_eq!(import("Budget 12").scope, None);
    }

    #[test]
    fn what_was_invalidated_says_so_itself() {
        assert!(import("[INVALIDATED - was wrong] Buy").retracted);
        assert!(!import("Buy").retracted);
    }

    #[test]
    fn the_tag_of_a_speaker_is_finer_than_the_authority() {
        let source = Source { kind: "user".to_string(), authority: "executive".to_string() };
        let said = import("[BOARD] Bo (Board): Stop");
        let from = determine_source(&said, &source, Rank::Guest);
        assert_eq!((from.name.as_str(), from.rank), ("Bo", Rank::Policy));
        let from = determine_source(&import("[ODD] Bo (Baker): Stop"), &source, Rank::Guest);
        assert_eq!((from.name.as_str(), from.rank), ("Bo", Rank::Executive));
        let from = determine_source(&import("Stop"), &source, Rank::Guest);
        assert_eq!((from.name.as_str(), from.rank), ("user", Rank::Executive));
        for own in ["user", "decision", "preference"] {
            let source = Source { kind: own.to_string(), authority: own.to_string() };
            assert_eq!(determine_source(&import("Stop"), &source, Rank::Guest).rank, Rank::Guest, "{own}");
        }
    }
}
