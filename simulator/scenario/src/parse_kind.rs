//! Parses a reply of one kind of module.

use crate::replies::ReplyKind;
use crate::reply::ReplyFile;
use crate::script::ScriptedReply;
use orchestrion_yaml::{LabeledError, ReadError, Source};

/// Parses the reply of one kind of module.
pub(crate) fn parse_kind<T: ReplyKind>(source: &Source) -> Result<ScriptedReply, ReadError> {
    let reply = source.parse::<ReplyFile<T>>()?;
    let (reply, after) = reply.to_kernel().map_err(|error| ReadError::in_source(source, error))?;
    match after {
        None => Ok(reply),
        Some(after) => {
            let error = LabeledError::new("`after` in a host's reply: expected no delay", "remove `after`");
            Err(ReadError::in_source(source, error.with_label(after.span(), "a delay")))
        }
    }
}
