//! Replies of a file as scripted replies, in both directions.

use crate::action::SummaryUpdateFile;
use crate::convert::FileValue;
use crate::replies::ReplyKind;
use crate::reply::{ExtendedReplyFile, ReplyFile};
use crate::script::{DelayedReply, ScriptedReply};
use crate::time::DelayFile;
use crate::time::DurationText;
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, Spanned};

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
                reply.interaction = file.interaction.to_kernel()?;
            }
            ScriptedReply::Fail(_) => {
                let update = file.summary_update.as_ref().map(|update| ("summary_update", update.span()));
                let action = file.action.as_ref().map(|action| ("action", action.span()));
                let interaction = file.interaction.as_ref().map(|judged| ("interaction", judged.span()));
                if let Some((key, span)) = update.or(action).or(interaction) {
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
    pub(crate) fn from_kernel(DelayedReply { reply, after }: &DelayedReply) -> Option<Self> {
        let after = (!after.is_zero()).then(|| Spanned::from(DelayFile::Fixed(DurationText(*after))));
        let (reply, summary_update, action, interaction) = match reply {
            ScriptedReply::Fail(failure) => (T::from_kernel(Err(*failure))?, None, None, None),
            ScriptedReply::Reply(Reply { report, summary_update, action, interaction }) => (
                T::from_kernel(Ok(report))?,
                Option::<SummaryUpdateFile>::from_kernel(summary_update)?.map(Spanned::from),
                FileValue::from_kernel(action)?,
                FileValue::from_kernel(interaction)?,
            ),
        };
        let extended = ExtendedReplyFile { reply, after, summary_update, action, interaction };
        Some(match extended {
            ExtendedReplyFile {
                reply,
                after: None,
                summary_update: None,
                action: None,
                interaction: None,
            } => Self::Short(reply),
            extended => Self::Extended(extended),
        })
    }
}

fn scripted<T: ReplyKind>(reply: &T) -> Result<ScriptedReply, LabeledError> {
    Ok(match reply.to_kernel()? {
        Ok(report) => ScriptedReply::Reply(report.into()),
        Err(failure) => ScriptedReply::Fail(failure),
    })
}
