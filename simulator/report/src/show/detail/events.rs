//! The events of one step, one line each.

use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::{network, phrases};
use crate::text::count;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::item::{Item, ItemKind, Validity};
use orchestrion_kernel::plan::{Effect, Task};
use orchestrion_kernel::{ItemId, Text};
use std::io;

pub(super) fn write_list(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    if view.step.events.is_empty() {
        return Ok(());
    }
    out.write_blank()?;
    for (i, event) in view.step.events.iter().enumerate() {
        let section = if i == 0 { "events" } else { "" };
        let (name, line) = describe(event);
        out.write_event(section, name, line)?;
    }
    Ok(())
}

/// Returns the name of an event.
pub(in crate::show) fn name(event: &Event) -> &'static str {
    describe(event).0
}

/// Returns the name of an event, and its fields.
fn describe(event: &Event) -> (&'static str, Line) {
    match event {
        Event::UserMsg { request, user, scope, .. } => {
            ("UserMsg", Line::text(format_args!("request {request} of {user}{}", phrases::in_scope(scope))))
        }
        Event::ToolCall { call, operation } => (
            "ToolCall",
            Line::text(format_args!("call {call} to "))
                .join(phrases::operation(*operation))
                .and(format_args!(", for {}", operation.expected_reply())),
        ),
        Event::ToolResult { module, call, report } => {
            ("ToolResult", Line::text(format_args!("call {call}, {module}: {}", report.label())))
        }
        Event::AddItem { item, deps } => ("AddItem", self::item(item, deps, ItemText::Full)),
        Event::UpdateItem { item, deps } => ("UpdateItem", self::item(item, deps, ItemText::Full)),
        Event::ForgetItems { ids, cause } => {
            let ids_list: Vec<String> = ids.iter().map(|id| format!("[{id}]")).collect();
            let count = count(ids.len(), "item");
            let line = format!("{count}, {}: {}", forget_cause(*cause), ids_list.join(" "));
            ("ForgetItems", Line::text(line))
        }
        Event::FinalAnswer { trace, text } => {
            ("FinalAnswer", Line::text(format_args!("trace {trace}: \"{text}\"")))
        }
        Event::TimeAdvanced { now } => ("TimeAdvanced", Line::text(now)),
        Event::ActionRecorded { record, .. } => ("ActionRecorded", phrases::action(record)),
        Event::SessionStarted { user } => ("SessionStarted", Line::text(user)),
        Event::SessionEnded => ("SessionEnded", Line::new()),
        Event::CallFailed { module, call, failure } => {
            ("CallFailed", Line::text(format_args!("call {call}, {module}: {failure}")))
        }
        Event::OverBudget { call, required_tokens, budget_tokens } => (
            "OverBudget",
            Line::text(format_args!("call {call} requires {required_tokens} tokens, budget {budget_tokens}")),
        ),
        Event::Network(event) => network::describe(event),
        Event::Cancelled => ("Cancelled", Line::new()),
        Event::Resumed => ("Resumed", Line::new()),
        Event::Transitioned { row } => {
            let row = row.transition();
            ("Transitioned", Line::text(format_args!("{} to {}", row.id, row.to)))
        }
        Event::PlanAdopted { revision, plan } => {
            ("PlanAdopted", Line::text(format_args!("r{revision}, {}", phrases::task_count(plan))))
        }
        Event::VetoRaised { revision } => {
            ("VetoRaised", Line::new().styled(TextStyle::Bad, format_args!("on r{revision}")))
        }
        Event::ConsensusScored { revision, score } => {
            ("ConsensusScored", Line::text(format_args!("{score} for r{revision}")))
        }
        Event::RatingsUpdated { ratings } => ("RatingsUpdated", Line::text(phrases::ratings(ratings))),
        Event::Decided { decision } => ("Decided", phrases::decision(decision)),
        Event::ExecutionReported { revision, tasks } => {
            let mut line = Line::text(format_args!("r{revision}"));
            for task in tasks {
                line =
                    line.and(format_args!(", task {} ", task.task)).join(phrases::task_outcome(task.outcome));
            }
            ("ExecutionReported", line)
        }
        Event::RepairStarted => ("RepairStarted", Line::new()),
        Event::Concluded { conclusion } => ("Concluded", phrases::conclusion(*conclusion)),
        Event::MemoryRecorded { record } => (
            "MemoryRecorded",
            Line::text(format_args!("{} of trace {}: \"{}\"", record.kind, record.trace, record.text)),
        ),
        Event::AuditRecorded { record } => {
            let mut line = phrases::conclusion(record.conclusion)
                .and(format_args!(", {} of {}", record.trace, record.user));
            for decision in &record.decisions {
                line = line.and("; ").join(phrases::decision(decision));
            }
            line = line.and("; stores: ").join(phrases::store_statuses(record.stores));
            for task in &record.tasks {
                line = line.and("; ").join(phrases::task_record(task));
            }
            ("AuditRecorded", line)
        }
        Event::AuditUndelivered => ("AuditUndelivered", Line::new()),
    }
}

