//! Plans in a file.

use crate::convert::FileValue;
use crate::is_default::is_default;
use crate::writes::request_scope_schema;
use orchestrion_kernel::TaskId;
use orchestrion_kernel::item::Scope;
use orchestrion_kernel::plan::{Effect, Plan, PlanError, StepOptions, Task};
use orchestrion_yaml::{LabeledError, Spanned, StrictText, required_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A plan: 1 to 10,000 tasks with distinct numbers, each after the tasks that it depends on.
pub type PlanFile = Spanned<Vec<Spanned<TaskFile>>>;

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
}

impl FileValue<Plan> for PlanFile {
    fn to_kernel(&self) -> Result<Plan, LabeledError> {
        Plan::new(self.value.to_kernel()?).map_err(|error| {
            let message = error.to_string();
            match error {
                PlanError::DuplicateTask { task } => {
                    let same = |entry: &&Spanned<TaskFile>| entry.value.task == task.number();
                    let mut places = self.value.iter().filter(same).map(Spanned::span);
                    LabeledError::new(message, "give each task of the plan a distinct number")
                        .with_label(places.next().flatten(), "first task")
                        .with_label(places.next().flatten(), "second task")
                }
                PlanError::NotEarlier { task, dependency } => {
                    let tasks = self.value.iter().filter(|entry| entry.value.task == task.number());
                    let declared = tasks.flat_map(|entry| entry.value.depends_on.iter().flatten());
                    let mut places = declared.filter(|found| found.value == dependency.number());
                    LabeledError::new(
                        message,
                        "list a task after the tasks that it depends on, without a cycle",
                    )
                    .with_label(places.next().and_then(Spanned::span), "not an earlier task")
                }
                PlanError::Empty => {
                    LabeledError::new(message, "add a task, as in `- {task: 1, do: Run the tests}`")
                        .with_label(self.span(), "no task")
                }
                PlanError::TooLong { .. } => LabeledError::new(message, "remove tasks from the plan")
                    .with_label(self.span(), "too long"),
                _ => LabeledError::new(message, "correct the plan").with_label(self.span(), "invalid plan"),
            }
        })
    }

    fn from_kernel(plan: &Plan) -> Option<Self> {
        let tasks = plan.tasks().iter().map(FileValue::from_kernel);
        Some(tasks.collect::<Option<Vec<_>>>()?.into())
    }
}

impl FileValue<Task> for Spanned<TaskFile> {
    fn to_kernel(&self) -> Result<Task, LabeledError> {
        let TaskFile { task, action, undo, irreversible, depends_on, scope } = &self.value;
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
        Ok(Task {
            id: TaskId::new(*task),
            text: action.text(),
            effect,
            depends_on,
            scope: scope.clone(),
            step: StepOptions::default(),
        })
    }

    fn from_kernel(Task { id, text, effect, depends_on, scope, step: _ }: &Task) -> Option<Self> {
        let (undo, irreversible) = match effect {
            Effect::Pure => (None, false),
            Effect::Undoable { compensation } => (Some(compensation.clone().into()), false),
            Effect::Irreversible => (None, true),
        };
        let (task, action, scope) = (id.number(), text.clone().into(), scope.clone());
        let numbers = |tasks: &Vec<TaskId>| tasks.iter().map(|task| task.number().into()).collect();
        let depends_on = depends_on.as_ref().map(numbers);
        Some(TaskFile { task, action, undo, irreversible, depends_on, scope }.into())
    }
}
