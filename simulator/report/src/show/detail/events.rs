//! The events of one step, a readable line each.

use super::super::phrases;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::count;
use orchestrion_kernel::event::{Event, ForgetCause};
use orchestrion_kernel::item::{Item, ItemKind, Validity};
use orchestrion_kernel::plan::{Effect, Task};
use orchestrion_kernel::{ItemId, Text};
use std::io;

pub(super) fn list(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    if scene.step.events.is_empty() {
        return Ok(());
    }
    page.gap()?;
    for (i, event) in scene.step.events.iter().enumerate() {
        let name = if i == 0 { "events" } else { "" };
        let (event_name, line) = told(event);
        page.event(name, event_name, line)?;
    }
    Ok(())
}

/// An event's name, and what it says.
fn told(event: &Event) -> (&'static str, Line) {
    match event {
        Event::UserMsg { request, user, .. } => {
            ("UserMsg", Line::text(format_args!("request {request} of {user}")))
        }
        Event::ToolCall { call, operation: ask } => {
            let asked = phrases::asked(*ask);
            (
                "ToolCall",
                Line::text(format_args!("call {call} to "))
                    .join(asked)
                    .and(format_args!(", for {}", ask.expected_reply())),
            )
        }
        Event::ToolResult { module, call, report } => {
            ("ToolResult", Line::text(format_args!("call {call}, {module}: {}", report.noun())))
        }
        Event::AddItem { item, deps } => ("AddItem", self::item(item, deps, None)),
        Event::UpdateItem { item, deps } => ("UpdateItem", self::item(item, deps, None)),
        Event::ForgetItems { ids, cause } => {
            let why = because(*cause);
            let listed: Vec<String> = ids.iter().map(|id| format!("[{id}]")).collect();
            let line = format!("{}, {why}: {}", count(ids.len(), "item"), listed.join(" "));
            ("ForgetItems", Line::text(line))
        }
        Event::FinalAnswer { trace, text } => {
            ("FinalAnswer", Line::text(format_args!("trace {trace}: \"{text}\"")))
        }
        Event::ActionRecorded { record } => ("ActionRecorded", phrases::action(record)),
        Event::SessionStarted { user } => ("SessionStarted", Line::text(user)),
        Event::SessionEnded => ("SessionEnded", Line::new()),
        Event::CallFailed { module, call, failure } => {
            ("CallFailed", Line::text(format_args!("call {call}, {module}: {failure}")))
        }
        Event::OverBudget { call, required_tokens: needs, budget_tokens: budget } => (
            "OverBudget",
            Line::text(format_args!("call {call} must be shown {needs} tokens of at most {budget}")),
        ),
        Event::Cancelled => ("Cancelled", Line::new()),
        Event::Resumed => ("Resumed", Line::new()),
        Event::Transitioned { row } => {
            ("Moved", Line::text(format_args!("along {} to {}", row.transition().id, row.transition().to)))
        }
        Event::PlanAdopted { revision, plan } => {
            ("PlanAdopted", Line::text(format_args!("r{revision}, {}", phrases::tasks(plan))))
        }
        Event::VetoRaised { revision } => {
            ("VetoRaised", Line::new().ink(TextStyle::Bad, format_args!("on r{revision}")))
        }
        Event::ConsensusScored { revision, score } => {
            ("ConsensusScored", Line::text(format_args!("{score} for r{revision}")))
        }
        Event::RatingsUpdated { ratings } => ("RatingsUpdated", Line::text(phrases::standing(ratings))),
        Event::Decided { decision } => ("Decided", phrases::decision(decision)),
        Event::ExecutionReported { revision, tasks } => {
            let mut line = Line::text(format_args!("r{revision}"));
            for task in tasks {
                line = line.and(format_args!(", task {} ", task.task)).join(phrases::task_end(task.outcome));
            }
            ("ExecutionReported", line)
        }
        Event::RepairStarted => ("RepairStarted", Line::new()),
        Event::Concluded { conclusion: ending } => ("Concluded", phrases::ending(*ending)),
        Event::MemoryRecorded { record } => (
            "Memorized",
            Line::text(format_args!("{} of trace {}: \"{}\"", record.kind, record.trace, record.text)),
        ),
        Event::AuditRecorded { record } => {
            let mut line =
                phrases::ending(record.conclusion).and(format_args!(", {} of {}", record.trace, record.user));
            for decision in &record.decisions {
                line = line.and("; ").join(phrases::decision(decision));
            }
            line = line.and("; stores: ").join(phrases::holdings(record.stores));
            for task in &record.tasks {
                line = line.and("; ").join(phrases::task_record(task));
            }
            ("Audited", line)
        }
        Event::AuditUndelivered => ("AuditUndelivered", Line::new()),
    }
}

/// Why items were forgotten.
pub(in crate::show) fn because(cause: ForgetCause) -> String {
    match cause {
        ForgetCause::SessionEnd => "for the session ends".to_owned(),
        ForgetCause::Expiry => "for it has expired".to_owned(),
        ForgetCause::Compaction { into } => format!("for [{into}] says what it comes to"),
    }
}

/// An item: its id, what it rests on, what it speaks of, and what it says, on so many columns if they are given.
pub(in crate::show) fn item(item: &Item, deps: &[ItemId], room: Option<usize>) -> Line {
    let mut line = Line::new().ink(TextStyle::Heading, format_args!("[{}]", item.id)).to(5);
    line = match item.kind {
        ItemKind::Fact => line,
        ItemKind::Constraint(_) => line.and("constraint, "),
        ItemKind::Subtask(status) => line.ink(TextStyle::Who, format_args!("{status}: ")),
    };
    line = line.and(&item.key);
    if let Some(fact) = item.fact() {
        if !fact.summarized_keys.is_empty() {
            let names: Vec<&str> = fact.summarized_keys.iter().map(Text::as_str).collect();
            line = line.ink(TextStyle::Dim, format_args!(" of {}", names.join(", ")));
        }
        line = line.ink(TextStyle::Dim, phrases::counts(&fact.scope, &fact.audience));
    }
    if !deps.is_empty() {
        let deps: Vec<String> = deps.iter().map(|dep| format!("[{dep}]")).collect();
        line = line.ink(TextStyle::Dim, format_args!(" ← {}", deps.join(" ")));
    }
    match item.validity {
        Validity::Current => {}
        Validity::NeedsReview => line = line.ink(TextStyle::Warn, " (needs review)"),
        Validity::Superseded { superseded_by: Some(by), rule } => {
            line = line.ink(TextStyle::Dim, format_args!(" (superseded by [{by}], {rule})"));
        }
        Validity::Superseded { superseded_by: None, rule } => {
            line = line.ink(TextStyle::Dim, format_args!(" (superseded, {rule})"));
        }
        Validity::Denied => line = line.ink(TextStyle::Bad, " (denied)"),
    }
    match room {
        Some(columns) => line.and("  ").quote_within(item.text.as_str(), columns),
        None => line.and(format_args!("  \"{}\"", item.text)),
    }
}

/// A task with all its words.
pub(super) fn task(task: &Task) -> Line {
    let line = Line::text(format_args!("{:>2}  {} ", task.id, task.text));
    match &task.effect {
        Effect::Pure => line.ink(TextStyle::Dim, "(pure)"),
        Effect::Undoable { compensation } => line.ink(TextStyle::Dim, format_args!("(undo: {compensation})")),
        Effect::Irreversible => line.ink(TextStyle::Warn, "(irreversible)"),
    }
}
