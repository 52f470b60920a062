//! Wording of changes, decisions and statements (003 rule 1).

use crate::pattern::compile;
use crate::ranks::rank_of_title;
use orchestrion_kernel::item::{Rank, SupersessionRule};
use regex::Regex;
use std::sync::LazyLock;

/// 003's words of change, and similar ones.
static CHANGES: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(actually|instead|chang(e|ed|ing)|moved?|updat(e|ed)|correction|now|new|overrid(e|ing)|make that|go back|finali[sz]ed|as of)\b",
    )
});

/// Words of a decision.
const DECISION: &str = r"let's|we'll|we're going|go(ing)? with|decided";

static DECIDES: LazyLock<Regex> = LazyLock::new(|| compile(&format!(r"(?i)\b({DECISION})\b")));

/// Words of a statement or a decision.
static STATES: LazyLock<Regex> = LazyLock::new(|| compile(&format!(r"(?i)\b({DECISION}|is|are)\b")));

/// The citation of a title.
static CITES: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)^(?:(?:per|according to|on behalf of) (?:the |our )?([\w ]+?),|\[(\w+)\])")
});

/// Returns the rank of the title that a text cites at its beginning, if any.
pub(crate) fn cited_rank(text: &str) -> Option<Rank> {
    let found = CITES.captures(text)?;
    found.get(1).or(found.get(2)).map(|title| rank_of_title(title.as_str()))
}

/// Whether a text has a word of decision.
pub(crate) fn is_decision(text: &str) -> bool {
    DECIDES.is_match(text)
}

/// The kinds of wording of a text.
pub(crate) struct Wording {
    /// Whether the text has a word of change.
    changes: bool,
    /// Whether the text has a word of statement or decision.
    states: bool,
    /// The rank that the text cites.
    pub(crate) cited_rank: Option<Rank>,
}

/// The kinds of wording that suffice for a supersession.
pub(crate) struct Sufficient {
    /// The citation of a higher rank.
    pub(crate) citation: bool,
    /// A word of change.
    pub(crate) change: bool,
    /// A word of statement or decision.
    pub(crate) statement: bool,
}

impl Wording {
    /// Classifies the wording of a text.
    pub(crate) fn from_text(text: &str) -> Self {
        Self { changes: CHANGES.is_match(text), states: STATES.is_match(text), cited_rank: cited_rank(text) }
    }

    /// Returns the rule by which the text supersedes a fact of this rank, or `None` without sufficient wording.
    pub(crate) fn rule(&self, rank: Rank, sufficient: &Sufficient) -> Option<SupersessionRule> {
        if sufficient.citation && self.cited_rank > Some(rank) {
            Some(SupersessionRule::Authority)
        } else if sufficient.change && self.changes {
            Some(SupersessionRule::Explicit)
        } else if sufficient.statement && self.states {
            Some(SupersessionRule::Implicit)
        } else {
            None
        }
    }
}
