//! The sections of a policy file whose settings are numbers and names.

use super::names::EnumName;
use super::{Section, Setting};
use miette::SourceSpan;
use orchestrion_kernel::item::Rank;
use orchestrion_kernel::policy::{
    Bound, Bounds, CompactionPolicy, ContextPolicy, SituationPolicy, Thresholds, Tokenizer, Weights,
    WritePolicy,
};
use orchestrion_kernel::situation::Mode;
use orchestrion_kernel::{Score, Weight};
use orchestrion_yaml::{
    Decimal, LabeledError, Spanned, inline_schema, parse_scalar, required_value, suggest_nearest,
};
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Deserializer};

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
    bool = bool: |on| on, |on| on.to_string();
    BoundFile = Bound: |bound| bound.0, |bound| match bound {
        Bound::AtMost(most) => most.to_string(),
        Bound::Unbounded => UNBOUNDED.to_owned(),
    };
    ModeFile = Option<Mode>: |mode| mode.0, |mode| mode_name(mode).to_owned();
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
        parallel_tasks: u32, "maximum number of tasks that run at once, at least 1";
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
        strict_ranks: bool, "refuse an identity or a declared source that `ranks` does not contain";
    }
    /// The triggers and the size of compactions.
    CompactionFile for CompactionPolicy {
        from_items: u32, "items: a compaction group of this size is compacted";
        from_tokens: u32, "tokens: selectable items of this total size are compacted";
        cluster_items: u32, "items of one cluster, oldest first; at least 2";
        session_items_max: u32, "items of the session while no request runs; the oldest beyond it are forgotten; at least 1";
    }
    /// The budgets and utilities of contexts.
    ContextsFile for ContextPolicy {
        budget_tokens: u32, "tokens of a context and its reply";
        reserved_tokens: u32, "tokens of the budget that are reserved for the reply";
        tokenizer: EnumName<Tokenizer>, "tokenizer: bytes (four per token), cl100k_base or o200k_base";
        recency: Decimal<Weight>, "factor, 0 to 1000: additional utility of the newest item; an older one has 1/2 of it, 1/3, ... as its age doubles";
        relevance: Decimal<Weight>, "factor, 0 to 1000: utility of an item with the terms of the request";
        nodes_max: u32, "maximum number of search nodes of a selection, at least 1; beyond it the optimum is not proven";
        provenance: bool, "contexts contain authority and permissions of the user, and source, rank and time of each fact";
        needs_review: bool, "contexts contain facts that need review";
    }
    /// The limits of the situation, and the reasoning mode of each operation.
    SituationFile for SituationPolicy {
        max_history: u32, "actions before the latest that a request keeps and a context contains, at least 1";
        summary_chars_max: u32, "characters of a summary field, at least 1; a longer text is truncated";
        result_chars_max: u32, "characters of a stored tool result, at least 1; a longer text is truncated";
        compressed_args_chars_max: u32, "characters of the arguments of a compressed tool call, at least 1";
        compressed_result_chars_max: u32, "characters of the result of a compressed tool call, at least 1";
        classify_mode: ModeFile, "reasoning mode of the classifier: none, fast (summary) or deep (summary and latest results)";
        draft_plan_mode: ModeFile, "reasoning mode of the planner: none, fast or deep";
        argue_mode: ModeFile, "reasoning mode of the debaters in their rounds: none, fast or deep";
        review_revision_mode: ModeFile, "reasoning mode of Security when it reviews a revision: none, fast or deep";
        approve_mode: ModeFile, "reasoning mode of the approver: none, fast or deep";
        run_task_mode: ModeFile, "reasoning mode of the executor when it runs a task: none, fast or deep";
        undo_task_mode: ModeFile, "reasoning mode of the executor when it undoes a task: none, fast or deep";
        diagnose_mode: ModeFile, "reasoning mode of the Critic when it diagnoses a failure: none, fast or deep";
    }
}

/// Every mode, and none.
const MODES: [Option<Mode>; 3] = [None, Some(Mode::Fast), Some(Mode::Deep)];

/// A reasoning mode, or `none` for a module that does not reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeFile(pub Option<Mode>);

const fn mode_name(mode: Option<Mode>) -> &'static str {
    match mode {
        None => "none",
        Some(mode) => mode.name(),
    }
}

impl<'de> Deserialize<'de> for ModeFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "unknown", |name| {
            MODES.into_iter().find(|mode| mode_name(*mode) == name).map(Self).ok_or_else(|| {
                let near = suggest_nearest(name, MODES.map(mode_name));
                LabeledError::new(
                    format!("unknown reasoning mode `{}`", name.escape_debug()),
                    format!("{near}expected one of {}", MODES.map(mode_name).join(", ")),
                )
            })
        })
    }
}

inline_schema!(ModeFile; _ => json_schema!({"type": "string", "enum": MODES.map(mode_name).to_vec()}));

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
