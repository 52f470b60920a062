//! The state after a step.

use super::super::phrases;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::count;
use super::events;
use orchestrion_kernel::module::Role;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Phase};
use std::io;

/// How wide an item may be that is shown whole elsewhere.
const ITEM_COLUMNS: usize = 74;

pub(in super::super) fn list(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    let control = &scene.after.control;
    page.gap()?;
    let region = control.phase().region().map_or(String::new(), |region| format!(", in {}", region.name()));
    let phase = Line::new().ink(TextStyle::Heading, control.phase()).and(region);
    let phase = if scene.step.refused.is_some() { phase.ink(TextStyle::Dim, ", unchanged") } else { phase };
    page.property("state after", "phase", phase)?;
    let session = control.session().map_or(Line::faint("none"), |user| Line::new().ink(TextStyle::Who, user));
    property(page, "session", session)?;
    match control.pending_call() {
        Some(call) => {
            property(
                page,
                "waits for",
                Line::text(format_args!("{} (call {})", call.operation.expected_reply(), call.id)),
            )?;
        }
        None => property(page, "waits for", Line::faint("no call"))?,
    }
    if let Some(request) = control.request() {
        self::request(page, request, control.phase())?;
    }
    semantic(page, scene)
}

fn request(page: &mut dyn Renderer, request: &Request, phase: Phase) -> io::Result<()> {
    let verified = if request.verified { "identity verified" } else { "identity not verified" };
    property(page, "request", Line::text(format_args!("{}, {verified}", request.id)))?;
    if let Some(plan) = &request.plan {
        let line = format!("r{}, {}", plan.revision, phrases::tasks(&plan.plan));
        property(page, "plan", Line::text(line))?;
    }
    debate(page, request)?;
    property(page, "ratings", Line::text(phrases::standing(&request.ratings)))?;
    if let Some(after) = &request.ratings_after {
        property(page, "", phrases::moved(&request.ratings, after))?;
    }
    for decision in &request.decisions {
        property(page, "decided", phrases::decision(decision))?;
    }
    // Until the next run begins, a repaired plan stands beside the outcomes of the run before it.
    let repaired = matches!(phase, Phase::RepairReview | Phase::RepairScoring | Phase::RollbackActive);
    let plan = request.plan.as_ref().filter(|_| !repaired);
    let mut run = Line::new();
    for (i, end) in request.outcomes.iter().enumerate() {
        let task = plan.and_then(|plan| plan.plan.tasks().get(i));
        let comma = if run.is_empty() { "" } else { ", " };
        let task = task.map_or(String::new(), |task| format!("task {} ", task.id));
        run = run.and(format_args!("{comma}{task}")).join(phrases::task_end(*end));
    }
    if !run.is_empty() {
        property(page, if repaired { "last run" } else { "run" }, run)?;
    }
    if request.repairs > 0 {
        property(page, "repairs", Line::text(request.repairs))?;
    }
    for (i, started) in request.ledger.iter().enumerate() {
        let line = Line::text(format_args!("task {} started, {}", started.task, started.effect));
        let line = match started.record().effect {
            Some(end) => line.and(", effect ").ink(phrases::effect_end(end), end),
            None => line,
        };
        property(page, if i == 0 { "ledger" } else { "" }, line)?;
    }
    if let Some(ending) = request.conclusion {
        property(page, "will end", phrases::ending(ending))?;
        property(page, "stores", phrases::holdings(request.store_statuses))?;
    }
    for (i, action) in request.actions.iter().enumerate() {
        property(page, if i == 0 { "actions" } else { "" }, phrases::action(action))?;
    }
    if request.audit_attempts > 0 {
        property(page, "audit sink", Line::text(format_args!("asked {}", times(request.audit_attempts))))?;
    }
    Ok(())
}

fn debate(page: &mut dyn Renderer, request: &Request) -> io::Result<()> {
    let debate = &request.debate;
    if debate.pass == 0 {
        return Ok(());
    }
    property(page, "debate", Line::text(format_args!("pass {}", debate.pass)))?;
    for role in Role::ALL {
        if let Some(argument) = debate.latest.get(role) {
            let mut line = Line::new().ink(TextStyle::Who, role).to(11).join(phrases::argument(*argument));
            if let Some(read) = debate.security_reviewed.filter(|_| role == Role::Security) {
                line = line.ink(TextStyle::Dim, format_args!("  on r{read}"));
            }
            property(page, "", line)?;
        }
    }
    if debate.vetoed {
        property(page, "veto", Line::new().ink(TextStyle::Bad, "raised"))?;
    }
    match debate.scored {
        Some(scored) => {
            property(page, "consensus", Line::text(format_args!("{} for r{}", scored.score, scored.revision)))
        }
        None => property(page, "consensus", Line::faint("not scored")),
    }
}

fn semantic(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    let semantic = &scene.after.semantic;
    let added = semantic.len().saturating_sub(scene.before.semantic.len());
    let new = if added > 0 { format!(", {added} of them new") } else { String::new() };
    property(page, "knows", Line::text(format_args!("{}{new}", count(semantic.len(), "item"))))?;
    // Whoever is asked now is shown them whole, below.
    let asked = scene.step.events.iter().any(|event| matches!(event, Event::ToolCall { .. }));
    let room = (asked && page.shortens()).then_some(ITEM_COLUMNS);
    for entry in semantic.entries() {
        property(page, "", events::item(&entry.item, &entry.deps, room))?;
    }
    Ok(())
}

fn property(page: &mut dyn Renderer, name: &str, line: Line) -> io::Result<()> {
    page.property("", name, line)
}

fn times(number: u32) -> String {
    match number {
        1 => "once".to_string(),
        2 => "twice".to_string(),
        n => format!("{n} times"),
    }
}
