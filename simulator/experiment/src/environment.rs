//! The environment of the kernel: modules that answer at random, and the truth that they try to find.
//!
//! A plan is acceptable or harmful. Debaters err with their rates of false alarms and misses, and their errors can have a common cause.
//! Every choice is made through [`Draws`]; all else follows from [`Memory`] and the call.

use crate::distribution::{Confidences, Durations};
use crate::draws::{Draws, Purpose, Stream};
use crate::information::Information;
use crate::nodes::NodeBehaviors;
use orchestrion_kernel::event::Event;
use orchestrion_kernel::module::{Argument, Failure, Module, Operation, Ratings, Report, Role, Stance};
use orchestrion_kernel::network::InteractionReport;
use orchestrion_kernel::plan::Plan;
use orchestrion_kernel::{CallId, Input, ItemId, NodeId, Score, Text};
use serde::{Deserialize, Serialize};

/// All modules, and the truth about plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The plan that the planner drafts, and each revision of it.
    pub plan: Plan,
    /// The probability that a drafted plan is acceptable.
    pub acceptable: Score,
    /// The probability that a revision is acceptable.
    pub revision_acceptable: Score,
    /// The probability that a repaired plan is acceptable.
    pub repair_acceptable: Score,
    /// The probability with which a debater takes the error that is common in the pass, in place of an own one.
    pub common_errors: Score,
    /// The five debaters, in the order of [`Role::ALL`].
    pub debaters: [Debater; 5],
    /// Each additional debater.
    pub additional_debater: Debater,
    /// The approver.
    pub approver: Judgement,
    /// The probability that a task of an acceptable plan succeeds.
    pub success: Score,
    /// The probability that a task of a harmful plan succeeds.
    pub harmful_success: Score,
    /// The probability that a compensation succeeds.
    pub undo_success: Score,
    /// The text of the result of a task.
    pub result: Text,
    /// The probability that the Critic's diagnosis contains a repaired plan.
    pub repairs: Score,
    /// The probability that a summary keeps the information of an item; without it, the summarizer fails.
    pub summary_keeps: Option<Score>,
    /// How calls fail and how long they take, by the position of the module in [`Module::ALL`].
    pub calls: [CallBehavior; 16],
    /// How the nodes of a network differ.
    pub nodes: NodeBehaviors,
}

/// A debater.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debater {
    /// How it errs.
    pub judgement: Judgement,
    /// The probability that it keeps its stance on a plan that did not change since.
    pub keeps_stance: Score,
    /// The probability that its argument contains a revision of the plan. Only Solution and the Optimizer revise.
    pub revises: Score,
    /// The confidence of a right argument.
    pub confidence: Confidences,
    /// The confidence of a wrong argument.
    pub wrong_confidence: Confidences,
    /// The arguments from which an adversary chooses; none for an honest debater.
    pub adversary: Vec<Argument>,
}

/// How a module errs about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The probability of an objection to an acceptable plan.
    pub false_alarm: Score,
    /// The probability of consent to a harmful plan.
    pub miss: Score,
}

impl Judgement {
    const fn error(self, acceptable: bool) -> Score {
        if acceptable { self.false_alarm } else { self.miss }
    }
}

/// How calls of a module end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallBehavior {
    /// The weights, in millionths, of a reply, an error, a timeout and a malformed reply.
    pub weights: [u64; 4],
    /// The duration of a call.
    pub duration: Durations,
}

/// The failures of [`CallBehavior::weights`], after the reply.
const FAILURES: [Failure; 3] = [Failure::Error, Failure::Timeout, Failure::Malformed];

/// What the environment remembers of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Memory {
    /// Whether the current plan is acceptable.
    pub acceptable: bool,
    /// The ratings that the memory module stores.
    ratings: Ratings,
    /// The stances of the five roles and of additional debaters on the current plan. Only those of debaters that keep one.
    stances: [Option<Stance>; 6],
    /// The pass, whether its plan is acceptable, and its common error, as a position among the rates of error about such a plan; only after
    /// a debater took it.
    common: Option<(u32, bool, u8)>,
    /// Whether the plan of the latest reply is acceptable, until the kernel adopts it.
    offered: Option<bool>,
    /// What summaries keep.
    pub(crate) information: Information,
}

