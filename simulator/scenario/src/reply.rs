//! The replies of a module in a scenario file: one for all calls, a list in order, a random choice, or cases.

use crate::action::{ActionFile, SummaryUpdateFile, summary_update_schema};
use crate::convert::FileValue;
use crate::format::is_default;
use crate::names::{Count, Seed};
use crate::replies::ReplyKind;
use crate::reply_nodes::deserialize_plain;
use crate::script::ScriptedReply;
use crate::time::DelayFile;
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The replies of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Replies_{T}", deny_unknown_fields)]
pub enum RepliesFile<T> {
    /// Replies for every call.
    Always(ReplyListFile<T>),
    /// Replies by case.
    Cases {
        /// Replies by case. The first case whose condition holds supplies the reply; a call without such a case is an error.
        #[schemars(length(min = 1))]
        cases: Spanned<Vec<Spanned<CaseFile<T>>>>,
    },
}

/// Replies, and the order in which they are used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ReplyList_{T}", deny_unknown_fields)]
pub enum ReplyListFile<T> {
    /// One reply for every call.
    One(Spanned<ReplyFile<T>>),
    /// Replies in order. A call after the last one is an error.
    List(#[schemars(length(min = 1))] Spanned<Vec<Spanned<ReplyFile<T>>>>),
    /// A random reply for each call.
    Random {
        /// A random reply for each call.
        random: Spanned<RandomReplyFile<T>>,
    },
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Reply_{T}")]
pub enum ReplyFile<T> {
    /// The reply alone.
    Short(T),
    /// The reply with a delay, a summary update or an action record.
    Extended(ExtendedReplyFile<T>),
}

/// A reply with a delay, a summary update or an action record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "ExtendedReply_{T}")]
pub struct ExtendedReplyFile<T> {
    /// The reply.
    #[serde(deserialize_with = "deserialize_plain")]
    pub reply: T,
    /// The delay in simulated time, in a scenario only. Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub after: Option<Spanned<DelayFile>>,
    /// Changes of the situation summary (002).
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "summary_update_schema")]
    pub summary_update: Option<Spanned<SummaryUpdateFile>>,
    /// The action record of the iteration (002).
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub action: Option<Box<Spanned<ActionFile>>>,
}

/// Replies for one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "Case_{T}")]
pub struct CaseFile<T> {
    /// The condition. Default, in the last case only: always.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub when: Option<Spanned<WhenFile>>,
    /// The replies: one, a list in order, or a random choice.
    pub reply: ReplyListFile<T>,
}

/// The condition of a case. All given parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct WhenFile {
    /// The number of the current or latest debate pass, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub pass: Option<Count>,
    /// The number of the request in the scenario, from 1.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub request: Option<Count>,
    /// The user of the request.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub user: Option<StrictText>,
    /// A substring of the request text, case-sensitive.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub text: Option<StrictText>,
    /// A substring of the module's context, case-sensitive.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub context: Option<StrictText>,
}

/// A random choice of replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "Random_{T}")]
pub struct RandomReplyFile<T> {
    /// The name of the random stream. Equal names share one stream.
    pub seed: Seed,
    /// The possible replies.
    #[schemars(length(min = 1))]
    pub choices: Spanned<Vec<WeightedReplyFile<T>>>,
}

/// A reply with its weight in a random choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound(deserialize = "T: ReplyKind"))]
#[schemars(rename = "WeightedReply_{T}")]
pub struct WeightedReplyFile<T> {
    /// The weight relative to the other choices. Default: 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weight: Count,
    /// The reply.
    pub reply: Spanned<ReplyFile<T>>,
}

impl<T> From<T> for ReplyFile<T> {
    fn from(reply: T) -> Self {
        Self::Short(reply)
    }
}

impl<T> RepliesFile<T> {
    /// Returns the same reply for every call.
    pub fn one(reply: impl Into<ReplyFile<T>>) -> Self {
        Self::Always(ReplyListFile::One(reply.into().into()))
    }

    /// Returns replies in order.
    pub fn list(replies: impl IntoIterator<Item = impl Into<ReplyFile<T>>>) -> Self {
        let replies: Vec<_> = replies.into_iter().map(|reply| reply.into().into()).collect();
        Self::Always(ReplyListFile::List(replies.into()))
    }
}

impl<T: ReplyKind> ReplyFile<T> {
    /// Returns the scripted reply and its delay.
    pub(crate) fn to_kernel(&self) -> Result<(ScriptedReply, Option<&Spanned<DelayFile>>), LabeledError> {
        let file = match self {
            Self::Short(reply) => return Ok((scripted(reply)?, None)),
            Self::Extended(file) => file,
        };
        let mut reply = scripted(&file.reply)?;
        match &mut reply {
            ScriptedReply::Reply(reply) => {
                reply.summary_update =
                    file.summary_update.as_ref().map(|update| update.value.to_kernel()).transpose()?;
                reply.action = file.action.to_kernel()?;
            }
            ScriptedReply::Fail(_) => {
                let update = file.summary_update.as_ref().map(|update| ("summary_update", update.span()));
                let action = file.action.as_ref().map(|action| ("action", action.span()));
                if let Some((key, span)) = update.or(action) {
                    return Err(LabeledError::new(
                        format!("`{key}` beside `fail`: a failed call has no reply"),
                        format!("remove `{key}`, or write a reply"),
                    )
                    .with_label(span, "without a reply"));
                }
            }
        }
        Ok((reply, file.after.as_ref()))
    }

    /// Returns the file of a scripted reply; `None` for the report of another kind of module.
    pub(crate) fn from_kernel(reply: &ScriptedReply) -> Option<Self> {
        match reply {
            ScriptedReply::Fail(failure) => T::from_kernel(Err(*failure)).map(Self::Short),
            ScriptedReply::Reply(Reply { report, summary_update: None, action: None }) => {
                T::from_kernel(Ok(report)).map(Self::Short)
            }
            ScriptedReply::Reply(Reply { report, summary_update, action }) => {
                Some(Self::Extended(ExtendedReplyFile {
                    reply: T::from_kernel(Ok(report))?,
                    after: None,
                    summary_update: Option::<SummaryUpdateFile>::from_kernel(summary_update)?
                        .map(Spanned::from),
                    action: FileValue::from_kernel(action)?,
                }))
            }
        }
    }
}

fn scripted<T: ReplyKind>(reply: &T) -> Result<ScriptedReply, LabeledError> {
    Ok(match reply.to_kernel()? {
        Ok(report) => ScriptedReply::Reply(report.into()),
        Err(failure) => ScriptedReply::Fail(failure),
    })
}
