//! Marks by the names that people give them.

use super::{INPUTS, Mark, REFUSALS};
use orchestrion_kernel::claims::CLAIMS;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{Source, TRANSITIONS};

/// Everything that can be asked for by name: rows (`T18`), their guards where they do not hold (`not T18`), control states,
/// kinds of input, refusals, and claims, which stand for their premises.
pub fn names() -> impl Iterator<Item = (String, Mark)> {
    let rows = (0..TRANSITIONS.len()).map(Mark::Row);
    let guarded = (0..).zip(TRANSITIONS).filter(|(_, row)| row.when != Guard::Always);
    let guards = guarded.map(|(place, _)| Mark::Guard(place));
    let phases = (0..Phase::ALL.len()).map(Mark::Phase);
    let inputs = (0..INPUTS.len()).map(Mark::Input);
    let refusals = (0..REFUSALS.len()).map(Mark::Refusal);
    let claims = (0..CLAIMS.len()).map(Mark::Premise);
    let all = rows.chain(guards).chain(phases).chain(inputs).chain(refusals).chain(claims);
    all.map(|mark| (mark.name(), mark))
}

/// The mark of this name; capitals do not matter.
#[must_use]
pub fn named(name: &str) -> Option<Mark> {
    names().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mark)| mark)
}

impl Mark {
    /// Its name, by which [`named`] finds it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Guard(row) => format!("not {}", TRANSITIONS[row].id),
            _ => self.to_string(),
        }
    }

    /// What is behind its name: a row's edge and label, a guard, a claim's statement; nothing where the name says it all.
    #[must_use]
    pub fn about(self) -> String {
        match self {
            Self::Row(row) => {
                let row = &TRANSITIONS[row];
                match row.from {
                    Source::At(from) => format!("{from} → {}: {}", row.to, row.label),
                    Source::Within(region) => format!("{region:?} → {}: {}", row.to, row.label),
                }
            }
            Self::Broken(claim) | Self::Premise(claim) => CLAIMS[claim].statement.to_owned(),
            Self::Guard(row) => format!("where its guard fails: {}", TRANSITIONS[row].when),
            Self::Phase(_) | Self::Input(_) | Self::Refusal(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_marks_have_the_same_name() {
        let all: Vec<(String, Mark)> = names().collect();
        let different: BTreeSet<String> = all.iter().map(|(name, _)| name.to_lowercase()).collect();
        assert_eq!(different.len(), all.len());
        assert!(all.iter().all(|(name, mark)| named(&name.to_uppercase()) == Some(*mark)));
    }

    #[test]
    fn whatever_is_expected_has_a_name() {
        let named: BTreeSet<Mark> = names().map(|(_, mark)| mark).collect();
        let expected = Mark::expected(&orchestrion_kernel::Policy::hardened());
        assert!(expected.iter().all(|mark| named.contains(mark)));
    }
}