impl Memory {
    /// Observes an event of the kernel.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::PlanAdopted { .. } => {
                if let Some(acceptable) = self.offered.take() {
                    self.acceptable = acceptable;
                }
                self.stances = [None; 6];
            }
            Event::MemoryRecorded { record, .. } => {
                if let Some(ratings) = record.ratings {
                    self.ratings = ratings;
                }
            }
            Event::FinalAnswer { .. } => {
                let information = std::mem::take(&mut self.information);
                *self = Self { ratings: self.ratings, information, ..Self::default() };
            }
            Event::ForgetItems { .. } => self.information.observe(event),
            Event::TimeAdvanced { .. }
            | Event::ToolCall { .. }
            | Event::ToolResult { .. }
            | Event::CallFailed { .. }
            | Event::AddItem { .. }
            | Event::UpdateItem { .. }
            | Event::VetoRaised { .. }
            | Event::ConsensusScored { .. }
            | Event::RatingsUpdated { .. }
            | Event::Decided { .. }
            | Event::RepairStarted
            | Event::Concluded { .. }
            | Event::ActionRecorded { .. }
            | Event::Network(_)
            | Event::UserMsg { .. }
            | Event::SessionStarted { .. }
            | Event::SessionEnded
            | Event::OverBudget { .. }
            | Event::Cancelled
            | Event::Resumed
            | Event::Transitioned { .. }
            | Event::ExecutionReported { .. }
            | Event::AuditRecorded { .. }
            | Event::AuditUndelivered => {}
        }
    }
}

/// A call that a module answers.
#[derive(Clone, Copy, Debug)]
pub struct CallScene<'a> {
    /// The operation.
    pub operation: Operation,
    /// The number of the debate pass, from 1; 0 before the first.
    pub pass: u32,
    /// The number of the request in the run, from 1.
    pub request: u32,
    /// The node that executes the call; `None` without a network.
    pub node: Option<&'a NodeId>,
    /// The items that a summary would replace; empty for other operations.
    pub cluster: &'a [ItemId],
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The report, or the failure.
    pub result: Result<Report, Failure>,
    /// How the caller judges the interaction, if a node executed the call.
    pub interaction: Option<InteractionReport>,
    /// Whether a task was done badly, also where the executor reports success.
    pub is_bad_task: bool,
}

impl From<Result<Report, Failure>> for Answer {
    fn from(result: Result<Report, Failure>) -> Self {
        Self { result, interaction: None, is_bad_task: false }
    }
}

impl Environment {
    /// Returns the answer to a call.
    pub fn answer(&self, memory: &mut Memory, scene: CallScene<'_>, draws: &mut impl Draws) -> Answer {
        let module = scene.operation.module();
        let weights = self.behavior(module).map_or([1, 0, 0, 0], |behavior| behavior.weights);
        let choice = draws.pick(Stream::module(module, Purpose::Failure), &weights);
        let failure = choice.checked_sub(1).and_then(|index| FAILURES.get(index).copied());
        if let Some(failure) = failure {
            return Err(failure).into();
        }
        if scene.operation.task().is_some() && !self.nodes.is_empty() {
            let success = self.task_success(memory, scene.operation);
            return self.nodes.execute(success, &self.result, scene, draws);
        }
        let result = self.report(memory, scene, draws);
        let is_bad_task = matches!(scene.operation, Operation::RunTask { .. })
            && matches!(result, Ok(Report::Exit { code, .. }) if code != 0);
        Answer { is_bad_task, ..result.into() }
    }

    /// Draws the duration of a call, in milliseconds.
    pub fn duration_ms(&self, operation: Operation, draws: &mut impl Draws) -> u32 {
        let module = operation.module();
        let stream = Stream::module(module, Purpose::Duration);
        self.behavior(module).map_or(0, |behavior| behavior.duration.draw_ms(draws, stream))
    }

    /// Returns how calls of a module end.
    #[must_use]
    pub fn behavior(&self, module: Module) -> Option<&CallBehavior> {
        self.calls.get(Module::ALL.iter().position(|other| *other == module)?)
    }

