//! `decide`: what an input means (000 §4.4, `step_base`).
//!
//! It looks up the row of the transition table, says what came, does the work of the state that is left,
//! moves, and asks what the state that is entered needs to know. It reads only; the events it gives are one
//! atomic batch, and `State::apply` writes them. Same policy, state and input: same events.

mod conclude;
mod record;

use crate::context::{BudgetError, pinned_fit};
use crate::control::elo;
use crate::control::guard::{self, Guard};
use crate::control::phase::Phase;
use crate::control::table::{Transition, TransitionId, enabled_transitions};
use crate::event::{Decision, DecisionLabel, Event, Events, TaskOutcome, TaskResult};
use crate::ids::{CallId, ItemId, Revision};
use crate::input::Input;
use crate::item::SubtaskStatus;
use crate::knowledge::{compaction, decide_write};
use crate::module::{Operation, Report};
use crate::plan::Task;
use crate::policy::{Bound, Policy};
use crate::refusal::Refusal;
use crate::state::{Call, Control, Request, State};
use alloc::vec;
use alloc::vec::Vec;

/// What this input means in this state under this policy.
///
/// # Errors
/// A [`Refusal`] if the input is not expected; nothing is to change then.
pub fn decide(policy: &Policy, state: &State, input: &Input) -> Result<Events, Refusal> {
    decide_with_row(policy, state, input, || {
        let mut rows = enabled_transitions(policy, state.control.phase(), input.trigger());
        rows.find(|row| row.when.is_satisfied(policy, state, input))
    })
}

/// The same along the row that somebody else chooses: so a checker tries what a wrong table would do, and whether the
/// claims notice.
///
/// # Errors
/// A [`Refusal`] if the input is not expected; nothing is to change then.
pub fn decide_with_row(
    policy: &Policy,
    state: &State,
    input: &Input,
    choose: impl FnOnce() -> Option<&'static Transition>,
) -> Result<Events, Refusal> {
    validate_input(policy, state, input)?;
    // What moves no control.
    match input {
        Input::Resume => return Ok(vec![Event::Resumed]),
        Input::Write(write) => return Ok(decide_write(policy, &state.semantic, write)?),
        _ => {}
    }
    let row = choose().ok_or_else(|| not_expected(state, input))?;
    let mut batch = Batch::new(policy, state);
    batch.record(input, row);
    batch.run_exit_actions(input, row);
    batch.conclude(input, row);
    batch.emit(Event::Transitioned { row: TransitionId::from_transition(row) });
    batch.run_entry_actions(row);
    Ok(batch.events)
}

fn not_expected(state: &State, input: &Input) -> Refusal {
    let control = &state.control;
    Refusal::UnexpectedInput {
        phase: control.phase(),
        found: input.trigger(),
        pending: control.pending_call().map(|call| call.operation),
    }
}

/// Refuses what does not fit whatever the table says: wrong calls, wrong reports, wrong users, and what comes out of
/// place.
fn validate_input(policy: &Policy, state: &State, input: &Input) -> Result<(), Refusal> {
    let control = &state.control;
    match input {
        Input::Reply { call, report, .. } => {
            validate_reply(policy, state, pending_operation(control, *call)?, report)
        }
        Input::CallFailed { call, .. } => pending_operation(control, *call).map(|_| ()),
        // RollbackActive waits for undos and has a row for a step as well, for when none is left.
        Input::Step if control.pending_call().is_some() => Err(not_expected(state, input)),
        // While busy or halted nobody may speak, whoever it is.
        Input::SessionStart { .. } | Input::SessionEnd | Input::UserMessage { .. }
            if control.phase() != Phase::Idle =>
        {
            Err(not_expected(state, input))
        }
        Input::SessionStart { .. } => match control.session() {
            Some(user) => Err(Refusal::SessionAlreadyOpen { user: user.clone() }),
            None => Ok(()),
        },
        Input::SessionEnd => control.session().map(|_| ()).ok_or(Refusal::NoSession),
        Input::UserMessage { user, .. } => match control.session() {
            None => Err(Refusal::NoSession),
            Some(session) if session != user => {
                Err(Refusal::WrongUser { expected: session.clone(), found: user.clone() })
            }
            Some(_) => Ok(()),
        },
        Input::Write(write) if write.requires_session() && control.session().is_none() => {
            Err(Refusal::NoSession)
        }
        Input::Resume => control.request().map(|_| ()).ok_or(Refusal::NothingToResume),
        Input::Step | Input::Cancel | Input::Write(_) => Ok(()),
    }
}

