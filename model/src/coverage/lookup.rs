//! Marks by the names that people give them.

use super::{INPUT_KINDS, Observation, REFUSAL_KINDS};
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionSource};

/// Everything that can be asked for by name: rows (`T18`), their guards where they do not hold (`not T18`), control states,
/// kinds of input, refusals, and claims, which stand for their premises.
pub fn observation_names() -> impl Iterator<Item = (String, Observation)> {
    let rows = (0..TRANSITIONS.len()).map(Observation::Row);
    let guarded = (0..).zip(TRANSITIONS).filter(|(_, row)| row.when != Guard::Always);
    let guards = guarded.map(|(place, _)| Observation::Guard(place));
    let phases = (0..Phase::ALL.len()).map(Observation::Phase);
    let inputs = (0..INPUT_KINDS.len()).map(Observation::Input);
    let refusals = (0..REFUSAL_KINDS.len()).map(Observation::Refusal);
    let claims = (0..CLAIMS.len()).map(Observation::Premise);
    let all = rows.chain(guards).chain(phases).chain(inputs).chain(refusals).chain(claims);
    all.map(|mark| (mark.name(), mark))
}

/// The mark of this name; capitals do not matter.
#[must_use]
pub fn observation_by_name(name: &str) -> Option<Observation> {
    observation_names().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, mark)| mark)
}

impl Observation {
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
    pub fn description(self) -> String {
        match self {
            Self::Row(row) => {
                let row = &TRANSITIONS[row];
                match row.from {
                    TransitionSource::Phase(from) => format!("{from} → {}: {}", row.to, row.label),
                    TransitionSource::Region(region) => format!("{region:?} → {}: {}", row.to, row.label),
                }
            }
            Self::Violation(claim) | Self::Premise(claim) => CLAIMS[claim].statement.to_owned(),
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
        let all: Vec<(String, Observation)> = observation_names().collect();
        let different: BTreeSet<String> = all.iter().map(|(name, _)| name.to_lowercase()).collect();
        assert_eq!(different.len(), all.len());
        assert!(all.iter().all(|(name, mark)| observation_by_name(&name.to_uppercase()) == Some(*mark)));
    }

    #[test]
    fn whatever_is_expected_has_a_name() {
        let named: BTreeSet<Observation> = observation_names().map(|(_, mark)| mark).collect();
        let expected = Observation::expected_observations(&orchestrion_kernel::Policy::hardened());
        assert!(expected.iter().all(|mark| named.contains(mark)));
    }
}
