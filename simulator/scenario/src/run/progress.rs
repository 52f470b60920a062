//! How far the recorded steps of a trace have used a scenario: its requests, scripted events and replies.
//!
//! A recorded call used the reply that the script would have given, whatever the trace records as its outcome. So a list continues with the
//! reply after it, and a random stream with its next number. The reply to a call that is still pending is kept for it.

use super::{PhaseVisit, Scenario, ScriptedEvent, ScriptedRequest};
use crate::ingest;
use crate::script::{CallScene, DelayedReply, ScriptError};
use orchestrion_kernel::context::ContextBuilder;
use orchestrion_kernel::module::Operation;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{CallId, Event, Input, Policy, State};
use orchestrion_text::StandardContexts;
use orchestrion_trace::ConversationFold;
use orchestrion_trace::fork::ForkStep;
use orchestrion_yaml::Spanned;
use std::collections::BTreeMap;
use std::time::Duration;

/// The rest of a scenario after some recorded steps.
#[derive(Debug)]
pub struct Progress {
    pub(super) scenario: Scenario,
    policy: Policy,
    /// The request that runs, with its further events.
    pub(super) request: Option<ScriptedRequest>,
    pub(super) events: Vec<(PhaseVisit, ScriptedEvent)>,
    /// The index of the next request.
    pub(super) next_request: usize,
    /// The calls that were sent, and to which the script has not replied yet.
    sent: BTreeMap<CallId, SentCall>,
    /// The replies to calls that were sent and are pending.
    pub(super) replies: BTreeMap<CallId, DrawnReply>,
    /// The first call without a reply in the script.
    error: Option<ScriptError>,
}

/// A call as the script sees it.
#[derive(Clone, Debug)]
struct SentCall {
    operation: Operation,
    context: String,
    sent_at_ms: u64,
}

/// A reply that the script gave to a call.
#[derive(Clone, Debug)]
pub(super) struct DrawnReply {
    reply: DelayedReply,
    sent_at_ms: u64,
}

impl DrawnReply {
    /// Returns the reply with what is left of its delay at this time.
    pub(super) fn remaining(self, now_ms: u64) -> DelayedReply {
        let waited = Duration::from_millis(now_ms.saturating_sub(self.sent_at_ms));
        DelayedReply { after: self.reply.after.saturating_sub(waited), ..self.reply }
    }
}

impl Progress {
    /// Starts at the beginning of a scenario, for a trace under this policy.
    #[must_use]
    pub fn new(scenario: Scenario, policy: Policy) -> Self {
        Self {
            scenario,
            policy,
            request: None,
            events: Vec::new(),
            next_request: 0,
            sent: BTreeMap::new(),
            replies: BTreeMap::new(),
            error: None,
        }
    }

    /// Takes the first call to which the script has no reply, if a recorded one has none.
    pub fn take_error(&mut self) -> Option<ScriptError> {
        self.error.take()
    }

    /// Follows a recorded step.
    pub fn observe(&mut self, step: &ForkStep<'_>) {
        let ForkStep { before, after, recorded, .. } = step;
        // The scripted event was the recorded input, whatever the fork sets.
        match recorded {
            Input::UserMessage { .. } if before.state().control().phase().is_quiescent() => {
                self.request = self.scenario.requests.get(self.next_request).cloned();
                self.events = self.request.as_ref().map(|request| request.events.clone()).unwrap_or_default();
                self.next_request += 1;
            }
            Input::UserMessage { .. } | Input::Write(_) | Input::Network(_) => {
                self.use_event(before, recorded)
            }
            Input::Cancel => self.use_event(before, recorded),
            Input::Resume => {
                self.use_event(before, recorded);
                // After a crash the pending calls are sent again, and the script replies again.
                self.sent.clear();
                self.replies.clear();
            }
            // The runtime sends all pending calls before an internal step, and does not wait for their replies.
            Input::Step => self.send_pending(before),
            Input::Reply { .. } | Input::CallFailed { .. } | Input::Tick => {
                self.send_pending(before);
                self.draw_replies(before);
            }
            Input::SessionStart { .. } | Input::SessionEnd => {}
        }
        self.end_calls(step);
        let is_ended = after.state().control().phase().is_quiescent();
        if is_ended {
            self.request = None;
            self.events.clear();
        }
    }

