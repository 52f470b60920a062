//! Lists of events, of which the enumerations of control fold their states. A list is well-typed, and need not be one of a run.

use super::shapes::{fact, id, record, superseded, user};
use crate::product::initial_state;
use orchestrion_kernel::control::table::{TRANSITIONS, TransitionId};
use orchestrion_kernel::event::{Conclusion, Decision, DecisionLabel};
use orchestrion_kernel::ids::{Revision, TaskId, TraceId};
use orchestrion_kernel::item::{FactRecord, Item, ItemKey, ItemKind, Layer, Scope, SubtaskStatus, Validity};
use orchestrion_kernel::module::{
    Argument, ConclusionKind, Failure, Operation, Ratings, Report, Role, Stance,
};
use orchestrion_kernel::plan::{Effect, EffectKind, Plan, Task};
use orchestrion_kernel::{Event, Phase, Policy, RequestId, Score, State, Text};

/// The events so far, and the state after them.
#[derive(Clone)]
pub(super) struct Log {
    state: State,
    events: Vec<Event>,
}

/// Each list with each of these alternatives.
pub(super) fn each<A>(logs: Vec<Log>, alternatives: &[A], change: impl Fn(&mut Log, &A)) -> Vec<Log> {
    let mut changed = Vec::with_capacity(logs.len() * alternatives.len());
    for log in logs {
        for alternative in alternatives {
            let mut log = log.clone();
            change(&mut log, alternative);
            changed.push(log);
        }
    }
    changed
}

/// Each list as it is, and with this change.
pub(super) fn optional(logs: Vec<Log>, change: impl Fn(&mut Log)) -> Vec<Log> {
    each(logs, &[false, true], |log, is_changed| {
        if *is_changed {
            change(log);
        }
    })
}

/// Security's latest argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Review {
    Missing,
    For,
    Objection,
    Veto,
}

impl Review {
    pub(super) const ALL: [Self; 4] = [Self::Missing, Self::For, Self::Objection, Self::Veto];

    pub(super) fn argument(self, policy: &Policy) -> Option<Argument> {
        match self {
            Self::Missing => None,
            Self::For => Some(pro()),
            Self::Objection => Some(con(policy.thresholds.objection_from)),
            Self::Veto => Some(con(policy.thresholds.veto_from)),
        }
    }
}

/// How a task of the latest run ended; `Running` if it did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskEnd {
    Running,
    Exit(i32),
    Failure(Failure),
}

pub(super) const fn pro() -> Argument {
    Argument { stance: Stance::Pro, confidence: Score::ONE }
}

pub(super) const fn con(confidence: Score) -> Argument {
    Argument { stance: Stance::Con, confidence }
}

/// A consensus below the proceed threshold, at it, and at the re-debate threshold.
pub(super) fn scores(policy: &Policy) -> [Score; 3] {
    [Score::ZERO, policy.thresholds.proceed_from, policy.thresholds.redebate_below]
}

/// A plan of tasks with these effects. Each task depends on those that are named, or else on the one before it.
pub(super) fn plan(tasks: &[(EffectKind, Option<&[u32]>)]) -> Plan {
    let tasks = (1..).zip(tasks).map(|(number, (effect, depends_on))| Task {
        id: TaskId::new(number),
        text: "task".into(),
        effect: match effect {
            EffectKind::Pure => Effect::Pure,
            EffectKind::Undoable => Effect::Undoable { compensation: "undo".into() },
            EffectKind::Irreversible => Effect::Irreversible,
        },
        depends_on: depends_on.map(|tasks| tasks.iter().copied().map(TaskId::new).collect()),
        scope: None,
        step: Default::default(),
    });
    Plan::new(tasks.collect()).unwrap_or_else(|error| unreachable!("{error}"))
}

impl Log {
    /// A session with a fact, and a request whose identity guard replied that the locks match, that one does not, or not yet.
    pub(super) fn request(locks: Option<bool>) -> Self {
        let mut log = Self { state: initial_state(), events: Vec::new() };
        let (item, deps) = (fact(id(1), "a", "0", record()).item, Vec::new());
        log.emit(Event::SessionStarted { user: user() });
        log.emit(Event::AddItem { item, deps });
        let (request, text) = (RequestId::FIRST, Text::from("message"));
        log.emit(Event::UserMsg { request, user: user(), text: text.clone(), scope: Scope::Global });
        log.enter(Phase::VerifyingIdentity);
        if let Some(mongodb) = locks {
            log.reply(Operation::VerifyIdentity, Report::Identity { gcp: true, mongodb });
        }
        if locks == Some(true) {
            log.upsert(ItemKind::Fact, ItemKey::Request(request), text, &[]);
        }
        log
    }

