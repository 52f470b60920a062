//! The border: what texts and words of a timeline mean as typed fields of the kernel.
//!
//! Every rule here looks at the shape of a text, none at an answer: a tag says who may see a fact, where it counts, whether
//! it was taken back, or who speaks.

use super::fault::Unfit;
use super::ranks;
use super::timeline::{Identity, Source, Write};
use super::words::{pattern, words};
use orchestrion_kernel::Text;
use orchestrion_kernel::item::{self, Audience, ConstraintType, MemoryType, Rank, Scope};
use orchestrion_kernel::knowledge::FactKind;
use regex::{Captures, Regex};
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
    static RESTRICTED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)\[\s*RESTRICTED[\s:]*(?:([^\[\]]*)\][\s:]*)?"));
    static SCOPE: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)\[\s*SCOPE(?:\b|_)[\s:]*(?:([^\[\]]*)\][\s:]*)?"));
    static INVALIDATED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\[\s*INVALIDATED\b"));
    static SPEAKER: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[(\w+)\]\s*(.+?) \((.+?)\):\s*"));
    static DRAFT: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)\((draft|tentative|proposed|preliminary)\)"));
    let (restrictions, text) = take(&RESTRICTED, text);
    let (scopes, text) = take(&SCOPE, &text);
    let drafted = DRAFT.captures(&text).map(|found| Scope::Draft(Text::from(found[1].to_lowercase())));
    Imported {
        audience: restrictions.iter().map(|tag| audience_of(tag)).reduce(both).unwrap_or_default(),
        scope: drafted.or_else(|| scopes.first().map(|name| scope_of(name))),
        retracted: INVALIDATED.is_match(&text),
        speaker: SPEAKER.captures(&text).map(|found| (found[2].to_string(), ranks::of_word(&found[1]))),
        text,
    }
}

/// What every tag of a kind says, and the text without them. One that is never closed says nothing.
fn take(tag: &Regex, text: &str) -> (Vec<String>, String) {
    let said = |found: Captures<'_>| found.get(1).map_or("", |said| said.as_str()).to_string();
    let tags: Vec<String> = tag.captures_iter(text).map(said).collect();
    let rest = if tags.is_empty() { text.into() } else { tag.replace_all(text, "") };
    (tags, rest.trim().to_string())
}

/// Whoever is meant by both of two restrictions.
fn both(one: Audience, other: Audience) -> Audience {
    match (one, other) {
        (Audience::AtLeast(one), Audience::AtLeast(other)) => Audience::AtLeast(one.max(other)),
        (one, other) if one == other => one,
        // The kernel has no word for a group of a rank.
        _ => nobody(),
    }
}

/// Nobody is ever granted what has no name.
fn nobody() -> Audience {
    Audience::Permitted(Text::from(""))
}

