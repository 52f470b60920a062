//! The state after a step.

use super::super::phrases;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::events::{self, ItemText};
use super::nodes;
use crate::text::count;
use orchestrion_kernel::event::TaskResult;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Phase, Policy};
use orchestrion_trace::emitted_call;
use std::io;

/// The property that lists the items.
pub(in super::super) const ITEMS: &str = "items";

pub(in super::super) fn write(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let control = view.after.control();
    out.write_blank()?;
    let region = control.phase().region().map_or(String::new(), |region| format!(", in {}", region.name()));
    let phase = Line::new().styled(TextStyle::Heading, control.phase()).and(region);
    let phase = if view.step.refused.is_some() { phase.styled(TextStyle::Dim, ", unchanged") } else { phase };
    out.write_property("state after", "phase", phase)?;
    let session =
        control.session().map_or(Line::dim("none"), |user| Line::new().styled(TextStyle::Actor, user));
    write_property(out, "session", session)?;
    if control.pending_calls().is_empty() {
        write_property(out, "pending", Line::dim("no call"))?;
    }
    for (i, call) in control.pending_calls().iter().enumerate() {
        let line = Line::text(format_args!("call {}, for {}", call.id, call.operation.expected_reply()));
        let line = match call.running_task() {
            Some(task) => line.and(format_args!(" of task {task}")),
            None => line,
        };
        write_property(out, if i == 0 { "pending" } else { "" }, line)?;
    }
    if let Some(request) = control.request() {
        write_request(out, view.policy, request, control.phase())?;
    }
    nodes::write(out, view)?;
    write_items(out, view)
}

fn write_request(out: &mut dyn Renderer, policy: &Policy, request: &Request, phase: Phase) -> io::Result<()> {
    let verified = if request.verified { "identity verified" } else { "identity not verified" };
    write_property(out, "request", Line::text(format_args!("{}, {verified}", request.id)))?;
    if let Some(plan) = &request.plan {
        let line = format!("r{}, {}", plan.revision, phrases::task_count(&plan.plan));
        write_property(out, "plan", Line::text(line))?;
    }
    write_debate(out, policy, request)?;
    write_property(out, "ratings", Line::text(phrases::ratings(&request.ratings)))?;
    if let Some(after) = &request.ratings_after {
        write_property(out, "", phrases::rating_changes(&request.ratings, after))?;
    }
    for decision in &request.decisions {
        write_property(out, "decision", phrases::decision(decision))?;
    }
    write_outcomes(out, request, phase)?;
    if request.repairs > 0 {
        write_property(out, "repairs", Line::text(request.repairs))?;
    }
    for (i, started) in request.ledger.iter().enumerate() {
        let line = Line::text(format_args!("task {} started, {}", started.task, started.effect));
        let line = match started.record().effect {
            Some(outcome) => line.and(", effect ").styled(phrases::effect_style(outcome), outcome),
            None => line,
        };
        write_property(out, if i == 0 { "effects" } else { "" }, line)?;
    }
    if let Some(conclusion) = request.conclusion {
        write_property(out, "conclusion", phrases::conclusion(conclusion))?;
        write_property(out, "stores", phrases::store_statuses(request.store_statuses))?;
    }
    for (i, action) in request.actions.iter().enumerate() {
        write_property(out, if i == 0 { "actions" } else { "" }, phrases::action(action))?;
    }
    if request.audit_attempts > 0 {
        let attempts = usize::try_from(request.audit_attempts).unwrap_or(usize::MAX);
        write_property(out, "audit sink", Line::text(count(attempts, "attempt")))?;
    }
    Ok(())
}

/// Writes the task outcomes of the current run. Until a repaired plan runs, they belong to the run before it.
fn write_outcomes(out: &mut dyn Renderer, request: &Request, phase: Phase) -> io::Result<()> {
    let is_previous = matches!(phase, Phase::RepairReview | Phase::RepairScoring | Phase::RollbackActive);
    let mut line = Line::new();
    for TaskResult { task, outcome } in request.outcomes.iter() {
        let comma = if line.is_empty() { "" } else { ", " };
        line = line.and(format_args!("{comma}task {task} ")).join(phrases::task_outcome(*outcome));
    }
    if line.is_empty() {
        return Ok(());
    }
    write_property(out, if is_previous { "last run" } else { "run" }, line)
}

fn write_debate(out: &mut dyn Renderer, policy: &Policy, request: &Request) -> io::Result<()> {
    let debate = &request.debate;
    if debate.pass == 0 {
        return Ok(());
    }
    write_property(out, "debate", Line::text(format_args!("pass {}", debate.pass)))?;
    for role in Role::ALL {
        if let Some(argument) = debate.latest.get(role) {
            let mut line =
                Line::new().styled(TextStyle::Actor, role).pad_to(11).join(phrases::argument(*argument));
            if let Some(revision) = debate.security_reviewed.filter(|_| role == Role::Security) {
                line = line.styled(TextStyle::Dim, format_args!("  on r{revision}"));
            }
            write_property(out, "", line)?;
        }
    }
    for (debater, argument) in policy.additional_debaters.iter().zip(&debate.additional) {
        let name = debater.name.as_str();
        let line = Line::new().shortened(TextStyle::Actor, name, 10).pad_to(11);
        write_property(out, "", line.join(phrases::argument(*argument)))?;
    }
    if debate.vetoed {
        write_property(out, "veto", Line::new().styled(TextStyle::Bad, "raised"))?;
    }
    let consensus = match debate.scored {
        Some(scored) => Line::text(format_args!("{} for r{}", scored.score, scored.revision)),
        None => Line::dim("not scored"),
    };
    write_property(out, "consensus", consensus)
}

fn write_items(out: &mut dyn Renderer, view: &StepView<'_>) -> io::Result<()> {
    let semantic = view.after.semantic();
    let added = semantic.len().saturating_sub(view.before.semantic().len());
    let new = if added > 0 { format!(", {added} new") } else { String::new() };
    write_property(out, ITEMS, Line::text(format_args!("{}{new}", semantic.len())))?;
    // The context below contains the full texts.
    let text = if emitted_call(&view.step.events).is_some() { ItemText::Short } else { ItemText::Full };
    for entry in semantic.entries() {
        write_property(out, "", events::item(&entry.item, &entry.deps, text))?;
    }
    Ok(())
}

pub(super) fn write_property(out: &mut dyn Renderer, name: &str, line: Line) -> io::Result<()> {
    out.write_property("", name, line)
}
