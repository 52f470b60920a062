//! Plans in a file: tasks, tasks with an aggregation of their results, or a pattern of 001 §9.
//!
//! Serde's untagged enums lose the places of errors, so a visitor selects the form by the type and the first key.

mod aggregated;
mod pattern;
mod requires;
mod task;

pub use aggregated::{AggregatedPlanFile, AggregationFile};
pub use pattern::PatternFile;
pub use requires::RequiresFile;
pub use task::TaskFile;

use crate::convert::FileValue;
use crate::reply_keys::deserialize_with_key;
use miette::SourceSpan;
use orchestrion_kernel::plan::{Plan, PlanError};
use orchestrion_yaml::{LabeledError, Spanned, unknown_value_error};
use pattern::PatternKeys;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A plan with its place.
pub type PlanFile = Spanned<PlanForm>;

/// Plan: tasks in order, tasks with an aggregation of their results, or a pattern of tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Plan")]
pub enum PlanForm {
    /// 1 to 10,000 tasks with distinct numbers, each after the tasks that it depends on.
    Tasks(#[schemars(length(min = 1, max = 10_000))] Vec<Spanned<TaskFile>>),
    /// Tasks with an aggregation of the results of those without dependencies.
    Aggregated(AggregatedPlanFile),
    /// Pattern of tasks without effect.
    Pattern(PatternFile),
}

impl From<Vec<Spanned<TaskFile>>> for PlanForm {
    fn from(tasks: Vec<Spanned<TaskFile>>) -> Self {
        Self::Tasks(tasks)
    }
}

impl<'de> Deserialize<'de> for PlanForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlanVisitor)
    }
}

struct PlanVisitor;

impl<'de> Visitor<'de> for PlanVisitor {
    type Value = PlanForm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tasks, or a mapping with `tasks` or `pattern`")
    }
    /// A key without a value is an empty list.
    fn visit_unit<E: Error>(self) -> Result<PlanForm, E> {
        Ok(PlanForm::Tasks(Vec::new()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PlanForm, A::Error> {
        let mut tasks = Vec::new();
        while let Some(task) = seq.next_element()? {
            tasks.push(task);
        }
        Ok(PlanForm::Tasks(tasks))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PlanForm, A::Error> {
        let Some(first) = map.next_key::<Spanned<String>>()? else {
            return Err(LabeledError::new(
                "expected a plan, found an empty mapping",
                "write a list of tasks, or `tasks` with `aggregation`, or `pattern`",
            )
            .into_serde_error());
        };
        let key = first.value.as_str();
        if AggregatedPlanFile::KEYS.contains(&key) {
            deserialize_with_key(key, map).map(PlanForm::Aggregated)
        } else if PatternKeys::KEYS.contains(&key) {
            let keys: PatternKeys = deserialize_with_key(key, map)?;
            keys.into_pattern().map(PlanForm::Pattern).map_err(LabeledError::into_serde_error)
        } else {
            let known = [&AggregatedPlanFile::KEYS[..], &PatternKeys::KEYS[..]].concat();
            Err(unknown_value_error(key, &known).with_label(first.span(), "unknown").into_serde_error())
        }
    }
}

impl FileValue<Plan> for PlanFile {
    fn to_kernel(&self) -> Result<Plan, LabeledError> {
        match &self.value {
            PlanForm::Tasks(tasks) => plan_of_tasks(tasks, self.span()),
            PlanForm::Aggregated(file) => file.to_plan(self.span()),
            PlanForm::Pattern(pattern) => {
                pattern.to_plan().map_err(|error| error.with_label(self.span(), "this pattern"))
            }
        }
    }

    /// The pattern of a plan is not recorded: it becomes a list, or an aggregated plan.
    fn from_kernel(plan: &Plan) -> Option<Self> {
        let tasks: Vec<Spanned<TaskFile>> =
            plan.tasks().iter().map(FileValue::from_kernel).collect::<Option<_>>()?;
        let form = match plan.aggregation() {
            None => PlanForm::Tasks(tasks),
            Some(aggregation) => PlanForm::Aggregated(AggregatedPlanFile {
                tasks: tasks.into(),
                aggregation: AggregationFile::from_kernel(aggregation),
            }),
        };
        Some(form.into())
    }
}

/// Returns the plan of these tasks. `place` is that of the list.
fn plan_of_tasks(tasks: &[Spanned<TaskFile>], place: Option<SourceSpan>) -> Result<Plan, LabeledError> {
    let kernel = tasks.iter().map(FileValue::to_kernel).collect::<Result<_, _>>()?;
    Plan::new(kernel).map_err(|error| {
        let message = error.to_string();
        match error {
            PlanError::DuplicateTask { task } => {
                let same = |entry: &&Spanned<TaskFile>| entry.value.task == task.number();
                let mut places = tasks.iter().filter(same).map(Spanned::span);
                LabeledError::new(message, "give each task of the plan a distinct number")
                    .with_label(places.next().flatten(), "first task")
                    .with_label(places.next().flatten(), "second task")
            }
            PlanError::NotEarlier { task, dependency } => {
                let tasks = tasks.iter().filter(|entry| entry.value.task == task.number());
                let declared = tasks.flat_map(|entry| entry.value.depends_on.iter().flatten());
                let mut places = declared.filter(|found| found.value == dependency.number());
                LabeledError::new(message, "list a task after the tasks that it depends on, without a cycle")
                    .with_label(places.next().and_then(Spanned::span), "not an earlier task")
            }
            PlanError::NotValidated { task, .. } => {
                let validation = tasks.iter().find(|entry| entry.value.task == task.number());
                let place = validation.and_then(|entry| entry.value.validates.as_ref()?.span());
                LabeledError::new(message, "add the validated task to `depends_on`, or correct `validates`")
                    .with_label(place, "no dependency")
            }
            PlanError::Empty => {
                LabeledError::new(message, "add a task, as in `- {task: 1, do: Run the tests}`")
                    .with_label(place, "no task")
            }
            PlanError::TooLong { .. } => {
                LabeledError::new(message, "remove tasks from the plan").with_label(place, "too long")
            }
            _ => LabeledError::new(message, "correct the plan").with_label(place, "invalid plan"),
        }
    })
}
