//! The orchestrator's state, and `apply`, its sole writer (000 §4).
//!
//! `State` is the fold of the event log; the log is not part of it. It stays small (design §2): only each role's latest
//! argument, counters only where the policy bounds them, and nothing of a finished request but its items.

mod call;
mod ledger;
mod network;
mod payload;
mod request;
mod run;
mod workflow;

pub use call::Call;
use call::find_call;
pub use ledger::{EffectsLedger, StartedTask};
pub use network::{Assignment, NetworkState};
pub(crate) use payload::task_bytes_max;
pub use request::{Debate, PlanRevision, Request, ScoredRevision};
pub use run::TaskOutcomes;
pub use workflow::{FailedValidations, MemberAnswer, Workflow};

use crate::control::phase::Phase;
use crate::control::table::Transition;
use crate::event::Event;
use crate::ids::{CallId, ConversationId, RequestId, Timestamp, TraceId, UserId};
use crate::input::Input;
use crate::item::Scope;
use crate::knowledge::Principal;
use crate::module::{Failure, Operation};
use crate::network::NetworkEvent;
use crate::semantic::SemanticState;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// One conversation: `(S, C)` of 000's `O`, and the time. The runtime keeps the log `τ`.
///
/// ```
/// use orchestrion_kernel::{ConversationId, Input, Phase, Policy, State, Timestamp, UserId, decide};
///
/// let mut state = State::new(ConversationId::new("demo"));
/// assert_eq!(state.control().phase(), Phase::Idle);
/// let input = Input::session_start(UserId::new("ada"));
/// for event in &decide(&Policy::hardened(), &state, Timestamp::default(), &input)? {
///     state.apply(event);
/// }
/// assert_eq!(state.control().session(), Some(&UserId::new("ada")));
/// # Ok::<(), orchestrion_kernel::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    semantic: SemanticState,
    control: Control,
    network: Option<Arc<NetworkState>>,
    now: Timestamp,
}

/// The control state `C`: phase, session, pending calls and running request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Control {
    conversation: ConversationId,
    phase: Phase,
    session: Option<UserId>,
    next_request: RequestId,
    next_call: CallId,
    /// In id order. At most one, except while tasks run.
    pending_calls: Vec<Call>,
    /// Shared by copies of the state until one of them changes it.
    request: Option<Arc<Request>>,
}

impl State {
    /// Creates the initial state of a conversation.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            semantic: SemanticState::default(),
            network: None,
            now: Timestamp::default(),
            control: Control::new(conversation),
        }
    }

    /// Returns the state reduced to what the context of a call with this operation depends on. Every other part has its initial
    /// value.
    #[cfg(feature = "checker")]
    #[must_use]
    pub fn reduced_to_context(&self, operation: Operation) -> Self {
        let reduce = |request: &Arc<Request>| Arc::new(request.reduced_to_context(operation));
        let control = Control {
            session: self.control.session.clone(),
            request: self.control.request.as_ref().map(reduce),
            ..Control::new(self.control.conversation.clone())
        };
        Self { semantic: self.semantic.clone(), control, network: None, now: self.now }
    }

    /// Returns the semantic state `S`: items and their dependencies.
    #[must_use]
    pub const fn semantic(&self) -> &SemanticState {
        &self.semantic
    }

    /// Returns the control state `C`.
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Returns the network; `None` if the orchestrator executes every call itself (decision 0042).
    #[must_use]
    pub fn network(&self) -> Option<&NetworkState> {
        self.network.as_deref()
    }

    /// Returns the network, which a batch changes before it is applied.
    pub(crate) fn shared_network(&self) -> Option<Arc<NetworkState>> {
        self.network.clone()
    }

    /// Returns the kernel's time: that of the last accepted input (003 layer 4). 1970-01-01 before the first.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the control state, for a model checker to mutate.
    #[cfg(feature = "checker")]
    pub const fn control_mut(&mut self) -> &mut Control {
        &mut self.control
    }

    /// Returns the network, for a model checker to mutate.
    #[cfg(feature = "checker")]
    pub fn network_mut(&mut self) -> Option<&mut NetworkState> {
        self.network.as_mut().map(Arc::make_mut)
    }

    /// Applies one event. Total: it never panics, and applies a foreign event as far as possible. Events of
    /// [`decide`](crate::decide) always fit.
    pub fn apply(&mut self, event: &Event) {
        if let Event::TimeAdvanced { now } = event {
            self.now = *now;
        }
        self.semantic.apply(event);
        // It reads which calls are pending, and the control state forgets them.
        NetworkState::apply(&mut self.network, event, self.now);
        self.control.apply(event);
    }

    /// Returns the principal of the open session, in the scope of the running request.
    #[must_use]
    pub fn session_principal(&self) -> Principal {
        self.principal_in(self.control.request().map_or(&Scope::Global, |request| &request.scope))
    }

    /// Returns the principal of the open session that reads for a call with this operation.
    #[must_use]
    pub fn call_principal(&self, operation: Operation) -> Principal {
        let request = self.control.request();
        self.principal_in(request.map_or(&Scope::Global, |request| request.call_scope(operation)))
    }

    /// Returns the principal of the open session in this scope.
    #[must_use]
    pub fn principal_in(&self, scope: &Scope) -> Principal {
        self.semantic.session_principal(self.control.session(), scope.clone(), self.now)
    }

    /// Renumbers item ids, the ids of pending calls and plan revisions, keeping their order (design §2, rule 3). States that
    /// differ only in these numbers become equal. Requests keep their numbers, because items are keyed by them.
    pub fn canonicalize(&mut self) {
        self.semantic.canonicalize();
        if let Some(network) = &mut self.network {
            let pending: Vec<CallId> = self.control.pending_calls.iter().map(|call| call.id).collect();
            Arc::make_mut(network).canonicalize(&pending);
        }
        self.control.canonicalize();
    }
}

