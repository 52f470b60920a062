//! The lines of a run: tasks, the execution report, and what is undone.

use super::super::phrases;
use super::super::plans;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use orchestrion_kernel::event::{EffectOutcome, TaskOutcome, TaskResult};
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::plan::{Effect, EffectKind};
use orchestrion_kernel::state::StartedTask;
use orchestrion_kernel::{Revision, TaskId};
use std::io;

/// A task that ended with an exit code.
pub(super) fn ran(
    page: &mut dyn Renderer,
    scene: &StepView<'_>,
    task: TaskId,
    code: i32,
    output: &str,
    row: &str,
) -> io::Result<()> {
    let said = phrases::exit(code).to(11).quote(output);
    page.step(scene, phrases::asked(Operation::RunTask { task, effect: EffectKind::Pure }), said, row)?;
    let Some(planned) = scene.planned(task) else { return Ok(()) };
    let effect = planned.effect.kind();
    let line = Line::new().first(TextStyle::Dim, planned.text.as_str(), 44);
    page.more("", line.ink(TextStyle::Dim, format_args!(" ({effect})")))
}

/// A compensation that ended with an exit code.
pub(super) fn undone(
    page: &mut dyn Renderer,
    scene: &StepView<'_>,
    task: TaskId,
    code: i32,
    output: &str,
    row: &str,
) -> io::Result<()> {
    let end = if code == 0 { EffectOutcome::Undone } else { EffectOutcome::UndoFailed };
    let said = if code == 0 { Line::new().ink(TextStyle::Good, "✓ undone") } else { phrases::exit(code) };
    let said = said.to(11).quote(output);
    page.step(scene, phrases::asked(Operation::UndoTask { task }), said, row)?;
    let line = if end == EffectOutcome::Undone {
        Line::new()
    } else {
        Line::new().ink(TextStyle::Bad, "undo failed: ")
    };
    page.more("", line.join(compensation(scene, task)))
}

/// What was to take the task's effect back, in the words that the executor was given.
fn compensation(scene: &StepView<'_>, task: TaskId) -> Line {
    let Some(request) = scene.judged() else { return Line::new() };
    if let Some(Effect::Undoable { compensation }) = scene.planned(task).map(|planned| &planned.effect) {
        return Line::new().first(TextStyle::Dim, compensation.as_str(), 60);
    }
    let item = scene.after.semantic.latest_by_key(&ItemKey::Task(request.id, task));
    item.map_or(Line::new(), |entry| Line::new().first(TextStyle::Dim, entry.item.text.as_str(), 130))
}

/// The execution report of a run.
pub(super) fn reported(page: &mut dyn Renderer, revision: Revision, tasks: &[TaskResult]) -> io::Result<()> {
    let succeeded = tasks.iter().filter(|task| task.outcome == TaskOutcome::Succeeded).count();
    let ink = if succeeded == tasks.len() { TextStyle::Good } else { TextStyle::Bad };
    let said = Line::text(format_args!("plan r{revision}: "))
        .ink(ink, format_args!("{succeeded} of {} succeeded", tasks.len()));
    page.more("report", said)?;
    if succeeded == tasks.len() {
        return Ok(());
    }
    let line = |task: &TaskResult| {
        Line::text(format_args!("  {:>2}  ", task.task)).join(phrases::task_end(task.outcome))
    };
    plans::list(page, tasks.iter().map(line))
}

/// The end of a rollback: what became of every effect.
pub(super) fn rolled_back(page: &mut dyn Renderer, scene: &StepView<'_>, row: &str) -> io::Result<()> {
    let Some(request) = scene.judged() else { return Ok(()) };
    let effects: Vec<&StartedTask> =
        request.ledger.iter().filter(|started| started.effect != EffectKind::Pure).collect();
    if effects.is_empty() {
        let said = Line::faint("nothing that ran left an effect behind");
        return page.step(scene, Line::faint("rolled back"), said, row);
    }
    let mut said = Line::new();
    for started in effects {
        let comma = if said.is_empty() { "" } else { ", " };
        said = said
            .and(format_args!("{comma}task {} ", started.task))
            .ink(phrases::effect_end(started.outcome), started.outcome);
        if started.effect == EffectKind::Irreversible {
            said = said.ink(TextStyle::Warn, " (irreversible)");
        }
    }
    page.step(scene, Line::faint("rolled back"), said, row)
}
