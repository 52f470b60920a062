//! Observations by name.

use super::{InputKind, Observation, RefusalKind};
use orchestrion_claims::CLAIMS;
use orchestrion_kernel::control::guard::Guard;
use orchestrion_kernel::control::phase::Phase;
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionSource};

/// The observations that have a name: transitions (`T18`), guards that do not hold (`not T18`), phases, kinds of input,
/// refusals, and premises, under the id of their claim.
pub fn observation_names() -> impl Iterator<Item = (String, Observation)> {
    let rows = (0..TRANSITIONS.len()).map(Observation::Row);
    let guarded = (0..).zip(TRANSITIONS).filter(|(_, row)| row.when != Guard::Always);
    let guards = guarded.map(|(position, _)| Observation::Guard(position));
    let phases = Phase::ALL.into_iter().map(Observation::Phase);
    let inputs = InputKind::ALL.iter().copied().map(Observation::Input);
    let refusals = RefusalKind::ALL.iter().copied().map(Observation::Refusal);
    let claims = (0..CLAIMS.len()).map(Observation::Premise);
    let all = rows.chain(guards).chain(phases).chain(inputs).chain(refusals).chain(claims);
    all.map(|observation| (observation.name(), observation))
}

/// The observation with this name, regardless of case.
#[must_use]
pub fn observation_by_name(name: &str) -> Option<Observation> {
    observation_names()
        .find(|(other, _)| other.eq_ignore_ascii_case(name))
        .map(|(_, observation)| observation)
}

impl Observation {
    /// The name, by which [`observation_by_name`] finds it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Guard(row) => format!("not {}", TRANSITIONS[row].id),
            Self::Violation(_)
            | Self::Premise(_)
            | Self::Phase(_)
            | Self::Row(_)
            | Self::Input(_)
            | Self::Refusal(_) => self.to_string(),
        }
    }

    /// A description: the edge and label of a row, a guard, the statement of a claim; empty where the name suffices.
    #[must_use]
    pub fn description(self) -> String {
        match self {
            Self::Row(row) => {
                let row = &TRANSITIONS[row];
                match row.from {
                    TransitionSource::Phase(from) => format!("{from} → {}: {}", row.to, row.label),
                    TransitionSource::Region(region) => {
                        format!("{} → {}: {}", region.name(), row.to, row.label)
                    }
                }
            }
            Self::Violation(claim) | Self::Premise(claim) => CLAIMS[claim].statement.to_owned(),
            Self::Guard(row) => format!("its guard does not hold: {}", TRANSITIONS[row].when),
            Self::Phase(_) | Self::Input(_) | Self::Refusal(_) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::OBSERVATION_COUNT;
    use orchestrion_kernel::Policy;
    use std::collections::BTreeSet;

    #[test]
    fn observation_names_are_unique() {
        let all: Vec<(String, Observation)> = observation_names().collect();
        let distinct: BTreeSet<String> = all.iter().map(|(name, _)| name.to_lowercase()).collect();
        assert_eq!(distinct.len(), all.len());
        assert!(
            all.iter()
                .all(|(name, observation)| observation_by_name(&name.to_uppercase()) == Some(*observation))
        );
    }

    #[test]
    fn expected_observations_have_names() {
        let named: BTreeSet<Observation> = observation_names().map(|(_, observation)| observation).collect();
        let expected = Observation::expected_observations(&Policy::hardened());
        assert!(expected.iter().all(|observation| named.contains(observation)));
    }

    #[test]
    fn observations_have_distinct_numbers() {
        let violations = (0..CLAIMS.len()).map(Observation::Violation);
        let guards = (0..TRANSITIONS.len()).map(Observation::Guard);
        let named = observation_names().map(|(_, observation)| observation);
        let numbers: BTreeSet<usize> =
            violations.chain(guards).chain(named).map(Observation::index).collect();
        assert!(numbers.into_iter().eq(0..OBSERVATION_COUNT));
    }
}
