//! The timeline: every step in a line or a few, under headings that follow the request through its regions.

mod closing;
mod execution;
mod headings;
mod write_effects;

pub(super) use headings::header;

use super::reasons::{self, Veto};
use super::renderer::{Line, Renderer, TextStyle};
use super::step_view::StepView;
use super::{phrases, plans};
use headings::Part;
use orchestrion_kernel::item::ItemKey;
use orchestrion_kernel::module::{Operation, Report};
use orchestrion_kernel::{Event, Input, Phase, RequestId, Revision};
use std::io;

/// What is remembered from step to step: where the reader is, and a summary of the running request.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    part: Option<Part>,
    running: Option<Running>,
    /// A summary was the last that was written.
    summed_up: bool,
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

/// What the runtime says of the input.
fn noted(page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
    scene.step.note.iter().try_for_each(|note| page.more("note", Line::new().ink(TextStyle::Warn, note)))
}

impl Timeline {
    pub(super) fn step(&mut self, page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
        let summed_up = std::mem::take(&mut self.summed_up);
        if let Some(sentence) = &scene.step.refused {
            if summed_up {
                page.gap()?;
            }
            if let Some(running) = &mut self.running {
                running.refused += 1;
            }
            let said = Line::text(sentence);
            page.step(scene, Line::new().ink(TextStyle::Warn, "refused"), said, "")?;
            return noted(page, scene);
        }
        self.headings(page, scene)?;
        self.said(page, scene)?;
        noted(page, scene)?;
        for event in &scene.step.events {
            self.followed(page, scene, event)?;
        }
        write_effects::told(page, scene)?;
        self.ended(page, scene)
    }

    /// The line of the step itself: who said what.
    fn said(&mut self, page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
        let row = scene.row();
        let id = row.map_or("", |row| row.id);
        let label = row.map_or("", |row| row.label);
        match &scene.step.input {
            Input::SessionStart { user } => {
                page.step(scene, phrases::who(user), Line::text("opens a session"), id)
            }
            Input::SessionEnd => closing::session_ended(page, scene, id),
            Input::UserMessage { user, text } => page.asked(scene, phrases::who(user), text.as_str(), id),
            Input::Reply { report, .. } => self.replied(page, scene, report, id),
            Input::CallFailed { failure, .. } => {
                let (who, what) = match scene.before.waiting {
                    Some(call) => (phrases::asked(call.operation), phrases::failed(failure)),
                    None => (phrases::who("?"), phrases::failed(failure)),
                };
                page.step(scene, who, what.ink(TextStyle::Dim, format_args!(": {label}")), id)
            }
            Input::Cancel => {
                page.step(scene, Line::new().ink(TextStyle::Warn, "cancel"), Line::text(label), id)?;
                match scene.before.waiting {
                    Some(call) if scene.after.control.pending_call().map(|call| call.id) != Some(call.id) => {
                        let asked = phrases::asked(call.operation)
                            .ink(TextStyle::Dim, " was running, and is given up");
                        page.more("", asked)
                    }
                    _ => Ok(()),
                }
            }
            Input::Write(write) => {
                page.step(scene, Line::new().ink(TextStyle::Warn, "write"), phrases::write(write), id)
            }
            Input::Resume => {
                let back = Line::text("the runtime is back after a crash, and nothing was lost");
                page.step(scene, Line::new().ink(TextStyle::Warn, "resume"), back, id)?;
                match scene.after.control.pending_call().filter(|_| scene.step.refused.is_none()) {
                    Some(call) if call.operation.is_effectful() => page.more(
                        "",
                        phrases::asked(call.operation)
                            .ink(TextStyle::Dim, " may have run: the host finds out first"),
                    ),
                    Some(call) => {
                        page.more("", phrases::asked(call.operation).ink(TextStyle::Dim, " is asked again"))
                    }
                    None => Ok(()),
                }
            }
            Input::Step => self.stepped(page, scene, label, id),
        }
    }

    fn replied(
        &mut self,
        page: &mut dyn Renderer,
        scene: &StepView<'_>,
        report: &Report,
        row: &str,
    ) -> io::Result<()> {
        let Some(call) = scene.before.waiting else {
            return page.step(scene, phrases::who("?"), phrases::report(report), row);
        };
        match (call.operation, report) {
            (Operation::Argue(_) | Operation::ReviewRevision, Report::Argument { argument, text, .. }) => {
                let said = phrases::argument(*argument).and("  ").quote(text.as_str());
                page.step(scene, phrases::who(call.operation.module()), said, row)?;
                if call.operation == Operation::ReviewRevision {
                    let revision = scene.judged().and_then(|request| request.plan.as_ref());
                    let revision = revision.map_or(String::new(), |plan| format!(" r{}", plan.revision));
                    page.more("", Line::faint(format_args!("(on the new revision{revision})")))?;
                }
                Ok(())
            }
            (Operation::RunTask { task, .. }, Report::Exit { code, text }) => {
                execution::ran(page, scene, task, *code, text.as_str(), row)
            }
            (Operation::UndoTask { task }, Report::Exit { code, text }) => {
                execution::undone(page, scene, task, *code, text.as_str(), row)
            }
            (ask, report) => page.step(scene, phrases::who(ask.module()), phrases::report(report), row),
        }
    }

