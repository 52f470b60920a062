//! The serialized form of a policy file. Each setting is optional.

mod debaters;
mod module_overrides;
mod names;
mod ranks;
mod sections;

pub use debaters::AdditionalDebaterFile;
pub use module_overrides::ModuleOverrideFile;
pub use names::{ByName, EnumName, NamedEnum};
use ranks::RanksFile;
pub use sections::{
    BoundFile, BoundsFile, CompactionFile, ContextsFile, ModeFile, SituationFile, ThresholdsFile,
    WeightsFile, WritesFile,
};

use super::meanings::rule_meaning;
use miette::SourceSpan;
use orchestrion_kernel::Policy;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{EloMethod, Rule, Rules};
use orchestrion_yaml::{Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::borrow::Cow;

/// A setting of a policy: its path in a file, its value as YAML, and its meaning.
pub(super) struct Setting {
    pub(super) path: String,
    pub(super) value: String,
    pub(super) meaning: String,
}

/// A section of a policy file, which sets the part `K` of a policy.
trait Section<K> {
    /// Writes the settings of this section to the policy.
    fn apply(&self, policy: &mut K);

    /// Returns the place of a setting: the outer `None` if the section is its place, the inner `None` if it is not set.
    fn span(&self, _key: &str) -> Option<Option<SourceSpan>> {
        None
    }

    /// Returns every setting of a policy, with its path in the section.
    fn settings(policy: &K) -> Vec<Setting>;
}

macro_rules! policy_file {
    ($($(#[$doc:meta])* $section:ident: $file:ty = $part:ident;)*) => {
        /// A policy: the settings that differ from the policy that it extends.
        #[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct PolicyFile {
            /// The name of the policy.
            pub name: Spanned<StrictText>,
            /// A built-in policy (as-drawn, hardened), or the path of a policy file relative to this file. Default: hardened.
            #[serde(default, deserialize_with = "required_value")]
            pub extends: Option<Spanned<StrictText>>,
            $(
                $(#[$doc])*
                #[serde(default, deserialize_with = "required_value")]
                pub $section: Option<Spanned<$file>>,
            )*
        }

        impl PolicyFile {
            /// Returns the base policy with the settings of this file; not yet validated.
            pub(super) fn apply_to(&self, base: &Policy) -> Policy {
                let mut policy = Policy { name: self.name.value.as_str().to_owned(), ..base.clone() };
                $(if let Some(section) = &self.$section {
                    section.value.apply(&mut policy.$part);
                })*
                policy
            }

            /// Returns the place of a setting, by its path; `None` if the file does not set it.
            pub(super) fn span(&self, path: &str) -> Option<SourceSpan> {
                let (section, key) = path.split_once('.').unwrap_or((path, ""));
                match section {
                    $(stringify!($section) => {
                        self.$section.as_ref().and_then(|file| file.value.span(key).unwrap_or(file.span()))
                    })*
                    _ => None,
                }
            }
        }

        /// Returns every setting of a policy, those outside of sections first.
        pub(super) fn settings(policy: &Policy) -> Vec<Setting> {
            let mut settings = Vec::new();
            $(for setting in <$file>::settings(&policy.$part) {
                let path = match setting.path.as_str() {
                    "" => stringify!($section).to_owned(),
                    key => format!("{}.{key}", stringify!($section)),
                };
                settings.push(Setting { path, ..setting });
            })*
            settings.sort_by_key(|setting| setting.path.contains('.'));
            settings
        }
    };
}

policy_file! {
    /// The thresholds of scores, from 0 to 1.
    thresholds: ThresholdsFile = thresholds;
    /// The limits of repetitions.
    bounds: BoundsFile = bounds;
    /// The weights of the roles in the consensus, from 0 to 1000.
    weights: WeightsFile = weights;
    /// The debaters that argue after the five roles, in this order. Default: none.
    additional_debaters: Vec<AdditionalDebaterFile> = additional_debaters;
    /// The rating method after a debate: fixed steps, or standard duels.
    elo: EnumName<EloMethod> = elo;
    /// The ranks of titles, roles and systems.
    ranks: RanksFile = ranks;
    /// The ranks that writes require.
    writes: WritesFile = writes;
    /// The triggers and the size of compactions.
    compaction: CompactionFile = compaction;
    /// The budgets and utilities of contexts.
    contexts: ContextsFile = contexts;
    /// The limits of the situation, and the reasoning mode of each operation.
    situation: SituationFile = situation;
    /// The context settings of single modules.
    module_overrides: ByName<Module, ModuleOverrideFile> = contexts;
    /// The rules beyond the diagram of 004 that are in force.
    rules: RulesFile = rules;
}

impl Section<EloMethod> for EnumName<EloMethod> {
    fn apply(&self, policy: &mut EloMethod) {
        *policy = self.0;
    }

    fn settings(policy: &EloMethod) -> Vec<Setting> {
        let meaning = "rating method after a debate: incremental (fixed steps) or standard (each PRO role duels each CON role)";
        vec![Setting { path: String::new(), value: policy.name().to_owned(), meaning: meaning.to_owned() }]
    }
}

/// The rules by name, each with whether it is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RulesFile(pub ByName<Rule, Spanned<bool>>);

impl Section<Rules> for RulesFile {
    fn apply(&self, rules: &mut Rules) {
        for (rule, on) in &self.0.0 {
            rules.set(rule.0, on.value);
        }
    }

    fn span(&self, key: &str) -> Option<Option<SourceSpan>> {
        let rule = Rule::ALL.iter().find(|rule| rule.name() == key)?;
        Some(self.0.0.get(&EnumName(*rule)).and_then(Spanned::span))
    }

    fn settings(rules: &Rules) -> Vec<Setting> {
        let setting = |rule: &Rule| Setting {
            path: rule.name().to_owned(),
            value: rules.has(*rule).to_string(),
            meaning: rule_meaning(*rule),
        };
        Rule::ALL.iter().map(setting).collect()
    }
}

impl JsonSchema for RulesFile {
    fn schema_name() -> Cow<'static, str> {
        "Rules".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rule = |rule: &Rule| {
            let schema = serde_json::json!({"type": "boolean", "description": rule_meaning(*rule)});
            (rule.name().to_owned(), schema)
        };
        let properties: serde_json::Map<_, _> = Rule::ALL.iter().map(rule).collect();
        json_schema!({
            "description": "The rules that are in force.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}
