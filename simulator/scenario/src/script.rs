//! What scripted modules answer, call by call.
//!
//! A script is asked what the kernel asks. It never guesses for a voice of the debate, and never repeats a
//! list that is used up: both would hide that the run went another way than its writer thought.

mod key;
mod random;
mod reply_list;

pub use key::default_report;
pub(crate) use key::{ScriptKey, default_reply};
pub(crate) use random::RandomStreams;
pub(crate) use reply_list::{
    After, Case, Cases, ReplyList, ReplySelection, ScriptedEntry, WeightedChoices, When,
};

use miette::{Diagnostic, LabeledSpan, SourceCode, SourceSpan};
use orchestrion_kernel::module::{Failure, Operation, Role};
use orchestrion_kernel::{RequestId, Text, UserId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, ReadError, Source};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How a scripted call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedReply {
    /// With a report, and perhaps something beside it.
    Reply(Reply),
    /// Without one.
    Fail(Failure),
}

/// An answer, and how long it takes in model time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayedReply {
    /// The answer.
    pub(crate) answer: ScriptedReply,
    /// How long it takes.
    pub after: Duration,
}

/// What is asked, and everything that an answer may be made to depend on.
#[derive(Clone, Copy, Debug)]
pub struct CallScene<'a> {
    /// The question.
    pub ask: Operation,
    /// The request's number in its conversation.
    pub request: RequestId,
    /// The pass of the debate that runs or ran last, from 1; 0 before the first.
    pub pass: u32,
    /// Whose request it is.
    pub user: &'a UserId,
    /// What the user asked for.
    pub says: &'a Text,
    /// The text of the context that the module is shown.
    pub shown: &'a str,
}

/// A script was asked for something that it does not say. Reads as a sentence; drawn by miette at the place in
/// the scenario file.
#[derive(Debug)]
pub struct ScriptError(ReadError);

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ScriptError {}

impl Diagnostic for ScriptError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help()
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

/// The answers of all scripted modules, and how far they were used.
#[derive(Clone, Debug)]
pub struct Script {
    source: Source,
    /// Where the modules start, or the requests of a scenario without any.
    modules: Option<SourceSpan>,
    parts: BTreeMap<ScriptKey, Cases>,
    streams: RandomStreams,
}

impl Script {
    pub(crate) fn new(
        source: Source,
        modules: Option<SourceSpan>,
        parts: BTreeMap<ScriptKey, Cases>,
        streams: RandomStreams,
    ) -> Self {
        Self { source, modules, parts, streams }
    }

    /// What the module that is asked answers, and after how long. A planner that is not scripted makes one task of
    /// what the user asked for.
    ///
    /// # Errors
    /// [`ScriptError`] if a list of answers is used up, no case fits, or a voice of the debate has no answers.
    pub fn answer(&mut self, asked: &CallScene<'_>) -> Result<DelayedReply, ScriptError> {
        let part = match ScriptKey::of(asked.ask) {
            ScriptKey::Review if !self.parts.contains_key(&ScriptKey::Review) => {
                ScriptKey::Voice(Role::Security)
            }
            part => part,
        };
        let fault = match self.parts.get_mut(&part) {
            Some(Cases { cases, place, are_written }) => {
                match cases.iter_mut().find(|case| case.when.fits(asked)) {
                    Some(Case { roll, .. }) => match roll.next(&mut self.streams) {
                        Some(timed) => return Ok(timed),
                        None => exhausted_error(part, roll, *are_written),
                    },
                    None => no_matching_case_error(part, asked, *place),
                }
            }
            None => match default_reply(asked.ask, asked.says) {
                Some(answer) => return Ok(DelayedReply { answer, after: Duration::ZERO }),
                None => self.silent(part),
            },
        };
        Err(ScriptError(ReadError::in_source(&self.source, fault)))
    }

    /// What was written to be used and was not, as sentences: cases that never came to answer, and answers of lists that
    /// never came. A last case that always fits may be there for safety alone, so it is not told of.
    #[must_use]
    pub fn unused(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (part, Cases { cases, are_written, .. }) in &self.parts {
            for (number, Case { when, roll, place }) in (1..).zip(cases) {
                let name = match are_written {
                    true => format!("case {number} of `{}`", part.key()),
                    false => format!("`{}`", part.key()),
                };
                let line = place.or(roll.spans.0).map_or(0, |place| self.source.line(place.offset()));
                let (has, came) = (roll.answers().len(), roll.asked);
                if came == 0 && !when.is_always() {
                    sentences.push(format!("{name}, on line {line}, never came to answer"));
                } else if matches!(roll.turn, ReplySelection::InOrder(_)) && came < has {
                    let answers = if has == 1 { "answer" } else { "answers" };
                    sentences
                        .push(format!("{name}, on line {line}, has {has} {answers}, of which {came} came"));
                }
            }
        }
        sentences
    }

    fn silent(&self, part: ScriptKey) -> LabeledError {
        let key = part.key();
        LabeledError::new(
            format!("{part}, but the scenario does not say what it answers"),
            format!("add it under `modules`, as in `{key}: {{pro: {{confidence: 0.9}}}}`"),
        )
        .at(self.modules, format!("no `{key}` under `modules`"))
    }
}

/// Ends the sentence that [`Part`] begins.
fn exhausted_error(part: ScriptKey, roll: &ReplyList, by_case: bool) -> LabeledError {
    let (asked, has) = (Ordinal(roll.asked), roll.answers().len());
    let plural = if has == 1 { "answer" } else { "answers" };
    let key = part.key();
    let (in_case, whose, place) = match by_case {
        false => ("", format!("`{key}`"), format!("`modules.{key}`")),
        true => (" in this case", "the case".to_owned(), "it".to_owned()),
    };
    let (start, last) = roll.spans;
    LabeledError::new(
        format!("{part} a {asked} time{in_case}, its script has {has} {plural}"),
        format!("add a {asked} answer to {place}, or write one answer without a list: it repeats"),
    )
    .at(start, format!("{whose} has {has} {plural}"))
    .at(last.filter(|_| last != start), "the last one")
}

/// Ends the sentence that [`Part`] begins.
fn no_matching_case_error(part: ScriptKey, asked: &CallScene<'_>, place: Option<SourceSpan>) -> LabeledError {
    let CallScene { request, pass, user, .. } = asked;
    LabeledError::new(
        format!("{part} in request {request} of {user}, pass {pass}, and no case fits"),
        "add a case for it, or a last one without `when`, which always fits",
    )
    .at(place, "none of these")
}

/// 1st, 2nd, 3rd, 4th, 11th.
struct Ordinal(usize);

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match (self.0 % 10, self.0 % 100) {
            (_, 11..=13) => "th",
            (1, _) => "st",
            (2, _) => "nd",
            (3, _) => "rd",
            _ => "th",
        };
        write!(f, "{}{ending}", self.0)
    }
}
