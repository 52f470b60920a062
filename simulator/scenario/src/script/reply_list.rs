//! The scripted replies of one key: cases, lists and random choices, with the number of calls so far.

use super::random::{RandomStreams, Stream};
use super::{CallScene, DelayedReply, ScriptedReply};
use miette::SourceSpan;
use orchestrion_kernel::{RequestId, Text, UserId};
use std::num::NonZeroU32;
use std::time::Duration;

/// The cases of one key; the first matching case replies.
#[derive(Clone, Debug)]
pub(crate) struct Cases {
    pub(crate) cases: Vec<Case>,
    /// The place of `cases` in the file.
    pub(crate) place: Option<SourceSpan>,
    /// Whether the file has `cases`. Otherwise there is one case that always matches.
    pub(crate) is_explicit: bool,
}

/// Replies with their condition.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) when: When,
    pub(crate) replies: ReplyList,
    pub(crate) place: Option<SourceSpan>,
}

/// The condition of a case. All given parts must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) pass: Option<u32>,
    pub(crate) request: Option<RequestId>,
    pub(crate) user: Option<UserId>,
    /// A substring of the request text.
    pub(crate) text: Option<Text>,
    /// A substring of the module's context.
    pub(crate) context: Option<Text>,
}

impl When {
    pub(super) fn matches(&self, scene: &CallScene<'_>) -> bool {
        self.pass.is_none_or(|pass| pass == scene.pass)
            && self.matches_request(scene.request, scene.user, scene.text)
            && self.context.as_ref().is_none_or(|part| scene.context.contains(part.as_str()))
    }

    /// Checks the parts of the condition that concern the request.
    pub(crate) fn matches_request(&self, number: RequestId, user: &UserId, text: &Text) -> bool {
        self.request.is_none_or(|request| request == number)
            && self.user.as_ref().is_none_or(|name| name == user)
            && self.text.as_ref().is_none_or(|part| text.as_str().contains(part.as_str()))
    }

    pub(crate) fn is_always(&self) -> bool {
        *self == Self::default()
    }
}

/// Replies with the number of calls so far.
#[derive(Clone, Debug)]
pub(crate) struct ReplyList {
    pub(crate) selection: ReplySelection,
    /// The places of the replies and of the last reply.
    pub(crate) spans: (Option<SourceSpan>, Option<SourceSpan>),
    pub(crate) calls: usize,
}

/// The order in which replies are used.
#[derive(Clone, Debug)]
pub(crate) enum ReplySelection {
    /// The same reply for every call.
    Same(ScriptedEntry),
    /// The next reply; none after the last.
    InOrder(Vec<ScriptedEntry>),
    /// A random reply.
    Random(WeightedChoices),
}

/// Weighted replies.
#[derive(Clone, Debug)]
pub(crate) struct WeightedChoices {
    pub(crate) stream: Stream,
    /// The sum of the weights.
    pub(crate) total: NonZeroU32,
    /// Each entry with the cumulative weight.
    pub(crate) entries: Vec<(u32, ScriptedEntry)>,
}

/// A scripted reply with its delay.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedEntry {
    pub(crate) reply: ScriptedReply,
    pub(crate) delay: Delay,
}

/// The delay of a reply.
#[derive(Clone, Debug)]
pub(crate) enum Delay {
    /// A fixed delay.
    Fixed(Duration),
    /// A random delay from `min_ms`, with this number of possible values.
    Random { stream: Stream, min_ms: u32, choices: NonZeroU32 },
}

impl ReplyList {
    /// Returns the next reply; `None` if a list is exhausted.
    pub(super) fn next(&mut self, streams: &mut RandomStreams) -> Option<DelayedReply> {
        let number = self.calls;
        self.calls = self.calls.saturating_add(1);
        let entry = match &self.selection {
            ReplySelection::Same(entry) => entry,
            ReplySelection::InOrder(entries) => entries.get(number)?,
            ReplySelection::Random(WeightedChoices { stream, total, entries }) => {
                let random = streams.below(*stream, *total);
                &entries.get(entries.partition_point(|(cumulative, _)| *cumulative <= random))?.1
            }
        };
        let after = match entry.delay {
            Delay::Fixed(delay) => delay,
            Delay::Random { stream, min_ms, choices } => {
                let more_ms = streams.below(stream, choices);
                Duration::from_millis(u64::from(min_ms) + u64::from(more_ms))
            }
        };
        Some(DelayedReply { reply: entry.reply.clone(), after })
    }

    /// Returns all possible replies.
    pub(crate) fn replies(&self) -> Vec<&ScriptedReply> {
        match &self.selection {
            ReplySelection::Same(entry) => vec![&entry.reply],
            ReplySelection::InOrder(entries) => entries.iter().map(|entry| &entry.reply).collect(),
            ReplySelection::Random(choices) => {
                choices.entries.iter().map(|(_, entry)| &entry.reply).collect()
            }
        }
    }
}
