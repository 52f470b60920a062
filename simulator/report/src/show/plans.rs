//! Plans, and the changes of their revisions.

use super::phrases;
use super::renderer::{Line, Renderer};
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::state::PlanRevision;
use orchestrion_kernel::{Revision, TaskId};
use std::collections::BTreeMap;
use std::io;

/// The most lines of a list.
const LIST_LINES_MAX: usize = 12;

/// Writes an adopted plan: the first revision in full, a later one by its changes.
pub(super) fn write_adopted(
    out: &mut dyn Renderer,
    revision: Revision,
    plan: &Plan,
    before: Option<&PlanRevision>,
    is_repair: bool,
) -> io::Result<()> {
    let label = format!("plan r{revision}");
    let task_count = phrases::task_count(plan);
    let Some(before) = before else {
        // The line of the reply above names the plan.
        return write_list(out, plan.tasks().iter().map(|task| phrases::task(task, "  ")));
    };
    let old: BTreeMap<TaskId, &Task> = before.plan.tasks().iter().map(|task| (task.id, task)).collect();
    if is_repair {
        // A repaired plan lists the tasks to run. Tasks that it omits are done, not dropped.
        out.write_line(&label, Line::text(format_args!("{task_count} to run")))?;
        return write_list(out, plan.tasks().iter().map(|task| phrases::task(task, change_sign(task, &old))));
    }
    let unchanged = plan.tasks().iter().filter(|task| old.get(&task.id) == Some(task)).count();
    let new: BTreeMap<TaskId, &Task> = plan.tasks().iter().map(|task| (task.id, task)).collect();
    let unchanged = if unchanged == 0 { "none".to_string() } else { unchanged.to_string() };
    out.write_line(
        &label,
        Line::text(format_args!("{task_count}, {unchanged} unchanged since r{}", before.revision)),
    )?;
    let changed = plan.tasks().iter().filter(|task| old.get(&task.id) != Some(task));
    let dropped = before.plan.tasks().iter().filter(|task| !new.contains_key(&task.id));
    write_list(
        out,
        changed
            .map(|task| phrases::task(task, change_sign(task, &old)))
            .chain(dropped.map(|task| phrases::task(task, "- "))),
    )
}

fn change_sign(task: &Task, old: &BTreeMap<TaskId, &Task>) -> &'static str {
    match old.get(&task.id) {
        None => "+ ",
        Some(before) if *before == task => "  ",
        Some(_) => "~ ",
    }
}

/// Writes the first lines of a list and the number of omitted ones.
pub(super) fn write_list(out: &mut dyn Renderer, lines: impl Iterator<Item = Line>) -> io::Result<()> {
    let mut omitted = 0_usize;
    for (i, line) in lines.enumerate() {
        if i < LIST_LINES_MAX {
            out.write_line("", line)?;
        } else {
            omitted += 1;
        }
    }
    if omitted > 0 {
        out.write_line("", Line::dim(format_args!("… {omitted} more")))?;
    }
    Ok(())
}
