//! Events (000 §3): `decide` returns them, `apply` applies them, the log records them.
//!
//! 000's seven base events are extended by control and audit events; [`Event::base`] projects to the base. A `ToolCall` has no
//! text: [`build_context`](crate::build_context) derives the context from the state.

mod record;

pub use record::{
    AuditRecord, Cause, Conclusion, Decision, DecisionLabel, EffectOutcome, MemoryRecord, StoreStatus,
    StoreStatuses, TaskOutcome, TaskRecord, TaskResult,
};

use crate::control::table::TransitionId;
use crate::ids::{CallId, ItemId, RequestId, Revision, Text, Timestamp, TraceId, UserId};
use crate::item::{Item, Scope};
use crate::module::{Failure, Module, Operation, Ratings, Report};
use crate::network::NetworkEvent;
use crate::plan::Plan;
use crate::score::Score;
use crate::situation::ActionRecord;
use alloc::vec::Vec;

/// The events of one step, in order: one atomic batch.
pub type Events = Vec<Event>;

/// One recorded state change.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
pub enum Event {
    /// Base: the user sent a message.
    UserMsg {
        /// The number of the new request.
        request: RequestId,
        /// The user.
        user: UserId,
        /// The message.
        text: Text,
        /// The scope of the request.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Scope::is_global"))]
        scope: Scope,
    },
    /// Base: the kernel calls a module.
    ToolCall {
        /// The call id; also the idempotency key.
        call: CallId,
        /// The operation.
        operation: Operation,
    },
    /// Base: a module replied.
    ToolResult {
        /// The module.
        module: Module,
        /// The call.
        call: CallId,
        /// The typed payload.
        report: Report,
    },
    /// Base: an item is added to the semantic state.
    AddItem {
        /// The item.
        item: Item,
        /// Its dependencies, in id order; each exists.
        deps: Vec<ItemId>,
    },
    /// Base: an existing item is overwritten.
    UpdateItem {
        /// The new item, with an existing id.
        item: Item,
        /// Its dependencies, in id order; each exists.
        deps: Vec<ItemId>,
    },
    /// Base: items leave the semantic state. No remaining item depends on them.
    ForgetItems {
        /// The items, in id order.
        ids: Vec<ItemId>,
        /// The cause.
        cause: ForgetCause,
    },
    /// Base: the final answer; the request ends.
    FinalAnswer {
        /// The trace id of the request.
        trace: TraceId,
        /// The final answer.
        text: Text,
    },
    /// The time of the input, if it is later than that of the input before. First in its batch.
    TimeAdvanced {
        /// The new time.
        now: Timestamp,
    },
    /// A module sent an action record (002). It does not change the semantic state.
    ActionRecorded {
        /// The record, with truncated results.
        record: ActionRecord,
        /// The maximum number of earlier actions that the request keeps.
        max_history: u32,
    },
    /// A session started.
    SessionStarted {
        /// The user.
        user: UserId,
    },
    /// The session ended.
    SessionEnded,
    /// A call ended without a reply. In 000 a `ToolResult`.
    CallFailed {
        /// The module.
        module: Module,
        /// The call.
        call: CallId,
        /// The failure.
        failure: Failure,
    },
    /// The pinned items of a context and the payload exceed the budget: the call is not made, and must fail.
    OverBudget {
        /// The call.
        call: CallId,
        /// The tokens of the pinned items, their dependencies and the payload.
        required_tokens: u64,
        /// The token budget.
        budget_tokens: u64,
    },
    /// The network of the conversation, a handoff or a workflow changed (decision 0042).
    Network(NetworkEvent),
    /// The user cancelled the running request; a pending call is abandoned.
    Cancelled,
    /// The runtime restarted after a crash. It repeats the pending call under the same id; for an effectful call it first asks the
    /// host for the recovery result (decision 0015).
    Resumed,
    /// Control took this transition.
    Transitioned {
        /// The transition.
        row: TransitionId,
    },
    /// A plan became the current plan of the request.
    PlanAdopted {
        /// Its revision.
        revision: Revision,
        /// The plan.
        plan: Plan,
    },
    /// Security vetoed the plan. Under `as-drawn`, a later argument of Security can withdraw the veto (finding F6).
    VetoRaised {
        /// The vetoed revision.
        revision: Revision,
    },
    /// The consensus of the latest arguments.
    ConsensusScored {
        /// The scored revision.
        revision: Revision,
        /// The consensus, rounded down.
        score: Score,
    },
    /// The ratings after the duels, which the stores receive.
    RatingsUpdated {
        /// The ratings of the five roles.
        ratings: Ratings,
    },
    /// The decision of the debate. An approver can still reject the plan (decision 0013).
    Decided {
        /// The decision.
        decision: Decision,
    },
    /// A run of the plan ended (004, "Build execution report").
    ExecutionReported {
        /// The revision that ran.
        revision: Revision,
        /// The results of all its tasks.
        tasks: Vec<TaskResult>,
    },
    /// A repair started. Emitted only if the policy bounds repairs.
    RepairStarted,
    /// The conclusion of the request is decided.
    Concluded {
        /// Kind and cause.
        conclusion: Conclusion,
    },
    /// The record that both stores receive.
    MemoryRecorded {
        /// The record.
        record: MemoryRecord,
    },
    /// The audit record of the request. It exists even if its delivery fails.
    AuditRecorded {
        /// The record.
        record: AuditRecord,
    },
    /// Delivery of the audit record failed, and no attempt is left.
    AuditUndelivered,
}

