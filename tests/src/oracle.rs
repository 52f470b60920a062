//! The oracle: an independent implementation of the numbered clauses, decisions and findings, used to test the kernel.
//!
//! It shares no code with the kernel. It reads kernel values through their published encoding into plain types, and no
//! kernel function, method or constant takes part in a decision. It is slow and simple by design: its value is that it
//! was written without the kernel's `decide`, `apply`, table, guards, contexts and numbers. Where no document defines a
//! behaviour, a comment states the reader's interpretation.
//!
//! Deliberately absent: transition ids (only the next phase is compared), the order within a batch (only item ids are
//! ordered), and the texts that the kernel composes, such as tags or the final answer: of these the oracle requires the
//! parts that it must contain, or must not.

mod authority;
mod batch;
mod capacity;
mod compaction;
mod conclusion;
mod consensus;
mod contexts;
mod conversation;
mod debate;
mod duels;
mod encoding;
mod execution;
mod facts;
mod fold;
mod fraction;
mod items;
mod observed;
mod payload;
pub mod policy;
mod preparation;
mod refusals;
mod selection;
pub mod situation;
mod visible_items;
mod workflow;

use conversation::{ExpectedConversation, PendingCall};
use encoding::OracleInput;
use fold::Fold;
use orchestrion_kernel::context::{ByteMeasure, ContextError};
use orchestrion_kernel::module::Failure;
use orchestrion_kernel::state::Call;
use orchestrion_kernel::{
    CallId, ConversationId, Events, ModuleContext, Policy, Refusal, State, TimedInput, build_context,
};
use orchestrion_optimizer::ExactSelector;
use policy::OraclePolicy;
use serde_json::json;
use std::collections::BTreeSet;

/// The expected conversation, step by step.
#[derive(Clone, Debug)]
pub struct Oracle {
    /// The expected state, or the reason why the policy is unreadable.
    expected: Result<ExpectedConversation, String>,
    /// The policy for the kernel's contexts, which are under test.
    policy: Policy,
    /// S as the fold of the kernel's events.
    fold: Fold,
    /// The number of checked inputs.
    steps: u64,
}

impl Oracle {
    /// Returns the oracle for a new conversation under a valid policy.
    #[must_use]
    pub fn new(policy: &Policy, conversation: &ConversationId) -> Self {
        let expected = observed::encode(policy)
            .and_then(OraclePolicy::from_json)
            .map(|policy| ExpectedConversation::new(policy, conversation.as_str()));
        Self { expected, policy: policy.clone(), fold: Fold::default(), steps: 0 }
    }

    /// Checks one step of the kernel: the input with its time, the result of `decide`, the state after it, and the context of
    /// every pending call. After a refusal the state is the unchanged one. The oracle continues from the expected state.
    ///
    /// # Errors
    /// A sentence with the step, the expected value and the found value. After the first error the oracle is unusable.
    pub fn judge(
        &mut self,
        TimedInput { at, input }: &TimedInput,
        decided: Result<&Events, &Refusal>,
        after: &State,
    ) -> Result<(), String> {
        self.steps += 1;
        let before = self.phase().to_owned();
        let input = observed::encode(input)?;
        self.check_step(at.millis(), &input, decided, after)
            .and_then(|()| self.check_kernel_contexts(after))
            .map_err(|wrong| format!("input {} at {at}, {before}, on {input}: {wrong}", self.steps))
    }

