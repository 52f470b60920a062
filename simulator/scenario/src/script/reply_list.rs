//! The answers of one part, for whom they are, and how far they were used.

use super::random::{RandomStreams, Stream};
use super::{CallScene, DelayedReply, ScriptedReply};
use miette::SourceSpan;
use orchestrion_kernel::{RequestId, Text, UserId};
use std::num::NonZeroU32;
use std::time::Duration;

/// What a part answers: the first case that fits does.
#[derive(Clone, Debug)]
pub(crate) struct Cases {
    pub(crate) cases: Vec<Case>,
    /// Where `cases` stands, if it does; answers without it are one case that always fits.
    pub(crate) place: Option<SourceSpan>,
    pub(crate) are_written: bool,
}

/// Answers, and when they are given.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) when: When,
    pub(crate) roll: ReplyList,
    pub(crate) place: Option<SourceSpan>,
}

/// When a case fits: whatever is named must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) pass: Option<u32>,
    pub(crate) request: Option<RequestId>,
    pub(crate) user: Option<UserId>,
    /// Part of what the user says.
    pub(crate) says: Option<Text>,
    /// Part of what the module is shown.
    pub(crate) shown: Option<Text>,
}

impl When {
    pub(super) fn fits(&self, asked: &CallScene<'_>) -> bool {
        self.pass.is_none_or(|pass| pass == asked.pass)
            && self.fits_request(asked.request, asked.user, asked.says)
            && self.shown.as_ref().is_none_or(|part| asked.shown.contains(part.as_str()))
    }

    /// Whether what is said of the request holds of this one.
    pub(crate) fn fits_request(&self, number: RequestId, user: &UserId, says: &Text) -> bool {
        self.request.is_none_or(|request| request == number)
            && self.user.as_ref().is_none_or(|name| name == user)
            && self.says.as_ref().is_none_or(|part| says.as_str().contains(part.as_str()))
    }

    pub(crate) fn is_always(&self) -> bool {
        *self == Self::default()
    }
}

/// Answers, and how many of them were used.
#[derive(Clone, Debug)]
pub(crate) struct ReplyList {
    pub(crate) turn: ReplySelection,
    /// Where the answers start, and where the last of them does.
    pub(crate) spans: (Option<SourceSpan>, Option<SourceSpan>),
    pub(crate) asked: usize,
}

/// Which answer's turn it is.
#[derive(Clone, Debug)]
pub(crate) enum ReplySelection {
    /// The only one's, every time.
    Same(ScriptedEntry),
    /// The next one's; after the last there is none.
    InOrder(Vec<ScriptedEntry>),
    /// By lot.
    Drawn(WeightedChoices),
}

/// Answers, of which some are drawn more often than others.
#[derive(Clone, Debug)]
pub(crate) struct WeightedChoices {
    pub(crate) stream: Stream,
    /// The sum of the weights.
    pub(crate) total: NonZeroU32,
    /// Each with the weights up to its own.
    pub(crate) answers: Vec<(u32, ScriptedEntry)>,
}

/// An answer as it stands in a script.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedEntry {
    pub(crate) answer: ScriptedReply,
    pub(crate) after: After,
}

/// How long an answer takes.
#[derive(Clone, Debug)]
pub(crate) enum After {
    /// This long.
    Exactly(Duration),
    /// At least so many milliseconds, and fewer than `choices` more, by lot.
    Drawn { stream: Stream, least_ms: u32, choices: NonZeroU32 },
}

impl ReplyList {
    /// The next answer; none if a list is used up.
    pub(super) fn next(&mut self, streams: &mut RandomStreams) -> Option<DelayedReply> {
        let place = self.asked;
        self.asked = self.asked.saturating_add(1);
        let given = match &self.turn {
            ReplySelection::Same(given) => given,
            ReplySelection::InOrder(answers) => answers.get(place)?,
            ReplySelection::Drawn(WeightedChoices { stream, total, answers }) => {
                let lot = streams.below(*stream, *total);
                &answers.get(answers.partition_point(|(up_to, _)| *up_to <= lot))?.1
            }
        };
        let after = match given.after {
            After::Exactly(after) => after,
            After::Drawn { stream, least_ms, choices } => {
                let more_ms = streams.below(stream, choices);
                Duration::from_millis(u64::from(least_ms) + u64::from(more_ms))
            }
        };
        Some(DelayedReply { answer: given.answer.clone(), after })
    }

    /// Every answer that it may give.
    pub(crate) fn answers(&self) -> Vec<&ScriptedReply> {
        match &self.turn {
            ReplySelection::Same(given) => vec![&given.answer],
            ReplySelection::InOrder(answers) => answers.iter().map(|given| &given.answer).collect(),
            ReplySelection::Drawn(lots) => lots.answers.iter().map(|(_, given)| &given.answer).collect(),
        }
    }
}
