//! What is remembered of the running request, and how each event changes it.

use super::Call;
use crate::control::phase::Phase;
use crate::event::{
    Conclusion, Decision, EffectOutcome, Event, StoreStatus, StoreStatuses, TaskOutcome, TaskRecord,
};
use crate::ids::{RequestId, Revision, TaskId, Text};
use crate::module::{Argument, Failure, Operation, PerRole, Ratings, Report, Role, Store};
use crate::plan::{EffectKind, Plan, Task};
use crate::score::Score;
use crate::situation::{ActionRecord, HISTORY_ACTIONS};
use alloc::vec::Vec;

/// What is remembered of the running request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Request {
    /// Its number.
    pub id: RequestId,
    /// Both identity locks matched.
    pub verified: bool,
    /// Something became known, or else, since the summarizer was asked: its answer is out of date.
    pub outdated: bool,
    /// What the module that is asked must be shown does not fit its budget: it is not asked, and cannot answer.
    pub over_budget: bool,
    /// The ratings with which it is judged; constant from LoadingContext on.
    pub ratings: Ratings,
    /// The ratings after the duels, to be written at the store.
    pub ratings_after: Option<Ratings>,
    /// The plan, once there is one.
    pub plan: Option<PlanRevision>,
    /// The debate.
    pub debate: Debate,
    /// What the user asked for. It enters the semantic state once the identity is verified, and is not read later.
    pub text: Text,
    /// The different decisions taken so far, each with the latest revision that it was taken on.
    pub decisions: Vec<Decision>,
    /// The run of the plan: how its tasks ended so far, in its order.
    pub outcomes: Vec<TaskOutcome>,
    /// Repairs started; counted only where the policy bounds them.
    pub repairs: u32,
    /// The tasks that were started, the latest start last.
    pub ledger: Vec<StartedTask>,
    /// As what and why it ends, once that is settled.
    pub conclusion: Option<Conclusion>,
    /// What the stores hold.
    pub store_statuses: StoreStatuses,
    /// How often the audit sink was tried.
    pub audit_attempts: u32,
    /// The latest actions, as many as a context reads (002); the log has all.
    pub actions: Vec<ActionRecord>,
}

/// A plan and its revision.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlanRevision {
    /// Which revision of the request's plan it is.
    pub revision: Revision,
    /// The plan.
    pub plan: Plan,
}

/// What is remembered of the debate: each role's latest argument, and flags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Debate {
    /// The pass that runs or ran last, from 1; 0 before the first.
    pub pass: u32,
    /// Each role's latest argument.
    pub latest: PerRole<Option<Argument>>,
    /// Who reviewed the pass before: the Critic, and Security if it objected. Solution is shown that until it argued again.
    pub reviews: Vec<Role>,
    /// The revision that Security's latest argument is about.
    pub security_reviewed: Option<Revision>,
    /// Security vetoed, in whichever pass.
    pub vetoed: bool,
    /// The latest consensus, and the revision it is about.
    pub scored: Option<ScoredRevision>,
}

/// A consensus on a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoredRevision {
    /// The revision.
    pub revision: Revision,
    /// The consensus.
    pub score: Score,
}

/// A task that was started. Running it again renews its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct StartedTask {
    /// The task.
    pub task: TaskId,
    /// The kind of effect that it declared.
    pub effect: EffectKind,
    /// What became of the effect so far.
    pub outcome: EffectOutcome,
}

impl Request {
    pub(crate) fn new(id: RequestId, text: Text) -> Self {
        Self {
            id,
            text,
            verified: false,
            outdated: false,
            over_budget: false,
            ratings: Ratings::default(),
            ratings_after: None,
            plan: None,
            debate: Debate::default(),
            decisions: Vec::new(),
            outcomes: Vec::new(),
            repairs: 0,
            ledger: Vec::new(),
            conclusion: None,
            store_statuses: StoreStatuses::default(),
            audit_attempts: 0,
            actions: Vec::new(),
        }
    }

    /// The task of the plan that runs now or next, by its place in the run.
    #[must_use]
    pub fn current_task(&self) -> Option<&Task> {
        self.plan.as_ref()?.plan.tasks().get(self.outcomes.len())
    }

