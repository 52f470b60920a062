//! `decide`: what an input means (000 §4.4, `step_base`).
//!
//! It looks up the row of the transition table, says what came, does the work of the state that is left,
//! moves, and asks what the state that is entered needs to know. It reads only; the events it gives are one
//! atomic batch, and `State::apply` writes them. Same policy, state and input: same events.

use crate::control::phase::Phase;
use crate::control::table::{Transition, rows_for};
use crate::control::{consensus, elo};
use crate::event::{
    AuditRecord, Cause, Decision, Ending, Event, Events, ForgetCause, Holding, Holdings, Label, MemoryRecord,
    TaskEnd, TaskOutcome, TaskRecord,
};
use crate::ids::{CallId, ItemId, Revision, TaskId, Text};
use crate::input::{Input, Trigger};
use crate::item::{Item, Key, Status, Variant};
use crate::module::{Ask, Kind, PastTrace, Report, Role, Store};
use crate::plan::{Effect, Plan, Task};
use crate::policy::{Bound, Policy};
use crate::refusal::Refusal;
use crate::state::{Call, Request, Started, State};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// What this input means in this state under this policy.
///
/// # Errors
/// A [`Refusal`] if the input is not expected; nothing is to change then.
pub fn decide(policy: &Policy, state: &State, input: &Input) -> Result<Events, Refusal> {
    admit(state, input)?;
    let control = &state.control;
    let (name, row) = rows_for(policy, control.phase(), input.trigger())
        .find(|(_, row)| row.when.holds(policy, control, input))
        .ok_or_else(|| not_expected(state, input))?;
    let mut batch = Batch::new(policy, state);
    batch.record(input, row);
    batch.work(input, row);
    batch.conclude(input, row);
    batch.push(Event::Moved { row: name });
    batch.enter(input, row);
    Ok(batch.events)
}

fn not_expected(state: &State, input: &Input) -> Refusal {
    let control = &state.control;
    Refusal::NotExpected {
        phase: control.phase(),
        came: input.trigger(),
        waiting: control.waiting().map(|call| call.ask),
    }
}

/// Refuses what does not fit whatever the table says: wrong calls, wrong reports, wrong users.
fn admit(state: &State, input: &Input) -> Result<(), Refusal> {
    let control = &state.control;
    match (input, control.session()) {
        (Input::Reply { call, .. } | Input::CallFailed { call, .. }, _) => match control.waiting() {
            Some(Call { id, ask }) if id == *call => match input {
                Input::Reply { report, .. } if !report.answers(ask) => {
                    Err(Refusal::WrongReport { ask, came: report.noun() })
                }
                Input::Reply { report, .. } => same_effects(control.request(), report),
                _ => Ok(()),
            },
            waiting => Err(Refusal::WrongCall { came: *call, waiting: waiting.map(|call| call.id) }),
        },
        (Input::Step, _) if control.waiting().is_some() => Err(not_expected(state, input)),
        // While busy or halted the table refuses these, whoever speaks.
        (Input::SessionStart { .. } | Input::SessionEnd | Input::UserMessage { .. }, _)
            if control.phase() != Phase::Idle =>
        {
            Err(not_expected(state, input))
        }
        (Input::SessionStart { .. }, Some(user)) => Err(Refusal::SessionOpen { user: user.clone() }),
        (Input::SessionEnd | Input::UserMessage { .. }, None) => Err(Refusal::NoSession),
        (Input::UserMessage { user, .. }, Some(session)) if user != session => {
            Err(Refusal::WrongUser { session: session.clone(), came: user.clone() })
        }
        _ => Ok(()),
    }
}

