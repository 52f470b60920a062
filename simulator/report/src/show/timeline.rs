//! The timeline: one or a few lines for each step, under headings for sessions, requests and regions.

mod closing;
mod execution;
mod headings;
mod write_effects;

pub(super) use headings::{write_end, write_header};

use super::reasons::{self, Veto};
use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use super::{network, phrases, plans};
use headings::Headings;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::{Event, Input, Phase, Revision};
use std::io;

/// The headings of the timeline, and what it shows of the current request later.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    headings: Headings,
    veto: Option<Veto>,
    /// The number of refused inputs.
    refused: u32,
    /// The previous step ended with the summary of a request.
    is_after_summary: bool,
}

fn write_note(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let write = |note| out.write_line("note", Line::new().styled(TextStyle::Warn, note));
    view.step.note.iter().try_for_each(write)
}

impl Timeline {
    pub(super) fn write_step(&mut self, out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
        let is_after_summary = std::mem::take(&mut self.is_after_summary);
        if let Some(message) = &view.step.refused {
            if is_after_summary {
                out.write_blank()?;
            }
            // Its input is there because a step has one.
            if view.step.possible_loss.is_some() {
                let actor = Line::new().styled(TextStyle::Warn, "journal");
                let note = view.step.note.as_deref().unwrap_or("lines before this step may be lost");
                return out.write_step(view, actor, Line::text(note), "");
            }
            self.refused += 1;
            let actor = Line::new().styled(TextStyle::Warn, "refused");
            out.write_step(view, actor, Line::text(message), "")?;
            return write_note(out, view);
        }
        if view.started_facts().is_some() {
            (self.veto, self.refused) = (None, 0);
        }
        self.headings.write(out, view)?;
        write_input(out, view)?;
        write_note(out, view)?;
        for event in &view.step.events {
            self.write_event(out, view, event)?;
        }
        network::write_effects(out, view)?;
        write_effects::write(out, view)?;
        if let Some(context) = view.unproven_context() {
            out.write_line("context", phrases::unproven_context(context.utility, context.bound()))?;
        }
        self.write_summary(out, view)
    }

    /// Writes the further lines of an event.
    fn write_event(&mut self, out: &mut dyn Renderer, view: &StepView<'_>, event: &Event) -> io::Result<()> {
        match event {
            Event::PlanAdopted { revision, plan } => {
                let before = view.request_before().and_then(|request| request.plan.as_ref());
                let is_repair = view.before.control().phase() == Phase::SelfHealingActive;
                plans::write_adopted(out, *revision, plan, before, is_repair)?;
                if is_repair && view.transition().is_some_and(|row| row.to == Phase::RunningTasks) {
                    let warning = "this plan runs without a review (finding F10)";
                    out.write_line("", Line::new().styled(TextStyle::Warn, warning))?;
                }
                Ok(())
            }
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => match item.key {
                ItemKey::Situation(field) => {
                    let line = Line::dim(format_args!("{field}: ")).quote(item.text.as_str());
                    out.write_line("situation", line)
                }
                _ => Ok(()),
            },
            Event::ActionRecorded { record, .. } => out.write_line("action", phrases::action(record)),
            Event::VetoRaised { revision } => self.write_veto(out, view, *revision),
            Event::Decided { decision } => {
                if matches!(view.before.control().phase(), Phase::RunningTasks | Phase::RepairScoring) {
                    out.write_line("decision", phrases::decision_label(decision.label))?;
                }
                reasons::decided(view, decision, self.veto)
                    .into_iter()
                    .try_for_each(|reason| out.write_line("", reason))
            }
            Event::ExecutionReported { revision, tasks } => execution::write_report(out, *revision, tasks),
            Event::Concluded { conclusion } => out.write_line("conclusion", phrases::conclusion(*conclusion)),
            Event::MemoryRecorded { record } => closing::write_memory_record(out, view, record),
            Event::AuditRecorded { record } => closing::write_audit_record(out, view, record),
            Event::AuditUndelivered => {
                let warning = "the audit record was not delivered; there is no further attempt";
                out.write_line("undelivered", Line::new().styled(TextStyle::Warn, warning))
            }
            Event::FinalAnswer { trace, text } => {
                closing::write_final_answer(out, view, trace, text.as_str())
            }
            _ => Ok(()),
        }
    }

    fn write_veto(
        &mut self,
        out: &mut dyn Renderer,
        view: &StepView<'_>,
        revision: Revision,
    ) -> io::Result<()> {
        let Some(confidence) = view.find(|event| match event {
            Event::ToolResult { report: Report::Argument { argument, .. }, .. } => Some(argument.confidence),
            _ => None,
        }) else {
            return Ok(());
        };
        let is_debate = view.before.control().phase() != Phase::RepairReview;
        let pass = view.request_before().map(|request| request.debate.pass).filter(|_| is_debate);
        let veto = Veto { pass, revision, confidence };
        self.veto = Some(veto);
        out.write_line("", reasons::veto(view, veto))
    }

    /// Writes the summary of the request if the step ended it.
    fn write_summary(&mut self, out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
        let Some(facts) = view.ended_facts() else { return Ok(()) };
        let Self { veto, refused, .. } = std::mem::take(self);
        self.is_after_summary = true;
        closing::write_summary(out, view, facts, refused, veto.is_some())
    }
}

