//! Facts that events determine: about one batch, and about a request.
//!
//! The kernel forgets what no later decision reads. The runtime, the scenarios and the reports still need it; they read it
//! here. Facts of a single report stay in that report. The claims and the oracle judge the kernel, so they derive their own.

use crate::denial::denied_item;
use crate::format::{PossibleLoss, StepMetadata};
use crate::line_limits::json_len_bytes;
use crate::recent_inputs::{RecentInputs, RecordedInput};
use orchestrion_kernel::control::table::Transition;
use orchestrion_kernel::event::{AuditRecord, Conclusion, MemoryRecord};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::network::NetworkEvent;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{ConversationId, Event, Phase, RequestId, State, Text, TraceId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Returns the transition of a batch. A write and a resume have none.
#[must_use]
pub fn transition(events: &[Event]) -> Option<&'static Transition> {
    events.iter().find_map(|event| {
        let Event::Transitioned { row } = event else { return None };
        Some(row.transition())
    })
}

/// Returns the call that a batch emits.
#[must_use]
pub fn emitted_call(events: &[Event]) -> Option<Call> {
    let not_made = events.iter().find_map(|event| match event {
        Event::OverBudget { .. } => Some(Failure::OverBudget),
        Event::Network(NetworkEvent::NoCandidates { .. }) => Some(Failure::NoCandidates),
        _ => None,
    });
    events.iter().rev().find_map(|event| {
        let Event::ToolCall { call, operation } = event else { return None };
        Some(Call { id: *call, operation: *operation, not_made })
    })
}

/// Returns the call that a batch emits, if its module reads a context.
#[must_use]
pub fn emitted_context_call(events: &[Event]) -> Option<Call> {
    emitted_call(events).filter(|call| call.operation.takes_context())
}

/// The state of a conversation, and the facts about its running or latest request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationFold {
    state: State,
    facts: Option<RequestFacts>,
    /// The inputs that the host sent with a key. No event contains them.
    #[serde(default, skip_serializing_if = "RecentInputs::is_empty")]
    inputs: RecentInputs,
    /// See [`Self::possible_loss`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    possible_loss: Option<PossibleLoss>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestResult {
    /// The trace id of the request.
    pub trace: TraceId,
    /// The conclusion; `None` if the policy concludes no request.
    pub conclusion: Option<Conclusion>,
    /// The final answer.
    pub text: Text,
}

/// Facts about one request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestFacts {
    /// The number of the request.
    pub id: RequestId,
    /// Its user.
    pub user: UserId,
    /// Its text.
    pub text: Text,
    /// The step that started it.
    pub first_step: u64,
    /// The accepted inputs that entered each phase, also from itself. Not every phase is a string in JSON, so they are pairs.
    #[serde(with = "pairs")]
    visits: BTreeMap<Phase, u32>,
    /// The passes of the debate.
    pub passes: u32,
    /// The runs of a plan.
    pub runs: u32,
    /// The size of all replies in bytes of JSON.
    pub reply_bytes: usize,
    /// The conclusion.
    pub conclusion: Option<Conclusion>,
    /// The record for the stores.
    pub memory_record: Option<MemoryRecord>,
    /// The record for the audit sink, with its step.
    pub audit_record: Option<(u64, AuditRecord)>,
    /// The result, with its step.
    pub result: Option<(u64, RequestResult)>,
}

impl ConversationFold {
    /// Creates the fold of a conversation without steps.
    #[must_use]
    pub fn new(conversation: ConversationId) -> Self {
        Self {
            state: State::new(conversation),
            facts: None,
            inputs: RecentInputs::default(),
            possible_loss: None,
        }
    }

    /// The current state.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The facts about the running or latest request.
    pub const fn facts(&self) -> Option<&RequestFacts> {
        self.facts.as_ref()
    }

    /// The latest inputs that the host sent with a key.
    pub const fn inputs(&self) -> &RecentInputs {
        &self.inputs
    }

    /// What may be missing of the steps so far, as [steps say](StepMetadata::possible_loss). A lost call belongs to the request that ran,
    /// so this loss is over when that request or the next one has ended. Lost steps may belong to any number of requests, which the host may
    /// send again at any time.
    pub const fn possible_loss(&self) -> Option<PossibleLoss> {
        self.possible_loss
    }

