//! Builds the cases of a script from a scenario file, and checks what the form of the file does not determine.

use crate::ScriptedRequest;
use crate::by_task::ByTask;
use crate::network::{ScenarioNetwork, no_network_error};
use crate::replies::{ReplyKind, TaskReply};
use crate::reply::{
    CaseFile, RandomReplyFile, RepliesFile, ReplyFile, ReplyListFile, WeightedReplyFile, WhenFile,
};
use crate::script::{
    Case, Cases, ReplyList, ReplySelection, ScriptKey, ScriptedEntry, ScriptedReply, WeightedChoices,
};
use crate::time::{DelayFile, DelayRangeFile};
use miette::SourceSpan;
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::plan::{Effect, Plan};
use orchestrion_kernel::{RequestId, TaskId};
use orchestrion_runtime::Reply;
use orchestrion_yaml::{LabeledError, Spanned};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The maximum number of cases of a module and of choices; each call scans them.
const CHOICES_MAX: usize = 1000;

/// The tasks of all plans in the scenario, each with whether a plan declares its compensation.
pub(crate) type PlannedTasks = BTreeMap<TaskId, bool>;

/// The replies of the modules so far, and the requests that the conditions of cases refer to.
pub(crate) struct ScriptBuilder<'a> {
    pub(crate) cases: BTreeMap<ScriptKey, Cases>,
    pub(crate) requests: &'a [ScriptedRequest],
    pub(crate) network: Option<&'a ScenarioNetwork>,
}

impl ScriptBuilder<'_> {
    pub(crate) fn add<T: ReplyKind>(
        &mut self,
        key: ScriptKey,
        replies: Option<&RepliesFile<T>>,
    ) -> Result<(), LabeledError> {
        let cases = match replies {
            None => return Ok(()),
            Some(RepliesFile::Always(list)) => {
                let replies = reply_list(list)?;
                Cases {
                    cases: vec![Case { when: WhenFile::default(), replies, place: None }],
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
                    Ok(Case { when, replies: reply_list(reply)?, place: case.span() })
                });
                let cases = cases.collect::<Result<_, LabeledError>>()?;
                Cases { cases, place: files.span(), is_explicit: true }
            }
        };
        self.cases.insert(key, cases);
        Ok(())
    }

    /// Checks the condition of a case. A condition that never holds, or that hides later cases, is an error.
    fn when(
        &self,
        file: Option<&Spanned<WhenFile>>,
        case: Option<SourceSpan>,
        is_last: bool,
    ) -> Result<WhenFile, LabeledError> {
        let Some(file) = file else {
            return if is_last {
                Ok(WhenFile::default())
            } else {
                Err(LabeledError::new(
                    "a case without `when` matches every call, so later cases are unreachable",
                    "add a `when`, or move the case to the end",
                )
                .with_label(case, "matches every call"))
            };
        };
        let when = &file.value;
        let texts = [&when.user, &when.text, &when.context];
        let has_empty_text = texts.into_iter().flatten().any(|text| text.as_str().is_empty());
        if has_empty_text || when.is_always() {
            return Err(LabeledError::new(
                "empty condition in `when`",
                "write at least one of pass, request, user, text, node and context; only the last case may omit `when`",
            )
            .with_label(file.span(), "empty"));
        }
        if let Some(node) = &when.node {
            let network = self.network;
            let network =
                network.ok_or_else(|| no_network_error("node").with_label(node.span(), "this node"))?;
            network.check_node(node)?;
        }
        let mut requests = (1..).map(RequestId::new).zip(self.requests);
        if !requests.any(|(number, scripted)| {
            when.matches_request(number, &scripted.user.user, &scripted.request.text)
        }) {
            let count = self.requests.len();
            let plural = if count == 1 { "request" } else { "requests" };
            return Err(LabeledError::new(
                "no request of this scenario matches this `when`",
                format!(
                    "the scenario has {count} {plural}; `text` is a case-sensitive substring of the request text"
                ),
            )
            .with_label(file.span(), "never matches"));
        }
        Ok(when.clone())
    }

    /// Returns the planned tasks. Without a scripted planner, the default plan has one task.
    pub(crate) fn planned_tasks(&self, has_planner: bool) -> PlannedTasks {
        let mut planned = PlannedTasks::new();
        if !has_planner {
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
    pub(crate) fn add_tasks(
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

fn reply_list<T: ReplyKind>(file: &ReplyListFile<T>) -> Result<ReplyList, LabeledError> {
    let (selection, start, last) = match file {
        ReplyListFile::One(reply) => (ReplySelection::Same(entry(reply)?), reply.span(), reply.span()),
        ReplyListFile::List(replies) => {
            let entries = replies.value.iter().map(entry).collect::<Result<_, _>>()?;
            let last = replies.value.last().and_then(Spanned::span);
            (ReplySelection::InOrder(entries), replies.span(), last)
        }
        ReplyListFile::Random { random } => {
            (ReplySelection::Random(weighted_choices(&random.value)?), random.span(), random.span())
        }
    };
    Ok(ReplyList { selection, spans: (start, last), calls: 0 })
}

fn weighted_choices<T: ReplyKind>(random: &RandomReplyFile<T>) -> Result<WeightedChoices, LabeledError> {
    let RandomReplyFile { seed, choices } = random;
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
        entries.push((total, entry(reply)?));
    }
    let total = NonZeroU32::new(total).ok_or_else(|| {
        LabeledError::new("expected at least one choice, found an empty list", "add `- reply: …`")
            .with_label(choices.span(), "no choice")
    })?;
    Ok(WeightedChoices { seed: seed.clone(), total, entries })
}

fn entry<T: ReplyKind>(file: &Spanned<ReplyFile<T>>) -> Result<ScriptedEntry, LabeledError> {
    let (reply, after) = file.value.to_kernel()?;
    if let Some(after) = after {
        if reply == ScriptedReply::Fail(Failure::Timeout) {
            return Err(LabeledError::new(
                "`after` beside `fail: timeout`: expected no delay",
                "remove `after`; a timeout occurs at the call's deadline, see `deadlines`",
            )
            .with_label(after.span(), "no effect"));
        }
        if let DelayFile::Random(range @ DelayRangeFile { min, max, .. }) = &after.value
            && range.choices().is_none()
        {
            return Err(LabeledError::new(
                format!("expected min ≤ max, found {} and {}", min.value, max.value),
                "swap the two durations",
            )
            .with_label(min.span(), "min")
            .with_label(max.span(), "max"));
        }
    }
    Ok(ScriptedEntry { reply, after: after.map(|after| after.value.clone()) })
}

fn check_len(count: usize, what: &str, place: Option<SourceSpan>) -> Result<(), LabeledError> {
    if count <= CHOICES_MAX {
        return Ok(());
    }
    let message = format!("expected at most {CHOICES_MAX} {what}, found {count}");
    Err(LabeledError::new(message, format!("remove {what}")).with_label(place, "too many"))
}