    /// A step that control took by itself; only those that computed something speak.
    fn stepped(
        &mut self,
        page: &mut dyn Renderer,
        scene: &StepView<'_>,
        label: &str,
        row: &str,
    ) -> io::Result<()> {
        let faint = |word: &str| Line::new().ink(TextStyle::Dim, word);
        for event in &scene.step.events {
            match event {
                Event::ConsensusScored { revision, score } => {
                    page.step(scene, faint("consensus"), reasons::scored(scene, *revision, *score), row)?;
                    if scene.before.phase == Phase::CalculatingConsensus
                        && let Some(request) = scene.judged()
                    {
                        page.more("", reasons::voices(request))?;
                    }
                    return Ok(());
                }
                Event::RatingsUpdated { ratings } => {
                    let before = scene.judged().map_or(*ratings, |request| request.ratings);
                    return page.step(scene, faint("duels"), phrases::moved(&before, ratings), row);
                }
                Event::Decided { decision } => {
                    return page.step(
                        scene,
                        Line::new().ink(TextStyle::Heading, "decision"),
                        phrases::label(decision.label),
                        row,
                    );
                }
                _ => {}
            }
        }
        if scene.before.phase == Phase::RollbackActive {
            return execution::rolled_back(page, scene, row);
        }
        page.step(scene, faint("·"), Line::faint(label), row)
    }

    /// What else the events of the step say.
    fn followed(&mut self, page: &mut dyn Renderer, scene: &StepView<'_>, event: &Event) -> io::Result<()> {
        match event {
            Event::PlanAdopted { revision, plan } => {
                let before = scene.judged().and_then(|request| request.plan.as_ref());
                let repair = scene.before.phase == Phase::SelfHealingActive;
                plans::adopted(page, *revision, plan, before, repair)?;
                if repair && scene.row().is_some_and(|row| row.to == Phase::RunningTasks) {
                    let said = "it runs before anybody has reviewed it (finding F10)";
                    page.more("", Line::new().ink(TextStyle::Warn, said))?;
                }
                Ok(())
            }
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => match item.key {
                ItemKey::Situation(field) => {
                    page.more("situation", Line::faint(format_args!("{field}: ")).quote(item.text.as_str()))
                }
                _ => Ok(()),
            },
            Event::ActionRecorded { record } => page.more("action", phrases::action(record)),
            Event::VetoRaised { revision } => self.vetoed(page, scene, *revision),
            Event::Decided { decision } => {
                if scene.before.phase == Phase::RepairScoring {
                    page.more("decision", phrases::label(decision.label))?;
                }
                let veto = self.running.as_ref().and_then(|running| running.veto);
                for reason in reasons::decided(scene, decision, veto) {
                    page.more("", reason)?;
                }
                Ok(())
            }
            Event::Transitioned { row } => {
                if let Some(running) = &mut self.running {
                    let (from, to) = (scene.before.phase, row.transition().to);
                    running.runs += u32::from(to == Phase::RunningTasks && from != to);
                    running.repairs += u32::from(to == Phase::SelfHealingActive);
                }
                Ok(())
            }
            Event::ExecutionReported { revision, tasks } => execution::reported(page, *revision, tasks),
            Event::Concluded { conclusion: ending } => page.more("it will end", phrases::ending(*ending)),
            Event::MemoryRecorded { record } => closing::memorized(page, scene, record),
            Event::AuditRecorded { record } => closing::audited(page, scene, record),
            Event::AuditUndelivered => {
                let said = "the audit record was not delivered, and will not be tried again";
                page.more("undelivered", Line::new().ink(TextStyle::Warn, said))
            }
            Event::FinalAnswer { trace, text } => closing::answered(page, scene, trace, text.as_str()),
            _ => Ok(()),
        }
    }

    fn vetoed(
        &mut self,
        page: &mut dyn Renderer,
        scene: &StepView<'_>,
        revision: Revision,
    ) -> io::Result<()> {
        let Some(confidence) = scene.find(|event| match event {
            Event::ToolResult { report: Report::Argument { argument, .. }, .. } => Some(argument.confidence),
            _ => None,
        }) else {
            return Ok(());
        };
        let debated = scene.before.phase != Phase::RepairReview;
        let pass = scene.judged().map(|request| request.debate.pass).filter(|_| debated);
        let veto = Veto { pass, revision, confidence };
        if let Some(running) = &mut self.running {
            running.veto = Some(veto);
        }
        page.more("", reasons::veto(scene, veto))
    }

    /// Closes the request's summary if the step ended it.
    fn ended(&mut self, page: &mut dyn Renderer, scene: &StepView<'_>) -> io::Result<()> {
        if scene.after.control.request().is_some() || scene.before.request.is_none() {
            return Ok(());
        }
        let Some(running) = self.running.take() else { return Ok(()) };
        self.part = None;
        self.summed_up = true;
        closing::summed_up(page, scene, &running)
    }
}
