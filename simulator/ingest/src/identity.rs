//! Identities from titles: rank and grants (003 layer 1).

use crate::audience::{DIRECTORS, group_name};
use crate::ranks::{is_chief_title, is_past_title, rank_from_table, rank_of_title};
use crate::stems::words;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::knowledge::NewIdentity;

/// Returns an identity with the rank and the grants of its title, and with the listed permissions. The department grants nothing,
/// because it only names a subject.
#[must_use]
pub fn identity_from_title(
    name: &str,
    title: &str,
    department: &str,
    organization: &str,
    permissions: &[String],
) -> NewIdentity {
    let listed = permissions.iter().map(|group| group_name(group));
    let permissions = granted_groups(title).into_iter().chain(listed);
    NewIdentity {
        name: Text::from(name),
        authority: Text::from(title),
        rank: Some(rank_of_title(title)),
        department: Text::from(department),
        organization: Text::from(organization),
        permissions: permissions.filter(|name| !name.as_str().is_empty()).collect(),
    }
}

/// Returns the groups of a title: every run of its words that does not rank above the title; from manager on the leadership of
/// each; the directors; the C-suite. Words after `to` are another person's title, and a past title grants nothing.
fn granted_groups(title: &str) -> Vec<Text> {
    if is_past_title(title) {
        return Vec::new();
    }
    let lower = title.to_lowercase();
    let words = words(lower.split(" to ").next().unwrap_or_default());
    let rank = rank_of_title(title);
    let outranks =
        |group: &str| rank_from_table(group).is_some_and(|other| other.min(Rank::Executive) > rank);
    let mut groups = Vec::new();
    for start in 0..words.len() {
        for end in start + 1..=words.len() {
            let group = words[start..end].join(" ");
            if outranks(&group) {
                continue;
            }
            if rank >= Rank::Manager {
                groups.push(Text::from(format!("{group} leadership")));
            }
            groups.push(Text::from(group));
        }
    }
    let is_director = rank >= Rank::Manager && words.iter().any(|word| word == "director");
    if is_director || rank >= Rank::Executive {
        groups.push(Text::from(DIRECTORS));
    }
    if is_chief_title(title) {
        groups.push(Text::from("c-suite"));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagged_text::TaggedText;
    use orchestrion_kernel::Timestamp;
    use orchestrion_kernel::item::Scope;
    use orchestrion_kernel::knowledge::Principal;

    /// Whether a principal with this title may read a text for this audience.
    fn may_read(title: &str, audience: &str) -> bool {
        may_read_text(title, &format!("[RESTRICTED: Some data restricted to {audience}] value"))
    }

    fn may_read_text(title: &str, text: &str) -> bool {
        let NewIdentity { rank, permissions, .. } = identity_from_title("Ada", title, "Security", "", &[]);
        let principal = Principal {
            user: None,
            rank: rank.unwrap_or(Rank::Unverified),
            permissions,
            scope: Scope::Global,
            now: Timestamp::default(),
        };
        principal.is_in_audience(&TaggedText::parse(text).audience)
    }

    #[test]
    fn group_member_may_read() {
        for (title, text) in [("HR Manager", "[RESTRICT: HR] 12 a day"), ("HR Manager", "[HR RESTRICTED] 12")]
        {
            assert!(may_read_text(title, text), "{title}: {text}");
            assert!(!may_read_text("Cook", text), "{text}");
        }
        assert!(may_read("Security Engineer", "Security team"));
        assert!(may_read("HR Manager", "HR"));
        assert!(may_read("Finance Director", "the Finance team only"));
        assert!(!may_read("Sales Rep", "Security team"), "the department grants nothing");
    }

    #[test]
    fn level_may_read_texts_for_lower_levels() {
        for (title, audience) in
            [("VP Sales", "VP+"), ("CFO", "VP+"), ("HR Director", "Director+"), ("CEO", "Director+")]
        {
            assert!(may_read(title, audience), "{title} and {audience}");
        }
        for (title, audience) in [
            ("HR Director", "VP+"),
            ("Account Executive", "VP+"),
            ("Executive Chef", "VP+"),
            ("Cook", "Director+"),
            ("Former HR Manager", "HR"),
            ("Not HR", "HR"),
        ] {
            assert!(!may_read(title, audience), "{title} and {audience}");
        }
    }

    #[test]
    fn leadership_requires_group_and_rank() {
        assert!(may_read("CS Manager", "CS leadership"));
        assert!(!may_read("CS Agent", "CS leadership"));
        assert!(!may_read("HR Manager", "CS leadership"));
    }

    #[test]
    fn c_suite_contains_only_chiefs() {
        assert!(may_read("CTO", "C-suite") && may_read("Chief of Staff", "C-suite"));
        assert!(!may_read("VP Sales", "C-suite"));
        for title in
            ["Intern to the CEO", "Assistant to the CEO", "CEO Assistant", "Executive Assistant to the CEO"]
        {
            for audience in ["C-suite", "CEO", "VP+", "the executives", "Director+"] {
                assert!(!may_read(title, audience), "{title} and {audience}");
            }
        }
        assert!(may_read("CEO", "CEO") && may_read("HR Assistant", "HR"));
        assert!(!may_read("Assistant Manager", "Manager+"));
    }

    #[test]
    fn unreadable_audience_has_no_reader() {
        for audience in ["", "people with hats", "VPN keepers"] {
            assert!(!may_read("CEO", audience), "{audience}");
        }
        for text in
            ["RESTRICTED: 12 a day", "[RESTRICTED: 12 a day]", "(confidential) 12", "[top (restricted"]
        {
            assert!(!may_read_text("CEO", text), "{text}");
        }
    }

    #[test]
    fn level_is_only_its_bare_word() {
        for (title, audience) in [
            ("Project Manager", "Director+"),
            ("Tech Lead", "directors and above"),
            ("CTO", "VP Finance only"),
            ("Sales Director", "Directors of Finance"),
            ("Sales Manager", "Manager of HR"),
            ("Sales Executive", "VP+"),
        ] {
            assert!(!may_read(title, audience), "{title} and {audience}");
        }
        for (title, audience) in [
            ("Sales Director", "Director+"),
            ("VP Sales", "directors and above"),
            ("VP Finance", "VP Finance only"),
            ("SVP", "VP+"),
            ("EVP Sales", "VPs only"),
            ("Sales Manager", "Managers"),
        ] {
            assert!(may_read(title, audience), "{title} and {audience}");
        }
    }

    #[test]
    fn listed_permissions_are_grants() {
        let permissions = |listed: &[&str]| {
            let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
            identity_from_title("Ada", "Cook", "", "", &listed).permissions
        };
        assert!(permissions(&["the Pay team", ""]).contains(&Text::from("pay")));
        assert!(!permissions(&["the Pay team", ""]).contains(&Text::from("")));
        assert!(!permissions(&[]).contains(&Text::from("pay")));
    }
}
