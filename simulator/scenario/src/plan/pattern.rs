//! The patterns of 001 §9.1 in a file.
//!
//! The keys of all patterns are read first, so that `pattern` need not be the first key, and checked against the pattern then.

use crate::names::Count;
use miette::SourceSpan;
use orchestrion_kernel::CapabilityId;
use orchestrion_kernel::plan::{Plan, PlanError};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pattern of tasks with one action and without effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "pattern", rename_all = "snake_case", deny_unknown_fields)]
pub enum PatternFile {
    /// Chain: each capability processes the result of the one before.
    Chain {
        /// Action.
        #[serde(rename = "do")]
        action: StrictText,
        /// Required capabilities, one for each task.
        #[schemars(length(min = 1))]
        capabilities: Spanned<Vec<StrictText>>,
    },
    /// Tasks in parallel, and a task that merges their results.
    FanOutFanIn {
        /// Action.
        #[serde(rename = "do")]
        action: StrictText,
        /// Capability that the parallel tasks require.
        capability: StrictText,
        /// Number of parallel tasks.
        width: Spanned<Count>,
        /// Capability that the last task requires.
        merge: StrictText,
    },
    /// Task and its validation, which repeats the task if it fails.
    PipelineWithValidation {
        /// Action.
        #[serde(rename = "do")]
        action: StrictText,
        /// Capability that the task requires.
        capability: StrictText,
        /// Capability that the validation requires.
        validate: StrictText,
    },
    /// The same task for several nodes, whose answers vote.
    RedundantExecution {
        /// Action.
        #[serde(rename = "do")]
        action: StrictText,
        /// Capability that the task requires.
        capability: StrictText,
        /// Number of nodes.
        size: Spanned<Count>,
    },
}

/// The name of a pattern.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PatternName {
    Chain,
    FanOutFanIn,
    PipelineWithValidation,
    RedundantExecution,
}

impl PatternName {
    const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::FanOutFanIn => "fan_out_fan_in",
            Self::PipelineWithValidation => "pipeline_with_validation",
            Self::RedundantExecution => "redundant_execution",
        }
    }

    /// The keys beside `pattern`. Each is required.
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Chain => &["do", "capabilities"],
            Self::FanOutFanIn => &["do", "capability", "width", "merge"],
            Self::PipelineWithValidation => &["do", "capability", "validate"],
            Self::RedundantExecution => &["do", "capability", "size"],
        }
    }
}

macro_rules! pattern_keys {
    ($($key:literal $field:ident: $value:ty;)*) => {
        /// The keys of all patterns.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct PatternKeys {
            pattern: Spanned<PatternName>,
            $(
                #[serde(rename = $key, default, deserialize_with = "required_value")]
                $field: Option<Spanned<$value>>,
            )*
        }

        impl PatternKeys {
            /// The keys.
            pub(super) const KEYS: [&'static str; 8] = ["pattern", $($key),*];

            /// Returns the keys beside `pattern` that the file has, with the places of their values.
            fn found(&self) -> Vec<(&'static str, Option<SourceSpan>)> {
                let mut found = Vec::new();
                $(found.extend(self.$field.as_ref().map(|value| ($key, value.span())));)*
                found
            }
        }
    };
}

pattern_keys! {
    "do" action: StrictText;
    "capability" capability: StrictText;
    "capabilities" capabilities: Vec<StrictText>;
    "width" width: Count;
    "size" size: Count;
    "merge" merge: StrictText;
    "validate" validate: StrictText;
}

impl PatternKeys {
    /// Returns the pattern.
    pub(super) fn into_pattern(self) -> Result<PatternFile, LabeledError> {
        let pattern = self.pattern.value;
        let keys = pattern.keys();
        if let Some((key, span)) = self.found().into_iter().find(|(key, _)| !keys.contains(key)) {
            return Err(LabeledError::new(
                format!("pattern {} has no key `{key}`: expected {}", pattern.name(), keys.join(", ")),
                format!("remove `{key}`, or choose another pattern"),
            )
            .with_label(span, "not of this pattern"));
        }
        let (missing, place) = (self.missing(), self.pattern.span());
        self.complete().ok_or_else(|| {
            LabeledError::new(
                format!("pattern {} without `{missing}`: expected {}", pattern.name(), keys.join(", ")),
                format!("add `{missing}: …` beside `pattern`"),
            )
            .with_label(place, format!("needs `{missing}`"))
        })
    }

    /// Returns the first missing key of the pattern.
    fn missing(&self) -> &'static str {
        let found = self.found();
        let mut keys = self.pattern.value.keys().iter();
        keys.find(|key| !found.iter().any(|(known, _)| known == *key)).copied().unwrap_or_default()
    }

    /// Returns the pattern if it has all its keys.
    fn complete(self) -> Option<PatternFile> {
        let action = self.action?.value;
        Some(match self.pattern.value {
            PatternName::Chain => PatternFile::Chain { action, capabilities: self.capabilities? },
            PatternName::FanOutFanIn => PatternFile::FanOutFanIn {
                action,
                capability: self.capability?.value,
                width: self.width?,
                merge: self.merge?.value,
            },
            PatternName::PipelineWithValidation => PatternFile::PipelineWithValidation {
                action,
                capability: self.capability?.value,
                validate: self.validate?.value,
            },
            PatternName::RedundantExecution => PatternFile::RedundantExecution {
                action,
                capability: self.capability?.value,
                size: self.size?,
            },
        })
    }
}

impl PatternFile {
    /// Returns the plan.
    pub(super) fn to_plan(&self) -> Result<Plan, LabeledError> {
        let id = |text: &StrictText| CapabilityId::new(text.text());
        let plan = match self {
            Self::Chain { action, capabilities } => {
                Plan::chain(&action.text(), capabilities.value.iter().map(id).collect())
            }
            Self::FanOutFanIn { action, capability, width, merge } => {
                Plan::fan_out_fan_in(&action.text(), &id(capability), count(width)?, id(merge))
            }
            Self::PipelineWithValidation { action, capability, validate } => {
                Plan::pipeline_with_validation(&action.text(), id(capability), id(validate))
            }
            Self::RedundantExecution { action, capability, size } => {
                Plan::redundant_execution(&action.text(), &id(capability), count(size)?)
            }
        };
        plan.map_err(|error| {
            let help = match error {
                PlanError::Empty => "name at least one capability",
                _ => "reduce the number of tasks",
            };
            LabeledError::new(error.to_string(), help)
        })
    }
}

/// Returns a number of tasks that a plan can have, so that the pattern is not built in vain.
fn count(count: &Spanned<Count>) -> Result<u32, LabeledError> {
    let number = count.value.0.get();
    if usize::try_from(number).is_ok_and(|number| number <= Plan::TASKS_MAX) {
        return Ok(number);
    }
    Err(LabeledError::new(
        format!("plan too long: expected at most {} tasks, found {number}", Plan::TASKS_MAX),
        "reduce the number of tasks",
    )
    .with_label(count.span(), "too many"))
}
