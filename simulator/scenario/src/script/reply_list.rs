//! The scripted replies of one key: cases, lists and random choices, with the number of calls so far.

use super::random::RandomStreams;
use super::scene::CallScene;
use super::scripted_reply::{DelayedReply, ScriptedReply};
use crate::names::Seed;
use crate::reply::WhenFile;
use crate::time::DelayFile;
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
    pub(crate) when: WhenFile,
    pub(crate) replies: ReplyList,
    pub(crate) place: Option<SourceSpan>,
}

impl WhenFile {
    pub(super) fn matches(&self, scene: &CallScene<'_>) -> bool {
        self.pass.is_none_or(|pass| pass.0.get() == scene.pass)
            && self.matches_request(scene.request, scene.user, scene.text)
            && self
                .node
                .as_ref()
                .is_none_or(|node| scene.node.is_some_and(|id| id.as_str() == node.value.as_str()))
            && self.context.as_ref().is_none_or(|part| scene.context.contains(part.as_str()))
    }

    /// Checks the parts of the condition that concern the request.
    pub(crate) fn matches_request(&self, number: RequestId, user: &UserId, text: &Text) -> bool {
        self.request.is_none_or(|request| request.0.get() == number.number())
            && self.user.as_ref().is_none_or(|name| name.as_str() == user.as_str())
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
    /// The name of the random stream.
    pub(crate) seed: Seed,
    /// The sum of the weights.
    pub(crate) total: NonZeroU32,
    /// Each entry with the cumulative weight.
    pub(crate) entries: Vec<(u32, ScriptedEntry)>,
}

/// A scripted reply with its delay.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedEntry {
    pub(crate) reply: ScriptedReply,
    pub(crate) after: Option<DelayFile>,
}

impl ReplyList {
    /// Returns the next reply; `None` if a list is exhausted.
    pub(super) fn next(&mut self, streams: &mut RandomStreams) -> Option<DelayedReply> {
        let number = self.calls;
        self.calls = self.calls.saturating_add(1);
        let entry = match &self.selection {
            ReplySelection::Same(entry) => entry,
            ReplySelection::InOrder(entries) => entries.get(number)?,
            ReplySelection::Random(WeightedChoices { seed, total, entries }) => {
                let random = streams.next_below(seed.as_str(), *total);
                &entries.get(entries.partition_point(|(cumulative, _)| *cumulative <= random))?.1
            }
        };
        let after = match &entry.after {
            None => Duration::ZERO,
            Some(DelayFile::Fixed(delay)) => delay.0,
            Some(DelayFile::Random(range)) => {
                let more_ms =
                    range.choices().map_or(0, |choices| streams.next_below(range.seed.as_str(), choices));
                range.min.value.0 + Duration::from_millis(more_ms.into())
            }
        };
        Some(DelayedReply { reply: entry.reply.clone(), after })
    }

    /// Whether a reply or its delay is random.
    pub(super) fn is_random(&self) -> bool {
        let has_delay = |entry: &ScriptedEntry| matches!(entry.after, Some(DelayFile::Random(_)));
        match &self.selection {
            ReplySelection::Same(entry) => has_delay(entry),
            ReplySelection::InOrder(entries) => entries.iter().any(has_delay),
            ReplySelection::Random(choices) => {
                choices.entries.len() > 1 || choices.entries.iter().any(|(_, entry)| has_delay(entry))
            }
        }
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
