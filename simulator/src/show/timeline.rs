//! The timeline: every step in a line or a few, under headings that follow the request through its regions.

mod closing;
mod execution;

use super::page::{Ink, Line, Page, TEXT_WIDTH};
use super::scene::Scene;
use super::text::{count, wrap};
use super::why::{self, Veto};
use super::{Shown, plans, words};
use crate::trace::Header;
use orchestrion_kernel::control::phase::Region;
use orchestrion_kernel::control::table::leads_on;
use orchestrion_kernel::module::{Ask, Report};
use orchestrion_kernel::{Event, Input, Phase, Policy, RequestId, State};
use std::io;

/// The most lines of a text of the user's.
const ASKED_LINES_MAX: usize = 4;

/// What is remembered from step to step: where the reader is, and a summary of the running request.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    part: Option<Part>,
    running: Option<Running>,
}

/// A stretch of a request under one heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Region(Region),
    Plan,
    Pass(u32),
    Run(u32),
    Repair(u32),
    Rollback,
}

#[derive(Debug)]
struct Running {
    id: RequestId,
    first: u64,
    passes: u32,
    runs: u32,
    repairs: u32,
    refused: u32,
    veto: Option<Veto>,
}

/// The head of the page: what the trace rests on.
pub(super) fn header(page: &mut Page<'_>, header: &Header) -> io::Result<()> {
    let mut line = Line::new()
        .ink(Ink::Heading, format_args!("Conversation {}", header.conversation))
        .and(format_args!("  policy {}, kernel {}", header.policy.name, header.kernel));
    if let Some(scenario) = &header.scenario {
        line = line.and(format_args!(", scenario {}", scenario.name));
    }
    page.paragraph(line, 2)?;
    for difference in crate::replay::header_differences(header, None) {
        page.paragraph(Line::new().ink(Ink::Warn, format_args!("  note: {difference}")), 8)?;
    }
    Ok(())
}

impl Timeline {
    pub(super) fn step(&mut self, page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
        let n = scene.step.n;
        if let Some(sentence) = &scene.step.refused {
            if let Some(running) = &mut self.running {
                running.refused += 1;
            }
            let said = Line::text(sentence);
            return page.step(n, Line::new().ink(Ink::Warn, "refused"), said, "");
        }
        self.headings(page, scene)?;
        self.said(page, scene)?;
        for event in &scene.step.events {
            self.followed(page, scene, event)?;
        }
        self.ended(page, scene)
    }

    /// What the reader should know where the trace stops.
    pub(super) fn end(
        &self,
        page: &mut Page<'_>,
        policy: &Policy,
        state: &State,
        shown: &Shown,
    ) -> io::Result<()> {
        let control = &state.control;
        let phase = control.phase();
        let line = match control.waiting() {
            Some(call) => {
                format!("The trace ends in {phase}, waiting for {} (call {}).", call.ask.expected(), call.id)
            }
            None if phase == Phase::Idle => match control.session() {
                Some(user) => format!("The trace ends in Idle, the session of {user} still open."),
                None => "The trace ends in Idle, no session open.".to_string(),
            },
            None if !leads_on(policy, phase) => {
                format!("The trace ends in {phase}; no row of policy {} leads on from here.", policy.name)
            }
            None => format!("The trace ends in {phase}, before the next step."),
        };
        let requests = usize::try_from(shown.requests).unwrap_or(usize::MAX);
        let refused = usize::try_from(shown.refused).unwrap_or(usize::MAX);
        let mut counted = format!("  {} steps, {}", shown.steps, count(requests, "request"));
        if refused > 0 {
            counted.push_str(&format!(", {} refused", count(refused, "input")));
        }
        page.line(Line::new())?;
        page.paragraph(Line::text(line).ink(Ink::Faint, counted), 0)
    }

    /// Announces where the step stands, if that is somewhere else than the step before.
    fn headings(&mut self, page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
        match &scene.step.input {
            Input::SessionStart { user } => {
                page.line(Line::new())?;
                return page.heading(Line::new().ink(Ink::Heading, format_args!("Session of {user}")));
            }
            Input::SessionEnd => return page.line(Line::new()),
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
            page.line(Line::new())?;
            return page.heading(
                Line::new().ink(Ink::Heading, format_args!("Request {id}")).and(format_args!(" of {user}")),
            );
        }
        let Some(part) = self.part_of(scene) else { return Ok(()) };
        if self.part != Some(part) {
            self.part = Some(part);
            page.region(&self.title(part, scene))?;
        }
        Ok(())
    }

