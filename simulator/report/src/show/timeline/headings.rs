//! Where the reader is: the head of the page, the headings of a request, and where the trace stops.

use super::super::ShowSummary;
use super::super::phrases;
use super::super::renderer::{Line, Renderer, TextStyle};
use super::super::step_view::StepView;
use super::super::text::count;
use super::{Running, Timeline};
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::has_successor;
use orchestrion_kernel::{Event, Input, Phase, Policy, State};
use orchestrion_trace::Header;
use std::io;

/// A stretch of a request under one heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Region(Region),
    Plan,
    Pass(u32),
    Run(u32),
    Repair(u32),
    Rollback,
}

/// The head of the page: what the trace rests on.
pub(in super::super) fn header(page: &mut dyn Renderer, header: &Header) -> io::Result<()> {
    let mut line = Line::new()
        .ink(TextStyle::Heading, format_args!("Conversation {}", header.conversation))
        .and(format_args!("  policy {}, kernel {}", header.policy.name, header.kernel));
    if let Some(scenario) = &header.scenario {
        line = line.and(format_args!(", scenario {}", scenario.name));
    }
    page.paragraph(line, 2)?;
    for difference in orchestrion_trace::replay::header_differences(header, None) {
        page.paragraph(Line::new().ink(TextStyle::Warn, format_args!("  note: {difference}")), 8)?;
    }
    Ok(())
}

impl Timeline {
    /// What the reader should know where the trace stops.
    pub(in super::super) fn end(
        &self,
        page: &mut dyn Renderer,
        policy: &Policy,
        state: &State,
        shown: &ShowSummary,
    ) -> io::Result<()> {
        let control = &state.control;
        let phase = control.phase();
        let line = match control.pending_call() {
            Some(call) => {
                format!(
                    "The trace ends in {phase}, waiting for {} (call {}).",
                    call.operation.expected_reply(),
                    call.id
                )
            }
            None if phase == Phase::Idle => match control.session() {
                Some(user) => format!("The trace ends in Idle, the session of {user} still open."),
                None => "The trace ends in Idle, no session open.".to_string(),
            },
            None if !has_successor(policy, phase) => {
                format!("The trace ends in {phase}; no row of policy {} leads on from here.", policy.name)
            }
            None => format!("The trace ends in {phase}, before the next step."),
        };
        let requests = usize::try_from(shown.requests).unwrap_or(usize::MAX);
        let refused = usize::try_from(shown.refused).unwrap_or(usize::MAX);
        let mut counted = format!("{} steps, {}", shown.steps, count(requests, "request"));
        if refused > 0 {
            counted.push_str(&format!(", {} refused", count(refused, "input")));
        }
        page.gap()?;
        page.paragraph(Line::text(line), 0)?;
        page.paragraph(Line::faint(counted), 0)
    }

    /// Announces where the step stands, if that is somewhere else than the step before.
    pub(super) fn headings(&mut self, page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
        match &scene.step.input {
            Input::SessionStart { user } => {
                page.gap()?;
                return page.heading(Line::new().ink(TextStyle::Heading, "Session of ").first(
                    TextStyle::Heading,
                    user.as_str(),
                    60,
                ));
            }
            Input::SessionEnd => return page.gap(),
            _ => {}
        }
        if let Some((id, user)) = scene.find(|event| match event {
            Event::UserMsg { request, user, .. } => Some((*request, user.clone())),
            _ => None,
        }) {
            let first = scene.step.n;
            self.running =
                Some(Running { id, first, passes: 0, runs: 0, repairs: 0, refused: 0, veto: None });
            self.part = None;
            page.gap()?;
            return page.heading(
                Line::new().ink(TextStyle::Heading, format_args!("Request {id}")).and(" of ").first(
                    TextStyle::Text,
                    user.as_str(),
                    60,
                ),
            );
        }
        let Some(part) = self.part_of(scene) else { return Ok(()) };
        if self.part != Some(part) {
            self.part = Some(part);
            page.region(&self.title(part, scene))?;
        }
        Ok(())
    }

    fn part_of(&mut self, scene: &StepView<'_>) -> Option<Part> {
        let phase = scene.before.phase;
        let running = self.running.as_mut()?;
        if let Some(request) = scene.judged() {
            running.passes = running.passes.max(request.debate.pass);
        }
        Some(match phase {
            Phase::Planning => Part::Plan,
            Phase::Round(_) | Phase::PlanReview | Phase::MultiPassCheck => Part::Pass(running.passes),
            Phase::RunningTasks | Phase::AssertingOutcomes | Phase::Success | Phase::Failure => {
                Part::Run(running.runs)
            }
            Phase::SelfHealingActive | Phase::RepairReview | Phase::RepairScoring => {
                Part::Repair(running.repairs)
            }
            Phase::RollbackActive | Phase::RollbackComplete => Part::Rollback,
            phase => Part::Region(phase.region()?),
        })
    }

    fn title(&self, part: Part, scene: &StepView<'_>) -> String {
        let name = |region: Region| region.name();
        let debate = name(Region::ArenaDebate);
        let execution = name(Region::SandboxedExecution);
        match part {
            Part::Region(region) => name(region).to_string(),
            Part::Plan => format!("{debate}, the baseline plan"),
            Part::Pass(pass) => format!("{debate}, pass {pass} of {}", scene.policy.bounds.passes),
            Part::Run(run) => {
                let plan = scene.judged().and_then(|request| request.plan.as_ref());
                let plan = plan.map(|plan| format!(" of plan r{}", plan.revision)).unwrap_or_default();
                let again = if run > 1 { format!(", run {run}") } else { ", the run".to_string() };
                format!("{execution}{again}{plan}")
            }
            Part::Repair(repair) => {
                format!("{execution}, repair {repair}{}", phrases::repairs(scene.policy))
            }
            Part::Rollback => format!("{execution}, rollback"),
        }
    }
}
