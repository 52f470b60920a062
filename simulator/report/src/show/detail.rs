//! One step in full: input, transition, events, the state after it, and the context of the pending call.
//!
//! Each text appears in full, once.

pub(super) mod events;
mod nodes;
mod situation;
pub(super) mod state;

use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use super::{network, phrases};
use crate::text::count;
use orchestrion_kernel::context::{ContextBuilder, SelectionStatus};
use orchestrion_kernel::module::Report;
use orchestrion_kernel::{CallId, Input, Timestamp};
use orchestrion_text::StandardContexts;
use orchestrion_trace::{ContextRecord, Header, emitted_call, record_context};
use std::io;

/// Writes the step.
pub(super) fn write_step(out: &mut dyn Renderer, header: &Header, view: &StepView<'_>) -> io::Result<()> {
    let title = Line::new()
        .styled(TextStyle::Heading, format_args!("Step {}", view.step.n))
        .and(format_args!(" of conversation {}, policy {}", header.conversation, header.policy.name));
    out.write_heading(title)?;
    write_decision(out, view)?;
    state::write(out, view)?;
    if let Some(context) = write_context_summary(out, view)? {
        out.write_text(&context)?;
    }
    Ok(())
}

/// Writes the input, the transition and the events.
pub(super) fn write_decision(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    write_input(out, view)?;
    if let Some(note) = &view.step.note {
        out.write_section("note", Line::new().styled(TextStyle::Warn, note))?;
    }
    if let Some(elapsed) = view.elapsed() {
        let time = Timestamp::from_millis(view.step.at_ms);
        out.write_section("time", Line::text(format_args!("{time}, {elapsed} after the first step")))?;
    }
    match (&view.step.refused, view.transition()) {
        (Some(message), _) => out.write_section("refused", Line::new().styled(TextStyle::Warn, message))?,
        (None, Some(row)) => {
            out.write_section("transition", phrases::transition(row))?;
            out.write_section("", Line::dim(row.label))?;
        }
        (None, None) => out.write_section("transition", Line::dim("none: the phase does not change"))?,
    }
    events::write_list(out, view)
}

fn write_input(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let pending = |id: CallId| view.before.control().pending_call(id);
    match &view.step.input {
        Input::SessionStart { user, identity } => {
            let line = Line::text(format_args!("{user} ")).join(phrases::session_start(identity.as_deref()));
            out.write_section("input", line)
        }
        Input::SessionEnd => out.write_section("input", Line::text("the session ends")),
        Input::Tick => out.write_section("input", Line::text("an item expires")),
        Input::UserMessage { user, text, scope } => {
            let line = Line::text("message of ").styled(TextStyle::Actor, user).and(phrases::in_scope(scope));
            out.write_section("input", line)?;
            out.write_text(text.as_str())
        }
        Input::Reply { call, report, summary_update, action, interaction } => {
            let line = match pending(*call) {
                Some(pending) => Line::new()
                    .styled(TextStyle::Actor, pending.operation.module())
                    .and(format_args!(" replies to call {call}: ")),
                None => Line::text(format_args!("reply to call {call}: ")),
            };
            out.write_section("input", line.and(report.label()))?;
            write_report(out, report)?;
            if let Some(judged) = interaction {
                out.write_section("interaction", network::judgement(judged))?;
            }
            situation::write(out, summary_update.as_ref(), action.as_deref())
        }
        Input::CallFailed { call, failure } => {
            let line = match pending(*call) {
                Some(pending) => Line::new()
                    .styled(TextStyle::Actor, pending.operation.module())
                    .and(format_args!(" fails call {call}: ")),
                None => Line::text(format_args!("call {call} fails: ")),
            };
            out.write_section("input", line.styled(TextStyle::Bad, failure))
        }
        Input::Step => out.write_section("input", Line::text("internal step")),
        Input::Cancel => {
            out.write_section("input", Line::new().styled(TextStyle::Warn, "the user cancels the request"))
        }
        Input::Write(write) => out.write_section("input", phrases::write(write)),
        Input::Network(input) => {
            let (actor, line) = network::input(input);
            out.write_section("input", actor.and(" ").join(line))
        }
        Input::Resume => {
            let text = "the runtime restarts after a crash";
            out.write_section("input", Line::new().styled(TextStyle::Warn, text))
        }
    }
}