/// A started task keeps the kind of effect that it declared, or nobody could tell how to undo it.
fn same_effects(request: Option<&Request>, report: &Report) -> Result<(), Refusal> {
    let (Some(request), Some(plan)) = (request, report.plan()) else { return Ok(()) };
    for started in &request.ledger {
        let changed = |task: &&Task| task.id == started.task && task.effect.kind() != started.effect;
        if let Some(task) = plan.tasks().iter().find(changed) {
            return Err(Refusal::EffectChanged {
                task: task.id,
                started: started.effect,
                came: task.effect.kind(),
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
            events: Vec::with_capacity(8),
            next_item: state.semantic.next_id(),
            next_call: state.control.next_call(),
        }
    }

    fn push(&mut self, event: Event) {
        if let Event::UserMsg { request, text, .. } = &event {
            self.request = Some(Request::new(*request, text.clone()));
        }
        if let Some(request) = &mut self.request {
            request.apply(&event, self.state.control.waiting());
            if let Event::Moved { row } = &event {
                request.enter(self.state.control.phase(), row.row().to);
            }
        }
        self.events.push(event);
    }

    // ── what came ────────────────────────────────────────────────────────────────────────────────────

    fn record(&mut self, input: &Input, row: &Transition) {
        match input {
            Input::SessionStart { user } => self.push(Event::SessionStarted { user: user.clone() }),
            Input::SessionEnd => {
                let ids = self.state.semantic.working_set();
                if !ids.is_empty() {
                    self.push(Event::ForgetItems { ids, cause: ForgetCause::SessionEnd });
                }
                self.push(Event::SessionEnded);
            }
            Input::UserMessage { user, text } => {
                let request = self.state.control.next_request();
                self.push(Event::UserMsg { request, user: user.clone(), text: text.clone() });
            }
            Input::Reply { call, report } => {
                let Some(Call { ask, .. }) = self.state.control.waiting() else { return };
                self.push(Event::ToolResult { module: ask.module(), call: *call, report: report.clone() });
                self.learn(ask, report);
            }
            Input::CallFailed { call, failure } => {
                let Some(Call { ask, .. }) = self.state.control.waiting() else { return };
                self.push(Event::CallFailed { module: ask.module(), call: *call, failure: *failure });
                self.task_stopped();
            }
            Input::Cancel if too_late(row) => {}
            Input::Cancel => {
                self.push(Event::Cancelled);
                self.task_stopped();
            }
            Input::Step => {}
        }
    }

    /// What a report adds to what is known.
    fn learn(&mut self, ask: Ask, report: &Report) {
        let Some(Request { id: request, verified, text, .. }) = self.request.clone() else { return };
        match report {
            // Nothing that an unverified user says is known.
            Report::Identity { .. } if verified => {
                self.know(Variant::Fact, Key::Request(request), text, vec![]);
            }
            Report::Context { traces, .. } => self.restore(traces),
            Report::Classification { tags, similarity } => {
                let tags = tags.iter().map(Text::as_str).collect::<Vec<_>>().join(", ");
                let text = format!("tags: {tags}; nearest past request: {similarity}");
                self.know_of_request(Key::Tags(request), text.into());
            }
            Report::Plan(plan) => self.adopt(plan),
            Report::Argument { argument, text, plan } => {
                let Some(role) = ask.arguing() else { return };
                self.know_of_request(Key::Argument(request, role), text.clone());
                if role == Role::Security && argument.objects_from(self.policy.thresholds.veto_from) {
                    let revision = self.revision();
                    self.push(Event::VetoRaised { revision });
                }
                if let Some(plan) = plan {
                    self.adopt(plan);
                }
            }
            Report::Repaired { text, plan } => {
                self.know_of_request(Key::Diagnosis(request), text.clone());
                self.adopt(plan);
            }
            Report::NoRepair { text } => self.know_of_request(Key::Diagnosis(request), text.clone()),
            Report::Exit { code, text } => match ask {
                Ask::RunTask { task, .. } => {
                    self.mark(task, if *code == 0 { Status::Done } else { Status::Failed });
                    let deps = self.state.semantic.find(&Key::Task(request, task));
                    let deps = deps.map(|entry| entry.item.id).into_iter().collect();
                    self.know(Variant::Fact, Key::Output(request, task), text.clone(), deps);
                }
                Ask::UndoTask { task } if *code == 0 => self.mark(task, Status::Failed),
                _ => {}
            },
            Report::Identity { .. } | Report::Stored { .. } | Report::Delivered => {}
        }
    }

    /// Past traces become facts of the session; one that is known already is not told twice.
    fn restore(&mut self, traces: &[PastTrace]) {
        let mut told = alloc::collections::BTreeSet::new();
        for PastTrace { trace, text } in traces {
            if told.insert(trace) {
                self.know(Variant::Fact, Key::Trace(trace.clone()), text.clone(), vec![]);
            }
        }
    }

    /// A plan becomes the plan of the request, and its tasks become subtasks, each resting on the one before.
    fn adopt(&mut self, plan: &Plan) {
        let Some(request) = &self.request else { return };
        let id = request.id;
        let revision = request.plan.as_ref().map_or(Revision::FIRST, |plan| plan.revision.next());
        self.push(Event::PlanAdopted { revision, plan: plan.clone() });
        let mut before = self.state.semantic.request(id);
        for task in plan.tasks() {
            let mut deps: Vec<ItemId> = self.state.semantic.request(id).into_iter().chain(before).collect();
            deps.sort_unstable();
            deps.dedup();
            let variant = Variant::Subtask(Status::Unassigned);
            before = Some(self.know(variant, Key::Task(id, task.id), described(task), deps));
        }
    }

    /// A running task will give no result any more.
    fn task_stopped(&mut self) {
        if let Some(Call { ask: Ask::RunTask { task, .. }, .. }) = self.state.control.waiting() {
            self.mark(task, Status::Failed);
        }
    }

    fn mark(&mut self, task: TaskId, status: Status) {
        let Some(request) = &self.request else { return };
        let key = Key::Task(request.id, task);
        // A task that was planned in this very batch is not in the state yet; its item is in the events.
        let planned = self.events.iter().rev().find_map(|event| match event {
            Event::AddItem { item, deps } | Event::UpdateItem { item, deps } if item.key == key => {
                Some((item.clone(), deps.clone()))
            }
            _ => None,
        });
        let known = || self.state.semantic.find(&key).map(|entry| (entry.item.clone(), entry.deps.clone()));
        if let Some((item, deps)) = planned.or_else(known) {
            let item = Item { variant: Variant::Subtask(status), ..item };
            self.push(Event::UpdateItem { item, deps });
        }
    }

    fn know_of_request(&mut self, key: Key, text: Text) {
        let request = self.request.as_ref().and_then(|request| self.state.semantic.request(request.id));
        self.know(Variant::Fact, key, text, request.into_iter().collect());
    }

    /// Adds an item, or updates the one of the same key if it says something else. Gives its id.
    fn know(&mut self, variant: Variant, key: Key, text: Text, deps: Vec<ItemId>) -> ItemId {
        if let Some(entry) = self.state.semantic.find(&key) {
            let item = Item { id: entry.item.id, variant, key, text };
            let id = item.id;
            if entry.item != item || entry.deps != deps {
                self.push(Event::UpdateItem { item, deps });
            }
            return id;
        }
        let id = self.next_item;
        self.next_item = id.next();
        self.push(Event::AddItem { item: Item { id, variant, key, text }, deps });
        id
    }

    // ── the work of the state that is left ───────────────────────────────────────────────────────────

    fn work(&mut self, input: &Input, row: &Transition) {
        let step = matches!(input, Input::Step);
        match self.state.control.phase() {
            Phase::MultiPassCheck | Phase::CalculatingConsensus if step => self.score(),
            Phase::EloDuels if step => self.duel(),
            Phase::ResolvingDecision if step => self.resolve(row),
            Phase::RepairScoring if step => {
                self.score();
                if row.to == Phase::RunningTasks {
                    self.resolve(row);
                }
            }
            Phase::RunningTasks if row.to == Phase::AssertingOutcomes => self.report_execution(),
            Phase::Auditing if row.to.is_rest() => self.answer(input),
            _ => {}
        }
    }

    fn score(&mut self) {
        let Some(request) = &self.request else { return };
        let score = consensus::of_debate(self.policy, &request.ratings, &request.debate.latest);
        let revision = self.revision();
        self.push(Event::ConsensusScored { revision, score });
    }

    fn duel(&mut self) {
        let Some(request) = &self.request else { return };
        let latest = &request.debate.latest;
        let arguments =
            Role::ALL.into_iter().filter_map(|role| latest.get(role).map(|argument| (role, argument)));
        let ratings = elo::incremental(&self.policy.thresholds, &request.ratings, arguments);
        self.push(Event::RatingsUpdated { ratings });
    }

    fn resolve(&mut self, row: &Transition) {
        use crate::control::guard::Guard;
        let Some(request) = &self.request else { return };
        let score = request.debate.scored.map(|scored| scored.score).unwrap_or_default();
        let rules = &self.policy.rules;
        let below_line = rules.below_line_label && score < self.policy.thresholds.redebate_below;
        let label = match row.when {
            Guard::Vetoed => Label::Vetoed,
            Guard::BelowProceed => Label::Rejected,
            _ if below_line => Label::ProceedBelowLine,
            _ => Label::ConsensusReached,
        };
        let objection = request.objection().filter(|_| rules.named_objections);
        let revision = self.revision();
        self.push(Event::Decided { decision: Decision { revision, label, score, objection } });
    }

    fn report_execution(&mut self) {
        let Some(Request { plan: Some(plan), outcomes, .. }) = &self.request else { return };
        let ends = outcomes.iter().copied().chain(core::iter::repeat(TaskEnd::NotRun));
        let tasks = plan.plan.tasks().iter().zip(ends);
        let tasks = tasks.map(|(task, ended)| TaskOutcome { task: task.id, ended }).collect();
        let revision = plan.revision;
        self.push(Event::ExecutionReported { revision, tasks });
    }

    fn answer(&mut self, input: &Input) {
        if matches!(input, Input::CallFailed { .. }) {
            self.push(Event::AuditUndelivered);
        }
        let Some(request) = &self.request else { return };
        let (id, verified, text) = (request.id, request.verified, self.results(request));
        self.push(Event::FinalAnswer { trace: self.state.control.trace(id), text: text.clone() });
        if verified {
            self.know_of_request(Key::Answer(id), text);
        }
    }

    /// What the user reads: the outputs of the tasks, or why there are none.
    fn results(&self, request: &Request) -> Text {
        let ending = settled(request);
        let outputs = self.state.semantic.outputs(request.id).map(|output| output.text.as_str());
        let outputs: Vec<&str> = outputs.filter(|text| !text.is_empty()).collect();
        if ending.kind == Kind::Outcome && !outputs.is_empty() {
            return outputs.join("\n").into();
        }
        format!("{}: {}", ending.kind, ending.cause).into()
    }

    // ── how the request will end ─────────────────────────────────────────────────────────────────────

    fn conclude(&mut self, input: &Input, row: &Transition) {
        if let Some(ending) = self.ending(input, row) {
            self.push(Event::Concluded { ending });
        }
    }

    fn ending(&self, input: &Input, row: &Transition) -> Option<Ending> {
        use crate::control::guard::Guard;
        let from = self.state.control.phase();
        let unanswered = match (input, self.state.control.waiting()) {
            (Input::CallFailed { failure, .. }, Some(call)) => {
                Some(Cause::NoAnswer(call.ask.module(), *failure))
            }
            _ => None,
        };
        let cancelled = (input.trigger() == Trigger::Cancel).then_some(Cause::Cancelled);
        let given = cancelled.or(unanswered);
        let (kind, cause) = match (from, row.to) {
            _ if too_late(row) => return None,
            // What was settled stays: a blocked plan stays blocked, a rollback goes on.
            (Phase::Blocked | Phase::RollbackActive, _) => return None,
            (_, Phase::Success) => (Kind::Outcome, Cause::Completed),
            (_, Phase::Blocked) => match row.when {
                Guard::Vetoed => (Kind::Blocked, Cause::Vetoed),
                _ => (Kind::Blocked, given.unwrap_or(Cause::Rejected)),
            },
            (_, Phase::RollbackActive) => (
                Kind::RolledBack,
                given.unwrap_or(match from {
                    Phase::Failure => Cause::RepairsSpent,
                    Phase::RepairScoring => Cause::RepairRejected,
                    _ => Cause::NoRepair,
                }),
            ),
            (Phase::VerifyingIdentity, Phase::Auditing | Phase::Aborted) => {
                (Kind::Aborted, given.unwrap_or(Cause::IdentityMismatch))
            }
            (from, Phase::StoringMemory) if from != Phase::StoringMemory => (Kind::Aborted, given?),
            _ => return None,
        };
        Some(Ending { kind, cause })
    }

    // ── what the state that is entered needs to know ─────────────────────────────────────────────────

    fn enter(&mut self, input: &Input, row: &Transition) {
        if input.trigger() == Trigger::Cancel && too_late(row) {
            return;
        }
        match row.to {
            Phase::VerifyingIdentity => self.call(Ask::VerifyIdentity),
            Phase::LoadingContext => self.call(Ask::LoadContext),
            Phase::Classifying => self.call(Ask::Classify),
            Phase::Planning => self.call(Ask::DraftPlan),
            Phase::Round(role) => self.call(Ask::Argue(role)),
            Phase::PlanReread | Phase::RepairReread => self.call(Ask::Reread),
            Phase::RunningTasks => self.run(),
            Phase::SelfHealingActive => {
                if matches!(self.policy.bounds.repairs, Bound::AtMost(_)) {
                    self.push(Event::RepairStarted);
                }
                self.call(Ask::Diagnose);
            }
            Phase::RollbackActive => {
                if let Some(task) = self.request.as_ref().and_then(Request::next_undo) {
                    self.call(Ask::UndoTask { task });
                }
            }
            Phase::StoringMemory => self.remember(),
            Phase::Auditing => self.audit(),
            _ => {}
        }
    }

    fn run(&mut self) {
        let Some(task) = self.request.as_ref().and_then(Request::current_task) else { return };
        let (task, effect) = (task.id, task.effect.kind());
        self.mark(task, Status::InProgress);
        self.call(Ask::RunTask { task, effect });
    }

    fn remember(&mut self) {
        let Some(request) = &self.request else { return };
        let kind = if self.policy.rules.typed_kinds { settled(request).kind } else { Kind::Outcome };
        if self.state.control.phase() == Phase::StoringMemory {
            return self.call(Ask::Remember { store: Store::Cloud, kind });
        }
        let ratings = request.ratings_after.filter(|_| !request.decisions.is_empty());
        let text = self.results(request);
        let record = MemoryRecord { trace: self.state.control.trace(request.id), kind, text, ratings };
        self.push(Event::Memorized { record });
        self.call(Ask::Remember { store: Store::Local, kind });
    }

    fn audit(&mut self) {
        let (Some(request), Some(user)) = (&self.request, self.state.control.session()) else { return };
        let from = self.state.control.phase();
        if from != Phase::Auditing {
            let rules = &self.policy.rules;
            // As drawn, whatever was handed to the stores is taken to be there, and nobody asks what tasks did.
            let presumed = rules.recorded_stores || from != Phase::StoringMemory;
            let untold = |record: TaskRecord| TaskRecord { effect: None, ..record };
            let tasks = request.ledger.iter().map(Started::record);
            let record = AuditRecord {
                trace: self.state.control.trace(request.id),
                user: user.clone(),
                ending: settled(request),
                decisions: request.decisions.clone(),
                stores: if presumed {
                    request.holdings
                } else {
                    Holdings { local: Holding::Held, cloud: Holding::Held }
                },
                tasks: if rules.effects_ledger { tasks.collect() } else { tasks.map(untold).collect() },
            };
            self.push(Event::Audited { record });
        }
        self.call(Ask::DeliverAudit);
    }

    fn call(&mut self, ask: Ask) {
        let call = self.next_call;
        self.next_call = call.next();
        self.push(Event::ToolCall { call, ask });
    }

    fn revision(&self) -> Revision {
        self.request
            .as_ref()
            .and_then(|request| request.plan.as_ref())
            .map_or(Revision::FIRST, |plan| plan.revision)
    }
}

/// A task in words, with what would take its effect back: whoever is to undo it reads this.
fn described(task: &Task) -> Text {
    match &task.effect {
        Effect::Pure => task.text.clone(),
        Effect::Undoable { compensation } => format!("{} [to undo: {compensation}]", task.text).into(),
        Effect::Irreversible => format!("{} [irreversible]", task.text).into(),
    }
}

/// Whether a row leaves control where it is although the user cancelled: the request is past being stopped.
fn too_late(row: &Transition) -> bool {
    row.on == Trigger::Cancel && row.from == crate::control::table::Source::At(row.to)
}

/// As what and why the request ends. It is settled before anything is stored or audited.
fn settled(request: &Request) -> Ending {
    request.ending.unwrap_or(Ending { kind: Kind::Aborted, cause: Cause::Cancelled })
}
