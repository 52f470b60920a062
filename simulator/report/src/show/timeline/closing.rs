//! The end of requests and sessions: memory record, audit record, final answer and summary.

use super::super::phrases;
use super::super::plans;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use crate::text::count;
use orchestrion_kernel::event::{AuditRecord, MemoryRecord};
use orchestrion_kernel::{Event, Phase, TraceId};
use orchestrion_trace::RequestFacts;
use std::io;

/// Writes the end of a session and the number of forgotten items.
pub(super) fn write_session_end(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    transition: &str,
) -> io::Result<()> {
    let forgotten = view.find(|event| match event {
        Event::ForgetItems { ids, .. } => Some(ids.len()),
        _ => None,
    });
    let forgotten = forgotten.map_or("no items".to_string(), |number| count(number, "item"));
    let line = format!("{forgotten} of the working set forgotten, {} kept", view.after.semantic().len());
    out.write_step(view, Line::new().styled(TextStyle::Heading, "session end"), Line::text(line), transition)
}

/// Writes the record that the stores receive.
pub(super) fn write_memory_record(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    record: &MemoryRecord,
) -> io::Result<()> {
    let kind = record.kind.to_string();
    let mut line = Line::text(&kind);
    // Without outputs, the text repeats the conclusion.
    if !record.text.as_str().starts_with(&kind) {
        line = line.and(": ").quote(record.text.as_str());
    }
    out.write_line("memory record", line)?;
    let Some(request) = view.request_before() else { return Ok(()) };
    match (record.ratings, request.ratings_after) {
        (Some(after), _) if after != request.ratings => out
            .write_line("", Line::text("ratings: ").join(phrases::rating_changes(&request.ratings, &after))),
        (None, Some(_)) => out.write_line("", Line::dim("ratings unchanged: no decision")),
        _ => Ok(()),
    }
}

/// Writes the audit record in full.
pub(super) fn write_audit_record(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    record: &AuditRecord,
) -> io::Result<()> {
    out.write_line("audit record", phrases::conclusion(record.conclusion))?;
    if record.decisions.is_empty() {
        out.write_line("", Line::dim("no decision"))?;
    }
    plans::write_list(out, record.decisions.iter().map(phrases::decision))?;
    out.write_line("", Line::text("stores: ").join(phrases::store_statuses(record.stores)))?;
    if record.tasks.is_empty() {
        return out.write_line("", Line::dim("no task started"));
    }
    if !view.policy.rules.effects_ledger {
        let tasks: Vec<String> = record.tasks.iter().map(|record| record.task.to_string()).collect();
        let noun = if tasks.len() == 1 { "task" } else { "tasks" };
        let line = Line::text(format_args!("{noun} {} started; ", tasks.join(", ")));
        return out.write_line("", line.styled(TextStyle::Warn, "effects not recorded (finding F15)"));
    }
    let mut tasks = Line::new();
    for task in &record.tasks {
        let comma = if tasks.is_empty() { "" } else { ", " };
        tasks = tasks.and(comma).join(phrases::task_record(task));
    }
    out.write_line("", tasks)
}

/// Writes the answer that the user receives.
pub(super) fn write_final_answer(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    trace: &TraceId,
    text: &str,
) -> io::Result<()> {
    out.write_line("final answer", Line::text(format_args!("trace {trace}")))?;
    out.write_answer(view, text)
}

/// Writes the conclusion of the request and its counts.
pub(super) fn write_summary(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    facts: &RequestFacts,
    refused: u32,
    is_vetoed: bool,
) -> io::Result<()> {
    let RequestFacts { id, first_step, passes, runs, .. } = facts;
    let title = Line::new().styled(TextStyle::Heading, format_args!("Request {id}")).and(" ended, ");
    let line = match facts.conclusion {
        Some(conclusion) => title.join(phrases::conclusion(conclusion)),
        None => title.and("no conclusion"),
    };
    let mut counts = vec![format!("steps {first_step} to {}", view.step.n)];
    let counted = [
        (*passes, "pass"),
        (*runs, "run"),
        (facts.visits(Phase::SelfHealingActive), "repair"),
        (u32::from(is_vetoed), "veto"),
        (refused, "refusal"),
    ];
    for (number, noun) in counted.into_iter().filter(|(number, _)| *number > 0) {
        counts.push(count(usize::try_from(number).unwrap_or(usize::MAX), noun));
    }
    out.write_blank()?;
    out.write_paragraph(Line::new().pad_to(7).join(line), 7)?;
    out.write_paragraph(Line::new().pad_to(7).styled(TextStyle::Dim, counts.join(", ")), 7)
}
