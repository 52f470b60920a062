//! How a request ends: as what and why, what the stores and the audit are given, what the user reads.

use super::Batch;
use crate::control::guard::Guard;
use crate::control::phase::Phase;
use crate::control::table::Transition;
use crate::event::{
    AuditRecord, Cause, Conclusion, Event, MemoryRecord, StoreStatus, StoreStatuses, TaskRecord,
};
use crate::ids::Text;
use crate::input::{Input, Trigger};
use crate::item::ItemKey;
use crate::module::{ConclusionKind, Operation, Store};
use crate::state::{Request, StartedTask};
use alloc::format;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn conclude(&mut self, input: &Input, row: &Transition) {
        if let Some(ending) = self.ending(input, row) {
            self.emit(Event::Concluded { conclusion: ending });
        }
    }

    pub(super) fn ending(&self, input: &Input, row: &Transition) -> Option<Conclusion> {
        let from = self.state.control.phase();
        let unanswered = match (input, self.state.control.pending_call()) {
            (Input::CallFailed { failure, .. }, Some(call)) => {
                Some(Cause::CallFailed(call.operation.module(), *failure))
            }
            _ => None,
        };
        let cancelled = (input.trigger() == Trigger::Cancel).then_some(Cause::Cancelled);
        let given = cancelled.or(unanswered);
        let (kind, cause) = match (from, row.to) {
            _ if row.ignores_cancel() => return None,
            // What was settled stays: a blocked plan stays blocked, a rollback goes on.
            (Phase::Blocked | Phase::RollbackActive, _) => return None,
            (_, Phase::Success) => (ConclusionKind::Outcome, Cause::Completed),
            (_, Phase::Blocked) => match row.when {
                Guard::Vetoed => (ConclusionKind::Blocked, Cause::Vetoed),
                _ if from == Phase::PlanApproval => {
                    (ConclusionKind::Blocked, given.unwrap_or(Cause::NotApproved))
                }
                _ => (ConclusionKind::Blocked, given.unwrap_or(Cause::Rejected)),
            },
            (_, Phase::RollbackActive) => (
                ConclusionKind::RolledBack,
                given.unwrap_or(match from {
                    Phase::Failure => Cause::RepairsExhausted,
                    Phase::RepairScoring => Cause::RepairRejected,
                    Phase::RepairApproval => Cause::NotApproved,
                    // SelfHealingActive; any other way there is a cancel or a call without an answer.
                    _ => Cause::NoRepair,
                }),
            ),
            (Phase::VerifyingIdentity, Phase::Auditing | Phase::Aborted) => {
                (ConclusionKind::Aborted, given.unwrap_or(Cause::IdentityMismatch))
            }
            (from, Phase::StoringMemory) if from != Phase::StoringMemory => (ConclusionKind::Aborted, given?),
            _ => return None,
        };
        Some(Conclusion { kind, cause })
    }

    pub(super) fn emit_memory_record(&mut self) {
        let Some(request) = &self.request else { return };
        let kind = if self.policy.rules.typed_kinds {
            recorded_conclusion(request).kind
        } else {
            ConclusionKind::Outcome
        };
        if self.state.control.phase() == Phase::StoringMemory {
            return self.emit_call(Operation::StoreMemory { store: Store::Cloud, kind });
        }
        let ratings = request.ratings_after.filter(|_| !request.decisions.is_empty());
        let text = self.final_answer_text(request);
        let record = MemoryRecord { trace: self.state.control.trace_id(request.id), kind, text, ratings };
        self.emit(Event::MemoryRecorded { record });
        self.emit_call(Operation::StoreMemory { store: Store::Local, kind });
    }

    pub(super) fn emit_audit_record(&mut self) {
        let (Some(request), Some(user)) = (&self.request, self.state.control.session()) else { return };
        let from = self.state.control.phase();
        if from != Phase::Auditing {
            let rules = &self.policy.rules;
            // As drawn, whatever was handed to the stores is taken to be there, and nobody asks what tasks did.
            let presumed = !rules.recorded_stores && from == Phase::StoringMemory;
            let untold = |record: TaskRecord| TaskRecord { effect: None, ..record };
            let tasks = request.ledger.iter().map(StartedTask::record);
            let record = AuditRecord {
                trace: self.state.control.trace_id(request.id),
                user: user.clone(),
                conclusion: recorded_conclusion(request),
                decisions: request.decisions.clone(),
                stores: if presumed {
                    StoreStatuses { local: StoreStatus::Held, cloud: StoreStatus::Held }
                } else {
                    request.store_statuses
                },
                tasks: if rules.effects_ledger { tasks.collect() } else { tasks.map(untold).collect() },
            };
            self.emit(Event::AuditRecorded { record });
        }
        self.emit_call(Operation::DeliverAudit);
    }

    pub(super) fn emit_final_answer(&mut self, input: &Input) {
        if matches!(input, Input::CallFailed { .. }) {
            self.emit(Event::AuditUndelivered);
        }
        let Some(request) = &self.request else { return };
        let (id, verified, text) = (request.id, request.verified, self.final_answer_text(request));
        self.emit(Event::FinalAnswer { trace: self.state.control.trace_id(id), text: text.clone() });
        if verified {
            self.upsert_request_item(ItemKey::FinalAnswer(id), text);
        }
    }

    /// What the user reads: the outputs of the tasks, or why there are none.
    pub(super) fn final_answer_text(&self, request: &Request) -> Text {
        let ending = recorded_conclusion(request);
        let outputs = self.state.semantic.outputs(request.id).map(|output| output.text.as_str());
        let outputs: Vec<&str> = outputs.filter(|text| !text.is_empty()).collect();
        if ending.kind == ConclusionKind::Outcome && !outputs.is_empty() {
            return outputs.join("\n").into();
        }
        format!("{}: {}", ending.kind, ending.cause).into()
    }
}

/// As what and why the request ends. Every row into storing or auditing concludes before, so the fallback is never read.
fn recorded_conclusion(request: &Request) -> Conclusion {
    request.conclusion.unwrap_or(Conclusion { kind: ConclusionKind::Aborted, cause: Cause::Cancelled })
}
