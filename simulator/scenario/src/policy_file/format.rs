//! A policy file, as it is written. Every setting may be left out.

mod views;

pub(super) use views::written;
pub(super) use views::{ByName, ViewFile};

use super::write::rule_meaning;
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
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

/// A policy: the numbers and rules by which requests are judged, as far as they differ from another policy's.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    /// How the policy is called.
    pub name: Spanned<StrictText>,
    /// A built-in policy (as-drawn, hardened), or the path of a policy file, relative to this file. Left out:
    /// hardened.
    #[serde(default, deserialize_with = "required_value")]
    pub extends: Option<Spanned<StrictText>>,
    /// The lines that scores are compared with; from 0 to 1.
    #[serde(default, deserialize_with = "required_value")]
    pub thresholds: Option<Spanned<ThresholdsFile>>,
    /// How often things may happen.
    #[serde(default, deserialize_with = "required_value")]
    pub bounds: Option<Spanned<BoundsFile>>,
    /// How much each voice counts in the consensus; from 0 to 1000.
    #[serde(default, deserialize_with = "required_value")]
    pub weights: Option<Spanned<WeightsFile>>,
    /// How the roles' ratings move after a debate: by fixed steps, or by standard duels.
    #[serde(default, deserialize_with = "required_value")]
    pub elo: Option<Spanned<EnumName<EloMethod>>>,
    /// Who may write what into what is known.
    #[serde(default, deserialize_with = "required_value")]
    pub writes: Option<Spanned<WritesFile>>,
    /// When what is known is compacted, and how much of it at once.
    #[serde(default, deserialize_with = "required_value")]
    pub compaction: Option<Spanned<CompactionFile>>,
    /// How much modules are shown.
    #[serde(default, deserialize_with = "required_value")]
    pub contexts: Option<Spanned<ContextsFile>>,
    /// What single modules are shown differently.
    #[serde(default, deserialize_with = "required_value")]
    pub views: Option<Spanned<ByName<Module, ViewFile>>>,
    /// Which rules that go beyond the drawing of 004 are in force.
    #[serde(default, deserialize_with = "required_value")]
    pub rules: Option<Spanned<RulesFile>>,
}

impl PolicyFile {
    /// The policy that this file makes of the one that it extends; not yet validated.
    pub(super) fn over(&self, base: &Policy) -> Policy {
        let mut policy = Policy { name: self.name.value.as_str().to_owned(), ..base.clone() };
        if let Some(section) = &self.thresholds {
            section.value.lay_over(&mut policy.thresholds);
        }
        if let Some(section) = &self.bounds {
            section.value.lay_over(&mut policy.bounds);
        }
        if let Some(section) = &self.weights {
            section.value.lay_over(&mut policy.weights);
        }
        if let Some(elo) = &self.elo {
            policy.elo = elo.value.0;
        }
        if let Some(section) = &self.writes {
            section.value.lay_over(&mut policy.writes);
        }
        if let Some(section) = &self.compaction {
            section.value.lay_over(&mut policy.compaction);
        }
        if let Some(section) = &self.contexts {
            section.value.lay_over(&mut policy.contexts);
        }
        if let Some(section) = &self.views {
            section.value.lay_over(&mut policy.contexts);
        }
        if let Some(section) = &self.rules {
            section.value.lay_over(&mut policy.rules);
        }
        policy
    }

    /// Where the file sets a setting, by its path.
    pub(super) fn span(&self, path: &str) -> Option<SourceSpan> {
        let (section, key) = path.split_once('.').unwrap_or((path, ""));
        match section {
            "thresholds" => self.thresholds.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "bounds" => self.bounds.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "weights" => self.weights.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "writes" => self.writes.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "compaction" => self.compaction.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "contexts" => self.contexts.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "views" => self.views.as_ref().and_then(Spanned::span),
            "rules" => self.rules.as_ref().and_then(|s| s.value.span(key).unwrap_or(s.span())),
            "elo" => self.elo.as_ref().and_then(Spanned::span),
            _ => None,
        }
    }
}

