//! The lines with which requests and sessions end: memory, audit, answer, summary.

use super::super::phrases;
use super::super::plans;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::count;
use super::Running;
use orchestrion_kernel::event::{AuditRecord, MemoryRecord};
use orchestrion_kernel::{Event, TraceId};
use std::io;

/// The end of a session, and what is forgotten with it.
pub(super) fn session_ended(page: &mut dyn Renderer, scene: &StepView<'_>, row: &str) -> io::Result<()> {
    let forgotten = scene.find(|event| match event {
        Event::ForgetItems { ids, .. } => Some(ids.len()),
        _ => None,
    });
    let kept = scene.after.semantic.len();
    let said = match forgotten {
        Some(forgotten) => format!(
            "the session closes; {} of the working set forgotten, {kept} kept",
            count(forgotten, "item")
        ),
        None => format!("the session closes; nothing to forget, {} kept", count(kept, "item")),
    };
    page.step(scene, Line::new().ink(TextStyle::Heading, "session end"), Line::text(said), row)
}

/// The record that the stores are asked to keep.
pub(super) fn memorized(
    page: &mut dyn Renderer,
    scene: &StepView<'_>,
    record: &MemoryRecord,
) -> io::Result<()> {
    let kind = record.kind.to_string();
    let mut said = Line::text(format_args!("as {kind}"));
    // Without outputs the text only says once more as what and why the request ends.
    if !record.text.as_str().starts_with(&kind) {
        said = said.and(": ").quote(record.text.as_str());
    }
    page.more("to be stored", said)?;
    let Some(request) = scene.judged() else { return Ok(()) };
    match (record.ratings, request.ratings_after) {
        (Some(after), _) if after != request.ratings => {
            page.more("", Line::text("ratings: ").join(phrases::moved(&request.ratings, &after)))
        }
        (None, Some(_)) => page.more("", Line::faint("ratings stay: nothing was decided")),
        _ => Ok(()),
    }
}

/// The audit record, whole.
pub(super) fn audited(page: &mut dyn Renderer, scene: &StepView<'_>, record: &AuditRecord) -> io::Result<()> {
    page.more("audit record", phrases::ending(record.conclusion))?;
    if record.decisions.is_empty() {
        page.more("", Line::faint("nothing was decided"))?;
    }
    plans::list(page, record.decisions.iter().map(phrases::decision))?;
    page.more("", Line::text("stores: ").join(phrases::holdings(record.stores)))?;
    if record.tasks.is_empty() {
        return page.more("", Line::faint("no task was started"));
    }
    if !scene.policy.rules.effects_ledger {
        let tasks: Vec<String> = record.tasks.iter().map(|record| record.task.to_string()).collect();
        let what = if tasks.len() == 1 { "task" } else { "tasks" };
        let said = Line::text(format_args!("{what} {} started; ", tasks.join(", ")));
        return page.more("", said.ink(TextStyle::Warn, "what they left behind is not told (finding F15)"));
    }
    let mut tasks = Line::new();
    for task in &record.tasks {
        let comma = if tasks.is_empty() { "" } else { ", " };
        tasks = tasks.and(comma).join(phrases::task_record(task));
    }
    page.more("", tasks)
}

/// What the user reads.
pub(super) fn answered(
    page: &mut dyn Renderer,
    scene: &StepView<'_>,
    trace: &TraceId,
    text: &str,
) -> io::Result<()> {
    page.more("answer", Line::text(format_args!("trace {trace}")))?;
    page.answer(scene, text)
}

/// The request in one line.
pub(super) fn summed_up(page: &mut dyn Renderer, scene: &StepView<'_>, running: &Running) -> io::Result<()> {
    let Running { id, first, passes, runs, repairs, refused, veto } = running;
    let ending = scene.judged().and_then(|request| request.conclusion).or(scene.find(|event| match event {
        Event::Concluded { conclusion: ending } => Some(*ending),
        _ => None,
    }));
    let mut line = Line::new().ink(TextStyle::Heading, format_args!("Request {id}")).and(" ended, ");
    line = match ending {
        Some(ending) => line.join(phrases::ending(ending)),
        None => line.and("nothing concluded"),
    };
    let mut parts = vec![format!("steps {first} to {}", scene.step.n)];
    let mut part = |number: u32, noun: &str| {
        if number > 0 {
            parts.push(count(usize::try_from(number).unwrap_or(usize::MAX), noun));
        }
    };
    part(*passes, "pass");
    part(*runs, "run");
    part(*repairs, "repair");
    part(u32::from(veto.is_some()), "veto");
    part(*refused, "refusal");
    page.gap()?;
    page.paragraph(Line::new().to(7).join(line), 7)?;
    page.paragraph(Line::new().to(7).ink(TextStyle::Dim, parts.join(", ")), 7)
}
