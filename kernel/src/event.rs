//! The event alphabet (000 §3): what `decide` gives, what `apply` writes, what the log keeps.
//!
//! 000's seven events are the base. Control and audit events extend it; [`Event::base`] projects them away.
//! A `ToolCall` carries no text here: its text is what [`present`](crate::present()) makes of the state at that moment.

mod record;

pub use record::{
    AuditRecord, Cause, Conclusion, Decision, DecisionLabel, EffectOutcome, MemoryRecord, StoreStatus,
    StoreStatuses, TaskOutcome, TaskRecord, TaskResult,
};

use crate::control::table::TransitionId;
use crate::ids::{CallId, ItemId, RequestId, Revision, Text, TraceId, UserId};
use crate::item::Item;
use crate::module::{Failure, Module, Operation, Ratings, Report};
use crate::plan::Plan;
use crate::score::Score;
use crate::situation::ActionRecord;
use alloc::vec::Vec;

/// The events of one step, in order: one atomic batch.
pub type Events = Vec<Event>;

/// One letter of the alphabet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Event {
    /// Base: the user asked.
    UserMsg {
        /// The number that the request gets.
        request: RequestId,
        /// Who asked.
        user: UserId,
        /// For what.
        text: Text,
    },
    /// Base: a module is asked.
    ToolCall {
        /// The call, its idempotency key.
        call: CallId,
        /// The question.
        operation: Operation,
    },
    /// Base: a module answered.
    ToolResult {
        /// Who answered.
        module: Module,
        /// The call that it answers.
        call: CallId,
        /// The answer.
        report: Report,
    },
    /// Base: an item enters the semantic state.
    AddItem {
        /// The item.
        item: Item,
        /// The items it depends on, in id order; each is in the state.
        deps: Vec<ItemId>,
    },
    /// Base: an item of the state is overwritten.
    UpdateItem {
        /// The item, under an id that the state has.
        item: Item,
        /// The items it depends on, in id order; each is in the state.
        deps: Vec<ItemId>,
    },
    /// Base: items leave the state. Nothing that stays depends on them.
    ForgetItems {
        /// Which, in id order.
        ids: Vec<ItemId>,
        /// Why. Nothing is ever forgotten without a cause.
        cause: ForgetCause,
    },
    /// Base: the user is answered; the request is over.
    FinalAnswer {
        /// Where everything about it is found again.
        trace: TraceId,
        /// What the user reads.
        text: Text,
    },
    /// A module told what it thought and did for its answer (002). Nothing becomes known by it.
    ActionRecorded {
        /// What it told.
        record: ActionRecord,
    },
    /// A session was opened.
    SessionStarted {
        /// Whose.
        user: UserId,
    },
    /// The session was closed.
    SessionEnded,
    /// A call ended without an answer. In 000's terms a `ToolResult`.
    CallFailed {
        /// Who did not answer.
        module: Module,
        /// The call.
        call: CallId,
        /// How it ended.
        failure: Failure,
    },
    /// What the module that is asked must be shown does not fit its budget: the call is not made, and fails.
    OverBudget {
        /// The call.
        call: CallId,
        /// The tokens of what must be shown.
        required_tokens: u64,
        /// The tokens that there are.
        budget_tokens: u64,
    },
    /// The user cancelled the running request; a call that was waited for is given up.
    Cancelled,
    /// The runtime is back after a crash. The call that is waited for is asked again under its own id; if it is
    /// effectful, the host is asked first whether it happened (decision 0015).
    Resumed,
    /// Control moved along this row of the transition table.
    Transitioned {
        /// The row.
        row: TransitionId,
    },
    /// A plan became the plan of the request.
    PlanAdopted {
        /// Its revision.
        revision: Revision,
        /// The plan.
        plan: Plan,
    },
    /// Security objected so surely that the plan may not run; as drawn, unless it takes that back (finding F6).
    VetoRaised {
        /// The revision it read.
        revision: Revision,
    },
    /// The consensus of the latest arguments was computed.
    ConsensusScored {
        /// The revision that was argued about.
        revision: Revision,
        /// The consensus, rounded down.
        score: Score,
    },
    /// The duels were fought; these ratings are written at the store.
    RatingsUpdated {
        /// All five.
        ratings: Ratings,
    },
    /// The debate let the plan run or not; an approver may still say no (decision 0013).
    Decided {
        /// The decision.
        decision: Decision,
    },
    /// A run of the plan is over (004, "Build execution report").
    ExecutionReported {
        /// The revision that ran.
        revision: Revision,
        /// Every task of it.
        tasks: Vec<TaskResult>,
    },
    /// A repair was started. Only given where the policy bounds repairs.
    RepairStarted,
    /// It is settled as what and why the request ends.
    Concluded {
        /// As what and why.
        conclusion: Conclusion,
    },
    /// The record that both stores are asked to keep.
    MemoryRecorded {
        /// The record.
        record: MemoryRecord,
    },
    /// The audit record of the request. It exists from here on, whatever becomes of its delivery.
    AuditRecorded {
        /// The record.
        record: AuditRecord,
    },
    /// No receipt of the outside sink came, and it will not be tried again.
    AuditUndelivered,
}

