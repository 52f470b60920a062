//! The states of a trace, folded step by step.

use super::step_view::{StateBefore, StepView};
use orchestrion_kernel::{Event, Policy, State};
use orchestrion_trace::{Header, Step};

/// Counts of the steps that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShowSummary {
    /// Steps, including refused ones.
    pub steps: u64,
    /// Started requests.
    pub requests: u64,
    /// Refused inputs.
    pub refused: u64,
}

/// The state after the steps that were read.
pub(super) struct StateFold {
    pub(super) state: State,
    pub(super) summary: ShowSummary,
    first_ms: Option<u64>,
}

impl StateFold {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            state: State::new(header.conversation.clone()),
            summary: ShowSummary::default(),
            first_ms: None,
        }
    }

    /// Applies the events of the next step and passes the step with both states to `read`.
    pub(super) fn step<T>(
        &mut self,
        policy: &Policy,
        step: &Step,
        read: impl FnOnce(&StepView<'_>) -> T,
    ) -> T {
        let first_ms = *self.first_ms.get_or_insert(step.at_ms);
        let before = StateBefore::from_state(&self.state);
        step.events.iter().for_each(|event| self.state.apply(event));
        let starts_request = |event: &Event| matches!(event, Event::UserMsg { .. });
        self.summary.steps += 1;
        self.summary.requests += u64::from(step.events.iter().any(starts_request));
        self.summary.refused += u64::from(step.refused.is_some());
        read(&StepView { policy, step, first_ms, before: &before, after: &self.state })
    }
}