    /// Remembers the key of a step, if it has one, and what may be missing before it. `events` is the batch of the step, `None` if its input
    /// was refused.
    pub fn record_metadata(&mut self, step: u64, metadata: &StepMetadata, events: Option<&[Event]>) {
        let is_accepted = events.is_some_and(|events| denied_item(events).is_none());
        if let Some(idempotency) = metadata.idempotency.clone() {
            self.inputs.record(RecordedInput { idempotency, step, is_accepted });
        }
        self.possible_loss = self.possible_loss.max(metadata.possible_loss);
    }

    /// Applies the batch of a step.
    pub fn apply(&mut self, step: u64, events: &[Event]) {
        let was_running = self.state.control().request().is_some();
        for event in events {
            if let Event::UserMsg { request, user, text, .. } = event {
                self.facts = Some(RequestFacts::new(*request, user, text, step));
            } else if let Some(facts) = &mut self.facts {
                facts.apply(step, &self.state, event);
            }
            self.state.apply(event);
        }
        let has_ended = was_running && self.state.control().request().is_none();
        self.possible_loss = self.possible_loss.filter(|loss| *loss == PossibleLoss::Steps || !has_ended);
    }
}

impl RequestFacts {
    fn new(id: RequestId, user: &UserId, text: &Text, first_step: u64) -> Self {
        Self {
            id,
            user: user.clone(),
            text: text.clone(),
            first_step,
            visits: BTreeMap::new(),
            passes: 0,
            runs: 0,
            reply_bytes: 0,
            conclusion: None,
            memory_record: None,
            audit_record: None,
            result: None,
        }
    }

    /// Returns the number of accepted inputs that entered the phase.
    #[must_use]
    pub fn visits(&self, phase: Phase) -> u32 {
        self.visits.get(&phase).copied().unwrap_or_default()
    }

    /// Adds an event. `state` is the state before it.
    fn apply(&mut self, step: u64, state: &State, event: &Event) {
        let request = state.control().request();
        match event {
            Event::ToolResult { report, .. } => self.reply_bytes += json_len_bytes(report),
            Event::ActionRecorded { record, .. } => self.reply_bytes += json_len_bytes(record),
            Event::Transitioned { row } => {
                let (from, to) = (state.control().phase(), row.transition().to);
                self.passes = self.passes.max(request.map_or(0, |request| request.debate.pass));
                // A run that continues after a review has outcomes.
                let starts_run = request.is_some_and(|request| request.outcomes.is_empty());
                self.runs += u32::from(to == Phase::RunningTasks && from != to && starts_run);
                if !to.is_quiescent() {
                    *self.visits.entry(to).or_default() += 1;
                }
            }
            Event::Concluded { conclusion } => self.conclusion = Some(*conclusion),
            Event::MemoryRecorded { record } => self.memory_record = Some(record.clone()),
            Event::AuditRecorded { record } => self.audit_record = Some((step, record.clone())),
            Event::FinalAnswer { trace, text } => {
                let (trace, text) = (trace.clone(), text.clone());
                self.result = Some((step, RequestResult { trace, conclusion: self.conclusion, text }));
            }
            Event::TimeAdvanced { .. }
            | Event::UserMsg { .. }
            | Event::ToolCall { .. }
            | Event::AddItem { .. }
            | Event::UpdateItem { .. }
            | Event::ForgetItems { .. }
            | Event::SessionStarted { .. }
            | Event::SessionEnded
            | Event::CallFailed { .. }
            | Event::OverBudget { .. }
            | Event::Network(_)
            | Event::Cancelled
            | Event::Resumed
            | Event::PlanAdopted { .. }
            | Event::VetoRaised { .. }
            | Event::ConsensusScored { .. }
            | Event::RatingsUpdated { .. }
            | Event::Decided { .. }
            | Event::ExecutionReported { .. }
            | Event::RepairStarted
            | Event::AuditUndelivered => {}
        }
    }
}

/// Maps as lists of pairs.
mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Vec::deserialize(deserializer).map(|pairs: Vec<(K, V)>| pairs.into_iter().collect())
    }
}