impl Control {
    const fn new(conversation: ConversationId) -> Self {
        Self {
            conversation,
            phase: Phase::Idle,
            session: None,
            next_request: RequestId::FIRST,
            next_call: CallId::FIRST,
            pending_calls: Vec::new(),
            request: None,
        }
    }

    /// Returns the conversation id.
    #[must_use]
    pub const fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// Returns the phase.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the user whose session is open.
    #[must_use]
    pub const fn session(&self) -> Option<&UserId> {
        self.session.as_ref()
    }

    /// Returns the pending calls, in id order. There is at most one, except while tasks run.
    #[must_use]
    pub fn pending_calls(&self) -> &[Call] {
        &self.pending_calls
    }

    /// Returns the pending call with this id.
    #[must_use]
    pub fn pending_call(&self, id: CallId) -> Option<Call> {
        find_call(&self.pending_calls, id)
    }

    /// Returns the pending call that an input answers.
    #[must_use]
    pub fn answered_call(&self, input: &Input) -> Option<Call> {
        match input {
            Input::Reply { call, .. } | Input::CallFailed { call, .. } => self.pending_call(*call),
            Input::SessionStart { .. }
            | Input::SessionEnd
            | Input::UserMessage { .. }
            | Input::Step
            | Input::Cancel
            | Input::Write(_)
            | Input::Network(_)
            | Input::Tick
            | Input::Resume => None,
        }
    }

    /// Returns the running request.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        self.request.as_deref()
    }

    /// Returns the running request, for a model checker to mutate.
    #[cfg(feature = "checker")]
    #[must_use]
    pub fn request_mut(&mut self) -> Option<&mut Request> {
        self.request.as_mut().map(Arc::make_mut)
    }

    /// Returns the number of the next request.
    #[must_use]
    pub const fn next_request(&self) -> RequestId {
        self.next_request
    }

    /// Returns the id of the next call.
    #[must_use]
    pub const fn next_call(&self) -> CallId {
        self.next_call
    }

    /// Returns the trace id of a request of this conversation.
    #[must_use]
    pub fn trace_id(&self, request: RequestId) -> TraceId {
        TraceId { conversation: self.conversation.clone(), request }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionStarted { user } => self.session = Some(user.clone()),
            Event::SessionEnded => self.session = None,
            Event::UserMsg { request, text, scope, .. } => {
                self.next_request = self.next_request.max(request.next());
                self.request = Some(Arc::new(Request::new(*request, text.clone(), scope.clone())));
            }
            Event::ToolCall { call, operation } => {
                self.next_call = self.next_call.max(call.next());
                let at = self.pending_calls.partition_point(|pending| pending.id < *call);
                self.pending_calls.insert(at, Call { id: *call, operation: *operation, not_made: None });
            }
            Event::OverBudget { call, .. } => {
                self.set_not_made(*call, Failure::OverBudget);
            }
            Event::Network(NetworkEvent::NoCandidates { call, .. }) => {
                self.set_not_made(*call, Failure::NoCandidates);
            }
            Event::Transitioned { row } => self.take_transition(row.transition()),
            // The calls stay pending until the request has read them, below.
            Event::ToolResult { .. }
            | Event::CallFailed { .. }
            | Event::Network(_)
            | Event::Cancelled
            | Event::TimeAdvanced { .. }
            | Event::AddItem { .. }
            | Event::UpdateItem { .. }
            | Event::ForgetItems { .. }
            | Event::FinalAnswer { .. }
            | Event::ActionRecorded { .. }
            | Event::Resumed
            | Event::PlanAdopted { .. }
            | Event::VetoRaised { .. }
            | Event::ConsensusScored { .. }
            | Event::RatingsUpdated { .. }
            | Event::Decided { .. }
            | Event::ExecutionReported { .. }
            | Event::RepairStarted
            | Event::Concluded { .. }
            | Event::MemoryRecorded { .. }
            | Event::AuditRecorded { .. }
            | Event::AuditUndelivered => {}
        }
        if let Some(request) = &mut self.request {
            Request::apply(request, event, &self.pending_calls);
        }
        if let Event::ToolResult { call, .. }
        | Event::CallFailed { call, .. }
        | Event::Network(NetworkEvent::AttemptFailed { call, .. }) = event
        {
            self.pending_calls.retain(|pending| pending.id != *call);
        }
        if *event == Event::Cancelled {
            self.pending_calls.clear();
        }
    }

    fn set_not_made(&mut self, call: CallId, failure: Failure) {
        let called = self.pending_calls.iter_mut().filter(|pending| pending.id == call);
        called.for_each(|pending| pending.not_made = Some(failure));
    }

    /// Changes the phase. No other function does.
    fn take_transition(&mut self, row: &Transition) {
        let from = core::mem::replace(&mut self.phase, row.to);
        if row.to.is_quiescent() {
            self.request = None;
        } else if let Some(request) = &mut self.request {
            Request::enter(request, from, row.to);
        }
    }

    fn canonicalize(&mut self) {
        self.next_call = CallId::FIRST;
        for call in &mut self.pending_calls {
            call.id = self.next_call;
            self.next_call = self.next_call.next();
        }
        if let Some(request) = &mut self.request
            && !request.is_canonical()
        {
            Arc::make_mut(request).canonicalize();
        }
    }
}
