//! One step in full: what came, which row was taken, what that changed, and what is shown to whoever is
//! asked next. Every text stands here whole, once.

pub(super) mod events;
mod situation;
pub(super) mod state;

use super::phrases;
use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use super::text::count;
use orchestrion_kernel::Input;
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::module::Report;
use orchestrion_text::StandardContexts;
use orchestrion_trace::ContextRecord;
use orchestrion_trace::Header;
use std::io;

/// The step.
pub(super) fn step(page: &mut dyn Renderer, header: &Header, scene: &StepView<'_>) -> io::Result<()> {
    let n = scene.step.n;
    let title = Line::new()
        .ink(TextStyle::Heading, format_args!("Step {n}"))
        .and(format_args!(" of conversation {}, policy {}", header.conversation, header.policy.name));
    page.heading(title)?;
    told(page, scene)?;
    state::list(page, scene)?;
    if let Some(context) = shown(page, scene)? {
        page.whole(&context)?;
    }
    Ok(())
}

/// What came, what was made of it, and in which events.
pub(super) fn told(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    input(page, scene)?;
    if let Some(note) = &scene.step.note {
        page.section("note", Line::new().ink(TextStyle::Warn, note))?;
    }
    if let Some(time) = scene.since_first() {
        page.section("time", Line::text(format_args!("{time} after the first step")))?;
    }
    match (&scene.step.refused, scene.row()) {
        (Some(sentence), _) => {
            page.section("refused", Line::new().ink(TextStyle::Warn, sentence))?;
        }
        (None, Some(row)) => {
            page.section("row", phrases::row(row))?;
            page.section("", Line::faint(row.label))?;
        }
        (None, None) => page.section("row", Line::faint("none: control did not move"))?,
    }
    events::list(page, scene)
}

fn input(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    match &scene.step.input {
        Input::SessionStart { user } => {
            page.section("input", Line::text(format_args!("{user} opens a session")))
        }
        Input::SessionEnd => page.section("input", Line::text("the session ends")),
        Input::UserMessage { user, text } => {
            page.section("input", Line::new().ink(TextStyle::Who, user).and(" asks"))?;
            page.whole(text.as_str())
        }
        Input::Reply { call, report, summary_update, action } => {
            let line = match scene.before.waiting {
                Some(waiting) if waiting.id == *call => Line::new()
                    .ink(TextStyle::Who, waiting.operation.module())
                    .and(format_args!(" answers call {call}")),
                _ => Line::text(format_args!("an answer to call {call}")),
            };
            page.section("input", line.and(": ").and(report.noun()))?;
            said(page, report)?;
            situation::said(page, summary_update.as_ref(), action.as_deref())
        }
        Input::CallFailed { call, failure } => {
            let line = match scene.before.waiting {
                Some(waiting) if waiting.id == *call => Line::new()
                    .ink(TextStyle::Who, waiting.operation.module())
                    .and(format_args!(" fails call {call}: ")),
                _ => Line::text(format_args!("call {call} fails: ")),
            };
            page.section("input", line.ink(TextStyle::Bad, failure))
        }
        Input::Step => page.section("input", Line::text("a step by itself")),
        Input::Cancel => page.section("input", Line::new().ink(TextStyle::Warn, "the user cancels")),
        Input::Write(write) => page.section("input", phrases::write(write)),
        Input::Resume => {
            page.section("input", Line::new().ink(TextStyle::Warn, "the runtime is back after a crash"))
        }
    }
}

/// Everything that a report says.
fn said(page: &mut dyn Renderer, report: &Report) -> io::Result<()> {
    let line = match report {
        Report::Argument { argument, .. } => phrases::argument(*argument),
        Report::Exit { code, .. } => phrases::exit(*code),
        Report::Approval { approved, .. } => phrases::approval(*approved),
        Report::Plan(_) | Report::Repaired { .. } | Report::NoRepair { .. } => Line::new(),
        report => phrases::report(report),
    };
    if !line.is_empty() {
        page.section("", line)?;
    }
    match report {
        Report::Argument { text, .. }
        | Report::Approval { text, .. }
        | Report::Repaired { text, .. }
        | Report::NoRepair { text }
        | Report::Exit { text, .. } => page.whole(text.as_str())?,
        Report::Context { traces, .. } => {
            for past in traces {
                page.section("", Line::text(format_args!("past trace {}", past.trace)))?;
                page.whole(past.text.as_str())?;
            }
        }
        _ => {}
    }
    let tasks = report.plan().into_iter().flat_map(|plan| plan.tasks());
    tasks.into_iter().try_for_each(|task| page.task(events::task(task)))
}

/// What the module that is asked now is shown: how much, and the text.
pub(super) fn shown(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<Option<String>> {
    let (Some(call), Some(now)) = (
        scene.after.control.pending_call(),
        ContextRecord::after(scene.policy, scene.after, &scene.step.events, &StandardContexts),
    ) else {
        return Ok(None);
    };
    let Ok(context) = StandardContexts.build(scene.policy, scene.after, call.operation) else {
        return Ok(None);
    };
    page.gap()?;
    let line = Line::new().ink(TextStyle::Who, call.operation.module()).and(format_args!(
        " reads {}, about {}",
        count(context.ids.len(), "item"),
        count(usize::try_from(context.cost_tokens).unwrap_or(usize::MAX), "token"),
    ));
    let recorded = match &scene.step.context {
        Some(recorded) if *recorded == now => Line::faint(", as recorded"),
        Some(recorded) => Line::new().ink(
            TextStyle::Warn,
            format_args!(", not as recorded: digest {}, here {}", recorded.digest, now.digest),
        ),
        None => Line::faint(", taken from this build: nothing was recorded"),
    };
    page.section("shown", line.join(recorded))?;
    Ok(Some(context.text))
}