    fn part_of(&mut self, scene: &Scene<'_>) -> Option<Part> {
        let phase = scene.before.phase;
        let running = self.running.as_mut()?;
        if let Some(request) = scene.judged() {
            running.passes = running.passes.max(request.debate.pass);
        }
        Some(match phase {
            Phase::Planning => Part::Plan,
            Phase::Round(_) | Phase::PlanReread | Phase::MultiPassCheck => Part::Pass(running.passes),
            Phase::RunningTasks | Phase::AssertingOutcomes | Phase::Success | Phase::Failure => {
                Part::Run(running.runs)
            }
            Phase::SelfHealingActive | Phase::RepairReread | Phase::RepairScoring => {
                Part::Repair(running.repairs)
            }
            Phase::RollbackActive | Phase::RollbackComplete => Part::Rollback,
            phase => Part::Region(phase.region()?),
        })
    }

    fn title(&self, part: Part, scene: &Scene<'_>) -> String {
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
                format!("{execution}, repair {repair}{}", words::repairs(scene.policy))
            }
            Part::Rollback => format!("{execution}, rollback"),
        }
    }

    /// The line of the step itself: who said what.
    fn said(&mut self, page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
        let n = scene.step.n;
        let row = scene.row();
        let id = row.map_or("", |row| row.id);
        let label = row.map_or("", |row| row.label);
        match &scene.step.input {
            Input::SessionStart { user } => page.step(n, words::who(user), Line::text("opens a session"), id),
            Input::SessionEnd => closing::session_ended(page, scene, id),
            Input::UserMessage { user, text } => {
                let mut lines = wrap(text.as_str(), TEXT_WIDTH).into_iter();
                page.step(n, words::who(user), Line::text(lines.next().unwrap_or_default()), id)?;
                let hidden = lines.len().saturating_sub(ASKED_LINES_MAX - 1);
                for line in lines.take(ASKED_LINES_MAX - 1) {
                    page.more("", Line::text(line))?;
                }
                if hidden > 0 {
                    page.more("", Line::faint(format_args!("… and {}", count(hidden, "more line"))))?;
                }
                Ok(())
            }
            Input::Reply { report, .. } => self.replied(page, scene, report, id),
            Input::CallFailed { failure, .. } => {
                let (who, what) = match scene.before.waiting {
                    Some(call) => (words::asked(call.ask), words::failed(failure)),
                    None => (words::who("?"), words::failed(failure)),
                };
                page.step(n, who, what.ink(Ink::Faint, format_args!("  {label}")), id)
            }
            Input::Cancel => page.step(n, Line::new().ink(Ink::Warn, "cancel"), Line::text(label), id),
            Input::Step => self.stepped(page, scene, label, id),
        }
    }

    fn replied(
        &mut self,
        page: &mut Page<'_>,
        scene: &Scene<'_>,
        report: &Report,
        row: &str,
    ) -> io::Result<()> {
        let n = scene.step.n;
        let Some(call) = scene.before.waiting else {
            return page.step(n, words::who("?"), words::report(report), row);
        };
        match (call.ask, report) {
            (Ask::Argue(_) | Ask::Reread, Report::Argument { argument, text, .. }) => {
                let said = words::argument(*argument).and("  ").quote(text.as_str());
                page.step(n, words::who(call.ask.module()), said, row)?;
                if call.ask == Ask::Reread {
                    let revision = scene.judged().and_then(|request| request.plan.as_ref());
                    let revision = revision.map_or(String::new(), |plan| format!(" r{}", plan.revision));
                    page.more("", Line::faint(format_args!("(on the new revision{revision})")))?;
                }
                Ok(())
            }
            (Ask::RunTask { task, .. }, Report::Exit { code, text }) => {
                execution::ran(page, scene, task, *code, text.as_str(), row)
            }
            (Ask::UndoTask { task }, Report::Exit { code, text }) => {
                execution::undone(page, scene, task, *code, text.as_str(), row)
            }
            (ask, report) => page.step(n, words::who(ask.module()), words::report(report), row),
        }
    }

    /// A step that control took by itself; only those that computed something speak.
    fn stepped(&mut self, page: &mut Page<'_>, scene: &Scene<'_>, label: &str, row: &str) -> io::Result<()> {
        let n = scene.step.n;
        let faint = |word: &str| Line::new().ink(Ink::Faint, word);
        for event in &scene.step.events {
            match event {
                Event::ConsensusScored { revision, score } => {
                    page.step(n, faint("consensus"), why::scored(scene, *revision, *score), row)?;
                    if scene.before.phase == Phase::CalculatingConsensus
                        && let Some(request) = scene.judged()
                    {
                        page.more("", why::voices(request))?;
                    }
                    return Ok(());
                }
                Event::RatingsUpdated { ratings } => {
                    let before = scene.judged().map_or(*ratings, |request| request.ratings);
                    return page.step(n, faint("duels"), words::moved(&before, ratings), row);
                }
                Event::Decided { decision } => {
                    return page.step(
                        n,
                        Line::new().ink(Ink::Heading, "decision"),
                        words::label(decision.label),
                        row,
                    );
                }
                _ => {}
            }
        }
        if scene.before.phase == Phase::RollbackActive {
            return execution::rolled_back(page, scene, row);
        }
        page.step(n, faint("·"), Line::faint(label), row)
    }

    /// What else the events of the step say.
    fn followed(&mut self, page: &mut Page<'_>, scene: &Scene<'_>, event: &Event) -> io::Result<()> {
        match event {
            Event::PlanAdopted { revision, plan } => {
                let before = scene.judged().and_then(|request| request.plan.as_ref());
                let repair = scene.before.phase == Phase::SelfHealingActive;
                plans::adopted(page, *revision, plan, before, repair)
            }
            Event::VetoRaised { revision } => self.vetoed(page, scene, *revision),
            Event::Decided { decision } => {
                if scene.before.phase == Phase::RepairScoring {
                    page.more("decision", words::label(decision.label))?;
                }
                let veto = self.running.as_ref().and_then(|running| running.veto);
                for reason in why::decided(scene, decision, veto) {
                    page.more("", reason)?;
                }
                Ok(())
            }
            Event::Moved { row } => {
                if let Some(running) = &mut self.running {
                    let (from, to) = (scene.before.phase, row.row().to);
                    running.runs += u32::from(to == Phase::RunningTasks && from != to);
                    running.repairs += u32::from(to == Phase::SelfHealingActive);
                }
                Ok(())
            }
            Event::ExecutionReported { revision, tasks } => execution::reported(page, *revision, tasks),
            Event::Concluded { ending } => page.more("it will end", words::ending(*ending)),
            Event::Memorized { record } => closing::memorized(page, scene, record),
            Event::Audited { record } => closing::audited(page, record),
            Event::AuditUndelivered => {
                let said = "the audit record was not delivered, and will not be tried again";
                page.more("undelivered", Line::new().ink(Ink::Warn, said))
            }
            Event::FinalAnswer { trace, text } => closing::answered(page, trace, text.as_str(), scene.step.n),
            _ => Ok(()),
        }
    }

    fn vetoed(
        &mut self,
        page: &mut Page<'_>,
        scene: &Scene<'_>,
        revision: orchestrion_kernel::Revision,
    ) -> io::Result<()> {
        let Some(confidence) = scene.find(|event| match event {
            Event::ToolResult { report: Report::Argument { argument, .. }, .. } => Some(argument.confidence),
            _ => None,
        }) else {
            return Ok(());
        };
        let debated = scene.before.phase != Phase::RepairReread;
        let pass = scene.judged().map(|request| request.debate.pass).filter(|_| debated);
        let veto = Veto { pass, revision, confidence };
        if let Some(running) = &mut self.running {
            running.veto = Some(veto);
        }
        page.more("", why::veto(scene, veto))
    }

    /// Closes the request's summary if the step ended it.
    fn ended(&mut self, page: &mut Page<'_>, scene: &Scene<'_>) -> io::Result<()> {
        if scene.after.control.request().is_some() || scene.before.request.is_none() {
            return Ok(());
        }
        let Some(running) = self.running.take() else { return Ok(()) };
        self.part = None;
        closing::summed_up(page, scene, &running)
    }
}
