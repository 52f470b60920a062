//! The additional debaters of a policy file.

use super::{Section, Setting};
use crate::policy_file::write::quoted;
use orchestrion_kernel::Weight;
use orchestrion_kernel::policy::AdditionalDebater;
use orchestrion_yaml::{Decimal, StrictText, required_value};
use schemars::JsonSchema;
use serde::Deserialize;

/// A debater that argues after the five roles, and after those before it in the list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdditionalDebaterFile {
    /// Its name, unique in the policy.
    pub name: StrictText,
    /// The weight of its arguments in the consensus, from 0 to 1000. Default: 1.3 for `validation`, otherwise 1.
    #[serde(default, deserialize_with = "required_value")]
    pub weight: Option<Decimal<Weight>>,
}

impl AdditionalDebaterFile {
    fn to_kernel(&self) -> AdditionalDebater {
        let debater = AdditionalDebater::new(self.name.as_str());
        match self.weight {
            Some(Decimal(weight)) => AdditionalDebater { weight, ..debater },
            None => debater,
        }
    }
}

impl Section<Vec<AdditionalDebater>> for Vec<AdditionalDebaterFile> {
    fn apply(&self, debaters: &mut Vec<AdditionalDebater>) {
        *debaters = self.iter().map(AdditionalDebaterFile::to_kernel).collect();
    }

    fn settings(debaters: &Vec<AdditionalDebater>) -> Vec<Setting> {
        let entry = |debater: &AdditionalDebater| {
            format!("{{name: {}, weight: {}}}", quoted(debater.name.as_str()), debater.weight)
        };
        let entries: Vec<String> = debaters.iter().map(entry).collect();
        vec![Setting {
            path: String::new(),
            value: format!("[{}]", entries.join(", ")),
            meaning: "debaters after the five roles, each with name and weight; default weight: 1.3 for validation, else 1"
                .to_owned(),
        }]
    }
}