/// What the setting `elo` means, in a line.
pub(super) const ELO_MEANING: &str = "how ratings move after a debate: incremental (fixed steps) or standard (each PRO role duels each CON role)";

/// One of a few, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumName<T>(pub T);

/// What has a name in a policy file.
pub trait NamedEnum: Copy + 'static {
    /// All that there are.
    const ALL: &'static [Self];
    /// What they are called together, in a schema.
    const SCHEMA: &'static str;

    /// Its name.
    fn name(self) -> &'static str;

    /// What is wrong with a name that none has.
    fn unknown(name: &str) -> String;
}

impl NamedEnum for EloMethod {
    const ALL: &'static [Self] = &Self::ALL;
    const SCHEMA: &'static str = "Elo";

    fn name(self) -> &'static str {
        self.name()
    }

    fn unknown(name: &str) -> String {
        format!("there is no way `{name}` for ratings to move")
    }
}

impl NamedEnum for Rank {
    const ALL: &'static [Self] = &Self::ALL;
    const SCHEMA: &'static str = "Rank";

    fn name(self) -> &'static str {
        self.name()
    }

    fn unknown(name: &str) -> String {
        format!("there is no rank `{name}`")
    }
}

impl NamedEnum for Tokenizer {
    const ALL: &'static [Self] = &Self::ALL;
    const SCHEMA: &'static str = "Tokenizer";

    fn name(self) -> &'static str {
        self.name()
    }

    fn unknown(name: &str) -> String {
        format!("there is no tokenizer `{name}`")
    }
}

impl<'de, T: NamedEnum> Deserialize<'de> for EnumName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        T::ALL.iter().find(|known| known.name() == text.value).map(|known| Self(*known)).ok_or_else(|| {
            let names: Vec<String> = T::ALL.iter().map(|known| format!("`{}`", known.name())).collect();
            LabeledError::new(
                T::unknown(&text.value.escape_debug().to_string()),
                format!("write {}", names.join(" or ")),
            )
            .at(text.span(), "unknown")
            .into_serde_error()
        })
    }
}