    /// A verified request with this plan and these ratings.
    pub(super) fn planned(ratings: Ratings, plan: &Plan) -> Self {
        let mut log = Self::request(Some(true));
        log.enter(Phase::Planning);
        log.load(ratings);
        log.adopt(plan);
        log
    }

    pub(super) fn load(&mut self, ratings: Ratings) {
        self.reply(Operation::LoadContext, Report::Context { ratings, traces: Vec::new() });
    }

    /// The kind of the conclusion; aborted without one.
    pub(super) fn kind(&self) -> ConclusionKind {
        let request = self.state.control().request();
        request.and_then(|request| request.conclusion).map_or(ConclusionKind::Aborted, |ending| ending.kind)
    }

    /// The text of the answer: the output of a request that succeeded, or the conclusion.
    pub(super) fn answer(&self) -> Text {
        let conclusion = self.state.control().request().and_then(|request| request.conclusion);
        conclusion.map_or_else(
            || "".into(),
            |Conclusion { kind, cause }| match kind {
                ConclusionKind::Outcome => "output".into(),
                ConclusionKind::Blocked | ConclusionKind::RolledBack | ConclusionKind::Aborted => {
                    format!("{kind}: {cause}").into()
                }
            },
        )
    }

    /// The trace id of the request.
    pub(super) fn trace(&self) -> TraceId {
        self.state.control().trace_id(RequestId::FIRST)
    }

    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.state.apply(&event);
        self.events.push(event);
    }

    /// Takes some transition into a phase.
    pub(super) fn enter(&mut self, phase: Phase) {
        let row = TRANSITIONS.iter().find(|row| row.to == phase);
        row.into_iter()
            .for_each(|row| self.emit(Event::Transitioned { row: TransitionId::from_transition(row) }));
    }

    /// Starts a repair.
    pub(super) fn repair(&mut self) {
        self.enter(Phase::SelfHealingActive);
        self.emit(Event::RepairStarted);
    }

    /// Enters rounds until the debate is in this pass, from 1.
    pub(super) fn enter_pass(&mut self, pass: u32) {
        self.enter(Phase::Round(Role::Analyst));
        for _ in 1..pass {
            self.enter(Phase::MultiPassCheck);
            self.enter(Phase::Round(Role::Solution));
        }
    }

    pub(super) fn call(&mut self, operation: Operation) {
        let call = self.state.control().next_call();
        self.emit(Event::ToolCall { call, operation });
    }

    pub(super) fn reply(&mut self, operation: Operation, report: Report) {
        let call = self.state.control().next_call();
        self.emit(Event::ToolCall { call, operation });
        self.emit(Event::ToolResult { module: operation.module(), call, report });
    }

    pub(super) fn fail(&mut self, operation: Operation, failure: Failure) {
        let call = self.state.control().next_call();
        self.emit(Event::ToolCall { call, operation });
        self.emit(Event::CallFailed { module: operation.module(), call, failure });
    }

    /// A role argues about the current revision.
    pub(super) fn argue(&mut self, policy: &Policy, role: Role, argument: Argument) {
        self.reply(
            Operation::Argue(role),
            Report::Argument { argument, text: "argument".into(), plan: None },
        );
        self.upsert(ItemKind::Fact, ItemKey::Argument(RequestId::FIRST, role), "argument".into(), &[]);
        if role == Role::Security && argument.is_objection_at_least(policy.thresholds.veto_from) {
            self.emit(Event::VetoRaised { revision: self.revision() });
        }
    }

    /// The additional debater at this position argues about the current revision.
    pub(super) fn argue_additional(&mut self, policy: &Policy, debater: u32, argument: Argument) {
        let operation = Operation::ArgueAdditional { debater };
        self.reply(operation, Report::Argument { argument, text: "argument".into(), plan: None });
        if let Some(name) = policy.debater_name(operation) {
            let key = ItemKey::AdditionalArgument(RequestId::FIRST, name.clone());
            self.upsert(ItemKind::Fact, key, "argument".into(), &[]);
        }
    }

    /// Every role, then every additional debater, argues for the plan in its round.
    pub(super) fn agree(&mut self, policy: &Policy) {
        for role in Role::ALL {
            self.enter(Phase::Round(role));
            self.argue(policy, role, pro());
        }
        self.agree_additional(policy);
    }

    /// Every additional debater argues for the plan in its round.
    pub(super) fn agree_additional(&mut self, policy: &Policy) {
        for (debater, _) in (0..).zip(&policy.additional_debaters) {
            self.enter(Phase::AdditionalRounds);
            self.argue_additional(policy, debater, pro());
        }
    }

    /// The plan becomes the next revision.
    pub(super) fn adopt(&mut self, plan: &Plan) {
        let planned = self.state.control().request().and_then(|request| request.plan.as_ref());
        let revision = planned.map_or(Revision::FIRST, |plan| plan.revision.next());
        self.emit(Event::PlanAdopted { revision, plan: plan.clone() });
        for task in plan.tasks() {
            self.set_status(task.id, SubtaskStatus::Unassigned);
        }
    }

    pub(super) fn score(&mut self, score: Score) {
        self.emit(Event::ConsensusScored { revision: self.revision(), score });
    }

    /// The current revision is decided on, with the latest score and objection.
    pub(super) fn decide(&mut self, label: DecisionLabel) {
        let Some(request) = self.state.control().request() else { return };
        let score = request.debate.scored.map(|scored| scored.score).unwrap_or_default();
        let decision = Decision { revision: self.revision(), label, score, objection: request.objection() };
        self.emit(Event::Decided { decision });
    }

    /// The fact of the session is superseded.
    pub(super) fn outdate(&mut self) {
        let mut old = fact(id(1), "a", "0", record()).item;
        let new = self.state.semantic().next_id();
        old.validity = superseded(new);
        let next = fact(new, "a", "1", FactRecord { supersedes: Some(id(1)), ..record() }).item;
        self.emit(Event::AddItem { item: next, deps: Vec::new() });
        self.emit(Event::UpdateItem { item: old, deps: Vec::new() });
    }

    /// A task of the plan runs, and ends so.
    pub(super) fn run(&mut self, task: TaskId, end: TaskEnd) {
        let planned = self.state.control().request().and_then(|request| request.plan.as_ref());
        let effect = planned.and_then(|planned| planned.plan.task(task)).map(|task| task.effect.kind());
        let operation = Operation::RunTask { task, effect: effect.unwrap_or(EffectKind::Pure) };
        match end {
            TaskEnd::Running => {
                self.set_status(task, SubtaskStatus::InProgress);
                self.call(operation);
            }
            TaskEnd::Exit(code) => {
                self.reply(operation, Report::Exit { code, text: "output".into(), number: None });
                self.set_status(task, if code == 0 { SubtaskStatus::Done } else { SubtaskStatus::Failed });
                let key = ItemKey::Task(RequestId::FIRST, task);
                let planned = self.state.semantic().latest_by_key(&key).map(|entry| entry.item.id);
                let output = ItemKey::Output(RequestId::FIRST, task);
                self.upsert(ItemKind::Fact, output, "output".into(), planned.as_slice());
            }
            TaskEnd::Failure(failure) => {
                self.fail(operation, failure);
                self.set_status(task, SubtaskStatus::Failed);
            }
        }
    }

    /// A compensation ends.
    pub(super) fn undo(&mut self, task: TaskId, code: i32) {
        self.reply(Operation::UndoTask { task }, Report::Exit { code, text: "".into(), number: None });
        if code == 0 {
            self.set_status(task, SubtaskStatus::Failed);
        }
    }

    fn revision(&self) -> Revision {
        let planned = self.state.control().request().and_then(|request| request.plan.as_ref());
        planned.map_or(Revision::FIRST, |plan| plan.revision)
    }

    fn set_status(&mut self, task: TaskId, status: SubtaskStatus) {
        let request = self.state.semantic().request(RequestId::FIRST);
        let key = ItemKey::Task(RequestId::FIRST, task);
        self.upsert(ItemKind::Subtask(status), key, "task".into(), request.as_slice());
    }

    fn upsert(&mut self, kind: ItemKind, key: ItemKey, text: Text, deps: &[orchestrion_kernel::ItemId]) {
        let stored = self.state.semantic().latest_by_key(&key).map(|entry| entry.item.id);
        let layer = Layer::Request { user: user(), scope: Scope::Global };
        let item_id = stored.unwrap_or_else(|| self.state.semantic().next_id());
        let item = Item { id: item_id, kind, key, text, layer, validity: Validity::Current };
        let deps = deps.to_vec();
        self.emit(match stored {
            Some(_) => Event::UpdateItem { item, deps },
            None => Event::AddItem { item, deps },
        });
    }
}
