//! The serialized form of a policy file. Each setting is optional.

mod module_overrides;
mod names;

pub use module_overrides::ModuleOverrideFile;
pub use names::{ByName, EnumName, NamedEnum};

use super::meanings::rule_meaning;
use miette::SourceSpan;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::module::Module;
use orchestrion_kernel::policy::{
    Bound, Bounds, CompactionPolicy, ContextPolicy, EloMethod, Rule, Rules, Thresholds, Tokenizer, Weights,
    WritePolicy,
};
use orchestrion_kernel::{Policy, Score, Weight};
use orchestrion_yaml::{
    Decimal, LabeledError, Spanned, StrictText, inline_schema, parse_scalar, required_value,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
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
    /// The rating method after a debate: fixed steps, or standard duels.
    elo: EnumName<EloMethod> = elo;
    /// The ranks that writes require.
    writes: WritesFile = writes;
    /// The triggers and the size of compactions.
    compaction: CompactionFile = compaction;
    /// The budgets and utilities of contexts.
    contexts: ContextsFile = contexts;
    /// The context settings of single modules.
    module_overrides: ByName<Module, ModuleOverrideFile> = contexts;
    /// The rules beyond the diagram of 004 that are in force.
    rules: RulesFile = rules;
}

/// The value of a setting, with its value in the kernel.
trait SettingValue<K> {
    fn to_kernel(self) -> K;
    fn format(value: K) -> String;
}

macro_rules! setting_values {
    ($($file:ty = $kernel:ty: $to_kernel:expr, $format:expr;)*) => {$(
        impl SettingValue<$kernel> for $file {
            fn to_kernel(self) -> $kernel {
                let convert: fn(Self) -> $kernel = $to_kernel;
                convert(self)
            }
            fn format(value: $kernel) -> String {
                let format: fn($kernel) -> String = $format;
                format(value)
            }
        }
    )*};
}

setting_values! {
    Decimal<Score> = Score: |number| number.0, |score| score.to_string();
    Decimal<Weight> = Weight: |number| number.0, |weight| weight.to_string();
    EnumName<Rank> = Rank: |name| name.0, |rank| rank.name().to_owned();
    EnumName<Tokenizer> = Tokenizer: |name| name.0, |tokenizer| tokenizer.name().to_owned();
    u32 = u32: |number| number, |number| number.to_string();
    BoundFile = Bound: |bound| bound.0, |bound| match bound {
        Bound::AtMost(most) => most.to_string(),
        Bound::Unbounded => UNBOUNDED.to_owned(),
    };
}

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident for $kernel:ident { $($field:ident: $value:ty, $meaning:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                #[doc = $meaning]
                #[serde(default, deserialize_with = "required_value")]
                pub $field: Option<Spanned<$value>>,
            )*
        }

        impl Section<$kernel> for $name {
            fn apply(&self, policy: &mut $kernel) {
                $(if let Some(setting) = self.$field {
                    policy.$field = setting.value.to_kernel();
                })*
            }

            fn span(&self, key: &str) -> Option<Option<SourceSpan>> {
                match key {
                    $(stringify!($field) => Some(self.$field.as_ref().and_then(Spanned::span)),)*
                    _ => None,
                }
            }

            fn settings(policy: &$kernel) -> Vec<Setting> {
                vec![$(Setting {
                    path: stringify!($field).to_owned(),
                    value: <$value>::format(policy.$field),
                    meaning: $meaning.to_owned(),
                }),*]
            }
        }
    )*};
}

sections! {
    /// The thresholds of scores.
    ThresholdsFile for Thresholds {
        redebate_below: Decimal<Score>, "score, 0 to 1: a lower consensus starts another pass, if one is left";
        proceed_from: Decimal<Score>, "score, 0 to 1: minimum consensus to proceed";
        veto_from: Decimal<Score>, "confidence, 0 to 1: minimum confidence of a Security objection that is a veto";
        objection_from: Decimal<Score>, "confidence, 0 to 1: minimum confidence of a Security objection that has extra weight and is rated";
        critique_above: Decimal<Score>, "confidence, 0 to 1: a Critic objection with a higher confidence is rated";
    }
    /// The limits of repetitions.
    BoundsFile for Bounds {
        passes: u32, "maximum number of debate passes, at least 1";
        repairs: BoundFile, "maximum number of repairs of a request: a number, or unbounded";
        audit_attempts: u32, "maximum number of calls to the outside audit sink, at least 1";
    }
    /// The weights of the roles in the consensus.
    WeightsFile for Weights {
        analyst: Decimal<Weight>, "factor, 0 to 1000: weight of the Analyst";
        solution: Decimal<Weight>, "factor, 0 to 1000: weight of Solution";
        critic: Decimal<Weight>, "factor, 0 to 1000: weight of the Critic";
        security: Decimal<Weight>, "factor, 0 to 1000: weight of Security";
        optimizer: Decimal<Weight>, "factor, 0 to 1000: weight of the Optimizer";
    }
    /// The ranks that writes require.
    WritesFile for WritePolicy {
        constraint_from: EnumName<Rank>, "rank: minimum rank to write constraints";
        organizational_from: EnumName<Rank>, "rank: minimum rank to write to the organizational memory";
    }
    /// The triggers and the size of compactions.
    CompactionFile for CompactionPolicy {
        from_items: u32, "items: a compaction group of this size is compacted";
        from_tokens: u32, "tokens: selectable items of this total size are compacted";
        cluster_items: u32, "items of one cluster, oldest first; at least 2";
    }
    /// The budgets and utilities of contexts.
    ContextsFile for ContextPolicy {
        budget_tokens: u32, "tokens of a context and its reply";
        reserved_tokens: u32, "tokens of the budget that are reserved for the reply";
        tokenizer: EnumName<Tokenizer>, "tokenizer: bytes (four per token), cl100k_base or o200k_base";
        recency: Decimal<Weight>, "factor, 0 to 1000: utility of the newest item relative to the oldest";
        relevance: Decimal<Weight>, "factor, 0 to 1000: utility of an item with the terms of the request";
    }
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

/// The bound that permits every number.
const UNBOUNDED: &str = "unbounded";

/// A bound: a number, or `unbounded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundFile(pub Bound);

impl<'de> Deserialize<'de> for BoundFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "not a bound", |text| {
            if text == UNBOUNDED {
                return Ok(Self(Bound::Unbounded));
            }
            let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|_| plain).map(|most| Self(Bound::AtMost(most))).ok_or_else(|| {
                LabeledError::new(
                    format!("expected a whole number or `unbounded`, found `{}`", text.escape_debug()),
                    "write the maximum, or `unbounded` for no limit",
                )
            })
        })
    }
}

inline_schema!(BoundFile; _ => json_schema!({
    "anyOf": [{"type": "integer", "minimum": 0, "maximum": u32::MAX}, {"const": UNBOUNDED}],
}));

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