    /// The effect to be undone next: the latest start that stands and has a compensation.
    #[must_use]
    pub fn next_undo(&self) -> Option<TaskId> {
        self.undoable().next_back().map(|started| started.task)
    }

    /// The started effects that stand and have a compensation, the latest start last.
    pub(crate) fn undoable(&self) -> impl DoubleEndedIterator<Item = &StartedTask> {
        let stands = |started: &&StartedTask| {
            started.effect == EffectKind::Undoable && started.outcome == EffectOutcome::Kept
        };
        self.ledger.iter().filter(stands)
    }

    /// Security's latest argument, if it is about the revision that is the plan now and objects.
    #[must_use]
    pub fn objection(&self) -> Option<Score> {
        let argument =
            self.debate.latest.security.filter(|argument| argument.is_objection_at_least(Score::ZERO))?;
        (self.debate.security_reviewed == self.plan.as_ref().map(|plan| plan.revision))
            .then_some(argument.confidence)
    }

    pub(crate) fn apply(&mut self, event: &Event, waiting: Option<Call>) {
        match event {
            Event::ToolCall { operation: ask, .. } => self.on_call(*ask),
            Event::OverBudget { .. } => self.over_budget = true,
            Event::ToolResult { report, .. } => {
                if let Some(call) = waiting {
                    self.on_reply(call.operation, report);
                }
            }
            Event::Cancelled => self.over_budget = false,
            Event::CallFailed { failure, .. } => {
                self.over_budget = false;
                if let Some(call) = waiting {
                    self.on_call_failed(call.operation, *failure);
                }
            }
            Event::AddItem { item, .. } | Event::UpdateItem { item, .. } => {
                self.outdated |= is_summarizing(waiting) && !item.layer.is_signal();
            }
            Event::ForgetItems { .. } => self.outdated |= is_summarizing(waiting),
            Event::PlanAdopted { revision, plan } => {
                self.plan = Some(PlanRevision { revision: *revision, plan: plan.clone() });
            }
            Event::VetoRaised { .. } => self.debate.vetoed = true,
            Event::ConsensusScored { revision, score } => {
                self.debate.scored = Some(ScoredRevision { revision: *revision, score: *score });
            }
            Event::RatingsUpdated { ratings } => self.ratings_after = Some(*ratings),
            // Deciding the same again, for a later revision, renews the entry: however often a plan is
            // repaired, there are only so many different decisions.
            Event::Decided { decision } => {
                self.decisions
                    .retain(|earlier| Decision { revision: decision.revision, ..*earlier } != *decision);
                self.decisions.push(*decision);
            }
            Event::RepairStarted => self.repairs = self.repairs.saturating_add(1),
            Event::Concluded { conclusion: ending } => self.conclusion = Some(*ending),
            Event::ActionRecorded { record } => {
                // The latest, and those before it.
                let unread = self.actions.len().saturating_sub(HISTORY_ACTIONS);
                self.actions.drain(..unread);
                self.actions.push(record.clone());
            }
            _ => {}
        }
    }

    fn on_call(&mut self, ask: Operation) {
        match ask {
            Operation::RunTask { task, effect } => {
                self.ledger.retain(|started| started.task != task);
                self.ledger.push(StartedTask { task, effect, outcome: EffectOutcome::Kept });
            }
            Operation::DeliverAudit => self.audit_attempts = self.audit_attempts.saturating_add(1),
            _ => {}
        }
    }

    fn on_reply(&mut self, ask: Operation, report: &Report) {
        match (ask, report) {
            (Operation::VerifyIdentity, Report::Identity { gcp, mongodb }) => {
                self.verified = *gcp && *mongodb
            }
            (Operation::LoadContext, Report::Context { ratings, .. }) => self.ratings = *ratings,
            (_, Report::Argument { argument, .. }) => {
                if let Some(role) = ask.argued_by() {
                    *self.debate.latest.get_mut(role) = Some(*argument);
                    if role == Role::Security {
                        self.debate.security_reviewed = self.plan.as_ref().map(|plan| plan.revision);
                    }
                }
            }
            (Operation::RunTask { .. }, Report::Exit { code, .. }) => self.outcomes.push(match code {
                0 => TaskOutcome::Succeeded,
                code => TaskOutcome::Exited(*code),
            }),
            (Operation::UndoTask { task }, Report::Exit { code, .. }) => {
                self.undone(task, if *code == 0 { EffectOutcome::Undone } else { EffectOutcome::UndoFailed });
            }
            (Operation::StoreMemory { store, .. }, Report::Stored { held }) => {
                self.set_store_status(store, if *held { StoreStatus::Held } else { StoreStatus::Missing });
            }
            _ => {}
        }
    }

