//! Plans and their revisions: what is to be done, and what a new revision changes.

use super::phrases;
use super::renderer::{Line, Renderer};
use orchestrion_kernel::plan::{Plan, Task};
use orchestrion_kernel::state::PlanRevision;
use orchestrion_kernel::{Revision, TaskId};
use std::collections::BTreeMap;
use std::io;

/// The most tasks listed of one plan.
const LISTED_MAX: usize = 12;

/// A plan that was adopted: the first one in full, a later one by what it changes.
pub(super) fn adopted(
    page: &mut dyn Renderer,
    revision: Revision,
    plan: &Plan,
    before: Option<&PlanRevision>,
    repair: bool,
) -> io::Result<()> {
    let who = format!("plan r{revision}");
    let tasks = phrases::tasks(plan);
    let Some(before) = before else {
        // Whoever drafted it has just been told.
        return list(page, plan.tasks().iter().map(|task| phrases::task(task, "  ")));
    };
    let old: BTreeMap<TaskId, &Task> = before.plan.tasks().iter().map(|task| (task.id, task)).collect();
    if repair {
        // A repaired plan names what is to run now; what it does not name is not taken back.
        page.more(&who, Line::text(format_args!("{tasks} to run now")))?;
        return list(page, plan.tasks().iter().map(|task| phrases::task(task, sign(task, &old))));
    }
    let unchanged = plan.tasks().iter().filter(|task| old.get(&task.id) == Some(task)).count();
    let now: BTreeMap<TaskId, &Task> = plan.tasks().iter().map(|task| (task.id, task)).collect();
    let unchanged = if unchanged == 0 { "none".to_string() } else { unchanged.to_string() };
    let said = Line::text(format_args!("{tasks}, {unchanged} as in r{}", before.revision));
    page.more(&who, said)?;
    let changed = plan.tasks().iter().filter(|task| old.get(&task.id) != Some(task));
    let dropped = before.plan.tasks().iter().filter(|task| !now.contains_key(&task.id));
    list(
        page,
        changed
            .map(|task| phrases::task(task, sign(task, &old)))
            .chain(dropped.map(|task| phrases::task(task, "- "))),
    )
}

fn sign(task: &Task, old: &BTreeMap<TaskId, &Task>) -> &'static str {
    match old.get(&task.id) {
        None => "+ ",
        Some(before) if *before == task => "  ",
        Some(_) => "~ ",
    }
}

/// Lines of a list, up to a number at which nobody reads on.
pub(super) fn list(page: &mut dyn Renderer, lines: impl Iterator<Item = Line>) -> io::Result<()> {
    let mut hidden = 0_usize;
    for (i, line) in lines.enumerate() {
        if i < LISTED_MAX {
            page.more("", line)?;
        } else {
            hidden += 1;
        }
    }
    if hidden > 0 {
        page.more("", Line::faint(format_args!("… and {hidden} more")))?;
    }
    Ok(())
}
