//! How a request ends: as what and why, what the stores and the audit are given, what the user reads.

use super::Batch;
use crate::control::guard::Guard;
use crate::control::phase::Phase;
use crate::control::table::Transition;
use crate::event::{AuditRecord, Cause, Ending, Event, Holding, Holdings, MemoryRecord, TaskRecord};
use crate::ids::Text;
use crate::input::{Input, Trigger};
use crate::item::Key;
use crate::module::{Ask, Kind, Store};
use crate::state::{Request, Started};
use alloc::format;
use alloc::vec::Vec;

impl Batch<'_> {
    pub(super) fn conclude(&mut self, input: &Input, row: &Transition) {
        if let Some(ending) = self.ending(input, row) {
            self.push(Event::Concluded { ending });
        }
    }

    pub(super) fn ending(&self, input: &Input, row: &Transition) -> Option<Ending> {
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
            _ if row.keeps_on() => return None,
            // What was settled stays: a blocked plan stays blocked, a rollback goes on.
            (Phase::Blocked | Phase::RollbackActive, _) => return None,
            (_, Phase::Success) => (Kind::Outcome, Cause::Completed),
            (_, Phase::Blocked) => match row.when {
                Guard::Vetoed => (Kind::Blocked, Cause::Vetoed),
                _ if from == Phase::PlanApproval => (Kind::Blocked, given.unwrap_or(Cause::NotApproved)),
                _ => (Kind::Blocked, given.unwrap_or(Cause::Rejected)),
            },
            (_, Phase::RollbackActive) => (
                Kind::RolledBack,
                given.unwrap_or(match from {
                    Phase::Failure => Cause::RepairsSpent,
                    Phase::RepairScoring => Cause::RepairRejected,
                    Phase::RepairApproval => Cause::NotApproved,
                    // SelfHealingActive; any other way there is a cancel or a call without an answer.
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

    pub(super) fn remember(&mut self) {
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

    pub(super) fn audit(&mut self) {
        let (Some(request), Some(user)) = (&self.request, self.state.control.session()) else { return };
        let from = self.state.control.phase();
        if from != Phase::Auditing {
            let rules = &self.policy.rules;
            // As drawn, whatever was handed to the stores is taken to be there, and nobody asks what tasks did.
            let presumed = !rules.recorded_stores && from == Phase::StoringMemory;
            let untold = |record: TaskRecord| TaskRecord { effect: None, ..record };
            let tasks = request.ledger.iter().map(Started::record);
            let record = AuditRecord {
                trace: self.state.control.trace(request.id),
                user: user.clone(),
                ending: settled(request),
                decisions: request.decisions.clone(),
                stores: if presumed {
                    Holdings { local: Holding::Held, cloud: Holding::Held }
                } else {
                    request.holdings
                },
                tasks: if rules.effects_ledger { tasks.collect() } else { tasks.map(untold).collect() },
            };
            self.push(Event::Audited { record });
        }
        self.call(Ask::DeliverAudit);
    }

    pub(super) fn answer(&mut self, input: &Input) {
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
    pub(super) fn results(&self, request: &Request) -> Text {
        let ending = settled(request);
        let outputs = self.state.semantic.outputs(request.id).map(|output| output.text.as_str());
        let outputs: Vec<&str> = outputs.filter(|text| !text.is_empty()).collect();
        if ending.kind == Kind::Outcome && !outputs.is_empty() {
            return outputs.join("\n").into();
        }
        format!("{}: {}", ending.kind, ending.cause).into()
    }
}

/// As what and why the request ends. Every row into storing or auditing concludes before, so the fallback is never read.
fn settled(request: &Request) -> Ending {
    request.ending.unwrap_or(Ending { kind: Kind::Aborted, cause: Cause::Cancelled })
}
