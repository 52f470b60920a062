//! The serialized form of a policy file. Each setting is optional.

mod module_overrides;
mod names;

pub use module_overrides::ModuleOverrideFile;
pub(super) use module_overrides::format_override;
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
use orchestrion_yaml::{Decimal, LabeledError, Spanned, StrictText, required_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// A policy: the settings that differ from the policy that it extends.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// The name of the policy.
    pub name: Spanned<StrictText>,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file relative to this file. Default: hardened.
    #[serde(default, deserialize_with = "required_value")]
    pub extends: Option<Spanned<StrictText>>,
    /// The thresholds of scores, from 0 to 1.
    #[serde(default, deserialize_with = "required_value")]
    pub thresholds: Option<Spanned<ThresholdsFile>>,
    /// The limits of repetitions.
    #[serde(default, deserialize_with = "required_value")]
    pub bounds: Option<Spanned<BoundsFile>>,
    /// The weights of the roles in the consensus, from 0 to 1000.
    #[serde(default, deserialize_with = "required_value")]
    pub weights: Option<Spanned<WeightsFile>>,
    /// The rating method after a debate: fixed steps, or standard duels.
    #[serde(default, deserialize_with = "required_value")]
    pub elo: Option<Spanned<EnumName<EloMethod>>>,
    /// The ranks that writes require.
    #[serde(default, deserialize_with = "required_value")]
    pub writes: Option<Spanned<WritesFile>>,
    /// The triggers and the size of compactions.
    #[serde(default, deserialize_with = "required_value")]
    pub compaction: Option<Spanned<CompactionFile>>,
    /// The budgets and utilities of contexts.
    #[serde(default, deserialize_with = "required_value")]
    pub contexts: Option<Spanned<ContextsFile>>,
    /// The context settings of single modules.
    #[serde(default, deserialize_with = "required_value")]
    pub module_overrides: Option<Spanned<ByName<Module, ModuleOverrideFile>>>,
    /// The rules beyond the diagram of 004 that are in force.
    #[serde(default, deserialize_with = "required_value")]
    pub rules: Option<Spanned<RulesFile>>,
}

impl PolicyFile {
    /// Returns the base policy with the settings of this file; not yet validated.
    pub(super) fn apply_to(&self, base: &Policy) -> Policy {
        let mut policy = Policy { name: self.name.value.as_str().to_owned(), ..base.clone() };
        if let Some(section) = &self.thresholds {
            section.value.apply(&mut policy.thresholds);
        }
        if let Some(section) = &self.bounds {
            section.value.apply(&mut policy.bounds);
        }
        if let Some(section) = &self.weights {
            section.value.apply(&mut policy.weights);
        }
        if let Some(elo) = &self.elo {
            policy.elo = elo.value.0;
        }
        if let Some(section) = &self.writes {
            section.value.apply(&mut policy.writes);
        }
        if let Some(section) = &self.compaction {
            section.value.apply(&mut policy.compaction);
        }
        if let Some(section) = &self.contexts {
            section.value.apply(&mut policy.contexts);
        }
        if let Some(section) = &self.module_overrides {
            section.value.apply(&mut policy.contexts);
        }
        if let Some(section) = &self.rules {
            section.value.apply(&mut policy.rules);
        }
        policy
    }

    /// Returns the place of a setting, by its path; `None` if the file does not set it.
    pub(super) fn span(&self, path: &str) -> Option<SourceSpan> {
        let (section, key) = path.split_once('.').unwrap_or((path, ""));
        match section {
            "thresholds" => self.thresholds.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "bounds" => self.bounds.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "weights" => self.weights.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "writes" => self.writes.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "compaction" => self.compaction.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "contexts" => self.contexts.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "module_overrides" => self.module_overrides.as_ref().and_then(Spanned::span),
            "rules" => self.rules.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "elo" => self.elo.as_ref().and_then(Spanned::span),
            _ => None,
        }
    }
}

/// A setting with a value of the kernel.
trait Setting<K> {
    fn to_kernel(self) -> K;
}

impl<N> Setting<N> for Decimal<N> {
    fn to_kernel(self) -> N {
        self.0
    }
}

impl<N> Setting<N> for EnumName<N> {
    fn to_kernel(self) -> N {
        self.0
    }
}

impl Setting<Self> for u32 {
    fn to_kernel(self) -> Self {
        self
    }
}

impl Setting<Bound> for BoundFile {
    fn to_kernel(self) -> Bound {
        self.0
    }
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

        impl $name {
            /// Every setting with its unit and meaning.
            pub(super) const MEANINGS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($field), $meaning)),*];

            fn apply(&self, policy: &mut $kernel) {
                $(if let Some(setting) = self.$field {
                    policy.$field = setting.value.to_kernel();
                })*
            }

            /// Returns the place of a setting: the outer `None` for an unknown setting, the inner `None` for one that is not
            /// set.
            fn span(&self, key: &str) -> Option<Option<SourceSpan>> {
                match key {
                    $(stringify!($field) => Some(self.$field.as_ref().and_then(Spanned::span)),)*
                    _ => None,
                }
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

/// A bound: a number, or `unbounded`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundFile(pub Bound);

impl<'de> Deserialize<'de> for BoundFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        if text.value == "unbounded" {
            return Ok(Self(Bound::Unbounded));
        }
        let plain = !text.value.is_empty() && text.value.bytes().all(|byte| byte.is_ascii_digit());
        text.value.parse().ok().filter(|_| plain).map(|most| Self(Bound::AtMost(most))).ok_or_else(|| {
            LabeledError::new(
                format!("expected a whole number or `unbounded`, found `{}`", text.value.escape_debug()),
                "write the maximum, or `unbounded` for no limit",
            )
            .with_label(text.span(), "not a bound")
            .into_serde_error()
        })
    }
}

impl JsonSchema for BoundFile {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Bound".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [{"type": "integer", "minimum": 0, "maximum": u32::MAX}, {"const": "unbounded"}],
        })
    }
}

/// The rules by name, each with whether it is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RulesFile(pub ByName<Rule, Spanned<bool>>);

impl RulesFile {
    fn apply(&self, rules: &mut Rules) {
        for (rule, on) in &self.0.0 {
            rules.set(*rule, on.value);
        }
    }

    fn span(&self, key: &str) -> Option<Option<SourceSpan>> {
        let rule = Rule::ALL.iter().find(|rule| rule.name() == key)?;
        Some(self.0.0.get(rule).and_then(Spanned::span))
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
