//! The exit and entry actions that the transition table names.

use super::batch::Batch;
use super::guards;
use crate::control::elo;
use crate::control::transition::{DecisionKind, EntryAction, ExitAction};
use crate::event::{Decision, DecisionLabel, Event, TaskOutcome, TaskResult};
use crate::ids::TaskId;
use crate::item::SubtaskStatus;
use crate::module::Operation;
use crate::policy::Bound;
use crate::state::Request;

impl Batch<'_> {
    pub(super) fn run_exit_action(&mut self, action: ExitAction) {
        match action {
            ExitAction::ScoreConsensus => self.score_consensus(),
            ExitAction::UpdateRatings => self.update_ratings(),
            ExitAction::Decide(kind) => self.decide_plan(kind),
            ExitAction::ReportExecution => self.report_execution(),
            ExitAction::AbandonAudit => self.emit(Event::AuditUndelivered),
            ExitAction::FinalAnswer => self.emit_final_answer(),
        }
    }

    pub(super) fn run_entry_action(&mut self, action: EntryAction) {
        match action {
            EntryAction::Call(operation) => self.emit_call(operation),
            EntryAction::CallAdditionalDebater => self.call_additional_debater(),
            EntryAction::StartTask => self.start_task(),
            EntryAction::CountRepair => match self.policy.bounds.repairs {
                Bound::AtMost(_) => self.emit(Event::RepairStarted),
                Bound::Unbounded => {}
            },
            EntryAction::UndoNext => {
                if let Some(task) = self.control.request().and_then(Request::next_compensation) {
                    self.emit_call(Operation::UndoTask { task });
                }
            }
            EntryAction::RecordMemory => self.emit_memory_record(),
            EntryAction::StoreMemory(store) => {
                if let Some(kind) = self.stored_kind() {
                    self.emit_call(Operation::StoreMemory { store, kind });
                }
            }
            EntryAction::RecordAudit => self.emit_audit_record(),
        }
    }

    fn score_consensus(&mut self) {
        let Some(request) = self.control.request() else { return };
        let score = guards::consensus_score(self.policy, request);
        let revision = self.revision();
        self.emit(Event::ConsensusScored { revision, score });
    }

    fn update_ratings(&mut self) {
        let Some(request) = self.control.request() else { return };
        // No input can change the debate between the duels and the decision, so these guards already determine it.
        let proceeds =
            !guards::is_vetoed(self.policy, request) && !guards::is_below_proceed(self.policy, request);
        let ratings = elo::update_ratings(self.policy, &request.ratings, &request.debate.latest, proceeds);
        self.emit(Event::RatingsUpdated { ratings });
    }

    fn decide_plan(&mut self, kind: DecisionKind) {
        let Some(request) = self.control.request() else { return };
        let score = request.debate.scored.map(|scored| scored.score).unwrap_or_default();
        let rules = &self.policy.rules;
        let label = match kind {
            DecisionKind::Veto => DecisionLabel::Vetoed,
            DecisionKind::Reject => DecisionLabel::Rejected,
            DecisionKind::Outdate => DecisionLabel::Outdated,
            DecisionKind::Proceed
                if rules.below_threshold_label && score < self.policy.thresholds.redebate_below =>
            {
                DecisionLabel::ProceedBelowThreshold
            }
            DecisionKind::Proceed => DecisionLabel::ConsensusReached,
        };
        let objection = request.objection().filter(|_| rules.named_objections);
        let revision = self.revision();
        self.emit(Event::Decided { decision: Decision { revision, label, score, objection } });
    }

    fn report_execution(&mut self) {
        let Some(request @ Request { plan: Some(plan), .. }) = self.control.request() else { return };
        let outcome = |task: TaskId| request.outcome(task).unwrap_or(TaskOutcome::NotRun);
        let tasks =
            plan.plan.tasks().iter().map(|task| TaskResult { task: task.id, outcome: outcome(task.id) });
        let (revision, tasks) = (plan.revision, tasks.collect());
        self.emit(Event::ExecutionReported { revision, tasks });
    }

    fn call_additional_debater(&mut self) {
        let Some(request) = self.control.request() else { return };
        let debater = u32::try_from(request.debate.additional.len()).unwrap_or(u32::MAX);
        self.emit_call(Operation::ArgueAdditional { debater });
    }

    /// Starts the ready task of the plan with the highest priority, the first of several. When the run starts, its members are
    /// routed; one that cannot be routed is called alone, and fails.
    fn start_task(&mut self) {
        let unroutable = self.assign_members();
        let Some(request) = self.control.request() else { return };
        let task = match (unroutable, &request.plan) {
            (Some(unroutable), Some(plan)) => plan.plan.task(unroutable),
            (Some(_), None) | (None, _) => request.next_task(self.control.pending_calls()),
        };
        let Some(task) = task else { return };
        let (task, effect) = (task.id, task.effect.kind());
        self.set_subtask_status(task, SubtaskStatus::InProgress);
        self.emit_call(Operation::RunTask { task, effect });
    }
}