/// 000's seven base events, to which an [`Event`] projects (000 §3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BaseEvent<'a> {
    /// `UserMsg`
    UserMsg(&'a UserId, &'a Text),
    /// `ToolCall`; the operation determines the module
    ToolCall(CallId, Operation),
    /// `ToolResult`; a failure if the call ended without a report
    ToolResult(Module, CallId, Result<&'a Report, Failure>),
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
    /// Returns whether it changes the semantic state.
    #[must_use]
    pub const fn is_semantic(&self) -> bool {
        matches!(self, Self::AddItem { .. } | Self::UpdateItem { .. } | Self::ForgetItems { .. })
    }

    /// Returns the base event, if it is one. The base events of a log are 000's trace.
    #[must_use]
    pub fn base(&self) -> Option<BaseEvent<'_>> {
        Some(match self {
            Self::UserMsg { user, text, .. } => BaseEvent::UserMsg(user, text),
            Self::ToolCall { call, operation } => BaseEvent::ToolCall(*call, *operation),
            Self::ToolResult { module, call, report } => BaseEvent::ToolResult(*module, *call, Ok(report)),
            Self::CallFailed { module, call, failure }
            | Self::Network(NetworkEvent::AttemptFailed { module, call, failure }) => {
                BaseEvent::ToolResult(*module, *call, Err(*failure))
            }
            Self::AddItem { item, deps } => BaseEvent::AddItem(item, deps),
            Self::UpdateItem { item, deps } => BaseEvent::UpdateItem(item, deps),
            Self::ForgetItems { ids, .. } => BaseEvent::ForgetItems(ids),
            Self::FinalAnswer { text, .. } => BaseEvent::FinalAnswer(text),
            Self::TimeAdvanced { .. }
            | Self::ActionRecorded { .. }
            | Self::SessionStarted { .. }
            | Self::SessionEnded
            | Self::OverBudget { .. }
            | Self::Network(_)
            | Self::Cancelled
            | Self::Resumed
            | Self::Transitioned { .. }
            | Self::PlanAdopted { .. }
            | Self::VetoRaised { .. }
            | Self::ConsensusScored { .. }
            | Self::RatingsUpdated { .. }
            | Self::Decided { .. }
            | Self::ExecutionReported { .. }
            | Self::RepairStarted
            | Self::Concluded { .. }
            | Self::MemoryRecorded { .. }
            | Self::AuditRecorded { .. }
            | Self::AuditUndelivered => return None,
        })
    }
}

/// Why items leave the semantic state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum ForgetCause {
    /// The session ended (003 layer 3).
    SessionEnd,
    /// The items expired (003 layer 3).
    Expiry,
    /// The request ended whose situation they were (002).
    RequestEnd,
    /// A summary replaces them (000 §6).
    Compaction {
        /// The summary.
        into: ItemId,
    },
    /// The session had more items than the policy allows (decision 0021).
    Capacity,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_projection_drops_other_events() {
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
                BaseEvent::ToolCall(call, Operation::VerifyIdentity),
                BaseEvent::ToolResult(module, call, Err(Failure::Timeout)),
                BaseEvent::ForgetItems(&[ItemId::FIRST]),
                BaseEvent::FinalAnswer(&text),
            ]
        );
    }
}