    fn check_step(
        &mut self,
        at: u64,
        input: &serde_json::Value,
        decided: Result<&Events, &Refusal>,
        after: &State,
    ) -> Result<(), String> {
        let expected = self.expected.as_mut().map_err(|wrong| wrong.clone())?;
        let parsed: OracleInput =
            serde_json::from_value(input.clone()).map_err(|error| format!("unreadable input: {error}"))?;
        // Decision 0036: time passes before the input.
        let (mut at_input, mut expired) = (self.fold.clone(), BTreeSet::new());
        let time_refusal = facts::time_refusal(&self.fold, at, matches!(parsed, OracleInput::Tick));
        if time_refusal.is_none() && at > self.fold.now {
            expired = facts::pass_time(&mut at_input, at);
        }
        if let Some(refusal) = time_refusal.or_else(|| expected.refusal(&parsed, &at_input)) {
            let found = decided.map_err(observed::refusal_kind);
            if found.map_or_else(|kind| kind != refusal, |_| true) {
                let found = found.map_or_else(
                    |kind| format!("the refusal {kind}"),
                    |events| serde_json::to_string(events).unwrap_or_default(),
                );
                return Err(format!("wrong result: expected the refusal {refusal}, found {found}"));
            }
            if let Err(refusal) = decided {
                observed::compare_refusal(expected, &parsed, refusal)?;
            }
        } else {
            expected.take(&parsed, input, &at_input);
            let mut batch = std::mem::take(&mut expected.batch);
            batch.expired_ids = expired;
            if at > self.fold.now {
                batch.events.push(json!({ "time_advanced": { "now": at } }));
            }
            let events = match decided {
                Ok(events) => observed::encode(events)?,
                Err(refusal) => {
                    return Err(format!(
                        "wrong result: expected events that lead to {}, found the refusal {}: {refusal}",
                        expected.phase,
                        observed::refusal_kind(refusal)
                    ));
                }
            };
            let events = events.as_array().map(Vec::as_slice).unwrap_or_default();
            let (call, was_answered) = (batch.call, expected.request.answer.is_some());
            let capacity = (!expected.is_running()).then_some(&expected.policy);
            let (items, answer) = (&mut expected.items, &mut expected.request.answer);
            let over_budget = batch.compare(events, &mut self.fold, items, answer, capacity)?;
            if !was_answered {
                observed::compare_answer(expected)?;
            }
            observed::compare_over_budget(expected, &self.fold, call, &over_budget)?;
        }
        observed::compare_state(expected, &self.fold, &self.policy, after)
    }

    /// Builds the kernel's context for every pending call and checks it.
    fn check_kernel_contexts(&self, after: &State) -> Result<(), String> {
        let selector = ExactSelector::from_policy(&self.policy);
        for call in after.control().pending_calls() {
            if call.operation.takes_context() {
                let context = build_context(&self.policy, after, call.operation, &ByteMeasure, &selector);
                self.check_context(call.id, context.as_ref())
                    .map_err(|wrong| format!("call {}: {wrong}", call.id))?;
            }
        }
        Ok(())
    }

    /// Checks a context for a pending call, which the kernel built with [`ByteMeasure`].
    ///
    /// # Errors
    /// A sentence with the expected value and the found value.
    pub fn check_context(
        &self,
        call: CallId,
        context: Result<&ModuleContext, &ContextError>,
    ) -> Result<(), String> {
        let expected = self.expected.as_ref().map_err(|wrong| wrong.clone())?;
        // Decision 0021: the summarizer's context is sent before a change of S makes its reply out of date.
        if expected.request.outdated && expected.phase == "Compacting" {
            return Ok(());
        }
        observed::compare_context(expected, &self.fold, call.number(), context)
    }

    /// Returns the pending calls, in id order. A call over budget is not made, and the kernel refuses a reply to it.
    #[must_use]
    pub fn pending_calls(&self) -> Vec<Call> {
        let calls = self.expected.iter().flat_map(|expected| &expected.pending_calls);
        let call = |call: &PendingCall| {
            let operation = serde_json::from_value(serde_json::to_value(call.operation).ok()?).ok()?;
            Some(Call {
                id: CallId::new(call.id),
                operation,
                not_made: call.over_budget.then_some(Failure::OverBudget),
            })
        };
        calls.filter_map(call).collect()
    }

    /// Returns the phase, by its name in 004.
    #[must_use]
    pub fn phase(&self) -> &str {
        self.expected.as_ref().map_or("", |expected| expected.phase)
    }
}
