//! Audiences of restrictions: levels and groups.

use crate::pattern::compile;
use crate::stems::words;
use orchestrion_kernel::Text;
use orchestrion_kernel::item::{Audience, Rank};
use regex::Regex;
use std::sync::LazyLock;

/// The group of directors and higher ranks. The kernel has one rank for directors and managers.
pub(crate) const DIRECTORS: &str = "director and above";

/// Parses the audience of a restriction. The bare word of a level permits that level and higher ones. Any other name permits the
/// principals with a grant of that name.
pub(crate) fn parse_audience(restriction: &str) -> Audience {
    static ABOVE: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)(\+|\s+(and|or)\s+(above|up|higher)|\s+only|\s+level)+\W*$"));
    let name = group_name(&ABOVE.replace(restriction.trim(), ""));
    match name.as_str().trim_end_matches('s') {
        "vp" | "executive" => Audience::AtLeast(Rank::Executive),
        "manager" => Audience::AtLeast(Rank::Manager),
        "director" => Audience::Permitted(Text::from(DIRECTORS)),
        _ => Audience::Permitted(name),
    }
}

/// Returns the audience that satisfies both restrictions; no reader if the kernel has no audience for it.
pub(crate) fn intersect(one: Audience, other: Audience) -> Audience {
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
        _ => no_reader(),
    }
}

/// Returns the audience without readers: no principal has a grant with an empty name.
pub(crate) fn no_reader() -> Audience {
    Audience::Permitted(Text::from(""))
}

/// Returns the normalized name of a group.
pub(crate) fn group_name(group: &str) -> Text {
    let is_distinctive = |word: &String| !["team", "only", "the"].contains(&word.as_str());
    Text::from(words(group).into_iter().filter(is_distinctive).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intersection_without_kernel_audience_has_no_reader() {
        let hr = || parse_audience("HR");
        assert_eq!(intersect(hr(), hr()), hr());
        assert_eq!(
            intersect(parse_audience("VP+"), parse_audience("Director+")),
            Audience::AtLeast(Rank::Executive)
        );
        assert_eq!(
            intersect(parse_audience("Manager+"), parse_audience("Director+")),
            parse_audience("Director+")
        );
        assert_eq!(intersect(hr(), parse_audience("VP+")), no_reader());
    }
}