    fn report(
        &self,
        memory: &mut Memory,
        scene: CallScene<'_>,
        draws: &mut impl Draws,
    ) -> Result<Report, Failure> {
        let nothing = || Text::from("");
        Ok(match scene.operation {
            Operation::VerifyIdentity => Report::Identity { gcp: true, mongodb: true },
            Operation::LoadContext => Report::Context { ratings: memory.ratings, traces: Vec::new() },
            Operation::Summarize => {
                let keeps = self.summary_keeps.ok_or(Failure::NoCandidates)?;
                memory.information.summarize(scene.cluster, keeps, draws);
                Report::Summary { text: Text::from("summary of earlier items"), forgets: None }
            }
            Operation::Classify => Report::Classification { tags: Vec::new(), similarity: Score::ZERO },
            Operation::DraftPlan => {
                let stream = Stream::world(Purpose::Truth);
                memory.offered = Some(draws.happens(stream, self.acceptable));
                Report::Plan(self.plan.clone())
            }
            Operation::Argue(role) => self.argue(memory, scene, Some(role), draws),
            Operation::ReviewRevision => self.argue(memory, scene, Some(Role::Security), draws),
            Operation::ArgueAdditional { .. } => self.argue(memory, scene, None, draws),
            Operation::Approve => {
                let error = self.approver.error(memory.acceptable);
                let is_wrong = draws.happens(Stream::module(Module::Approver, Purpose::Error), error);
                Report::Approval { approved: memory.acceptable != is_wrong, text: nothing() }
            }
            Operation::RunTask { .. } | Operation::UndoTask { .. } => {
                let success = self.task_success(memory, scene.operation);
                let succeeds = draws.happens(Stream::module(Module::Executor, Purpose::Error), success);
                Report::Exit { code: i32::from(!succeeds), text: self.result.clone(), number: None }
            }
            Operation::Diagnose => {
                let stream = Stream::role(Role::Critic, Purpose::Revision);
                if draws.happens(stream, self.repairs) {
                    let truth = Stream::world(Purpose::Truth);
                    memory.offered = Some(draws.happens(truth, self.repair_acceptable));
                    Report::Repaired { text: nothing(), plan: self.plan.clone() }
                } else {
                    Report::NoRepair { text: nothing() }
                }
            }
            Operation::StoreMemory { .. } => Report::Stored { held: true },
            Operation::DeliverAudit => Report::Delivered,
        })
    }

    /// Returns the probability that a task or compensation succeeds.
    const fn task_success(&self, memory: &Memory, operation: Operation) -> Score {
        match operation {
            Operation::UndoTask { .. } => self.undo_success,
            Operation::VerifyIdentity
            | Operation::LoadContext
            | Operation::Summarize
            | Operation::Classify
            | Operation::DraftPlan
            | Operation::Argue(_)
            | Operation::ArgueAdditional { .. }
            | Operation::ReviewRevision
            | Operation::Approve
            | Operation::RunTask { .. }
            | Operation::Diagnose
            | Operation::StoreMemory { .. }
            | Operation::DeliverAudit => {
                if memory.acceptable {
                    self.success
                } else {
                    self.harmful_success
                }
            }
        }
    }

    /// Returns the argument of a role, or of an additional debater.
    fn argue(
        &self,
        memory: &mut Memory,
        scene: CallScene<'_>,
        role: Option<Role>,
        draws: &mut impl Draws,
    ) -> Report {
        let position = role.and_then(|role| Role::ALL.iter().position(|other| *other == role));
        let debater =
            position.and_then(|position| self.debaters.get(position)).unwrap_or(&self.additional_debater);
        let module = role.map_or(Module::AdditionalDebater, Module::Debater);
        let argument = if debater.adversary.is_empty() {
            self.honest_argument(memory, scene, debater, position.unwrap_or(5), module, draws)
        } else {
            let weights = vec![1; debater.adversary.len()];
            let index = draws.pick(Stream::module(module, Purpose::Adversary), &weights);
            debater
                .adversary
                .get(index)
                .copied()
                .unwrap_or(Argument { stance: Stance::Pro, confidence: Score::ONE })
        };
        let may_revise = matches!(scene.operation, Operation::Argue(role) if role.revises_plan());
        let revises = may_revise && draws.happens(Stream::module(module, Purpose::Revision), debater.revises);
        let plan = revises.then(|| {
            let truth = Stream::world(Purpose::Truth);
            memory.offered = Some(draws.happens(truth, self.revision_acceptable));
            self.plan.clone()
        });
        Report::Argument { argument, text: Text::from(""), plan }
    }

