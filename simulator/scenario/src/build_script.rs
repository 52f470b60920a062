//! Builds a script from a scenario file, and checks what the form of the file does not determine.

use crate::ScriptedRequest;
use crate::format::ModulesFile;
use crate::names::{ByTask, Count};
use crate::replies::{ReplyKind, TaskReply};
use crate::reply::{
    CaseFile, RandomReplyFile, RepliesFile, ReplyFile, ReplyListFile, WeightedReplyFile, WhenFile,
};
use crate::script::{
    Case, Cases, Delay, RandomStreams, ReplyList, ReplySelection, Script, ScriptKey, ScriptedEntry,
    ScriptedReply, WeightedChoices, When,
};
use crate::time::{DelayFile, DelayRangeFile};
use miette::SourceSpan;
use orchestrion_kernel::module::{Failure, Role, Store};
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_kernel::{RequestId, TaskId, UserId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, Source, Spanned};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

/// The maximum number of cases of a module and of choices; each call scans them.
const CHOICES_MAX: usize = 1000;

/// Builds the script of a scenario.
pub(crate) fn build_script(
    source: &Source,
    seed: &str,
    modules: &Spanned<ModulesFile>,
    requests: &Spanned<Vec<crate::RequestFile>>,
    scripted: &[ScriptedRequest],
) -> Result<Script, LabeledError> {
    let m = &modules.value;
    let mut builder =
        ScriptBuilder { cases: BTreeMap::new(), streams: RandomStreams::new(seed), requests: scripted };
    builder.add(ScriptKey::Identity, m.identity.as_ref())?;
    builder.add(ScriptKey::Memory, m.memory.as_ref())?;
    builder.add(ScriptKey::Summarizer, m.summarizer.as_ref())?;
    builder.add(ScriptKey::Classifier, m.classifier.as_ref())?;
    builder.add(ScriptKey::Planner, m.planner.as_ref())?;
    builder.add(ScriptKey::Debater(Role::Analyst), m.analyst.as_ref())?;
    builder.add(ScriptKey::Debater(Role::Solution), m.solution.as_ref())?;
    builder.add(ScriptKey::Debater(Role::Critic), m.critic.as_ref())?;
    builder.add(ScriptKey::Debater(Role::Security), m.security.as_ref())?;
    builder.add(ScriptKey::Debater(Role::Optimizer), m.optimizer.as_ref())?;
    builder.add(ScriptKey::Review, m.review.as_ref())?;
    builder.add(ScriptKey::Approver, m.approver.as_ref())?;
    builder.add(ScriptKey::Diagnosis, m.diagnosis.as_ref())?;
    builder.add(ScriptKey::Store(Store::Local), m.local_store.as_ref())?;
    builder.add(ScriptKey::Store(Store::Cloud), m.cloud_store.as_ref())?;
    builder.add(ScriptKey::Auditor, m.auditor.as_ref())?;
    let planned = builder.planned_tasks(m);
    builder.add_tasks(&m.tasks, &planned, ScriptKey::Task)?;
    builder.add_tasks(&m.undo, &planned, ScriptKey::Undo)?;
    let place = modules.span().or(requests.span());
    Ok(Script::new(source.clone(), place, builder.cases, builder.streams))
}

/// The tasks of all plans in the scenario, each with whether a plan declares its compensation.
type PlannedTasks = BTreeMap<TaskId, bool>;

struct ScriptBuilder<'a> {
    cases: BTreeMap<ScriptKey, Cases>,
    streams: RandomStreams,
    requests: &'a [ScriptedRequest],
}