    /// Sends the pending calls that were not sent yet.
    fn send_pending(&mut self, before: &ConversationFold) {
        let state = before.state();
        for Call { id, operation, not_made } in state.control().pending_calls().iter().copied() {
            if self.replies.contains_key(&id) || self.sent.contains_key(&id) || not_made.is_some() {
                continue;
            }
            let context = match operation.takes_context() {
                true => StandardContexts.build(&self.policy, state, operation).ok(),
                false => None,
            };
            let context = context.map(|context| context.text).unwrap_or_default();
            // It was sent when the input before arrived.
            self.sent.insert(id, SentCall { operation, context, sent_at_ms: state.now().millis() });
        }
    }

    /// Draws the replies to the calls that were sent.
    fn draw_replies(&mut self, before: &ConversationFold) {
        let (Some(facts), Some(request)) = (before.facts(), before.state().control().request()) else {
            return;
        };
        for (id, SentCall { operation, context, sent_at_ms }) in std::mem::take(&mut self.sent) {
            let scene = CallScene {
                operation,
                request: request.id,
                pass: request.debate.pass,
                user: &facts.user,
                text: &facts.text,
                node: None,
                context: &context,
            };
            match self.scenario.script.reply(&scene) {
                Ok(reply) => {
                    self.replies.insert(id, DrawnReply { reply, sent_at_ms });
                }
                Err(error) => {
                    self.error.get_or_insert(error);
                }
            }
        }
    }

    /// Removes the replies to calls that ended. A store that replied holds its record.
    fn end_calls(&mut self, step: &ForkStep<'_>) {
        for event in step.events {
            if let Event::ToolResult { call, report, .. } = event
                && let Some(pending) = step.before.state().control().pending_call(*call)
                && matches!(pending.operation, Operation::StoreMemory { .. })
                && let Some(facts) = step.before.facts()
                && let Some(record) = &facts.memory_record
            {
                self.scenario.script.store_record(report, &facts.user, &facts.text, record);
            }
        }
        let control = step.after.state().control();
        self.replies.retain(|call, _| control.pending_call(*call).is_some());
        self.sent.retain(|call, _| control.pending_call(*call).is_some());
    }

    /// Removes the scripted event that this input was, and those before it.
    fn use_event(&mut self, before: &ConversationFold, input: &Input) {
        let phase = before.state().control().phase();
        let visit = before.facts().map_or(0, |facts| facts.visits(phase));
        self.expand_texts(before.state(), PhaseVisit { phase, visit });
        let is_here = |at: &PhaseVisit| *at == PhaseVisit { phase, visit };
        let used = self.events.iter().position(|(at, event)| is_here(at) && is_event(event, input));
        let Some(used) = used else { return };
        let mut index = 0;
        self.events.retain(|(at, _)| {
            index += 1;
            index - 1 > used || !is_here(at)
        });
    }

    /// Replaces the next scripted event by its writes, if it is a text.
    fn expand_texts(&mut self, state: &State, now: PhaseVisit) {
        let next = self.events.iter().position(|(at, _)| *at == now);
        let Some(next) = next else { return };
        let ScriptedEvent::Ingest(text) = &self.events[next].1 else { return };
        let writes = ingest(&self.policy, state, &text.value).into_iter();
        let writes: Vec<_> = writes
            .map(|write| {
                let write = crate::ScriptedWrite { write: Spanned::from(write), refused: false };
                (now, ScriptedEvent::Write(Box::new(write)))
            })
            .collect();
        self.events.splice(next..=next, writes);
    }
}

/// Whether a scripted event gives this input.
fn is_event(event: &ScriptedEvent, input: &Input) -> bool {
    match (event, input) {
        (ScriptedEvent::Write(write), Input::Write(recorded)) => write.write.value == **recorded,
        (ScriptedEvent::Network(network), Input::Network(recorded)) => network.input.value == **recorded,
        (ScriptedEvent::Interrupt(text), Input::UserMessage { text: recorded, .. }) => text == recorded,
        (ScriptedEvent::Crash, Input::Resume) | (ScriptedEvent::Cancel, Input::Cancel) => true,
        (
            ScriptedEvent::Write(_)
            | ScriptedEvent::Network(_)
            | ScriptedEvent::Ingest(_)
            | ScriptedEvent::Interrupt(_)
            | ScriptedEvent::Crash
            | ScriptedEvent::Cancel,
            _,
        ) => false,
    }
}
