//! The batch under construction.

use crate::context::{BudgetError, pinned_fit};
use crate::event::{Event, Events};
use crate::ids::{CallId, ItemId, Revision};
use crate::item::Scope;
use crate::module::Operation;
use crate::policy::Policy;
use crate::state::{Request, State};
use alloc::vec::Vec;

/// The events emitted so far, and the request after them.
pub(super) struct Batch<'a> {
    pub(super) policy: &'a Policy,
    /// The state before the input.
    pub(super) state: &'a State,
    /// A copy of the running request, to which every emitted event is applied. It is small, and `apply` remains the only
    /// definition of what an event changes.
    pub(super) request: Option<Request>,
    pub(super) events: Events,
    pub(super) next_item: ItemId,
    next_call: CallId,
}

impl<'a> Batch<'a> {
    pub(super) fn new(policy: &'a Policy, state: &'a State) -> Self {
        Self {
            policy,
            state,
            request: state.control().request().cloned(),
            // The capacity of a usual batch.
            events: Vec::with_capacity(6),
            next_item: state.semantic().next_id(),
            next_call: state.control().next_call(),
        }
    }

    pub(super) fn into_events(self) -> Events {
        self.events
    }

    pub(super) fn emit(&mut self, event: Event) {
        if let Event::UserMsg { request, text, scope, .. } = &event {
            self.request = Some(Request::new(*request, text.clone(), scope.clone()));
        }
        if let Event::AddItem { item, .. } = &event {
            self.next_item = item.id.next();
        }
        if let Some(request) = &mut self.request {
            request.apply(&event, self.state.control().pending_call());
            if let Event::Transitioned { row } = &event {
                request.enter(self.state.control().phase(), row.transition().to);
            }
        }
        self.events.push(event);
    }

    /// Emits a call. If the pinned items of its context and its payload exceed the budget, the call is emitted as over budget and fails.
    pub(super) fn emit_call(&mut self, operation: Operation) {
        let call = self.next_call;
        self.next_call = call.next();
        self.emit(Event::ToolCall { call, operation });
        if !operation.takes_context() {
            return;
        }
        let mut semantic = self.state.semantic().clone();
        self.events.iter().for_each(|event| semantic.apply(event));
        let request = self.request.as_ref();
        let scope = request.map_or(&Scope::Global, |request| request.call_scope(operation)).clone();
        let principal = semantic.session_principal(self.state.control().session(), scope, self.state.now());
        if let Err(BudgetError { required_tokens, budget_tokens }) =
            pinned_fit(self.policy, &semantic, &principal, request, operation)
        {
            self.emit(Event::OverBudget { call, required_tokens, budget_tokens });
        }
    }

    /// The revision of the current plan.
    pub(super) fn revision(&self) -> Revision {
        self.request
            .as_ref()
            .and_then(|request| request.plan.as_ref())
            .map_or(Revision::FIRST, |plan| plan.revision)
    }
}