    fn on_call_failed(&mut self, ask: Operation, failure: Failure) {
        match ask {
            Operation::RunTask { .. } => self.outcomes.push(TaskOutcome::NoResult(failure)),
            Operation::UndoTask { task } => self.undone(task, EffectOutcome::UndoFailed),
            Operation::StoreMemory { store, .. } => {
                self.set_store_status(store, StoreStatus::from_failure(failure));
            }
            _ => {}
        }
    }

    fn undone(&mut self, task: TaskId, end: EffectOutcome) {
        for started in self.ledger.iter_mut().filter(|started| started.task == task) {
            started.outcome = end;
        }
    }

    fn set_store_status(&mut self, store: Store, holding: StoreStatus) {
        match store {
            Store::Local => self.store_statuses.local = holding,
            Store::Cloud => self.store_statuses.cloud = holding,
        }
    }

    pub(crate) fn enter(&mut self, from: Phase, to: Phase) {
        if from == Phase::Round(Role::Solution) {
            self.debate.reviews.clear();
        }
        match (from, to) {
            (Phase::Compacting, _) => self.outdated = false,
            (Phase::Planning, Phase::Round(_)) => self.debate.pass = 1,
            // Every role from Solution on speaks again before anything is scored; only the Analyst's
            // argument stays the latest.
            (Phase::MultiPassCheck, Phase::Round(_)) => {
                self.debate.pass = self.debate.pass.saturating_add(1);
                let objects = |argument: &Argument| argument.is_objection_at_least(Score::ZERO);
                let critic = self.debate.latest.critic.map(|_| Role::Critic);
                let security = self.debate.latest.security.filter(objects).map(|_| Role::Security);
                self.debate.reviews = critic.into_iter().chain(security).collect();
                self.debate.latest = PerRole { analyst: self.debate.latest.analyst, ..PerRole::default() };
                self.debate.security_reviewed = None;
                self.debate.scored = None;
            }
            // The run is over: reported and judged, or given up. A repaired plan starts from nothing.
            (Phase::Failure, _) | (_, Phase::RollbackActive) => self.outcomes.clear(),
            // What led here has been decided, concluded and logged; the state need not carry it further.
            (from, Phase::StoringMemory) if from != Phase::StoringMemory => {
                self.debate = Debate::default();
                self.plan = None;
                self.outcomes.clear();
            }
            _ => {}
        }
    }

    pub(super) fn canon(&mut self) {
        let slots = (self.plan.iter_mut().map(|plan| &mut plan.revision))
            .chain(&mut self.debate.security_reviewed)
            .chain(self.debate.scored.iter_mut().map(|scored| &mut scored.revision))
            .chain(self.decisions.iter_mut().map(|decision| &mut decision.revision));
        let slots: Vec<&mut Revision> = slots.collect();
        let mut live: Vec<Revision> = slots.iter().map(|slot| **slot).collect();
        live.sort_unstable();
        live.dedup();
        for slot in slots {
            let rank = live.iter().position(|revision| revision == slot).unwrap_or(0);
            *slot = Revision::new(u32::try_from(rank).unwrap_or(u32::MAX)).next();
        }
    }
}

fn is_summarizing(waiting: Option<Call>) -> bool {
    matches!(waiting, Some(Call { operation: Operation::Summarize, .. }))
}

impl StartedTask {
    /// What the audit says of the task.
    #[must_use]
    pub fn record(&self) -> TaskRecord {
        TaskRecord { task: self.task, effect: (self.effect != EffectKind::Pure).then_some(self.outcome) }
    }
}