impl ScriptBuilder<'_> {
    fn add<T: ReplyKind>(
        &mut self,
        key: ScriptKey,
        replies: Option<&RepliesFile<T>>,
    ) -> Result<(), LabeledError> {
        let cases = match replies {
            None => return Ok(()),
            Some(RepliesFile::Always(list)) => {
                let replies = self.reply_list(list)?;
                Cases {
                    cases: vec![Case { when: When::default(), replies, place: None }],
                    place: None,
                    is_explicit: false,
                }
            }
            Some(RepliesFile::Cases { cases: files }) => {
                check_len(files.value.len(), "cases", files.span())?;
                let last = files.value.len().saturating_sub(1);
                let cases = files.value.iter().enumerate().map(|(number, case)| {
                    let CaseFile { when, reply } = &case.value;
                    let when = self.when(when.as_ref(), case.span(), number == last)?;
                    Ok(Case { when, replies: self.reply_list(reply)?, place: case.span() })
                });
                let cases = cases.collect::<Result<_, LabeledError>>()?;
                Cases { cases, place: files.span(), is_explicit: true }
            }
        };
        self.cases.insert(key, cases);
        Ok(())
    }

    /// Converts the condition of a case. A condition that never holds, or that hides later cases, is an error.
    fn when(
        &self,
        file: Option<&Spanned<WhenFile>>,
        case: Option<SourceSpan>,
        is_last: bool,
    ) -> Result<When, LabeledError> {
        let Some(Spanned { value: WhenFile { pass, request, user, text, context }, .. }) = file else {
            return if is_last {
                Ok(When::default())
            } else {
                Err(LabeledError::new(
                    "a case without `when` matches every call, so later cases are unreachable",
                    "add a `when`, or move the case to the end",
                )
                .with_label(case, "matches every call"))
            };
        };
        let place = file.and_then(Spanned::span);
        let has_empty_text = [user, text, context].into_iter().flatten().any(|text| text.as_str().is_empty());
        let number = |count: Count| count.0.get();
        let when = When {
            pass: pass.map(number),
            request: request.map(|request| RequestId::new(number(request))),
            user: user.as_ref().map(|user| UserId::new(user.text())),
            text: text.as_ref().map(|text| text.text()),
            context: context.as_ref().map(|context| context.text()),
        };
        if has_empty_text || when.is_always() {
            return Err(LabeledError::new(
                "empty condition in `when`",
                "write at least one of pass, request, user, text and context; only the last case may omit `when`",
            )
            .with_label(place, "empty"));
        }
        let mut requests = (1..).map(RequestId::new).zip(self.requests);
        if !requests.any(|(number, request)| when.matches_request(number, &request.user, &request.text)) {
            let count = self.requests.len();
            let plural = if count == 1 { "request" } else { "requests" };
            return Err(LabeledError::new(
                "no request of this scenario matches this `when`",
                format!(
                    "the scenario has {count} {plural}; `text` is a case-sensitive substring of the request text"
                ),
            )
            .with_label(place, "never matches"));
        }
        Ok(when)
    }

    fn reply_list<T: ReplyKind>(&mut self, file: &ReplyListFile<T>) -> Result<ReplyList, LabeledError> {
        let (selection, start, last) = match file {
            ReplyListFile::One(reply) => {
                (ReplySelection::Same(self.entry(reply)?), reply.span(), reply.span())
            }
            ReplyListFile::List(replies) => {
                let entries = replies.value.iter().map(|reply| self.entry(reply));
                let entries = entries.collect::<Result<_, _>>()?;
                let last = replies.value.last().and_then(Spanned::span);
                (ReplySelection::InOrder(entries), replies.span(), last)
            }
            ReplyListFile::Random { random } => {
                (ReplySelection::Random(self.weighted_choices(random)?), random.span(), random.span())
            }
        };
        Ok(ReplyList { selection, spans: (start, last), calls: 0 })
    }

    fn weighted_choices<T: ReplyKind>(
        &mut self,
        random: &Spanned<RandomReplyFile<T>>,
    ) -> Result<WeightedChoices, LabeledError> {
        let RandomReplyFile { seed, choices } = &random.value;
        check_len(choices.value.len(), "choices", choices.span())?;
        let mut entries = Vec::with_capacity(choices.value.len());
        let mut total = 0u32;
        for WeightedReplyFile { weight, reply } in &choices.value {
            total = total.checked_add(weight.0.get()).ok_or_else(|| {
                LabeledError::new(
                    format!("sum of weights: expected at most {}, found more", u32::MAX),
                    "write smaller weights; only their ratios matter",
                )
                .with_label(choices.span(), "these weights")
            })?;
            entries.push((total, self.entry(reply)?));
        }
        let total = NonZeroU32::new(total).ok_or_else(|| {
            LabeledError::new("expected at least one choice, found an empty list", "add `- reply: …`")
                .with_label(choices.span(), "no choice")
        })?;
        Ok(WeightedChoices { stream: self.streams.stream(seed.as_str()), total, entries })
    }

    fn entry<T: ReplyKind>(&mut self, file: &Spanned<ReplyFile<T>>) -> Result<ScriptedEntry, LabeledError> {
        let (reply, after) = file.value.to_kernel()?;
        let Some(after) = after else {
            return Ok(ScriptedEntry { reply, delay: Delay::Fixed(Duration::ZERO) });
        };
        if reply == ScriptedReply::Fail(Failure::Timeout) {
            return Err(LabeledError::new(
                "`after` beside `fail: timeout`: expected no delay",
                "remove `after`; a timeout occurs at the call's deadline, see `deadlines`",
            )
            .with_label(after.span(), "no effect"));
        }
        let delay = match &after.value {
            DelayFile::Fixed(duration) => Delay::Fixed(duration.0),
            DelayFile::Random(DelayRangeFile { seed, min, max }) => {
                // The maximum duration in milliseconds fits into 32 bits.
                let milliseconds = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX - 1);
                let min_ms = milliseconds(min.value.0);
                let choices =
                    milliseconds(max.value.0).checked_sub(min_ms).map(|more| more.saturating_add(1));
                let choices = choices.and_then(NonZeroU32::new).ok_or_else(|| {
                    LabeledError::new(
                        format!("expected min ≤ max, found {} and {}", min.value, max.value),
                        "swap the two durations",
                    )
                    .with_label(min.span(), "min")
                    .with_label(max.span(), "max")
                })?;
                Delay::Random { stream: self.streams.stream(seed.as_str()), min_ms, choices }
            }
        };
        Ok(ScriptedEntry { reply, delay })
    }

    fn planned_tasks(&self, modules: &ModulesFile) -> PlannedTasks {
        let mut planned = PlannedTasks::new();
        if modules.planner.is_none() {
            planned.insert(TaskId::FIRST, false);
        }
        let cases = self.cases.values().flat_map(|cases| &cases.cases);
        for reply in cases.flat_map(|case| case.replies.replies()) {
            let ScriptedReply::Reply(Reply { report, .. }) = reply else { continue };
            for task in report.plan().map_or(&[][..], Plan::tasks) {
                *planned.entry(task.id).or_default() |= matches!(task.effect, Effect::Undoable { .. });
            }
        }
        planned
    }

    /// Adds the replies of tasks. Replies of a task that no plan contains are an error, since no call uses them.
    fn add_tasks(
        &mut self,
        tasks: &ByTask<TaskReply>,
        planned: &PlannedTasks,
        key: impl Fn(TaskId) -> ScriptKey,
    ) -> Result<(), LabeledError> {
        for entry in tasks.0.values() {
            let id = entry.task.value;
            let key = key(id);
            match planned.get(&id) {
                None => {
                    let numbers: Vec<String> = planned.keys().map(ToString::to_string).collect();
                    let help = if numbers.is_empty() {
                        "remove the entry; the plans of this scenario have no tasks".to_owned()
                    } else {
                        format!("the plans of this scenario have the tasks {}", numbers.join(", "))
                    };
                    return Err(LabeledError::new(format!("no plan of this scenario has a task {id}"), help)
                        .with_label(entry.task.span(), "never called"));
                }
                Some(false) if matches!(key, ScriptKey::Undo(_)) => {
                    return Err(LabeledError::new(
                        format!("no plan of this scenario declares a compensation of task {id}"),
                        format!("add `undo: …` to task {id} in a plan, or remove this entry"),
                    )
                    .with_label(entry.task.span(), "never called"));
                }
                Some(_) => self.add(key, Some(&entry.replies))?,
            }
        }
        Ok(())
    }
}

fn check_len(count: usize, what: &str, place: Option<SourceSpan>) -> Result<(), LabeledError> {
    if count <= CHOICES_MAX {
        return Ok(());
    }
    let message = format!("expected at most {CHOICES_MAX} {what}, found {count}");
    Err(LabeledError::new(message, format!("remove {what}")).with_label(place, "too many"))
}