/// 000's seven events, to which an [`Event`] projects (000 §3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseEvent<'a> {
    /// `UserMsg`
    UserMsg(&'a UserId, &'a Text),
    /// `ToolCall`
    ToolCall(Module, CallId),
    /// `ToolResult`; without a report where the call failed
    ToolResult(Module, CallId, Option<&'a Report>),
    /// `AddItem`
    AddItem(&'a Item, &'a [ItemId]),
    /// `UpdateItem`
    UpdateItem(&'a Item, &'a [ItemId]),
    /// `ForgetItems`
    ForgetItems(&'a [ItemId]),
    /// `FinalAnswer`
    FinalAnswer(&'a Text),
}

impl Event {
    /// The base event that this one is, if it is one. Mapping a log through this gives 000's trace.
    #[must_use]
    pub fn base(&self) -> Option<BaseEvent<'_>> {
        Some(match self {
            Self::UserMsg { user, text, .. } => BaseEvent::UserMsg(user, text),
            Self::ToolCall { call, operation: ask } => BaseEvent::ToolCall(ask.module(), *call),
            Self::ToolResult { module, call, report } => BaseEvent::ToolResult(*module, *call, Some(report)),
            Self::CallFailed { module, call, .. } => BaseEvent::ToolResult(*module, *call, None),
            Self::AddItem { item, deps } => BaseEvent::AddItem(item, deps),
            Self::UpdateItem { item, deps } => BaseEvent::UpdateItem(item, deps),
            Self::ForgetItems { ids, .. } => BaseEvent::ForgetItems(ids),
            Self::FinalAnswer { text, .. } => BaseEvent::FinalAnswer(text),
            _ => return None,
        })
    }
}

/// Why items left the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ForgetCause {
    /// The session ended, and with it its working set (003 layer 3).
    SessionEnd,
    /// It expired (003 layer 3).
    Expiry,
    /// A summary stands for it (000 §6).
    Compaction {
        /// The summary.
        into: ItemId,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projection_keeps_base_events_and_drops_the_others() {
        let (module, call) = (Module::Executor, CallId::FIRST);
        let text = Text::from("done");
        let trace = TraceId { conversation: crate::ids::ConversationId::new("c"), request: RequestId::FIRST };
        let log = [
            Event::ToolCall { call, operation: Operation::VerifyIdentity },
            Event::CallFailed { module, call, failure: Failure::Timeout },
            Event::Cancelled,
            Event::AuditUndelivered,
            Event::ForgetItems { ids: alloc::vec![ItemId::FIRST], cause: ForgetCause::SessionEnd },
            Event::FinalAnswer { trace, text: text.clone() },
        ];
        let base: Vec<BaseEvent<'_>> = log.iter().filter_map(Event::base).collect();
        assert_eq!(
            base,
            [
                BaseEvent::ToolCall(Module::IdentityGuard, call),
                BaseEvent::ToolResult(module, call, None),
                BaseEvent::ForgetItems(&[ItemId::FIRST]),
                BaseEvent::FinalAnswer(&text),
            ]
        );
    }
}
