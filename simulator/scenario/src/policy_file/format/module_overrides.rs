//! The module overrides of a policy file: context settings of single modules.

use super::names::ByName;
use super::{EnumName, Section, Setting};
use orchestrion_kernel::Weight;
use orchestrion_kernel::item::Topic;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{ContextPolicy, ModuleContextPolicy};
use orchestrion_yaml::{Decimal, required_value};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The context settings of one module.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleOverrideFile {
    /// The budget, in tokens, of the module's context and reply.
    #[serde(default, deserialize_with = "required_value")]
    pub budget_tokens: Option<u32>,
    /// The utility weights by topic, from 0 to 1000. An item of weight 0 is selected only as a dependency.
    #[serde(default, deserialize_with = "required_value")]
    pub weights: Option<ByName<Topic, Decimal<Weight>>>,
}

impl Section<ContextPolicy> for ByName<Module, ModuleOverrideFile> {
    fn apply(&self, contexts: &mut ContextPolicy) {
        let overrides = std::mem::take(&mut contexts.module_overrides).into_iter();
        let mut overrides: BTreeMap<_, _> = overrides.map(|policy| (policy.module, policy)).collect();
        for (EnumName(module), file) in &self.0 {
            let new =
                || ModuleContextPolicy { module: *module, budget_tokens: None, weights: BTreeMap::new() };
            let policy = overrides.entry(*module).or_insert_with(new);
            policy.budget_tokens = file.budget_tokens.or(policy.budget_tokens);
            let weights = file.weights.iter().flat_map(|weights| &weights.0);
            policy.weights.extend(weights.map(|(topic, weight)| (topic.0, weight.0)));
        }
        contexts.module_overrides = overrides.into_values().collect();
    }

    fn settings(contexts: &ContextPolicy) -> Vec<Setting> {
        let setting = |policy: &ModuleContextPolicy| Setting {
            path: policy.module.name().to_owned(),
            value: format_override(policy),
            meaning: "context settings of this module".to_owned(),
        };
        contexts.module_overrides.iter().map(setting).collect()
    }
}

/// Formats the override of one module as YAML.
fn format_override(policy: &ModuleContextPolicy) -> String {
    let budget = policy.budget_tokens.map(|budget| format!("budget_tokens: {budget}"));
    let weights: Vec<String> =
        policy.weights.iter().map(|(topic, weight)| format!("{topic}: {weight}")).collect();
    let weights = (!weights.is_empty()).then(|| format!("weights: {{{}}}", weights.join(", ")));
    format!("{{{}}}", budget.into_iter().chain(weights).collect::<Vec<_>>().join(", "))
}
