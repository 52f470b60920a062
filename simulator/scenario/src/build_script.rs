//! What each part of a script answers: cases, lists and draws, with everything checked that their form does not settle.

use super::ScriptedRequest;
use super::answers::TaskAnswer;
use super::format::ModulesFile;
use super::names::{ByTask, Count};
use super::reply_lists::{
    CaseFile, DelayedReplyFile, RandomReplyFile, RepliesFile, ReplyListFile, WeightedReplyFile, WhenFile,
};
use super::time::{DelayFile, DelayRangeFile};
use super::to_kernel::task;
use crate::script::{
    After, Case, Cases, RandomStreams, ReplyList, ReplySelection, Script, ScriptKey, ScriptedEntry,
    ScriptedReply, WeightedChoices, When,
};
use miette::SourceSpan;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_kernel::{RequestId, TaskId, UserId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, Source, Spanned};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

/// The tasks of every plan that the scenario may bring, and whether one of them declares a compensation.
pub(super) type Planned = BTreeMap<TaskId, bool>;

/// How many cases a module may have, and how many answers a draw. All of them are looked at when it is asked.
const CHOICES_MAX: usize = 1000;

/// The parts of a script, as far as they were read.
pub(super) struct ScriptBuilder<'a> {
    parts: BTreeMap<ScriptKey, Cases>,
    streams: RandomStreams,
    /// What is asked for.
    requests: &'a [ScriptedRequest],
}

impl<'a> ScriptBuilder<'a> {
    pub(super) fn new(seed: &str, requests: &'a [ScriptedRequest]) -> Self {
        Self { parts: BTreeMap::new(), streams: RandomStreams::new(seed), requests }
    }

    pub(super) fn script(self, source: Source, place: Option<SourceSpan>) -> Script {
        Script::new(source, place, self.parts, self.streams)
    }

    pub(super) fn put<T>(
        &mut self,
        part: ScriptKey,
        answers: Option<&RepliesFile<T>>,
        meaning: impl Fn(&T) -> Result<ScriptedReply, LabeledError>,
    ) -> Result<(), LabeledError> {
        let cases = match answers {
            None => return Ok(()),
            Some(RepliesFile::Always(roll)) => {
                let roll = self.roll(roll, &meaning)?;
                Cases {
                    cases: vec![Case { when: When::default(), roll, place: None }],
                    place: None,
                    are_written: false,
                }
            }
            Some(RepliesFile::Cases(written)) => {
                check_len(written.value.len(), "cases", written.span())?;
                let last = written.value.len().saturating_sub(1);
                let cases = written.value.iter().enumerate().map(|(number, case)| {
                    let CaseFile { when, answer } = &case.value;
                    let when = self.when(when.as_ref(), case.span(), number == last)?;
                    Ok(Case { when, roll: self.roll(answer, &meaning)?, place: case.span() })
                });
                let cases = cases.collect::<Result<_, LabeledError>>()?;
                Cases { cases, place: written.span(), are_written: true }
            }
        };
        self.parts.insert(part, cases);
        Ok(())
    }

    /// When a case fits. One that can never fit, or after which none can, is a slip.
    fn when(
        &self,
        when: Option<&Spanned<WhenFile>>,
        case: Option<SourceSpan>,
        is_last: bool,
    ) -> Result<When, LabeledError> {
        let Some(Spanned { value: WhenFile { pass, request, user, says, shown }, .. }) = when else {
            return if is_last {
                Ok(When::default())
            } else {
                let always = LabeledError::new(
                    "a case without `when` always fits, so the cases after it never answer",
                    "say `when` it fits, or write it last",
                );
                Err(always.at(case, "always fits"))
            };
        };
        let place = when.and_then(Spanned::span);
        let empty = [user, says, shown].into_iter().flatten().any(|text| text.as_str().is_empty());
        let number = |count: Count| count.0.get();
        let meaning = When {
            pass: pass.map(number),
            request: request.map(|request| RequestId::new(number(request))),
            user: user.as_ref().map(|user| UserId::new(user.text())),
            says: says.as_ref().map(|says| says.text()),
            shown: shown.as_ref().map(|shown| shown.text()),
        };
        if empty || meaning.is_always() {
            let nothing = LabeledError::new(
                "this `when` says nothing",
                "name what must hold: pass, request, user, says or shown; or leave `when` out in the last case",
            );
            return Err(nothing.at(place, "too little"));
        }
        let mut requests = (1..).map(RequestId::new).zip(self.requests);
        if !requests.any(|(number, request)| meaning.fits_request(number, &request.user, &request.says)) {
            let count = self.requests.len();
            let plural = if count == 1 { "request" } else { "requests" };
            let never = LabeledError::new(
                "no request of this scenario fits this `when`",
                format!(
                    "the scenario has {count} {plural}; `says` must be a part of one's text, letter by letter"
                ),
            );
            return Err(never.at(place, "never fits"));
        }
        Ok(meaning)
    }

    fn roll<T>(
        &mut self,
        written: &ReplyListFile<T>,
        meaning: &impl Fn(&T) -> Result<ScriptedReply, LabeledError>,
    ) -> Result<ReplyList, LabeledError> {
        let (turn, start, last) = match written {
            ReplyListFile::One(answer) => {
                (ReplySelection::Same(self.given(answer, meaning)?), answer.span(), answer.span())
            }
            ReplyListFile::Many(answers) => {
                let given = answers.value.iter().map(|answer| self.given(answer, meaning));
                let given = given.collect::<Result<_, _>>()?;
                (ReplySelection::InOrder(given), answers.span(), answers.value.last().and_then(Spanned::span))
            }
            ReplyListFile::Draw(draw) => {
                (ReplySelection::Drawn(self.weighted_choices(draw, meaning)?), draw.span(), draw.span())
            }
        };
        Ok(ReplyList { turn, spans: (start, last), asked: 0 })
    }

