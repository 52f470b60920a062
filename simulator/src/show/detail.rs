//! One step in full: what came, which row was taken, what that changed, and what is shown to whoever is
//! asked next. Every text stands here whole, once.

mod events;
mod state;

use super::page::{Ink, Line, Page};
use super::scene::Scene;
use super::text::{count, wrap};
use super::words;
use crate::trace::Header;
use crate::trace::Shown;
use orchestrion_kernel::module::Report;
use orchestrion_kernel::{Input, present};
use std::io;

/// Where the words of a section stand.
const AT: usize = 14;

/// The step.
pub(super) fn step(page: &mut Page<'_>, header: &Header, scene: &Scene<'_>) -> io::Result<()> {
    let n = scene.step.n;
    let title = Line::new()
        .ink(Ink::Heading, format_args!("Step {n}"))
        .and(format_args!(" of conversation {}, policy {}", header.conversation, header.policy.name));
    page.heading(title)?;
    input(page, scene)?;
    match (&scene.step.refused, scene.row()) {
        (Some(sentence), _) => {
            section(page, "refused", Line::new().ink(Ink::Warn, sentence))?;
        }
        (None, Some(row)) => {
            section(page, "row", words::row(row))?;
            section(page, "", Line::faint(row.label))?;
        }
        (None, None) => section(page, "row", Line::faint("none: control did not move"))?,
    }
    events::list(page, scene)?;
    state::list(page, scene)?;
    shown(page, scene)
}

/// A line under a name at the left.
fn section(page: &mut Page<'_>, name: &str, line: Line) -> io::Result<()> {
    page.paragraph(Line::new().ink(Ink::Faint, name).to(AT).join(line), AT)
}

/// A text under what was said before, whole.
fn whole(page: &mut Page<'_>, text: &str, at: usize) -> io::Result<()> {
    for line in wrap(text, super::page::WIDTH - at - 2) {
        page.line(Line::new().to(at).ink(Ink::Faint, "│ ").and(line))?;
    }
    Ok(())
}

fn input(page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
    match &scene.step.input {
        Input::SessionStart { user } => {
            section(page, "input", Line::text(format_args!("{user} opens a session")))
        }
        Input::SessionEnd => section(page, "input", Line::text("the session ends")),
        Input::UserMessage { user, text } => {
            section(page, "input", Line::new().ink(Ink::Who, user).and(" asks"))?;
            whole(page, text.as_str(), AT)
        }
        Input::Reply { call, report } => {
            let line = match scene.before.waiting {
                Some(waiting) if waiting.id == *call => {
                    Line::new().ink(Ink::Who, waiting.ask.module()).and(format_args!(" answers call {call}"))
                }
                _ => Line::text(format_args!("an answer to call {call}")),
            };
            section(page, "input", line.and(": ").and(report.noun()))?;
            said(page, report)
        }
        Input::CallFailed { call, failure } => {
            let line = match scene.before.waiting {
                Some(waiting) if waiting.id == *call => {
                    Line::new().ink(Ink::Who, waiting.ask.module()).and(format_args!(" fails call {call}: "))
                }
                _ => Line::text(format_args!("call {call} fails: ")),
            };
            section(page, "input", line.ink(Ink::Bad, failure))
        }
        Input::Step => section(page, "input", Line::text("a step by itself")),
        Input::Cancel => section(page, "input", Line::new().ink(Ink::Warn, "the user cancels")),
        Input::Resume => {
            section(page, "input", Line::new().ink(Ink::Warn, "the runtime is back after a crash"))
        }
    }
}

/// Everything that a report says.
fn said(page: &mut Page<'_>, report: &Report) -> io::Result<()> {
    let line = match report {
        Report::Argument { argument, .. } => words::argument(*argument),
        Report::Exit { code, .. } => words::exit(*code),
        Report::Approval { approved, .. } => words::approval(*approved),
        Report::Plan(_) | Report::Repaired { .. } | Report::NoRepair { .. } => Line::new(),
        report => words::report(report),
    };
    if !line.is_empty() {
        section(page, "", line)?;
    }
    match report {
        Report::Argument { text, .. }
        | Report::Approval { text, .. }
        | Report::Repaired { text, .. }
        | Report::NoRepair { text }
        | Report::Exit { text, .. } => whole(page, text.as_str(), AT)?,
        Report::Context { traces, .. } => {
            for past in traces {
                section(page, "", Line::text(format_args!("past trace {}", past.trace)))?;
                whole(page, past.text.as_str(), AT)?;
            }
        }
        _ => {}
    }
    let tasks = report.plan().into_iter().flat_map(|plan| plan.tasks());
    tasks.into_iter().try_for_each(|task| page.paragraph(Line::new().to(AT).join(events::task(task)), AT + 4))
}

/// What the module that is asked now is shown.
fn shown(page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
    let (Some(call), Some(now)) =
        (scene.after.control.waiting(), Shown::after(scene.after, &scene.step.events))
    else {
        return Ok(());
    };
    let context = present(scene.after);
    page.line(Line::new())?;
    let line = Line::new().ink(Ink::Who, call.ask.module()).and(format_args!(
        " reads {}, about {}",
        count(context.ids.len(), "item"),
        count(context.cost_tokens, "token"),
    ));
    let recorded = match &scene.step.context {
        Some(recorded) if *recorded == now => Line::faint(", as recorded"),
        Some(recorded) => Line::new().ink(
            Ink::Warn,
            format_args!(", not as recorded: digest {}, here {}", recorded.digest, now.digest),
        ),
        None => Line::faint(", taken from this build: nothing was recorded"),
    };
    section(page, "shown", line.join(recorded))?;
    whole(page, &context.text, AT)
}