pub(in crate::show) fn forget_cause(cause: ForgetCause) -> String {
    match cause {
        ForgetCause::SessionEnd => "end of session".to_owned(),
        ForgetCause::Expiry => "expired".to_owned(),
        ForgetCause::RequestEnd => "end of request".to_owned(),
        ForgetCause::Compaction { into } => format!("summarized by [{into}]"),
        ForgetCause::Capacity => "over the capacity of the session".to_owned(),
    }
}

/// The length of the text of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::show) enum ItemText {
    Full,
    /// Shortened to the rest of the line.
    Short,
}

/// Returns an item: id, status, key, scope, audience, dependencies, validity and text.
pub(in crate::show) fn item(item: &Item, deps: &[ItemId], text: ItemText) -> Line {
    let mut line = Line::new().styled(TextStyle::Heading, format_args!("[{}]", item.id)).pad_to(5);
    line = match item.kind {
        ItemKind::Fact => line,
        ItemKind::Constraint(_) => line.and("constraint, "),
        ItemKind::Subtask(status) => line.styled(TextStyle::Actor, format_args!("{status}: ")),
    };
    line = line.and(&item.key);
    if let Some(fact) = item.fact() {
        if !fact.summarized_keys.is_empty() {
            let keys: Vec<&str> = fact.summarized_keys.iter().map(Text::as_str).collect();
            line = line.styled(TextStyle::Dim, format_args!(" of {}", keys.join(", ")));
        }
        line = line.styled(TextStyle::Dim, phrases::scope_and_audience(&fact.scope, &fact.audience));
        if let Some(derivation) = fact.source.derivation {
            line = line.styled(TextStyle::Dim, format_args!(", {derivation}"));
        }
    }
    if !deps.is_empty() {
        let deps: Vec<String> = deps.iter().map(|dep| format!("[{dep}]")).collect();
        line = line.styled(TextStyle::Dim, format_args!(" ← {}", deps.join(" ")));
    }
    match item.validity {
        Validity::Current => {}
        Validity::NeedsReview => line = line.styled(TextStyle::Warn, " (needs review)"),
        Validity::Superseded { superseded_by: Some(by), rule } => {
            line = line.styled(TextStyle::Dim, format_args!(" (superseded by [{by}], {rule})"));
        }
        Validity::Superseded { superseded_by: None, rule } => {
            line = line.styled(TextStyle::Dim, format_args!(" (superseded, {rule})"));
        }
        Validity::Denied => line = line.styled(TextStyle::Bad, " (denied)"),
    }
    match text {
        ItemText::Full if !item.text.as_str().trim().is_empty() => {
            line.and(format_args!("  \"{}\"", item.text))
        }
        ItemText::Short | ItemText::Full => line.and("  ").quote(item.text.as_str()),
    }
}

/// Returns a task with its full text.
pub(super) fn task(task: &Task) -> Line {
    let line = Line::text(format_args!("{:>2}  {} ", task.id, task.text));
    let line = line.styled(TextStyle::Dim, phrases::dependencies(task));
    match &task.effect {
        Effect::Pure => line.styled(TextStyle::Dim, "(pure)"),
        Effect::Undoable { compensation } => {
            line.styled(TextStyle::Dim, format_args!("(undo: {compensation})"))
        }
        Effect::Irreversible => line.styled(TextStyle::Warn, "(irreversible)"),
    }
    .and(task.scope.as_ref().map(phrases::in_scope).unwrap_or_default())
}
