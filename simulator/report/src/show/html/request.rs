//! A request of a page: message, final answer, debate, decision, tasks, effects and records.

mod markup;

use super::super::renderer::Line;
use super::super::step_view::StepView;
use super::super::{phrases, reasons};
use super::blocks::{FullText, PageBlock};
use super::path::ControlPath;
use orchestrion_kernel::module::{Argument, Operation, Report};
use orchestrion_kernel::plan::Task;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Phase, Revision, Score, TaskId};
use orchestrion_trace::RequestFacts;
use std::collections::BTreeMap;

/// A request, collected step by step.
pub(super) struct RequestView {
    facts: RequestFacts,
    last_step: u64,
    path: ControlPath,
    passes: Vec<Pass>,
    /// The timeline blocks of each step that decided.
    decisions: Vec<(u64, Vec<PageBlock>)>,
    /// All planned tasks in their latest version, in the order of their first plan.
    tasks: Vec<Task>,
    /// The results of each task, with their steps.
    runs: BTreeMap<TaskId, Vec<(u64, Line)>>,
    /// The latest state of the request.
    request: Option<Request>,
    is_undelivered: bool,
    is_delivered: bool,
}

/// A pass of the debate, or the review of a repaired or outdated plan.
struct Pass {
    title: String,
    arguments: Vec<ArgumentView>,
    scores: Vec<ScoreView>,
}

struct ArgumentView {
    step: u64,
    /// The role, or the name of an additional debater.
    debater: String,
    argument: Argument,
    text: FullText,
    /// A new plan, a veto, or the reviewed revision.
    remarks: Vec<Line>,
}

struct ScoreView {
    step: u64,
    score: Score,
    reason: Line,
}

impl RequestView {
    /// Returns the request that the step starts.
    pub(super) fn started_by(view: &StepView<'_>) -> Option<Self> {
        Some(Self {
            facts: view.started_facts()?.clone(),
            last_step: view.step.n,
            path: ControlPath::default(),
            passes: Vec::new(),
            decisions: Vec::new(),
            tasks: Vec::new(),
            runs: BTreeMap::new(),
            request: None,
            is_undelivered: false,
            is_delivered: false,
        })
    }

    /// Adds a step with its timeline blocks.
    pub(super) fn push_step(&mut self, view: &StepView<'_>, blocks: &[PageBlock]) {
        let n = view.step.n;
        self.last_step = n;
        self.path.push_step(view);
        view.facts.into_iter().for_each(|facts| self.facts.clone_from(facts));
        let answered = view.before.control().answered_call(&view.step.input);
        let operation = answered.map(|call| call.operation);
        for event in &view.step.events {
            match event {
                Event::ToolResult { report, .. } => self.push_reply(view, operation, report),
                Event::CallFailed { failure, .. } => {
                    if let Some(Operation::RunTask { task, .. }) = operation {
                        self.push_run(task, n, phrases::failure(failure));
                    }
                }
                Event::PlanAdopted { revision, plan } => {
                    for task in plan.tasks() {
                        match self.tasks.iter_mut().find(|known| known.id == task.id) {
                            Some(known) => known.clone_from(task),
                            None => self.tasks.push(task.clone()),
                        }
                    }
                    let is_argued = *revision != Revision::FIRST
                        && view.before.control().phase() != Phase::SelfHealingActive;
                    if let Some(argument) = self.argument_of_step(n).filter(|_| is_argued) {
                        let task_count = phrases::task_count(plan);
                        argument.remarks.push(Line::text(format_args!("new plan r{revision}, {task_count}")));
                    }
                }
                Event::VetoRaised { .. } => {
                    let lines = blocks.iter().filter_map(|block| match block {
                        PageBlock::Line { line, .. } => Some(line.clone()),
                        _ => None,
                    });
                    if let Some(argument) = self.argument_of_step(n) {
                        argument.remarks.extend(lines);
                    }
                }
                Event::ConsensusScored { revision, score } => {
                    let reason = reasons::scored(view, *revision, *score);
                    self.pass(view).scores.push(ScoreView { step: n, score: *score, reason });
                }
                Event::Decided { .. } => self.decisions.push((n, blocks.to_vec())),
                Event::AuditUndelivered => self.is_undelivered = true,
                _ => {}
            }
        }
        // The last step of a request removes it from the state; the state before contains its final value.
        let request = view.after.control().request().or(view.request_before());
        self.request = request.filter(|request| request.id == self.facts.id).cloned().or(self.request.take());
    }

    fn push_reply(&mut self, view: &StepView<'_>, operation: Option<Operation>, report: &Report) {
        let n = view.step.n;
        match (operation, report) {
            (Some(operation), Report::Argument { argument, text, .. }) => {
                let is_review = operation == Operation::ReviewRevision;
                let argument = ArgumentView {
                    step: n,
                    debater: phrases::module_name(view.policy, operation),
                    argument: *argument,
                    text: FullText::new(text.as_str()),
                    remarks: is_review.then(|| Line::dim("review of the new revision")).into_iter().collect(),
                };
                self.pass(view).arguments.push(argument);
            }
            (Some(Operation::RunTask { task, .. }), Report::Exit { code, text, .. }) => {
                self.push_run(task, n, phrases::exit_code(*code).and("  ").quote(text.as_str()));
            }
            (Some(Operation::DeliverAudit), Report::Delivered) => self.is_delivered = true,
            _ => {}
        }
    }

    fn push_run(&mut self, task: TaskId, n: u64, result: Line) {
        self.runs.entry(task).or_default().push((n, result));
    }

    fn argument_of_step(&mut self, n: u64) -> Option<&mut ArgumentView> {
        self.passes.last_mut()?.arguments.last_mut().filter(|argument| argument.step == n)
    }

    /// Returns the pass that contains the step.
    fn pass(&mut self, view: &StepView<'_>) -> &mut Pass {
        let is_repair = matches!(view.before.control().phase(), Phase::RepairReview | Phase::RepairScoring);
        let title = match (is_repair, view.request_before()) {
            (true, Some(request)) => match &request.plan {
                Some(plan) => format!("Repaired plan r{}", plan.revision),
                None => "Repaired plan".to_string(),
            },
            (false, Some(request)) => {
                format!("Pass {} of {}", request.debate.pass.max(1), view.policy.bounds.passes)
            }
            // Only in forged traces.
            (_, None) => "Outside of a request".to_string(),
        };
        if self.passes.last().is_none_or(|pass| pass.title != title) {
            self.passes.push(Pass { title, arguments: Vec::new(), scores: Vec::new() });
        }
        let last = self.passes.len() - 1;
        &mut self.passes[last]
    }
}
