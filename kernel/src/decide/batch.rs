//! The batch under construction.

use crate::context::{BudgetError, certainly_fits, pinned_fit};
use crate::event::{BaseEvent, Event, Events};
use crate::ids::{CallId, ItemId, Revision};
use crate::item::Scope;
use crate::module::Operation;
use crate::policy::Policy;
use crate::state::{Assignment, Control, NetworkState, State};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// The events emitted so far, and the control state after them.
pub(super) struct Batch<'a> {
    pub(super) policy: &'a Policy,
    /// The state before the input.
    pub(super) state: &'a State,
    /// A copy of the control state, to which every emitted event is applied. It shares what grows with the plan, and `apply`
    /// remains the only definition of what an event changes.
    pub(super) control: Control,
    /// A copy of the network, to which every emitted event is applied.
    pub(super) network: Option<Arc<NetworkState>>,
    pub(super) events: Events,
    pub(super) next_item: ItemId,
}

impl<'a> Batch<'a> {
    pub(super) fn new(policy: &'a Policy, state: &'a State) -> Self {
        Self {
            policy,
            state,
            control: state.control().clone(),
            network: state.shared_network(),
            // The capacity of a usual batch.
            events: Vec::with_capacity(6),
            next_item: state.semantic().next_id(),
        }
    }

    pub(super) fn into_events(self) -> Events {
        self.events
    }

    pub(super) fn emit(&mut self, event: Event) {
        if let Event::AddItem { item, .. } = &event {
            self.next_item = item.id.next();
        }
        NetworkState::apply(&mut self.network, &event, self.state.now());
        self.control.apply(&event);
        self.events.push(event);
    }

    /// Emits a call. If the pinned items of its context and its payload exceed the budget, the call is emitted as over budget and
    /// fails; otherwise it is routed.
    pub(super) fn emit_call(&mut self, operation: Operation) {
        self.emit_attempt(operation, None);
    }

    /// Emits a call, or another attempt after an earlier one.
    pub(super) fn emit_attempt(&mut self, operation: Operation, earlier: Option<&Assignment>) {
        let call = self.control.next_call();
        self.emit(Event::ToolCall { call, operation });
        if operation.takes_context() && self.is_over_budget(call, operation) {
            return;
        }
        self.route_call(call, operation, earlier);
    }

    /// Returns an upper bound on the bytes of the lines of all valid items after the events emitted so far. It counts an updated item
    /// twice, so that it needs no semantic state.
    fn line_bytes_max(&self) -> usize {
        let written = self.events.iter().map(|event| match event.base() {
            Some(BaseEvent::AddItem(item, _) | BaseEvent::UpdateItem(item, _)) => item.line_bytes_max(),
            _ => 0,
        });
        written.fold(self.state.semantic().line_bytes_max(), usize::saturating_add)
    }

    /// Emits that a call is over budget, if it is.
    fn is_over_budget(&mut self, call: CallId, operation: Operation) -> bool {
        let request = self.control.request();
        if certainly_fits(self.policy, self.line_bytes_max(), request, operation) {
            return false;
        }
        let semantic = self.state.semantic().after(&self.events);
        let scope = request.map_or(&Scope::Global, |request| request.call_scope(operation)).clone();
        let principal = semantic.session_principal(self.state.control().session(), scope, self.state.now());
        if let Err(BudgetError { required_tokens, budget_tokens }) =
            pinned_fit(self.policy, &semantic, &principal, request, operation)
        {
            self.emit(Event::OverBudget { call, required_tokens, budget_tokens });
            return true;
        }
        false
    }

    /// The revision of the current plan.
    pub(super) fn revision(&self) -> Revision {
        let plan = self.control.request().and_then(|request| request.plan.as_ref());
        plan.map_or(Revision::FIRST, |plan| plan.revision)
    }
}