/// Writes a report in full.
fn write_report(out: &mut dyn Renderer, report: &Report) -> io::Result<()> {
    let line = match report {
        Report::Argument { argument, .. } => phrases::argument(*argument),
        Report::Exit { code, .. } => phrases::exit_code(*code),
        Report::Approval { approved, .. } => phrases::approval(*approved),
        Report::Plan(_) | Report::Repaired { .. } | Report::NoRepair { .. } => Line::new(),
        report => phrases::report(report),
    };
    if !line.is_empty() {
        out.write_section("", line)?;
    }
    match report {
        Report::Argument { text, .. }
        | Report::Approval { text, .. }
        | Report::Repaired { text, .. }
        | Report::NoRepair { text }
        | Report::Exit { text, .. } => out.write_text(text.as_str())?,
        Report::Context { traces, .. } => {
            for past in traces {
                out.write_section("", Line::text(format_args!("past request {}", past.trace)))?;
                out.write_text(past.text.as_str())?;
            }
        }
        _ => {}
    }
    let tasks = report.plan().into_iter().flat_map(|plan| plan.tasks());
    tasks.into_iter().try_for_each(|task| out.write_task(events::task(task)))
}

/// Writes the size of the context of the call that the step sends, and returns its text.
pub(super) fn write_context_summary(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
) -> io::Result<Option<String>> {
    let (Some(call), Some(found)) = (
        emitted_call(&view.step.events),
        record_context(view.policy, view.after, &view.step.events, &StandardContexts),
    ) else {
        return Ok(None);
    };
    let Ok(context) = StandardContexts.build(view.policy, view.after, call.operation) else {
        return Ok(None);
    };
    out.write_blank()?;
    let tokens = |number: u64| count(usize::try_from(number).unwrap_or(usize::MAX), "token");
    let line = Line::new().styled(TextStyle::Actor, call.operation.module()).and(format_args!(
        " receives {}, {}",
        count(context.ids.len(), "item"),
        tokens(context.cost_tokens),
    ));
    let line = match context.payload_tokens {
        0 => line,
        payload_tokens => line.and(format_args!(" and a payload of {}", tokens(payload_tokens))),
    };
    let status = match context.status {
        SelectionStatus::Optimal => Line::new(),
        SelectionStatus::NotProven { bound } => {
            Line::text(", ").join(phrases::unproven_context(context.utility, bound))
        }
    };
    let differs = |difference| Line::new().styled(TextStyle::Warn, format_args!(", differs: {difference}"));
    let comparison = match (&view.step.context, &view.step.context_digest) {
        (Some(recorded), _) if *recorded == found => Line::dim(", as recorded"),
        (Some(recorded), _) => differs(record_difference(recorded, &found)),
        (None, Some(recorded)) if *recorded == found.record_digest() => Line::dim(", as recorded"),
        (None, Some(recorded)) => {
            differs(format!("digest {recorded} recorded, {} computed", found.record_digest()))
        }
        (None, None) => Line::dim(", computed by this version, not recorded"),
    };
    out.write_section("context", line.join(status).join(comparison))?;
    Ok(Some(context.text))
}

/// Describes the first difference between a recorded context and the computed one.
fn record_difference(recorded: &ContextRecord, found: &ContextRecord) -> String {
    if recorded.digest != found.digest {
        return format!("digest {} recorded, {} computed", recorded.digest, found.digest);
    }
    if recorded.payload_tokens != found.payload_tokens {
        return format!(
            "{} tokens of payload recorded, {} computed",
            recorded.payload_tokens, found.payload_tokens
        );
    }
    let quality = |context: &ContextRecord| {
        format!("{}, utility {}, bound {}", context.status.name(), context.utility, context.bound())
    };
    format!("{} recorded, {} computed", quality(recorded), quality(found))
}
