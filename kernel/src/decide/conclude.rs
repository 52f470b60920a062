//! The conclusion of a request, its memory and audit records, and the final answer.

use super::batch::Batch;
use crate::control::phase::Phase;
use crate::control::transition::{CauseKind, ConclusionRule};
use crate::event::{
    AuditRecord, Cause, Conclusion, Event, MemoryRecord, StoreStatus, StoreStatuses, TaskRecord,
};
use crate::ids::Text;
use crate::input::Input;
use crate::item::{Item, ItemKey};
use crate::module::{ConclusionKind, Failure, Module};
use crate::state::{Request, StartedTask};
use alloc::format;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn conclude(&mut self, rule: ConclusionRule, input: &Input) {
        let Some(cause) = self.cause(rule.cause, input) else { return };
        self.emit(Event::Concluded { conclusion: Conclusion { kind: rule.kind, cause } });
    }

    /// The cause of this kind; none if the call should have failed and did not.
    fn cause(&self, kind: CauseKind, input: &Input) -> Option<Cause> {
        Some(match kind {
            CauseKind::CallFailed => {
                // It ends the run, whichever task ended last.
                if self.control.request()?.has_unknown_outcome() {
                    return Some(Cause::CallFailed(Module::Executor, Failure::OutcomeUnknown));
                }
                let Input::CallFailed { failure, .. } = input else { return None };
                Cause::CallFailed(self.state.control().answered_call(input)?.operation.module(), *failure)
            }
            CauseKind::Completed => Cause::Completed,
            CauseKind::IdentityMismatch => Cause::IdentityMismatch,
            CauseKind::Vetoed => Cause::Vetoed,
            CauseKind::Rejected => Cause::Rejected,
            CauseKind::NoRepair => Cause::NoRepair,
            CauseKind::RepairsExhausted => Cause::RepairsExhausted,
            CauseKind::PlanNotCleared => Cause::PlanNotCleared,
            CauseKind::NotApproved => Cause::NotApproved,
            CauseKind::PlanOutdated => Cause::PlanOutdated,
            CauseKind::Cancelled => Cause::Cancelled,
        })
    }

    /// The kind under which the stores keep the request; none if no request is running.
    pub(super) fn stored_kind(&self) -> Option<ConclusionKind> {
        let request = self.control.request()?;
        Some(if self.policy.rules.typed_kinds {
            recorded_conclusion(request).kind
        } else {
            ConclusionKind::Outcome
        })
    }

    pub(super) fn emit_memory_record(&mut self) {
        let (Some(request), Some(kind)) = (self.control.request(), self.stored_kind()) else { return };
        let ratings = request.ratings_after.filter(|_| !request.decisions.is_empty());
        let (text, scope) = (self.final_answer_text(request), request.scope.clone());
        let trace = self.state.control().trace_id(request.id);
        let record = MemoryRecord { trace, kind, text, scope, ratings };
        self.emit(Event::MemoryRecorded { record });
    }

    pub(super) fn emit_audit_record(&mut self) {
        let (Some(request), Some(user)) = (self.control.request(), self.state.control().session()) else {
            return;
        };
        let rules = &self.policy.rules;
        // As drawn, the stores are presumed to hold what was sent to them, and the audit lists no effects.
        let presumed = !rules.recorded_stores && self.state.control().phase() == Phase::StoringMemory;
        let without_effect = |record: TaskRecord| TaskRecord { effect: None, ..record };
        let tasks = request.ledger.iter().map(StartedTask::record);
        let record = AuditRecord {
            trace: self.state.control().trace_id(request.id),
            user: user.clone(),
            conclusion: recorded_conclusion(request),
            decisions: request.decisions.clone(),
            stores: if presumed {
                StoreStatuses { local: StoreStatus::Held, cloud: StoreStatus::Held }
            } else {
                request.store_statuses
            },
            tasks: if rules.effects_ledger { tasks.collect() } else { tasks.map(without_effect).collect() },
        };
        self.emit(Event::AuditRecorded { record });
    }

    pub(super) fn emit_final_answer(&mut self) {
        let Some(request) = self.control.request() else { return };
        let (id, verified, text) = (request.id, request.verified, self.final_answer_text(request));
        self.emit(Event::FinalAnswer { trace: self.state.control().trace_id(id), text: text.clone() });
        if verified {
            self.upsert_request_item(ItemKey::FinalAnswer(id), text);
        }
    }

    /// What the user receives: the aggregate of the members and the outputs of the other tasks that are readable in the scope of the
    /// request, or the conclusion where there are none.
    fn final_answer_text(&self, request: &Request) -> Text {
        let conclusion = recorded_conclusion(request);
        if conclusion.kind != ConclusionKind::Outcome {
            return concluding_text(conclusion);
        }
        let outputs = self.state.semantic().outputs(request.id);
        let aggregate = self.state.semantic().latest_by_key(&ItemKey::Aggregate(request.id));
        let aggregate = aggregate.map(|entry| &entry.item).filter(|_| !request.aggregated.is_empty());
        let is_aggregated = |output: &&Item| matches!(output.key, ItemKey::Output(_, task) if request.aggregated.contains(&task));
        let outputs = aggregate.into_iter().chain(outputs.filter(|output| !is_aggregated(output)));
        let outputs = outputs.filter(|output| output.scope().contains(&request.scope));
        let outputs: Vec<&str> =
            outputs.map(|output| output.text.as_str()).filter(|text| !text.is_empty()).collect();
        if outputs.is_empty() { concluding_text(conclusion) } else { outputs.join("\n").into() }
    }
}

fn concluding_text(Conclusion { kind, cause }: Conclusion) -> Text {
    format!("{kind}: {cause}").into()
}

/// The conclusion of the request. Every path to StoringMemory or Auditing has a row that concludes, so the fallback is
/// unreachable.
fn recorded_conclusion(request: &Request) -> Conclusion {
    request.conclusion.unwrap_or(Conclusion { kind: ConclusionKind::Aborted, cause: Cause::Cancelled })
}