/// Who is meant by `… restricted to AUDIENCE`: a rank and whoever is above it, or a name that must have been granted.
fn audience_of(restriction: &str) -> Audience {
    const LEVELS: &[(&str, Rank)] = &[
        ("vp", Rank::Executive),
        ("executive", Rank::Executive),
        ("director", Rank::Manager),
        ("manager", Rank::Manager),
    ];
    let lower = restriction.to_lowercase();
    let lower = lower.strip_prefix("to ").unwrap_or(&lower);
    let audience = lower.rsplit_once("restricted to ").map_or(lower, |(_, audience)| audience);
    let first = words(audience).into_iter().next().unwrap_or_default();
    match LEVELS.iter().find(|(level, _)| *level == first.trim_end_matches('s')) {
        Some((_, rank)) => Audience::AtLeast(*rank),
        None => Audience::Permitted(name_of_group(audience)),
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
    ("scenario", Scope::Hypothetical),
    ("hypothe", Scope::Hypothetical),
];

fn scope_of(name: &str) -> Scope {
    let lower = name.to_lowercase();
    let kind = SCOPES.iter().find(|(word, _)| lower.contains(word));
    kind.map_or(Scope::Task as ScopeKind, |(_, kind)| *kind)(Text::from(lower))
}

/// The scope of a write: what its text says, or else its field. Its id names it; without one it is the key's own.
pub(super) fn scope(imported: &Imported, write: &Write) -> Result<Scope, Unfit> {
    if let Some(scope) = &imported.scope {
        return Ok(scope.clone());
    }
    let own = || Text::from(write.scope_id.as_deref().unwrap_or(&write.key));
    Ok(match write.scope.as_str() {
        "global" => Scope::Global,
        "session" => Scope::Session,
        "task" => Scope::Task(own()),
        "hypothetical" => Scope::Hypothetical(own()),
        "draft" => Scope::Draft(own()),
        other => return Err(Unfit::UnknownScope(other.to_string())),
    })
}

/// Whether it is a constraint, and of which kind.
pub(super) fn kind(write: &Write) -> Result<FactKind, Unfit> {
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
    let (_, kind) = kind.ok_or_else(|| Unfit::UnknownConstraint(name.clone()))?;
    Ok(FactKind::Constraint(Some(*kind)))
}

/// The memory of a write: the one that it names, or else that of its source.
pub(super) fn memory(write: &Write) -> Result<MemoryType, Unfit> {
    const MEMORIES: &[(&str, MemoryType)] = &[
        ("user", MemoryType::User),
        ("capability", MemoryType::Capability),
        ("organizational", MemoryType::Organizational),
    ];
    let Some(name) = &write.memory_type else { return Ok(ranks::memory_of(&write.source.kind)) };
    let memory = MEMORIES.iter().find(|(known, _)| known == name);
    memory.map(|(_, memory)| *memory).ok_or_else(|| Unfit::UnknownMemory(name.clone()))
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
pub fn determine_source(imported: &Imported, source: &Source, asks: Rank) -> item::Source {
    let authority = source.authority.as_str();
    let rank = if ranks::is_users_own(authority) { asks } else { ranks::of_authority(authority) };
    match &imported.speaker {
        Some((name, tagged)) => {
            item::Source { name: Text::from(name.as_str()), rank: tagged.unwrap_or(rank) }
        }
        None => item::Source { name: Text::from(source.kind.as_str()), rank },
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

/// The groups that a title belongs to: every run of its words; to the leadership of each from manager on; and to the C-suite.
fn grants(title: &str) -> Vec<Text> {
    let words = words(title);
    let leads = ranks::of_title(title) >= Rank::Manager;
    let mut grants = Vec::new();
    for from in 0..words.len() {
        for to in from + 1..=words.len() {
            let group = words[from..to].join(" ");
            if leads {
                grants.push(Text::from(format!("{group} leadership")));
            }
            grants.push(Text::from(group));
        }
    }
    if ranks::is_chief(title) {
        grants.push(Text::from("c-suite"));
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrion_kernel::Time;
    use orchestrion_kernel::knowledge::Reader;

    /// Whether somebody with this title may see what is restricted to this audience.
    fn may_see(title: &str, audience: &str) -> bool {
        let who = Identity {
            user_name: "Ada".to_string(),
            authority: title.to_string(),
            department: "Security".to_string(),
            organization: String::new(),
            permissions: Vec::new(),
        };
        let item::Identity { rank, permissions, .. } = identity(&who);
        let reader = Reader { rank, permissions, scope: Scope::Global, now: Time::default() };
        reader.may_see(&import(&format!("[RESTRICTED: Some data restricted to {audience}] value")).audience)
    }

    #[test]
    fn a_level_sees_what_is_restricted_to_it_and_to_lower_ones() {
        for (title, audience) in
            [("VP Sales", "VP+"), ("CFO", "VP+"), ("HR Director", "Director+"), ("CEO", "Director+")]
        {
            assert!(may_see(title, audience), "{title} and {audience}");
        }
        for (title, audience) in [("HR Director", "VP+"), ("Account Executive", "VP+"), ("Cook", "Director+")]
        {
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
