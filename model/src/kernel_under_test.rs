//! What is checked: the kernel as it is, or with one fault put in.

use crate::coverage::Observation;
use crate::scopes::{Model, Scope};
use orchestrion_kernel::control::table::{TRANSITIONS, Transition};
use orchestrion_kernel::policy::CompactionPolicy;
use orchestrion_kernel::state::Request;
use orchestrion_kernel::{Event, Events, Input, Policy, Refusal, State, decide_with_row};

/// A kernel to be held against the claims. The real one does what
/// [`decide`](orchestrion_kernel::decide) does: every step of an exploration is held against it (C-62).
#[derive(Clone, Debug)]
pub struct KernelUnderTest {
    /// The policy that the claims are read under.
    pub policy: Policy,
    /// The policy that decides; the same, but in a mutant whose threshold or bound is off.
    pub decide_policy: Policy,
    /// The rows of the table, in order of precedence; none where a mutant lost one.
    pub rows: Vec<Option<&'static Transition>>,
    /// A row whose guard is read the wrong way round, by its place.
    pub negated: Option<usize>,
    /// What happens to a batch of events before it is written; given the state before it.
    pub mutate_events: Option<fn(&State, &mut Events)>,
    /// What happens to the running request after a batch was written; given the state before it.
    pub mutate_request: Option<fn(&State, &mut Request)>,
}

impl KernelUnderTest {
    /// The kernel as it is.
    #[must_use]
    pub fn unmodified(policy: Policy) -> Self {
        Self {
            decide_policy: policy.clone(),
            policy,
            rows: TRANSITIONS.iter().map(Some).collect(),
            negated: None,
            mutate_events: None,
            mutate_request: None,
        }
    }

    /// The same in a model, whose conversations are too short for the policy's own limits of compaction and of contexts: where
    /// they matter, the scope's take their place, and its name is added to the policy's. Whatever a mutant's limit is off by, it
    /// is off by here.
    #[must_use]
    pub fn with_scope(mut self, model: Model, scope: &Scope) -> Self {
        let Some(limits) = model.compaction(scope) else { return self };
        let (mutant, right) = (self.decide_policy.clone(), self.policy.clone());
        let off = |limit: u32, number: fn(&Policy) -> u32| {
            limit.saturating_add(number(&mutant)).saturating_sub(number(&right))
        };
        self.decide_policy.compaction = CompactionPolicy {
            from_items: off(limits.from_items, |policy| policy.compaction.from_items),
            from_tokens: off(limits.from_tokens, |policy| policy.compaction.from_tokens),
            cluster_items: off(limits.cluster_items, |policy| policy.compaction.cluster_items),
        };
        self.decide_policy.contexts.budget_tokens =
            off(scope.context_tokens, |policy| policy.contexts.budget_tokens);
        self.policy.compaction = limits;
        self.policy.contexts.budget_tokens = scope.context_tokens;
        (self.policy.contexts.reserved_tokens, self.decide_policy.contexts.reserved_tokens) = (0, 0);
        self.policy.name = format!("{} at scope {}", self.policy.name, scope.name);
        self
    }

    /// What an input means in a state.
    ///
    /// # Errors
    /// As the kernel: a [`Refusal`] if the input is not expected.
    pub fn decide(&self, state: &State, input: &Input) -> Result<Events, Refusal> {
        self.decide_observed(state, input, &mut |_| ())
    }

    /// The same; `seen` is told which rows and guards were tried on the way, and how they came out.
    ///
    /// # Errors
    /// As the kernel: a [`Refusal`] if the input is not expected.
    pub fn decide_observed(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Observation),
    ) -> Result<Events, Refusal> {
        let mut events =
            decide_with_row(&self.decide_policy, state, input, || self.select_row(state, input, seen))?;
        if let Some(spoil) = self.mutate_events {
            spoil(state, &mut events);
        }
        Ok(events)
    }

    /// The first row that fits and whose guard holds.
    fn select_row(
        &self,
        state: &State,
        input: &Input,
        seen: &mut impl FnMut(Observation),
    ) -> Option<&'static Transition> {
        let (phase, trigger) = (state.control.phase(), input.trigger());
        let rows = self.rows.iter().enumerate().filter_map(|(place, row)| row.map(|row| (place, row)));
        for (place, row) in rows.filter(|(_, row)| row.is_enabled(&self.decide_policy, phase, trigger)) {
            let holds =
                row.when.is_satisfied(&self.decide_policy, state, input) != (self.negated == Some(place));
            if holds {
                seen(Observation::Row(place));
                return Some(row);
            }
            seen(Observation::Guard(place));
        }
        None
    }

    /// Writes a batch.
    #[must_use]
    pub fn apply(&self, before: &State, events: &[Event]) -> State {
        let mut after = before.clone();
        events.iter().for_each(|event| after.apply(event));
        if let (Some(spoil), Some(request)) = (self.mutate_request, after.control.request_mut()) {
            spoil(before, request);
        }
        after
    }
}