    fn honest_argument(
        &self,
        memory: &mut Memory,
        scene: CallScene<'_>,
        debater: &Debater,
        position: usize,
        module: Module,
        draws: &mut impl Draws,
    ) -> Argument {
        let right = if memory.acceptable { Stance::Pro } else { Stance::Con };
        let kept = memory.stances.get(position).copied().flatten();
        let stance = match kept {
            Some(stance) if draws.happens(Stream::module(module, Purpose::Keeps), debater.keeps_stance) => {
                stance
            }
            Some(_) | None => {
                let is_wrong = self.errs(memory, scene.pass, debater.judgement, module, draws);
                match (right, is_wrong) {
                    (Stance::Pro, false) | (Stance::Con, true) => Stance::Pro,
                    (Stance::Pro, true) | (Stance::Con, false) => Stance::Con,
                }
            }
        };
        if debater.keeps_stance > Score::ZERO
            && let Some(slot) = memory.stances.get_mut(position)
        {
            *slot = Some(stance);
        }
        let confidences = if stance == right { &debater.confidence } else { &debater.wrong_confidence };
        let confidence = confidences.draw(draws, Stream::module(module, Purpose::Confidence));
        Argument { stance, confidence }
    }

    /// Returns whether a debater errs: by an own error, or by the error that is common in the pass. Debaters that take the common error and
    /// have equal rates err together; with other rates, one with the higher rate errs whenever one with the lower rate does.
    fn errs(
        &self,
        memory: &mut Memory,
        pass: u32,
        judgement: Judgement,
        module: Module,
        draws: &mut impl Draws,
    ) -> bool {
        let rate = judgement.error(memory.acceptable);
        if !draws.happens(Stream::module(module, Purpose::TakesCommon), self.common_errors) {
            return draws.happens(Stream::module(module, Purpose::Error), rate);
        }
        let rates = self.rates(memory.acceptable);
        let acceptable = memory.acceptable;
        let cell = match memory.common {
            Some((known, about, cell)) if (known, about) == (pass, acceptable) => cell,
            Some(_) | None => {
                let stream = Stream::world(Purpose::CommonError);
                let cell = u8::try_from(draws.pick(stream, &cells(&rates))).unwrap_or(u8::MAX);
                memory.common = Some((pass, acceptable, cell));
                cell
            }
        };
        // The cell with number n lies below the rates from the n-th one on.
        rates.iter().position(|other| *other == rate).is_some_and(|position| usize::from(cell) <= position)
    }

    /// Returns the distinct rates of error of all debaters, in ascending order.
    fn rates(&self, acceptable: bool) -> Vec<Score> {
        let debaters = self.debaters.iter().chain([&self.additional_debater]);
        let mut rates: Vec<Score> = debaters.map(|debater| debater.judgement.error(acceptable)).collect();
        rates.sort_unstable();
        rates.dedup();
        rates
    }
}

/// Returns the widths of the cells between the rates, in millionths: below the first, between two, and above the last.
fn cells(rates: &[Score]) -> Vec<u64> {
    let ends = rates.iter().map(|rate| u64::from(rate.millionths())).chain([1_000_000]);
    let mut start = 0;
    let width = |end: u64| {
        let width = end - start;
        start = end;
        width
    };
    ends.map(width).collect()
}

impl Answer {
    /// Returns the input that ends the call, and when it arrives, in milliseconds after the call is sent. A call whose duration exceeds the
    /// deadline, and one that fails as a timeout, end at the deadline.
    #[must_use]
    pub fn into_input(self, call: CallId, duration_ms: u64, deadline_ms: u64) -> (u64, Input) {
        match self.result {
            Err(Failure::Timeout) => (deadline_ms, Input::CallFailed { call, failure: Failure::Timeout }),
            _ if duration_ms > deadline_ms => {
                (deadline_ms, Input::CallFailed { call, failure: Failure::Timeout })
            }
            Err(failure) => (duration_ms, Input::CallFailed { call, failure }),
            Ok(report) => {
                let (summary_update, action) = (None, None);
                let interaction = self.interaction.map(Box::new);
                (duration_ms, Input::Reply { call, report, summary_update, action, interaction })
            }
        }
    }
}