/// Writes the first line of the step: its input, or the result of an internal step.
fn write_input(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let row = view.transition();
    let id = row.map_or("", |row| row.id);
    let label = row.map_or("", |row| row.label);
    match &view.step.input {
        Input::SessionStart { user, identity } => {
            out.write_step(view, phrases::actor(user), phrases::session_start(identity.as_deref()), id)
        }
        Input::SessionEnd => closing::write_session_end(out, view, id),
        Input::UserMessage { user, text, scope } => {
            let text = match scope.is_global() {
                true => text.to_string(),
                false => format!("in {scope}: {text}"),
            };
            out.write_message(view, phrases::actor(user), &text, id)
        }
        Input::Reply { report, .. } => write_reply(out, view, report, id),
        Input::CallFailed { failure, .. } => {
            let actor = match view.before.control().answered_call(&view.step.input) {
                Some(call) => phrases::operation(call.operation),
                None => phrases::actor("?"),
            };
            let line = phrases::failure(failure);
            let line = match label {
                "" => line,
                label => line.styled(TextStyle::Dim, format_args!(": {label}")),
            };
            out.write_step(view, actor, line, id)
        }
        Input::Cancel => {
            out.write_step(view, Line::new().styled(TextStyle::Warn, "cancel"), Line::text(label), id)?;
            let pending = view.before.control().pending_calls().iter();
            let cancelled = pending.filter(|call| view.after.control().pending_call(call.id).is_none());
            for call in cancelled {
                let suffix = " was pending; its reply is no longer expected";
                out.write_line("", phrases::operation(call.operation).styled(TextStyle::Dim, suffix))?;
            }
            Ok(())
        }
        Input::Write(write) => {
            out.write_step(view, Line::new().styled(TextStyle::Warn, "write"), phrases::write(write), id)
        }
        Input::Network(input) => {
            let (actor, line) = network::input(input);
            out.write_step(view, actor, line, id)
        }
        Input::Tick => {
            let line = Line::text("an item expires");
            out.write_step(view, Line::new().styled(TextStyle::Warn, "tick"), line, id)
        }
        Input::Resume => {
            let line = Line::text("the runtime restarts after a crash");
            out.write_step(view, Line::new().styled(TextStyle::Warn, "resume"), line, id)?;
            for call in view.after.control().pending_calls() {
                let suffix = if call.operation.is_effectful() {
                    " may have started; the host recovers its outcome"
                } else {
                    " is called again"
                };
                out.write_line("", phrases::operation(call.operation).styled(TextStyle::Dim, suffix))?;
            }
            Ok(())
        }
        Input::Step => write_internal_step(out, view, label, id),
    }
}

fn write_reply(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    report: &Report,
    transition: &str,
) -> io::Result<()> {
    let Some(call) = view.before.control().answered_call(&view.step.input) else {
        return out.write_step(view, phrases::actor("?"), phrases::report(report), transition);
    };
    match (call.operation, report) {
        (_, Report::Argument { argument, text, .. }) => {
            let line = phrases::argument(*argument).and("  ").quote(text.as_str());
            let name = phrases::module_name(view.policy, call.operation);
            out.write_step(view, phrases::actor(name), line, transition)?;
            if call.operation == Operation::ReviewRevision {
                let plan = view.request_before().and_then(|request| request.plan.as_ref());
                let revision = plan.map_or(String::new(), |plan| format!(" r{}", plan.revision));
                out.write_line("", Line::dim(format_args!("(review of revision{revision})")))?;
            }
            Ok(())
        }
        (Operation::RunTask { task, .. }, Report::Exit { code, text, .. }) => {
            execution::write_run(out, view, task, *code, text.as_str(), transition)
        }
        (Operation::UndoTask { task }, Report::Exit { code, text, .. }) => {
            execution::write_undo(out, view, task, *code, text.as_str(), transition)
        }
        (operation, report) => {
            out.write_step(view, phrases::actor(operation.module()), phrases::report(report), transition)
        }
    }
}

/// Writes an internal step: its score, ratings or decision, else the label of its transition.
fn write_internal_step(
    out: &mut dyn Renderer,
    view: &StepView<'_>,
    label: &str,
    transition: &str,
) -> io::Result<()> {
    for event in &view.step.events {
        match event {
            Event::ConsensusScored { revision, score } => {
                let line = reasons::scored(view, *revision, *score);
                out.write_step(view, Line::dim("consensus"), line, transition)?;
                if view.before.control().phase() == Phase::CalculatingConsensus
                    && let Some(request) = view.request_before()
                {
                    out.write_line("", reasons::sides(view.policy, request))?;
                }
                return Ok(());
            }
            Event::RatingsUpdated { ratings } => {
                let before = view.request_before().map_or(*ratings, |request| request.ratings);
                let line = phrases::rating_changes(&before, ratings);
                return out.write_step(view, Line::dim("duels"), line, transition);
            }
            Event::ToolCall { operation: operation @ Operation::RunTask { .. }, .. }
                if view.before.control().phase() == Phase::RunningTasks =>
            {
                let line = Line::dim("starts beside the running tasks");
                return out.write_step(view, phrases::operation(*operation), line, transition);
            }
            Event::Decided { decision } => {
                let actor = Line::new().styled(TextStyle::Heading, "decision");
                return out.write_step(view, actor, phrases::decision_label(decision.label), transition);
            }
            _ => {}
        }
    }
    if view.before.control().phase() == Phase::RollbackActive {
        return execution::write_rollback_end(out, view, transition);
    }
    out.write_step(view, Line::dim("·"), Line::dim(label), transition)
}
