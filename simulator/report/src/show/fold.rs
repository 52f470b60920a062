//! The states of a trace, folded step by step.

use super::network_activity::NetworkActivity;
use super::step_view::StepView;
use orchestrion_kernel::Policy;
use orchestrion_trace::{ConversationFold, Header, Step};

/// Counts of the steps that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShowSummary {
    /// Steps, including refused ones.
    pub steps: u64,
    /// Started requests.
    pub requests: u64,
    /// Refused inputs.
    pub refused: u64,
    /// Recorded contexts that are not proven optimal.
    pub unproven_contexts: u64,
}

/// The state after the steps that were read.
pub(super) struct StateFold {
    pub(super) conversation: ConversationFold,
    pub(super) summary: ShowSummary,
    pub(super) network: NetworkActivity,
    first_ms: Option<u64>,
}

impl StateFold {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            conversation: ConversationFold::new(header.conversation.clone()),
            summary: ShowSummary::default(),
            network: NetworkActivity::default(),
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
        let before = self.conversation.state().clone();
        self.conversation.apply(step.n, &step.events);
        let (after, facts) = (self.conversation.state(), self.conversation.facts());
        let facts = facts.filter(|facts| before.control().request().is_some() || facts.first_step == step.n);
        let view = StepView { policy, step, first_ms, before: &before, after, facts };
        self.network.observe(&view);
        self.summary.steps += 1;
        self.summary.requests += u64::from(view.started_facts().is_some());
        self.summary.refused += u64::from(step.refused.is_some());
        self.summary.unproven_contexts += u64::from(view.unproven_context().is_some());
        read(&view)
    }
}
