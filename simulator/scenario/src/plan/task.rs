//! Tasks of a plan.

use super::RequiresFile;
use crate::convert::FileValue;
use crate::is_default::is_default;
use crate::writes::request_scope_schema;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::plan::{Effect, StepOptions, Task};
use orchestrion_kernel::{TaskId, Text};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A task of a plan. Without `undo` and `irreversible` it has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFile {
    /// The number of the task. Later revisions of the plan keep it.
    pub task: u32,
    /// The action.
    #[serde(rename = "do")]
    pub action: StrictText,
    /// The compensation: the action that undoes the effect.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub undo: Option<StrictText>,
    /// Whether the effect cannot be undone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub irreversible: bool,
    /// The numbers of the earlier tasks that must succeed before the task starts; `[]` for none. Default: the task before it.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<Spanned<u32>>>,
    /// The scope in which the task runs: `task`, `hypothetical` or `draft` with a name. Default: that of the request.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "request_scope_schema")]
    pub scope: Option<Scope>,
    /// Requirements of the node that executes the task, in a network: a capability, a list, or a mapping as in a task file.
    /// Default: executor.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub requires: Option<RequiresFile>,
    /// Metadata that travels with the task, texts by name. Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, StrictText>,
    /// Whether the run succeeds without the task. Default: false.
    #[serde(default, skip_serializing_if = "is_default")]
    pub optional: bool,
    /// Number of a task that it depends on and validates: that task runs again if this one exits with another code than 0.
    /// Default: none.
    #[serde(default, deserialize_with = "required_value", skip_serializing_if = "Option::is_none")]
    pub validates: Option<Spanned<u32>>,
}

impl TaskFile {
    /// Returns a task without effect, in its place of the sequence.
    #[must_use]
    pub const fn new(task: u32, action: StrictText) -> Self {
        Self {
            task,
            action,
            undo: None,
            irreversible: false,
            depends_on: None,
            scope: None,
            requires: None,
            metadata: BTreeMap::new(),
            optional: false,
            validates: None,
        }
    }
}

impl FileValue<Task> for Spanned<TaskFile> {
    fn to_kernel(&self) -> Result<Task, LabeledError> {
        let TaskFile {
            task,
            action,
            undo,
            irreversible,
            depends_on,
            scope,
            requires,
            metadata,
            optional,
            validates,
        } = &self.value;
        let effect = match (undo, irreversible) {
            (Some(_), true) => {
                return Err(LabeledError::new(
                    format!("task {task} has both `undo` and `irreversible`: expected at most one"),
                    "keep `undo` if the effect can be undone, else keep `irreversible`",
                )
                .with_label(self.span(), "both keys"));
            }
            (Some(undo), false) => Effect::Undoable { compensation: undo.text() },
            (None, true) => Effect::Irreversible,
            (None, false) => Effect::Pure,
        };
        let numbers = |tasks: &Vec<Spanned<u32>>| tasks.iter().map(|task| TaskId::new(task.value)).collect();
        let depends_on = depends_on.as_ref().map(numbers);
        let metadata = metadata.iter().map(|(name, text)| (Text::from(name.as_str()), text.text()));
        Ok(Task {
            id: TaskId::new(*task),
            text: action.text(),
            effect,
            depends_on,
            scope: scope.clone(),
            step: StepOptions {
                requirements: requires.to_kernel()?,
                metadata: metadata.collect(),
                optional: *optional,
                validates: validates.map(|task| TaskId::new(task.value)),
            },
        })
    }

    fn from_kernel(Task { id, text, effect, depends_on, scope, step }: &Task) -> Option<Self> {
        let (undo, irreversible) = match effect {
            Effect::Pure => (None, false),
            Effect::Undoable { compensation } => (Some(compensation.clone().into()), false),
            Effect::Irreversible => (None, true),
        };
        let StepOptions { requirements, metadata, optional, validates } = step;
        let numbers = |tasks: &Vec<TaskId>| tasks.iter().map(|task| task.number().into()).collect();
        let metadata = metadata.iter().map(|(name, text)| (name.as_str().to_owned(), text.clone().into()));
        Some(
            TaskFile {
                task: id.number(),
                action: text.clone().into(),
                undo,
                irreversible,
                depends_on: depends_on.as_ref().map(numbers),
                scope: scope.clone(),
                requires: FileValue::from_kernel(requirements)?,
                metadata: metadata.collect(),
                optional: *optional,
                validates: validates.map(|task| task.number().into()),
            }
            .into(),
        )
    }
}
