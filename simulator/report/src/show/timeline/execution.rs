//! Task runs, the execution report, and rollback.

use super::super::phrases;
use super::super::plans;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use orchestrion_kernel::event::{TaskOutcome, TaskResult};
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::plan::{Effect, EffectKind};
use orchestrion_kernel::state::StartedTask;
use orchestrion_kernel::{Revision, TaskId};
use std::io;

/// The column of the output after an exit code.
const OUTPUT_AT: usize = 11;

/// Writes the exit code and output of a task.
pub(super) fn write_run(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    task: TaskId,
    code: i32,
    output: &str,
    transition: &str,
) -> io::Result<()> {
    let line = phrases::exit_code(code).pad_to(OUTPUT_AT).quote(output);
    out.write_step(view, phrases::actor(format_args!("task {task}")), line, transition)?;
    let Some(planned) = view.planned_task(task) else { return Ok(()) };
    let line = Line::new().rest(TextStyle::Dim, planned.text.as_str());
    out.write_line("", line.styled(TextStyle::Dim, format_args!(" ({})", planned.effect.kind())))
}

/// Writes the exit code and output of a compensation.
pub(super) fn write_undo(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    task: TaskId,
    code: i32,
    output: &str,
    transition: &str,
) -> io::Result<()> {
    let is_undone = code == 0;
    let result =
        if is_undone { Line::new().styled(TextStyle::Good, "✓ undone") } else { phrases::exit_code(code) };
    let line = result.pad_to(OUTPUT_AT).quote(output);
    out.write_step(view, phrases::actor(format_args!("undo task {task}")), line, transition)?;
    let prefix = if is_undone { Line::new() } else { Line::new().styled(TextStyle::Bad, "undo failed: ") };
    out.write_line("", prefix.join(compensation(view, task)))
}

/// Returns the compensation of a task, or its item if the current plan does not contain the task.
fn compensation(view: &StepView<'_>, task: TaskId) -> Line {
    let Some(request) = view.request_before() else { return Line::new() };
    if let Some(Effect::Undoable { compensation }) = view.planned_task(task).map(|planned| &planned.effect) {
        return Line::new().rest(TextStyle::Dim, compensation.as_str());
    }
    let item = view.after.semantic().latest_by_key(&ItemKey::Task(request.id, task));
    item.map_or(Line::new(), |entry| Line::dim(&entry.item.text))
}

/// Writes the execution report of a run.
pub(super) fn write_report(
    out: &mut dyn Renderer,
    revision: Revision,
    tasks: &[TaskResult],
) -> io::Result<()> {
    let succeeded = tasks.iter().filter(|task| task.outcome == TaskOutcome::Succeeded).count();
    let is_success = succeeded == tasks.len();
    let style = if is_success { TextStyle::Good } else { TextStyle::Bad };
    let line = Line::text(format_args!("plan r{revision}: "))
        .styled(style, format_args!("{succeeded} of {} tasks succeeded", tasks.len()));
    out.write_line("report", line)?;
    if is_success {
        return Ok(());
    }
    let line = |task: &TaskResult| {
        Line::text(format_args!("  {:>2}  ", task.task)).join(phrases::task_outcome(task.outcome))
    };
    plans::write_list(out, tasks.iter().map(line))
}

/// Writes the outcome of every effect at the end of a rollback.
pub(super) fn write_rollback_end(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    transition: &str,
) -> io::Result<()> {
    let Some(request) = view.request_before() else { return Ok(()) };
    let effects: Vec<&StartedTask> =
        request.ledger.iter().filter(|started| started.effect != EffectKind::Pure).collect();
    let mut line = if effects.is_empty() { Line::dim("no effects to undo") } else { Line::new() };
    for started in effects {
        let comma = if line.is_empty() { "" } else { ", " };
        line = line
            .and(format_args!("{comma}task {} ", started.task))
            .styled(phrases::effect_style(started.outcome), started.outcome);
        if started.effect == EffectKind::Irreversible {
            line = line.styled(TextStyle::Warn, " (irreversible)");
        }
    }
    out.write_step(view, Line::dim("rollback"), line, transition)
}
