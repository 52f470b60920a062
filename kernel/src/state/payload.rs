//! The payload of a call: what a module reads beside its context (000 §5.3, decision 0033).
//!
//! `decide` counts the payload as compact JSON, as a host receives it. The feature `serde` is optional, so this file writes the JSON
//! of a plan and of a task itself; a test compares it with the derived encoding.

use super::request::Request;
use crate::ids::TaskId;
use crate::item::Scope;
use crate::module::Operation;
use crate::plan::{Effect, Plan, Task};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Result, Write};

/// What a module reads beside its context.
pub(super) enum Payload<'a> {
    Plan(&'a Plan),
    Task(&'a Task),
    None,
}

impl Request {
    /// Returns the task to run or to undo, in its latest started version.
    #[must_use]
    pub fn started_task(&self, task: TaskId) -> Option<&Task> {
        self.ledger.get(task)?.version.as_ref()
    }

    /// Returns the payload of a call with this operation: the plan for debaters, the approver and the diagnosis, and the task for
    /// the executor. The other operations that take a context have none.
    pub(super) fn payload(&self, operation: Operation) -> Payload<'_> {
        match operation {
            Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::Diagnose => {
                self.plan.as_ref().map_or(Payload::None, |revised| Payload::Plan(&revised.plan))
            }
            Operation::RunTask { task, .. } | Operation::UndoTask { task } => {
                self.started_task(task).map_or(Payload::None, Payload::Task)
            }
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => Payload::None,
        }
    }

    /// Returns the payload of a call with this operation as compact JSON: `{"plan":[…]}` or `{"task":{…}}`.
    #[must_use]
    pub fn payload_text(&self, operation: Operation) -> Option<String> {
        // The capacity of a few short tasks.
        let mut json = String::with_capacity(256);
        // Writing to a string cannot fail.
        let _ = match self.payload(operation) {
            Payload::Plan(plan) => write_plan(&mut json, plan.tasks()),
            Payload::Task(task) => {
                json.push_str("{\"task\":");
                write_task(&mut json, task).and_then(|()| json.write_char('}'))
            }
            Payload::None => return None,
        };
        Some(json)
    }

    /// Returns an upper bound on the bytes of the payload of a call with this operation, without writing it.
    pub(crate) fn payload_bytes_max(&self, operation: Operation) -> usize {
        /// The brackets and the key around the tasks.
        const FRAME_BYTES: usize = 20;
        let tasks = match self.payload(operation) {
            Payload::Plan(plan) => plan.task_bytes_max(),
            Payload::Task(task) => task_bytes_max(task),
            Payload::None => return 0,
        };
        tasks.saturating_add(FRAME_BYTES)
    }
}

/// Returns an upper bound on the bytes of a task in a payload.
pub(crate) fn task_bytes_max(task: &Task) -> usize {
    /// The keys, the number, the kinds of effect and scope, and separators.
    const FIXED_BYTES: usize = 160;
    /// An escaped byte of a string.
    const ESCAPED_BYTES: usize = 6;
    /// A task number with its comma.
    const NUMBER_BYTES: usize = 11;
    let compensation = match &task.effect {
        Effect::Undoable { compensation } => compensation.as_str().len(),
        Effect::Pure | Effect::Irreversible => 0,
    };
    let scope = task.scope.as_ref().and_then(Scope::name).map_or(0, |name| name.as_str().len());
    let texts = task.text.as_str().len().saturating_add(compensation).saturating_add(scope);
    let numbers = task.depends_on.as_ref().map_or(0, Vec::len).saturating_mul(NUMBER_BYTES);
    texts.saturating_mul(ESCAPED_BYTES).saturating_add(numbers).saturating_add(FIXED_BYTES)
}

fn write_plan(json: &mut String, tasks: &[Task]) -> Result {
    json.push_str("{\"plan\":[");
    for (at, task) in tasks.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        write_task(json, task)?;
    }
    json.write_str("]}")
}

