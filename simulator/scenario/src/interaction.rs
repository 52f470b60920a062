//! The judgement of an interaction beside a reply (001 §10.2 step 1).

use crate::convert::{FileValue, convert, values};
use crate::is_default::is_default;
use orchestrion_kernel::network::{Feedback, InteractionReport, Millionths};
use orchestrion_network::Tone;
use orchestrion_yaml::{LabeledError, inline_schema, parse_scalar, required_value};
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// Judgement of an interaction by both of its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InteractionFile {
    /// Feedback of the caller on the result. Default: none, which counts as the middle ratings in the connection, and not in
    /// the record of the node.
    #[serde(deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackFile>,
    /// Tone of the result, from -1 to 1. Default: 0.
    #[serde(skip_serializing_if = "is_neutral")]
    pub tone: Tone,
    /// Feedback of the executing node on the task. Default: none, which counts as quality 0.5.
    #[serde(deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub task_feedback: Option<FeedbackFile>,
    /// Tone of the task, from -1 to 1. Default: 0.
    #[serde(skip_serializing_if = "is_neutral")]
    pub task_tone: Tone,
}

/// Feedback: ratings from 1 to 5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FeedbackFile {
    /// Help. Default: 3.
    #[serde(skip_serializing_if = "is_default")]
    pub help: StarRating,
    /// Accuracy. Default: 3.
    #[serde(skip_serializing_if = "is_default")]
    pub accuracy: StarRating,
    /// Relevance. Default: 3.
    #[serde(skip_serializing_if = "is_default")]
    pub relevance: StarRating,
    /// Timeliness. Default: 3.
    #[serde(skip_serializing_if = "is_default")]
    pub timeliness: StarRating,
    /// Whether the result would be used again. Default: false.
    #[serde(skip_serializing_if = "is_default")]
    pub reuse: bool,
}

impl Default for InteractionFile {
    fn default() -> Self {
        let neutral = Tone(Millionths::ZERO);
        Self { feedback: None, tone: neutral, task_feedback: None, task_tone: neutral }
    }
}

impl Default for FeedbackFile {
    fn default() -> Self {
        let middle = StarRating::default();
        Self { help: middle, accuracy: middle, relevance: middle, timeliness: middle, reuse: false }
    }
}

const fn is_neutral(tone: &Tone) -> bool {
    tone.0.get() == 0
}

/// A whole number from 1 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct StarRating(pub u8);

impl Default for StarRating {
    /// The middle, as in the kernel's default feedback.
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for StarRating {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_scalar(deserializer, "not a rating", |text| match text {
            "1" => Ok(Self(1)),
            "2" => Ok(Self(2)),
            "3" => Ok(Self(3)),
            "4" => Ok(Self(4)),
            "5" => Ok(Self(5)),
            other => Err(LabeledError::new(
                format!("expected a whole number from 1 to 5, found `{}`", other.escape_debug()),
                "write a rating such as 4; 3 is the middle",
            )),
        })
    }
}

inline_schema!(StarRating; _ => json_schema!({"type": "integer", "minimum": 1, "maximum": 5}));

convert! {
    InteractionFile { feedback, tone, task_feedback, task_tone }
        = InteractionReport { feedback, tone, task_feedback, task_tone };
    FeedbackFile { help, accuracy, relevance, timeliness, reuse }
        = Feedback { help, accuracy, relevance, timeliness, reuse };
}

values! {
    StarRating = u8: |rating| rating.0, |rating| (1..=5).contains(rating).then_some(Self(*rating));
    Tone = Millionths: |tone| tone.0, |tone| {
        (-Millionths::ONE.get()..=Millionths::ONE.get()).contains(&tone.get()).then_some(Self(*tone))
    };
}