/// The question of the call that is waited for, if it is this one.
fn pending_operation(control: &Control, came: CallId) -> Result<Operation, Refusal> {
    match control.pending_call() {
        Some(Call { id, operation: ask }) if id == came => Ok(ask),
        waiting => Err(Refusal::WrongCall { found: came, expected: waiting.map(|call| call.id) }),
    }
}

fn validate_reply(policy: &Policy, state: &State, ask: Operation, report: &Report) -> Result<(), Refusal> {
    let request = state.control.request();
    if !report.is_reply_to(ask) {
        return Err(Refusal::WrongReport { operation: ask, found: report.noun() });
    }
    if request.is_some_and(|request| request.over_budget) {
        return Err(Refusal::CallNotMade { operation: ask });
    }
    let outdated = request.is_some_and(|request| request.outdated);
    if let Report::Summary { forgets: Some(forgets), .. } = report
        && !outdated
    {
        compaction::validate_summary(policy, state, forgets)?;
    }
    validate_effects(request, report)
}

/// A started task keeps the kind of effect that it declared, or nobody could tell how to undo it.
fn validate_effects(request: Option<&Request>, report: &Report) -> Result<(), Refusal> {
    let (Some(request), Some(plan)) = (request, report.plan()) else { return Ok(()) };
    for started in &request.ledger {
        let changed = |task: &&Task| task.id == started.task && task.effect.kind() != started.effect;
        if let Some(task) = plan.tasks().iter().find(changed) {
            return Err(Refusal::EffectChanged {
                task: task.id,
                expected: started.effect,
                found: task.effect.kind(),
            });
        }
    }
    Ok(())
}

/// The events given so far, and the request as they leave it.
struct Batch<'a> {
    policy: &'a Policy,
    state: &'a State,
    /// A copy of the running request to which every event given so far was applied. It is small; reading it
    /// keeps one meaning of each event, that of `apply`.
    request: Option<Request>,
    events: Events,
    next_item: ItemId,
    next_call: CallId,
}

impl<'a> Batch<'a> {
    fn new(policy: &'a Policy, state: &'a State) -> Self {
        Self {
            policy,
            state,
            request: state.control.request().cloned(),
            // Room for a usual step.
            events: Vec::with_capacity(6),
            next_item: state.semantic.next_id(),
            next_call: state.control.next_call(),
        }
    }

    fn emit(&mut self, event: Event) {
        if let Event::UserMsg { request, text, .. } = &event {
            self.request = Some(Request::new(*request, text.clone()));
        }
        if let Event::AddItem { item, .. } = &event {
            self.next_item = item.id.next();
        }
        if let Some(request) = &mut self.request {
            request.apply(&event, self.state.control.pending_call());
            if let Event::Transitioned { row } = &event {
                request.enter(self.state.control.phase(), row.transition().to);
            }
        }
        self.events.push(event);
    }

    // ── the work of the state that is left ───────────────────────────────────────────────────────────

    fn run_exit_actions(&mut self, input: &Input, row: &Transition) {
        let step = matches!(input, Input::Step);
        match self.state.control.phase() {
            Phase::MultiPassCheck | Phase::CalculatingConsensus if step => self.score(),
            Phase::EloDuels if step => self.duel(input),
            Phase::ResolvingDecision if step => self.resolve(row),
            Phase::RepairScoring if step => {
                self.score();
                if row.when == Guard::RepairCleared {
                    self.resolve(row);
                }
            }
            Phase::RunningTasks if row.to == Phase::AssertingOutcomes => self.report_execution(),
            Phase::Auditing if row.to.is_quiescent() => self.emit_final_answer(input),
            _ => {}
        }
    }

    fn score(&mut self) {
        let Some(request) = &self.request else { return };
        let score = guard::score(self.policy, request);
        let revision = self.revision();
        self.emit(Event::ConsensusScored { revision, score });
    }