impl<T: NamedEnum> Serialize for EnumName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<T: NamedEnum> JsonSchema for EnumName<T> {
    fn schema_name() -> Cow<'static, str> {
        T::SCHEMA.into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = T::ALL.iter().map(|known| known.name()).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

/// A value of a file that stands for one of the kernel's.
trait ToKernel<K> {
    fn means(self) -> K;
}

impl<N> ToKernel<N> for Decimal<N> {
    fn means(self) -> N {
        self.0
    }
}

impl<N> ToKernel<N> for EnumName<N> {
    fn means(self) -> N {
        self.0
    }
}

impl ToKernel<Self> for u32 {
    fn means(self) -> Self {
        self
    }
}

impl ToKernel<Bound> for BoundFile {
    fn means(self) -> Bound {
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

            fn lay_over(&self, onto: &mut $kernel) {
                $(if let Some(setting) = self.$field {
                    onto.$field = setting.value.means();
                })*
            }

            /// Where a setting is; the inner none if it is not set, the outer none if there is no such one.
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
    /// The lines that scores are compared with.
    ThresholdsFile for Thresholds {
        redebate_below: Decimal<Score>, "score, 0 to 1: debate again below this consensus, while passes last";
        proceed_from: Decimal<Score>, "score, 0 to 1: proceed from this consensus on";
        veto_from: Decimal<Score>, "confidence, 0 to 1: an objection of Security from here on is a veto";
        objection_from: Decimal<Score>, "confidence, 0 to 1: an objection of Security from here on weighs extra and is rated";
        critique_above: Decimal<Score>, "confidence, 0 to 1: an objection of the Critic above this is rated";
    }
    /// How often things may happen.
    BoundsFile for Bounds {
        passes: u32, "passes of the debate, at least 1";
        repairs: BoundFile, "repairs in one request: a number, or unbounded";
        audit_attempts: u32, "times that the outside audit sink is tried, at least 1";
    }
    /// How much each voice counts in the consensus.
    WeightsFile for Weights {
        analyst: Decimal<Weight>, "factor, 0 to 1000: the Analyst's voice";
        solution: Decimal<Weight>, "factor, 0 to 1000: Solution's voice";
        critic: Decimal<Weight>, "factor, 0 to 1000: the Critic's voice";
        security: Decimal<Weight>, "factor, 0 to 1000: Security's voice";
        optimizer: Decimal<Weight>, "factor, 0 to 1000: the Optimizer's voice";
    }
    /// Who may write what into what is known.
    WritesFile for WritePolicy {
        constraint_from: EnumName<Rank>, "rank: who is below it may not write constraints";
        organizational_from: EnumName<Rank>, "rank: who is below it may not write what the organization knows";
    }
    /// When what is known is compacted, and how much of it at once.
    CompactionFile for CompactionPolicy {
        from_items: u32, "items: from so many on that can be summarized together";
        from_tokens: u32, "tokens: from so many on, in all that may be shown";
        cluster_items: u32, "items that are summarized at once, the oldest first; at least 2";
    }
    /// How much modules are shown.
    ContextsFile for ContextPolicy {
        budget_tokens: u32, "tokens of a context and of the answer to it";
        reserved_tokens: u32, "of these, tokens that are left to the answer";
        tokenizer: EnumName<Tokenizer>, "what counts tokens: bytes (four are one), cl100k_base or o200k_base";
        recency: Decimal<Weight>, "factor, 0 to 1000: how much more the latest item counts than the oldest";
        relevance: Decimal<Weight>, "factor, 0 to 1000: how much more counts what is all about the request";
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
                "write the most that is allowed, or `unbounded` if no bound is meant",
            )
            .at(text.span(), "neither")
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

/// Which rules are in force; the names are the kernel's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesFile(pub BTreeMap<Rule, Spanned<bool>>);

impl RulesFile {
    fn lay_over(&self, onto: &mut Rules) {
        for (rule, on) in &self.0 {
            onto.set(*rule, on.value);
        }
    }

    fn span(&self, key: &str) -> Option<Option<SourceSpan>> {
        let rule = Rule::ALL.iter().find(|rule| rule.name() == key)?;
        Some(self.0.get(rule).and_then(Spanned::span))
    }

    fn names() -> &'static [&'static str] {
        static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
        NAMES.get_or_init(|| Rule::ALL.iter().map(|rule| rule.name()).collect())
    }
}

impl<'de> Deserialize<'de> for RulesFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RulesVisitor)
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = RulesFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rules, as in `sticky_veto: true`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RulesFile, A::Error> {
        let mut rules = RulesFile::default();
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            let Some(rule) = Rule::ALL.iter().find(|rule| rule.name() == key.value) else {
                let names = RulesFile::names();
                let near = orchestrion_yaml::nearest(&key.value, names.iter().copied());
                return Err(LabeledError::new(
                    format!("there is no rule `{}`", key.value.escape_debug()),
                    format!("{near}the rules are {}", names.join(", ")),
                )
                .at(key.span(), "unknown")
                .into_serde_error());
            };
            if rules.0.insert(*rule, map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(rule.name()));
            }
        }
        Ok(rules)
    }
}

impl JsonSchema for RulesFile {
    fn schema_name() -> Cow<'static, str> {
        "Rules".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rule = |rule: &Rule| {
            (
                rule.name().to_owned(),
                serde_json::json!({"type": "boolean", "description": rule_meaning(*rule)}),
            )
        };
        let properties: serde_json::Map<_, _> = Rule::ALL.iter().map(rule).collect();
        json_schema!({
            "description": "Which rules are in force.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}
