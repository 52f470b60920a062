//! Debaters that a policy adds to the five roles (decision 0039).

use super::PolicyError;
use crate::ids::Text;
use crate::module::{Module, Operation};
use crate::score::Weight;
use alloc::collections::BTreeSet;

/// The weight of the validation role (design §2, "consensus score"). Other additional debaters have weight 1.
const VALIDATION_WEIGHT: u32 = 1_300_000;

/// A debater that argues after the Optimizer, or after Security's review of the Optimizer's revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct AdditionalDebater {
    /// The name, unique in a policy.
    pub name: Text,
    /// The weight of its arguments in the consensus.
    pub weight: Weight,
}

impl AdditionalDebater {
    /// Returns a debater with the default weight of its name: 1.3 for `validation`, otherwise 1.
    #[must_use]
    pub fn new(name: impl Into<Text>) -> Self {
        let name = name.into();
        let weight = match name.as_str() {
            "validation" => Weight::from_millionths(VALIDATION_WEIGHT).unwrap_or(Weight::ONE),
            _ => Weight::ONE,
        };
        Self { name, weight }
    }

    /// Returns the debater that performs the operation; `None` for every operation of another module.
    #[must_use]
    pub fn by_operation(debaters: &[Self], operation: Operation) -> Option<&Self> {
        let Operation::ArgueAdditional { debater } = operation else { return None };
        usize::try_from(debater).ok().and_then(|position| debaters.get(position))
    }
}

/// Checks that each debater has a name of its own, which no module has.
pub(super) fn validate(debaters: &[AdditionalDebater]) -> Result<(), PolicyError> {
    let error = |reason| Err(PolicyError { setting: "additional_debaters", conflicts_with: None, reason });
    let mut names = BTreeSet::new();
    for AdditionalDebater { name, .. } in debaters {
        if name.as_str().trim().is_empty() {
            return error("a debater needs a name; expected text");
        }
        if Module::ALL.iter().any(|module| module.name() == name.as_str()) {
            return error("a module has this name already; expected another name");
        }
        if !names.insert(name) {
            return error("two debaters have the same name; expected each name once");
        }
    }
    Ok(())
}