    fn duel(&mut self, input: &Input) {
        let Some(request) = &self.request else { return };
        // Nothing comes between the duels and the decision: what stops the plan there would stop it here.
        let stops = |guard: Guard| guard.is_satisfied(self.policy, self.state, input);
        let proceeds = !stops(Guard::Vetoed) && !stops(Guard::BelowProceed);
        let ratings = elo::update_ratings(self.policy, &request.ratings, &request.debate.latest, proceeds);
        self.emit(Event::RatingsUpdated { ratings });
    }

    fn resolve(&mut self, row: &Transition) {
        let Some(request) = &self.request else { return };
        let score = request.debate.scored.map(|scored| scored.score).unwrap_or_default();
        let rules = &self.policy.rules;
        let below_line = rules.below_threshold_label && score < self.policy.thresholds.redebate_below;
        let label = match row.when {
            Guard::Vetoed => DecisionLabel::Vetoed,
            Guard::BelowProceed => DecisionLabel::Rejected,
            _ if below_line => DecisionLabel::ProceedBelowThreshold,
            _ => DecisionLabel::ConsensusReached,
        };
        let objection = request.objection().filter(|_| rules.named_objections);
        let revision = self.revision();
        self.emit(Event::Decided { decision: Decision { revision, label, score, objection } });
    }

    fn report_execution(&mut self) {
        let Some(Request { plan: Some(plan), outcomes, .. }) = &self.request else { return };
        let ends = outcomes.iter().copied().chain(core::iter::repeat(TaskOutcome::NotRun));
        let tasks = plan.plan.tasks().iter().zip(ends);
        let tasks = tasks.map(|(task, ended)| TaskResult { task: task.id, outcome: ended }).collect();
        let revision = plan.revision;
        self.emit(Event::ExecutionReported { revision, tasks });
    }

    // ── what the state that is entered needs to know ─────────────────────────────────────────────────

    fn run_entry_actions(&mut self, row: &Transition) {
        if row.ignores_cancel() {
            return;
        }
        match row.to {
            Phase::VerifyingIdentity => self.emit_call(Operation::VerifyIdentity),
            Phase::Compacting => self.emit_call(Operation::Summarize),
            Phase::LoadingContext => self.emit_call(Operation::LoadContext),
            Phase::Classifying => self.emit_call(Operation::Classify),
            Phase::Planning => self.emit_call(Operation::DraftPlan),
            Phase::Round(role) => self.emit_call(Operation::Argue(role)),
            Phase::PlanReview | Phase::RepairReview => self.emit_call(Operation::ReviewRevision),
            Phase::PlanApproval | Phase::RepairApproval => self.emit_call(Operation::Approve),
            Phase::RunningTasks => self.run(),
            Phase::SelfHealingActive => {
                if matches!(self.policy.bounds.repairs, Bound::AtMost(_)) {
                    self.emit(Event::RepairStarted);
                }
                self.emit_call(Operation::Diagnose);
            }
            Phase::RollbackActive => {
                if let Some(task) = self.request.as_ref().and_then(Request::next_undo) {
                    self.emit_call(Operation::UndoTask { task });
                }
            }
            Phase::StoringMemory => self.emit_memory_record(),
            Phase::Auditing => self.emit_audit_record(),
            _ => {}
        }
    }

    fn run(&mut self) {
        let Some(task) = self.request.as_ref().and_then(Request::current_task) else { return };
        let (task, effect) = (task.id, task.effect.kind());
        self.set_subtask_status(task, SubtaskStatus::InProgress);
        self.emit_call(Operation::RunTask { task, effect });
    }

    fn emit_call(&mut self, ask: Operation) {
        let call = self.next_call;
        self.next_call = call.next();
        self.emit(Event::ToolCall { call, operation: ask });
        let mut known = self.state.semantic.clone();
        self.events.iter().for_each(|event| known.apply(event));
        let (user, request) = (self.state.control.session(), self.request.as_ref());
        if let Err(BudgetError { required_tokens: needs, budget_tokens: budget }) =
            pinned_fit(self.policy, &known, user, request, ask)
        {
            self.emit(Event::OverBudget { call, required_tokens: needs, budget_tokens: budget });
        }
    }

    fn revision(&self) -> Revision {
        self.request
            .as_ref()
            .and_then(|request| request.plan.as_ref())
            .map_or(Revision::FIRST, |plan| plan.revision)
    }
}