    fn weighted_choices<T>(
        &mut self,
        draw: &Spanned<RandomReplyFile<T>>,
        meaning: &impl Fn(&T) -> Result<ScriptedReply, LabeledError>,
    ) -> Result<WeightedChoices, LabeledError> {
        let RandomReplyFile { seed, from } = &draw.value;
        check_len(from.value.len(), "answers to draw from", from.span())?;
        let mut answers = Vec::with_capacity(from.value.len());
        let mut total = 0u32;
        for WeightedReplyFile { weight, answer } in &from.value {
            total = total.checked_add(weight.0.get()).ok_or_else(|| {
                LabeledError::new(
                    format!("the weights sum up to more than {}", u32::MAX),
                    "write smaller weights; only how they compare counts",
                )
                .at(from.span(), "these weights")
            })?;
            answers.push((total, self.given(answer, meaning)?));
        }
        let total = NonZeroU32::new(total).ok_or_else(|| {
            LabeledError::new("expected answers to draw from, found an empty list", "add `- answer: …`")
                .at(from.span(), "no answer")
        })?;
        Ok(WeightedChoices { stream: self.streams.named(seed.as_str()), total, answers })
    }

    fn given<T>(
        &mut self,
        written: &Spanned<DelayedReplyFile<T>>,
        meaning: &impl Fn(&T) -> Result<ScriptedReply, LabeledError>,
    ) -> Result<ScriptedEntry, LabeledError> {
        let DelayedReplyFile { said, after } = &written.value;
        let answer = said.means(meaning)?;
        let Some(after) = after else {
            return Ok(ScriptedEntry { answer, after: After::Exactly(Duration::ZERO) });
        };
        if answer == ScriptedReply::Fail(Failure::Timeout) {
            return Err(LabeledError::new(
                "`fail: timeout` is an answer that never comes, so it takes no time",
                "remove `after`; how long it is waited for stands under `deadlines`",
            )
            .at(after.span(), "never over"));
        }
        let after = match &after.value {
            DelayFile::Exactly(time) => After::Exactly(time.0),
            DelayFile::Drawn(DelayRangeFile { seed, least, most }) => {
                // A time that can be read has fewer milliseconds than fit into 32 bits.
                let milliseconds = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX - 1);
                let least_ms = milliseconds(least.value.0);
                let choices =
                    milliseconds(most.value.0).checked_sub(least_ms).map(|more| more.saturating_add(1));
                let choices = choices.and_then(NonZeroU32::new).ok_or_else(|| {
                    LabeledError::new(
                        format!(
                            "the shortest time, {}, is longer than the longest, {}",
                            least.value, most.value
                        ),
                        "write the shorter one as `least`",
                    )
                    .at(least.span(), "the shortest")
                    .at(most.span(), "the longest")
                })?;
                After::Drawn { stream: self.streams.named(seed.as_str()), least_ms, choices }
            }
        };
        Ok(ScriptedEntry { answer, after })
    }

    pub(super) fn planned(&self, modules: &ModulesFile) -> Planned {
        let mut planned = Planned::new();
        if modules.planner.is_none() {
            planned.insert(TaskId::FIRST, false);
        }
        for answer in self.parts.values().flat_map(|part| &part.cases).flat_map(|case| case.roll.answers()) {
            let ScriptedReply::Reply(Reply { report, .. }) = answer else { continue };
            for task in report.plan().map_or(&[][..], Plan::tasks) {
                *planned.entry(task.id).or_default() |= matches!(task.effect, Effect::Undoable { .. });
            }
        }
        planned
    }

    /// Answers of tasks. Those of a task that no plan has would never be used, so its number is a slip.
    pub(super) fn put_tasks(
        &mut self,
        tasks: &ByTask<TaskAnswer>,
        planned: &Planned,
        part: impl Fn(TaskId) -> ScriptKey,
    ) -> Result<(), LabeledError> {
        for entry in tasks.0.values() {
            let id = entry.task.value;
            let part = part(id);
            let numbers = || planned.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            match planned.get(&id) {
                None => {
                    let numbers = numbers();
                    let help = if numbers.is_empty() {
                        "no plan of this scenario has any task; remove it".to_owned()
                    } else {
                        format!("the plans of this scenario have the tasks {numbers}")
                    };
                    return Err(LabeledError::new(format!("no plan of this scenario has a task {id}"), help)
                        .at(entry.task.span(), "never asked for"));
                }
                Some(false) if matches!(part, ScriptKey::Undo(_)) => {
                    return Err(LabeledError::new(
                        format!("task {id} is never undone: no plan declares how"),
                        format!("give task {id} an `undo: …` in a plan, or remove this"),
                    )
                    .at(entry.task.span(), "never asked for"));
                }
                Some(_) => self.put(part, Some(&entry.answers), task)?,
            }
        }
        Ok(())
    }
}

fn check_len(count: usize, what: &str, place: Option<SourceSpan>) -> Result<(), LabeledError> {
    if count <= CHOICES_MAX {
        return Ok(());
    }
    let many =
        LabeledError::new(format!("expected at most {CHOICES_MAX} {what}, found {count}"), "write fewer");
    Err(many.at(place, "too many"))
}