fn write_task(json: &mut String, task: &Task) -> Result {
    // The step options are for routing; the node receives the metadata with the handoff.
    let Task { id, text, effect, depends_on, scope, step: _ } = task;
    write!(json, "{{\"id\":{},\"text\":", id.number())?;
    write_string(json, text.as_str())?;
    json.push_str(",\"effect\":");
    match effect {
        Effect::Pure => json.push_str("\"pure\""),
        Effect::Undoable { compensation } => {
            json.push_str("{\"undoable\":{\"compensation\":");
            write_string(json, compensation.as_str())?;
            json.push_str("}}");
        }
        Effect::Irreversible => json.push_str("\"irreversible\""),
    }
    if let Some(depends_on) = depends_on {
        json.push_str(",\"depends_on\":[");
        for (at, task) in depends_on.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(json, "{comma}{}", task.number())?;
        }
        json.push(']');
    }
    if let Some(scope) = scope {
        json.push_str(",\"scope\":");
        write_scope(json, scope)?;
    }
    json.write_char('}')
}

fn write_scope(json: &mut String, scope: &Scope) -> Result {
    let (kind, name) = match scope {
        Scope::Global => return json.write_str("\"global\""),
        Scope::Session => return json.write_str("\"session\""),
        Scope::Task(name) => ("task", name),
        Scope::Hypothetical(name) => ("hypothetical", name),
        Scope::Draft(name) => ("draft", name),
    };
    write!(json, "{{\"{kind}\":")?;
    write_string(json, name.as_str())?;
    json.write_char('}')
}

fn write_string(json: &mut String, text: &str) -> Result {
    let is_escaped = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    json.push('"');
    let mut rest = text;
    // Most texts contain no such byte, and are copied as a whole.
    while let Some((plain, escaped)) =
        rest.bytes().position(is_escaped).and_then(|at| rest.split_at_checked(at))
    {
        json.push_str(plain);
        let mut letters = escaped.chars();
        match letters.next() {
            Some('"') => json.push_str("\\\""),
            Some('\\') => json.push_str("\\\\"),
            Some('\n') => json.push_str("\\n"),
            Some('\r') => json.push_str("\\r"),
            Some('\t') => json.push_str("\\t"),
            Some('\u{8}') => json.push_str("\\b"),
            Some('\u{c}') => json.push_str("\\f"),
            Some(control) => write!(json, "\\u{:04x}", u32::from(control))?,
            None => {}
        }
        rest = letters.as_str();
    }
    json.push_str(rest);
    json.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{RequestId, Revision};
    use crate::plan::StepOptions;
    use crate::state::PlanRevision;
    use alloc::vec;

    #[test]
    fn payload_fits_its_bound() {
        for text in ["", "task", "\u{1}\"\\\n", "Straße ẞ 漢字"] {
            let text = || crate::ids::Text::from(text.repeat(40));
            let effects = [Effect::Pure, Effect::Irreversible, Effect::Undoable { compensation: text() }];
            let task = |(id, effect)| Task {
                id: TaskId::new(id),
                text: text(),
                effect,
                depends_on: Some((u32::MAX - 2..id).map(TaskId::new).collect()),
                scope: Some(Scope::Hypothetical(text())),
                step: StepOptions::default(),
            };
            let tasks: vec::Vec<Task> = (u32::MAX - 2..=u32::MAX).zip(effects).map(task).collect();
            let mut request = Request::new(RequestId::FIRST, text(), Scope::Global);
            let plan = Plan::new(tasks).unwrap();
            request.plan = Some(PlanRevision { revision: Revision::FIRST, plan });
            let payload = request.payload_text(Operation::Approve).unwrap();
            assert!(payload.len() <= request.payload_bytes_max(Operation::Approve), "{payload}");
        }
    }

    #[test]
    fn strings_are_json() {
        for text in ["", "a", "\"", "\\", "\n\r\t\u{8}\u{c}", "\u{1f}", "a\"b\\c\u{1}d", "Straße ẞ 漢字"]
        {
            let mut json = String::new();
            write_string(&mut json, text).unwrap();
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text, "{json}");
        }
    }
}
