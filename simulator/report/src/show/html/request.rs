//! A request as a reader asks about it: what was asked and answered, how it was debated, what was decided and why, what
//! ran, and what of it stands.

mod written;

pub(super) use written::link;

use super::super::renderer::{Line, TextStyle};
use super::super::step_view::StepView;
use super::super::{phrases, reasons};
use super::blocks::{FullText, PageBlock};
use orchestrion_kernel::event::{AuditRecord, Conclusion};
use orchestrion_kernel::module::{Argument, Operation, Report, Role};
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Phase, RequestId, Revision, Score, TaskId};
use std::collections::BTreeMap;

/// What is kept of a request while its steps are gone through.
pub(super) struct RequestView {
    id: RequestId,
    user: Line,
    asked: FullText,
    first: u64,
    last: u64,
    passes: Vec<Pass>,
    /// What was said when something was decided, with the step.
    decided: Vec<(u64, Vec<PageBlock>)>,
    /// The tasks that were ever planned, as they were last, in the order of the plan that first had them.
    tasks: Vec<Task>,
    runs: BTreeMap<TaskId, Vec<(u64, Line)>>,
    /// The request as it was last; what is settled by then stands in it.
    request: Option<Request>,
    ending: Option<Conclusion>,
    audited: Option<(u64, AuditRecord)>,
    undelivered: bool,
    delivered: bool,
    answer: Option<(u64, FullText)>,
}

/// A pass of the debate, or what was said of a repair.
struct Pass {
    title: String,
    voices: Vec<ArgumentView>,
    scores: Vec<Scored>,
}

struct ArgumentView {
    step: u64,
    role: Role,
    argument: Argument,
    text: FullText,
    /// What else there is to say of it: a new plan, a veto.
    remarks: Vec<Line>,
}

struct Scored {
    step: u64,
    score: Score,
    /// What it leads to.
    why: Line,
}

impl RequestView {
    /// The story that a step begins, if a request does.
    pub(super) fn begun(scene: &StepView<'_>) -> Option<Self> {
        let (id, user, asked) = scene.find(|event| match event {
            Event::UserMsg { request, user, text } => Some((*request, user.clone(), text.clone())),
            _ => None,
        })?;
        Some(Self {
            id,
            user: Line::new().ink(TextStyle::Who, user),
            asked: FullText::new(asked.as_str()),
            first: scene.step.n,
            last: scene.step.n,
            passes: Vec::new(),
            decided: Vec::new(),
            tasks: Vec::new(),
            runs: BTreeMap::new(),
            request: None,
            ending: None,
            audited: None,
            undelivered: false,
            delivered: false,
            answer: None,
        })
    }

    /// Moves on past a step, with what the timeline told of it.
    pub(super) fn step(&mut self, scene: &StepView<'_>, told: &[PageBlock]) {
        let n = scene.step.n;
        self.last = n;
        let asked = scene.before.waiting.map(|call| call.operation);
        for event in &scene.step.events {
            match event {
                Event::ToolResult { report, .. } => self.answered(scene, asked, report),
                Event::CallFailed { failure, .. } => {
                    if let Some(Operation::RunTask { task, .. }) = asked {
                        self.ran(task, n, phrases::failed(failure));
                    }
                }
                Event::PlanAdopted { revision, plan } => {
                    for task in plan.tasks() {
                        match self.tasks.iter_mut().find(|known| known.id == task.id) {
                            Some(known) => known.clone_from(task),
                            None => self.tasks.push(task.clone()),
                        }
                    }
                    let brings =
                        *revision != Revision::FIRST && scene.before.phase != Phase::SelfHealingActive;
                    if let Some(voice) = self.voice().filter(|voice| brings && voice.step == n) {
                        let tasks = phrases::tasks(plan);
                        voice.remarks.push(Line::text(format_args!("brings plan r{revision}, {tasks}")));
                    }
                }
                Event::VetoRaised { .. } => {
                    let said = told.iter().filter_map(|told| match told {
                        PageBlock::More { said, .. } => Some(said.clone()),
                        _ => None,
                    });
                    if let Some(voice) = self.voice().filter(|voice| voice.step == n) {
                        voice.remarks.extend(said);
                    }
                }
                Event::ConsensusScored { revision, score } => {
                    let why = reasons::scored(scene, *revision, *score);
                    let scored = Scored { step: n, score: *score, why };
                    self.pass(scene).scores.push(scored);
                }
                Event::Decided { .. } => self.decided.push((n, told.to_vec())),
                Event::Concluded { conclusion: ending } => self.ending = Some(*ending),
                Event::AuditRecorded { record } => self.audited = Some((n, record.clone())),
                Event::AuditUndelivered => self.undelivered = true,
                Event::FinalAnswer { text, .. } => self.answer = Some((n, FullText::new(text.as_str()))),
                _ => {}
            }
        }
        // The last batch takes the request away, and what it leaves stood before it.
        let request = scene.after.control.request().or(scene.before.request.as_ref());
        self.request = request.filter(|request| request.id == self.id).cloned().or(self.request.take());
    }

    fn answered(&mut self, scene: &StepView<'_>, asked: Option<Operation>, report: &Report) {
        let n = scene.step.n;
        match (asked, report) {
            (
                Some(Operation::Argue(_) | Operation::ReviewRevision),
                Report::Argument { argument, text, .. },
            ) => {
                let Some(role) = asked.and_then(Operation::argued_by) else { return };
                let reads =
                    (asked == Some(Operation::ReviewRevision)).then(|| Line::faint("reads the new revision"));
                let voice = ArgumentView {
                    step: n,
                    role,
                    argument: *argument,
                    text: FullText::new(text.as_str()),
                    remarks: reads.into_iter().collect(),
                };
                self.pass(scene).voices.push(voice);
            }
            (Some(Operation::RunTask { task, .. }), Report::Exit { code, text }) => {
                self.ran(task, n, phrases::exit(*code).and("  ").quote(text.as_str()));
            }
            (Some(Operation::DeliverAudit), Report::Delivered) => self.delivered = true,
            _ => {}
        }
    }

    fn ran(&mut self, task: TaskId, n: u64, how: Line) {
        self.runs.entry(task).or_default().push((n, how));
    }

    fn voice(&mut self) -> Option<&mut ArgumentView> {
        self.passes.last_mut()?.voices.last_mut()
    }

    /// The pass that the step belongs to.
    fn pass(&mut self, scene: &StepView<'_>) -> &mut Pass {
        let repairs = matches!(scene.before.phase, Phase::RepairReview | Phase::RepairScoring);
        let title = match (repairs, scene.judged()) {
            (true, Some(request)) => match &request.plan {
                Some(plan) => format!("The repaired plan r{}", plan.revision),
                None => "The repaired plan".to_string(),
            },
            (false, Some(request)) => {
                format!("Pass {} of {}", request.debate.pass.max(1), scene.policy.bounds.passes)
            }
            (_, None) => "Out of place".to_string(),
        };
        if self.passes.last().is_none_or(|pass| pass.title != title) {
            self.passes.push(Pass { title, voices: Vec::new(), scores: Vec::new() });
        }
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }
}
