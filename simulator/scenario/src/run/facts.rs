//! The facts of a run that experiments count: they need no trace.

use super::ScenarioResult;
use orchestrion_kernel::event::{Conclusion, DecisionLabel};
use orchestrion_kernel::module::Module;
use orchestrion_kernel::{CallId, Event, Refusal};
use orchestrion_runtime::{Observer, lock_ignoring_poison};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a run of a scenario gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFacts {
    /// The requests that started, in order.
    pub requests: Vec<RequestFacts>,
    /// The sum of the tokens of all contexts that modules received, with the data of their calls.
    pub context_tokens: u64,
    /// The simulated time from the start of the conversation to its end.
    pub time: Duration,
    /// The number of steps, including refused inputs.
    pub steps: u64,
    /// The refusal at which the conversation halted, if it did.
    pub halted: Option<Refusal>,
    /// The number of expectations that the run does not meet, and of writes that were refused or accepted against the script.
    pub unmet_expectations: usize,
    /// The number of scripted events and replies that did not occur.
    pub unused_events: usize,
}

/// What a request gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFacts {
    /// The label of its latest decision, if the debate decided.
    pub label: Option<DecisionLabel>,
    /// Its conclusion, if it concluded.
    pub conclusion: Option<Conclusion>,
    /// The passes of the debate.
    pub passes: u32,
    /// The calls of each module.
    pub calls: BTreeMap<Module, u32>,
}

/// The facts of a run so far. Its observer follows each accepted input; copies share the facts.
#[derive(Clone, Debug, Default)]
pub(super) struct FactsFolds(Arc<Mutex<RunFacts>>);

impl FactsFolds {
    /// Returns an observer that collects the events, and asks another one which calls are forbidden.
    pub(super) fn observer(&self, inner: Option<Box<dyn Observer>>) -> Box<dyn Observer> {
        Box::new(FactsObserver { folds: self.clone(), inner })
    }

    /// Adds the tokens of a context and of the data of its call.
    pub(super) fn add_context(&self, cost_tokens: u64, payload_tokens: u64) {
        lock_ignoring_poison(&self.0).context_tokens += cost_tokens + payload_tokens;
    }

    /// Sets the passes of the running or latest request.
    pub(super) fn set_passes(&self, passes: u32) {
        if let Some(request) = lock_ignoring_poison(&self.0).requests.last_mut() {
            request.passes = passes;
        }
    }

    /// Sets the simulated time of the run.
    pub(super) fn set_time(&self, time: Duration) {
        lock_ignoring_poison(&self.0).time = time;
    }

    /// Returns the facts with those of the result.
    pub(super) fn finish(self, result: &ScenarioResult) -> RunFacts {
        let facts = std::mem::take(&mut *lock_ignoring_poison(&self.0));
        RunFacts {
            steps: result.steps,
            halted: result.halted.clone(),
            unmet_expectations: result.unmet_expectations.len() + result.unexpected_writes.len(),
            unused_events: result.unused_events.len(),
            ..facts
        }
    }
}

/// The observer of a run whose facts are collected.
#[derive(Debug)]
struct FactsObserver {
    folds: FactsFolds,
    inner: Option<Box<dyn Observer>>,
}

impl Observer for FactsObserver {
    fn observe(&mut self, step: u64, events: &[Event]) {
        {
            let mut facts = lock_ignoring_poison(&self.folds.0);
            for event in events {
                if let Event::UserMsg { .. } = event {
                    facts.requests.push(RequestFacts::default());
                }
                if let Some(request) = facts.requests.last_mut() {
                    request.apply(event);
                }
            }
        }
        if let Some(inner) = &mut self.inner {
            inner.observe(step, events);
        }
    }

    fn forbids(&self, call: CallId) -> Option<String> {
        self.inner.as_ref()?.forbids(call)
    }
}

impl RequestFacts {
    fn apply(&mut self, event: &Event) {
        if let Event::Concluded { conclusion } = event {
            self.conclusion = Some(*conclusion);
        }
        if let Event::Decided { decision } = event {
            self.label = Some(decision.label);
        }
        if let Event::ToolCall { operation, .. } = event {
            *self.calls.entry(operation.module()).or_default() += 1;
        }
    }
}
